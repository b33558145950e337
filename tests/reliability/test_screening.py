"""Screening and orientation on hand-derived AUROCs."""

from __future__ import annotations

import numpy as np
import pytest

from symbouq.errors import SymboUQError
from symbouq.reliability.screening import oriented, screen

LABELS = np.array([1, 1, 0, 0])
SCORES = np.array(
    [[0.9, 0.1, 0.5, 0.3], [0.8, 0.2, 0.5, 0.1], [0.1, 0.9, 0.5, 0.2], [0.2, 0.8, 0.5, 0.4]]
)


def test_screening_by_hand() -> None:
    found = screen(SCORES, LABELS, 0.03)
    assert found.aurocs.tolist() == [1, 0, 0.5, 0.25]
    assert found.retained == (0, 1, 3)
    assert found.flipped == (False, True, True)
    assert found.best == 0
    assert oriented(SCORES[:, [0, 1]], (False, True))[0] == pytest.approx([0.9, 0.9])


def test_the_threshold_itself_is_retained() -> None:
    # The right ones beat 4, 3, 2, 0 and 0 of the four wrong ones: 9 of 20 pairs. The distance of
    # 0.45 from 0.5 rounds to less than 0.05.
    scores = np.array([[4.5], [3.5], [2.5], [0.5], [0.4], [1], [2], [3], [4]])
    labels = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0])
    found = screen(scores, labels, 0.05)
    assert found.aurocs[0] == 0.45 and abs(0.45 - 0.5) < 0.05
    assert found.retained == (0,)
    assert screen(scores, labels, 0.051).retained == ()


def test_what_says_nothing_is_not_turned() -> None:
    # Line 6 of the algorithm turns A_j < 0.5; a constant has 0.5, which a threshold of 0 retains.
    screening = screen(np.array([[0.3], [0.3]]), np.array([1.0, 0.0]), 0)
    assert (screening.retained, screening.flipped) == ((0,), (False,))


def test_one_class_is_refused() -> None:
    with pytest.raises(SymboUQError):
        screen(SCORES, np.ones(4), 0.03)
