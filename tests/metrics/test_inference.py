"""The paired bootstrap beside SciPy's tests."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.pools import random_pool

from symbouq import metrics
from symbouq.metrics import inference


@pytest.mark.parametrize("metric", ["auroc", "brier"])
def test_bootstrap_equals_scipy(metric: str) -> None:
    from scipy.stats import bootstrap

    first, second, labels = random_pool(11, 40)

    def difference(chosen: np.ndarray) -> float:
        here = [metrics.evaluate(metric, s[chosen], labels[chosen]) for s in (first, second)]
        assert here[0] is not None and here[1] is not None
        return here[0] - here[1]

    theirs = bootstrap(
        (np.arange(40),),
        difference,
        n_resamples=500,
        vectorized=False,
        method="percentile",
        rng=np.random.default_rng(7),
    )
    ours = metrics.paired_bootstrap(first, second, labels, metric, resamples=500, seed=7)
    assert ours is not None
    assert ours.resamples == 500
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval))
    drawn = theirs.bootstrap_distribution
    sides = min((drawn <= 0).sum(), (drawn >= 0).sum())
    assert ours.p == pytest.approx(min(1, 2 * (sides + 1) / 501))


def test_p_value_agrees_with_a_permutation_test() -> None:
    from scipy.stats import permutation_test

    first, second, labels = random_pool(4, 80)
    losses = (first - labels) ** 2, (second - labels) ** 2

    def mean_difference(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(a.mean(axis=axis) - b.mean(axis=axis))

    theirs = permutation_test(
        losses,
        mean_difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=4000,
        rng=np.random.default_rng(1),
    )
    ours = metrics.paired_bootstrap(first, second, labels, "brier", resamples=4000)
    assert ours is not None
    assert ours.p == pytest.approx(theirs.pvalue, abs=0.03)


def test_bootstrap_of_several_runs_is_that_of_their_mean() -> None:
    labels = [0, 1, 0, 1]
    good, bad = [0.1, 0.9, 0.2, 0.8], [0.9, 0.1, 0.8, 0.2]
    # AUROC 1 and 0: the mean of both runs is 1/2 whatever is resampled.
    found = metrics.paired_bootstrap([good, bad], [bad, good], labels, resamples=50)
    assert found is not None
    assert (found.difference, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)
    found = metrics.paired_bootstrap([good, good], [bad, good], labels, resamples=50)
    assert found is not None
    assert found.difference == found.low == 0.5
    found = metrics.paired_bootstrap([good, bad], good, labels, resamples=50)
    assert found is not None
    assert found.difference == found.high == -0.5


def test_resamples_are_as_many_as_the_papers() -> None:
    found = metrics.paired_bootstrap([0.9, 0.1], [0.9, 0.1], [1, 0], "brier")
    assert found is not None
    assert found.resamples == 2000


def test_equal_scores_do_not_differ() -> None:
    first, _, labels = random_pool(5, 50)
    found = metrics.paired_bootstrap(first, first, labels, resamples=100)
    assert found == metrics.Comparison(0.0, 0.0, 0.0, 1.0, found.resamples if found else 0)


def test_small_parts_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, labels = random_pool(6, 30)
    whole = metrics.paired_bootstrap(first, second, labels, resamples=200)
    monkeypatch.setattr(inference, "_AT_ONCE", 100)
    assert metrics.paired_bootstrap(first, second, labels, resamples=200) == whole


def test_one_class_resamples_are_left_out() -> None:
    found = metrics.paired_bootstrap([0.9, 0.1], [0.8, 0.3], [1, 0], resamples=200)
    assert found is not None
    assert 60 < found.resamples < 140  # a half of the resamples holds both traces
