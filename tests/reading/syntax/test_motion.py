"""Where what moves is turned to."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symbouq.ontology.library import builtin
from symbouq.ontology.measures import Shift
from symbouq.reading.syntax.amounts import Amount, Amounts
from symbouq.reading.syntax.motion import Motion

ONTOLOGY = builtin().ontology("everyday")
AMOUNTS = Amounts(ONTOLOGY)


@pytest.mark.parametrize(
    ("facing", "turns", "expected"),
    [
        ("above", ["right"], "right"),
        ("above", ["left"], "left"),
        ("right", ["right", "right"], "left"),
        ("below", ["left"], "right"),
    ],
)
def test_turns(facing: str, turns: list[str], expected: str) -> None:
    motion = Motion(ONTOLOGY, AMOUNTS)
    motion.turn(0, "face", facing)
    for side in turns:
        motion.turn(0, "turn", side)
    assert motion.way(0, "onward") == expected
    motion.turn(0, "about", "")
    assert motion.way(0, "back") == expected


def test_nobody_knows_where_it_goes() -> None:
    motion = Motion(ONTOLOGY, AMOUNTS)
    assert motion.way(0, "onward") is None
    motion.turn(0, "face_other", "")
    assert motion.faces(0)
    assert motion.way(0, "sideways", "left") is None


def test_a_step_is_level_on_the_other_axis() -> None:
    steps = (Amount("left", Fraction(3), "cells"),)
    assert Motion(ONTOLOGY, AMOUNTS).offset("left", steps) == (
        (Shift("x", Fraction(-3)), Shift("y", Fraction(0))),
        "cells",
    )
    assert Motion(ONTOLOGY, AMOUNTS).offset("upper_left", steps) == ((), "")


@pytest.mark.parametrize(("facing", "expected"), [("right", "above"), ("below", "right")])
def test_a_side_of_its_own_is_a_side_of_the_text(facing: str, expected: str) -> None:
    motion = Motion(ONTOLOGY, AMOUNTS)
    motion.turn(0, "face", facing)
    assert motion.seen(0, "left") == expected
    assert motion.seen(0, "near") == "near"
    assert motion.seen(1, "left") == "left"  # nothing says how it is turned
    motion.turn(0, "face_other", "")
    assert motion.seen(0, "left") is None
