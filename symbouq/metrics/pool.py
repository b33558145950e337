"""Pools of scored traces, whole or resampled, and the type of metrics."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symbouq.errors import SymboUQError

Values = NDArray[np.float64]

Weighted = Callable[[Values, Values, Values], Values]
"""Function from scores `[n]`, labels `[n]` and counts `[B, n]` to B values, NaN where undefined."""


class Metric:
    """A metric, called with scores and labels.

    The formula is written once, for B multisets of the same traces, which are given by counts. For
    a single value, all counts are 1. So no separate formula is needed for the bootstrap.

    Attributes:
        weighted: Function that computes the metric for B multisets.
    """

    def __init__(self, weighted: Weighted) -> None:
        update_wrapper(self, weighted)
        self.weighted = weighted

    def __call__(self, scores: ArrayLike, labels: ArrayLike) -> float | None:
        """Compute the metric for a pool of traces; None if it is undefined.

        Args:
            scores: One number per trace, `[n]`; larger means more likely right.
            labels: 1 right, 0 wrong, `[n]`.

        Raises:
            SymboUQError: If lengths differ, or a score or label is missing.
        """
        values, right = checked(scores, labels)
        if not len(values):
            return None
        return defined(float(self.weighted(values, right, np.ones((1, len(values))))[0]))


def checked(scores: ArrayLike, labels: ArrayLike) -> tuple[Values, Values]:
    """Return scores and labels as arrays `[n]`.

    Raises:
        SymboUQError: If lengths differ, or a score or label is missing.
    """
    values, right = np.asarray(scores, np.float64), np.asarray(labels, np.float64)
    if values.ndim != 1 or values.shape != right.shape:
        raise SymboUQError(f"{values.shape} scores for {right.shape} labels: one each is needed")
    if np.isnan(values).any():
        raise SymboUQError("a score is not a number")
    if not np.isin(right, (0, 1)).all():
        raise SymboUQError("labels are 0 or 1")
    return values, right


def defined(value: float) -> float | None:
    """Return the value, or None for NaN."""
    return None if np.isnan(value) else value


def ratio(numerator: Values, denominator: Values) -> Values:
    """Divide elementwise; 0 / 0 gives NaN."""
    quotient = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=quotient, where=denominator > 0)
    return quotient


def tied(scores: Values) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the ascending order of the scores, and the start of each run of equal scores."""
    order = np.argsort(scores, kind="stable")
    ranked = scores[order]
    return order, np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
