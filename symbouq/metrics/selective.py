"""Selective prediction: the risk if only traces with high scores are answered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from symbouq.metrics.pool import Metric, Values, checked, ratio, tied


@Metric
def aurc(scores: Values, labels: Values, counts: Values) -> Values:
    """Area under the risk-coverage curve: the risk of the k traces with the best scores, averaged
    over k.

    Ties are averaged over all orders, so the order of the input does not matter.
    """
    order, starts = tied(-scores)
    size = np.add.reduceat(counts[:, order], starts, axis=1)
    wrong = np.add.reduceat((counts * (1 - labels))[:, order], starts, axis=1)
    taken = np.cumsum(size, axis=1)
    before, errors = taken - size, np.cumsum(wrong, axis=1) - wrong
    # Suppose that k traces, e of them wrong, are followed by m tied traces, w of them wrong. Then
    # the expected risk of the first k + j traces is (e + jw/m) / (k + j) = w/m + (e - kw/m) / (k +
    # j): a harmonic sum.
    total = int(counts.sum(axis=1).max(initial=0))
    harmonic = np.r_[0.0, np.cumsum(1 / np.arange(1, total + 1))]
    spread = harmonic[taken.astype(int)] - harmonic[before.astype(int)]
    rate = np.divide(wrong, size, out=np.zeros_like(wrong), where=size > 0)
    return ratio((wrong + (errors - before * rate) * spread).sum(axis=1), counts.sum(axis=1))


@dataclass(frozen=True)
class RiskCoverage:
    """A risk-coverage curve.

    Attributes:
        coverage: Shares of answered traces, 1/n to 1.
        risk: Expected share of wrong answers among the answered traces.
    """

    coverage: Values
    risk: Values


def risk_coverage(scores: ArrayLike, labels: ArrayLike) -> RiskCoverage:
    """Compute the risk-coverage curve, with ties as in `aurc`. It is empty without traces.

    Raises:
        SymboUQError: If lengths differ, or a score or label is missing.
    """
    values, right = checked(scores, labels)
    if not len(values):
        return RiskCoverage(np.empty(0), np.empty(0))
    order, starts = tied(-values)
    sizes = np.diff(np.r_[starts, len(values)])
    rates = np.add.reduceat(1 - right[order], starts) / sizes
    taken = np.arange(1, len(values) + 1)
    return RiskCoverage(taken / len(values), np.cumsum(np.repeat(rates, sizes)) / taken)
