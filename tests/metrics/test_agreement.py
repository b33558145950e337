"""Agreement and determinacy on hand-derived values."""

from __future__ import annotations

import pytest

from symbouq import metrics


def test_micro_f1_by_hand() -> None:
    # 3 of 4 found are wanted, 3 of 5 wanted are found: 2 * 3 / (4 + 5).
    found, wanted = [{1, 2}, {3, 9}, set()], [{1, 2}, {3}, {4, 5}]
    assert metrics.micro_f1(found, wanted) == pytest.approx(6 / 9)
    assert metrics.micro_f1([set()], [set()]) is None
    assert metrics.micro_f1([{1}], [set()]) == 0
    with pytest.raises(ValueError, match="zip"):
        metrics.micro_f1([{1}], [])


def test_weighted_determinacy_by_hand() -> None:
    # Three of five, and none of none: the second trace weighs nothing.
    assert metrics.weighted_determinacy([0.6, 0.0], [5, 0]) == pytest.approx(0.6)
    assert metrics.weighted_determinacy([1.0, 0.25], [1, 4]) == pytest.approx(2 / 5)
    assert metrics.weighted_determinacy([0.5], [1]) == 0.5
    assert metrics.weighted_determinacy([0.0], [0]) is None
