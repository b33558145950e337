"""Reductions and AUROC on hand-derived values, and beside scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from symbouq.errors import SymboUQError
from symbouq.scorers.reduction import Reduction, auroc, best_reduction, reduced

CLAIMS = [np.array([0.2, 0.9, 0.4]), np.array([0.6])]


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [("conclusion", [0.4, 0.6]), ("mean", [0.5, 0.6]), ("min", [0.2, 0.6])],
)
def test_reductions(reduction: Reduction, expected: list[float]) -> None:
    assert reduced(CLAIMS, reduction).tolist() == pytest.approx(expected)


def test_a_trace_without_claims() -> None:
    with pytest.raises(SymboUQError, match="without claims"):
        reduced([np.array([])], "mean")


@pytest.mark.parametrize(
    ("claims", "best"),
    [
        # Only the conclusion tells; only the mean does; only the worst claim does.
        ([[0.0, 0.9], [1.0, 0.1]], "conclusion"),
        ([[0.5, 0.9, 0.3], [0.4, 0.5, 0.3]], "mean"),
        ([[0.5, 0.5], [0.1, 1.0]], "min"),
        # All tell: the first.
        ([[0.9], [0.1]], "conclusion"),
    ],
)
def test_the_best_reduction(claims: list[list[float]], best: str) -> None:
    assert best_reduction([np.array(c) for c in claims], [1, 0]) == best


def test_auroc() -> None:
    # Right above wrong in 3 pairs, equal in 1, of 6.
    assert auroc([0.9, 0.5, 0.1, 0.5, 0.2], [1, 1, 1, 0, 0]) == pytest.approx(3.5 / 6)
    assert auroc([np.inf, 0.0], [1, 0]) == 1.0
    with pytest.raises(SymboUQError, match="both right and wrong answers, found 2 right, 0 wrong"):
        auroc([1, 2], [1, 1])
    with pytest.raises(SymboUQError, match="not a number"):
        auroc([np.nan, 2], [1, 0])


def test_auroc_is_scikit_learns() -> None:
    generator = np.random.default_rng(0)
    scores = generator.integers(0, 9, 300)
    labels = generator.integers(0, 2, 300)
    assert auroc(scores, labels) == pytest.approx(roc_auc_score(labels, scores))
