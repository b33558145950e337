"""Properties that all metrics share: undefined pools, faults, counts, scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.pools import random_pool
from hypothesis import given, settings
from hypothesis import strategies as st

from symbouq import metrics
from symbouq.errors import SymboUQError


def test_one_class_is_undefined_where_two_are_needed() -> None:
    for labels in ([1, 1], [0, 0]):
        assert metrics.auroc([0.1, 0.2], labels) is None
        assert metrics.balanced_brier([0.1, 0.2], labels) is None
        assert metrics.separation([0.1, 0.2], labels) is None
        assert metrics.paired_bootstrap([0.1, 0.2], [0.2, 0.1], labels) is None
        assert metrics.oracle({"a": [0.1, 0.2]}, labels) == (None, None)
        assert metrics.brier([0.1, 0.2], labels) is not None
    assert metrics.aurc([0.1, 0.2], [0, 0]) == 1
    for name in metrics.METRICS:
        assert metrics.evaluate(name, [], []) is None


def test_faults_are_named() -> None:
    with pytest.raises(SymboUQError, match="labels are 0 or 1"):
        metrics.auroc([0.1], [2])
    with pytest.raises(SymboUQError, match="not a number"):
        metrics.auroc([float("nan"), 1], [0, 1])
    with pytest.raises(SymboUQError, match="one each"):
        metrics.brier([0.1, 0.2], [1])
    with pytest.raises(SymboUQError, match="probability"):
        metrics.ece([1.5], [1])
    with pytest.raises(SymboUQError, match="unknown metric"):
        metrics.evaluate("accuracy", [1], [1])


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("seed", range(5))
def test_equals_scikit_learn(seed: int) -> None:
    from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
    from sklearn.utils.class_weight import compute_sample_weight

    scores, _, labels = random_pool(seed, 60, digits=1)
    weights = compute_sample_weight("balanced", labels)
    assert metrics.auroc(scores, labels) == pytest.approx(roc_auc_score(labels, scores))
    assert metrics.brier(scores, labels) == pytest.approx(brier_score_loss(labels, scores))
    assert metrics.nll(scores, labels) == pytest.approx(log_loss(labels, scores))
    assert metrics.balanced_brier(scores, labels) == pytest.approx(
        brier_score_loss(labels, scores, sample_weight=weights)
    )


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1), st.integers(0, 3)), min_size=1))
@settings(max_examples=150)
def test_counts_are_repetitions(rows: list[tuple[int, int, int]]) -> None:
    scores = np.array([row[0] / 4 for row in rows])
    labels = np.array([row[1] for row in rows], float)
    counts = np.array([row[2] for row in rows])
    repeated = np.repeat(scores, counts), np.repeat(labels, counts)
    for name, function in metrics.METRICS.items():
        found = function.weighted(scores, labels, counts[None, :].astype(float))[0]
        wanted = metrics.evaluate(name, *repeated)
        assert found == pytest.approx(np.nan if wanted is None else wanted, nan_ok=True), name
