from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbouq.errors import SymboUQError
from symbouq.metrics import exceeding, first_error, first_errors, fitted_threshold


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([1, 1, 1], 0),
        ([1, 0, 0], 2),
        ([0], 1),
        ([1, None, 0], None),
        ([1, 0, None], 2),
        ([1, None], None),
        ([], 0),
    ],
)
def test_first_error(labels: list[int | None], expected: int | None) -> None:
    assert first_error(labels) == expected


def test_f1_is_the_harmonic_mean_of_two_accuracies() -> None:
    # Of four wrong traces the place of one is right; of two right ones one is cleared.
    found = first_errors([1, 1, 0, 3, 0, 2], [1, 2, 2, 2, 0, 0])
    assert (found.wrong, found.right, found.found, found.cleared) == (4, 2, 0.25, 0.5)
    assert found.f1 == pytest.approx(2 * 0.25 * 0.5 / 0.75)
    assert found.interval is not None and found.interval[0] <= found.f1 <= found.interval[1]


def test_what_one_kind_of_traces_leaves_undefined() -> None:
    wrong = first_errors([1, 0], [1, 1])
    assert (wrong.found, wrong.cleared, wrong.f1, wrong.interval) == (0.5, None, None, None)
    right = first_errors([0, 0], [0, 0])
    assert (right.found, right.cleared, right.f1) == (None, 1.0, None)
    none = first_errors([], [])
    assert (none.wrong, none.right, none.found, none.f1) == (0, 0, None, None)


def test_a_constant_has_no_f1() -> None:
    for constant in (0, 1):
        assert first_errors([constant] * 4, [0, 0, 1, 1]).f1 == 0
    assert first_errors([1, 2], [0, 1]).f1 == 0  # nothing cleared, nothing found


def test_the_interval_is_of_the_resampled_f1s() -> None:
    """Twenty wrong traces, 11 found, and as many right ones, 13 cleared: drawn 2,000 times."""
    true, predicted = [1] * 20 + [0] * 20, [1] * 11 + [0] * 9 + [0] * 13 + [1] * 7
    values = []
    for times in np.random.default_rng(3).multinomial(40, [1 / 40] * 40, 2000).tolist():
        found, cleared = sum(times[:11]) / sum(times[:20]), sum(times[20:33]) / sum(times[20:])
        values.append(2 * found * cleared / (found + cleared))
    values.sort()
    # Linear between order statistics: 1999 * 0.025 = 49.975, and as far from the other end.
    low = values[49] + 0.975 * (values[50] - values[49])
    high = values[1949] + 0.025 * (values[1950] - values[1949])
    assert first_errors(predicted, true, seed=3).interval == pytest.approx((low, high))


def test_as_many_are_needed() -> None:
    with pytest.raises(SymboUQError, match="1 predicted first errors for 2 traces"):
        first_errors([0], [0, 1])


def test_the_first_claim_above_a_threshold() -> None:
    claims = [[0.1, 0.9, 0.8], [0.5, 0.2], []]
    assert exceeding(claims, 0.5) == [2, 0, 0]
    assert exceeding(claims, 0.05) == [1, 1, 0]
    assert exceeding(claims, math.inf) == [0, 0, 0]


def test_a_threshold_is_fitted() -> None:
    claims = [[0.1, 0.9], [0.8, 0.1], [0.2, 0.3], [0.1, 0.4]]
    # Above 0.4 lie the errors alone.
    assert fitted_threshold(claims, [2, 1, 0, 0]) == 0.4
    assert fitted_threshold([[0.9], [0.1]], [1, 0]) == 0.1
    assert fitted_threshold(claims, [0, 0, 0, 0]) == math.inf
    assert fitted_threshold(claims, [1, 1, 1, 1]) == math.inf


def test_of_many_thresholds_some_are_tried() -> None:
    # 600 values, of which the upper half belong to errors: the nearest of 512 quantiles is within 2.
    claims, true = [[n / 600] for n in range(600)], [0] * 300 + [1] * 300
    assert fitted_threshold(claims, true) == pytest.approx(0.5, abs=2 / 600)


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=1), st.integers(0, 3)),
        min_size=1,
    )
)
def test_no_threshold_is_better_than_the_fitted_one(rows: list[tuple[list[float], int]]) -> None:
    claims, true = [row[0] for row in rows], [row[1] for row in rows]
    fitted = first_errors(exceeding(claims, fitted_threshold(claims, true)), true).f1
    for threshold in (0.0, 0.1, 0.2, 0.3, 0.4):
        other = first_errors(exceeding(claims, threshold), true).f1
        assert (fitted or 0) >= (other or 0)
