"""Logistic regression with l2 on standardised features, the only learner of the composer.

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
    """Fitted logistic regression with its standardisation: mean and scale (1 if constant) of each
    feature.
    """

    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float

    def logits(self, x: Values) -> Values:
        """Logits of features `[n, d]`."""
        standard = (x - np.array(self.mean)) / np.array(self.scale)
        return np.asarray(standard @ np.array(self.weights) + self.intercept, np.float64)


def regress(x: Values, y: Values, l2: float) -> Regression:
    """Regression with the least regularised cross-entropy, for raw features `[n, d]` and both
    labels.
    """
    mean, scale = statistics(x)
    weights, intercept = fitted((x - mean) / scale, y, l2)
    return Regression(
        tuple(mean.tolist()), tuple(scale.tolist()), tuple(weights.tolist()), intercept
    )


def statistics(x: Values) -> tuple[Values, Values]:
    """Mean and standard deviation of each column of `[n, d]`; 1 for a constant column."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(x)
    return np.asarray(scaler.mean_, np.float64), np.asarray(scaler.scale_, np.float64)


def fitted(x: Values, y: Values, l2: float) -> tuple[Values, float]:
    """Weights `[d]` and intercept with the least regularised cross-entropy, for standardised
    features.
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1 / l2, solver="newton-cholesky", tol=1e-9, max_iter=200)
    model.fit(x, y)
    return np.asarray(model.coef_[0], np.float64), float(model.intercept_[0])


def held_out(x: Values, y: Values, out: NDArray[np.bool_], l2: float) -> Values:
    """Logits of one fold's traces, from a fit to the others; `out` marks the fold."""
    return regress(x[~out], y[~out], l2).logits(x[out])


def folds(n: int, k: int, groups: Sequence[Hashable] | None = None) -> NDArray[np.intp]:
    """Fold of each of n traces: groups in order of appearance, dealt out in turn.

    Raises:
        SymboUQError: If the number of groups differs from n.
    """
    if groups is None:
        return np.arange(n) % k
    if len(groups) != n:
        raise SymboUQError(f"{len(groups)} groups for {n} traces")
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], np.intp) % k
