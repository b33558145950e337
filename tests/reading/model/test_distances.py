"""Distances, by hand: a mill, an inn 3 km due north of it, a barn 4 km due east of the inn."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symbouq.auditing.auditor import TraceAuditor
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.measures import Shift
from symbouq.reading.model.distances import APART, located
from symbouq.reading.text import Statement
from symbouq.records import Reply, Trace, make_record

ONTOLOGY = OntologyLibrary().ontology("everyday")


def shift(axis: str, amount: str) -> Shift:
    value = amount.lstrip("<>=")
    return Shift(axis, Fraction(value), amount[: -len(value)] or "=")


def stated(figure: str, relation: str, ground: str, unit: str = "", **of: int | str) -> Statement:
    offset = tuple(shift(axis, str(amount)) for axis, amount in of.items())
    return Statement(figure, relation, ground, offset=offset, unit=unit)


def distance(figure: str, ground: str, amount: str, unit: str) -> Statement:
    return Statement(figure, APART, ground, offset=(shift("", amount),), unit=unit)


SCENE = [
    stated("inn", "n", "mill", "km", x=0, y=3),
    stated("barn", "e", "inn", "km", x=4, y=0),
    stated("pond", "left", "mill", "km", x=-1),
    stated("kiln", "w", "mill", "m", x=-2000, y=0),
    stated("shed", "level_with", "kiln"),
    stated("shed", "left", "kiln", "m", x=-500),
    stated("oak", "e", "barn", "km", x=">1", y=0),
]


@pytest.mark.parametrize(
    ("said", "offset"),
    [
        (("barn", "mill", "5", "km"), {"x": 4, "y": 3}),
        (("mill", "barn", "5", "km"), {"x": -4, "y": -3}),
        (("barn", "mill", "5000", "m"), {"x": 4000, "y": 3000}),
        (("barn", "mill", "6", "km"), {"x": 8, "y": 6}),
        (("barn", "mill", "<6", "km"), {"x": 4, "y": 3}),
        (("barn", "mill", "<5", "km"), {"x": 8, "y": 6}),
        (("barn", "mill", ">=5", "km"), {"x": 4, "y": 3}),
        (("inn", "mill", "3", "km"), {"x": 0, "y": 3}),
        (("kiln", "mill", "2", "km"), {"x": -2, "y": 0}),
        # The shed is level with the kiln, so with the mill.
        (("shed", "mill", "2500", "m"), {"x": -2500, "y": 0}),
        # The pond may be further north than the mill.
        (("pond", "mill", "1", "km"), None),
        (("oak", "inn", "5", "km"), None),
        (("tower", "mill", "5", "km"), None),
        (("barn", "mill", "5", "paces"), None),
    ],
)
def test_a_right_distance_is_the_offset_and_a_wrong_one_twice_the_offset(
    said: tuple[str, str, str, str], offset: dict[str, int] | None
) -> None:
    found = located(ONTOLOGY, SCENE, distance(*said))
    assert (found and {axis: value for axis, value, _ in found.offset}) == offset


def test_blocks_are_counted_along_one_street_only() -> None:
    scene = [
        stated("inn", "n", "mill", "blocks", x=0, y=3),
        stated("barn", "e", "inn", "blocks", x=4, y=0),
    ]
    assert located(ONTOLOGY, scene, distance("barn", "mill", "5", "blocks")) is None
    assert located(ONTOLOGY, scene, distance("inn", "mill", "3", "blocks")) is not None


def test_what_is_higher_is_further_than_it_is_on_the_map() -> None:
    scene = [*SCENE, stated("inn", "up_from", "mill", "m", h=200)]
    assert located(ONTOLOGY, scene, distance("inn", "mill", "3", "km")) is None


def test_claims_about_distances_are_decided_by_the_places() -> None:
    texts = ["The inn is 3 m due north of the mill.", "The barn is 4 m due east of the inn."]
    claims = ["The barn is 5 m from the mill.", "The barn is 6 m from the mill."]
    claims += ["The oak is 5 m from the mill.", "The oak and the inn are at a distance."]
    things = {"t1": "The inn", "t2": "the mill", "t3": "The barn", "t4": "The oak"}

    def entry(label: str, text: str, *said: tuple[str, str, str, str, str]) -> dict[str, object]:
        named = [{"id": i, "words": w} for i, w in things.items() if w.lower() in text.lower()]
        keys = ("words", "subject", "relation", "object", "amount")
        return {
            "sentence": label,
            "things": named,
            "relations": [dict(zip(keys, s, strict=True)) for s in said],
        }

    replies = [
        [
            entry("S1", texts[0], ("due north of", "t1", "n", "t2", "3 m")),
            entry("S2", texts[1], ("due east of", "t3", "e", "t1", "4 m")),
        ],
        [
            entry("C1", claims[0], ("from", "t3", "apart", "t2", "5 m")),
            entry("C2", claims[1], ("from", "t3", "apart", "t2", "6 m")),
            entry("C3", claims[2], ("from", "t4", "apart", "t2", "5 m")),
            entry("C4", claims[3], ("at a distance", "t4", "apart", "t1", "")),
        ],
    ]
    read = [[Reply.model_validate({"sentences": sentences})] for sentences in replies]
    given = {"model": "m", "prompt": "", "replies": [[r.model_dump() for r in rs] for rs in read]}
    row = {"id": "a", "scene": texts, "question": "", "reasoning": claims[:3]}
    row |= {"conclusion": claims[3], "readings": given}
    audit = TraceAuditor("everyday").audited(make_record(Trace, row))
    found = [(c["grounded_verdict"], c["reason"]) for c in audit["claims"]]
    assert found[:2] == [("entailed", ""), ("contradicted", "")]
    assert found[2:] == [("unknown", "in-part")] * 2
