"""First wrong claims: accuracies and F1 as in ProcessBench (Zheng et al. 2024, arXiv 2412.06559).

A trace's first error is the number of its first wrong claim, from 1, or 0 if all claims are right.
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
"""Maximum number of thresholds to try."""


@dataclass(frozen=True)
class FirstErrors:
    """How well first errors are predicted.

    Attributes:
        wrong: Number of traces with a wrong claim.
        right: Number of traces without a wrong claim.
        found: Share of traces with a wrong claim for which the first wrong claim is predicted, or
            None.
        cleared: Share of traces without a wrong claim for which no error is predicted, or None.
        f1: Harmonic mean of `found` and `cleared`, or None.
        interval: 95 % bootstrap interval of F1 over traces, or None.
    """

    wrong: int
    right: int
    found: float | None
    cleared: float | None
    f1: float | None
    interval: tuple[float, float] | None


def first_error(labels: Sequence[int | None]) -> int | None:
    """Find the first error of a trace with labelled claims.

    Return None if it is unknown because an unlabelled claim comes before the first wrong one.

    Args:
        labels: One per claim: 1 right, 0 wrong, None unlabelled.
    """
    for number, label in enumerate(labels, start=1):
        if label != 1:
            return number if label == 0 else None
    return 0


def first_errors(predicted: Sequence[int], true: Sequence[int], seed: int = 0) -> FirstErrors:
    """Compare predicted with true first errors.

    Args:
        predicted: Predicted first errors, one per trace.
        true: True first errors, one per trace.
        seed: Seed of the bootstrap.

    Raises:
        SymboUQError: If the numbers differ.
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
    """Compute F1 and both accuracies for each row of trace counts; NaN if undefined."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = counts @ (hit & wrong) / (counts @ wrong)
        cleared = counts @ (hit & ~wrong) / (counts @ ~wrong)
        both = found + cleared
        f1 = np.where(both == 0, 0.0, 2 * found * cleared / both)
    return f1, found, cleared


def exceeding(uncertainties: Sequence[Sequence[float]], threshold: float) -> list[int]:
    """Find, in each trace, the first claim with an uncertainty above the threshold; 0 if there is
    none.

    Args:
        uncertainties: One number per claim; larger means more likely wrong.
        threshold: The threshold.
    """
    return [
        next((n for n, value in enumerate(claims, start=1) if value > threshold), 0)
        for claims in uncertainties
    ]


def fitted_threshold(uncertainties: Sequence[Sequence[float]], true: Sequence[int]) -> float:
    """Find the threshold for which `exceeding` has the best F1; the largest one if several tie.

    If F1 is undefined, the threshold is infinite, so that no error is predicted.

    Args:
        uncertainties: As in `exceeding`.
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
