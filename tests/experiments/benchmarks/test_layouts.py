"""The reference that judges sentences, against values derived by hand."""

from __future__ import annotations

import random
from itertools import product

import pytest
from layouts import (
    And,
    Apart,
    Before,
    Fact,
    Formula,
    Not,
    Within,
    both,
    count,
    either,
    possible,
)
from sentences import Reading, Relation, directions


def left(a: str, b: str) -> Before:
    return Before("x", a, b)


def below(a: str, b: str) -> Before:
    return Before("y", a, b)


def at_most(amount: int, strict: bool = False) -> Apart:
    return Apart("x", "a", "b", True, amount, strict)


def at_least(amount: int, strict: bool = False) -> Apart:
    return Apart("x", "a", "b", False, amount, strict)


AB, BA, BC, AC = left("a", "b"), left("b", "a"), left("b", "c"), left("a", "c")
NEAR = Fact("near", frozenset("ab"), "far")
FAR = Fact("far", frozenset("ab"), "near")

ALWAYS: list[tuple[bool, list[Formula]]] = [
    (True, []),
    (False, [AB, BA]),
    (False, [AB, BC, left("c", "a")]),
    (False, [AB, BC, Not(AC)]),
    (True, [AB, Not(BC), AC]),
    (True, [AB, below("b", "a")]),  # each axis by itself
    (True, [Not(AB), Not(BA)]),  # level
    (False, [Not(AB), Not(Not(AB))]),
    (False, [either(AB, BC), Not(AB), Not(BC)]),
    (True, [either(AB, BC), Not(AB)]),
    (False, [Not(both(AB, BC)), AB, BC]),
    (True, [Not(both(AB, BC)), AB]),
    (False, [count([AB, BC, left("c", "d")], 2), Not(AB), Not(BC)]),
    (False, [count([AB, BC], 1, 1), AB, BC]),
    (False, [Not(count([AB, BC], 1, 1)), AB, Not(BC)]),
    (True, [Not(count([AB, BC], 1, 1)), AB, BC]),
    (True, [count([AB, BC], 0, 0)]),
    (False, [at_least(3), at_most(2)]),
    (True, [at_least(3), at_most(3)]),
    (False, [at_least(3, strict=True), at_most(3)]),
    (False, [at_least(3), at_most(3, strict=True)]),
    (True, [at_least(3, strict=True), at_most(4, strict=True)]),  # 3.5
    (False, [Not(at_least(3)), at_least(3)]),
    (False, [Not(at_most(3)), at_most(3)]),
    (False, [AB, at_most(0)]),
    (False, [at_least(3), Apart("x", "b", "c", False, 2), Apart("x", "a", "c", True, 5, True)]),
    (True, [at_least(3), Apart("x", "b", "c", False, 2), Apart("x", "a", "c", True, 5)]),
    (False, [NEAR, FAR]),
    (False, [NEAR, Not(NEAR)]),
    (True, [Not(NEAR), Not(FAR)]),
    (True, [NEAR, AB]),
]
"""Whether formulas can hold together, be things points or have an extent."""


@pytest.mark.parametrize("extents", [False, True])
@pytest.mark.parametrize(("holds", "formulas"), ALWAYS)
def test_what_can_hold_together(formulas: list[Formula], holds: bool, extents: bool) -> None:
    assert possible(formulas, extents=extents) is holds


def holds_in(formula: Formula, ends: dict[str, tuple[int, int]], extents: bool) -> bool:
    """Whether a formula is true of places on one axis."""
    match formula:
        case Not(part):
            return not holds_in(part, ends, extents)
        case And(parts):
            return all(holds_in(part, ends, extents) for part in parts)
        case Before(_, first, second):
            (_, high), (low, _) = ends[first], ends[second]
            return high <= low if extents else high < low
        case Apart(_, first, second, most, amount, strict):
            gaps = [b - a for a, b in zip(ends[first], ends[second], strict=True)]
            if most:
                return all(gap < amount or (gap == amount and not strict) for gap in gaps)
            return all(gap > amount or (gap == amount and not strict) for gap in gaps)
    raise AssertionError(formula)


def drawn(chance: random.Random) -> Formula:
    """A relation of two of three things, often denied, or two of them."""
    first, second = chance.sample("abc", 2)
    made: Formula = left(first, second)
    if chance.random() < 0.4:
        made = Apart("x", first, second, chance.random() < 0.5, 2 * chance.randint(-1, 1))
    if chance.random() < 0.4:
        made = Not(made)
    if chance.random() < 0.3:
        made = both(made, drawn(chance))
    return Not(made) if chance.random() < 0.2 else made


@pytest.mark.parametrize("extents", [False, True])
def test_every_layout_of_three_things(extents: bool) -> None:
    """All layouts on a line that is long enough for three things and gaps of two."""
    sizes = range(1, 4) if extents else [0]
    ends = [(low, low + size) for low in range(7) for size in sizes]
    chance, found = random.Random(5), set()
    for _ in range(30):
        formulas = [drawn(chance) for _ in range(chance.randint(2, 5))]
        layouts = (dict(zip("abc", places, strict=True)) for places in product(ends, repeat=3))
        some = any(all(holds_in(f, each, extents) for f in formulas) for each in layouts)
        assert possible(formulas, extents=extents) is some, formulas
        found.add(some)
    assert found == {True, False}


def test_points_are_in_order_and_extents_may_overlap() -> None:
    """b reaches from a to c: it is neither right of the one nor left of the other."""
    formulas = [Not(AB), Not(BC), AC]
    assert not possible(formulas, extents=False)
    assert possible(formulas, extents=True)


def test_extents_that_lie_in_each_other() -> None:
    inside = Within("a", "box")
    right = left("box", "lamp")
    assert not possible([inside, right, Not(left("a", "lamp"))], extents=True)
    assert not possible([inside, left("a", "box")], extents=True)
    assert possible([inside, left("a", "lamp"), Not(right)], extents=True)
    assert not possible([inside, Within("box", "hall"), Not(Within("a", "hall"))], extents=True)
    assert not possible([inside, Within("box", "a")], extents=True)
    assert not possible([inside, Not(inside)], extents=True)
    assert not possible([inside], extents=False)


def test_boxes_that_share_nothing() -> None:
    both_hold = [Within("a", "box"), Within("a", "bag")]
    assert possible(both_hold, extents=True)
    assert not possible(both_hold, extents=True, apart=True)
    assert possible([*both_hold, Within("bag", "box")], extents=True, apart=True)


def test_an_amount_moves_both_ends() -> None:
    """Three metres apart, things are equally large."""
    three = [at_least(3), at_most(3)]
    assert not possible([*three, Within("a", "c"), Within("c", "b")], extents=True)
    assert possible([*three, AB], extents=True)


@pytest.mark.parametrize(
    ("stance", "verdicts"),
    [  # held in all layouts, in some, in none
        ("asserted", ("entailed", "unknown", "contradicted")),
        ("nothing", ("unknown", "unknown", "unknown")),
        ("approached", ("unknown", "unknown", "contradicted")),
        ("possible", ("entailed", "entailed", "contradicted")),
        ("necessary", ("entailed", "contradicted", "contradicted")),
        ("impossible", ("contradicted", "contradicted", "entailed")),
        ("unnecessary", ("contradicted", "entailed", "entailed")),
        ("undetermined", ("contradicted", "entailed", "contradicted")),
    ],
)
def test_verdicts_of_a_reading(stance: str, verdicts: tuple[str, ...]) -> None:
    reading = Reading(stance, AB)
    assert verdicts == tuple(
        reading.verdict(can_hold, can_fail)
        for can_hold, can_fail in ((True, False), (True, True), (False, True))
    )


def test_what_a_scene_gains_by_a_reading() -> None:
    assert Reading("asserted", AB).premise == Reading("necessary", AB).premise == AB
    assert Reading("impossible", AB).premise == Not(AB)
    for stance in ("nothing", "possible", "unnecessary", "undetermined", "approached"):
        assert Reading(stance, AB).premise == And(())


def test_relations() -> None:
    assert Relation("left", "a", "b").formula == AB
    assert Relation("right", "a", "b").formula == BA
    assert Relation("front", "a", "b").formula == Before("z", "b", "a")
    corner = Relation("upper left", "a", "b")
    assert corner.formula == both(AB, below("b", "a"))
    assert corner.opposite.name == "lower right"
    assert corner.converse == Relation("lower right", "b", "a")
    assert Relation("right", "b", "a").by(True, 3) == at_most(3)
    assert Relation("near", "b", "a").formula == NEAR
    assert Relation("near", "a", "b").converse.formula == NEAR
    assert Relation("inside", "a", "b").formula == Within("a", "b")
    assert directions(["x"]) == ["left", "right"]
    assert directions(["y"]) == ["below", "above"]
    assert directions(["z"]) == ["behind", "front"]
