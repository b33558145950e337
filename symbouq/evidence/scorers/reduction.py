"""From one value a claim to one a trace, and which way of doing so ranks best."""

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
    """One value a trace.

    Args:
        claims: For each trace the values of its claims, larger ones better.
        reduction: How they are summarised.

    Raises:
        SymboUQError: If a trace has no claims.
    """
    if not all(len(values) for values in claims):
        raise SymboUQError("a trace without claims has no score")
    return np.array([_SUMMARIES[reduction](values) for values in claims], np.float64)


def best_reduction(
    claims: Sequence[Values], labels: Sequence[int], upright: bool = False
) -> Reduction:
    """The reduction that tells right from wrong answers best: the first of `REDUCTIONS` among
    equals.

    The paper names no criterion. A score that is oriented later, as Algorithm darc orients its
    candidates, has the reduction with the largest |AUROC - 1/2|: the largest AUROC would take a
    reversed score by the reduction that is nearest to chance, and screening would drop what is left
    of it. A score that stands by itself is never turned, so that its reduction is the one with the
    largest AUROC.

    Args:
        claims: For each validation trace the values of its claims, larger ones better.
        labels: Whether each trace's answer is right.
        upright: Whether the score stands by itself.

    Raises:
        SymboUQError: If the labels are of one class.
    """

    def distance(reduction: Reduction) -> float:
        signed = auroc(reduced(claims, reduction), labels) - 0.5
        return round(signed if upright else abs(signed), _DIGITS)

    return max(REDUCTIONS, key=distance)


def auroc(scores: Any, labels: Any) -> float:
    """`symbouq.metrics.auroc` of labels that are known to be of both classes.

    Args:
        scores: Any numbers, infinities included, larger ones better.
        labels: 1 right, 0 wrong.

    Raises:
        SymboUQError: If the labels are of one class, or a score is not a number.
    """
    right = np.asarray(labels).astype(bool)
    area = metrics.auroc(scores, right)
    if area is None:
        positive = int(right.sum())
        raise SymboUQError(one_class("AUROC", positive, len(right) - positive))
    return area


def one_class(what: str, positive: int, negative: int) -> str:
    """The message about labels of which one class is missing."""
    return f"{what} needs both right and wrong answers, found {positive} right, {negative} wrong"
