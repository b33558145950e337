"""Distribution-free control of the error among accepted traces: learn then test.

A threshold is fitted on calibration traces. There is one per scene, and none of them was used to
fit the composer. With probability 1 - delta over the draw of these traces, at most a share `level`
of the new traces that reach the threshold are wrong. This holds for any distribution and any
reliabilities. New traces must come from the same distribution, so not from another model, dataset
or wording.

For each threshold of a fixed sequence, the hypothesis "the error among accepted traces exceeds
`level`" is tested. If k of n accepted traces are wrong, then k is binomial given n, and `P(Bin(n,
level) <= k)` is an exact p-value (the inverted bound of Clopper and Pearson). The sequence starts
at the threshold that would have the smallest p-value if the reliabilities were correct. It
continues with lower thresholds and stops when a p-value exceeds delta. The sequence is fixed before
looking at the calibration traces, so the probability of any wrong rejection is at most delta
(Angelopoulos, Bates, Candès, Jordan and Lei 2021, Learn then Test, arXiv:2110.01052: split
fixed-sequence testing).
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
"""Maximum number of thresholds. The thresholds are quantiles of the reliabilities of the traces
used for fitting."""


@dataclass(frozen=True)
class Guarantee(Stored):
    """A threshold on the reliability, and the guarantee that it provides.

    Attributes:
        level: Largest share of wrong answers among accepted traces.
        delta: Probability of exceeding this share, over the draw of the calibration traces.
        threshold: Lowest accepted reliability; None if nothing is accepted.
        scenes: Number of calibration traces, one per scene.
        accepted: Number of calibration traces that reach the threshold (without a threshold: the
            first one tested).
        wrong: Number of accepted calibration traces that are wrong.

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
        """Whether a trace with this reliability is accepted."""
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
    """Return the smallest n for which n accepted traces, all of them right, give a guarantee: `(1 -
    level)^n <= delta`.
    """
    return math.ceil(math.log(delta) / math.log1p(-level) - 1e-9)


def control(
    fitted: Values, held: Values, right: Values, level: float, delta: float = DELTA
) -> Guarantee:
    """Find the lowest threshold for which the guarantee holds.

    Args:
        fitted: Reliabilities of the traces used to fit the composer. They determine the sequence of
            thresholds.
        held: Reliabilities of the calibration traces, drawn independently of each other and of the
            fit.
        right: Whether the answers in `held` are right, 1 or 0.
        level: Largest share of wrong answers among accepted traces.
        delta: Probability of exceeding this share.
    """
    from scipy.stats import binom

    def counts(p: Values, wrong: Values) -> tuple[Values, Values]:
        """Count the traces that reach each threshold, and the wrong ones among them."""
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
    """Return a threshold for keeping the leading claims of each trace, up to the first claim that
    reaches the threshold. At most a share `level` of new traces then keep a wrong claim. This is
    conformal factuality (Mohri and Hashimoto 2024, arXiv:2402.10978) for ordered claims.

    A trace keeps its first wrong claim if this and all earlier claims are below the threshold. For
    each of the n calibration traces, take the largest uncertainty up to the first wrong claim. The
    threshold is the k-th smallest of these, with `k = floor(level * (n + 1))`. For a new trace from
    the same distribution, the probability of keeping a wrong claim is then at most k / (n + 1),
    over the draw of the calibration traces and the new trace.

    Args:
        uncertainties: One per claim, for each calibration trace.
        errors: Number of each trace's first wrong claim, from 1; 0 if there is none.
        level: Largest share of new traces that may keep a wrong claim.

    Returns:
        The threshold. It is the largest float if all claims may be kept, and None if there are too
        few traces to keep any claim.
    """
    least = sorted(
        max(row[:error]) if error else sys.float_info.max
        for row, error in zip(uncertainties, errors, strict=True)
    )
    k = math.floor(level * (len(least) + 1) + 1e-9)
    return least[k - 1] if k else None


def kept_claims(uncertainties: Sequence[float], threshold: float | None) -> int:
    """Return the number of leading claims below a threshold from `prefix_threshold`."""
    if threshold is None:
        return 0
    return sum(1 for _ in takewhile(lambda value: value < threshold, uncertainties))
