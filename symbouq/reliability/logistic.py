"""Logistic regression with l2 on standardised features. This is the composer's only learning
method.

The fit minimises `sum_i BCE_i + l2 / 2 ||w||^2` with a free intercept, so l2 scales a summed loss.
A fitted regression needs no scikit-learn.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symbouq.errors import SymboUQError
from symbouq.metrics import Values


class Regression(NamedTuple):
    """A fitted logistic regression. `mean` and `scale` (1 if constant) standardise each feature."""

    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float

    def logits(self, x: Values) -> Values:
        """Compute logits from features `[n, d]`."""
        standard = (x - np.array(self.mean)) / np.array(self.scale)
        return np.asarray(standard @ np.array(self.weights) + self.intercept, np.float64)


def regress(x: Values, y: Values, l2: float) -> Regression:
    """Fit the regression to raw features `[n, d]` and labels of both classes, minimising the
    regularised cross-entropy.
    """
    mean, scale = statistics(x)
    weights, intercept = fitted((x - mean) / scale, y, l2)
    return Regression(
        tuple(mean.tolist()), tuple(scale.tolist()), tuple(weights.tolist()), intercept
    )


def statistics(x: Values) -> tuple[Values, Values]:
    """Return the mean and the standard deviation (1 if constant) of each column of `x` `[n, d]`."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(x)
    return np.asarray(scaler.mean_, np.float64), np.asarray(scaler.scale_, np.float64)


def fitted(x: Values, y: Values, l2: float) -> tuple[Values, float]:
    """Fit weights `[d]` and an intercept to standardised features, minimising the regularised
    cross-entropy.
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1 / l2, solver="newton-cholesky", tol=1e-9, max_iter=200)
    model.fit(x, y)
    return np.asarray(model.coef_[0], np.float64), float(model.intercept_[0])


def held_out(x: Values, y: Values, out: NDArray[np.bool_], l2: float) -> Values:
    """Return the logits of the traces in one fold (marked by `out`), after fitting on all other
    traces.
    """
    return regress(x[~out], y[~out], l2).logits(x[out])


def folds(n: int, k: int, groups: Sequence[Hashable] | None = None) -> NDArray[np.intp]:
    """Return the fold of each of n traces. Groups are assigned to the folds in turn, in order of
    appearance.

    Raises:
        SymboUQError: If `groups` does not have n entries.
    """
    if groups is None:
        return np.arange(n) % k
    if len(groups) != n:
        raise SymboUQError(f"{len(groups)} groups for {n} traces")
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], np.intp) % k
