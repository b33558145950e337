"""Distribution-free control of the error among accepted traces: learn then test.

A threshold is fitted on traces that the composer was not fitted on, one per scene. With probability
1 - delta over their draw, at most a share `level` of new traces whose reliability reaches the
threshold are wrong, whatever the distribution and however poor the reliabilities. New traces must
be drawn in the same way: another model, dataset or wording is another draw.

For each threshold of a fixed sequence, the hypothesis "the error among accepted traces exceeds
`level`" is tested. Of n accepted traces k are wrong; given n, k is binomial, and `P(Bin(n, level)
<= k)` is an exact p-value (the inverted bound of Clopper and Pearson). The sequence starts at the
threshold with the smallest p-value if reliabilities are correct, continues with lower ones, and
stops when a p-value exceeds delta. It is fixed before looking at the calibration traces, so all
tests together err with probability at most delta (Angelopoulos, Bates, Candès, Jordan and Lei 2021,
Learn then Test, arXiv:2110.01052: split fixed-sequence testing).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.stored import Stored
from symbouq.metrics import Values

DELTA = 0.1
"""Probability that the guarantee fails, over the draw of the calibration traces."""

_THRESHOLDS = 100
"""How many thresholds there are at most: quantiles of the reliabilities that were fitted on."""


@dataclass(frozen=True)
class Guarantee(Stored):
    """A threshold on the reliability, with its promise.

    Attributes:
        level: Largest share of wrong answers among accepted traces.
        delta: Probability of exceeding it, over the draw of the calibration traces.
        threshold: Least accepted reliability; None if nothing is accepted.
        scenes: Number of calibration traces, one per scene.
        accepted: How many reach the threshold, or the first one tested.
        wrong: How many of those are wrong.

    Raises:
        SymboUQError: If level or delta is not between 0 and 1.
    """

    noun = "a guarantee"

    level: float
    delta: float
    threshold: float | None
    scenes: int
    accepted: int
    wrong: int

    def __post_init__(self) -> None:
        if not (0 < self.level < 1 and 0 < self.delta < 1):
            raise SymboUQError("the level of a guarantee and its delta are between 0 and 1")

    def accepts(self, reliability: float) -> bool:
        """Whether a trace of this reliability is accepted."""
        return self.threshold is not None and reliability >= self.threshold

    def __str__(self) -> str:
        promise = f"an error of at most {self.level:g} with probability {1 - self.delta:g}"
        if self.threshold is not None:
            return (
                f"accepted from reliability {self.threshold:.3f} on, for {promise}: of "
                f"{self.scenes} held-out scenes {self.accepted} are accepted, {self.wrong} wrong"
            )
        least = least_traces(self.level, self.delta)
        if self.scenes < least:
            return (
                f"nothing is accepted: {promise} needs {least} held-out traces, each of another "
                f"scene and none of them wrong, so {2 * least} scenes in all; half of those given "
                f"are {self.scenes}"
            )
        return (
            f"nothing is accepted: no threshold gives {promise}; at the most promising one "
            f"{self.wrong} of {self.accepted} held-out traces are wrong"
        )


def least_traces(level: float, delta: float) -> int:
    """Least number of accepted, all right traces for a guarantee: `(1 - level)^n <= delta`."""
    return math.ceil(math.log(delta) / math.log1p(-level) - 1e-9)


def control(
    fitted: Values, held: Values, right: Values, level: float, delta: float = DELTA
) -> Guarantee:
    """The lowest safe threshold.

    Args:
        fitted: Reliabilities of the traces that the composer was fitted on, which determine the
            sequence of thresholds.
        held: Reliabilities of the calibration traces, drawn independently of each other and of the
            fit.
        right: Whether their answers are right, 1 or 0.
        level: Largest share of wrong answers among accepted traces.
        delta: Probability of exceeding it.
    """
    from scipy.stats import binom

    def counts(p: Values, wrong: Values) -> tuple[Values, Values]:
        """How many traces reach each threshold, and how many of them are wrong."""
        reached = p >= thresholds[:, None]
        return reached.sum(axis=1), reached @ wrong

    grid = np.quantile(fitted, np.linspace(0, 1, _THRESHOLDS), method="higher")
    thresholds = np.unique(grid)[::-1]
    share = len(held) / len(fitted)
    accepted, wrong = counts(fitted, 1 - fitted)
    promised = binom.cdf(np.round(share * wrong), np.round(share * accepted), level)
    start = int(np.argmin(promised))
    accepted, wrong = counts(held, 1 - right)
    safe = binom.cdf(wrong, accepted, level) <= delta
    passed = int(np.logical_and.accumulate(safe[start:]).sum())
    last = start + max(passed, 1) - 1
    threshold = float(thresholds[last]) if passed else None
    return Guarantee(level, delta, threshold, len(held), int(accepted[last]), int(wrong[last]))


def prefix_threshold(
    uncertainties: Sequence[Sequence[float]], errors: Sequence[int], level: float
) -> float | None:
    """Threshold below which a trace's leading claims are kept, so that at most a share `level` of
    new traces keep a wrong one: conformal factuality (Mohri and Hashimoto 2024, arXiv:2402.10978)
    for claims in order.

    A trace keeps its first wrong claim if all claims up to that are below the threshold. With n
    calibration traces, the threshold is the k-th smallest of their largest uncertainties up to the
    first wrong claim, `k = floor(level * (n + 1))`. For a new trace drawn like them, the chance of
    keeping a wrong claim is then at most k / (n + 1), over both draws.

    Args:
        uncertainties: One per claim, for each calibration trace.
        errors: Number of the first wrong claim of each, from 1; 0 if there is none.
        level: Largest share of new traces that keep a wrong claim.

    Returns:
        The threshold, the largest float if everything may be kept; None if there are too few traces
        to keep anything.
    """
    least = sorted(
        max(row[:error]) if error else sys.float_info.max
        for row, error in zip(uncertainties, errors, strict=True)
    )
    k = math.floor(level * (len(least) + 1) + 1e-9)
    return least[k - 1] if k else None


def kept_claims(uncertainties: Sequence[float], threshold: float | None) -> int:
    """Number of leading claims before the first that reaches a threshold of `prefix_threshold`."""
    if threshold is None:
        return 0
    return sum(1 for _ in takewhile(lambda value: value < threshold, uncertainties))
