"""Constraint-Only from text alone: a small classifier on the auditor's features of a trace.

The paper trains Constraint-Only on the source, with claim and trace labels
(`symbouq.evidence.scorers.methods.symbolic`). The classifier here is for users who have only
labelled traces of the target. It is a logistic regression on the features from
`symbouq.reliability.reading`. Each training trace is scored by a classifier that was fitted without
the trace's fold, so that DARC treats it like a new trace. If these out-of-fold scores rank no
better than chance, Constraint-Only is omitted. DARC would reverse it, although the final
classifier, fitted to all traces, is not reversed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.calibration import sigmoid
from symbouq.evidence.scorers.stored import Stored
from symbouq.metrics import Values, auroc
from symbouq.reliability.darc import FOLDS
from symbouq.reliability.logistic import Regression, folds, held_out, regress

NAME = "Constraint-Only"

L2: tuple[float, ...] = (1, 5, 20, 100, 500, 2000)
"""Values to choose l2 from. They are large, because there are many features and often few
traces."""


@dataclass(frozen=True)
class ConstraintOnly(Stored):
    """Fitted classifier: a logistic regression over named, standardised features.

    Raises:
        SymboUQError: If the numbers of means, scales, weights and features differ.
    """

    noun = "a Constraint-Only classifier"

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float
    l2: float

    def __post_init__(self) -> None:
        if len(set(map(len, (self.features, self.mean, self.scale, self.weights)))) > 1:
            raise SymboUQError(f"not {self.noun}: its parts differ in length")

    def __call__(self, x: Values) -> Values:
        """Return the probability that each trace's answer is right, given features `[n, d]`."""
        return sigmoid(Regression(self.mean, self.scale, self.weights, self.intercept).logits(x))


def fit(
    names: Sequence[str], x: Values, y: Values, groups: Sequence[Hashable] | None = None
) -> tuple[ConstraintOnly, Values] | None:
    """Fit the classifier on features `[n, d]` and labels 0 and 1. l2 is chosen by held-out
    cross-entropy.

    Returns:
        The classifier and out-of-fold probabilities `[n]`. Instead of these, None if a class is too
        rare for the folds, or if the probabilities rank no better than chance.
    """
    fold = folds(len(y), FOLDS, groups)
    parts = [fold == number for number in range(FOLDS) if (fold == number).any()]
    if len(parts) < 2 or any(len(np.unique(y[~out])) < 2 for out in parts):
        return None

    def out_of_fold(l2: float) -> Values:
        logits = np.empty(len(y))
        for out in parts:
            logits[out] = held_out(x, y, out, l2)
        return logits

    def loss(logits: Values) -> float:
        return float((np.logaddexp(0, logits) - y * logits).mean())

    # If several tie, the largest l2 wins.
    l2, logits = min(((l2, out_of_fold(l2)) for l2 in L2[::-1]), key=lambda pair: loss(pair[1]))
    area = auroc(logits, y)
    if area is None or area <= 0.5:
        return None
    return ConstraintOnly(tuple(names), *regress(x, y, l2), float(l2)), sigmoid(logits)
