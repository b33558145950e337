"""Metrics by name, and the paired bootstrap that compares two scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from symbouq.errors import SymboUQError
from symbouq.metrics.calibration import balanced_brier, brier, ece, nll
from symbouq.metrics.discrimination import auroc
from symbouq.metrics.pool import Metric, Values, checked
from symbouq.metrics.selective import aurc

METRICS: dict[str, Metric] = {
    "auroc": auroc,
    "balanced_brier": balanced_brier,
    "brier": brier,
    "ece": ece,
    "nll": nll,
    "aurc": aurc,
}
"""Metrics that the bootstrap can compute on resamples, by name."""

HIGHER_IS_BETTER = frozenset({"auroc"})
"""Names of the metrics for which higher is better."""

RESAMPLES = 2000
"""Number of resamples of the paired bootstrap."""

_AT_ONCE = 4_000_000
"""Maximum number of resampled traces in memory at once."""


def evaluate(metric: str, scores: ArrayLike, labels: ArrayLike) -> float | None:
    """Compute a metric from METRICS; None if it is undefined for these traces.

    Args:
        metric: Name of the metric.
        scores: One number per trace; larger means more likely right.
        labels: 1 right, 0 wrong.

    Raises:
        SymboUQError: If the name is unknown, lengths differ, or a score or label is missing.
    """
    return _metric(metric)(scores, labels)


def _metric(name: str) -> Metric:
    if name not in METRICS:
        raise SymboUQError(f"unknown metric {name!r}; there are: {', '.join(METRICS)}")
    return METRICS[name]


@dataclass(frozen=True)
class Comparison:
    """By how much two scores of the same traces differ in a metric.

    Attributes:
        difference: First minus second on all traces.
        low: Lower end of the 95 % percentile interval.
        high: Upper end of the interval.
        p: Two-sided p-value of no difference.
        resamples: Number of resamples for which the metric is defined; the others hold only one
            class.
    """

    difference: float
    low: float
    high: float
    p: float
    resamples: int


def paired_bootstrap(
    first: ArrayLike,
    second: ArrayLike,
    labels: ArrayLike,
    metric: str = "auroc",
    resamples: int = RESAMPLES,
    seed: int = 2026,
) -> Comparison | None:
    """Compare two scores by resampling traces, each together with both of its scores.

    The p-value is twice the share of resampled differences on the smaller side of zero. As in
    SciPy's permutation test, differences of exactly zero and one additional resample are counted on
    both sides. The resamples are the same as in `scipy.stats.bootstrap` with
    `numpy.random.default_rng(seed)`.

    Args:
        first: Scores of one method, `[n]`, or of several runs, `[runs, n]`; the metric is then the
            mean over runs.
        second: Scores of the other method on the same traces.
        labels: 1 right, 0 wrong.
        metric: A name from METRICS.
        resamples: Number of resamples.
        seed: Seed of the resamples.

    Returns:
        The comparison, or None if the metric is undefined for the traces or for all resamples.

    Raises:
        SymboUQError: If the metric is unknown, lengths differ, or a score or label is missing.
    """
    function = _metric(metric)
    both = [[checked(run, labels)[0] for run in np.atleast_2d(runs)] for runs in (first, second)]
    right = np.asarray(labels, np.float64)
    values = [[function(run, right) for run in runs] for runs in both]
    on_all = [[value for value in row if value is not None] for row in values]
    if not on_all[0] or not on_all[1]:
        return None
    n = len(right)
    drawn = np.random.default_rng(seed).integers(0, n, (resamples, n))
    size = max(1, _AT_ONCE // n)
    parts = []
    for start in range(0, resamples, size):
        rows = drawn[start : start + size]
        offsets = np.arange(len(rows))[:, None] * n
        counts = np.bincount((rows + offsets).ravel(), minlength=len(rows) * n)
        weights = counts.reshape(len(rows), n).astype(np.float64)
        means = [
            sum(function.weighted(run, right, weights) for run in runs) / len(runs) for runs in both
        ]
        parts.append(means[0] - means[1])
    differences = np.concatenate(parts)
    differences = differences[~np.isnan(differences)]
    if not len(differences):
        return None
    low, high = np.percentile(differences, (2.5, 97.5))
    return Comparison(
        sum(on_all[0]) / len(on_all[0]) - sum(on_all[1]) / len(on_all[1]),
        float(low),
        float(high),
        two_sided(differences),
        len(differences),
    )


def two_sided(differences: Values) -> float:
    """Two-sided p-value of no difference, from resampled differences.

    It is twice the share of differences on the smaller side of zero. Differences of exactly zero
    and one additional resample are counted on both sides.
    """
    sides = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    return min(1.0, 2 * (sides + 1) / (len(differences) + 1))
