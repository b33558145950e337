"""Strictly increasing maps from the composer's probability to a calibrated one.

All maps work on the logit z of the probability p, because probabilities saturate and logits do not.
The families of maps are as follows, with q = 1 - p:

- identity: z;
- temperature: z / t, t > 0;
- affine-logit: a z + b, a > 0;
- monotone beta (Kull et al. 2017): a ln p - b ln q + c, a > 0 and b > 0.

Each family contains the previous one. The parameters minimise cross-entropy, which is convex in the
parameters, with positive slopes and smoothed targets. Without smoothing, a separable validation
split would lead to probabilities of 0 and 1. The family with the best Brier score on the same
traces is chosen; if several tie, the simplest one. (If the parameters also minimised the Brier
score, the largest family would always win.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.calibration import least_cross_entropy, sigmoid
from symbouq.evidence.scorers.stored import Stored
from symbouq.metrics import Values

Family = Literal["identity", "temperature", "affine-logit", "monotone-beta"]

FAMILIES: tuple[Family, ...] = ("identity", "temperature", "affine-logit", "monotone-beta")
"""The families, simplest first."""

_PARAMETERS: dict[Family, tuple[int, int]] = {
    "identity": (0, 0),
    "temperature": (1, 0),
    "affine-logit": (1, 1),
    "monotone-beta": (2, 1),
}
"""Number of slopes and number of shifts. Slopes of 1 and shifts of 0 give the identity."""

_DIGITS = 12
"""Brier scores tie if they agree to this many digits."""


@dataclass(frozen=True)
class Calibrator(Stored):
    """A fitted map.

    Attributes:
        family: Family of the map.
        parameters: By family: `()`; `(1 / t,)`; `(a, b)`; or `(a, b, c)`.

    Raises:
        SymboUQError: If the parameters do not fit the family, or a slope is not positive.
    """

    noun = "a calibrator"

    family: Family
    parameters: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise SymboUQError(f"unknown calibrator {self.family!r}")
        slopes, shifts = _PARAMETERS[self.family]
        positive = all(slope > 0 for slope in self.parameters[:slopes])
        if len(self.parameters) != slopes + shifts or not positive:
            raise SymboUQError(f"not a {self.family} calibrator: {self.parameters}")

    def logits(self, logits: Values) -> Values:
        """Calibrate logits."""
        if self.family == "identity":
            return logits
        return np.asarray(_basis(self.family, logits) @ np.array(self.parameters), np.float64)

    def __call__(self, logits: Values) -> Values:
        """Map logits to calibrated probabilities."""
        return sigmoid(self.logits(logits))


def _basis(family: Family, z: Values) -> Values:
    """Return the terms that are multiplied by the parameters, `[n, parameters]`."""
    if family == "temperature":
        return z[:, None]
    ones = np.ones_like(z)
    if family == "affine-logit":
        return np.stack([z, ones], axis=1)
    return np.stack([-np.logaddexp(0, -z), np.logaddexp(0, z), ones], axis=1)


def fit_family(family: Family, logits: Values, labels: Values) -> Calibrator:
    """Fit the map of a family to logits `[n]` and labels 0 and 1, minimising cross-entropy."""
    if family == "identity":
        return Calibrator(family, ())
    slopes, _ = _PARAMETERS[family]
    found = least_cross_entropy(_basis(family, logits), labels > 0, slopes)
    return Calibrator(family, tuple(found.tolist()))


def select(logits: Values, labels: Values) -> Calibrator:
    """Fit all families to validation logits `[n]`, and return the map with the smallest Brier score
    on the same data.
    """
    fitted = [fit_family(family, logits, labels) for family in FAMILIES]
    losses = [round(float(((f(logits) - labels) ** 2).mean()), _DIGITS) for f in fitted]
    return fitted[losses.index(min(losses))]
