"""The risk-coverage curve and its area on hand-derived values."""

from __future__ import annotations

import pytest
from helpers.pools import LABELS, SCORES, random_pool

from symbouq import metrics


def test_risk_coverage_takes_ties_in_expectation() -> None:
    curve = metrics.risk_coverage(SCORES, LABELS)
    assert curve.coverage == pytest.approx([0.25, 0.5, 0.75, 1])
    # After the best, half an error is expected at two, one at three, two at four.
    assert curve.risk == pytest.approx([0, 0.25, 1 / 3, 0.5])
    assert metrics.aurc(SCORES, LABELS) == pytest.approx((0.25 + 1 / 3 + 0.5) / 4)
    nothing = metrics.risk_coverage([], [])
    assert len(nothing.risk) == len(nothing.coverage) == 0


def test_aurc_is_the_mean_of_the_curve() -> None:
    scores, _, labels = random_pool(3, 50, digits=1)
    assert metrics.aurc(scores, labels) == pytest.approx(
        metrics.risk_coverage(scores, labels).risk.mean()
    )
