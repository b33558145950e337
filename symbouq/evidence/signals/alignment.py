"""Aligns generated tokens with claims through character positions in the response."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from symbouq.errors import RecordError
from symbouq.evidence.generation.tokens import Extent
from symbouq.evidence.signals.example import Span

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?')


def claim_extents(response: str, claims: Sequence[str], structured: bool) -> list[Extent]:
    """Find the characters of a response that make up each claim, the conclusion last. An empty
    claim gets `(0, 0)`.

    In a structured response (a JSON object), the claims are its strings, with escapes but without
    quotes. In a free-form response, claims are searched for in order. If the conclusion comes
    before some of the steps, its last occurrence outside the steps is used.

    Raises:
        RecordError: If a claim is not in the response.
    """
    return _structured(response, claims) if structured else _in_order(response, claims)


def token_spans(tokens: Sequence[Extent], claims: Sequence[Extent]) -> list[Span]:
    """Find the tokens that cover the characters of each claim; `(0, 0)` if there are no such
    tokens.

    A token that covers characters both inside and outside a claim is included.
    """
    spans: list[Span] = []
    for start, end in claims:
        inside = [n for n, (a, b) in enumerate(tokens) if a < end and b > start]
        spans.append((inside[0], inside[-1] + 1) if inside else (0, 0))
    return spans


def _structured(response: str, claims: Sequence[str]) -> list[Extent]:
    strings: dict[str, list[Extent]] = {}
    key = ""
    for string in _STRING.finditer(response):
        if string[2] is not None:
            key = json.loads(f'"{string[1]}"', strict=False)
            strings[key] = []
        elif key:
            strings[key].append(string.span(1))
    extents = [*strings.get("reasoning", ()), *strings.get("conclusion", ())]
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
