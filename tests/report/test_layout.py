"""What the page draws: one layout of the scene, and the cells around a thing."""

from __future__ import annotations

from typing import Any

import pytest

from symbouq.auditing.auditor import TraceAuditor
from symbouq.ontology.library import OntologyLibrary
from symbouq.records import Trace, make_record
from symbouq.report.layout import picture

LIBRARY = OntologyLibrary()


def drawn(
    scene: list[list[str]], claims: list[list[list[str]]], profile: str = "nine-way"
) -> dict[str, Any]:
    trace = make_record(
        Trace,
        {
            "id": "t",
            "scene_relations": scene,
            "claims": [{"relations": relations} for relations in claims],
        },
    )
    auditor = TraceAuditor(profile, LIBRARY)
    return picture(auditor.parser_for(trace).ontology, auditor.audited(trace))


def places(found: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {thing["name"]: (thing["x"], thing["y"]) for thing in found["things"]}


def test_coordinates_keep_what_the_scene_says() -> None:
    found = drawn([["A", "above", "B"], ["B", "right", "C"]], [])
    at = places(found)
    assert at["A"][0] == at["B"][0] and at["A"][1] > at["B"][1]  # type: ignore[operator]
    assert at["B"][1] == at["C"][1] and at["B"][0] > at["C"][0]  # type: ignore[operator]
    assert found["groups"] == [[0, 1, 2]]
    assert found["extent"] is False


def test_a_claim_that_repeats_an_amount_has_a_region() -> None:
    auditor = TraceAuditor("everyday", LIBRARY)
    text = "The cup is 3 m to the left of the jug."
    trace = make_record(
        Trace, {"id": "t", "scene": [text], "reasoning": [text], "conclusion": "The cup is there."}
    )
    ((region,), _) = picture(auditor.parser_for(trace).ontology, auditor.audited(trace))["regions"]
    assert (region["subject"], region["object"]) == (0, 1)
    assert "0" in region["claimed"]


def test_region_of_a_claim() -> None:
    # A is above B and B right of C: A lies to the upper right of C, and nowhere else.
    scene = [["A", "above", "B"], ["B", "right", "C"]]
    found = drawn(scene, [[["A", "upper_left", "C"]], [["C", "left", "D"]], [["A", "near", "C"]]])
    assert found["regions"] == [
        [{"subject": 0, "object": 2, "claimed": "100000000", "possible": "001000000"}],
        [{"subject": 2, "object": None, "claimed": "000100000", "possible": "111111111"}],
        [None],  # nearness is no direction
    ]
    # D is in no scene sentence, so it has no place.
    assert list(places(found)) == ["A", "B", "C"]


def test_region_where_the_scene_leaves_two_axes_open_to_one_side() -> None:
    # A above B, C left of A, so C is to the upper left of B; D lower left of C: any
    # height relative to B, but to its left.
    scene = [["A", "above", "B"], ["C", "left", "A"], ["D", "lower_left", "C"]]
    (region,) = drawn(scene, [[["D", "left", "B"]]])["regions"][0]
    assert region["possible"] == "100100100"


def test_half_plane_claims_a_column() -> None:
    found = drawn([["A", "left", "B"]], [[["A", "left", "B"]], [["A", "above", "B"]]], "half-plane")
    left, above = (regions[0] for regions in found["regions"])
    assert (left["claimed"], left["possible"]) == ("100100100", "100100100")
    assert above["claimed"] == "111000000"
    # Nothing is said of heights, though the claim asks about them.
    assert places(found)["A"][1] is None


def test_the_third_axis_is_named() -> None:
    found = drawn([["A", "behind", "B"]], [], "half-plane")
    depths = [thing["other"] for thing in found["things"]]
    assert all(text.startswith("z ") for text in depths)
    assert depths[0] != depths[1]


@pytest.mark.parametrize("relation", ["inside", "contains"])
def test_containment_nests(relation: str) -> None:
    inward = [["ring", "inside", "box"], ["box", "inside", "chest"], ["ring", "inside", "chest"]]
    scene = [[c, "contains", a] if relation == "contains" else [a, r, c] for a, r, c in inward]
    found = drawn(scene, [])
    names = [thing["name"] for thing in found["things"]]
    within = {
        thing["name"]: None if thing["in"] is None else names[thing["in"]]
        for thing in found["things"]
    }
    assert within == {"ring": "box", "box": "chest", "chest": None}
    assert len(found["groups"]) == 1


def test_extents_are_laid_out_one_within_the_other() -> None:
    scene = [["A", "left", "B"], ["c", "ntpp", "A"]]
    found = drawn(scene, [[["c", "left", "B"]], [["c", "ntpp", "A"]]], "spartun")
    at = places(found)
    assert found["extent"] is True
    assert at["A"][0][1] <= at["B"][0][0]
    for axis in (0, 1):
        assert at["A"][axis][0] < at["c"][axis][0] < at["c"][axis][1] < at["A"][axis][1]
    region = found["regions"][0][0]
    assert (region["claimed"], region["possible"]) == ("100100100", "100100100")
    # What lies in A overlaps it on both axes.
    (inside,) = found["regions"][1]
    assert (inside["claimed"], inside["possible"]) == ("000010000", "000010000")


def test_equal_parts_do_not_nest_in_each_other() -> None:
    found = drawn([["A", "part", "B"], ["B", "part", "A"]], [], "rcc8")
    assert [thing["in"] for thing in found["things"]] == [None, None]


def test_profile_without_coordinates() -> None:
    found = drawn([["A", "tpp", "B"]], [[["A", "ntpp", "B"]]], "rcc8")
    assert places(found) == {"A": (None, None), "B": (None, None)}
    assert found["regions"] == [[None]]


def test_things_apart_are_groups_apart() -> None:
    scene = [["A", "left", "B"], ["C", "above", "D"], ["E", "near", "F"], ["E", "near", "A"]]
    assert drawn(scene, [])["groups"] == [[0, 1], [2, 3], [4, 5]]


def test_contradictory_scene_has_no_layout() -> None:
    found = drawn([["A", "left", "B"], ["B", "left", "A"]], [[["A", "left", "B"]]])
    assert (found["things"], found["groups"], found["regions"]) == ([], [], [])


def test_claim_of_a_thing_to_itself_and_an_empty_scene() -> None:
    found = drawn([], [[["A", "left", "A"]]])
    assert (found["things"], found["regions"]) == ([], [[None]])


def test_latest_place_counts_where_scenes_change() -> None:
    found = drawn([["ball", "at", "hall"], ["ball", "at", "yard"]], [], "story")
    assert found["groups"] == [[0, 2], [1]]  # the hall is left alone
