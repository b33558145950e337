"""Scores that read K further answers to the same question (appendix Sampling-Based Baselines).

They are drawn at a temperature that generation sets and records; K is however many there are.
All are uncertainties.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from symbouq.errors import SymboUQError, missing_extra
from symbouq.evidence.scorers.base import Needs, Orientation, TrainingFree, require
from symbouq.evidence.scorers.equivalence import (
    AuditorEquivalence,
    Equivalence,
    Record,
    answer_of,
)
from symbouq.evidence.signals.example import Example

if TYPE_CHECKING:
    from symbouq.evidence.scorers.base import Values


_SAMPLES: Needs = frozenset({"samples"})


class _Agreement(TrainingFree):
    """How far samples agree, by an equivalence of answers."""

    orientation: Orientation = "uncertainty"

    def __init__(self, equivalence: Equivalence | None = None) -> None:
        self.equivalence = equivalence or AuditorEquivalence()
        self.needs = _SAMPLES | self.equivalence.needs


class SemanticEntropy(_Agreement):
    """Entropy, in nats, of the meanings of the K sampled answers,

    `SE = -sum over classes c of (n_c / K) * log(n_c / K)`.

    A class is a set of answers that entail each other; each answer joins the first class whose
    first member means the same, as in Kuhn et al. (2023). It is the discrete estimate of
    Farquhar et al. (2024), by counts; Kuhn et al. weigh classes by the likelihoods of their
    answers, which samples need not have. The delivered answer is none of the K. A trace has
    one value, which all of its claims get.

    Args:
        equivalence: Decides; the auditor by default.
    """

    name = "Semantic Entropy"

    def score(self, examples: Sequence[Example]) -> list[Values]:
        """The entropy of each trace, once for each claim.

        Raises:
            SymboUQError: If a trace has no samples.
        """
        require(examples, self.needs, self.name)
        return [
            np.full(len(example.claims), self._entropy(example) if example.claims else 0.0)
            for example in examples
        ]

    def _entropy(self, example: Example) -> float:
        sizes = np.array([len(c) for c in classes(example.samples, self.equivalence)])
        shares = sizes / sizes.sum()
        return float(-(shares * np.log(shares)).sum()) + 0.0


def classes(samples: Sequence[Record], equivalence: Equivalence) -> list[list[Record]]:
    """Samples by the meaning of their answers, in the order of their first members."""
    found: list[list[Record]] = []
    for sample in samples:
        for members in found:
            if equivalence.same(members[0], sample):
                members.append(sample)
                break
        else:
            found.append([sample])
    return found


class SelfCheckGPT(_Agreement):
    """One minus the share of the K samples that support a claim.

    Manakul et al. (2023) average, over samples, a score of how badly a sample supports a
    sentence; their variant by entailment takes the probability of contradiction. Here support is
    yes or no, and what decides it has a name.

    Args:
        equivalence: Decides; the auditor by default.
    """

    name = "SelfCheckGPT"

    def score(self, examples: Sequence[Example]) -> list[Values]:
        """The share of samples that do not support each claim.

        Raises:
            SymboUQError: If a trace has no samples.
        """
        require(examples, self.needs, self.name)
        return [
            np.array([self._unsupported(example, n) for n in range(len(example.claims))], float)
            for example in examples
        ]

    def _unsupported(self, example: Example, claim: int) -> float:
        record = _delivered(example)
        supported = sum(self.equivalence.supports(s, record, claim) for s in example.samples)
        return 1 - supported / len(example.samples)


def _delivered(example: Example) -> Record:
    """The trace with its claims one by one, whatever form its record has."""
    if "claims" in example.record:
        return example.record
    *reasoning, conclusion = example.claims
    kept = {key: value for key, value in example.record.items() if key != "response"}
    return {**kept, "reasoning": reasoning, "conclusion": conclusion}


class Backbone(Protocol):
    """A generating model that can be asked how it would go on."""

    @property
    def name(self) -> str:
        """What it is, for results."""

    def continuations(
        self, messages: Sequence[str], opening: str, texts: Sequence[str]
    ) -> list[list[float]]:
        """For each user message the log-probability of each text after the reply's opening.

        Args:
            messages: User messages, in the model's chat template.
            opening: How the reply begins.
            texts: How it may go on.
        """


OPENING = "The possible answer is:"
"""How the reply to `PROMPT` begins."""

READOUT = (" True", " False")
"""The two ways in which it may go on."""

PROMPT = """\
Scene: {scene}
Question: {question}
Here are some brainstormed ideas: {ideas}
Possible answer: {answer}
Is the possible answer:
(A) True
(B) False"""
"""The user message of P(True), after Kadavath et al. (2022), with the samples' answers as ideas."""


class PTrue(TrainingFree):
    """One minus the probability that the backbone gives to "True" when it is shown its answer,
    and the K sampled ones, and asked whether the answer is true.

    The message is `PROMPT`; the reply begins with `OPENING`; the readout is
    `P(" True") / (P(" True") + P(" False"))` of what follows. A trace has one value, which
    all of its claims get.

    Args:
        backbone: The model that wrote the trace.
        batch: Messages asked at once.
    """

    name = "P(True)"
    needs: Needs = frozenset({"samples", "backbone"})
    orientation: Orientation = "uncertainty"

    def __init__(self, backbone: Backbone | None = None, batch: int = 16) -> None:
        self.backbone = backbone
        self.batch = batch

    def score(self, examples: Sequence[Example]) -> list[Values]:
        """The probability of "False", once for each claim.

        Raises:
            SymboUQError: If a trace has no samples, or no backbone is given.
        """
        require(examples, self.needs, self.name)
        if self.backbone is None:
            raise SymboUQError("P(True) needs the backbone that wrote the traces")
        asked = [n for n, example in enumerate(examples) if example.claims]
        found = [np.empty(0)] * len(examples)
        for start in range(0, len(asked), self.batch):
            chosen = asked[start : start + self.batch]
            messages = [p_true_message(examples[n]) for n in chosen]
            answers = self.backbone.continuations(messages, OPENING, READOUT)
            for n, (true, false) in zip(chosen, answers, strict=True):
                doubt = float(np.exp(false - np.logaddexp(true, false)))
                found[n] = np.full(len(examples[n].claims), doubt)
        return found


def p_true_message(example: Example) -> str:
    """What the backbone is asked about a trace."""
    scene = example.record.get("scene") or ""
    return PROMPT.format(
        scene=scene if isinstance(scene, str) else " ".join(scene),
        question=example.record.get("question") or "",
        ideas="; ".join(filter(None, map(answer_of, example.samples))),
        answer=example.claims[-1],
    )


class TransformersBackbone:
    """A causal language model of transformers as a `Backbone`.

    Args:
        name: What it is called in results.
        model: The model, on its device.
        tokenizer: Its tokenizer.
        render: Puts a user message into the chat template, up to where the reply begins.
    """

    def __init__(self, name: str, model: Any, tokenizer: Any, render: Callable[[str], str]) -> None:
        self.name = name
        self._model = model.eval()
        self._tokenizer = tokenizer
        self._render = render

    @classmethod
    def load(
        cls, model: str, device: str = "cpu", chat_template: str | None = None
    ) -> TransformersBackbone:
        """The model of a name, with its chat template.

        Args:
            model: Its folder, or its id on the Hugging Face hub.
            device: Where it runs.
            chat_template: File with a Jinja template, in place of the tokenizer's own.

        Raises:
            SymboUQError: If a package is missing, or the model cannot be loaded.
        """
        try:
            from transformers import AutoModelForCausalLM

            from symbouq.evidence.generation.models import find_model, load_tokenizer, unreadable
            from symbouq.evidence.generation.prompts import Chat
        except ImportError as error:
            raise missing_extra("models", error) from error
        found = find_model(model)
        tokenizer = load_tokenizer(found)
        chat = Chat(tokenizer, chat_template)
        with unreadable(found, "model"):
            loaded: Any = AutoModelForCausalLM.from_pretrained(found.folder)
        loaded = loaded.to(device)
        return cls(found.name, loaded, tokenizer, lambda message: chat.render(message, True))

    def continuations(
        self, messages: Sequence[str], opening: str, texts: Sequence[str]
    ) -> list[list[float]]:
        """For each user message the log-probability of each text after the reply's opening.

        Raises:
            SymboUQError: If the tokenizer cannot tell the texts apart.
        """
        import torch

        rows: list[list[int]] = []
        starts: list[int] = []
        for message in messages:
            begun = self._render(message) + opening
            # Tokens may join across the border: what all have in common is the condition.
            variants = [self._ids(begun + text) for text in texts]
            if len({tuple(ids) for ids in variants}) < len(texts):
                raise SymboUQError(f"the tokenizer of {self.name} reads {texts} as the same")
            common = _common([self._ids(begun), *variants])
            rows += variants
            starts += [common] * len(texts)
        length = max(map(len, rows))
        device = self._model.device
        ids = torch.zeros(len(rows), length, dtype=torch.long, device=device)
        mask = torch.zeros_like(ids)
        for n, row in enumerate(rows):
            ids[n, : len(row)] = torch.tensor(row, device=device)
            mask[n, : len(row)] = 1
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask).logits
            logprobs = logits[:, :-1].float().log_softmax(-1)
            chosen = logprobs.gather(-1, ids[:, 1:, None]).squeeze(-1)
        values = [
            float(chosen[n, start - 1 : len(row) - 1].sum())
            for n, (start, row) in enumerate(zip(starts, rows, strict=True))
        ]
        step = len(texts)
        return [values[n : n + step] for n in range(0, len(values), step)]

    def _ids(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return found


def _common(rows: Sequence[Sequence[int]]) -> int:
    """How many tokens all begin with, at least one."""
    count = 0
    for column in zip(*rows, strict=False):
        if len(set(column)) > 1:
            break
        count += 1
    return count
