"""AUROC, separation and the oracle on hand-derived values."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.pools import LABELS, SCORES

from symbouq import metrics
from symbouq.errors import SymboUQError


def test_auroc_counts_ties_half() -> None:
    # Pairs right-wrong: 0.9 > 0.6, 0.9 > 0.2, 0.6 = 0.6, 0.6 > 0.2.
    assert metrics.auroc(SCORES, LABELS) == 3.5 / 4
    assert metrics.auroc([1, 2, 3], [1, 0, 0]) == 0
    assert metrics.auroc([np.inf, -np.inf], [1, 0]) == 1


def test_auroc_within_strata_by_hand() -> None:
    scores, labels = [0.9, 0.1, 0.8, 0.7, 0.6, 0.2], [1, 0, 0, 1, 0, 1]
    # In a: 0.9 > 0.1 and 0.9 > 0.8; in b: 0.7 > 0.6, 0.2 < 0.6; in all, 0.2 and 0.7 lose to 0.8.
    strata = ["a", "a", "a", "b", "b", "b"]
    assert metrics.auroc_within(scores, labels, strata) == 3 / 4
    assert metrics.auroc_within(scores, labels, ["a"] * 6) == metrics.auroc(scores, labels)
    # Strata weigh by their pairs: both of a's two are won, two of b's four.
    uneven, right = [0.9, 0.1, 0.2, 0.5, 0.4, 0.6, 0.3], [1, 0, 0, 1, 1, 0, 0]
    assert metrics.auroc_within(uneven, right, [*"aaabbbb"]) == 4 / 6
    assert metrics.auroc_within(scores, labels, list(range(6))) is None
    with pytest.raises(SymboUQError, match="5 strata for 6 scores"):
        metrics.auroc_within(scores, labels, strata[1:])


def test_separation_by_bin_by_hand() -> None:
    values = [0.1, 0.1, 0.9, 0.9, 1, 2, 3, 4]
    scores = [0.5, 0.5, 0.8, 0.2, 0.1, 0.2, 0.4, 0.3]
    labels = [1, 0, 1, 0, 1, 0, 1, 0]
    datasets = ["a"] * 4 + ["b"] * 4
    low, high = metrics.separation_by_bin(values, scores, labels, datasets, bins=2)
    # Dataset a: a tie, then a clear pair; dataset b: 0.1 below 0.2, then 0.4 above 0.3.
    assert low == metrics.Bin(4, pytest.approx((0.1 + 0.1 + 1 + 2) / 4), pytest.approx(-0.5), 2)
    assert high.separation == pytest.approx(1)
    # Datasets weigh alike, not by their traces: (1 - 1) / 2, where 4 traces to 2 would give 1/3. A
    # dataset with one class has no separation.
    scores, labels = [0.1, 0.2, 0.3, 0.4, 0.1, 0.9, 0.5], [0, 0, 1, 1, 1, 0, 1]
    (all_of_them,) = metrics.separation_by_bin(range(7), scores, labels, [*"aaaabbc"], bins=1)
    assert all_of_them == metrics.Bin(7, 3, 0, 2)
    assert len(metrics.separation_by_bin([1.0], [0.5], [1], ["a"])) == metrics.SEPARATION_BINS == 5
    for values, names in (([1.0], ["a", "b"]), ([1.0, 2.0], ["a"])):
        with pytest.raises(SymboUQError, match="one each is needed"):
            metrics.separation_by_bin(values, [0.5, 0.5], [0, 1], names)
    # Equal values share a bin, so the others may stay empty.
    bins = metrics.separation_by_bin([1, 1], [0.2, 0.1], [1, 0], ["a", "a"], bins=3)
    assert [b.traces for b in bins] == [0, 2, 0]
    assert bins[0].mean is None and bins[1].separation == 1


def test_oracle_chooses_by_test_labels() -> None:
    assert metrics.oracle({"a": [0.6, 0.4], "b": [0.1, 0.9]}, [1, 0])[0] == "a"
    name, scores = metrics.oracle({"a": [0.1, 0.9], "b": [0.6, 0.4]}, [1, 0])
    assert name == "b" and scores is not None and list(scores) == [0.6, 0.4]
