"""The generating model as something that can be asked how it would go on, for P(True)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from symbouq.errors import SymboUQError, missing_extra


class Backbone(Protocol):
    """A generating model that can be asked how it would go on."""

    @property
    def name(self) -> str:
        """Its name in results."""

    def continuations(
        self, messages: Sequence[str], opening: str, texts: Sequence[str]
    ) -> list[list[float]]:
        """For each user message the log-probability of each text after the reply's opening.

        Args:
            messages: User messages, in the model's chat template.
            opening: How the reply begins.
            texts: How it may go on.
        """


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
        source = find_model(model)
        tokenizer = load_tokenizer(source)
        chat = Chat(tokenizer, chat_template)
        with unreadable(source, "model"):
            loaded: Any = AutoModelForCausalLM.from_pretrained(source.folder)
        loaded = loaded.to(device)
        return cls(source.name, loaded, tokenizer, lambda message: chat.render(message, True))

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
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids


def _common(rows: Sequence[Sequence[int]]) -> int:
    """Length of the beginning that all have in common, at least one token."""
    count = 0
    for column in zip(*rows, strict=False):
        if len(set(column)) > 1:
            break
        count += 1
    return count
