"""Brier, ECE and likelihood on hand-derived values."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.pools import LABELS, SCORES

from symbouq import metrics
from symbouq.errors import SymboUQError


def test_brier_and_its_class_balance() -> None:
    # Squared errors: 0.01, 0.36, 0.16, 0.04.
    assert metrics.brier(SCORES, LABELS) == pytest.approx(0.57 / 4)
    assert metrics.balanced_brier(SCORES, LABELS) == pytest.approx((0.085 + 0.2) / 2)
    # Three right at 0.01 each, one wrong at 0.64.
    assert metrics.balanced_brier([0.9, 0.9, 0.9, 0.8], [1, 1, 1, 0]) == pytest.approx(0.325)


def test_ece_over_ten_bins_of_equal_width() -> None:
    # [0.2, 0.3): 0.2 against 0; [0.6, 0.7): 0.6 against 1/2 twice; [0.9, 1]: 0.9 against 1.
    assert metrics.ece(SCORES, LABELS) == pytest.approx((0.2 + 2 * 0.1 + 0.1) / 4)
    assert metrics.ece([1.0, 0.95], [1, 1]) == pytest.approx(0.025)
    bins = metrics.calibration_bins(SCORES, LABELS)
    assert [b.count for b in bins] == [0, 0, 1, 0, 0, 0, 2, 0, 0, 1]
    edges = [(b.low, b.high) for b in bins]
    assert (edges[0], edges[6], edges[9]) == ((0, 0.1), (0.6, 0.7), (0.9, 1))
    assert (bins[6].confidence, bins[6].accuracy) == (pytest.approx(0.6), 0.5)
    assert bins[0].confidence is None
    gaps = sum(b.count * abs(b.confidence - b.accuracy) for b in bins if b.count)  # type: ignore[operator]
    assert gaps / 4 == pytest.approx(metrics.ece(SCORES, LABELS))


@pytest.mark.parametrize("score", [-0.1, 1.1])
def test_one_score_that_is_no_probability_is_refused(score: float) -> None:
    for name in ("brier", "balanced_brier", "ece", "nll"):
        with pytest.raises(SymboUQError, match="not a probability"):
            metrics.evaluate(name, [0.5, score], [1, 0])


def test_nll() -> None:
    expected = -(np.log(0.9) + np.log(0.4) + np.log(0.6) + np.log(0.8)) / 4
    assert metrics.nll(SCORES, LABELS) == pytest.approx(expected)
    assert metrics.nll([0.0], [1]) == pytest.approx(-np.log(np.finfo(float).eps))
