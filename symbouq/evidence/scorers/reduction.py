"""From one value a claim to one a trace, and which way of doing so ranks best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from symbouq.errors import SymboUQError

if TYPE_CHECKING:
    from symbouq.evidence.scorers.base import Values

Reduction = Literal["conclusion", "mean", "min"]

REDUCTIONS: tuple[Reduction, ...] = ("conclusion", "mean", "min")
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
    if reduction == "conclusion":
        found = [values[-1] for values in claims]
    elif reduction == "mean":
        found = [values.mean() for values in claims]
    else:
        found = [values.min() for values in claims]
    return np.array(found, np.float64)


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

    def told(reduction: Reduction) -> float:
        distance = auroc(reduced(claims, reduction), labels) - 0.5
        return round(distance if upright else abs(distance), _DIGITS)

    return max(REDUCTIONS, key=told)


def auroc(scores: Any, labels: Any) -> float:
    """How likely a right one scores above a wrong one, ties counted half (appendix Metrics).

    Args:
        scores: Any numbers, infinities included, larger ones better.
        labels: 1 right, 0 wrong.

    Raises:
        SymboUQError: If the labels are of one class, or a score is not a number.
    """
    from symbouq import metrics

    found = metrics.auroc(scores, np.asarray(labels).astype(bool))
    if found is None:
        right = int(np.asarray(labels).astype(bool).sum())
        raise SymboUQError(one_class("AUROC", right, len(labels) - right))
    return found


def one_class(what: str, positive: int, negative: int) -> str:
    """The message about labels of which one class is missing."""
    return f"{what} needs both right and wrong answers, found {positive} right, {negative} wrong"
