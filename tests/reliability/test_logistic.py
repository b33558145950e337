"""The learner against its optimality conditions, and how folds are dealt."""

from __future__ import annotations

import numpy as np
import pytest

from symbouq.errors import SymboUQError
from symbouq.reliability.logistic import fitted, folds, held_out, statistics


def test_the_gradient_of_the_summed_loss_vanishes() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(50, 3))
    y = (x[:, 0] + generator.normal(size=50) > 0.3).astype(float)
    for l2 in (1.0, 20.0):
        weights, intercept = fitted(x, y, l2)
        slack = 1 / (1 + np.exp(-(x @ weights + intercept))) - y
        assert x.T @ slack + l2 * weights == pytest.approx(np.zeros(3), abs=1e-7)
        assert slack.sum() == pytest.approx(0, abs=1e-7)


def test_constant_columns_have_scale_one() -> None:
    mean, scale = statistics(np.array([[0.1, 1.0], [0.1, 3.0], [0.1, 5.0]]))
    assert mean == pytest.approx([0.1, 3])
    assert scale == pytest.approx([1, np.sqrt(8 / 3)])


def test_held_out_traces_decide_nothing() -> None:
    generator = np.random.default_rng(1)
    x, y = generator.normal(size=(20, 2)), np.array([0.0, 1.0] * 10)
    out = np.arange(20) % 5 == 0
    other = np.where(out, 1 - y, y)
    assert list(held_out(x, y, out, 5)) == list(held_out(x, other, out, 5))
    moved = x.copy()
    moved[0] += 100
    assert list(held_out(x, y, out, 5))[1:] == list(held_out(moved, y, out, 5))[1:]


def test_groups_share_a_fold() -> None:
    assert folds(7, 3).tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert folds(6, 2, "aabcbd").tolist() == [0, 0, 1, 0, 1, 1]
    with pytest.raises(SymboUQError):
        folds(3, 2, "ab")
