"""Forms of verbs, and the words of a profile that reads events."""

from __future__ import annotations

import pytest

from symbouq.ontology.library import OntologyLibrary
from symbouq.reading.events.words import EventLexicon, inflections

WORDS = EventLexicon(OntologyLibrary().ontology("event"))


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("walk", ("walks", "walked", "walked", "walking")),
        ("jog", ("jogs", "jogged", "jogged", "jogging")),
        ("hurry", ("hurries", "hurried", "hurried", "hurrying")),
        ("play", ("plays", "played", "played", "playing")),
        ("push", ("pushes", "pushed", "pushed", "pushing")),
        ("chase", ("chases", "chased", "chased", "chasing")),
    ],
)
def test_regular_forms(base: str, expected: tuple[str, ...]) -> None:
    forms = inflections(base, {})
    assert (forms["present"], forms["past"], forms["participle"], forms["gerund"]) == expected


def test_irregular_forms_replace_the_regular_ones() -> None:
    forms = inflections("see", {"past": "saw", "participle": "seen"})
    assert forms == {
        "base": "see",
        "present": "sees",
        "past": "saw",
        "participle": "seen",
        "gerund": "seeing",
    }


def test_one_form_may_be_of_several_verbs() -> None:
    assert {verb for verb, _ in WORDS.forms["left"]} == {"leave", "leave_behind"}


def test_what_goes_is_told_by_the_manner() -> None:
    assert {"go", "crawl", "throw", "put", "enter"} <= WORDS.movers
    assert not {"see", "meet", "want", "sit"} & WORDS.movers


def test_a_preposition_may_be_a_relation_and_a_way() -> None:
    (token,) = WORDS.tokens("over")
    assert token.entry is not None
    assert (token.kind, token.entry.relation, WORDS.ways["over"]) == ("relation", "higher", "over")


def test_of_verbs_that_mean_the_same_one_stands_for_all() -> None:
    for alike in (("chase", "run", "walk"), ("bury", "hide", "put"), ("film", "hear", "see")):
        assert [verb for verb in alike if verb in WORDS.meanings] == [alike[0]]
    # To go is no manner of anything, and to go back is more than to go.
    assert {"go", "return"} <= set(WORDS.meanings)
