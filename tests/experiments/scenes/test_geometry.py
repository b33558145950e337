"""What holds in every layout, against layouts drawn by hand and one by one."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbouq.experiments.scenes.geometry import OPPOSITE, STEPS, Boxes, Fact, coordinates, direction

SIDES = ("left", "right", "above", "below")


def test_unit_steps_add_up() -> None:
    facts = [("A", "left", "B"), ("C", "below", "B"), ("C", "upper-right", "D")]
    assert coordinates(facts, "D") == {"D": (0, 0), "C": (1, 1), "B": (1, 2), "A": (0, 2)}
    assert direction(0, 2) == "above"


def test_things_that_no_step_links_are_not_placed() -> None:
    assert coordinates([("A", "left", "B")], "C") == {"C": (0, 0)}


@pytest.mark.parametrize("relation", sorted(STEPS))
def test_converse_is_the_step_backwards(relation: str) -> None:
    dx, dy = STEPS[relation]
    assert direction(-dx, -dy) == OPPOSITE[relation]


def test_directions_pass_to_what_lies_within() -> None:
    boxes = Boxes([("x", "inside", "A"), ("A", "upper-left", "B"), ("y", "inside", "B")])
    assert boxes.holds("x", "left", "y")
    assert boxes.holds("y", "lower-right", "x")
    assert boxes.holds("x", "outside", "y")
    assert boxes.excluded("x", "right", "y")
    assert not boxes.holds("x", "left", "A")


def test_distance_passes_inwards_only() -> None:
    boxes = Boxes(
        [("x", "inside", "A"), ("A", "far", "B"), ("B", "inside", "C"), ("C", "near", "D")]
    )
    assert boxes.holds("x", "far", "B")
    assert not boxes.holds("x", "far", "C")
    assert not boxes.holds("B", "near", "D")
    assert boxes.excluded("x", "near", "B")


def test_what_nothing_is_said_of_neither_holds_nor_fails() -> None:
    boxes = Boxes([("A", "left", "B"), ("A", "left", "C")])
    assert not boxes.holds("B", "left", "C")
    assert not boxes.excluded("B", "left", "C")
    assert not boxes.holds("A", "left", "Z")


@given(
    st.lists(
        st.tuples(st.sampled_from("ABC"), st.sampled_from(SIDES), st.sampled_from("ABC")).filter(
            lambda fact: fact[0] != fact[2]
        ),
        min_size=1,
        max_size=3,
    )
)
def test_holds_exactly_where_all_layouts_agree(facts: list[Fact]) -> None:
    """All interval layouts of three things on four points are enumerated, each axis by itself."""
    things = sorted({name for u, _, v in facts for name in (u, v)})
    intervals = [(low, high) for low in range(5) for high in range(low + 1, 6)]
    boxes = Boxes(facts)
    for axis in (0, 1):
        layouts = []
        for drawn in product(intervals, repeat=len(things)):
            at = dict(zip(things, drawn, strict=True))
            if all(_true(at, fact, axis) for fact in facts if STEPS[fact[1]][axis]):
                layouts.append(at)
        if not layouts:
            return  # contradictory facts: nothing is asked of them
        for u, v in product(things, repeat=2):
            if u == v:
                continue
            for side in SIDES:
                if STEPS[side][axis]:
                    shares = {_true(at, (u, side, v), axis) for at in layouts}
                    assert boxes.holds(u, side, v) == (shares == {True})


def _true(at: dict[str, tuple[int, int]], fact: Fact, axis: int) -> bool:
    u, relation, v = fact
    return at[u][1] < at[v][0] if STEPS[relation][axis] < 0 else at[v][1] < at[u][0]
