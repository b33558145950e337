"""How real traces are labelled, held out and changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import force_table
import numpy as np
import pytest
import transfer_table
from second_extractor import extracted

from symbouq.reliability.reading import Reading

GRID = ["left", "right", "above", "below", "upper-left", "upper-right", "lower-left", "lower-right"]
REGIONS = ["DC", "EC", "PO", "TPP", "NTPP", "TPPi", "NTPPi", "EQ"]
TILES = ["N", "NE", "E", "SE", "S", "SW", "W", "NW", "B"]


@pytest.mark.parametrize(
    ("response", "space", "labels"),
    [
        ("So A is above C.\nAnswer: upper-left", [*GRID, "overlap"], {"upper-left"}),
        ("Answer: below and slightly to the right", [*GRID, "overlap"], {"lower-right"}),
        ("Answer: unknown.", [*GRID, "overlap"], set()),
        ("They are at the same location.", [*GRID, "overlap"], {"overlap"}),
        ("Thus x is in z.\n\n### Answer: PO, TPP, NTPP", REGIONS, {"PO", "TPP", "NTPP"}),
        ("Given TPP(x,y) and EC(y,z), they are DC(x,z) and EC(x,z).", REGIONS, {"DC", "EC"}),
        ("The possible relations are:\n- PO(x,z)\n- EQ(x,z)", REGIONS, {"PO", "EQ"}),
        ("The possible relations are Southwest and west.", TILES, {"SW", "W"}),
        ("The answer is **No**, although yes was near.", ["Yes", "No", "DK"], {"No"}),
        ("It cannot be determined.", ["Yes", "No", "DK"], {"DK"}),
        ("No", ["satisfiable", "unsatisfiable"], {"unsatisfiable"}),
        ("Tea is nice.", ["satisfiable", "unsatisfiable"], set()),
    ],
)
def test_the_second_extractor(response: str, space: list[str], labels: set[str]) -> None:
    assert extracted(response, space) == labels


def known(number: int, model: str, scene: str, right: int = 1, **more: Any) -> transfer_table.Known:
    reading = Reading(str(number), scene, {}, {}, {}, {}, ())
    readings = dict.fromkeys(("paper", "dual", "worlds"), reading)
    fields = {"said": frozenset(["left"]), "settled": True, "unfitted": {}, **more}
    return transfer_table.Known(
        str(number), "set", model, scene, scene, readings, right, right, **fields
    )


def test_neither_question_nor_model_is_on_both_sides() -> None:
    scenes = [f"scene {n}" for n in range(20)]
    traces = [known(n, m, s) for m in ("a", "b", "c") for n, s in enumerate(scenes * 2)]
    met = []
    for fitted, rest in transfer_table.held_out(traces):
        sides = [[traces[n] for n in side] for side in (fitted, rest)]
        for key in ("model", "scene"):
            first, second = ({getattr(t, key) for t in side} for side in sides)
            assert not first & second
        met += rest.tolist()
    assert sorted(met) == [*range(len(traces))]  # each is predicted once


def test_a_model_with_few_traces_is_only_fitted_on() -> None:
    scenes = [f"scene {n}" for n in range(40)]
    traces = [known(n, "many", s) for n, s in enumerate(scenes)]
    traces += [known(n, "few", s) for n, s in enumerate(scenes[:5])]
    for _, rest in transfer_table.held_out(traces):
        assert all(traces[n].model == "many" for n in rest)


def test_holm_by_hand() -> None:
    """Sorted .01, .02, .04: times 3, 2, 1, and never less than the one before."""
    found = transfer_table.holm([0.04, float("nan"), 0.01, 0.02])
    assert found[0] == pytest.approx(0.04)
    assert np.isnan(found[1])
    assert found[2:] == pytest.approx([0.03, 0.04])


def test_intervals_resample_scenes() -> None:
    """Two traces of each scene, one right; one of four scenes ranks them the wrong way round. Of 16
    pairs 9 are ranked right, 1 wrong, and 6 tie: 0.75.
    """
    scores = np.array([[0.9, 0.1] * 3 + [0.1, 0.9]])
    labels = np.array([1.0, 0.0] * 4)
    scenes = [f"{n // 2}" for n in range(8)]
    found = transfer_table.areas(scores, labels, scenes)
    assert found.area == pytest.approx(0.75)
    drawn = found.drawn[~np.isnan(found.drawn)]
    assert drawn.max() == pytest.approx(1.0)  # the fourth scene undrawn
    assert len(drawn) == len(found.drawn)  # every scene has both classes


def test_another_answer_is_the_right_one_where_that_was_missed() -> None:
    row: dict[str, Any] = {"id": "t", "answer": "left", "answer_space": ["left", "right", "above"]}
    left, right = frozenset(["left"]), frozenset(["right"])
    assert force_table.other(row, right, []) == left
    assert force_table.other(row, left, [left, right]) == right
    assert force_table.other(row, left, [left]) in (right, frozenset(["above"]))


def test_a_trace_is_changed_in_four_ways() -> None:
    row: dict[str, Any] = {"id": "t", "response": "...", "answer_space": ["left", "right"]}
    claims, left, right = ["one", "two", "three"], frozenset(["left"]), frozenset(["right"])
    plain, force, remove, shuffle = force_table.changed(row, claims, left, right)
    assert [v["conclusion"] for v, _ in (plain, force, remove, shuffle)] == [
        *("left", "right", "left", "left")
    ]
    assert [v["reasoning"] for v, _ in (plain, force, remove)] == [claims, claims, []]
    assert sorted(shuffle[0]["reasoning"]) == sorted(claims)
    assert "response" not in plain[0]
    assert [labels for _, labels in (plain, force)] == [left, right]


@pytest.mark.slow
def test_extractors_against_answers_read_by_hand(data: Path) -> None:
    found = {name: transfer_table.against_hand(name, data) for name in transfer_table.SETS}
    assert sum(count for count, _, _ in found.values()) == 200
    assert sum(errs for _, errs, _ in found.values()) <= 6
