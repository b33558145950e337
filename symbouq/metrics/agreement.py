"""Agreement of sets, and the determinacy of a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symbouq.errors import SymboUQError


def micro_f1(predicted: Iterable[Set[Any]], true: Iterable[Set[Any]]) -> float | None:
    """F1 over all items of some sets together, predicted against true; None where there are none.

    Raises:
        ValueError: If there are more sets of one than of the other.
    """
    shared = total = 0
    for one, other in zip(predicted, true, strict=True):
        shared += len(one & other)
        total += len(one) + len(other)
    return 2 * shared / total if total else None


def weighted_determinacy(determinacy: ArrayLike, parsed: ArrayLike) -> float | None:
    """Determinacy of a dataset: the mean over traces, each as often as it has parsed claims.

    Args:
        determinacy: d(r) of each trace.
        parsed: How many of its claims are parsed.

    Returns:
        The mean; None if no trace has a parsed claim.

    Raises:
        SymboUQError: If lengths differ.
    """
    values, weights = np.asarray(determinacy, np.float64), np.asarray(parsed, np.float64)
    if values.shape != weights.shape:
        raise SymboUQError(f"{values.shape} determinacies for {weights.shape} counts")
    total = float(weights.sum())
    return float(values @ weights) / total if total > 0 else None
