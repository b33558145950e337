"""Screening of candidates by their ranking on validation, and orientation of reversed ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symbouq.errors import SymboUQError
from symbouq.metrics import Values, auroc

_ROUNDING = 1e-12
"""Tolerance: an AUROC of 0.45 meets a threshold of 0.05 despite rounding."""


@dataclass(frozen=True)
class Screening:
    """Screening of candidates on validation.

    Attributes:
        aurocs: A_j, `[m]`.
        retained: Positions of candidates with |A_j - 0.5| >= epsilon.
        flipped: For each of them, whether A_j < 0.5, so 1 - s_j replaces the score.
    """

    aurocs: Values
    retained: tuple[int, ...]
    flipped: tuple[bool, ...]

    @property
    def best(self) -> int:
        """Candidate with the largest A_j, the first among equals."""
        return int(np.argmax(self.aurocs))


def screen(scores: Values, labels: Values, epsilon: float) -> Screening:
    """Screen and orient candidates (Algorithm DARC, lines 3, 4 and 6).

    Args:
        scores: Validation scores, `[n, m]`.
        labels: 1 right, 0 wrong, of both classes.
        epsilon: Minimum distance from chance.

    Raises:
        SymboUQError: If the labels have one class.
    """
    aurocs = np.array([auroc(column, labels) for column in scores.T], np.float64)  # None: NaN
    if np.isnan(aurocs).any():
        raise SymboUQError("screening needs both right and wrong answers")
    retained = np.flatnonzero(np.abs(aurocs - 0.5) >= epsilon - _ROUNDING)
    flipped = tuple((aurocs[retained] < 0.5).tolist())
    return Screening(aurocs, tuple(retained.tolist()), flipped)


def oriented(scores: Values, flipped: tuple[bool, ...]) -> Values:
    """Retained scores `[n, m]`, with reversed ones as 1 - s."""
    return np.where(np.array(flipped, bool), 1 - scores, scores)
