"""Which generated tokens a claim consists of, by the characters that both cover."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbouq.errors import RecordError
from symbouq.evidence.signals.example import Span

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Extent = tuple[int, int]
"""Character offsets, start and end."""

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?')
_BROKEN = "\ufffd"
"""What a decoder puts in place of bytes that are no whole character."""


def decoded(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> tuple[str, list[Extent]]:
    """The text of a token sequence, and the characters that each token covers.

    Tokens are decoded cumulatively: bytes that are no whole character yet are held back
    until they are, and each token that brings some of its bytes covers that character.
    Special tokens cover none.

    Args:
        tokenizer: The tokenizer that made them.
        ids: The tokens.
    """

    def text_of(start: int, stop: int) -> str:
        part = list(ids[start:stop])
        text = tokenizer.decode(part, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return str(text)

    special = set(tokenizer.all_special_ids)
    pieces: list[str] = []
    extents: list[Extent] = []
    # Only the last tokens are decoded again: [start, known), whose text is whole, since a
    # decoder may treat the first token of a text otherwise, and those that follow them.
    start = known = 0
    whole = sound = 0
    pending = ""
    for position, token in enumerate(ids):
        if token in special:
            extents.append((whole + sound, whole + sound))
            continue
        pending = text_of(start, position + 1)[len(text_of(start, known)) :]
        begin = whole + sound
        if pending.endswith(_BROKEN):
            sound = len(pending.rstrip(_BROKEN))
            extents.append((begin, whole + sound + 1))
            continue
        pieces.append(pending)
        whole += len(pending)
        extents.append((begin, whole))
        start, known = known, position + 1
        pending, sound = "", 0
    return "".join([*pieces, pending]), extents


def claim_extents(response: str, claims: Sequence[str], structured: bool) -> list[Extent]:
    """The characters of a response that each claim consists of; `(0, 0)` for an empty one.

    The claims of a structured response are its strings, without quotes, with their escapes.
    Those of a free-form response are looked for in order, the conclusion after the steps or,
    where it comes before some of them, at its last place outside of them.

    Args:
        response: The response.
        claims: The texts of its claims; the last one is the conclusion.
        structured: Whether the response is a JSON object with `reasoning` and `conclusion`.

    Raises:
        RecordError: If a claim is not in the response.
    """
    return _structured(response, claims) if structured else _in_order(response, claims)


def token_spans(tokens: Sequence[Extent], claims: Sequence[Extent]) -> list[Span]:
    """The tokens that cover characters of each claim; `(0, 0)` where there are none.

    A token that also covers characters around a claim belongs to it.

    Args:
        tokens: The characters that each token covers.
        claims: The characters of each claim.
    """
    spans: list[Span] = []
    for start, end in claims:
        inside = [n for n, (a, b) in enumerate(tokens) if a < end and b > start]
        spans.append((inside[0], inside[-1] + 1) if inside else (0, 0))
    return spans


def _structured(response: str, claims: Sequence[str]) -> list[Extent]:
    found: dict[str, list[Extent]] = {}
    key = ""
    for string in _STRING.finditer(response):
        if string[2] is not None:
            key = json.loads(f'"{string[1]}"', strict=False)
            found[key] = []
        elif key:
            found[key].append(string.span(1))
    extents = [*found.get("reasoning", ()), *found.get("conclusion", ())]
    texts = [json.loads(f'"{response[a:b]}"', strict=False) for a, b in extents]
    if texts != list(claims):
        raise RecordError("the claims are not the strings of the response")
    return [extent if extent[0] < extent[1] else (0, 0) for extent in extents]


def _in_order(response: str, claims: Sequence[str]) -> list[Extent]:
    *steps, conclusion = claims
    extents: list[Extent] = []
    place = 0
    for number, step in enumerate(steps, start=1):
        start = response.find(step, place)
        if start < 0:
            raise RecordError(f"claim {number} is not in the response: {step!r}")
        extents.append((start, start + len(step)) if step else (0, 0))
        place = max(place, extents[-1][1])
    if not conclusion:
        return [*extents, (0, 0)]
    after = response.find(conclusion, place)
    places = [match.start() for match in re.finditer(re.escape(conclusion), response)]
    if not places:
        raise RecordError(f"the conclusion is not in the response: {conclusion!r}")
    apart = [p for p in places if all(p >= b or p + len(conclusion) <= a for a, b in extents)]
    start = after if after >= 0 else (apart or places)[-1]
    return [*extents, (start, start + len(conclusion))]
