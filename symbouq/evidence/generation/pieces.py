"""The texts of single tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbouq.evidence.generation.engine import Alternative, Token

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_BROKEN = "\N{REPLACEMENT CHARACTER}"
"""What a tokenizer gives for a part of a character."""
_ANCHOR = "a"
"""A text after which a token keeps its leading space."""

Scored = tuple[int, float, Sequence[tuple[int, float]]]
"""A token, its log-probability, and the most probable tokens with theirs."""


class Pieces:
    """Cuts a text into what each of its tokens adds.

    Args:
        tokenizer: The tokenizer.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer = tokenizer
        self._anchor: list[int] = tokenizer(_ANCHOR, add_special_tokens=False)["input_ids"]
        self._alone: dict[int, str] = {}

    def texts(self, ids: Sequence[int]) -> list[str]:
        """What each token adds; joined, they are the whole text.

        A token that ends within a character adds nothing, the one that completes it adds
        it whole.
        """
        texts = []
        start, read = 0, 0  # a token is decoded after the one before it, which may need a space
        for end in range(1, len(ids) + 1):
            text = self._decode(ids[start:end])
            if text.endswith(_BROKEN) and end < len(ids):
                texts.append("")
                continue
            texts.append(text[len(self._decode(ids[start:read])) :])
            start, read = read, end
        return texts

    def alone(self, token: int) -> str:
        """What a token adds to a text that ends in a whole character."""
        if token not in self._alone:
            whole = self._decode([*self._anchor, token])
            self._alone[token] = whole[len(self._decode(self._anchor)) :]
        return self._alone[token]

    def tokens(self, scored: Sequence[Scored]) -> tuple[Token, ...]:
        """Tokens with texts.

        Args:
            scored: The tokens of a text; alternatives of probability 0 are left out.
        """
        texts = self.texts([token for token, _, _ in scored])
        return tuple(
            Token(
                token,
                text,
                logprob,
                tuple(
                    Alternative(other, self.alone(other), value)
                    for other, value in top
                    if value != -float("inf")
                ),
            )
            for (token, logprob, top), text in zip(scored, texts, strict=True)
        )

    def _decode(self, ids: Sequence[int]) -> str:
        return str(
            self._tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )
