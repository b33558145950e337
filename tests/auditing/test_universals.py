"""Statements about every thing, and what they deny."""

from __future__ import annotations

import pytest

from symbouq.auditing.auditor import decide
from symbouq.auditing.universals import instantiated
from symbouq.ontology.library import builtin
from symbouq.reading.text import ANYTHING, IN_PART, Claim, ParsedTrace, Statement

ONTOLOGY = builtin().ontology("everyday")
NOTHING_IN_BOX = Statement(ANYTHING, "not_inside", "box")


def trace(scene: list[Statement], *claims: Statement) -> ParsedTrace:
    numbered = tuple(enumerate(scene, start=1))
    return ParsedTrace(numbered, tuple(Claim("reasoning", "", (claim,)) for claim in claims))


def denied(parsed: ParsedTrace) -> set[str]:
    scene = instantiated(ONTOLOGY, parsed).scene
    return {s.figure for _, s in scene if (s.relation, s.ground) == ("not_inside", "box")}


def verdicts(parsed: ParsedTrace) -> list[str]:
    return [claim.grounded.value for claim in decide(ONTOLOGY, parsed).claims]


def test_a_trace_without_such_statements_is_unchanged() -> None:
    parsed = trace([Statement("pen", "inside", "box")], Statement("pen", "inside", "box"))
    assert instantiated(ONTOLOGY, parsed) is parsed


@pytest.mark.parametrize("every", [NOTHING_IN_BOX, Statement("box", "not_contains", ANYTHING)])
def test_what_nothing_is_in_holds_no_thing_of_scene_or_claims(every: Statement) -> None:
    scene = [Statement("cup", "left", "jar"), every]
    parsed = trace(scene, Statement("pen", "inside", "box"))
    assert denied(parsed) == {ANYTHING, "cup", "jar", "pen"}
    assert [n for n, _ in instantiated(ONTOLOGY, parsed).scene] == [1, 2, 2, 2, 2]
    assert verdicts(parsed) == ["contradicted"]


def test_people_and_backdrops_are_no_things() -> None:
    others = [Statement("Tom", "left", "nurse"), Statement("floor", "below", "my wall")]
    assert denied(trace([*others, NOTHING_IN_BOX])) == {ANYTHING}


def test_labels_are_things() -> None:
    assert denied(trace([Statement("A", "left", "B"), NOTHING_IN_BOX])) == {ANYTHING, "A", "B"}


def test_what_the_text_places_there_as_well_is_not_denied() -> None:
    scene = [
        Statement("ring", "on_top_of", "tray"),
        Statement("tray", "inside", "box"),
        Statement("box", "on_top_of", "desk"),
        Statement("pen", "on_top_of", "desk"),
        NOTHING_IN_BOX,
    ]
    assert denied(trace(scene)) == {ANYTHING, "pen"}


def test_a_claim_about_every_thing_follows_from_the_same_statement_only() -> None:
    stated = [Statement("pen", "inside", "tin"), NOTHING_IN_BOX]
    in_tin, in_jar = (Statement(ANYTHING, "not_inside", name) for name in ("tin", "jar"))
    parsed = trace(stated, NOTHING_IN_BOX, in_tin, in_jar)
    assert verdicts(parsed) == ["entailed", "contradicted", "unknown"]
    reasons = [claim.reason for claim in instantiated(ONTOLOGY, parsed).claims]
    assert reasons == ["", IN_PART, IN_PART]


def test_nothing_follows_from_a_relation_of_every_thing_that_is_no_denial() -> None:
    scene = [Statement(ANYTHING, "inside", "box"), Statement("cup", "left", "jar")]
    parsed = trace(scene, Statement("cup", "inside", "box"))
    assert verdicts(parsed) == ["unknown"]
