"""Reductions from one value per claim to one value per trace, and their selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from symbouq import metrics
from symbouq.errors import SymboUQError
from symbouq.metrics import Values

Reduction = Literal["conclusion", "mean", "min"]

_SUMMARIES: dict[Reduction, Callable[[Values], float]] = {
    "conclusion": lambda values: values[-1],
    "mean": lambda values: values.mean(),
    "min": lambda values: values.min(),
}
REDUCTIONS: tuple[Reduction, ...] = tuple(_SUMMARIES)
"""The paper's summaries: the last claim's value, the mean, or the smallest value. Larger values
must be better, so `min` is the value of the worst claim."""

_DIGITS = 12
"""Distances from chance count as equal if they agree to this many digits."""


def reduced(claims: Sequence[Values], reduction: Reduction) -> Values:
    """Reduce the values of each trace's claims to one value. Larger values must be better.

    Raises:
        SymboUQError: If a trace has no claims.
    """
    if not all(len(values) for values in claims):
        raise SymboUQError("a trace without claims has no score")
    return np.array([_SUMMARIES[reduction](values) for values in claims], np.float64)


def best_reduction(
    claims: Sequence[Values], labels: Sequence[int], upright: bool = False
) -> Reduction:
    """Return the reduction that best separates right from wrong answers. If several tie, return the
    first in `REDUCTIONS`.

    The paper does not specify a criterion. In Algorithm darc, candidates are oriented later, so the
    reduction with the largest |AUROC - 1/2| is chosen. For a reversed score, the largest AUROC
    would be the one closest to chance, and screening would drop the score. A standalone (`upright`)
    score is never reversed, so the reduction with the largest AUROC is chosen.

    Raises:
        SymboUQError: If the labels have only one class.
    """

    def distance(reduction: Reduction) -> float:
        signed = auroc(reduced(claims, reduction), labels) - 0.5
        return round(signed if upright else abs(signed), _DIGITS)

    return max(REDUCTIONS, key=distance)


def auroc(scores: Any, labels: Any) -> float:
    """`symbouq.metrics.auroc`, for labels with both classes.

    Raises:
        SymboUQError: If the labels have only one class, or a score is not a number.
    """
    right = np.asarray(labels).astype(bool)
    area = metrics.auroc(scores, right)
    if area is None:
        positive = int(right.sum())
        raise SymboUQError(one_class("AUROC", positive, len(right) - positive))
    return area


def one_class(what: str, positive: int, negative: int) -> str:
    """Error message for labels with only one class."""
    return f"{what} needs both right and wrong answers, found {positive} right, {negative} wrong"
