"""What sentences say, construction by construction, over their words."""

from __future__ import annotations

import pytest

from symbouq.ontology.library import builtin
from symbouq.reading.syntax.extraction import CONTEXT
from symbouq.reading.syntax.pipeline import pipeline
from symbouq.reading.syntax.sentences import Sentence, Sentences

SENTENCES = Sentences(builtin().ontology("half-plane"), pipeline())


def read(text: str) -> Sentence:
    (sentence,) = SENTENCES.read([text])[0]
    return sentence


def stated(text: str) -> list[tuple[str, ...]]:
    """Placed thing, relation, landmark, and `not` or a force where there is one."""
    sentence = read(text)

    def name(head: int) -> str:
        return "..." if head == CONTEXT else " ".join(sentence.named(head)[0]).lower()

    return [
        (name(s.placed), relation, name(s.landmark))
        + (("not",) if s.negative else ())
        + ((s.force,) if s.force != "asserted" else ())
        for s in sentence.says.statements
        if s.cost < 4
        for relation in s.relations
    ]


SAYS = {
    # formulas
    "So left(A, B).": [("a", "left", "b")],
    "We conclude that left(A, B).": [("a", "left", "b")],
    "Since left(A, B), A is above D.": [("a", "left", "b"), ("a", "above", "d")],
    "left(A, B): A is to the left of B.": [
        ("a", "left", "b", "doubted"),
        ("a", "left", "b", "supposed"),
    ],
    "left(A, B) is possible.": [("a", "left", "b", "doubted")],
    "left(A, B) or right(A, B).": [
        ("a", "left", "b", "doubted"),
        ("a", "right", "b", "doubted"),
    ],
    # verbs and what belongs to them
    "The field extends into the wood.": [("field", "overlap", "wood")],
    "The field spills over into the wood.": [("field", "overlap", "wood")],
    "The field partly coincides with the wood.": [("field", "overlap", "wood")],
    "A hedge separates the field from the wood.": [("field", "disconnected", "wood")],
    "A hedge separates the field and the wood.": [("field", "disconnected", "wood")],
    "A hedge keeps the field from touching the wood.": [("field", "touching", "wood", "not")],
    "The card under the king is the ten.": [("ten", "below", "king")],
    # time is no condition
    "The mug was above the tray when I came.": [("mug", "above", "tray")],
    "As long as the mug is above the tray, all is well.": [("mug", "above", "tray", "supposed")],
    "The mug is above the tray, as is the jug.": [
        ("mug", "above", "tray"),
        ("jug", "above", "tray"),
    ],
    # order of words
    "The mug is above the tray.": [("mug", "above", "tray")],
    "Above the tray stands the mug.": [("mug", "above", "tray")],
    "There is a mug above the tray.": [("mug", "above", "tray")],
    "The mug standing above the tray is red.": [("mug", "above", "tray")],
    "The mug, which stands above the tray, is red.": [("mug", "above", "tray")],
    "What stands above the tray is the mug.": [("mug", "above", "tray")],
    "The thing above the tray is the mug.": [("mug", "above", "tray")],
    "It is the mug that stands above the tray.": [("mug", "above", "tray")],
    "You can see the mug above the tray.": [("mug", "above", "tray")],
    "Somebody has put the mug above the tray.": [("mug", "above", "tray")],
    # sides
    "The tray has the mug on its left.": [("mug", "left", "its")],
    "The tray's left neighbour is the mug.": [("mug", "left", "tray")],
    "With the mug on its left, the tray looks small.": [("mug", "left", "its")],
    "Seen from the tray, the mug is on the left.": [("mug", "left", "tray")],
    # verbs
    "The crate contains the mug.": [("crate", "contains", "mug")],
    "The crate is touched by the mug.": [("mug", "touching", "crate")],
    "The mug and the tray touch each other.": [("mug", "touching", "tray")],
    "P shares a border with Q.": [("p", "touching", "q")],
    "There is no contact between P and Q.": [("p", "disconnected", "q")],
    # several things
    "A and B are above C.": [("a", "above", "c"), ("b", "above", "c")],
    "A is above B and C.": [("a", "above", "b"), ("a", "above", "c")],
    "A is left of B and B is above C.": [("a", "left", "b"), ("b", "above", "c")],
    "A is above B and C is below D.": [("a", "above", "b"), ("c", "below", "d")],
    "From left to right: A, B, C.": [("a", "left", "b"), ("b", "left", "c")],
    # ways
    "Walk east from A and you come to B.": [("b", "right", "a")],
    "Going up from A leads to B.": [("b", "above", "a")],
    # denied
    "A is not above B.": [("a", "above", "b", "not")],
    "You will not find the mug inside the crate.": [("mug", "inside", "crate", "not")],
    "The crate holds no mug.": [("crate", "contains", "mug", "not")],
    "Neither A nor B is above C.": [("a", "above", "c", "not"), ("b", "above", "c", "not")],
    "A is outside B rather than inside it.": [
        ("a", "inside", "it", "not"),
        ("a", "not_inside", "b"),
    ],
    "Nobody put the mug inside the crate.": [("mug", "inside", "crate", "not")],
    # neither asserted nor denied
    "If A is above B, then C is below D.": [
        ("a", "above", "b", "supposed"),
        ("c", "below", "d", "supposed"),
    ],
    "Is A above B?": [("a", "above", "b", "asked")],
    "A could be above B.": [("a", "above", "b", "possible")],
    "A must be above B.": [("a", "above", "b", "necessary")],
    "I think that A is above B.": [("a", "above", "b", "doubted")],
    # nothing
    "The mug is red.": [],
    "A is in line with B.": [],
}


@pytest.mark.parametrize("text", SAYS)
def test_what_a_sentence_says(text: str) -> None:
    assert sorted(stated(text)) == sorted(SAYS[text])


def test_a_part_of_a_thing_overlaps_what_it_is_in() -> None:
    assert stated("Part of the pond is in the park.") == [("pond", "overlap", "park")]
    assert stated("No part of the pond is in the park.") == [("pond", "inside", "park", "not")]


def test_what_the_text_before_says_is_left_open() -> None:
    assert stated("To the left of the tray.") == [("...", "left", "tray")]


def test_data_are_no_code() -> None:
    """Names are given to the rules as numbers, and words as quoted strings."""
    assert stated('The "a(b)" is above the tray.')[0][1:] == ("above", "tray")
    assert read("The mug\\ is above :- the tray.").text


@pytest.mark.parametrize("text", ["", "...", "\0", "%*", "#include", '"', "\\"])
def test_any_text_is_taken(text: str) -> None:
    SENTENCES.read([text])
