"""The inputs that scorers may need, and checks that an example has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Literal

from symbouq.errors import SymboUQError
from symbouq.evidence.signals.example import Example

Need = Literal["tokens", "hidden", "lookback", "audit", "samples", "backbone", "nli"]
"""An input for a scorer: probabilities of the generated tokens, hidden states, lookback ratios,
audit records, sampled answers, the generating model itself, or an entailment model."""

Needs = frozenset[Need]


def readable(example: Example) -> bool:
    """Whether the example can be scored: it must have a claim and, if there are signals, a token.
    Failed generations have no claims and no tokens.
    """
    return bool(example.claims) and (example.signals is None or len(example.signals.logprobs) > 0)


def require(examples: Iterable[Example], needs: Needs, name: str) -> None:
    """Check that all examples with claims have the inputs needed by the scorer called `name`.

    Raises:
        SymboUQError: If an example lacks an input. The message names the first such example and the
            input.
    """
    for example in examples:
        fault = lacking(example, needs)
        if fault is not None:
            raise SymboUQError(f"trace {example.id}: {name} needs {fault}")


def lacking(example: Example, needs: Needs) -> str | None:
    """Describe the first needed input that an example lacks; None if it has all of them."""
    if not example.claims:
        return None
    faults = (_CHECKS[need](example) for need in sorted(needs & _CHECKS.keys()))
    return next(filter(None, faults), None)


def _tokens(example: Example) -> str | None:
    signals = example.signals
    if signals is None or not len(signals.logprobs):
        return "the probabilities of its tokens"
    if len(signals.spans) != len(example.claims):
        return f"a span for each of {len(example.claims)} claims, not {len(signals.spans)}"
    length = len(signals.logprobs)
    if any(not 0 <= start <= stop <= length for start, stop in signals.spans):
        return f"spans within its {length} tokens"
    return None


def _signal(name: str, words: str, example: Example) -> str | None:
    there = example.signals is not None and getattr(example.signals, name).size
    return None if there else words


def _audit(example: Example) -> str | None:
    if example.audit is None:
        return "an audit of it"
    count = len(example.audit["claims"])
    if count != len(example.claims):
        return f"an audit of its {len(example.claims)} claims, not of {count}"
    return None


def _samples(example: Example) -> str | None:
    return None if example.samples else "further answers to its question (samples)"


_CHECKS: dict[Need, Callable[[Example], str | None]] = {
    "tokens": _tokens,
    "hidden": partial(_signal, "hidden", "the hidden states of its tokens"),
    "lookback": partial(_signal, "lookback", "the lookback ratios of its tokens"),
    "audit": _audit,
    "samples": _samples,
}
