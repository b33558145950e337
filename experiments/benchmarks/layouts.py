"""Decides whether formulas about places can hold together. This reference shares no code with the
package and does not process English.

A thing is a point, or has an extent on each axis. Formulas are split into cases. Each case is a set
of bounds on differences. The bounds can hold together unless the Bellman-Ford algorithm finds a
negative cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product


@dataclass(frozen=True)
class Before:
    """On an axis, the first thing ends before the second begins."""

    axis: str
    first: str
    second: str


@dataclass(frozen=True)
class Apart:
    """On an axis, both ends of the second thing lie at most (or at least) `amount` beyond those of
    the first. If `strict`, they lie less (or more) than `amount` beyond.
    """

    axis: str
    first: str
    second: str
    most: bool
    amount: int
    strict: bool = False


@dataclass(frozen=True)
class Within:
    """The first thing is inside the second."""

    first: str
    second: str


@dataclass(frozen=True)
class Fact:
    """A fact that is independent of all formulas, except that it may exclude another fact."""

    name: str
    things: frozenset[str]
    excludes: str = ""


@dataclass(frozen=True)
class Not:
    """The negation of a formula."""

    part: Formula


@dataclass(frozen=True)
class And:
    """All of the given formulas hold. An empty conjunction is true."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class Or:
    """At least one of the given formulas holds. An empty disjunction is false."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class Count:
    """At least `least` and at most `most` of the given formulas hold."""

    parts: tuple[Formula, ...]
    least: int
    most: int


Atom = Before | Apart | Within | Fact
Formula = Atom | Not | And | Or | Count
Literal = tuple[Atom, bool]


TRUE: Formula = And(())


def both(*parts: Formula) -> And:
    """All of the given formulas."""
    return And(parts)


def either(*parts: Formula) -> Or:
    """At least one of the given formulas."""
    return Or(parts)


def count(parts: Sequence[Formula], least: int, most: int | None = None) -> Count:
    """At least `least` of the given formulas, and at most `most`, if given."""
    return Count(tuple(parts), least, len(parts) if most is None else most)


def cases(formula: Formula, holds: bool = True) -> Iterator[tuple[Literal, ...]]:
    """Yield the ways in which a formula holds (or fails, unless `holds`), each as literals."""
    match formula:
        case Not(part):
            yield from cases(part, not holds)
        case And(parts) | Or(parts):
            if isinstance(formula, And) == holds:
                for chosen in product(*(tuple(cases(part, holds)) for part in parts)):
                    yield tuple(literal for each in chosen for literal in each)
            else:
                for part in parts:
                    yield from cases(part, holds)
        case Count(parts, least, most):
            for size in range(len(parts) + 1):
                if (least <= size <= most) == holds:
                    for held in combinations(range(len(parts)), size):
                        each = (p if n in held else Not(p) for n, p in enumerate(parts))
                        yield from cases(And(tuple(each)))
        case _:
            yield ((formula, holds),)


def possible(formulas: Iterable[Formula], extents: bool, apart: bool = False) -> bool:
    """Whether the formulas can hold together.

    Args:
        formulas: Formulas that should hold together.
        extents: Whether things have an extent; otherwise they are points.
        apart: Whether two things may contain the same thing only if one of the two is inside the
            other.
    """
    return _extended((), tuple(formulas), extents, apart)


def _extended(
    held: tuple[Literal, ...], rest: tuple[Formula, ...], extents: bool, apart: bool
) -> bool:
    """Whether the literals can hold together with at least one case of each remaining formula."""
    # Test shared contents only at the end, because later cases may place more things inside others.
    if not _fits(held, extents, apart and not rest):
        return False
    if not rest:
        return True
    return any(_extended((*held, *each), rest[1:], extents, apart) for each in cases(rest[0]))


Length = tuple[int, int]
"""A bound on a difference, and minus the number of strict bounds in it: (3, -1) is just less than
3."""
Edge = tuple[tuple[str, str, str], tuple[str, str, str], Length]
"""Two coordinates, and the maximum by which the second may exceed the first."""


def _fits(literals: Sequence[Literal], extents: bool, apart: bool) -> bool:
    held = [atom for atom, holds in literals if holds]
    denied = [atom for atom, holds in literals if not holds]
    inside = _closed({(a.first, a.second) for a in held if isinstance(a, Within)})
    if any(a == b for a, b in inside) or (inside and not extents):
        return False
    if any(isinstance(a, Within) and (a.first, a.second) in inside for a in denied):
        return False
    if apart and any(_sharing(inside)):
        return False
    facts = {(a.name, a.things) for a in held if isinstance(a, Fact)}
    if any(isinstance(a, Fact) and (a.name, a.things) in facts for a in denied):
        return False
    if any(isinstance(a, Fact) and (a.excludes, a.things) in facts for a in held):
        return False
    plain = [z for z in literals if not isinstance(z[0], Within | Fact)]
    axes = {atom.axis for atom, _ in plain if isinstance(atom, Before | Apart)}
    choices = [list(_edges(atom, holds, extents)) for atom, holds in plain]
    nested = [edge for a, b in inside for axis in axes for edge in _nested(axis, a, b)]
    return any(
        _no_cycle([*nested, *(e for option in chosen for e in option)], extents)
        for chosen in product(*choices)
    )


def _closed(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    while True:
        more = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
        if not more:
            return pairs
        pairs = pairs | more


def _sharing(inside: set[tuple[str, str]]) -> Iterator[bool]:
    """For each pair of containers of the same thing, yield whether neither is inside the other."""
    for a, b in inside:
        for c, d in inside:
            if a == c and b != d:
                yield (b, d) not in inside and (d, b) not in inside


def _end(axis: str, thing: str, end: str) -> tuple[str, str, str]:
    return (axis, thing, end)


def _nested(axis: str, inner: str, outer: str) -> list[Edge]:
    return [
        (_end(axis, inner, "low"), _end(axis, outer, "low"), (0, 0)),
        (_end(axis, outer, "high"), _end(axis, inner, "high"), (0, 0)),
    ]


def _edges(atom: Atom, holds: bool, extents: bool) -> Iterator[list[Edge]]:
    """Yield the ways in which a literal on an axis holds, each as bounds on differences."""
    match atom:
        case Before(axis, first, second):
            end, begin = _end(axis, first, "high"), _end(axis, second, "low")
            strict = (0, -1)
            if holds:  # end - begin <= 0; < 0 for points
                yield [(begin, end, (0, 0) if extents else strict)]
            else:
                yield [(end, begin, strict if extents else (0, 0))]
        case Apart(axis, first, second, most, amount, strict):
            pairs = [(_end(axis, first, e), _end(axis, second, e)) for e in ("low", "high")]
            if holds:
                yield [_bound(a, b, most, amount, strict) for a, b in pairs]
            else:
                for a, b in pairs:
                    yield [_bound(a, b, not most, amount, not strict)]


def _bound(
    a: tuple[str, str, str], b: tuple[str, str, str], most: bool, amount: int, strict: bool
) -> Edge:
    """Return the edge for the bound that b - a is at most, or at least, the given amount."""
    loose = (0, -1)[strict]
    return (a, b, (amount, loose)) if most else (b, a, (-amount, loose))


def _no_cycle(edges: Sequence[Edge], extents: bool) -> bool:
    things = {(axis, thing) for a, b, _ in edges for axis, thing, _ in (a, b)}
    every = list(edges)
    for axis, thing in things:
        low, high = _end(axis, thing, "low"), _end(axis, thing, "high")
        if extents:  # low - high < 0
            every.append((high, low, (0, -1)))
        else:
            every += [(high, low, (0, 0)), (low, high, (0, 0))]
    reach: dict[tuple[str, str, str], Length] = {
        node: (0, 0) for edge in every for node in edge[:2]
    }
    for _ in range(len(reach) + 1):
        changed = False
        for a, b, (length, strict) in every:
            there = (reach[a][0] + length, reach[a][1] + strict)
            if there < reach[b]:
                reach[b] = there
                changed = True
        if not changed:
            return True
    return False
