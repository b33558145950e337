"""Sentences of every construction and relation, and the page that says which are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from constructions import (
    DATA,
    MISREAD,
    OPEN,
    READ,
    drawn,
    fronted,
    outcome,
    outcomes,
    page,
    sentences,
    suits,
    totals,
)

PAGE = Path(__file__).parents[3] / "docs/rules/constructions.md"


@pytest.mark.slow
def test_the_page_says_what_is_read() -> None:
    """To change it, run the command that stands in it."""
    given = [*sentences(), *fronted()]
    found = outcomes(given)
    wrong = [s.text for s, result in zip(given, found, strict=True) if result == MISREAD]
    assert not [s for s in given if s.text in wrong and not s.held], "misread"
    assert page(given, found) + "\n" == PAGE.read_text(encoding="utf-8")


def test_a_few_constructions_are_read_and_denied_and_left_open() -> None:
    shapes = DATA["constructions"]
    names = ("participle first, past posture", "inversion, posture", "no: inversion", "open: if")
    given = [drawn(n, shapes[n], r, False) for n in names for r in ("above", "between")]
    assert outcomes(given) == [READ] * len(given)


def test_a_sentence_is_filled_with_words_of_its_half() -> None:
    shape = "Where is {x}? {r} {y}."
    for held in (False, True):
        sentence = drawn("question and answer", shape, "left", held)
        assert sentence == drawn("question and answer", shape, "left", held)
        start, rest = sentence.text.split("? ")
        assert start.removeprefix("Where is the ") in DATA["words"]["figures"][held::2]
        assert rest[0].isupper()
        assert sentence.claims[0] != sentence.claims[1]


def test_between_has_two_grounds_and_areas_do_not_stand() -> None:
    assert not suits("{y} has {a} {r} it.", "between")
    assert suits("{y} has {a} {r} it.", "above")
    assert not suits("{x} {v} {r} {y}.", "overlap")
    assert " and the " in drawn("plain", "{x} is {r} {y}.", "between", False).text


@pytest.mark.parametrize(
    ("wanted", "verdicts", "expected"),
    [
        (("entailed", "contradicted"), ("entailed", "contradicted"), READ),
        (("entailed", "contradicted"), ("entailed", "unknown"), OPEN),
        (("entailed", "contradicted"), ("unknown", "entailed"), MISREAD),
        (("contradicted",), ("contradicted", "unknown"), READ),
        (("unknown", "unknown"), ("entailed", "unknown"), MISREAD),
    ],
)
def test_outcomes(wanted: tuple[str, ...], verdicts: tuple[str, ...], expected: str) -> None:
    assert outcome(wanted, verdicts) == expected


def test_totals_are_told_by_half() -> None:
    given = [drawn("plain", "{x} is {r} {y}.", "left", held) for held in (False, True, True)]
    assert totals(given, [READ, OPEN, MISREAD]) == (
        "Sentences of the words looked at, 1 of 1 read, 0 misread; "
        "of the words held back, 0 of 2 read, 1 misread."
    )
