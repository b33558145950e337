"""Feature designs and coverage on hand-derived values."""

from __future__ import annotations

import numpy as np
import pytest

from symbouq.reliability.designs import Coverage, columns, features

COVERAGE = Coverage(np.array([5 / 6]), np.array([1 / 2]))
"""The paper's illustrative trace."""
SCORES = np.array([[0.6, 0.3]])


def test_designs_are_nested_blocks() -> None:
    rows = {
        d: features(d, ("a", "b"), SCORES, COVERAGE)
        for d in ("scores", "symbolizability", "determinacy")
    }
    assert rows["scores"].tolist() == [[0.6, 0.3]]
    assert rows["symbolizability"][0] == pytest.approx([0.6, 0.3, 0.5, 0.25])
    assert rows["determinacy"][0] == pytest.approx([0.6, 0.3, 0.5, 0.25, 0.3, 0.15])
    assert columns("determinacy", ("a", "b")) == ["a", "b"] * 3


def test_gated_columns_are_left_out() -> None:
    h = features("symbolizability", ("a", "b"), SCORES, COVERAGE, {"a"})
    assert h[0] == pytest.approx([0.3, 0.5, 0.25])
    assert columns("symbolizability", ("a", "b"), {"a"}) == ["b", "a", "b"]


def profile(pi: float, nu: float, d: float) -> dict[str, float]:
    return {"symbolizability": pi, "unknown_rate": nu, "determinacy": d, "applicability": pi * d}


def test_coverage_kinds_by_hand() -> None:
    # Of five parsed claims three are decided, one unknown, one blocked; then nothing but blocked.
    audits = [
        {"profile": profile(5 / 6, 1 / 5, 3 / 5), "discounted": profile(5 / 6, 2 / 5, 2 / 5)},
        {"profile": profile(1, 0, 0), "discounted": profile(1, 0, 0)},
        {"profile": profile(0, 0, 0), "discounted": profile(0, 0, 0)},
    ]
    paper = Coverage.of(audits)
    assert paper.symbolizability.tolist() == [5 / 6, 1, 0]
    assert paper.applicability == pytest.approx([1 / 2, 0, 0])
    assert Coverage.of(audits, "evaluable").applicability == pytest.approx([5 / 6 * 3 / 4, 0, 0])
    assert Coverage.of(audits, "discounted").applicability == pytest.approx([1 / 3, 0, 0])


def test_shuffling_keeps_the_values_and_loses_the_traces() -> None:
    coverage = Coverage(np.arange(20) / 20, np.arange(20) / 40)
    shuffled = coverage.shuffled(1)
    assert sorted(shuffled.applicability) == sorted(coverage.applicability)
    assert list(shuffled.applicability) != list(coverage.applicability)
    assert shuffled.symbolizability is coverage.symbolizability
    assert list(coverage.shuffled(1).applicability) == list(shuffled.applicability)
