"""Sentences as clauses: every construction, in the short forms of `reading`."""

from __future__ import annotations

import pytest
from helpers.described_reading import SPARTQA, SPARTUN, parse, phrase, short

from symbouq.reading.described.syntax import Clause, Grammar

SENTENCES = {
    "In block K, the star is below a square.": ["the star | ntpp block K; below a square"],
    "A square is left of a blue disk.": ["a square | left a blue disk"],
    "Another square is above the other circle.": ["another square | above the other circle"],
    # Either order
    "A square is above a circle.": ["a square | above a circle"],
    "Below the square is a circle.": ["a circle | below the square"],
    "Below the square there is a circle.": ["a circle | below the square"],
    "Above and touching the square there is this circle.": [
        "this circle | above the square; ec the square"
    ],
    "Far above the circle is a square.": ["a square | far the circle; above the circle"],
    "Inside block K there are two squares, one circle and a star.": [
        "a 2 squares & a 1 circle & a star | ntpp block K"
    ],
    "There is a square.": ["a square |"],
    "There is a square above a circle.": ["a square | above a circle"],
    # Coordination
    "A square and a circle are above a star.": ["a square & a circle | above a star"],
    "A square, a circle and a star are above a diamond.": [
        "a square & a circle & a star | above a diamond"
    ],
    "A square is above a circle and a star.": ["a square | above a circle & a star"],
    "A square is above, to the left of and far from a star.": [
        "a square | above a star; left a star; far a star"
    ],
    "A square is above a star and touches a circle.": ["a square | above a star; ec a circle"],
    "A square is above a star, and a circle is below a diamond.": [
        "a square | above a star",
        "a circle | below a diamond",
    ],
    "A square is above a star and a circle is below a diamond.": [
        "a square | above a star",
        "a circle | below a diamond",
    ],
    "The square is above the circle and it is left of the star.": [
        "the square | above the circle",
        "it | left the star",
    ],
    # A ground that comes with a later clause
    "A square is covered by and a circle is in block K.": [
        "a square | tpp block K",
        "a circle | ntpp block K",
    ],
    "A square touches, a circle is above and a star is left of a diamond.": [
        "a square | ec a diamond",
        "a circle | above a diamond",
        "a star | left a diamond",
    ],
    # Relative clauses, whole and reduced
    "The square which is above the circle is left of the star.": [
        "the square (above the circle) | left the star"
    ],
    "The square that is above the circle and left of the star touches block K.": [
        "the square (above the circle; left the star) | ec block K"
    ],
    "The square is above the circle, which is above the star, which is above the diamond.": [
        "the square | above the circle (above the star (above the diamond))"
    ],
    "The square which is not above the circle touches the star.": [
        "the square (not above the circle) | ec the star"
    ],
    "The square in block K is above the circle in block L.": [
        "the square (ntpp block K) | above the circle (ntpp block L)"
    ],
    "The square touching the circle is above the star.": [
        "the square (ec the circle) | above the star"
    ],
    "Block K has a square, which touches a star, and a circle.": [
        "block K | ntppi a square (ec a star) & a circle"
    ],
    "There is a block with a square in it.": ["a block (ntppi a square (ntpp it)) |"],
    "Block K with a square is above block L.": ["block K (ntppi a square) | above block L"],
    "The square in block K, which is above the circle, is left of the star.": [
        "the square (ntpp block K; above the circle) | left the star"
    ],
    "The square located in block K is above the star.": [
        "the square (ntpp block K) | above the star"
    ],
    "Block K, which has a square, a circle, and a star, is above block L.": [
        "block K (ntppi a square & a circle & a star) | above block L"
    ],
    # Edges and sides that need no ground
    "Block K has a square that touches the bottom edge.": [
        "block K | ntppi a square (at_bottom_edge)"
    ],
    "Block K has a square on the bottom and a circle on top of it.": [
        "block K | ntppi a square (in_bottom) & a circle (on_top_of it)"
    ],
    "Block K has a square touching the top edge and a star above a circle.": [
        "block K | ntppi a square (at_top_edge) & a star (above a circle)"
    ],
    "Block K has a square and a star to its right.": [
        "block K | ntppi a square & a star (right it)"
    ],
    "The square is far to the left within block K.": ["the square | ntpp block K"],
    "The square is floating above the circle.": ["the square | above the circle"],
    # Brackets
    "The square (above the circle) is left of the star.": [
        "the square (above the circle) | left the star"
    ],
    "The square is at 6:00 (below) of the circle.": ["the square | below the circle"],
    "The square is in the same block (K) as the circle.": ["the square | ntpp the block K"],
    "The square (it is in block K) is above the circle.": [
        "the square | above the circle",
        "it | ntpp block K",
    ],
    # What is the same
    "Block K is the only block that has a square.": ["block K | ntppi a square"],
    "The thing above the circle is the red square.": ["the red square | above the circle"],
    "The relationship between the square and the circle is near.": ["the square | near the circle"],
    # Contrast
    "Block K has a square, but block L has a circle.": [
        "block K | ntppi a square",
        "block L | ntppi a circle",
    ],
    # Who observes
    "In block K, I found a square.": ["a square | ntpp block K"],
    "The text states that the square is above the circle.": ["the square | above the circle"],
    "It is clear that the square is above the circle.": ["the square | above the circle"],
    "Block K, which mentions a square, is above block L.": [
        "block K (ntppi a square) | above block L"
    ],
    "A square, which is in block K, is above the star.": [
        "a square (ntpp block K) | above the star"
    ],
    # Names
    "Three blocks called K, L and M exist.": ["a 3 blocks called K L M |"],
    "There are three blocks, K, L and M.": ["a 3 blocks called K L M |"],
    "We call them K and L.": ["call K L"],
    "A box named one contains a star.": ["a box called one | ntppi a star"],
    "A block called A contains a star.": ["a block called A | ntppi a star"],
    "Blocks K and L are above block M.": ["blocks K L | above block M"],
    # Numbers
    "Square number two is above square #1.": ["square #2 | above square #1"],
    "The second square is above the third circle.": ["the square #2 | above the circle #3"],
    "Two squares are above 3 circles.": ["a 2 squares | above a 3 circles"],
    # Determiners
    "One of the squares is above a circle.": ["one of the 1 square | above a circle"],
    "Two of the squares are above a circle.": ["one of the 2 squares | above a circle"],
    "Two other squares are above the circle.": ["another 2 squares | above the circle"],
    "All of the squares are above both circles.": ["all squares | above both circles"],
    "Each square is above any of the circles.": ["all square | above any circles"],
    "No square is above a circle.": ["no square | above a circle"],
    "These squares are above this circle.": ["this squares | above this circle"],
    "It is above them.": ["it | above it"],
    "The squares touch each other.": ["the squares | ec each other"],
    # Attributes
    "The medium-sized grey square is above a big, red circle.": [
        "the medium grey square | above a big red circle"
    ],
    "The yellow one is above the circle.": ["the yellow | above the circle"],
    "The square is big and yellow.": ["the square | big yellow"],
    "The square in block K is big.": ["the square (ntpp block K) | big"],
    "The square is not big.": ["the square | not big"],
    # Words that the lexicon does not have
    "The desk lamp is above the square.": ["the desk lamp | above the square"],
    # Directions
    "The square is to the upper left of the circle.": ["the square | upper_left the circle"],
    "Block K is at 3:00 position of block L.": ["block K | right block L"],
    "Block K is at 12 o'clock position relative to block L.": ["block K | above block L"],
    "Block K is at 7 o'clock of block L.": ["block K | lower_left block L"],
    # Denied
    "The square is not above the circle.": ["the square | not above the circle"],
    # Misspelled
    "A smal blakc sqaure is above a traingle.": ["a small black square | above a triangle"],
    "hte square is above a circel.": ["the square | above a circle"],
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_sentence(sentence: str) -> None:
    found = parse(sentence)
    assert [short(clause) for clause in found.clauses] == SENTENCES[sentence]
    assert found.skipped == 0


MISSED = {
    "To the left of the square and above the star is a circle.": (
        ["a circle | left the square; above the star"],
        "of two places in front, each with a ground, only the last is read",
    ),
    "Above the square, a circle is found.": (
        ["a circle | above the square"],
        "a place in front is not read where the verb comes last",
    ),
    "The square has a circle on its left.": (
        ["a circle | left the square"],
        '"has" with a side is read as containing',
    ),
    "The block that the star is in touches a circle.": (
        ["the block (ntppi the star) | ec a circle"],
        "a relative clause about the object is read as the main clause",
    ),
    "Block K coincides with block L.": (
        ["block K | same_position block L"],
        '"with" after a relation is read as the opening of a small clause',
    ),
}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        pytest.param(s, e, marks=pytest.mark.xfail(reason=why, strict=True))
        for s, (e, why) in MISSED.items()
    ],
)
def test_sentence_that_is_not_read_yet(sentence: str, expected: list[str]) -> None:
    assert [short(clause) for clause in parse(sentence).clauses] == expected


def test_what_is_not_understood_is_counted() -> None:
    assert parse("The square wobbles above the circle.").skipped == 1
    assert parse("Wobbly zigzags abound.").skipped == 3
    assert parse("").clauses == ()


def test_known_names_stand_for_things() -> None:
    assert [short(c) for c in parse("kim is above the square.", "Kim").clauses] == [
        "kim | above the square"
    ]
    assert [short(c) for c in parse("one contains a star.", "one").clauses] == [
        "one | ntppi a star"
    ]


def test_positions_count_the_tokens_that_say_something() -> None:
    found = parse("Finally, a red square is above a circle.")
    (clause,) = found.clauses
    assert isinstance(clause, Clause)
    words = [token.text for token in found.tokens]
    (subject,), (predicate,) = clause.subjects, clause.predicates
    assert words[subject.start : subject.end] == ["a", "red", "square"]
    assert words[predicate.start : predicate.end] == ["above", "a", "circle"]
    assert words[clause.start : clause.end] == ["a", "red", "square", "is", "above", "a", "circle"]
    assert subject.attributes == (("colour", "red"),)


def test_phrases_are_those_of_the_profile() -> None:
    text = "The star is in block K."
    assert [short(c) for c in parse(text).clauses] == ["the star | ntpp block K"]
    assert [short(c) for c in parse(text, reader=SPARTQA).clauses] == ["the star | inside block K"]


def test_bad_english_goes_after_good() -> None:
    (clause,) = parse("There is a square is below the circle.").clauses
    assert isinstance(clause, Clause)
    assert (short(clause), clause.strained) == ("a square | below the circle", True)
    (clause,) = parse("There is a square below the circle.").clauses
    assert isinstance(clause, Clause)
    assert not clause.strained


def test_noun_phrases_of_a_heading() -> None:
    grammar = Grammar(SPARTUN.ontology)
    tokens = SPARTUN.lexicon.tokens("Block K and the two red squares:")
    assert list(map(phrase, grammar.phrases(tokens))) == ["block K", "the 2 red squares"]
