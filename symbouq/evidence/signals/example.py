"""One trace with all inputs for scorers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

Span = tuple[int, int]
"""Indices of a claim's first token and of the token after its last one; `(0, 0)` if no token is
aligned with the claim."""


@dataclass(frozen=True)
class TokenSignals:
    """A backbone's probabilities, hidden states and attention at the T generated tokens of a trace,
    all float32.

    Attributes:
        logprobs: Log-probability of each token, `[T]`.
        top: The four largest probabilities, descending, `[T, 4]`.
        hidden: Final hidden state from which each token was predicted, `[T, d]`. This is the input
            to the language model head, after the last norm.
        lookback: Attention to the prompt divided by the sum of attention to the prompt and to the
            generated text, `[T, layers * heads]`, or `[T, layers]` if pooled.
    """

    logprobs: Floats
    top: Floats
    hidden: Floats
    lookback: Floats


@dataclass(frozen=True)
class Signals(TokenSignals):
    """The signals of a trace, with the tokens of each claim, the conclusion last."""

    spans: Sequence[Span]


@dataclass(frozen=True)
class Example:
    """One trace with all inputs for scorers. Missing inputs are None or empty.

    Attributes:
        id: Id of the trace.
        record: The trace without labels.
        claims: Texts of its K claims, the conclusion last.
        signals: Cached signals from the model that wrote the trace.
        audit: The trace's audit, with 23 features per claim and 16 for the trace.
        samples: Sampled answers to the question, as trace records.
    """

    id: str
    record: dict[str, Any]
    claims: tuple[str, ...]
    signals: Signals | None = None
    audit: dict[str, Any] | None = None
    samples: tuple[dict[str, Any], ...] = field(default=())
