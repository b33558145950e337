"""Calibrators: hand-derived maps, strict monotonicity, selection by Brier."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.calibration import SLOPES, sigmoid
from symbouq.reliability.calibrators import (
    FAMILIES,
    Calibrator,
    Family,
    fit_family,
    select,
)


def brier(p: np.ndarray, y: np.ndarray) -> float:
    return float(((p - y) ** 2).mean())


def test_maps_by_hand() -> None:
    z = np.log(np.array([0.8, 0.5]) / np.array([0.2, 0.5]))
    assert Calibrator("identity", ())(z) == pytest.approx([0.8, 0.5])
    # Half the logit of 4 to 1 is that of 2 to 1.
    assert Calibrator("temperature", (0.5,))(z) == pytest.approx([2 / 3, 0.5])
    assert Calibrator("affine-logit", (0.5, np.log(2)))(z) == pytest.approx([0.8, 2 / 3])
    # p^2 / (1 - p) to one: 0.64 / 0.2 = 3.2, 0.25 / 0.5 = 0.5.
    assert Calibrator("monotone-beta", (2, 1, 0))(z) == pytest.approx([3.2 / 4.2, 0.5 / 1.5])


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_contains_the_identity(family: Family) -> None:
    start: dict[Family, tuple[float, ...]] = {
        "identity": (),
        "temperature": (1,),
        "affine-logit": (1, 0),
        "monotone-beta": (1, 1, 0),
    }
    z = np.linspace(-9, 9, 7)
    assert Calibrator(family, start[family]).logits(z) == pytest.approx(z)


@given(
    st.sampled_from(FAMILIES),
    st.lists(st.tuples(st.integers(-3000, 3000), st.integers(0, 1)), min_size=2, max_size=40),
)
@settings(max_examples=200)
def test_no_fit_reverses_or_ties_a_ranking(family: Family, rows: list[tuple[int, int]]) -> None:
    z = np.array([row[0] / 100 for row in rows])
    y = np.array([row[1] for row in rows], float)
    calibrator = fit_family(family, z, y)
    order = np.unique(z)
    assert (np.diff(calibrator.logits(order)) > 0).all()
    assert (np.diff(calibrator(order)) >= 0).all()


@pytest.mark.parametrize("family", FAMILIES[1:])
def test_reversed_scores_keep_a_positive_slope(family: Family) -> None:
    z = np.linspace(-2, 2, 40)
    found = fit_family(family, z, (z < 0).astype(float))
    assert found.parameters[0] == pytest.approx(SLOPES[0])


def test_affine_logit_equals_scikit_learn_on_smoothed_targets() -> None:
    from sklearn.linear_model import LogisticRegression

    generator = np.random.default_rng(0)
    z = generator.normal(size=200)
    y = (generator.random(200) < sigmoid(2 * z - 1)).astype(float)
    targets = np.where(y > 0, (y.sum() + 1) / (y.sum() + 2), 1 / (200 - y.sum() + 2))
    theirs = LogisticRegression(C=np.inf, tol=1e-10)
    twice, labels = np.concatenate([z, z])[:, None], np.repeat([1, 0], 200)
    theirs.fit(twice, labels, sample_weight=np.concatenate([targets, 1 - targets]))
    wanted = (theirs.coef_[0, 0], theirs.intercept_[0])
    assert fit_family("affine-logit", z, y).parameters == pytest.approx(wanted, abs=1e-4)


def test_temperature_by_hand() -> None:
    # Four right and four wrong: targets 5/6 and 1/6. Of four at log 9 three are right, so their
    # mean target is 2/3, odds of 2 to 1; the four at -log 9 mirror them.
    z = np.log(9) * np.array([1, 1, 1, 1, -1, -1, -1, -1.0])
    y = np.array([1, 1, 1, 0, 1, 0, 0, 0.0])
    found = fit_family("temperature", z, y)
    assert found.parameters[0] == pytest.approx(np.log(2) / np.log(9), abs=1e-6)


def test_separated_classes_are_not_certain() -> None:
    # Ten right ones above ten wrong ones: the targets are 11/12 and 1/12.
    z = np.repeat([1.0, -1.0], 10)
    for family in FAMILIES[1:]:
        p = fit_family(family, z, (z > 0).astype(float))(z)
        assert p[[0, -1]] == pytest.approx([11 / 12, 1 / 12], abs=1e-3)


def test_selection_takes_the_least_brier() -> None:
    generator = np.random.default_rng(1)
    z = generator.normal(size=400) * 2
    y = (generator.random(400) < sigmoid(0.4 * z + 1)).astype(float)
    chosen = select(z, y)
    losses = [brier(fit_family(family, z, y)(z), y) for family in FAMILIES]
    assert brier(chosen(z), y) == pytest.approx(min(losses))
    assert chosen.family in ("affine-logit", "monotone-beta")


@pytest.mark.parametrize(("odds", "kept"), [(24, True), (49, False)])
def test_selection_is_by_brier_not_by_likelihood(odds: int, kept: bool) -> None:
    """Ten traces at log odds, nine of them right, and their mirror image: m = 9/10.

    Every family but the identity then says q = (10 m + 1) / 12 = 5/6, the mean of the smoothed
    targets. The Brier score is m (1 - m) + (p - m)^2, so q's distance 1/15 loses to 0.06 of odds of
    24 to 1 and wins over 0.08 of 49 to 1. The log loss prefers q both times: 0.343 to 0.359, 0.409.
    """
    z = np.log(odds) * np.repeat([1.0, -1.0], 10)
    y = np.array([1] * 9 + [0] + [1] + [0] * 9, float)
    found = select(z, y)
    assert (found.family == "identity") == kept
    assert found(z)[0] == pytest.approx(odds / (odds + 1) if kept else 5 / 6, abs=1e-6)


def test_equal_losses_take_the_simplest() -> None:
    # Three of four at log 3, one of four at -log 3: calibrated as they are.
    z = np.log(3) * np.array([1, 1, 1, 1, -1, -1, -1, -1.0])
    y = np.array([1, 1, 1, 0, 1, 0, 0, 0.0])
    assert select(z, y).family == "identity"


def test_wrong_parameters_are_refused() -> None:
    for family, parameters in (("affine-logit", (0, 1)), ("temperature", (1, 1)), ("beta", ())):
        with pytest.raises(SymboUQError):
            Calibrator(family, parameters)  # type: ignore[arg-type]
