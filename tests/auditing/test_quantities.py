"""Amounts in audits of relations, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.messages import relation_text
from symbouq.errors import RecordError
from symbouq.records import Trace, make_record
from symbouq.report.layout import picture


def relation(
    subject: str, name: str, other: str, unit: str = "", **offset: float
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
