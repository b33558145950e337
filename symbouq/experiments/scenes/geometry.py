"""Layouts and what is true in all of them.

A box is an interval on each axis and a fact orders end points: `left(u, v)` says that u ends
before v begins. Facts of that kind are a partial order of end points, and a relation holds in
every layout exactly if its own order follows by reachability; no search and no inference
rules are needed. Unit steps (the chains) leave one layout, whose coordinates are added up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

Fact = tuple[str, str, str]
"""Subject, relation and object."""

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
"""The nine directions as steps to the right and upwards."""

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
"""Each relation's converse."""


def converse(fact: Fact) -> Fact:
    """The same fact, said of the other thing."""
    u, relation, v = fact
    return v, OPPOSITE[relation], u


def direction(dx: int, dy: int) -> str:
    """The direction of a difference of coordinates."""
    return DIRECTIONS[(dx > 0) - (dx < 0), (dy > 0) - (dy < 0)]


def coordinates(facts: Iterable[Fact], origin: str) -> dict[str, tuple[int, int]]:
    """Where unit steps put every thing that they link to one of them.

    Args:
        facts: Directions, each a step of one.
        origin: The thing at (0, 0).
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


@dataclass
class Boxes:
    """What facts about boxes leave no choice in.

    Attributes:
        before: End points `(thing, end, axis)` that come strictly before another.
        within: Thing to those that it lies in, over any number of levels.
        stated: Facts about distance and touch, as they are and in converse.
        apart: Pairs of things that share nothing, in both orders.
    """

    before: dict[tuple[str, int, int], set[tuple[str, int, int]]] = field(default_factory=dict)
    within: dict[str, set[str]] = field(default_factory=dict)
    stated: set[Fact] = field(default_factory=set)
    apart: set[tuple[str, str]] = field(default_factory=set)

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.before, self.within, self.stated, self.apart = {}, {}, set(), set()
        for u, relation, v in facts:
            self._thing(u)
            self._thing(v)
            if relation in ("inside", "contains"):
                part, whole = (u, v) if relation == "inside" else (v, u)
                self.within[part].add(whole)
                for axis in (0, 1):
                    self._order((whole, 0, axis), (part, 0, axis))
                    self._order((part, 1, axis), (whole, 1, axis))
            elif relation in ("near", "far", "touching", "outside"):
                self.stated |= {(u, relation, v), (v, relation, u)}
            else:
                for axis, sign in enumerate(STEPS[relation]):
                    if sign:
                        first, then = (u, v) if sign < 0 else (v, u)
                        self._order((first, 1, axis), (then, 0, axis))
        self._close()

    def holds(self, u: str, relation: str, v: str) -> bool:
        """Whether a relation holds in every layout."""
        if u not in self.within or v not in self.within or u == v:
            return False
        if relation in ("inside", "contains"):
            part, whole = (u, v) if relation == "inside" else (v, u)
            return whole in self.within[part]
        if relation in ("near", "touching"):
            return (u, relation, v) in self.stated
        if relation == "far":
            return any(
                (a, "far", b) in self.stated for a in self._around(u) for b in self._around(v)
            )
        if relation == "outside":
            return (u, v) in self.apart
        return all(
            self._follows((u, v) if sign < 0 else (v, u), axis)
            for axis, sign in enumerate(STEPS[relation])
            if sign
        )

    def excluded(self, u: str, relation: str, v: str) -> bool:
        """Whether a relation fails in every layout."""
        if u not in self.within or v not in self.within:
            return False
        if relation in STEPS:
            return any(
                self._follows((v, u) if sign < 0 else (u, v), axis)
                for axis, sign in enumerate(STEPS[relation])
                if sign
            )
        if relation in ("inside", "contains"):
            return (u, v) in self.apart or self.holds(v, relation, u)
        if relation in ("near", "far"):
            return self.holds(u, "far" if relation == "near" else "near", v)
        nested = self.holds(u, "inside", v) or self.holds(u, "contains", v)
        return nested if relation == "outside" else False

    def _thing(self, name: str) -> None:
        if name in self.within:
            return
        self.within[name] = set()
        for axis in (0, 1):
            self.before[name, 0, axis] = {(name, 1, axis)}
            self.before[name, 1, axis] = set()

    def _order(self, first: tuple[str, int, int], then: tuple[str, int, int]) -> None:
        self.before[first].add(then)

    def _close(self) -> None:
        """Reachability of both orders (Warshall), then which things share nothing."""
        for middle in self.before:
            for reached in self.before.values():
                if middle in reached:
                    reached |= self.before[middle]
        for thing in self.within:
            for wholes in self.within.values():
                if thing in wholes:
                    wholes |= self.within[thing]
        things = list(self.within)
        for u in things:
            for v in things:
                if any(
                    (a, r, b) in self.stated
                    for a in self._around(u)
                    for b in self._around(v)
                    for r in ("outside", "far")
                ) or any(self._follows(pair, axis) for pair in ((u, v), (v, u)) for axis in (0, 1)):
                    self.apart.add((u, v))

    def _around(self, thing: str) -> set[str]:
        return {thing, *self.within[thing]}

    def _follows(self, pair: tuple[str, str], axis: int) -> bool:
        """Whether the first of a pair ends before the second begins."""
        first, then = pair
        return (then, 0, axis) in self.before[first, 1, axis]
