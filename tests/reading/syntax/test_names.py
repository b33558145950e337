"""Names that a text repeats."""

from __future__ import annotations

import pytest

from symbouq.reading.syntax.names import Names, by_first

NAMES = Names(
    frozenset(("is", "below", "of", "near", "the")),
    frozenset(("middle",)),
    frozenset(("two",)),
    frozenset(("row",)),
)

FOUND = {
    ("The filter bar wraps below the field.", "The filter bar is below the field."): {
        ("filter", "bar"),
        ("field",),
    },
    ("My truck is near the shed.", "The shed is near my truck."): {("my", "truck"), ("shed",)},
    ("The lamp is red.",): set(),  # once
    ("The near row is below the near row.",): set(),  # one of several in a row
    ("The near bank is near the near bank.",): {("near", "bank")},
    ("The middle is near the middle.",): set(),  # no name
    ("The two cups are near the lamp.", "The two cups are red."): set(),  # several things
    ("The box 4 is near the box 5.",): set(),  # labels
    ("The field of Ann is near the field of Bob.",): set(),  # two of them
    ("The clock strikes.", "The clock strikes.", "The clock is near."): {("clock",)},
}


@pytest.mark.parametrize("texts", FOUND)
def test_names(texts: tuple[str, ...]) -> None:
    assert NAMES.of(texts) == FOUND[texts]


def test_longer_names_come_first() -> None:
    table = by_first([("box",), ("box", "lid"), ("lamp",)])
    assert table == {"box": (("box", "lid"), ("box",)), "lamp": (("lamp",),)}
