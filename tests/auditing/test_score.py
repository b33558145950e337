"""Constraint-Rule on hand-derived values."""

from __future__ import annotations

import pytest

from symbouq.auditing.score import constraint_rule
from symbouq.auditing.verdicts import Verdict

EN, CO, UN, NO = Verdict


@pytest.mark.parametrize(
    ("parsed", "verdicts", "repairs", "score"),
    [
        ([True], [EN], [0], 0.7 * 1 + 0.3 * 0.5),
        ([False], [UN], [0], 0.5),
        ([True], [CO], [4], 0.3 * 0.5),
        ([True, True], [EN, EN], [0, 0], 1.0),
        ([True, True], [CO, NO], [4, 0], 0.7 * 0.35),
        ([True, True], [EN, CO], [0, 1], 0.7 * 0.3 + 0.3),
        ([False, True], [UN, EN], [0, 0], 0.7 + 0.15),
        ([True, False, True], [EN, UN, UN], [0, 0, 0], 0.7 * 0.5 + 0.3),
    ],
)
def test_hand_derived(
    parsed: list[bool], verdicts: list[Verdict], repairs: list[int], score: float
) -> None:
    assert constraint_rule(parsed, verdicts, repairs) == pytest.approx(score)
