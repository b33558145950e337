"""The Determinacy Profile on hand-derived values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbouq.auditing.profile import Profile, determinacy_profile, discounted_profile
from symbouq.auditing.verdicts import Verdict

EN, CO, UN, NO = Verdict


def test_illustrative_trace() -> None:
    profile = determinacy_profile([True, True, True, False, True, True], [EN, EN, UN, UN, CO, NO])
    assert profile == Profile(5 / 6, 1 / 5, 3 / 5, 3 / 6, 0)


def test_zero_coverage_convention() -> None:
    assert determinacy_profile([False, False], [UN, UN]) == Profile(0, 0, 0, 0, 1)
    assert determinacy_profile([], []) == Profile(0, 0, 0, 0, 1)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(list(Verdict))), min_size=1))
def test_determinacy_is_what_unknown_and_blocked_leave(rows: list[tuple[bool, Verdict]]) -> None:
    """d = 1 - nu - nu_no, delta = pi d (Status Determinacy)."""
    parsed = [a for a, _ in rows]
    verdicts = [v for _, v in rows]
    profile = determinacy_profile(parsed, verdicts)
    count = sum(parsed)
    if count:
        blocked = sum(a and v is NO for a, v in rows) / count
        assert profile.determinacy == pytest.approx(1 - profile.unknown_rate - blocked)
    assert profile.applicability == pytest.approx(profile.symbolizability * profile.determinacy)


def test_discount_takes_the_weakest_premise() -> None:
    parsed = [True] * 4
    verdicts = [UN, EN, EN, CO]
    premises = [[], [], [1], [2, 3]]
    profile = discounted_profile(parsed, verdicts, premises)
    assert profile.determinacy == 1 / 4  # only the claim that rests on the scene counts
    assert profile.unknown_rate == 3 / 4


def test_discount_changes_nothing_where_all_rests_on_the_scene() -> None:
    parsed = [True, True, False, True]
    verdicts = [EN, CO, UN, NO]
    assert discounted_profile(parsed, verdicts, [[], [], [], []]) == determinacy_profile(
        parsed, verdicts
    )
