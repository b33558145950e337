"""Scores from K additional answers to the same question (appendix Sampling-Based Baselines). All of
them are uncertainties.

The sampling temperature is chosen and recorded when these answers are generated.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Self

import numpy as np

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.backbone import TransformersBackbone
from symbouq.evidence.scorers.base import Scorer
from symbouq.evidence.scorers.equivalence import (
    AuditorEquivalence,
    Equivalence,
    Record,
    answer_of,
    claims_of,
)
from symbouq.evidence.scorers.settings import Resources, SelfCheck, Settings
from symbouq.evidence.signals.example import Example
from symbouq.metrics import Values


def _answer_lacking(samples: Sequence[Record]) -> str:
    """Describe what is missing if no sample has an answer. (Missing answers do not count as
    agreement.)
    """
    if any(answer_of(sample).strip() for sample in samples):
        return ""
    return f"an answer in one of its {len(samples)} samples"


class _Agreement(Scorer):
    """Agreement among samples, according to an equivalence of answers (by default, the
    auditor's).
    """

    family = "sampling"
    needs = frozenset({"samples"})
    banked = False

    def __init__(self, equivalence: Equivalence | None = None) -> None:
        self.equivalence = equivalence or AuditorEquivalence()
        self.needs = type(self).needs | self.equivalence.needs

    @classmethod
    def make(cls, seed: int, settings: Settings | None, resources: Resources) -> Self:
        """Create a scorer with the equivalence in the resources."""
        return cls(resources.equivalence)


class SemanticEntropy(_Agreement):
    """Entropy, in nats, of the meanings of the K sampled answers, `SE = -sum over classes c of (n_c
    / K) * log(n_c / K)`.

    A class is a set of answers that entail each other. Each answer is compared with the first
    member of each class and joins the first class with the same meaning, as in Kuhn et al. (2023).
    Class sizes are counted, as in the discrete estimate by Farquhar et al. (2024). Kuhn et al. use
    likelihoods instead, which samples may lack. The delivered answer is not one of the K. All
    claims of a trace share one value. Samples without an answer form a separate class. If no sample
    has an answer, there is no value.
    """

    name = "Semantic Entropy"

    @classmethod
    def lacks(cls, example: Example) -> str:
        """Describe what is missing if no sample has an answer."""
        return _answer_lacking(example.samples)

    def values(self, example: Example) -> float:
        """Compute the entropy of the samples' meanings."""
        sizes = np.array([len(c) for c in classes(example.samples, self.equivalence)])
        shares = sizes / sizes.sum()
        return float(-(shares * np.log(shares)).sum()) + 0.0


def classes(samples: Sequence[Record], equivalence: Equivalence) -> list[list[Record]]:
    """Group samples by the meaning of their answers, in order of first members."""
    meanings: list[list[Record]] = []
    for sample in samples:
        for members in meanings:
            if equivalence.same(members[0], sample):
                members.append(sample)
                break
        else:
            meanings.append([sample])
    return meanings


class SelfCheckGPT(_Agreement):
    """One minus the share of the K samples that support a claim.

    Manakul et al. (2023) average a graded score of how little each sample supports a sentence.
    Here, a sample either supports a claim or not. Their NLI variant, the mean probability of
    contradiction, is available as the form `contradiction`. If no sample has a claim, there is no
    value.
    """

    name = "SelfCheckGPT"
    options = ("selfcheck",)

    def __init__(self, equivalence: Equivalence | None = None, form: SelfCheck = "support") -> None:
        super().__init__(equivalence)
        self.form = form

    @classmethod
    def make(cls, seed: int, settings: Settings | None, resources: Resources) -> Self:
        """Create a scorer with the equivalence and the form in the resources."""
        return cls(resources.equivalence, resources.selfcheck)

    @classmethod
    def lacks(cls, example: Example) -> str:
        """Describe what is missing if no sample has a claim."""
        if not all(map(_is_empty, example.samples)):
            return ""
        return f"a claim in one of its {len(example.samples)} samples"

    def values(self, example: Example) -> Values:
        """Average the lack of support for each claim over the samples."""
        record = _delivered(example)
        against = [
            fmean(self._against(sample, record, claim) for sample in example.samples)
            for claim in range(len(example.claims))
        ]
        return np.array(against, np.float64)

    def _against(self, sample: Record, record: Record, claim: int) -> float:
        """Return how much a sample fails to support a claim, from 0 to 1."""
        if self.form == "contradiction":
            return self.equivalence.contradicts(sample, record, claim)
        return float(not self.equivalence.supports(sample, record, claim))


_TEXTS = ("reasoning", "conclusion", "response", "claims", "status", "generation")
"""Fields with the content of a sample, or with the reason why there is none."""


def _is_empty(sample: Record) -> bool:
    told = any(name in sample for name in _TEXTS)
    return told and not sample.get("claims") and not any(map(str.strip, claims_of(sample)))


def _delivered(example: Example) -> Record:
    """Return the trace with a list of its claims. This includes claims found in an invalid
    output.
    """
    if "claims" in example.record:
        return example.record
    *reasoning, conclusion = example.claims
    left_out = ("response", "generation", "status")
    kept = {key: value for key, value in example.record.items() if key not in left_out}
    return {**kept, "reasoning": reasoning, "conclusion": conclusion}


OPENING = "The possible answer is:"
"""Beginning of the reply to `PROMPT`."""

READOUT = (" True", " False")
"""The two possible continuations of the reply."""

PROMPT = """\
Scene: {scene}
Question: {question}
Here are some brainstormed ideas: {ideas}
Possible answer: {answer}
Is the possible answer:
(A) True
(B) False"""
"""User message for P(True), after Kadavath et al. (2022). The samples' answers serve as the
ideas."""


class PTrue(Scorer):
    """One minus the backbone's probability for "True" when asked whether its own answer, shown
    together with the K samples, is right.

    The message is `PROMPT`, the reply begins with `OPENING`, and the readout is `P(" True") / (P("
    True") + P(" False"))`. All claims of a trace share one value. If no sample has an answer, there
    is no value. `batch` messages are processed at once.
    """

    name = "P(True)"
    family = "sampling"
    needs = frozenset({"samples", "backbone"})
    banked = False

    def __init__(self, backbone: TransformersBackbone | None = None, batch: int = 16) -> None:
        self.backbone = backbone
        self.batch = batch

    @classmethod
    def make(cls, seed: int, settings: Settings | None, resources: Resources) -> Self:
        """Create a scorer with the backbone in the resources."""
        return cls(resources.backbone)

    @classmethod
    def lacks(cls, example: Example) -> str:
        """Describe what is missing if no sample has an answer."""
        return _answer_lacking(example.samples)

    def score(self, examples: Sequence[Example]) -> list[Values]:
        """Return the probability of "False", repeated for each claim.

        Raises:
            SymboUQError: If no sample of a trace has an answer, or there is no backbone.
        """
        self.check(examples)
        if self.backbone is None:
            raise SymboUQError("P(True) needs the backbone that wrote the traces")
        asked = [n for n, example in enumerate(examples) if example.claims]
        scores = [np.empty(0)] * len(examples)
        for start in range(0, len(asked), self.batch):
            chosen = asked[start : start + self.batch]
            messages = [p_true_message(examples[n]) for n in chosen]
            answers = self.backbone.continuations(messages, OPENING, READOUT)
            for n, (true, false) in zip(chosen, answers, strict=True):
                doubt = float(np.exp(false - np.logaddexp(true, false)))
                scores[n] = np.full(len(examples[n].claims), doubt)
        return scores


def p_true_message(example: Example) -> str:
    """Write the user message that asks the backbone about a trace."""
    scene = example.record.get("scene") or ""
    return PROMPT.format(
        scene=scene if isinstance(scene, str) else " ".join(scene),
        question=example.record.get("question") or "",
        ideas="; ".join(filter(None, map(answer_of, example.samples))),
        answer=example.claims[-1],
    )
