"""Computes how probable the given continuations are under the generating model (for P(True))."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from symbouq.errors import SymboUQError, extra
from symbouq.evidence.devices import in_batches

Tokens = tuple[int, ...]

TOKENS = 8192
"""Number of tokens read at once, including padding, if memory suffices."""


class TransformersBackbone:
    """A causal language model loaded with transformers.

    `render` applies the chat template to a user message. Up to `tokens` tokens, including padding,
    are read at once; peak memory grows with this number.
    """

    def __init__(
        self,
        name: str,
        model: Any,
        tokenizer: Any,
        render: Callable[[str], str],
        tokens: int = TOKENS,
    ) -> None:
        self.name = name
        self._model = model.eval()
        self._tokenizer = tokenizer
        self._render = render
        self._tokens = tokens

    @classmethod
    def load(
        cls, model: str, device: str = "cpu", chat_template: str | None = None
    ) -> TransformersBackbone:
        """Load a model from a folder or hub id, with its own chat template or one from a Jinja
        file.

        Raises:
            SymboUQError: If a package is missing, or the model cannot be loaded.
        """
        with extra("models"):
            from symbouq.evidence.generation.models import find_model, load_network, load_tokenizer
            from symbouq.evidence.generation.prompts import Chat
        source = find_model(model)
        tokenizer = load_tokenizer(source)
        chat = Chat(tokenizer, chat_template)
        return cls(source.name, load_network(source, device), tokenizer, chat.render)

    def continuations(
        self, messages: Sequence[str], opening: str, texts: Sequence[str]
    ) -> list[list[float]]:
        """For each user message, return the log-probability of each of the given texts as the
        continuation of a reply that begins with `opening`.

        Raises:
            SymboUQError: If two of the texts have the same tokens.
        """
        asked = [self._asked(self._render(message) + opening, texts) for message in messages]
        ends = [(ids, begin) for variants, begin in asked for ids in variants]
        # The last token itself is not read, because only its probability is needed. So all texts
        # with one token need only one pass.
        read = self._read({ids[:-1] for ids, _ in ends}, max(len(ids) - n for ids, n in ends))

        def value(ids: Tokens, begin: int) -> float:
            places = read[ids[:-1]][begin - len(ids) :]
            return sum(
                float(place[token]) for place, token in zip(places, ids[begin:], strict=True)
            )

        return [[value(ids, begin) for ids in variants] for variants, begin in asked]

    def _asked(self, begun: str, texts: Sequence[str]) -> tuple[list[Tokens], int]:
        """Return the tokens of `begun` followed by each text, and the length of their common
        prefix. Probabilities are conditioned on this prefix, because a token may extend across the
        boundary between `begun` and the text.
        """
        variants = [self._ids(begun + text) for text in texts]
        if len({*variants}) < len(texts):
            raise SymboUQError(f"the tokenizer of {self.name} reads {list(texts)} as the same")
        return variants, _common([self._ids(begun), *variants])

    def _read(self, rows: Collection[Tokens], kept: int) -> dict[Tokens, Any]:
        """Return log-probabilities at the last `kept` positions of each row, `[kept, vocabulary]`.

        Rows of similar length are read together, fewer at a time if memory does not suffice.
        """
        read: dict[Tokens, Any] = {}
        self._tokens = in_batches(
            rows,
            len,
            self._tokens,
            lambda batch: self._forward(batch, kept, read),
            lambda _: f"{self.name}: a message",
        )
        return read

    def _forward(self, batch: Sequence[Tokens], kept: int, read: dict[Tokens, Any]) -> None:
        import torch

        # Pad on the left, so that all rows end in the same column.
        device, longest = self._model.device, len(batch[0])
        pads = [longest - len(row) for row in batch]
        ids = [[0] * pad + [*row] for pad, row in zip(pads, batch, strict=True)]
        mask = torch.tensor([[0] * pad + [1] * (longest - pad) for pad in pads], device=device)
        with torch.inference_mode():
            logits = self._model(
                input_ids=torch.tensor(ids, device=device),
                attention_mask=mask,
                position_ids=(mask.cumsum(1) - 1).clamp(min=0),
                logits_to_keep=kept,
                use_cache=False,
            ).logits
            read.update(zip(batch, logits.float().log_softmax(-1).cpu(), strict=True))

    def _ids(self, text: str) -> Tokens:
        return tuple(self._tokenizer(text, add_special_tokens=False)["input_ids"])


def _common(rows: Sequence[Sequence[int]]) -> int:
    count = 0
    for column in zip(*rows, strict=False):
        if len(set(column)) > 1:
            break
        count += 1
    return count
