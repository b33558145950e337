"""Calibration on hand-derived values, and beside scikit-learn."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import expit
from sklearn.calibration import _SigmoidCalibration

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.calibration import SLOPES, Calibrator, MinMax, Platt, sigmoid
from symbouq.reliability.darc import screen


def drawn(slope: float, count: int = 500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    scores = generator.normal(3, 2, count)
    return scores, (generator.random(count) < expit(slope * (scores - 3))).astype(int)


def test_minmax() -> None:
    minmax = MinMax.fit([np.array([2.0, 6.0]), np.array([4.0])])
    assert minmax == MinMax(2.0, 6.0)
    assert minmax(np.array([2.0, 6.0, 4.0, 8.0, 1.0])).tolist() == [1.0, 0.0, 0.5, -0.5, 1.25]
    # Nothing to scale by: the order still turns.
    assert MinMax(3.0, 3.0)(np.array([2.0, 3.0])).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "values", [[], [np.array([])], [np.array([1.0, np.inf])], [np.array([np.nan])]]
)
def test_minmax_needs_finite_values(values: list[np.ndarray]) -> None:
    with pytest.raises(SymboUQError, match="min-max statistics need"):
        MinMax.fit(values)


@pytest.mark.parametrize("slope", [0.3, 1.0, 4.0])
def test_platt_is_scikit_learns_where_the_slope_is_positive(slope: float) -> None:
    scores, labels = drawn(slope)
    platt = Platt.fit(scores, labels)
    theirs = _SigmoidCalibration().fit(scores, labels)
    assert platt.slope > 0
    assert platt(scores) == pytest.approx(theirs.predict(scores), abs=1e-4)


def test_platt_of_a_separating_score_is_finite() -> None:
    # By symmetry the intercept is 0 and the targets, 3/4 and 1/4, are met: slope = log 3.
    platt = Platt.fit([-1.0, -1.0, 1.0, 1.0], [0, 0, 1, 1])
    assert platt.slope == pytest.approx(np.log(3), rel=1e-4)
    assert platt.intercept == pytest.approx(0.0, abs=1e-6)


def test_platt_of_a_backward_score_still_increases() -> None:
    scores, labels = drawn(-2.0)
    platt = Platt.fit(scores, labels)
    assert platt.slope == pytest.approx(SLOPES[0] / scores.std())
    ordered = platt(np.sort(scores))
    assert (np.diff(ordered) > 0).all()
    assert ordered.mean() == pytest.approx(labels.mean(), abs=0.01)


def test_platt_of_huge_and_equal_scores() -> None:
    huge = Platt.fit([1.0, 2.0, 3.0, 1e38], [1, 1, 0, 0])
    assert np.isfinite([huge.slope, huge.intercept]).all()
    assert huge.slope > 0
    constant = Platt.fit([2.0, 2.0, 2.0], [1, 1, 0])
    # Targets 3/4, 3/4, 1/3.
    assert constant(np.array([2.0])) == pytest.approx([(0.75 + 0.75 + 1 / 3) / 3], abs=1e-4)


def test_what_platt_refuses() -> None:
    with pytest.raises(SymboUQError, match="found 0 right, 2 wrong"):
        Platt.fit([0.1, 0.2], [0, 0])
    with pytest.raises(SymboUQError, match="finite"):
        Platt.fit([0.1, np.inf], [0, 1])


def test_the_whole_calibrator() -> None:
    # Only the worst claim of these traces tells right from wrong.
    claims = [np.array(c) for c in ([0.5, 0.5], [0.5, 0.5], [0.9, 0.1], [0.1, 0.9])]
    labels = [1, 1, 0, 0]
    found = Calibrator.fit(claims, labels, "uncertainty")
    assert found.minmax == MinMax(0.1, 0.9)
    assert found.reduction == "min"
    assert (found.auroc, found.traces) == (1.0, 4)
    # Worst claims in correctness: 0.5, 0.5, 0, 0.
    assert found(claims) == pytest.approx([0.75, 0.75, 0.25, 0.25], abs=1e-4)
    assert Calibrator.of(json.loads(json.dumps(found.record()))) == found

    correctness = Calibrator.fit([-c for c in claims], labels, "correctness")
    assert correctness.minmax is None
    assert (found.orientation, correctness.orientation) == ("uncertainty", "correctness")
    assert correctness([-c for c in claims]) == pytest.approx(found(claims), abs=1e-4)


def test_a_reversed_score_arrives_at_the_composer() -> None:
    # The conclusion is at chance, the mean ranks every wrong answer first.
    claims = [np.array(c) for c in ([0.1, 0.7], [0.4, 0.2], [0.7, 0.7], [0.9, 0.2])]
    found = Calibrator.fit(claims, [1, 1, 0, 0], "correctness")
    assert (found.reduction, found.auroc) == ("mean", 0.0)
    screening = screen(found(claims)[:, None], np.array([1, 1, 0, 0]), 0.03)
    assert (screening.retained, screening.flipped) == ((0,), (True,))


def test_a_frozen_calibrator_reads_test_traces_one_by_one() -> None:
    scores, labels = drawn(1.0)
    calibrator = Calibrator.fit([np.array([s]) for s in scores], labels, "correctness")
    test = [np.array([s]) for s in drawn(1.0, 20, seed=1)[0]]
    alone = [calibrator([values])[0] for values in test]
    assert calibrator(test).tolist() == alone


def test_what_a_calibrator_refuses() -> None:
    with pytest.raises(SymboUQError, match="validation traces, found none"):
        Calibrator.fit([], [], "correctness")
    with pytest.raises(SymboUQError, match="found 2 right, 0 wrong"):
        Calibrator.fit([np.array([1.0]), np.array([2.0])], [1, 1], "correctness")
    known = Calibrator.fit([np.array([1.0]), np.array([2.0])], [0, 1], "correctness").record()
    backward = {"slope": -1.0, "intercept": 0.0}
    for record in ({}, known | {"reduction": "max"}, known | {"platt": backward}):
        with pytest.raises(SymboUQError, match="not a calibrator"):
            Calibrator.of(record)


def test_sigmoid_does_not_overflow() -> None:
    assert list(sigmoid(np.array([-1e4, 0, 1e4]))) == [0, 0.5, 1]
