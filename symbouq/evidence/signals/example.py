"""One trace with everything that a scorer may read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

Span = tuple[int, int]
"""First token of a claim and the one after its last; `(0, 0)` where no token is aligned."""


@dataclass(frozen=True)
class TokenSignals:
    """Probabilities, hidden states and attention of a backbone at the T generated tokens of a
    trace, all float32.

    Attributes:
        logprobs: Log-probability of the token, `[T]`.
        top: The four largest probabilities, descending, `[T, 4]`.
        hidden: Final hidden state from which the token was predicted: what the language
            model head reads, after the last norm, `[T, d]`.
        lookback: Attention to the prompt over attention to prompt and generated text,
            `[T, layers * heads]`, a layer's heads side by side, or `[T, layers]` where they
            are pooled.
    """

    logprobs: Floats
    top: Floats
    hidden: Floats
    lookback: Floats


@dataclass(frozen=True)
class Signals(TokenSignals):
    """The signals of a trace, aligned with its claims.

    Attributes:
        spans: Tokens of each claim; the last one is the conclusion.
    """

    spans: Sequence[Span]


@dataclass(frozen=True)
class Example:
    """One trace with everything that a scorer may read; what is missing is None or empty.

    Attributes:
        id: The trace's id.
        record: The trace as it was written, labels taken out.
        claims: The texts of its K claims; the last one is the conclusion.
        signals: The cached signals of the model that wrote it.
        audit: Its audit record, which holds 23 features a claim and 16 of the trace.
        samples: Further answers to the same question, each as a trace record.
    """

    id: str
    record: dict[str, Any]
    claims: tuple[str, ...]
    signals: Signals | None = None
    audit: dict[str, Any] | None = None
    samples: tuple[dict[str, Any], ...] = field(default=())
