"""Claims, whichever parser reads their sentences."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.readers import READERS, described, parsed

from symbouq.ontology.library import OntologyLibrary
from symbouq.reading.claims import RETRACTED, Reading, shifted
from symbouq.reading.described.reader import DescribedReader
from symbouq.reading.text import ASSERTED, Statement, triples
from symbouq.reading.transfer import transferred

SCENE = {
    "parsed": ["A is above B.", "B is left of C."],
    "described": ["A red circle is above a green triangle.", "A blue square is left of it."],
    "events": ["The cat is left of the dog."],
}
RESPONSES = {
    "parsed": [
        "Well, A is right of B. No wait, left.",
        "First. A is right of B, no wait, left of B.",
        "So A is left of B, so it is left of C.",
        "1. A is above B.\n2. **B is left of C**, so A is above B.",
    ],
    "described": [
        "Well, the red circle is below the green triangle. No wait, above.",
        "Yes. The red circle is below the green triangle, no wait, above it.",
        "So the red circle is above the green triangle, so it is above the blue square.",
    ],
    "events": [
        "Well, that is plain. So the cat is left of the dog.",
        "The cat is right of the dog. The cat is left of the dog, no wait, right of the dog.",
    ],
}


@pytest.mark.parametrize(
    ("name", "response"), [(name, text) for name, texts in RESPONSES.items() for text in texts]
)
def test_spans_are_places_in_the_claim(name: str, response: str) -> None:
    read = READERS[name]().read(SCENE[name], "", response=response)
    stated = [(claim.text, s.span) for claim in read.claims for s in claim.relations]
    assert stated
    for text, (start, end) in stated:
        assert 0 <= start < end <= len(text), (text, start, end)


@pytest.mark.parametrize("name", READERS)
def test_what_states_has_clauses_where_events_are_read(name: str) -> None:
    for response in RESPONSES[name]:
        read = READERS[name]().read(SCENE[name], "", response=response)
        for claim in read.claims:
            assert bool(claim.events) == (name == "events" and bool(claim.relations)), claim


def test_a_label_is_none_within_a_statement_about_others() -> None:
    question = "Where is the red circle relative to the green triangle?"
    answer = "The blue square is above the green triangle."
    read = described().read(SCENE["described"], question, [], answer)
    assert triples(read.claims[-1].relations) == (("blue square", "above", "green triangle"),)


def test_a_counted_answer_keeps_all_that_it_counts() -> None:
    answer = "Exactly one of A and D is left of C."
    (claim,) = parsed().read(SCENE["parsed"], "Where is A relative to C?", [], answer).claims
    assert (claim.stance, claim.count) == ("counted", (1, 1))
    assert {s.figure for s in claim.relations} == {"A", "D"}


def test_a_step_that_is_taken_back_states_nothing() -> None:
    steps = ["A is above B.", "That was wrong.", "A is below B. Scratch that."]
    read = parsed().read(SCENE["parsed"], "", steps, "")
    assert [claim.stance for claim in read.claims] == [RETRACTED, ASSERTED, RETRACTED, ASSERTED]
    assert not any(claim.relations for claim in read.claims)


def test_a_fault_in_a_correction_costs_that_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = DescribedReader.stated

    def stated(reader: DescribedReader, tokens: Any, *rest: Any, **named: Any) -> Any:
        if any(token.text == "zork" for token in tokens):
            raise KeyError("zork")
        return sound(reader, tokens, *rest, **named)

    monkeypatch.setattr(DescribedReader, "stated", stated)
    response = "The red circle is below the green triangle, no wait, zork above it. Good."
    read = described().read(SCENE["described"], "", response=response)
    (fault,) = read.faults
    assert "internal error (KeyError: 'zork')" in fault


def test_what_another_profile_lacks_is_missed_in_the_scene() -> None:
    read = described().read(["There is a red circle near a blue square."], "", [], "")
    assert read.scene
    assert read.complete
    moved = transferred(read, OntologyLibrary().ontology("rcc8"))
    assert (moved.scene, moved.complete) == ((), False)


def test_a_part_begins_at_its_own_place() -> None:
    statement = Statement("A", "above", "B", (10, 20))
    assert shifted([statement], 10)[0].span == (0, 10)
    assert shifted([statement], 15)[0].span == (0, 5)  # its subject stands in the part before
    assert Reading([statement]).claim("reasoning", "", 10).relations[0].span == (0, 10)
