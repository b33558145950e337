"""Amounts as texts say them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symbouq.ontology.library import builtin
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
        ("two blocks", "about", None),
        ("several steps", "", None),
        ("two hours", "", None),
    ],
)
def test_exact_amounts(words: str, before: str, value: Fraction | None) -> None:
    found = AMOUNTS.of(words.split(), before)
    assert (found and found.value) == value


def test_offsets() -> None:
    east, north = Amount("right", Fraction(2), "blocks"), Amount("above", Fraction(1), "block")
    assert AMOUNTS.offset("upper_right", [east, north]) == (
        (("x", Fraction(2)), ("y", Fraction(1))),
        "blocks",
    )
    assert AMOUNTS.offset("w", [Amount("left", Fraction(3), "m")])[0] == (
        ("x", Fraction(-3)),
        ("y", Fraction(0)),
    )
    assert AMOUNTS.offset("left", [east]) == ((), "")
    assert AMOUNTS.factor("m", "cm") == 100
    assert AMOUNTS.factor("m", "px") is None
