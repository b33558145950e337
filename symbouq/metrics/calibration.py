"""Calibration metrics. All of them need scores in [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symbouq.errors import SymboUQError
from symbouq.metrics.pool import Metric, Values, checked, ratio

ECE_BINS = 10
"""Number of bins for the expected calibration error. They have equal width: [0, 0.1), ..., [0.9,
1]."""

_SMALLEST = float(np.finfo(np.float64).eps)
"""Minimum distance of probabilities from 0 and 1 when their logarithm is taken."""


def _probabilities(scores: Values) -> Values:
    if ((scores < 0) | (scores > 1)).any():
        raise SymboUQError("a score is not a probability: this metric needs values in [0, 1]")
    return scores


@Metric
def brier(scores: Values, labels: Values, counts: Values) -> Values:
    """Brier score: mean squared error of the probabilities."""
    return ratio(counts @ (_probabilities(scores) - labels) ** 2, counts.sum(axis=1))


@Metric
def balanced_brier(scores: Values, labels: Values, counts: Values) -> Values:
    """Class-balanced Brier score: mean squared error averaged over classes (Eq. balbrier).

    It is None if there is only one class.
    """
    p = _probabilities(scores)
    right = ratio(counts @ (labels * (p - 1) ** 2), counts @ labels)
    wrong = ratio(counts @ ((1 - labels) * p**2), counts @ (1 - labels))
    return (right + wrong) / 2


@Metric
def ece(scores: Values, labels: Values, counts: Values) -> Values:
    """Expected calibration error over ECE_BINS bins of equal width.

    For each bin, the distance between the mean probability and the share of right answers is
    computed. These distances are averaged, weighted by bin size. A bin includes its lower edge; the
    last bin includes both edges.
    """
    gaps = np.zeros((len(scores), ECE_BINS))
    gaps[np.arange(len(scores)), _bins(scores)] = labels - scores
    return ratio(np.abs(counts @ gaps).sum(axis=1), counts.sum(axis=1))


@Metric
def nll(scores: Values, labels: Values, counts: Values) -> Values:
    """Mean negative log-likelihood of the labels in nats. Scores are clipped to a distance of at
    least 2.2e-16 from 0 and 1.
    """
    clipped = np.clip(_probabilities(scores), _SMALLEST, 1 - _SMALLEST)
    losses = -np.where(labels > 0, np.log(clipped), np.log1p(-clipped))
    return ratio(counts @ losses, counts.sum(axis=1))


def _bins(scores: Values) -> NDArray[np.intp]:
    return np.minimum((_probabilities(scores) * ECE_BINS).astype(np.intp), ECE_BINS - 1)


@dataclass(frozen=True)
class CalibrationBin:
    """A bin of a reliability diagram.

    Attributes:
        low: Lower edge.
        high: Upper edge.
        count: Number of traces.
        confidence: Mean probability of these traces, or None without traces.
        accuracy: Share of right answers, or None without traces.
    """

    low: float
    high: float
    count: int
    confidence: float | None
    accuracy: float | None


def calibration_bins(scores: ArrayLike, labels: ArrayLike) -> list[CalibrationBin]:
    """Compute the bins of `ece`, for a reliability diagram.

    Raises:
        SymboUQError: If lengths differ, or a score or label is missing.
    """
    values, right = checked(scores, labels)
    bins = _bins(values)

    def mean(chosen: Values) -> float | None:
        return float(chosen.mean()) if len(chosen) else None

    return [
        CalibrationBin(
            number / ECE_BINS,
            (number + 1) / ECE_BINS,
            int((bins == number).sum()),
            mean(values[bins == number]),
            mean(right[bins == number]),
        )
        for number in range(ECE_BINS)
    ]
