"""From a scorer's values to the probability that an answer is right (appendix Training and
Calibration).

Three steps, all fitted on a validation split and frozen: min-max statistics turn
uncertainties into correctness scores, a reduction makes one score a trace, a Platt map with a
positive slope makes it a probability. None changes the order of traces beyond the reduction.
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
"""Bounds of every slope that is fitted: a map stays increasing where a score ranks backwards."""


def sigmoid(logits: Values) -> Values:
    """`1 / (1 + exp(-z))`, without overflow."""
    small = np.exp(-np.abs(logits))
    return np.asarray(np.where(logits >= 0, 1, small) / (1 + small), np.float64)


def least_cross_entropy(basis: Values, right: NDArray[np.bool_], slopes: int) -> Values:
    """Parameters of the logits `basis @ parameters` that have the least cross-entropy.

    Targets are smoothed as Platt (1999) says, (N+ + 1) / (N+ + 2) and 1 / (N- + 2) in place of
    1 and 0, so that a score that separates the classes has a finite map.

    Args:
        basis: The terms that the parameters multiply, `[n, parameters]`.
        right: Whether each answer is right.
        slopes: How many of the parameters, from the first on, are slopes, within `SLOPES`.
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
    """The affine map that takes the largest uncertainty of validation to 0, the least to 1.

    Values beyond them land beyond [0, 1]: cutting them off would tie traces. Where all
    uncertainties of validation are equal, it only turns the sign.

    Attributes:
        low: Least claim-level uncertainty of validation.
        high: Largest one.
    """

    low: float
    high: float

    @classmethod
    def fit(cls, claims: Sequence[Values]) -> MinMax:
        """The statistics of all claims of all traces.

        Raises:
            SymboUQError: If there is no value, or one is not finite.
        """
        values = np.concatenate([np.empty(0), *claims])
        if not len(values) or not np.isfinite(values).all():
            raise SymboUQError("min-max statistics need uncertainties, all of them finite")
        return cls(float(values.min()), float(values.max()))

    def __call__(self, values: Values) -> Values:
        """Correctness scores of uncertainties."""
        width = self.high - self.low
        return (self.high - values) / width if width > 0 else self.low - values


@dataclass(frozen=True)
class Platt:
    """`1 / (1 + exp(-(slope * x + intercept)))` with a positive slope.

    Attributes:
        slope: Larger than 0.
        intercept: Any number.

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
        """The map of least cross-entropy among those with a positive slope.

        The slope of the standardised score is within `SLOPES`. Where the best slope is positive,
        scikit-learn's `CalibratedClassifierCV(method="sigmoid")` fits the same; where it is not,
        scikit-learn's decreases, and this one is all but constant.

        Args:
            scores: One finite number a trace.
            labels: 1 right, 0 wrong.

        Raises:
            SymboUQError: If the labels are of one class, or a score is not finite.
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
        """The probabilities of scores."""
        return sigmoid(self.slope * scores + self.intercept)


@dataclass(frozen=True)
class Calibrator(Stored):
    """The choices of a validation split about one scorer.

    Attributes:
        minmax: Of the claims' uncertainties; None for a scorer that gives correctness.
        reduction: How claims become a trace.
        platt: From the trace's score to a probability.
        auroc: AUROC on the split, of the score as the Platt map reads it.
        traces: How many traces it was fitted on.
        turned: Whether the score ranked backwards, and the Platt map reads its negative.
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
        """Fits all three steps.

        Args:
            claims: For each validation trace the scorer's values.
            labels: Whether each trace's answer is right.
            orientation: The scorer's.
            upright: Whether the score stands by itself (`best_reduction`).
            orient: Whether a score that ranks backwards is turned before its Platt map, which
                otherwise makes it all but constant.

        Raises:
            SymboUQError: If the split is empty, of one class, or has values that cannot be used.
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
        """The scorer's: what its larger values mean."""
        return "uncertainty" if self.minmax else "correctness"

    def __call__(self, claims: Sequence[Values]) -> Values:
        """The probability that each trace's answer is right.

        Args:
            claims: For each trace the scorer's values.

        Raises:
            SymboUQError: If a trace has no claims.
        """
        scores = reduced(_correctness(self.minmax, claims), self.reduction)
        return self.platt(-scores if self.turned else scores)


def _correctness(minmax: MinMax | None, claims: Sequence[Values]) -> Sequence[Values]:
    return [minmax(values) for values in claims] if minmax else claims
