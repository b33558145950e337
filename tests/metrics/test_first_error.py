from __future__ import annotations

import math

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
    assert fitted_threshold(claims, [0, 0, 0, 0]) == math.inf


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
