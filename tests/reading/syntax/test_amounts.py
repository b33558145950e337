"""Amounts as texts say them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symbouq.ontology.library import builtin
from symbouq.ontology.measures import Shift
from symbouq.reading.syntax.amounts import Amount, Amounts

AMOUNTS = Amounts(builtin().ontology("everyday"))


@pytest.mark.parametrize(
    ("words", "before", "value"),
    [
        ("3 m", "", Fraction(3)),
        ("2.5 cm", "is", Fraction(5, 2)),
        ("1,200 px", "", Fraction(1200)),
        ("half a metre", "", Fraction(1, 2)),
        ("a metre", "", Fraction(1)),
        ("two blocks", "", Fraction(2)),
        ("two blocks", "is about", None),
        ("several steps", "", None),
        ("3,000,000 km", "", Fraction(3_000_000)),
        ("1,500.5 m", "", Fraction(3001, 2)),
        ("1,500,20 m", "", None),  # no number
        ("3 , 5 m", "", None),  # 3.5, or two of them
        ("1 500 m", "", None),
        ("3½ m", "", Fraction(7, 2)),
        ("3 1/2 m", "", Fraction(7, 2)),
        ("¾ mile", "", Fraction(3, 4)),
        ("1/0 m", "", None),
        ("10 ^ 3 m", "", Fraction(1000)),
        ("10² m", "", Fraction(100)),
        ("9 ^ 999 m", "", None),
        ("1e3 m", "", Fraction(1000)),
        ("1e99 m", "", None),
        ("-3 m", "", Fraction(-3)),
        ("−3 m", "", Fraction(-3)),
        ("minus 3 m", "", Fraction(-3)),
        ("negative three metres", "", Fraction(-3)),
        ("zero metres", "", Fraction(0)),
        ("two hundred metres", "", Fraction(200)),
        ("one hundred and twenty metres", "", Fraction(120)),
        ("twenty - five metres", "", Fraction(25)),
        ("two thousand five hundred and one metres", "", Fraction(2501)),
        ("1.5 million km", "", Fraction(1_500_000)),
        ("five two metres", "", None),
        ("two thousand thousand metres", "", None),
        ("three and a half metres", "", Fraction(7, 2)),
        ("3 or 5 m", "", None),
        ("2 x 3 m", "", None),
        ("minus 9 x 10 ^ 3 m", "", Fraction(-9000)),
        ("-two m", "", Fraction(-2)),
        ("3 m", "to", None),
        ("~3 m", "", None),
        ("3 m 50 cm", "", Fraction(7, 2)),
        ("5 feet 6 inches", "", Fraction(11, 2)),
        ("50 cm 3 m", "", None),
        ("3 m 2 blocks", "", None),
        ("3 m", "twice", None),
        ("3 m left", "", None),
        ("two hours", "", None),
    ],
)
def test_exact_amounts(words: str, before: str, value: Fraction | None) -> None:
    found = AMOUNTS.of(words.split(), before.split())
    assert [(amount.value, amount.sense) for amount in found] == (
        [] if value is None else [(value, "=")]
    )


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("more than / 3 m", [">3"]),
        ("is no more than / 3 m", ["<=3"]),
        ("at least / 3 m", [">=3"]),
        ("under / 3 m 50 cm", ["<7/2"]),
        ("no less than / 3 m", [">=3"]),
        ("/ 3 m or more", [">=3"]),
        ("about / 3 m or less", ["<=3"]),
        ("just under / 3 m", []),
        ("between / 3 and 5 m", [">=3", "<=5"]),
        ("/ 3 to 5 m", [">=3", "<=5"]),
        ("/ 3 - 5 m", [">=3", "<=5"]),
        ("/ 3–5 m", [">=3", "<=5"]),
        ("/ 50 cm to 2 m", [">=50", "<=2"]),
        ("/ 5 to 3 m", []),
        ("about / 3 m", []),
        ("almost / 3 m", []),
    ],
)
def test_bounds(text: str, bounds: list[str]) -> None:
    before, words = (part.split() for part in text.split("/"))
    found = AMOUNTS.of(words, before)
    assert [f"{amount.sense}{amount.value}" for amount in found] == bounds


def test_offsets() -> None:
    east, north = Amount("right", Fraction(2), "blocks"), Amount("above", Fraction(1), "block")
    assert AMOUNTS.offset("upper_right", [east, north]) == (
        (Shift("x", Fraction(2)), Shift("y", Fraction(1))),
        "blocks",
    )
    assert AMOUNTS.offset("w", [Amount("left", Fraction(3), "m")])[0] == (
        Shift("x", Fraction(-3)),
        Shift("y", Fraction(0)),
    )
    bounds = Amount("left", Fraction(2), "m", ">="), Amount("left", Fraction(3), "m", "<")
    assert AMOUNTS.offset("left", bounds)[0] == (
        Shift("x", Fraction(-3), ">"),
        Shift("x", Fraction(-2), "<="),
    )
    assert AMOUNTS.offset("left", [bounds[0], bounds[0]]) == ((), "")
    assert AMOUNTS.offset("left", [east]) == ((), "")
    assert AMOUNTS.factor("m", "cm") == 100
    assert AMOUNTS.factor("m", "px") is None
