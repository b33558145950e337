"""Constraint-Only for text alone: a small classifier on the auditor's features of a trace.

The paper trains Constraint-Only on the source, with claim and trace labels
(`symbouq.evidence.scorers.training`). This one is for operators who have labelled traces of the
target and nothing else: logistic regression on the features of `symbouq.reliability.reading`. Its
scores of the traces that it was fitted to come from folds that did not hold them, so that DARC,
which is fitted to the same traces, sees them as it will see new ones. Where those rank no better
than chance there is nothing to learn, and no such score: DARC would turn it round, though the
classifier that is then fitted to all traces is not reversed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symbouq.errors import SymboUQError
from symbouq.metrics import auroc
from symbouq.reliability.calibrators import sigmoid
from symbouq.reliability.darc import FOLDS
from symbouq.reliability.logistic import fitted, folds, held_out, statistics

Values = NDArray[np.float64]

NAME = "Constraint-Only"

L2: tuple[float, ...] = (1, 5, 20, 100, 500, 2000)
"""Values to choose from: features are many, and traces may be few."""


@dataclass(frozen=True)
class ConstraintOnly:
    """The fitted classifier.

    Attributes:
        features: Names of the features, in order.
        mean: Their validation means.
        scale: Their standard deviations, 1 where constant.
        weights: One a feature.
        intercept: The bias.
        l2: What scaled the penalty of the weights, in a summed loss.
    """

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float
    l2: float

    def __call__(self, x: Values) -> Values:
        """The probability that each trace's answer is right.

        Args:
            x: Features, `[n, d]`.
        """
        standard = (x - np.array(self.mean)) / np.array(self.scale)
        return sigmoid(standard @ np.array(self.weights) + self.intercept)

    def record(self) -> dict[str, Any]:
        """The classifier in JSON values."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @classmethod
    def of(cls, record: dict[str, Any]) -> ConstraintOnly:
        """The classifier that a record holds.

        Raises:
            SymboUQError: If it is none.
        """
        try:
            found = cls(
                tuple(record["features"]),
                tuple(record["mean"]),
                tuple(record["scale"]),
                tuple(record["weights"]),
                float(record["intercept"]),
                float(record["l2"]),
            )
            parts = (found.features, found.mean, found.scale, found.weights)
            widths = {len(part) for part in parts}
        except (KeyError, TypeError, ValueError) as error:
            raise SymboUQError(f"not a Constraint-Only classifier: {error}") from error
        if len(widths) > 1:
            raise SymboUQError("not a Constraint-Only classifier: its parts differ in length")
        return found


def fit(
    names: Sequence[str], x: Values, y: Values, groups: Sequence[Hashable] | None = None
) -> tuple[ConstraintOnly, Values] | None:
    """Fits the classifier, l2 by the held-out cross-entropy.

    Args:
        names: Names of the features.
        x: Validation features, `[n, d]`.
        y: 1 right, 0 wrong.
        groups: Which traces stay together in a fold.

    Returns:
        The classifier, and out-of-fold probabilities of the validation traces, `[n]`; None where a
        class is too rare for every fold to learn from both, or the probabilities rank no better
        than chance.
    """
    fold = folds(len(y), FOLDS, groups)
    parts = [fold == number for number in range(FOLDS) if (fold == number).any()]
    if len(parts) < 2 or any(len(np.unique(y[~out])) < 2 for out in parts):
        return None
    best: tuple[float, float, Values] | None = None
    for l2 in L2:
        logits = np.empty(len(y))
        for out in parts:
            logits[out] = held_out(x, y, out, l2)
        loss = float((np.logaddexp(0, logits) - y * logits).mean())
        if best is None or loss <= best[0]:
            best = (loss, l2, logits)
    assert best is not None  # there is more than one l2
    _, l2, logits = best
    area = auroc(logits, y)
    if area is None or area <= 0.5:
        return None
    mean, scale = statistics(x)
    weights, intercept = fitted((x - mean) / scale, y, l2)
    classifier = ConstraintOnly(
        tuple(names),
        tuple(mean.tolist()),
        tuple(scale.tolist()),
        tuple(weights.tolist()),
        intercept,
        float(l2),
    )
    return classifier, sigmoid(logits)
