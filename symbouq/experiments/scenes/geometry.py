"""Determines which relations hold in all possible layouts of things.

A box is an interval on each axis, and a fact orders end points: `left(u, v)` means that u ends
before v begins. Such facts form a partial order. A relation holds in every layout if and only if
its order of end points follows by reachability, so neither search nor inference rules are needed.
With unit steps (the family `chains`), there is only one layout, and coordinates are obtained by
adding the steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TypeVar

Node = TypeVar("Node")
Fact = tuple[str, str, str]
"""Subject, relation and object."""
End = tuple[str, int, int]
"""An end point: a thing, 0 for the beginning or 1 for the end, and the axis."""

STEPS: dict[str, tuple[int, int]] = {
    "left": (-1, 0),
    "right": (1, 0),
    "above": (0, 1),
    "below": (0, -1),
    "upper-left": (-1, 1),
    "upper-right": (1, 1),
    "lower-left": (-1, -1),
    "lower-right": (1, -1),
    "overlap": (0, 0),
}
"""The nine directions as steps rightwards and upwards."""

DIRECTIONS = {step: name for name, step in STEPS.items()}

OPPOSITE = {
    "left": "right",
    "above": "below",
    "upper-left": "lower-right",
    "upper-right": "lower-left",
    "overlap": "overlap",
    "inside": "contains",
    "near": "near",
    "far": "far",
    "touching": "touching",
    "outside": "outside",
}
OPPOSITE |= {other: name for name, other in OPPOSITE.items()}
"""The converse of each relation."""


def converse(fact: Fact) -> Fact:
    """State the same fact with subject and object exchanged."""
    u, relation, v = fact
    return v, OPPOSITE[relation], u


def direction(dx: int, dy: int) -> str:
    """Direction of the given difference between coordinates."""
    return DIRECTIONS[(dx > 0) - (dx < 0), (dy > 0) - (dy < 0)]


def coordinates(facts: Iterable[Fact], origin: str) -> dict[str, tuple[int, int]]:
    """Compute the coordinates of all things linked to `origin` by unit steps. The origin is at (0,
    0).
    """
    facts = list(facts)
    placed = {origin: (0, 0)}
    while True:
        for u, relation, v in facts:
            dx, dy = STEPS[relation]
            if v in placed and u not in placed:
                placed[u] = (placed[v][0] + dx, placed[v][1] + dy)
            elif u in placed and v not in placed:
                placed[v] = (placed[u][0] - dx, placed[u][1] - dy)
            else:
                continue
            break
        else:
            return placed


class Boxes:
    """Relations that hold, or fail, in every layout of boxes with the given facts.

    Attributes:
        before: For each end point, the end points that are strictly after it.
        within: Direct and indirect containers of each thing.
        stated: Facts about distance and touch, with their converses.
        apart: Pairs of things that do not overlap, in both orders.
    """

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.before: dict[End, set[End]] = {}
        self.within: dict[str, set[str]] = {}
        self.stated: set[Fact] = set()
        for u, relation, v in facts:
            self._add_thing(u)
            self._add_thing(v)
            if relation in ("inside", "contains"):
                part, whole = (u, v) if relation == "inside" else (v, u)
                self.within[part].add(whole)
                for axis in (0, 1):
                    self.before[whole, 0, axis].add((part, 0, axis))
                    self.before[part, 1, axis].add((whole, 1, axis))
            elif relation in ("near", "far", "touching", "outside"):
                self.stated |= {(u, relation, v), (v, relation, u)}
            else:
                for first, then, axis in _orders(u, relation, v):
                    self.before[first, 1, axis].add((then, 0, axis))
        _close(self.before)
        _close(self.within)
        self.apart = {
            (u, v)
            for u, v in product(self.within, repeat=2)
            if self._stated_around(u, "outside", v)
            or self._stated_around(u, "far", v)
            or any(self._follows(*pair, axis) for pair in ((u, v), (v, u)) for axis in (0, 1))
        }

    def holds(self, u: str, relation: str, v: str) -> bool:
        """Whether a relation holds in every layout."""
        if u not in self.within or v not in self.within or u == v:
            return False
        match relation:
            case "inside":
                return v in self.within[u]
            case "contains":
                return u in self.within[v]
            case "near" | "touching":
                return (u, relation, v) in self.stated
            case "far":
                return self._stated_around(u, relation, v)
            case "outside":
                return (u, v) in self.apart
        return all(self._follows(*order) for order in _orders(u, relation, v))

    def excluded(self, u: str, relation: str, v: str) -> bool:
        """Whether a relation fails in every layout."""
        if u not in self.within or v not in self.within:
            return False
        match relation:
            case "inside" | "contains":
                return (u, v) in self.apart or self.holds(v, relation, u)
            case "near" | "far":
                return self.holds(u, "far" if relation == "near" else "near", v)
            case "outside":
                return self.holds(u, "inside", v) or self.holds(u, "contains", v)
            case "touching":
                return False
        return any(self._follows(*order) for order in _orders(v, relation, u))

    def _add_thing(self, name: str) -> None:
        if name not in self.within:
            self.within[name] = set()
            for axis in (0, 1):
                self.before[name, 0, axis] = {(name, 1, axis)}
                self.before[name, 1, axis] = set()

    def _stated_around(self, u: str, relation: str, v: str) -> bool:
        """Whether the relation is stated between the two things or between their containers."""
        around = product({u, *self.within[u]}, {v, *self.within[v]})
        return any((a, relation, b) in self.stated for a, b in around)

    def _follows(self, first: str, then: str, axis: int) -> bool:
        return (then, 0, axis) in self.before[first, 1, axis]


def _orders(u: str, relation: str, v: str) -> list[tuple[str, str, int]]:
    """Return, for each axis of a direction, the thing that ends first, the thing that begins
    afterwards, and the axis.
    """
    steps = enumerate(STEPS[relation])
    return [(u, v, axis) if step < 0 else (v, u, axis) for axis, step in steps if step]


def _close(successors: dict[Node, set[Node]]) -> None:
    """Add indirect successors to the successors of each node (Warshall's algorithm)."""
    for middle in successors:
        for reached in successors.values():
            if middle in reached:
                reached |= successors[middle]
