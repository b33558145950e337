"""Figures over many audits, by hand."""

from __future__ import annotations

from typing import Any

import pytest

import symbouq
from symbouq.auditing.overview import Overview, Point

SCENE = "A is above B. B is right of C."


def audit(*claims: str, scene: str = SCENE) -> dict[str, Any]:
    return symbouq.audit(scene, list(claims)).model_dump()


def point(score: float, label: bool | None) -> Point:
    plain = Point.of(audit("A is above B."))
    return Point(plain.summary, plain.shares, 0, score, label)


def test_point() -> None:
    found = Point.of(audit("A is above B.", "Hm.", "A is left of C.", "A is above B."), True)
    assert found.first == 3
    assert found.shares == pytest.approx(
        {
            "symbolizability": 3 / 4,
            "unknown_rate": 0,
            "determinacy": 2 / 3,
            "applicability": 2 / 4,
        }
    )
    assert (found.summary.claims, found.summary.parsed, found.label) == (4, 3, True)


def test_histograms_conflicts_and_means() -> None:
    overview = Overview()
    for made in (
        audit("A is above B."),  # determinacy 1
        audit("A is above B.", "A is left of D."),  # 1/2, no conflict
        audit("A is left of C."),  # contradicted at claim 1
        audit("A is above B.", scene="A is above B. B is above A."),
    ):
        overview.add(Point.of(made))
    found = overview.as_json()
    assert found["histograms"]["determinacy"] == [1, 0, 0, 0, 0, 1, 0, 0, 0, 2]
    assert found["histograms"]["symbolizability"] == [0] * 9 + [4]
    # Scenes that contradict themselves are not counted among those without a conflict.
    assert found["conflicts"] == [(0, 2), (1, 1)]
    assert (found["traces"], found["feasible"]) == (4, 3)
    assert found["means"]["determinacy"] == (1 + 0.5 + 1 + 0) / 4
    assert found["assumed"] == {"entailed": 2, "unknown": 1, "contradicted": 1, "not-evaluable": 1}
    assert found["reliability"] is None


def test_reliability() -> None:
    overview = Overview()
    for score, label in ((0.95, True), (0.91, True), (0.45, False), (0.41, True), (0.5, None)):
        overview.add(point(score, label))
    found = overview.reliability()
    assert found is not None
    assert (found["count"], found["right"]) == (4, 3)
    filled = {b["low"]: (b["count"], b["accuracy"]) for b in found["bins"] if b["count"]}
    assert filled == {0.4: (2, 0.5), 0.9: (2, 1.0)}
    assert found["bins"][9]["confidence"] == pytest.approx(0.93)
    # Risk of the best one, two, three, four by score: 0, 0, 1/3, 1/4.
    assert found["curve"] == [
        pytest.approx(p) for p in ([0.25, 0], [0.5, 0], [0.75, 1 / 3], [1, 0.25])
    ]
    # Right answers above the wrong one: 2 of 3.
    assert found["auroc"] == pytest.approx(2 / 3)
    assert found["ece"] == pytest.approx(0.5 * abs(0.43 - 0.5) + 0.5 * 0.07)


def test_reliability_of_one_class_and_a_long_curve() -> None:
    overview = Overview()
    for n in range(1000):
        overview.add(point(n / 1000, True))
    found = overview.reliability()
    assert found is not None
    assert found["auroc"] is None
    assert len(found["curve"]) == 200
    assert found["curve"][-1] == [1.0, 0.0]
