"""Guarantees: thresholds by hand, and their coverage by simulation."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.stats import binom

from symbouq.errors import SymboUQError
from symbouq.reliability.guarantee import (
    Guarantee,
    control,
    kept_claims,
    least_traces,
    prefix_threshold,
)

VALUES = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999])


@pytest.mark.parametrize(
    ("level", "delta", "least"),
    # .95^45 = .0994, .95^59 = .0485, .9^22 = .0985, .5^2 = .25
    [(0.05, 0.1, 45), (0.05, 0.05, 59), (0.1, 0.1, 22), (0.5, 0.25, 2)],
)
def test_the_least_number_of_traces(level: float, delta: float, least: int) -> None:
    assert least_traces(level, delta) == least
    right, sure = np.ones(least), np.full(least, 0.9999)
    assert control(sure, sure, right, level, delta).threshold == 0.9999
    assert control(sure, sure[1:], right[1:], level, delta).threshold is None


def test_a_threshold_by_hand() -> None:
    # Of those at .99 none is wrong: .95^50 = .077; with one, .95^50 + 50 (.05) .95^49 = .279.
    p, right = np.repeat([0.99, 0.5], 50), np.repeat([1.0, 0.0], [75, 25])
    found = control(p, p, right, 0.05)
    assert found == Guarantee(0.05, 0.1, 0.99, 100, 50, 0)
    assert [found.accepts(x) for x in (0.99, 0.989)] == [True, False]
    right[0] = 0
    none = control(p, p, right, 0.05)
    assert none == Guarantee(0.05, 0.1, None, 100, 50, 1)
    assert not none.accepts(1.0)
    assert "no threshold gives" in str(none)
    assert "1 of 50 held-out traces are wrong" in str(none)


def test_the_sequence_stops_at_the_first_failure() -> None:
    # 40 right; then 5 of 10 wrong; then 60 right: 5 of 110 would pass (.04), 5 of 50 does not (.62).
    p = np.repeat([0.999, 0.9, 0.8], [40, 10, 60])
    right = np.repeat([1.0, 0.0, 1.0], [40, 5, 65])
    assert control(p, p, right, 0.1) == Guarantee(0.1, 0.1, 0.999, 110, 40, 0)
    assert binom.cdf(5, 110, 0.1) < 0.1 < binom.cdf(5, 50, 0.1)


def test_too_few_traces_are_told_with_how_many_it_takes() -> None:
    told = str(Guarantee(0.05, 0.1, None, 20, 0, 0))
    assert "needs 45 held-out traces" in told
    assert "90 scenes in all" in told


@pytest.mark.parametrize(("level", "delta"), [(0, 0.1), (1, 0.1), (0.1, 0), (0.1, 1)])
def test_shares_are_between_0_and_1(level: float, delta: float) -> None:
    with pytest.raises(SymboUQError, match="between 0 and 1"):
        Guarantee(level, delta, None, 0, 0, 0)


def violations(errors: np.ndarray, new: np.ndarray, level: float) -> tuple[int, int]:
    """In how many of 200 draws something is accepted, and in how many too much of it is wrong.

    Args:
        errors: How often a trace of each of VALUES is wrong, where it calibrates.
        new: How often it is on the traces that are accepted.
        level: Level of the guarantee.
    """
    made = broken = 0
    for seed in range(200):
        generator = np.random.default_rng(seed)
        fitted, held = generator.integers(0, len(VALUES), (2, 200))
        right = (generator.random(200) >= errors[held]).astype(float)
        threshold = control(VALUES[fitted], VALUES[held], right, level).threshold
        if threshold is not None:
            made += 1
            broken += bool(new[threshold <= VALUES].mean() > level)
    return made, broken


ALLOWED = int(binom.ppf(0.999, 200, 0.1))
"""So many of 200 fail by chance alone where one fails with probability 0.1: 34."""


@pytest.mark.parametrize(
    ("errors", "most_made"),
    [
        (1 - VALUES, 200),  # reliabilities are what they say
        (np.sqrt(1 - VALUES) / 2, 200),  # they are far too high at the top
        (np.full(10, 0.11), ALLOWED),  # they say nothing, and to accept anything is wrong
    ],
)
def test_guarantees_fail_with_probability_delta_at_most(errors: np.ndarray, most_made: int) -> None:
    made, broken = violations(errors, errors, 0.1)
    assert broken <= ALLOWED == 34
    assert 0 < made <= most_made


def test_another_model_breaks_the_guarantee() -> None:
    made, broken = violations(1 - VALUES, 2 * (1 - VALUES), 0.1)
    assert made > 190
    assert broken > made / 2


# Prefixes ------------------------------------------------------------------------------------


def test_the_prefix_threshold_by_hand() -> None:
    """Largest uncertainties up to the first wrong claim: .4, .9, none, .7; at .4 of 5, k is 2."""
    rows = [[0.1, 0.4, 0.9], [0.9, 0.2], [0.8, 0.9], [0.2, 0.7]]
    errors = [2, 1, 0, 2]
    assert prefix_threshold(rows, errors, 0.4) == 0.7
    assert prefix_threshold(rows, errors, 0.2) == 0.4
    assert prefix_threshold(rows, errors, 0.8) == sys.float_info.max  # one has no wrong claim
    assert prefix_threshold(rows, errors, 0.1) is None  # four traces promise nothing
    assert [kept_claims(row, 0.7) for row in rows] == [2, 0, 0, 1]
    assert kept_claims([0.1], None) == 0


@pytest.mark.parametrize("telling", [0.0, 2.0])
def test_prefixes_keep_their_promise(telling: float) -> None:
    """Over 200 draws of 100 calibration traces and a new one each, at most a tenth keep a wrong
    claim, whether or not uncertainties tell: 32 is where more has a chance below 1 in 100.
    """
    chance = np.random.default_rng(7)

    def drawn() -> tuple[list[float], int]:
        right = chance.random(6) < 0.8
        values = chance.normal(telling * ~right, 1)
        return values.tolist(), 0 if right.all() else int(np.argmin(right)) + 1

    failures = 0
    for _ in range(200):
        rows, errors = zip(*(drawn() for _ in range(100)), strict=True)
        values, error = drawn()
        count = kept_claims(values, prefix_threshold(rows, errors, 0.1))
        failures += bool(error) and count >= error
    assert failures <= 32
