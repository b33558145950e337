"""Places that are told by a number, and what they say of the things that have them."""

from __future__ import annotations

import pytest

from symbouq.ontology.library import builtin
from symbouq.ontology.tables import Ontology
from symbouq.reading.syntax.positions import (
    Arrangement,
    Axes,
    Placed,
    Positions,
    numbered,
)

STRICT, HALF = (builtin().ontology(name) for name in ("nine-way", "half-plane"))


@pytest.fixture(scope="module")
def positions() -> Positions:
    return Positions(STRICT, str.split)


@pytest.mark.parametrize(
    ("text", "length", "places"),
    [
        ("row 3 is full", 2, {"row": 3}),
        ("row three", 2, {"row": 3}),
        ("third row", 2, {"row": 3}),
        ("second from the left", 4, {"from_left": 2}),
        ("2nd from the left", 4, {"from_left": 2}),
        ("second blue jar from the left", 0, {}),
        ("second jar from the left", 5, {"from_left": 2}),
        ("( 2 , -5 )", 5, {"x": 2, "y": -5}),
        ("top row", 2, {"row": 1}),
        ("two rows", 0, {}),
        ("one column to the left", 0, {}),
        ("row seventeen", 2, {"row": 17}),
        ("row umpteen", 0, {}),
        ("row", 0, {}),
    ],
)
def test_words_of_a_place(
    positions: Positions, text: str, length: int, places: dict[str, int]
) -> None:
    end, found = positions.found(text.split(), 0)
    assert (end, dict(found)) == (length, places)


def test_single_words_of_a_place(positions: Positions) -> None:
    assert dict(positions.single["leftmost"]) == {"from_left": 1, "from_right": 10000, "across": 1}


def related(
    profile: Ontology, first: list[Placed], second: list[Placed], text: str = ""
) -> str | None:
    """What the second of two things is to the first."""
    sides = profile.wording.expression["side"]
    arrangement = Arrangement(profile, Axes(profile, sides))
    arrangement.hear(text)
    for thing, places in enumerate((first, second)):
        for place in places:
            arrangement.put(thing, place)
    assert arrangement.others(1) == [0]
    found = arrangement.relation(1, 0)
    return None if found is None else found.relation


def test_what_a_text_says_of_axes() -> None:
    axes = Axes(HALF, HALF.wording.expression["side"])

    def turned(text: str) -> list[tuple[str, str]]:
        return [(t.scale, t.relation) for t in axes.found(text.split())]

    assert turned("x grows to the right and y upwards") == [("x", "right"), ("y", "above")]
    assert turned("the rows are counted from the bottom") == [("row", "above")]
    assert turned("the rows are counted starting at the bottom") == [("row", "above")]
    assert turned("row 1 is at the bottom") == [("row", "above")]
    for thing in ("Y is at the bottom", "y is at the bottom", "X is to the right"):
        assert turned(thing) == []  # what is called so is there


def at(**places: int) -> list[Placed]:
    return [Placed(scale, number) for scale, number in places.items()]


def test_both_coordinates_together_are_one_direction() -> None:
    assert related(STRICT, at(x=2, y=5), at(x=4, y=1)) == "lower_right"
    assert related(STRICT, at(x=2, y=5), at(x=2, y=6)) == "above"
    assert related(STRICT, at(x=2, y=5), at(x=2, y=5)) == "same_position"


def test_rows_alone_are_compared_where_a_direction_bounds_one_axis() -> None:
    assert related(STRICT, at(row=1), at(row=2)) is None
    assert related(HALF, at(row=1), at(row=2)) == "below"
    assert related(STRICT, at(row=1), at(row=2), "in the same column") == "below"


def test_a_text_may_say_which_way_a_scale_goes() -> None:
    assert related(HALF, at(x=0, y=1), at(x=0, y=2), "with y pointing down") == "below"


def test_places_of_different_things_are_not_compared() -> None:
    shelf, drawer = (Placed("upright", n, frame) for n, frame in ((1, "shelf"), (3, "drawer")))
    assert related(HALF, [shelf], [drawer]) is None
    assert related(HALF, [shelf], [Placed("upright", 3)]) == "below"
    assert related(HALF, [Placed("row", 1, itself=True)], at(row=2)) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("e4", (("file", 5), ("rank", 4))), ("E4", ()), ("knight", ())],
)
def test_squares_of_a_board(
    positions: Positions, text: str, expected: tuple[tuple[str, int], ...]
) -> None:
    assert positions.square(text) == expected


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Bay 3", ("bay", 3)),
        ("coach C", ("coach", 3)),
        ("12", ("", 12)),
        ("B", ("", 2)),
        ("bays", None),
        ("bay 2000", None),
    ],
)
def test_numbers_of_labels(text: str, found: tuple[str, int] | None) -> None:
    assert numbered(text) == found


def test_numbered_things_are_places_where_a_text_numbers_one_row_of_them() -> None:
    arrangement = Arrangement(HALF, Axes(HALF, HALF.wording.expression["side"]))
    assert arrangement.numbered("bay 3") is None
    arrangement.number("bay", "right", 4, True)
    assert arrangement.numbered("bay 3") == ("bay", 3)
    assert arrangement.numbered("bay 5") is None
    arrangement.number("bay", "right", 4, True)
    assert arrangement.numbered("bay 3") is None
