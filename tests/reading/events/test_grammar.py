"""Sentences about events, parsed into clauses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symbouq.ontology.library import OntologyLibrary
from symbouq.reading.clauses import Clause
from symbouq.reading.events.grammar import Sentence
from symbouq.reading.events.words import EventLexicon

WORDS = EventLexicon(OntologyLibrary().ontology("event"))


def parsed(text: str) -> tuple[Clause, ...]:
    return Sentence(WORDS, WORDS.tokens(text)).clauses()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann walked into the barn.", Clause("Ann", "walk", goes=(("into", "barn"),))),
        (
            "Ann is walking from Oslo to the old barn.",
            Clause(
                "Ann",
                "walk",
                tense="now",
                aspect="progressive",
                goes=(("from", "Oslo"), ("to", "old barn")),
            ),
        ),
        (
            "Ann has put the jug in the tin.",
            Clause(
                "Ann",
                "put",
                tense="now",
                aspect="perfect",
                patient="jug",
                located=(("inside", "tin"),),
            ),
        ),
        (
            "Ann did not throw the jug.",
            Clause("Ann", "throw", negative=True, patient="jug"),
        ),
        (
            "The jug was thrown over the wall by Ann.",
            Clause("Ann", "throw", patient="jug", goes=(("over", "wall"),)),
        ),
        (
            "Ann crossed the road at least twice.",
            Clause("Ann", "cross", patient="road", often=2),
        ),
        (
            "Ann saw Bob from behind the oak.",
            Clause("Ann", "see", patient="Bob", started=(("aft", "oak"),)),
        ),
        (
            "Ann saw Bob between the oak and the barn.",
            Clause("Ann", "see", patient="Bob", within=(("oak", "barn"),)),
        ),
        (
            "Ann's jug is not in the tin.",
            Clause(tense="now", negative=True, states=(("rel", "inside", "ann's jug", "tin"),)),
        ),
        (
            "The oak is between Ann and the barn.",
            Clause(tense="now", states=(("amid", "oak", "Ann", "barn"),)),
        ),
        (
            "The oak is to the left of the barn as seen from the well.",
            Clause(tense="now", states=(("seen", "left_of", "oak", "barn", "well"),)),
        ),
        (
            "The oak is farther from the barn than from the well.",
            Clause(tense="now", states=(("nearer", "oak", "well", "oak", "barn"),)),
        ),
        (
            "Ann and Bob were on opposite sides of the wall.",
            Clause(states=(("divided", "Ann", "Bob", "wall"),)),
        ),
        ("There was a cat in the barn.", Clause(states=(("rel", "inside", "cat", "barn"),))),
        ("Ann merrily went to Oslo.", Clause("Ann", "go", goes=(("to", "Oslo"),))),
        ("Ann juggled.", Clause("Ann", "juggled", strange=True)),
        ("Ann wanted to be in the barn.", Clause("Ann", "want")),
        ("Ann went to Oslo to see Bob.", Clause("Ann", "go", goes=(("to", "Oslo"),))),
    ],
)
def test_one_clause(text: str, expected: Clause) -> None:
    assert parsed(text) == (expected,)


def test_a_verb_that_is_not_known_is_taken_for_one_that_is() -> None:
    tokens = WORDS.tokens("Ann moseyed past the hill.")
    clause = Clause("Ann", "moseyed", strange=True, goes=(("past", "hill"),))
    assert Sentence(WORDS, tokens).clauses() == (clause,)
    taken = replace(clause, verb="go", strange=False)
    assert Sentence(WORDS, tokens, "go").clauses() == (taken,)


def test_nouns_may_look_like_verbs_and_prepositions_belong_to_the_verb() -> None:
    # "watch" is a verb elsewhere, "the tin can" needs two words.
    (clause,) = parsed("The child threw the watch into the tin can.")
    assert (clause.patient, clause.goes) == ("watch", (("into", "tin can"),))


def test_a_modified_subject_says_two_things() -> None:
    coat, met = parsed("The girl in the coat met Bob.")
    assert coat.states == (("rel", "inside", "girl", "coat"),)
    assert (met.agent, met.patient) == ("girl", "Bob")
    relative, met = parsed("The girl who is in the barn met Bob.")
    assert relative.states == (("rel", "inside", "girl", "barn"),)


def test_coordination() -> None:
    went, came = parsed("Ann walked into the barn, and came back at once.")
    assert (went.back, came.back, came.agent) == (False, True, "Ann")
    first, second = parsed("Ann and Bob walked away.")
    assert (first.agent, second.agent) == ("Ann", "Bob")
    (met,) = parsed("Ann and Bob met.")
    assert (met.agent, met.patient) == ("Ann", "Bob")


def test_what_is_perceived_happens() -> None:
    saw, entered = parsed("Ann saw Bob enter the barn.")
    assert (saw.patient, entered.agent, entered.verb) == ("Bob", "Bob", "enter")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ann.",
        "Ann must be in the barn.",
        "Ann nearly fell into the well.",
        "In the barn.",
        "walked into the barn",
        "Ann is.",
    ],
)
def test_what_is_no_sentence_says_nothing(text: str) -> None:
    assert parsed(text) == ()
