"""The cohort and the intervals of the table of degraded scenes."""

from __future__ import annotations

import numpy as np
from degraded_table import Area, Known, Step, area, graded

from symbouq.reliability.reading import Reading

READING = Reading("t", "g", {}, {}, {}, {}, ())


def trace(question: str, right: int, decided: str) -> Known:
    """A trace whose question is decided at the steps marked d."""
    steps = [Step(mark == "d", False, 0.5, READING) for mark in decided]
    return Known(question, right, 10, steps)


def test_a_trace_counts_if_its_question_opens_at_the_second_step() -> None:
    assert graded(trace("q", 1, "ddooo"))
    for other in ("doooo", "dddoo", "ddoo", "ddood"):
        assert not graded(trace("q", 1, other))


def test_intervals_resample_questions_and_not_traces() -> None:
    """Two questions, ranked rightly within each: of the resamples with one question alone, and of
    those with both, the area is known; traces by themselves would give many more areas.
    """
    traces = [trace("a", 1, "d"), trace("a", 0, "d"), trace("b", 1, "d"), trace("b", 0, "d")]
    scores = np.array([0.4, 0.3, 0.2, 0.1])
    found = area(scores, traces)
    assert found == Area(0.75, 0.75, 1.0)  # both: 3 of 4 pairs; one alone: its only pair
    assert str(found) == "0.750 [0.75, 1.00]"
    assert area(scores[:1], traces[:1]) is None
