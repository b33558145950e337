"""Reductions and AUROC on hand-derived values, and beside scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.reduction import REDUCTIONS, Reduction, auroc, best_reduction, reduced

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
        ([[0.5, 0.5], [0.1, 0.9, 0.5]], "min"),
        # All tell: the first.
        ([[0.9], [0.1]], "conclusion"),
        ([[0.1, 0.9], [0.2, 0.1]], "conclusion"),
    ],
)
def test_the_best_reduction(claims: list[list[float]], best: str) -> None:
    assert best_reduction([np.array(c) for c in claims], [1, 0]) == best


def test_a_reversed_score_keeps_its_signal() -> None:
    # Right traces, then wrong ones. AUROC of the conclusion 1/2, of the mean 0, of the worst claim
    # 1/8; then the other way round.
    claims = [np.array(c) for c in ([0.1, 0.7], [0.4, 0.2], [0.7, 0.7], [0.9, 0.2])]
    areas = [auroc(reduced(claims, name), [1, 1, 0, 0]) for name in REDUCTIONS]
    assert areas == [0.5, 0.0, 0.125]
    assert best_reduction(claims, [1, 1, 0, 0]) == "mean"
    assert best_reduction(claims, [0, 0, 1, 1]) == "mean"
    # Nothing turns a score that stands by itself.
    assert best_reduction(claims, [1, 1, 0, 0], upright=True) == "conclusion"
    assert best_reduction(claims, [0, 0, 1, 1], upright=True) == "mean"


def test_turning_labels_round_changes_no_reduction() -> None:
    # AUROC of the conclusion 1/3, of the mean 2/3, of the worst claim 1/3: all as far from chance,
    # whatever rounding makes of it.
    claims = [np.array(c) for c in ([0.3, 0.4], [1.0, 0.6], [0.3, 0.2], [0.9, 0.2])]
    labels = [0, 1, 1, 1]
    areas = [auroc(reduced(claims, name), labels) for name in REDUCTIONS]
    assert areas == pytest.approx([1 / 3, 2 / 3, 1 / 3])
    assert best_reduction(claims, labels) == "conclusion"
    assert best_reduction(claims, [1 - y for y in labels]) == "conclusion"


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
