"""Decoding scores of a trace from the log-probabilities that its record brings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symbouq.errors import RecordError
from symbouq.evidence.scorers.registry import SCORERS
from symbouq.evidence.signals.alignment import claim_extents, token_spans
from symbouq.evidence.signals.example import Example, Signals, Span
from symbouq.records.generated import is_structured

_ALTERNATIVES = 4


def decoding(
    identity: str, record: dict[str, Any], audit: Mapping[str, Any]
) -> dict[str, tuple[float, ...]]:
    """The decoding scores that the record's `tokens` allow, one uncertainty a claim.

    Without alternatives (`top`) that is Perplexity alone; where the probability of a token is
    missing, there are none.

    Args:
        identity: The trace's id.
        record: The trace without labels.
        audit: Its audit, whose claims are scored.

    Raises:
        RecordError: If `tokens` is no list of tokens.
    """
    tokens = record.get("tokens")
    texts = tuple(claim["text"] for claim in audit["claims"])
    if not tokens or not texts:
        return {}
    if not isinstance(tokens, list) or not all(isinstance(token, dict) for token in tokens):
        raise RecordError("tokens: a list of {text, logprob, top} is expected")
    logprobs = [token.get("logprob") for token in tokens]
    if not all(is_number(value) for value in logprobs):
        return {}
    tops = [_top(token.get("top")) for token in tokens]
    complete = all(tops)
    signals = Signals(
        np.array(logprobs, np.float32),
        np.array([top or [0.0] * _ALTERNATIVES for top in tops], np.float32),
        np.empty((0, 0), np.float32),
        np.empty((0, 0), np.float32),
        _spans(tokens, texts, record),
    )
    example = Example(identity, record, texts, signals)
    return {
        name: tuple(scorer().score([example])[0].tolist())
        for name, scorer in SCORERS.items()
        if scorer.family == "decoding" and (complete or name == "Perplexity")
    }


def is_number(value: Any) -> bool:
    """Whether a JSON value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _top(alternatives: Any) -> list[float]:
    """The four largest probabilities of a token's alternatives; nothing where one is not known."""
    if not isinstance(alternatives, list) or not alternatives:
        return []
    logprobs: list[Any] = [o.get("logprob") if isinstance(o, dict) else None for o in alternatives]
    if not all(is_number(value) for value in logprobs):
        return []
    largest = sorted((min(1.0, math.exp(value)) for value in logprobs), reverse=True)
    return (largest + [0.0] * _ALTERNATIVES)[:_ALTERNATIVES]


def _spans(
    tokens: Sequence[Mapping[str, Any]], claims: Sequence[str], record: Mapping[str, Any]
) -> list[Span]:
    """The tokens of each claim; none at all where the claims are not found in their text, and then
    every claim gets the statistic of the whole trace.
    """
    extents, text = [], ""
    for token in tokens:
        piece = str(token.get("text") or "")
        extents.append((len(text), len(text) + len(piece)))
        text += piece
    for structured in (is_structured(record), False):
        try:
            return token_spans(extents, claim_extents(text, claims, structured))
        except (RecordError, ValueError):
            continue
    return [(0, 0)] * len(claims)
