"""Where things are turned to."""

from __future__ import annotations

import pytest

from symbouq.ontology.library import builtin
from symbouq.reading.syntax.motion import Motion

ONTOLOGY = builtin().ontology("everyday")


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
    motion = Motion(ONTOLOGY)
    motion.turn(0, "face", facing)
    for side in turns:
        motion.turn(0, "turn", side)
    assert list(motion.headings()) == [(0, motion.exact(expected))]
    assert motion.faced(0, facing) == (facing != expected)
    motion.turn(0, "about", "")
    assert list(motion.headings()) == [(0, motion.exact(ONTOLOGY.relations.converse[expected]))]


def test_nobody_knows_where_it_faces() -> None:
    motion = Motion(ONTOLOGY)
    assert not motion.faces(0)
    motion.turn(0, "face_other", "")
    assert motion.faces(0)
    assert list(motion.headings()) == []


@pytest.mark.parametrize(("facing", "expected"), [("right", "above"), ("below", "right")])
def test_a_side_of_its_own_is_a_side_of_the_text(facing: str, expected: str) -> None:
    motion = Motion(ONTOLOGY)
    motion.turn(0, "face", facing)
    assert motion.seen(0, "left") == expected
    assert motion.seen(0, "near") == "near"
    assert motion.seen(1, "left") == "left"  # nothing says how it is turned
    motion.turn(0, "face_other", "")
    assert motion.seen(0, "left") is None
