"""Metrics on hand-derived values, the library functions and SciPy's bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symbouq import metrics
from symbouq.errors import SymboUQError

SCORES = [0.9, 0.6, 0.6, 0.2]
LABELS = [1, 0, 1, 0]


def random_pool(seed: int, n: int, digits: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 2, n)
    first = np.round(np.clip(0.3 * labels + 0.7 * generator.random(n), 0, 1), digits)
    second = np.round(np.clip(0.15 * labels + 0.8 * generator.random(n), 0, 1), digits)
    return first, second, labels


def test_auroc_counts_ties_half() -> None:
    # Pairs right-wrong: 0.9 > 0.6, 0.9 > 0.2, 0.6 = 0.6, 0.6 > 0.2.
    assert metrics.auroc(SCORES, LABELS) == 3.5 / 4
    assert metrics.auroc([1, 2, 3], [1, 0, 0]) == 0
    assert metrics.auroc([np.inf, -np.inf], [1, 0]) == 1


def test_brier_and_its_class_balance() -> None:
    # Squared errors: 0.01, 0.36, 0.16, 0.04.
    assert metrics.brier(SCORES, LABELS) == pytest.approx(0.57 / 4)
    assert metrics.balanced_brier(SCORES, LABELS) == pytest.approx((0.085 + 0.2) / 2)
    # Three right at 0.01 each, one wrong at 0.64.
    assert metrics.balanced_brier([0.9, 0.9, 0.9, 0.8], [1, 1, 1, 0]) == pytest.approx(0.325)


def test_ece_over_ten_bins_of_equal_width() -> None:
    # [0.2, 0.3): 0.2 against 0; [0.6, 0.7): 0.6 against 1/2 twice; [0.9, 1]: 0.9 against 1.
    assert metrics.ece(SCORES, LABELS) == pytest.approx((0.2 + 2 * 0.1 + 0.1) / 4)
    assert metrics.ece([1.0, 0.95], [1, 1]) == pytest.approx(0.025)
    bins = metrics.calibration_bins(SCORES, LABELS)
    assert [b.count for b in bins] == [0, 0, 1, 0, 0, 0, 2, 0, 0, 1]
    assert (bins[6].confidence, bins[6].accuracy) == (pytest.approx(0.6), 0.5)
    assert bins[0].confidence is None
    gaps = sum(b.count * abs(b.confidence - b.accuracy) for b in bins if b.count)  # type: ignore[operator]
    assert gaps / 4 == pytest.approx(metrics.ece(SCORES, LABELS))


def test_nll() -> None:
    expected = -(np.log(0.9) + np.log(0.4) + np.log(0.6) + np.log(0.8)) / 4
    assert metrics.nll(SCORES, LABELS) == pytest.approx(expected)
    assert metrics.nll([0.0], [1]) == pytest.approx(-np.log(np.finfo(float).eps))


def test_risk_coverage_takes_ties_in_expectation() -> None:
    curve = metrics.risk_coverage(SCORES, LABELS)
    assert curve.coverage == pytest.approx([0.25, 0.5, 0.75, 1])
    # After the best, half an error is expected at two, one at three, two at four.
    assert curve.risk == pytest.approx([0, 0.25, 1 / 3, 0.5])
    assert metrics.aurc(SCORES, LABELS) == pytest.approx((0.25 + 1 / 3 + 0.5) / 4)
    assert len(metrics.risk_coverage([], []).risk) == 0


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
@settings(max_examples=150, deadline=None)
def test_counts_are_repetitions(rows: list[tuple[int, int, int]]) -> None:
    scores = np.array([row[0] / 4 for row in rows])
    labels = np.array([row[1] for row in rows], float)
    counts = np.array([row[2] for row in rows])
    repeated = np.repeat(scores, counts), np.repeat(labels, counts)
    for name, function in metrics.METRICS.items():
        found = function(scores, labels, counts[None, :].astype(float))[0]
        wanted = metrics.evaluate(name, *repeated)
        assert found == pytest.approx(np.nan if wanted is None else wanted, nan_ok=True), name


def test_aurc_is_the_mean_of_the_curve() -> None:
    scores, _, labels = random_pool(3, 50, digits=1)
    assert metrics.aurc(scores, labels) == pytest.approx(
        metrics.risk_coverage(scores, labels).risk.mean()
    )


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


def test_equal_scores_do_not_differ() -> None:
    first, _, labels = random_pool(5, 50)
    found = metrics.paired_bootstrap(first, first, labels, resamples=100)
    assert found == metrics.Comparison(0.0, 0.0, 0.0, 1.0, found.resamples if found else 0)


def test_small_parts_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, labels = random_pool(6, 30)
    whole = metrics.paired_bootstrap(first, second, labels, resamples=200)
    monkeypatch.setattr(metrics, "_AT_ONCE", 100)
    assert metrics.paired_bootstrap(first, second, labels, resamples=200) == whole


def test_one_class_resamples_are_left_out() -> None:
    found = metrics.paired_bootstrap([0.9, 0.1], [0.8, 0.3], [1, 0], resamples=200)
    assert found is not None
    assert 60 < found.resamples < 140  # a half of the resamples holds both traces


def test_cohen_kappa_by_hand() -> None:
    # Observed 3/4; by chance 1/2 * 3/4 + 1/2 * 1/4 = 1/2.
    assert metrics.cohen_kappa([1, 1, 0, 0], [1, 1, 1, 0]) == pytest.approx(0.5)
    assert metrics.cohen_kappa([1, 1], [1, 1]) is None
    assert metrics.cohen_kappa([], []) is None
    with pytest.raises(SymboUQError):
        metrics.cohen_kappa([1], [])


def test_micro_f1_by_hand() -> None:
    # 3 of 4 found are wanted, 3 of 5 wanted are found: 2 * 3 / (4 + 5).
    found, wanted = [{1, 2}, {3, 9}, set()], [{1, 2}, {3}, {4, 5}]
    assert metrics.micro_f1(found, wanted) == pytest.approx(6 / 9)
    assert metrics.micro_f1([set()], [set()]) is None
    assert metrics.micro_f1([{1}], [set()]) == 0
    with pytest.raises(ValueError, match="zip"):
        metrics.micro_f1([{1}], [])


def test_weighted_determinacy_by_hand() -> None:
    # Three of five, and none of none: the second trace weighs nothing.
    assert metrics.weighted_determinacy([0.6, 0.0], [5, 0]) == pytest.approx(0.6)
    assert metrics.weighted_determinacy([1.0, 0.25], [1, 4]) == pytest.approx(2 / 5)
    assert metrics.weighted_determinacy([0.0], [0]) is None


def test_separation_by_bin_by_hand() -> None:
    values = [0.1, 0.1, 0.9, 0.9, 1, 2, 3, 4]
    scores = [0.5, 0.5, 0.8, 0.2, 0.1, 0.2, 0.4, 0.3]
    labels = [1, 0, 1, 0, 1, 0, 1, 0]
    datasets = ["a"] * 4 + ["b"] * 4
    low, high = metrics.separation_by_bin(values, scores, labels, datasets, bins=2)
    # Dataset a: a tie, then a clear pair; dataset b: 0.1 below 0.2, then 0.4 above 0.3.
    assert low == metrics.Bin(4, pytest.approx((0.1 + 0.1 + 1 + 2) / 4), pytest.approx(-0.5), 2)
    assert high.separation == pytest.approx(1)
    # Equal values share a bin, so the others may stay empty.
    bins = metrics.separation_by_bin([1, 1], [0.2, 0.1], [1, 0], ["a", "a"], bins=3)
    assert [b.traces for b in bins] == [0, 2, 0]
    assert bins[0].mean is None and bins[1].separation == 1


def test_oracle_chooses_by_test_labels() -> None:
    name, scores = metrics.oracle({"a": [0.1, 0.9], "b": [0.6, 0.4]}, [1, 0])
    assert name == "b" and scores is not None and list(scores) == [0.6, 0.4]
