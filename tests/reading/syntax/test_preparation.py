"""What the parser is shown: labels as names, expressions of relations as one word each."""

from __future__ import annotations

import pytest

from symbouq.ontology.library import builtin
from symbouq.reading.syntax.pipeline import pipeline
from symbouq.reading.syntax.preparation import Piece, Preparation, Word

ONTOLOGY = builtin().ontology("half-plane")
TOKENIZER = pipeline().nlp.tokenizer
PREPARATION = Preparation(ONTOLOGY, lambda text: [t.text.lower() for t in TOKENIZER(text)])


def prepared(text: str) -> list[Word]:
    return PREPARATION.words([Piece(token.text, token.idx) for token in TOKENIZER(text)])


def expressions(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(w.text, w.category, w.relations) for w in prepared(text) if w.category]


def test_a_measure_may_end_a_text() -> None:
    assert expressions("A touches B at a point") == []


def labels(text: str) -> list[str]:
    return [word.text for word in prepared(text) if word.label]


COMPOUNDS = {
    "A is above B.": [("above", "preposition", ("above",))],
    "A is to the left of B.": [("to the left of", "preposition", ("left",))],
    "A is above and to the left of B.": [
        ("above and to the left of", "preposition", ("upper_left",))
    ],
    "A is at the bottom right corner of B.": [
        ("at the bottom right corner of", "preposition", ("lower_right",))
    ],
    "A is two steps up and one step right of B.": [
        ("two steps up and one step right of", "preposition", ("upper_right",))
    ],
    "A is above, not below, B.": [("above , not below", "preposition", ("above",))],
    "A is left or right of B.": [("left or right of", "preposition", ())],
    "A is right above B.": [("right above", "preposition", ("above",))],
    "B has A on its left.": [("left", "side", ("left",))],
    "A is in the upper left.": [("upper left", "side", ("upper_left",))],
    "A is at 3 o'clock from B.": [("at 3 o'clock from", "preposition", ("right",))],
    "A is at 7:00 from B.": [("at 7 : 00 from", "preposition", ("lower_left",))],
    "A is on a bearing of 045 degrees from B.": [
        ("on a bearing of 045 degrees from", "preposition", ("upper_right",))
    ],
    "A is at exactly the same spot as B.": [
        ("at exactly the same spot as", "preposition", ("same_position",))
    ],
    "A is a stone's throw from B.": [("a stone 's throw from", "preposition", ("near",))],
    "A is two days' drive away from B.": [("two days ' drive away from", "preposition", ("far",))],
    "A is at a great distance from B.": [("at a great distance from", "preposition", ("far",))],
    "A is within walking distance of B.": [
        ("within walking distance of", "preposition", ("near",))
    ],
    "A and B are twenty leagues apart.": [("twenty leagues apart", "mutual", ("far",))],
    "On the dial, A is at 3.": [("3", "side", ("right",))],
    "A is between 1 and 2 o'clock of B.": [
        ("between 1 and 2 o'clock of", "preposition", ("upper_right",))
    ],
    "A sits at the bottom, and above it B.": [
        ("bottom", "side", ("below",)),
        ("above", "preposition", ("above",)),
    ],
    "A is far left of B.": [("far left of", "preposition", ("left",))],
    "So above(A, B).": [("above", "term", ("above",))],
    "above^{-1}(A, B)": [("above", "term", ("below",))],
    "Thus A Left B.": [("Left", "term", ("left",))],
    "max(A, B)": [],
    "A takes up the room.": [],
    "A is in South Street.": [("in", "preposition", ("inside",))],
    "From left to right: A, B.": [("From left to right", "order", ("left",))],
    "Seen from A, B is on the left.": [
        ("Seen from", "reference", ()),
        ("left", "side", ("left",)),
    ],
}


@pytest.mark.parametrize("text", COMPOUNDS)
def test_expressions_are_one_word(text: str) -> None:
    assert expressions(text) == COMPOUNDS[text]


LABELS = {
    "A is above B.": ["A", "B"],
    "A large box is above B.": ["B"],
    "Box 14 touches box 3.": ["Box 14", "box 3"],
    "Tile X is above tile Y.": ["Tile X", "tile Y"],
    "Volume IV is left of unit R2.": ["Volume IV", "unit R2"],
    "A touches B.": ["A", "B"],
    "I see A.": ["A"],
    "**A** is above `B`.": ["A", "B"],
    "A is 3 metres above B.": ["A", "B"],
    "bed_room_1 is upper_left of hall-way-2.": ["bed_room_1", "hall-way-2"],
    "_A_ is above __B__.": ["A", "B"],
    "Gates B2, B4 and B6 are above desks 1 and 2.": [
        "Gate B2", "gate B4", "gate B6", "desk 1", "desk 2"
    ],
    "The wire touches X and Y.": ["X", "Y"],
    "A is 2 and B is 3 metres above C.": ["A", "B", "C"],
    "The Far Field is above Near Hill.": ["Far Field", "Near Hill"],
    "Far Field is above A.": ["Far Field", "A"],
    "Above A is the clock.": ["A"],
    "B is in the Left Corner of A.": ["B", "A"],
    "The star Vega is above A.": ["star Vega", "A"],
}  # fmt: skip


@pytest.mark.parametrize("text", LABELS)
def test_labels_are_one_word(text: str) -> None:
    assert labels(text) == LABELS[text]


def test_a_label_is_shown_as_the_same_name_throughout() -> None:
    shown = {word.text: word.shown for word in prepared("A is above B and B is above C.")}
    assert len({shown["A"], shown["B"], shown["C"]}) == 3
    assert [w.shown for w in prepared("B is above B.") if w.label] == [shown["A"]] * 2


def test_nouns_that_open_labels_elsewhere_open_them_after_a_verb() -> None:
    tokens = [Piece(token.text, token.idx) for token in TOKENIZER("A abuts region B.")]
    assert [w.text for w in PREPARATION.words(tokens) if w.label] == ["A", "region B"]
    tokens = [Piece(token.text, token.idx) for token in TOKENIZER("The dog bit B.")]
    assert [w.text for w in PREPARATION.words(tokens) if w.label] == ["B"]


def test_offsets_are_those_of_the_text() -> None:
    text = "**A** is to the left of B."
    assert [text[w.start : w.end] for w in prepared(text)] == [
        "A", "is", "to the left of", "B", ".",
    ]  # fmt: skip


SHOWN_WITHOUT = {
    "It is the heron, and not the stork, that stands there.": "It is the heron that stands there .",
    "A is left of B, not C.": "Anna is at Bob .",
    "The fridge is right of the oven, not the left.": "The fridge is at the oven .",
    "Exhibit 5 (glove) is above exhibit 6.": "Anna is at Bob .",
    "y is SE (south east) of z.": "Anna is side of Bob .",
    "The lamp (left) is red.": "The lamp ( side ) is red .",
}


@pytest.mark.parametrize("text", SHOWN_WITHOUT)
def test_asides(text: str) -> None:
    assert " ".join(word.shown for word in prepared(text)) == SHOWN_WITHOUT[text]


def test_a_denial_in_front_is_that_of_its_phrase() -> None:
    words = prepared("Not in the box but beside it lay the knife.")
    assert [word.shown for word in words[:4]] == ["At", "the", "box", "and"]
    assert [word.text for word in words if word.denied] == ["in"]


def test_names_that_are_known_are_one_word() -> None:
    tokens = [Piece(token.text, token.idx) for token in TOKENIZER("The filter bar wraps here.")]
    names = frozenset([("filter", "bar")])
    by_noun = PREPARATION.words(tokens, names=names)
    assert [word.shown for word in by_noun[:3]] == ["The", "table", "wraps"]
    by_name = PREPARATION.words(tokens, names=names, proper=True)
    assert [(word.text, word.shown) for word in by_name[:2]] == [
        ("filter bar", "Anna"),
        ("wraps", "wraps"),
    ]


DEPARTURES = {
    "The fox left the den.": [],
    "The fox never left cell 12.": [],
    "The fox is left of the den.": [("left of", "preposition", ("left",))],
    "The fox is on the left.": [("left", "side", ("left",))],
}


@pytest.mark.parametrize("text", DEPARTURES)
def test_left_may_be_a_verb(text: str) -> None:
    assert expressions(text) == DEPARTURES[text]
