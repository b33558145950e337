"""Constraint-Only: out-of-fold scores, and what it leaves alone."""

from __future__ import annotations

import json

import numpy as np
import pytest

from symbouq.errors import SymboUQError
from symbouq.reliability.constraint_only import L2, ConstraintOnly, fit
from symbouq.reliability.logistic import folds, held_out

NAMES = ["a", "b", "c"]


def data(seed: int = 0, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 2, n).astype(float)
    x = np.column_stack([y + generator.normal(size=n), generator.normal(size=n), np.ones(n)])
    return x, y


def test_scores_of_validation_are_out_of_fold() -> None:
    x, y = data()
    found = fit(NAMES, x, y)
    assert found is not None
    classifier, scores = found
    fold = folds(60, 5)
    for number in range(5):
        out = fold == number
        wanted = 1 / (1 + np.exp(-held_out(x, y, out, classifier.l2)))
        assert scores[out] == pytest.approx(wanted)
    assert scores != pytest.approx(classifier(x), abs=1e-3)


@pytest.mark.parametrize("seed", [1, 15, 22])
def test_l2_has_the_least_held_out_cross_entropy(seed: int) -> None:
    x, y = data(seed)
    found = fit(NAMES, x, y)
    assert found is not None
    fold, losses = folds(60, 5), {}
    for l2 in L2:
        p = np.empty(60)
        for number in range(5):
            p[fold == number] = 1 / (1 + np.exp(-held_out(x, y, fold == number, l2)))
        losses[l2] = -np.log(np.where(y > 0, p, 1 - p)).mean()
    assert found[0].l2 == min(losses, key=lambda l2: (losses[l2], -l2))


def test_groups_are_held_out_together() -> None:
    x, y = data(2)
    x[30:], y[30:] = x[:30], y[:30]  # every trace twice
    apart, together = fit(NAMES, x, y), fit(NAMES, x, y, [n % 30 for n in range(60)])
    assert apart is not None and together is not None
    assert list(together[1][:30]) == list(together[1][30:])


def test_two_groups_are_enough_and_one_is_not() -> None:
    x, y = data(2)
    assert fit(NAMES, x, y, [n % 2 for n in range(60)]) is not None
    assert fit(NAMES, x, y, [0] * 60) is None


def test_nothing_to_learn_gives_no_score() -> None:
    x, y = data(3)
    # The feature means the opposite in each fold of what it means in the others.
    x = np.column_stack([np.where(np.arange(60) % 5 == 0, y, 0.0)] * 3)
    assert fit(NAMES, np.zeros((60, 3)), y) is None
    assert fit(NAMES, x, np.array([1.0] + [0.0] * 59)) is None
    assert fit(NAMES, x[:3], y[:3] * 0) is None


def test_records_hold_the_classifier() -> None:
    x, y = data(4)
    found = fit(NAMES, x, y)
    assert found is not None
    record = json.loads(json.dumps(found[0].record()))
    again = ConstraintOnly.of(record)
    assert again == found[0]
    for wrong in ({"weights": [1.0]}, {"l2": None}, {"mean": 3}):
        with pytest.raises(SymboUQError, match="not a Constraint-Only"):
            ConstraintOnly.of(record | wrong)
