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
"""A claim's first token and the one after its last; `(0, 0)` if no token is aligned with it."""


@dataclass(frozen=True)
class TokenSignals:
    """A backbone's probabilities, hidden states and attention at the T generated tokens of a trace,
    all float32.

    Attributes:
        logprobs: Log-probability of the token, `[T]`.
        top: The four largest probabilities, descending, `[T, 4]`.
        hidden: Final hidden state that predicted the token: input of the language model head, after
            the last norm, `[T, d]`.
        lookback: Attention to the prompt divided by attention to the prompt and the generated text,
            `[T, layers * heads]`, or `[T, layers]` if pooled.
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
    """One trace with all inputs for scorers. Missing ones are None or empty.

    Attributes:
        id: Id of the trace.
        record: The trace without labels.
        claims: Texts of its K claims, the conclusion last.
        signals: Cached signals from the model that wrote the trace.
        audit: The trace's audit, with 23 features per claim and 16 for the trace.
        samples: Further answers to the question, as trace records.
    """

    id: str
    record: dict[str, Any]
    claims: tuple[str, ...]
    signals: Signals | None = None
    audit: dict[str, Any] | None = None
    samples: tuple[dict[str, Any], ...] = field(default=())
