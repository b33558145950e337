"""What every score of the paper has in common: what it needs, how it is fitted, what it says.

A scorer gives one value to each claim of a trace; the last claim is the conclusion. The values
are `uncertainty` (larger is worse) or `correctness` (larger is better), as its `orientation`
says, and have no common scale: `symbouq.evidence.scorers.calibration` makes probabilities of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from symbouq.errors import SymboUQError
from symbouq.evidence.signals.example import Example

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

Need = Literal["tokens", "hidden", "lookback", "audit", "samples", "backbone", "nli"]
"""What a scorer may read: probabilities of the generated tokens, hidden states, lookback
ratios, audit records, further answers, the generating model itself, an entailment model."""

Needs = frozenset[Need]

Orientation = Literal["uncertainty", "correctness"]
"""Whether larger values speak against a claim or for it."""

Family = Literal["reference", "decoding", "sampling", "neural", "symbolic"]
"""The paper's groups of methods (appendix Baselines), and Random apart."""

Label = int | None
"""1 right, 0 wrong, None not labelled."""


@dataclass(frozen=True)
class Labelled:
    """An example with its labels.

    Attributes:
        example: The example.
        labels: One label per claim. The last is the conclusion's: whether the delivered answer
            is right, which is the label of the trace.
    """

    example: Example
    labels: tuple[Label, ...]

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.example.claims):
            raise SymboUQError(
                f"trace {self.example.id}: {len(self.labels)} labels for "
                f"{len(self.example.claims)} claims"
            )
        if any(label not in (0, 1, None) for label in self.labels):
            raise SymboUQError(f"trace {self.example.id}: labels are 0, 1 or null")

    @property
    def correct(self) -> Label:
        """Whether the delivered answer is right."""
        return self.labels[-1] if self.labels else None


class Scorer(Protocol):
    """A score of the paper."""

    @property
    def name(self) -> str:
        """Its name in the paper."""

    @property
    def needs(self) -> Needs:
        """What it reads of an example."""

    @property
    def orientation(self) -> Orientation:
        """What larger values mean."""

    def fit(self, train: Sequence[Labelled], validation: Sequence[Labelled]) -> None:
        """Learns from source data; training-free scores do nothing.

        Raises:
            SymboUQError: If a split is empty or lacks one of the classes, or an example lacks
                what the scorer needs.
        """

    def score(self, examples: Sequence[Example]) -> list[Values]:
        """One array a trace with one value a claim.

        Raises:
            SymboUQError: If an example lacks what the scorer needs, or nothing was fitted.
        """


class TrainingFree:
    """A score that has nothing to fit."""

    def fit(self, train: Sequence[Labelled], validation: Sequence[Labelled]) -> None:
        """Does nothing."""


@dataclass(frozen=True)
class Entry:
    """What is known of a scorer before its module is loaded.

    Attributes:
        name: Its name in the paper.
        family: Its group.
        needs: What it reads of an example.
        trained: Whether it learns from source data.
        banked: Whether it belongs to the reliability evidence bank (appendix Transfer); the
            others are baselines only.
        place: Module and name of what makes one.
    """

    name: str
    family: Family
    needs: Needs
    trained: bool
    banked: bool
    place: str

    def make(self, **options: Any) -> Scorer:
        """A scorer, with the options that its own documentation lists.

        Raises:
            SymboUQError: If a package is missing that it needs.
        """
        module, _, name = self.place.partition(":")
        factory = cast(Callable[..., Scorer], getattr(import_module(module), name))
        return factory(**options)


_DECODING = "symbouq.evidence.scorers.decoding"
_SAMPLING = "symbouq.evidence.scorers.sampling"
_TRAINING = "symbouq.evidence.scorers.training"
_PROBE: Needs = frozenset({"tokens", "hidden", "lookback"})

SCORERS: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry("Random", "reference", frozenset(), False, False, f"{_DECODING}:Random"),
        Entry(
            "Perplexity", "decoding", frozenset({"tokens"}), False, True, f"{_DECODING}:Perplexity"
        ),
        Entry(
            "Token Entropy",
            "decoding",
            frozenset({"tokens"}),
            False,
            True,
            f"{_DECODING}:TokenEntropy",
        ),
        Entry("MCP", "decoding", frozenset({"tokens"}), False, True, f"{_DECODING}:MCP"),
        Entry("CCP", "decoding", frozenset({"tokens"}), False, True, f"{_DECODING}:CCP"),
        Entry(
            "Semantic Entropy",
            "sampling",
            frozenset({"samples"}),
            False,
            False,
            f"{_SAMPLING}:SemanticEntropy",
        ),
        Entry(
            "SelfCheckGPT",
            "sampling",
            frozenset({"samples"}),
            False,
            False,
            f"{_SAMPLING}:SelfCheckGPT",
        ),
        Entry(
            "P(True)",
            "sampling",
            frozenset({"samples", "backbone"}),
            False,
            False,
            f"{_SAMPLING}:PTrue",
        ),
        Entry("Factoscope", "neural", _PROBE, True, True, f"{_TRAINING}:factoscope"),
        Entry("UHead", "neural", _PROBE, True, True, f"{_TRAINING}:uhead"),
        Entry("Neural-Seq", "neural", _PROBE, True, True, f"{_TRAINING}:neural_seq"),
        Entry("MLP", "neural", _PROBE, True, True, f"{_TRAINING}:mlp"),
        Entry(
            "Constraint-Rule",
            "symbolic",
            frozenset({"audit"}),
            False,
            True,
            "symbouq.evidence.scorers.symbolic:ConstraintRule",
        ),
        Entry(
            "Constraint-Only",
            "symbolic",
            frozenset({"audit"}),
            True,
            True,
            f"{_TRAINING}:constraint_only",
        ),
        Entry("Constraint", "symbolic", _PROBE | {"audit"}, True, True, f"{_TRAINING}:constraint"),
    )
}
"""Every scorer by its name in the paper, in the paper's order."""


def entry(name: str) -> Entry:
    """What is known of a scorer; case does not matter.

    Raises:
        SymboUQError: If there is none of that name.
    """
    for known in SCORERS.values():
        if known.name.casefold() == name.strip().casefold():
            return known
    raise SymboUQError(f"unknown scorer {name!r}; there are: {', '.join(SCORERS)}")


def readable(example: Example) -> bool:
    """Whether there is anything to score: a claim and, where signals are given, a token.

    A generation that failed has neither, and stays without a score.
    """
    return bool(example.claims) and (example.signals is None or len(example.signals.logprobs) > 0)


def require(examples: Iterable[Example], needs: Needs, name: str) -> None:
    """Checks that examples have what a scorer reads of them; those without claims, such as failed
    generations, need nothing.

    Raises:
        SymboUQError: Names the first example that lacks something, and what.
    """
    for example in examples:
        fault = lacking(example, needs)
        if fault is not None:
            raise SymboUQError(f"trace {example.id}: {name} needs {fault}")


def lacking(example: Example, needs: Needs) -> str | None:
    """What an example lacks of some needs, in words; None if nothing."""
    if not example.claims:
        return None
    faults = (_CHECKS[need](example) for need in sorted(needs & _CHECKS.keys()))
    return next((fault for fault in faults if fault is not None), None)


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


def _hidden(example: Example) -> str | None:
    signals = example.signals
    if signals is None or not signals.hidden.size:
        return "the hidden states of its tokens"
    return None


def _lookback(example: Example) -> str | None:
    signals = example.signals
    if signals is None or not signals.lookback.size:
        return "the lookback ratios of its tokens"
    return None


def _audit(example: Example) -> str | None:
    if example.audit is None:
        return "an audit of it"
    found = len(example.audit["claims"])
    if found != len(example.claims):
        return f"an audit of its {len(example.claims)} claims, not of {found}"
    return None


def _samples(example: Example) -> str | None:
    return None if example.samples else "further answers to its question (samples)"


_CHECKS: dict[Need, Callable[[Example], str | None]] = {
    "tokens": _tokens,
    "hidden": _hidden,
    "lookback": _lookback,
    "audit": _audit,
    "samples": _samples,
}
