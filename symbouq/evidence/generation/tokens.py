"""Finds the characters that each token covers in its text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from symbouq.evidence.generation.engine import Alternative, Token

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Extent = tuple[int, int]
"""Start and end of a range of characters."""

Scored = tuple[int, float, Sequence[tuple[int, float]]]
"""A token, its log-probability, and the most probable tokens with their log-probabilities."""

_BROKEN = "\N{REPLACEMENT CHARACTER}"
"""The character with which a decoder replaces incomplete bytes."""
_ANCHOR = "a"
"""A prefix after which decoders keep the leading space of the next token."""


def decoded(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> tuple[str, list[Extent]]:
    """Decode a token sequence; return the text and the characters that each token covers.

    Decoding is cumulative. The bytes of an unfinished character are held back. A character is
    covered by every token that contributes bytes to it. Special tokens cover nothing.
    """
    special = set(tokenizer.all_special_ids)
    texts: list[str] = []
    extents: list[Extent] = []
    # Decode only the last tokens again. The tokens in [start, read) end with a complete character.
    # They are included because a decoder may treat the first token of a text differently.
    start = read = 0
    whole = sound = 0
    pending = ""
    for position, token in enumerate(ids):
        begin = whole + sound
        if token in special:
            extents.append((begin, begin))
            continue
        before = _decode(tokenizer, ids[start:read])
        pending = _decode(tokenizer, ids[start : position + 1])[len(before) :]
        if pending.endswith(_BROKEN):
            sound = len(pending.rstrip(_BROKEN))
            extents.append((begin, whole + sound + 1))
            continue
        texts.append(pending)
        whole += len(pending)
        extents.append((begin, whole))
        start, read = read, position + 1
        pending, sound = "", 0
    return "".join([*texts, pending]), extents


def added_texts(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> list[str]:
    """Return the text that each token of a sequence adds. Joined together, these parts are the
    whole text.

    A character is added by the token that completes it, not by earlier tokens with parts of it.
    """
    text, extents = decoded(tokenizer, ids)
    ends = [0]
    for (_, end), (begin, _) in pairwise([*extents, (len(text), len(text))]):
        ends.append(end if end <= begin else ends[-1])
    ends[-1] = len(text)  # even if the text breaks off within a character
    return [text[a:b] for a, b in pairwise(ends)]


class TokenReader:
    """Finds the texts of tokens."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer = tokenizer
        self._anchor: list[int] = tokenizer(_ANCHOR, add_special_tokens=False)["input_ids"]
        self.alone = cache(self._alone)

    def tokens(self, scored: Sequence[Scored]) -> tuple[Token, ...]:
        """Return the tokens with the text that each one adds. Alternatives with probability 0 are
        omitted.
        """
        texts = added_texts(self._tokenizer, [token for token, _, _ in scored])
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

    def _alone(self, token: int) -> str:
        """Text that the token adds when it follows a complete character."""
        whole = _decode(self._tokenizer, [*self._anchor, token])
        return whole[len(_decode(self._tokenizer, self._anchor)) :]


def _decode(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> str:
    return str(
        tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
    )
