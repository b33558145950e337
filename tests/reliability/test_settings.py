"""The composer's settings as Table search-space has them, and its simplest composers by hand."""

from __future__ import annotations

import numpy as np
import pytest

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.settings import Settings
from symbouq.evidence.scorers.sweep import Grid
from symbouq.metrics import RESAMPLES
from symbouq.reliability import calibrators, darc
from symbouq.reliability.darc import Composer, Evidence, Options
from symbouq.reliability.designs import DESIGNS, Coverage


def test_settings_are_the_papers() -> None:
    assert DESIGNS == ("scores", "symbolizability", "determinacy")
    assert (darc.L2, darc.REFERENCE_L2) == ((1, 5, 20, 50, 100, 200), 20)
    assert (darc.EPSILON, darc.FOLDS, RESAMPLES) == (0.03, 5, 2000)
    assert Options() == Options(DESIGNS, darc.L2, 0.03, 5)
    assert set(calibrators.FAMILIES) == {"identity", "affine-logit", "temperature", "monotone-beta"}
    grid = Grid()
    assert (grid.width, grid.learning_rate) == ((64, 128, 256, 512), (2e-5, 2e-4, 2e-3))
    assert (grid.loss, grid.epochs) == (("bce", "balanced"), (20, 30, 40))
    one = Settings()
    assert (one.width, one.loss, one.learning_rate, one.epochs) == (256, "balanced", 2e-4, 30)


def evidence(*scores: float) -> Evidence:
    names = ("Constraint-Rule", "MLP")[: len(scores)]
    return Evidence(names, np.array([scores]), Coverage(np.ones(1), np.ones(1)))


def test_an_average_by_hand() -> None:
    """Of 0.8 and 0.5 it is 0.65; each gives half of its logit, ln 4 and 0."""
    composer = Composer("average", ("Constraint-Rule", "MLP"))
    assert composer.predict(evidence(0.8, 0.5)) == pytest.approx([0.65])
    (parts,) = composer.contributions(evidence(0.8, 0.5))
    assert parts == pytest.approx({"Constraint-Rule": np.log(4) / 2, "MLP": 0})


@pytest.mark.parametrize(("score", "p", "edge"), [(1.5, 1, 1), (-0.5, 0, -1)])
def test_a_score_beyond_the_edge_is_cut(score: float, p: float, edge: int) -> None:
    fixed = Composer("fixed", ("Constraint-Rule",))
    assert fixed.predict(evidence(score)) == [p]
    (parts,) = fixed.contributions(evidence(score))
    assert parts["Constraint-Rule"] == pytest.approx(edge * 12 * np.log(10), rel=1e-4)


def test_one_wrong_value_among_others_is_refused() -> None:
    with pytest.raises(SymboUQError, match="l2 needs"):
        Options(l2=(0, 1))
    both = Evidence(("MLP",), np.array([[0.1], [0.9]]), Coverage(np.ones(2), np.ones(2)))
    with pytest.raises(SymboUQError, match="0 or 1"):
        darc.fit(both, [1, 2])
