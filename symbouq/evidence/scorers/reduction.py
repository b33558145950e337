"""From one value per claim to one per trace, and the choice of this reduction."""

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
"""The paper's summaries: the last claim's value, the mean, or the smallest. They take values of
which larger ones are better, so `min` is the worst claim's."""

_DIGITS = 12
"""Distances from chance that agree to so many digits are equal."""


def reduced(claims: Sequence[Values], reduction: Reduction) -> Values:
    """One value per trace, from values of its claims, larger ones better.

    Raises:
        SymboUQError: If a trace has no claims.
    """
    if not all(len(values) for values in claims):
        raise SymboUQError("a trace without claims has no score")
    return np.array([_SUMMARIES[reduction](values) for values in claims], np.float64)


def best_reduction(
    claims: Sequence[Values], labels: Sequence[int], upright: bool = False
) -> Reduction:
    """Reduction that best separates right from wrong answers, the first of `REDUCTIONS` among
    equals.

    The paper names no criterion. A candidate of Algorithm darc is oriented later, so its reduction
    has the largest |AUROC - 1/2|; the largest AUROC would take a reversed score nearest to chance,
    and screening would drop the rest. A standalone (`upright`) score is never reversed, so its
    reduction has the largest AUROC.

    Raises:
        SymboUQError: If labels have one class.
    """

    def distance(reduction: Reduction) -> float:
        signed = auroc(reduced(claims, reduction), labels) - 0.5
        return round(signed if upright else abs(signed), _DIGITS)

    return max(REDUCTIONS, key=distance)


def auroc(scores: Any, labels: Any) -> float:
    """`symbouq.metrics.auroc` of labels with both classes.

    Raises:
        SymboUQError: If labels have one class, or a score is not a number.
    """
    right = np.asarray(labels).astype(bool)
    area = metrics.auroc(scores, right)
    if area is None:
        positive = int(right.sum())
        raise SymboUQError(one_class("AUROC", positive, len(right) - positive))
    return area


def one_class(what: str, positive: int, negative: int) -> str:
    """Message about a missing class of labels."""
    return f"{what} needs both right and wrong answers, found {positive} right, {negative} wrong"
