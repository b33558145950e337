"""Agreement between sets, and the determinacy of a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symbouq.errors import SymboUQError


def micro_f1(predicted: Iterable[Set[Any]], true: Iterable[Set[Any]]) -> float | None:
    """Compute the micro-averaged F1 of predicted sets against true sets. Return None if all sets
    are empty.

    Raises:
        ValueError: If the numbers of sets differ.
    """
    shared = total = 0
    for one, other in zip(predicted, true, strict=True):
        shared += len(one & other)
        total += len(one) + len(other)
    return 2 * shared / total if total else None


def weighted_determinacy(determinacy: ArrayLike, parsed: ArrayLike) -> float | None:
    """Compute the determinacy of a dataset: the mean over its traces, weighted by the number of
    parsed claims in each.

    Args:
        determinacy: d(r) of each trace.
        parsed: Number of parsed claims of each trace.

    Returns:
        The mean, or None if no trace has a parsed claim.

    Raises:
        SymboUQError: If lengths differ.
    """
    values, weights = np.asarray(determinacy, np.float64), np.asarray(parsed, np.float64)
    if values.shape != weights.shape:
        raise SymboUQError(f"{values.shape} determinacies for {weights.shape} counts")
    total = float(weights.sum())
    return float(values @ weights) / total if total > 0 else None
