"""Examples made for tests: small, seeded, or with content given by the test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symbouq.evidence.scorers.base import Labelled
from symbouq.evidence.signals.example import Example, Signals
from symbouq.records.features import CLAIM_FEATURES, TRACE_FEATURES


def tokens(*given: tuple[str, float, Sequence[tuple[str, float]]]) -> list[dict[str, Any]]:
    """Return the tokens of a record. Each has a text, a log-probability, and the top tokens
    likewise.
    """
    return [
        {"text": text, "logprob": logprob, "top": [{"text": t, "logprob": p} for t, p in top]}
        for text, logprob, top in given
    ]


def signals(
    logprobs: Sequence[float],
    spans: Sequence[tuple[int, int]],
    top: Sequence[Sequence[float]] | None = None,
) -> Signals:
    """Return signals without hidden states."""
    length = len(logprobs)
    if top is None:
        top = np.zeros((length, 4))
    return Signals(
        logprobs=np.array(logprobs, np.float32),
        top=np.array(top, np.float32),
        hidden=np.zeros((length, 0), np.float32),
        lookback=np.zeros((length, 0), np.float32),
        spans=spans,
    )


def example(given: Signals | None = None, claims: int = 1, **fields: Any) -> Example:
    count = len(given.spans) if given is not None else claims
    record = fields.pop("record", {})
    return Example(
        id=fields.pop("id", "t"),
        record=record,
        claims=tuple(f"claim {n}" for n in range(1, count + 1)),
        signals=given,
        **fields,
    )


def audit(claims: Sequence[Sequence[float]], trace: Sequence[float], rule: float = 0.5) -> Any:
    """Return the part of an audit record that scorers read."""
    return {
        "claims": [{} for _ in claims],
        "features": {"claims": [list(row) for row in claims], "trace": list(trace)},
        "constraint_rule": rule,
    }


def split(
    count: int,
    seed: int = 0,
    width: int = 6,
    lookback: int = 2,
    hidden_tells: float = 0.0,
    audit_tells: float = 0.0,
) -> list[Labelled]:
    """Return labelled traces with one to four claims of three to five tokens each.

    Args:
        count: Number of traces.
        seed: Seed for the random values.
        width: Width of the hidden states.
        lookback: Number of lookback ratios.
        hidden_tells: How far the first hidden unit of a claim's tokens moves with the claim's
            label.
        audit_tells: How often the verdict agrees with the label, from 0 (never) to 1 (always).
    """
    generator = np.random.default_rng(seed)
    return [
        _trace(f"{seed}-{n}", generator, width, lookback, hidden_tells, audit_tells)
        for n in range(count)
    ]


def _trace(
    name: str,
    generator: np.random.Generator,
    width: int,
    lookback: int,
    hidden_tells: float,
    audit_tells: float,
) -> Labelled:
    claims = int(generator.integers(1, 5))
    labels = tuple(int(x) for x in generator.integers(0, 2, claims))
    spans, at = [], 2
    for _ in range(claims):
        stop = at + int(generator.integers(3, 6))
        spans.append((at, stop))
        at = stop + 1
    length = at + 1
    hidden = generator.normal(size=(length, width))
    for (start, stop), label in zip(spans, labels, strict=True):
        hidden[start:stop, 0] += hidden_tells * (2 * label - 1)
    top = np.sort(generator.dirichlet(np.ones(4), length), axis=1)[:, ::-1]
    rows = generator.random((claims, len(CLAIM_FEATURES)))
    names = list(CLAIM_FEATURES)
    entailed, contradicted = names.index("entailed"), names.index("contradicted")
    for row, label in zip(rows, labels, strict=True):
        told = label if generator.random() < audit_tells else int(generator.integers(0, 2))
        row[entailed], row[contradicted] = told, 1 - told
    given = Signals(
        logprobs=np.log(top[:, 0]).astype(np.float32),
        top=top.astype(np.float32),
        hidden=hidden.astype(np.float16),
        lookback=generator.random((length, lookback)).astype(np.float16),
        spans=spans,
    )
    trace = generator.random(len(TRACE_FEATURES))
    made = example(given, id=name, audit=audit(rows, trace, float(generator.random())))
    return Labelled(made, labels)
