"""Amounts in audits of relations, by hand."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.messages import relation_text
from symbouq.errors import RecordError
from symbouq.records import Trace, make_record
from symbouq.report.layout import picture


def relation(
    subject: str, name: str, other: str, unit: str = "", **offset: float | dict[str, float]
) -> dict[str, Any]:
    return {
        "subject": subject,
        "relation": name,
        "object": other,
        **({"offset": offset} if offset else {}),
        **({"unit": unit} if unit else {}),
    }


def verdicts(
    scene: list[dict[str, Any]], *claims: list[dict[str, Any]], profile: str = "everyday"
) -> list[tuple[str, str]]:
    row = {
        "id": "row",
        "scene_relations": scene,
        "claims": [{"relations": claim} for claim in claims],
    }
    audit = TraceAuditor(profile).audited(make_record(Trace, row))
    return [(claim["grounded_verdict"], claim["reason"]) for claim in audit["claims"]]


SCENE = [relation("a", "left", "b", "m", x=-3), relation("c", "left", "b", "cm", x=-100)]


def test_units_convert_and_amounts_add_up() -> None:
    found = verdicts(
        SCENE,
        [relation("c", "right", "a", "m", x=2)],
        [relation("c", "right", "a", "mm", x=2001)],
        [relation("a", "left", "c")],
        [relation("a", "above", "c")],
    )
    assert [verdict for verdict, _ in found] == ["entailed", "contradicted", "entailed", "unknown"]


@pytest.mark.parametrize(
    ("scene", "claim", "verdict"),
    [
        (-3, {"<": -2}, "entailed"),
        (-3, {"<": -3}, "contradicted"),
        (-3, {"<=": -3}, "entailed"),
        (-3, {">": -2}, "contradicted"),
        ({"<": -5}, -3, "contradicted"),
        ({"<": -5}, {"<": -4}, "entailed"),
        ({"<": -5}, {"<": -6}, "unknown"),
        ({"<": -5}, {">": -5}, "contradicted"),
        ({">=": -5}, {">": -5}, "unknown"),
        ({">=": -4, "<=": -2}, {"<": -4}, "contradicted"),
        ({">=": -4, "<=": -2}, {">": -5, "<": -1}, "entailed"),
    ],
)
def test_bounds_are_bounds(
    scene: float | dict[str, float], claim: float | dict[str, float], verdict: str
) -> None:
    found = verdicts(
        [relation("a", "left", "b", "m", x=scene)], [relation("a", "left", "b", "m", x=claim)]
    )
    assert found[0][0] == verdict
    turned = {"x": _turned(claim)}
    found = verdicts(
        [relation("a", "left", "b", "m", x=scene)], [relation("b", "right", "a", "m", **turned)]
    )
    assert found[0][0] == verdict


def _turned(told: float | dict[str, float]) -> float | dict[str, float]:
    if not isinstance(told, dict):
        return -told
    return {_CONVERSES[sense]: -value for sense, value in told.items()}


_CONVERSES = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

Constraint = tuple[str, str, float, bool]
"""u, v, value, strict: u - v <= value, or less."""


def _constraints(told: dict[str, Any]) -> list[Constraint]:
    """What a relation says of the places of its things."""
    u, v = told["subject"], told["object"]
    found = [(u, v, 0.0, True) if told["relation"] == "left" else (v, u, 0.0, True)]
    for sense, value in told["offset"]["x"].items():
        strict = len(sense) == 1
        found.append((u, v, value, strict) if "<" in sense else (v, u, -value, strict))
    return found


def _feasible(constraints: list[Constraint]) -> bool:
    """Whether places satisfy constraints: no way round comes to less than nothing."""
    least = {(u, v): (0.0, 0) for u, v, *_ in constraints for u, v in ((u, u), (v, v))}
    for u, v, value, strict in constraints:
        least[u, v] = min(least.get((u, v), (math.inf, 0)), (value, -strict))
    names = sorted({name for pair in least for name in pair})
    for by, u, v in itertools.product(names, names, names):
        if (u, by) in least and (by, v) in least:
            first, then = least[u, by], least[by, v]
            way = first[0] + then[0], min(first[1], then[1])
            least[u, v] = min(least.get((u, v), way), way)
    return all(least[name, name] >= (0.0, 0) for name in names)


_BOUNDED = st.builds(
    lambda pair, name, bounds: relation(*pair[:1], name, *pair[1:], "m", x=bounds),
    st.permutations("abcd").map(lambda names: names[:2]),
    st.sampled_from(["left", "right"]),
    st.dictionaries(
        st.sampled_from(sorted(_CONVERSES)), st.integers(-4, 4), min_size=1, max_size=2
    ),
)


@given(st.lists(_BOUNDED, min_size=1, max_size=6), _BOUNDED)
def test_bounds_agree_with_shortest_paths(
    scene: list[dict[str, Any]], claim: dict[str, Any]
) -> None:
    told = [constraint for one in scene for constraint in _constraints(one)]
    assume(_feasible(told))
    claimed = _constraints(claim)
    denials = [(v, u, -value, not strict) for u, v, value, strict in claimed]
    expected = "unknown"
    if not _feasible(told + claimed):
        expected = "contradicted"
    elif not any(_feasible([*told, denial]) for denial in denials):
        expected = "entailed"
    found = verdicts(scene, [claim])[0][0]
    # Things have extents, of which bounds of their ends tell nothing: some is left open.
    assert found in (expected, "unknown")
    if {claim["subject"], claim["object"]} == {scene[0]["subject"], scene[0]["object"]}:
        assert found == expected or len(scene) > 1


def test_amounts_of_another_kind_are_not_judged() -> None:
    assert verdicts(SCENE, [relation("c", "right", "a", "cells", x=2)]) == [("unknown", "in-part")]


def test_profiles_without_units_read_past_amounts_of_the_scene() -> None:
    found = verdicts(
        SCENE[:1],
        [relation("a", "left", "b")],
        [relation("a", "left", "b", "m", x=-3)],
        profile="half-plane",
    )
    assert found == [("entailed", ""), ("unknown", "in-part")]


def test_numbers_without_a_unit_are_in_that_of_the_text() -> None:
    scene = [relation("a", "left", "b", x=-3), relation("c", "left", "b", "cells", x=-1)]
    claim = [relation("a", "left", "c", "cells", x=-2)]
    assert verdicts(scene, claim) == [("entailed", "")]


def test_an_offset_along_no_axis_is_an_error() -> None:
    with pytest.raises(RecordError, match="offset"):
        verdicts([relation("a", "left", "b", "m", q=1)], [relation("a", "left", "b")])


@pytest.mark.parametrize(
    ("least", "most", "expected"),
    [
        (2, 2, "entailed"),
        (0, 0, "contradicted"),
        (3, 3, "contradicted"),
        (1, 3, "entailed"),
        (0, 1, "contradicted"),
    ],
)
def test_how_many_of_some_relations_hold(least: int, most: int, expected: str) -> None:
    row = {
        "id": "row",
        "scene_relations": [["a", "left", "b"], ["b", "left", "c"]],
        "claims": [
            {
                "stance": "counted",
                "least": least,
                "most": most,
                "relations": [["a", "left", "c"], ["b", "left", "c"], ["c", "left", "a"]],
            }
        ],
    }
    (claim,) = TraceAuditor("everyday").audited(make_record(Trace, row))["claims"]
    assert claim["verdict"] == expected


def test_lines_say_by_how_much() -> None:
    assert relation_text(relation("a", "left", "b", "m", x=-3)) == "a left b by 3 m"
    assert relation_text(relation("a", "left", "b")) == "a left b"
    bounds = relation("a", "left", "b", "m", x={">=": -4, "<": -2})
    assert relation_text(bounds) == "a left b by more than 2 and at most 4 m"


def test_pictures_keep_to_the_amounts() -> None:
    row = {
        "id": "row",
        "scene_relations": [
            relation("a", "left", "b", "m", x=-3),
            relation("c", "left", "b", "m", x=-1),
        ],
        "claims": [{"relations": [["a", "left", "c"]]}],
    }
    auditor = TraceAuditor("everyday")
    trace = make_record(Trace, row)
    ontology = auditor.parser_for(trace).ontology
    things = {t["name"]: t["x"] for t in picture(ontology, auditor.audited(trace))["things"]}
    (a, _), (b, _), (c, _) = (things[name] for name in "abc")
    assert b - a == 3 * (b - c) > 0
