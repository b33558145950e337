"""The first wrong claim of traces, as it is found: accuracies and F1 as ProcessBench has them
(Zheng et al. 2024, arXiv 2412.06559).

A trace's first error is the number of its first wrong claim, from 1, or 0 where all are right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from symbouq.errors import SymboUQError
from symbouq.metrics.inference import RESAMPLES
from symbouq.metrics.pool import Values

_THRESHOLDS = 512
"""Most thresholds that are tried."""


@dataclass(frozen=True)
class FirstErrors:
    """How well first errors are found.

    Attributes:
        wrong: Traces with a wrong claim.
        right: Traces without one.
        found: Share of the former whose first wrong claim is named, no other; None without any.
        cleared: Share of the latter of which it is said that nothing is wrong; None without any.
        f1: The harmonic mean of the two; None where one of them is.
        interval: Its 95 % bootstrap interval over traces; None likewise.
    """

    wrong: int
    right: int
    found: float | None
    cleared: float | None
    f1: float | None
    interval: tuple[float, float] | None


def first_error(labels: Sequence[int | None]) -> int | None:
    """The first error of a trace with labelled claims; None where it is not known, as a claim
    without a label stands before the first wrong one, or none is wrong.

    Args:
        labels: 1 right, 0 wrong, None not labelled, one a claim.
    """
    for number, label in enumerate(labels, start=1):
        if label != 1:
            return number if label == 0 else None
    return 0


def first_errors(predicted: Sequence[int], true: Sequence[int], seed: int = 0) -> FirstErrors:
    """Compares first errors that are predicted with the true ones.

    Args:
        predicted: One a trace.
        true: Likewise.
        seed: Of the bootstrap.

    Raises:
        SymboUQError: If there are not as many of the one as of the other.
    """
    if len(predicted) != len(true):
        raise SymboUQError(f"{len(predicted)} predicted first errors for {len(true)} traces")
    truth = np.array(true, np.int64)
    hit = np.array(predicted, np.int64) == truth
    wrong = truth > 0
    once = np.ones((1, len(truth)))
    (f1,), (found,), (cleared,) = _f1(hit, wrong, once)
    defined = bool(wrong.any() and (~wrong).any())
    interval = None
    if defined:
        draws = np.random.default_rng(seed).multinomial(
            len(truth), np.full(len(truth), 1 / len(truth)), RESAMPLES
        )
        resampled, _, _ = _f1(hit, wrong, draws.astype(np.float64))
        low, high = np.nanpercentile(resampled, [2.5, 97.5])
        interval = (float(low), float(high))
    return FirstErrors(
        int(wrong.sum()),
        int((~wrong).sum()),
        float(found) if wrong.any() else None,
        float(cleared) if (~wrong).any() else None,
        float(f1) if defined else None,
        interval,
    )


def _f1(
    hit: NDArray[np.bool_], wrong: NDArray[np.bool_], counts: Values
) -> tuple[Values, Values, Values]:
    """F1 and the two accuracies under each row of counts of the traces; NaN where undefined."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = counts @ (hit & wrong) / (counts @ wrong)
        cleared = counts @ (hit & ~wrong) / (counts @ ~wrong)
        both = found + cleared
        f1 = np.where(both == 0, 0.0, 2 * found * cleared / both)
    return f1, found, cleared


def exceeding(uncertainties: Sequence[Sequence[float]], threshold: float) -> list[int]:
    """For each trace the first claim whose uncertainty is above a threshold; 0 where none is.

    Args:
        uncertainties: One number a claim, larger for claims that are likelier wrong.
        threshold: The threshold.
    """
    return [
        next((n for n, value in enumerate(claims, start=1) if value > threshold), 0)
        for claims in uncertainties
    ]


def fitted_threshold(uncertainties: Sequence[Sequence[float]], true: Sequence[int]) -> float:
    """The threshold above which `exceeding` has the best F1, the largest of several; infinite,
    which finds no error, where F1 is not defined.

    Args:
        uncertainties: As `exceeding` takes them.
        true: The first errors.
    """
    if not 0 < sum(error > 0 for error in true) < len(true):
        return float("inf")
    values = np.unique([value for claims in uncertainties for value in claims])
    if len(values) > _THRESHOLDS:
        values = np.quantile(values, np.linspace(0, 1, _THRESHOLDS))
    truth = np.array(true, np.int64)
    once = np.ones((1, len(truth)))

    def f1(threshold: float) -> float:
        hit = np.array(exceeding(uncertainties, threshold), np.int64) == truth
        return float(_f1(hit, truth > 0, once)[0][0])

    return max(reversed([float("-inf"), *map(float, values)]), key=f1)
