"""Calibration turns a scorer's values into the probability that an answer is right (appendix
Training and Calibration).

Three steps are fitted on validation: min-max statistics turn uncertainties into correctness scores,
a reduction gives one score per trace, and a Platt map with a positive slope turns this score into a
probability. Of these steps, only the reduction can change the ranking of traces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.base import Orientation
from symbouq.evidence.scorers.reduction import (
    Reduction,
    auroc,
    best_reduction,
    one_class,
    reduced,
)
from symbouq.evidence.scorers.stored import Stored
from symbouq.metrics import Values

SLOPES = (1e-3, 1e3)
"""Bounds for every fitted slope. They keep a map increasing even if a score ranks in reverse."""


def sigmoid(logits: Values) -> Values:
    """`1 / (1 + exp(-z))`, without overflow."""
    small = np.exp(-np.abs(logits))
    return np.asarray(np.where(logits >= 0, 1, small) / (1 + small), np.float64)


def least_cross_entropy(basis: Values, right: NDArray[np.bool_], slopes: int) -> Values:
    """Find the parameters that minimise the cross-entropy of the logits `basis @ parameters`.

    Targets are smoothed as in Platt (1999), (N+ + 1) / (N+ + 2) and 1 / (N- + 2), so the parameters
    are finite even if the score separates the classes perfectly. `basis` is `[n, parameters]`; the
    first `slopes` parameters stay within `SLOPES`.
    """
    from scipy.optimize import minimize

    positive, count = int(right.sum()), len(right)
    targets = np.where(right, (positive + 1) / (positive + 2), 1 / (count - positive + 2))

    def loss(parameters: Values) -> tuple[float, Values]:
        logits = basis @ parameters
        value = (np.logaddexp(0, logits) - targets * logits).mean()
        return float(value), (sigmoid(logits) - targets) @ basis / count

    shifts = basis.shape[1] - slopes
    start, bounds = [1.0] * slopes + [0.0] * shifts, [SLOPES] * slopes + [(None, None)] * shifts
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 1000}
    optimum = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(optimum.x, np.float64)


@dataclass(frozen=True)
class MinMax:
    """Affine map from uncertainties to correctness scores. The largest uncertainty on validation
    becomes 0, the smallest 1.

    Other values may be mapped outside [0, 1], because clipping would create ties. If all validation
    values are equal, the map only changes the sign.

    Attributes:
        low: Smallest uncertainty of a claim on validation.
        high: Largest uncertainty.
    """

    low: float
    high: float

    @classmethod
    def fit(cls, claims: Sequence[Values]) -> MinMax:
        """Compute the statistics over all claims of all traces.

        Raises:
            SymboUQError: If there is no value, or one is not finite.
        """
        values = np.concatenate([np.empty(0), *claims])
        if not len(values) or not np.isfinite(values).all():
            raise SymboUQError("min-max statistics need uncertainties, all of them finite")
        return cls(float(values.min()), float(values.max()))

    def __call__(self, values: Values) -> Values:
        """Map uncertainties to correctness scores."""
        width = self.high - self.low
        return (self.high - values) / width if width > 0 else self.low - values


@dataclass(frozen=True)
class Platt:
    """`1 / (1 + exp(-(slope * x + intercept)))` with a positive slope.

    Raises:
        SymboUQError: If the slope is not positive.
    """

    slope: float
    intercept: float

    def __post_init__(self) -> None:
        if not self.slope > 0:
            raise SymboUQError("not a calibrator: a slope that is not positive")

    @classmethod
    def fit(cls, scores: Any, labels: Any) -> Platt:
        """Fit the map to finite scores and labels 0 and 1. It has a positive slope and minimises
        cross-entropy.

        The slope of the standardised score stays within `SLOPES`. If the best slope is positive,
        scikit-learn's `CalibratedClassifierCV(method="sigmoid")` gives the same map; otherwise,
        scikit-learn's map is decreasing, whereas this map is nearly constant.

        Raises:
            SymboUQError: If the labels have only one class, or a score is not finite.
        """
        x, right = np.asarray(scores, np.float64), np.asarray(labels).astype(bool)
        if not np.isfinite(x).all():
            raise SymboUQError("Platt calibration needs finite scores")
        positive, negative = int(right.sum()), int((~right).sum())
        if not positive or not negative:
            raise SymboUQError(one_class("Platt calibration", positive, negative))
        centre = float(x.mean())
        spread = float(x.std()) or 1.0
        basis = np.stack([(x - centre) / spread, np.ones_like(x)], axis=1)
        standard, intercept = least_cross_entropy(basis, right, 1).tolist()
        slope = standard / spread
        return cls(slope, intercept - slope * centre)

    def __call__(self, scores: Values) -> Values:
        """Map scores to probabilities."""
        return sigmoid(self.slope * scores + self.intercept)


@dataclass(frozen=True)
class Calibrator(Stored):
    """Calibration of one scorer, fitted on a validation split.

    Attributes:
        minmax: Map that is applied to uncertainties; None for correctness scores.
        reduction: How the values of the claims are combined into one value.
        platt: Map from the trace's score to a probability.
        auroc: AUROC of the Platt map's input on the validation split.
        traces: Number of traces used for fitting.
        turned: Whether the score ranked in reverse on validation and is therefore negated before
            the Platt map.
    """

    noun = "a calibrator"

    minmax: MinMax | None
    reduction: Reduction
    platt: Platt
    auroc: float
    traces: int
    turned: bool = False

    @classmethod
    def fit(
        cls,
        claims: Sequence[Values],
        labels: Sequence[int],
        orientation: Orientation,
        upright: bool = False,
        orient: bool = False,
    ) -> Calibrator:
        """Fit all three steps to the values and label of each trace.

        With `orient`, a score that ranks in reverse is negated before the Platt map is fitted,
        which would otherwise be nearly constant. `upright` is as in `best_reduction`.

        Raises:
            SymboUQError: If the split is empty, has only one class, or has unusable values.
        """
        if not claims:
            raise SymboUQError("calibration needs validation traces, found none")
        minmax = MinMax.fit(claims) if orientation == "uncertainty" else None
        values = _correctness(minmax, claims)
        reduction = best_reduction(values, labels, upright)
        scores = reduced(values, reduction)
        turned = orient and auroc(scores, labels) < 0.5
        scores = -scores if turned else scores
        platt = Platt.fit(scores, labels)
        return cls(minmax, reduction, platt, auroc(scores, labels), len(claims), turned)

    @property
    def orientation(self) -> Orientation:
        """Whether larger values mean uncertainty or correctness."""
        return "uncertainty" if self.minmax else "correctness"

    def __call__(self, claims: Sequence[Values]) -> Values:
        """Return the probability that each trace's answer is right, given the values of its claims.

        Raises:
            SymboUQError: If a trace has no claims.
        """
        scores = reduced(_correctness(self.minmax, claims), self.reduction)
        return self.platt(-scores if self.turned else scores)


def _correctness(minmax: MinMax | None, claims: Sequence[Values]) -> Sequence[Values]:
    return [minmax(values) for values in claims] if minmax else claims
