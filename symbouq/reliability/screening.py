"""Which candidates carry ranking information on validation, and which of them are reversed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from symbouq.errors import SymboUQError
from symbouq.metrics import auroc

Values = NDArray[np.float64]

_ROUNDING = 1e-12
"""A threshold such as 0.05 is met by an AUROC of 0.45, whatever their difference rounds to."""


@dataclass(frozen=True)
class Screening:
    """What validation says of each candidate.

    Attributes:
        aurocs: A_j, `[m]`.
        retained: Positions of the candidates with |A_j - 0.5| >= epsilon.
        flipped: Of those, whether A_j < 0.5, so that 1 - s_j takes the score's place.
    """

    aurocs: Values
    retained: tuple[int, ...]
    flipped: tuple[bool, ...]

    @property
    def best(self) -> int:
        """The candidate with the largest A_j, the first among equals."""
        return int(np.argmax(self.aurocs))


def screen(scores: Values, labels: Values, epsilon: float) -> Screening:
    """Screens and orients candidates (Algorithm darc, lines 3, 4 and 6).

    Args:
        scores: Validation scores, `[n, m]`.
        labels: 1 right, 0 wrong, of both classes.
        epsilon: The least distance from chance.

    Raises:
        SymboUQError: If the labels are of one class.
    """
    found = [auroc(column, labels) for column in scores.T]
    aurocs = [value for value in found if value is not None]
    if len(aurocs) < len(found):
        raise SymboUQError("screening needs both right and wrong answers")
    values = np.array(aurocs, np.float64)
    retained = np.flatnonzero(np.abs(values - 0.5) >= epsilon - _ROUNDING)
    flipped = tuple(bool(values[n] < 0.5) for n in retained)
    return Screening(values, tuple(int(n) for n in retained), flipped)


def oriented(scores: Values, flipped: tuple[bool, ...]) -> Values:
    """Retained scores `[n, m]`, the reversed ones as 1 - s."""
    return np.where(np.array(flipped, bool), 1 - scores, scores)
