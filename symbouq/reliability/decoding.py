"""Computes a trace's decoding scores from the log-probabilities in its record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symbouq.errors import RecordError
from symbouq.evidence.scorers.registry import SCORERS
from symbouq.evidence.signals.alignment import claim_extents, token_spans
from symbouq.evidence.signals.example import Example, Signals, Span
from symbouq.evidence.signals.pieces import spelling, texts_of
from symbouq.records.generated import is_structured

_ALTERNATIVES = 4


@dataclass(frozen=True)
class Decoding:
    """The decoding scores of a trace.

    Attributes:
        claims: Scores by name; each score has one uncertainty per claim.
        fault: Reason why a trace with tokens has no scores; otherwise empty.
    """

    claims: dict[str, tuple[float, ...]] = field(default_factory=dict)
    fault: str = ""


def decoding(identity: str, record: dict[str, Any], audit: Mapping[str, Any]) -> Decoding:
    """Compute the decoding scores that the record's `tokens` allow, for the claims in its audit.

    Without alternatives (`top`), only Perplexity can be computed. There are no scores if a token
    has no probability, or if a claim is not found in the tokens. Tokens may be given as vocabulary
    pieces (`symbouq.evidence.signals.pieces`).

    Raises:
        RecordError: If `tokens` is not a list of tokens.
    """
    tokens = record.get("tokens")
    texts = tuple(claim["text"] for claim in audit["claims"])
    if not tokens or not texts:
        return Decoding()
    if not isinstance(tokens, list) or not all(isinstance(token, dict) for token in tokens):
        raise RecordError("tokens: a list of {text, logprob, top} is expected")
    logprobs = [token.get("logprob") for token in tokens]
    if not all(is_number(value) for value in logprobs):
        return Decoding(fault="a token has no log-probability")
    tokens = _plain(tokens, " ".join([*texts, str(record.get("response") or "")]))
    spans = _spans(tokens, texts, record)
    if spans is None:
        return Decoding(fault="the claims are not in the text of `tokens`")
    record = {**record, "tokens": tokens}
    tops = [_top(token.get("top")) for token in tokens]
    complete = all(tops)
    signals = Signals(
        np.array(logprobs, np.float32),
        np.array([top or [0.0] * _ALTERNATIVES for top in tops], np.float32),
        np.empty((0, 0), np.float32),
        np.empty((0, 0), np.float32),
        spans,
    )
    example = Example(identity, record, texts, signals)
    return Decoding(
        {
            name: tuple(scorer().score([example])[0].tolist())
            for name, scorer in SCORERS.items()
            if scorer.family == "decoding" and (complete or name == "Perplexity")
        }
    )


def is_number(value: Any) -> bool:
    """Whether a JSON value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _top(alternatives: Any) -> list[float]:
    """Return the four largest probabilities among a token's alternatives; empty if any probability
    is unknown.
    """
    if not isinstance(alternatives, list) or not alternatives:
        return []
    logprobs: list[Any] = [o.get("logprob") if isinstance(o, dict) else None for o in alternatives]
    if not all(is_number(value) for value in logprobs):
        return []
    largest = sorted((min(1.0, math.exp(value)) for value in logprobs), reverse=True)
    return (largest + [0.0] * _ALTERNATIVES)[:_ALTERNATIVES]


def _plain(tokens: Sequence[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """Replace vocabulary pieces by the text that they represent."""
    pieces = [str(token.get("text") or "") for token in tokens]
    spelled = spelling(pieces, text)
    if spelled is None:
        return list(tokens)
    return [
        {
            **token,
            "text": added,
            "top": [
                {**other, "text": texts_of([str(other.get("text") or "")], spelled)[0]}
                if isinstance(other, dict)
                else other
                for other in token.get("top") or ()
            ],
        }
        for token, added in zip(tokens, texts_of(pieces, spelled), strict=True)
    ]


def _spans(
    tokens: Sequence[Mapping[str, Any]], claims: Sequence[str], record: Mapping[str, Any]
) -> list[Span] | None:
    """Find the tokens of each claim; None if a claim is not found in the text."""
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
    return None
