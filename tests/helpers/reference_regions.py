"""An independent implementation of regions, half-planes, tiles and blocks in plain Python.

It is used for differential testing of the profiles that are not in the paper. RCC-8 uses algebraic
closure over a composition table that is derived here from small models. Directions and extents use
Bellman-Ford; an entailed bound is a shortest path. Other relations use iterated closure. It shares
neither code nor tables with the package. The second half draws random scenes, many of them from a
model, so that it is also known what is true in them.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, permutations, product

from hypothesis import strategies as st

Relation = tuple[int, str, int]
"""(subject, relation, object), where things are numbers."""

Pair = tuple[int, int]

# RCC-8 ---------------------------------------------------------------------------------

BASE = ("dc", "ec", "po", "tpp", "ntpp", "tppi", "ntppi", "eq")


def mask(*names: str) -> int:
    return sum(1 << BASE.index(name) for name in names)


ALL = mask(*BASE)
PART = mask("tpp", "ntpp", "eq")
WHOLE = mask("tppi", "ntppi", "eq")
EQ = mask("eq")

MEREOLOGY = {
    "connected": ALL & ~mask("dc"),
    "overlapping": ALL & ~mask("dc", "ec"),
    "part": PART,
    "whole": WHOLE,
    "proper_part": mask("tpp", "ntpp"),
    "proper_whole": mask("tppi", "ntppi"),
    "interior_part": mask("ntpp"),
    "interior_whole": mask("ntppi"),
}
CONTACT = {
    "boundaries_meet": ALL & ~mask("dc", "ntpp", "ntppi"),
    "not_overlap": mask("dc", "ec"),
}
REGIONS = {name: mask(name) for name in BASE} | MEREOLOGY
RCC8 = REGIONS | CONTACT


def base_of_cells(a: int, b: int) -> int:
    """Return the base relation between two sets of cells, given as bits, on an infinite line.

    A cell is closed: neighbouring cells share a border point. These sets are therefore regular
    closed regions, and a point is interior to one if the cells on both of its sides belong to it.
    """
    if a == b:
        return BASE.index("eq")
    if not a & b:
        return BASE.index("ec" if (a << 1 | a >> 1) & b else "dc")
    if not a & ~b:
        # Shifted by one, so that the cell before the first one has a bit.
        return BASE.index("tpp" if (a | a << 1 | a << 2) & ~(b << 1) else "ntpp")
    if not b & ~a:
        return BASE.index("tppi" if (b | b << 1 | b << 2) & ~(a << 1) else "ntppi")
    return BASE.index("po")


def derived_composition(cells: int) -> list[list[int]]:
    """Return how x and z can be related, over all regions x, y, z of the given number of cells."""
    regions = range(1, 1 << cells)
    of = [[base_of_cells(a, b) if a and b else 0 for b in (0, *regions)] for a in (0, *regions)]
    table = [[0] * len(BASE) for _ in BASE]
    for a, b, c in product(regions, repeat=3):
        table[of[a][b]][of[b][c]] |= 1 << of[a][c]
    return table


COMPOSITION = derived_composition(5)


def _bits(label: int) -> list[int]:
    return [n for n in range(len(BASE)) if label >> n & 1]


@cache
def composed(first: int, second: int) -> int:
    found = 0
    for n in _bits(first):
        for m in _bits(second):
            found |= COMPOSITION[n][m]
    return found


@cache
def turned(label: int) -> int:
    other = {"tpp": "tppi", "tppi": "tpp", "ntpp": "ntppi", "ntppi": "ntpp"}
    return mask(*(other.get(BASE[n], BASE[n]) for n in _bits(label)))


def algebraic_closure(stated: Iterable[tuple[int, int, int]]) -> dict[Pair, int] | None:
    """Make a network of (thing, base relations, thing) path-consistent. Return its labels, or None
    if one is empty.

    All sets of base relations in these tests lie in the maximal tractable class that contains the
    base relations and the universal one. In this class, an algebraically closed network without an
    empty label is consistent, and it has a scenario in which no thing is part of another unless its
    label allows nothing else.
    """
    stated = list(stated)
    things = sorted({t for u, _, v in stated for t in (u, v)})
    labels = {(u, v): EQ if u == v else ALL for u in things for v in things}
    for u, label, v in stated:
        labels[u, v] &= label
        labels[v, u] &= turned(label)
    while True:
        changed = False
        for middle, first, last in product(things, repeat=3):
            old = labels[first, last]
            new = old & composed(labels[first, middle], labels[middle, last])
            if not new:
                return None
            if new != old:
                labels[first, last] = new
                labels[last, first] = turned(new)
                changed = True
        if not changed:
            return labels


# Difference bounds ---------------------------------------------------------------------

Coordinate = tuple[str, str, int]
"""(axis, end, thing)"""

Bound = tuple[Coordinate, Coordinate, int]
"""(a, b, w): a - b <= w."""


def _relaxed(bounds: Sequence[Bound], start: dict[Coordinate, int]) -> dict[Coordinate, int] | None:
    """Return the shortest distances from the start (Bellman-Ford), or None if there is a negative
    cycle.
    """
    length = dict(start)
    nodes = {node for a, b, _ in bounds for node in (a, b)}
    for _ in range(len(nodes) + 1):
        changed = False
        for a, b, weight in bounds:
            if b in length and (a not in length or length[b] + weight < length[a]):
                length[a] = length[b] + weight
                changed = True
        if not changed:
            return length
    return None


def satisfiable(bounds: Sequence[Bound]) -> bool:
    everywhere = {node: 0 for a, b, _ in bounds for node in (a, b)}
    return _relaxed(bounds, everywhere) is not None


def implied(bounds: Sequence[Bound], bound: Bound) -> bool:
    a, b, weight = bound
    length = _relaxed(bounds, {b: 0})
    assert length is not None
    return a in length and length[a] <= weight


# Other relations -----------------------------------------------------------------------

CONVERSES = {
    "inside": "contains",
    "not_inside": "not_contains",
    "surrounds": "surrounded_by",
    "on_top_of": "supports",
    "touching_top": "touching_bottom",
    "touching_left": "touching_right",
}
CONVERSES |= {second: first for first, second in CONVERSES.items()}
SYMMETRIC = {"near", "far", "touching", "disconnected", "overlap", "next_to", "opposite"}
ORDERS = {"inside", "contains", "surrounds", "surrounded_by"}
IMPLIED = {
    "next_to": "near",
    "opposite": "disconnected",
    "on_top_of": "touching",
    "supports": "touching",
    **{f"touching_{side}": "touching" for side in ("top", "bottom", "left", "right")},
}
EDGES = tuple(f"at_{side}_edge" for side in ("top", "bottom", "left", "right"))
CLASHES = [
    ("near", "far"),
    ("touching", "disconnected"),
    ("overlap", "disconnected"),
    ("inside", "not_inside"),
    ("contains", "not_contains"),
    ("inside", "disconnected"),
    ("contains", "disconnected"),
    ("surrounded_by", "inside"),
]
RELATIONAL = (*sorted({*CONVERSES, *SYMMETRIC}), "at", "start", "end", "at_corner", *EDGES)

Step = Callable[[set[Relation]], set[Relation]]


def closed(stated: Iterable[Relation], further: Step | None = None) -> set[Relation]:
    """Return all relations that follow from the stated ones, using a further step if given."""
    known = {relation for relation in stated if relation[1] in RELATIONAL}
    while True:
        new = further(known) if further is not None else set()
        for u, name, v in known:
            if name in CONVERSES:
                new.add((v, CONVERSES[name], u))
            if name in SYMMETRIC:
                new.add((v, name, u))
            if name in IMPLIED:
                new.add((u, IMPLIED[name], v))
            if name in ORDERS:
                new.update((u, name, w) for x, other, w in known if x == v and other == name)
        if new <= known:
            return known
        known |= new


def clashing(known: set[Relation]) -> bool:
    places: dict[int, int] = {}
    for u, name, v in known:
        if name in ORDERS and u == v:
            return True
        if name == "at" and places.setdefault(u, v) != v:
            return True
        if any(name == one and (u, other, v) in known for one, other in CLASHES):
            return True
    return False


# Readings ------------------------------------------------------------------------------

COMPASS = {
    "above": (0, 1),
    "below": (0, -1),
    "left": (-1, 0),
    "right": (1, 0),
    "upper_left": (-1, 1),
    "upper_right": (1, 1),
    "lower_left": (-1, -1),
    "lower_right": (1, -1),
    "same_position": (0, 0),
}
DEPTH = {"front": 1, "behind": -1}
ON_SIDES = {
    "on_top_of": ("y", 1),
    "supports": ("y", -1),
    "touching_top": ("y", 1),
    "touching_bottom": ("y", -1),
    "touching_left": ("x", -1),
    "touching_right": ("x", 1),
}

TILES = {
    "n": (0, 1),
    "ne": (1, 1),
    "e": (1, 0),
    "se": (1, -1),
    "s": (0, -1),
    "sw": (-1, -1),
    "w": (-1, 0),
    "nw": (-1, 1),
    "b": (0, 0),
}


def signs(name: str) -> dict[str, int]:
    """Return the sign of a direction on each axis that it says something about."""
    if name in COMPASS:
        return dict(zip("xy", COMPASS[name], strict=True))
    if name in DEPTH:
        return {"z": DEPTH[name]}
    return dict([ON_SIDES[name]]) if name in ON_SIDES else {}


class Reading(ABC):
    """What a scene and claims mean under one profile.

    Attributes:
        names: The relations that it reads.
    """

    names: tuple[str, ...]

    @abstractmethod
    def feasible(self, scene: Sequence[Relation], claims: Sequence[Relation] = ()) -> bool:
        """Whether there is a world in which all of it holds."""

    @abstractmethod
    def entails(
        self, scene: Sequence[Relation], claims: Sequence[Relation], relation: Relation
    ) -> bool:
        """Whether a claimed relation holds in every world of a feasible context."""

    def worlds(
        self, scene: Sequence[Relation], pair: Pair, names: Iterable[str]
    ) -> tuple[set[str], set[str]] | None:
        """Return the possible and the certain relations of a pair; None if there is no world."""
        if not self.feasible(scene):
            return None
        asked = {name: (pair[0], name, pair[1]) for name in names}
        possible = {name for name, z in asked.items() if self.feasible(scene, [z])}
        return possible, {name for name in possible if self.entails(scene, [], asked[name])}


class Points(Reading):
    """Points on three axes: half-planes, or strict directions in the scene (bAbI).

    Args:
        strict: Whether a direction in the scene means equality on an axis on which its sign is
            zero.
    """

    names = (*COMPASS, *DEPTH, *RELATIONAL)

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict

    @staticmethod
    def bounds(relation: Relation, strict: bool) -> list[Bound]:
        u, name, v = relation
        found: list[Bound] = []
        for axis, sign in signs(name).items():
            a, b = (axis, "point", u), (axis, "point", v)
            if sign > 0:
                found.append((b, a, -1))
            elif sign < 0:
                found.append((a, b, -1))
            elif strict or name == "same_position":
                found += [(a, b, 0), (b, a, 0)]
        return found

    def context(self, scene: Sequence[Relation], claims: Sequence[Relation]) -> list[Bound]:
        said = [bound for z in scene for bound in self.bounds(z, self.strict)]
        return said + [bound for z in claims for bound in self.bounds(z, False)]

    def feasible(self, scene: Sequence[Relation], claims: Sequence[Relation] = ()) -> bool:
        known = closed([*scene, *claims])
        return not clashing(known) and satisfiable(self.context(scene, claims))

    def entails(
        self, scene: Sequence[Relation], claims: Sequence[Relation], relation: Relation
    ) -> bool:
        if relation[1] in RELATIONAL and relation not in closed([*scene, *claims]):
            return False
        context = self.context(scene, claims)
        return all(implied(context, bound) for bound in self.bounds(relation, False))


class Tiles(Reading):
    """Regions represented by their bounding boxes. Each lies in a single tile around another."""

    names = tuple(TILES)

    @staticmethod
    def bounds(relation: Relation) -> list[Bound]:
        u, name, v = relation
        found: list[Bound] = []
        for axis, sign in zip("xy", TILES[name], strict=True):
            low, high = (axis, "low", u), (axis, "high", u)
            if sign > 0:
                found.append(((axis, "high", v), low, 0))
            elif sign < 0:
                found.append((high, (axis, "low", v), 0))
            else:
                found += [((axis, "low", v), low, 0), (high, (axis, "high", v), 0)]
        return found

    def context(self, relations: Iterable[Relation]) -> list[Bound]:
        relations = list(relations)
        found = [bound for z in relations for bound in self.bounds(z)]
        return found + _sizes({t for u, _, v in relations for t in (u, v)}, "xy")

    def feasible(self, scene: Sequence[Relation], claims: Sequence[Relation] = ()) -> bool:
        return satisfiable(self.context([*scene, *claims]))

    def entails(
        self, scene: Sequence[Relation], claims: Sequence[Relation], relation: Relation
    ) -> bool:
        context = self.context([*scene, *claims]) + _sizes({relation[0], relation[2]}, "xy")
        return all(implied(context, bound) for bound in self.bounds(relation))


class Regions(Reading):
    """Regions and how they are connected, without anything else."""

    names = tuple(RCC8)

    def feasible(self, scene: Sequence[Relation], claims: Sequence[Relation] = ()) -> bool:
        said = [(u, RCC8[name], v) for u, name, v in (*scene, *claims)]
        return algebraic_closure(said) is not None

    def entails(
        self, scene: Sequence[Relation], claims: Sequence[Relation], relation: Relation
    ) -> bool:
        return _no_alternative(self, scene, claims, relation, RCC8[relation[1]])


BLOCK_MEANINGS = REGIONS | {
    "inside": mask("tpp", "ntpp"),
    "contains": mask("tppi", "ntppi"),
    "touching": mask("ec"),
    "disconnected": mask("dc"),
    "overlap": MEREOLOGY["overlapping"],
}
"""Relations between blocks that are sets of base relations."""

CONSEQUENCES = BLOCK_MEANINGS | {
    "opposite": mask("dc"),
    "on_top_of": mask("ec"),
    "supports": mask("ec"),
    "surrounds": mask("dc", "ec"),
    "surrounded_by": mask("dc", "ec"),
    "at_corner": mask("tpp"),
    **{f"touching_{side}": mask("ec") for side in ("top", "bottom", "left", "right")},
    **dict.fromkeys(EDGES, mask("tpp")),
}
"""Maps a relation between blocks to the base relations that it allows."""

STATED = tuple(r for r in RELATIONAL if r not in BLOCK_MEANINGS and not r.startswith("not_"))
"""Relations between blocks that hold only if they are stated or follow from other such relations.
"""


class Blocks(Reading):
    """Regions with an extent on three axes: RCC-8, directions between their ends, and distance. A
    part lies within the extent of the whole; an interior part does not reach its ends.

    `not_inside` and `not_contains` are not covered.
    """

    names = (*COMPASS, *DEPTH, *BLOCK_MEANINGS, *STATED)

    @staticmethod
    def bounds(relation: Relation) -> list[Bound]:
        u, name, v = relation
        found: list[Bound] = []
        for axis, sign in signs(name).items():
            if sign > 0:
                found.append(((axis, "high", v), (axis, "low", u), 0))
            elif sign < 0:
                found.append(((axis, "high", u), (axis, "low", v), 0))
            elif name == "same_position":
                for end in ("low", "high"):
                    a, b = (axis, end, u), (axis, end, v)
                    found += [(a, b, 0), (b, a, 0)]
        return found

    @staticmethod
    def within(u: int, v: int, margin: int, axes: str = "xyz") -> list[Bound]:
        found: list[Bound] = []
        for axis in axes:
            found.append(((axis, "low", v), (axis, "low", u), -margin))
            found.append(((axis, "high", u), (axis, "high", v), -margin))
        return found

    def state(self, relations: Sequence[Relation]) -> tuple[set[Relation], list[Bound]] | None:
        """Return what else follows, and all bounds; None if something clashes immediately."""
        stated = closed(z for z in relations if z[1] in STATED)
        stated = {z for z in stated if z[1] in STATED}
        labels = algebraic_closure(
            (u, CONSEQUENCES.get(name, ALL), v) for u, name, v in {*relations, *stated}
        )
        if labels is None:
            return None
        parts = [pair for pair, label in labels.items() if not label & ~PART]
        equals = [pair for pair, label in labels.items() if label == EQ]

        def distances(known: set[Relation]) -> set[Relation]:
            """What is far from a whole is far from its parts, and equal things have the same
            distances.
            """
            return {
                (u, name, w)
                for name, pairs in (("far", parts), ("near", equals), ("surrounded_by", parts))
                for u, v in pairs
                for x, other, w in known
                if x == v and other == name
            }

        known = closed(stated, distances)
        # What has an extent may be at several things.
        if clashing({z for z in known if z[1] in STATED and z[1] != "at"}):
            return None
        found = _sizes({t for pair in labels for t in pair}, "xyz")
        found += [bound for z in relations for bound in self.bounds(z)]
        for u, v in parts:
            found += self.within(u, v, 1 if labels[u, v] == mask("ntpp") else 0)
        for u, name, v in known:
            if name == "surrounded_by":
                found += self.within(u, v, 0)
        return known, found

    @staticmethod
    def claimed(relation: Relation) -> list[Bound] | None:
        """Return what a claim says if this is less than in the scene; None if it is the same."""
        return None

    def feasible(self, scene: Sequence[Relation], claims: Sequence[Relation] = ()) -> bool:
        less = {z: bounds for z in claims if (bounds := self.claimed(z)) is not None}
        state = self.state([*scene, *(z for z in claims if z not in less)])
        if state is None:
            return False
        sizes = _sizes({t for u, _, v in less for t in (u, v)}, "xyz")
        return satisfiable([*state[1], *sizes, *(b for bounds in less.values() for b in bounds)])

    def entails(
        self, scene: Sequence[Relation], claims: Sequence[Relation], relation: Relation
    ) -> bool:
        u, name, v = relation
        if name in BLOCK_MEANINGS:
            return _no_alternative(self, scene, claims, relation, BLOCK_MEANINGS[name])
        state = self.state([*scene, *claims])
        assert state is not None
        known, context = state
        if name in STATED and relation not in known:
            return False
        context = context + _sizes({u, v}, "xyz")
        less = self.claimed(relation)
        bounds = self.bounds(relation) if less is None else less
        return all(implied(context, bound) for bound in bounds)


ALIGNED = {"level_with": "y", "in_column_with": "x"}
"""Relations that say that both ends agree on an axis. In a claim, they only say that the two things
share some place on it.
"""


class Everyday(Blocks):
    """Blocks with tiles for things directly above or beside each other, and for things of equal
    height. A thing on top of another does not stick out beside it. A thing that starts at another
    is where the other is.
    """

    names = (*Blocks.names, *TILES, *ALIGNED)

    def state(self, relations: Sequence[Relation]) -> tuple[set[Relation], list[Bound]] | None:
        state = super().state(relations)
        if state is None:
            return None
        known, found = state
        found = list(found)
        for u, name, v in known:
            if name == "on_top_of":
                found += self.within(u, v, 0, "xz")
            elif name == "start":
                found += self.bounds((u, "same_position", v))
        return known, found

    @staticmethod
    def bounds(relation: Relation) -> list[Bound]:
        u, name, v = relation
        if name in TILES:
            return Tiles.bounds(relation)
        if name in ALIGNED:
            axis = ALIGNED[name]
            ends = [((axis, end, u), (axis, end, v)) for end in ("low", "high")]
            return [bound for a, b in ends for bound in ((a, b, 0), (b, a, 0))]
        return Blocks.bounds(relation)

    @staticmethod
    def claimed(relation: Relation) -> list[Bound] | None:
        u, name, v = relation
        if name not in ALIGNED:
            return None
        axis = ALIGNED[name]
        return [((axis, "low", a), (axis, "high", b), -1) for a, b in ((u, v), (v, u))]


def _sizes(things: Iterable[int], axes: str) -> list[Bound]:
    return [((a, "low", t), (a, "high", t), -1) for t in sorted(things) for a in axes]


def _no_alternative(
    reading: Reading,
    scene: Sequence[Relation],
    claims: Sequence[Relation],
    relation: Relation,
    label: int,
) -> bool:
    """Whether every base relation outside a label contradicts the context."""
    u, _, v = relation
    others = (BASE[n] for n in _bits(ALL & ~label))
    return not any(reading.feasible(scene, [*claims, (u, other, v)]) for other in others)


READINGS: dict[str, Reading] = {
    "half-plane": Points(strict=False),
    "babi": Points(strict=True),
    "rcc8": Regions(),
    "cdc": Tiles(),
    "spartun": Blocks(),
    "everyday": Everyday(),
}
"""Maps a profile to its reading."""

BLOCKS = ("spartun", "everyday")
"""Profiles whose things have an extent on three axes."""


def tiles_by_enumeration(scene: Sequence[Relation], pair: Pair) -> tuple[set[str], set[str]] | None:
    """Compute `Tiles.worlds` for the things 0, 1 and 2 from all possible boxes. Six values are
    enough for the six ends on an axis, and the axes do not depend on each other.
    """
    intervals = list(combinations(range(6), 2))

    def sign_holds(sign: int, one: tuple[int, int], other: tuple[int, int]) -> bool:
        if sign > 0:
            return one[0] >= other[1]
        if sign < 0:
            return one[1] <= other[0]
        return other[0] <= one[0] and one[1] <= other[1]

    some: list[set[int]] = []
    every: list[set[int]] = []
    for axis in range(2):
        left_open: list[set[int]] = []
        for boxes in product(intervals, repeat=3):
            if all(sign_holds(TILES[r][axis], boxes[u], boxes[v]) for u, r, v in scene):
                one, other = boxes[pair[0]], boxes[pair[1]]
                left_open.append({sign for sign in (-1, 0, 1) if sign_holds(sign, one, other)})
        if not left_open:
            return None
        some.append(set.union(*left_open))
        every.append(set.intersection(*left_open))
    possible = {r for r, (x, y) in TILES.items() if x in some[0] and y in some[1]}
    return possible, {r for r, (x, y) in TILES.items() if x in every[0] and y in every[1]}


# Verdicts ------------------------------------------------------------------------------


def status(
    reading: Reading, scene: Sequence[Relation], context: Sequence[Relation], z: Relation
) -> str:
    """Return the status of one relation in a context of the scene and some of the claims."""
    if not reading.feasible(scene, context):
        return "not-evaluable"
    if not reading.feasible(scene, [*context, z]):
        return "contradicted"
    return "entailed" if reading.entails(scene, context, z) else "unknown"


def claim_status(
    reading: Reading,
    scene: Sequence[Relation],
    context: Sequence[Relation],
    claim: Sequence[Relation],
) -> str:
    if not claim:
        return "unknown"
    found = {status(reading, scene, context, z) for z in claim}
    for verdict in ("not-evaluable", "contradicted", "unknown"):
        if verdict in found:
            return verdict
    return "entailed"


def repair(
    reading: Reading, scene: Sequence[Relation], generated: Sequence[Relation], z: Relation
) -> int | None:
    """Return the minimum number of generated relations to remove so that another fits; None if that
    is impossible.
    """
    for size in range(len(generated) + 1):
        for gone in combinations(range(len(generated)), size):
            kept = [r for n, r in enumerate(generated) if n not in gone]
            if reading.feasible(scene, [*kept, z]):
                return size
    return None


def audit(
    reading: Reading, scene: Sequence[Relation], claims: Sequence[Sequence[Relation]]
) -> list[dict[str, object]]:
    """Return every claim's verdicts, repair and conflict flag, by replaying both contexts."""
    assumed: list[Relation] = []
    grounded: list[Relation] = []
    results: list[dict[str, object]] = []
    for claim in claims:
        before = reading.feasible(scene, assumed)
        verdict = claim_status(reading, scene, assumed, claim)
        ground = claim_status(reading, scene, grounded, claim)
        costs: list[int | None] = [0]
        if verdict == "contradicted":
            costs = [
                repair(reading, scene, assumed, z)
                for z in claim
                if status(reading, scene, assumed, z) == "contradicted"
            ]
        known = [cost for cost in costs if cost is not None]
        assumed.extend(claim)
        if ground == "entailed":
            grounded.extend(claim)
        results.append(
            {
                "verdict": verdict,
                "grounded": ground,
                "repair": max(known) if len(known) == len(costs) else None,
                "first_conflict": before and not reading.feasible(scene, assumed),
            }
        )
    return results


# Models, and what is true in them ------------------------------------------------------

Interval = tuple[int, int]
Box = tuple[Interval, ...]


def _pairs(count: int) -> list[Pair]:
    return [(u, v) for u in range(count) for v in range(count)]


def true_of_points(points: Sequence[tuple[int, ...]], *, strict: bool) -> set[Relation]:
    """Return all directions between points on the axes x, y and z."""
    found: set[Relation] = set()
    for u, v in _pairs(len(points)):
        x, y, z = (a - b for a, b in zip(points[u], points[v], strict=True))
        for name, (right, up) in COMPASS.items():
            exact = strict or name == "same_position"
            fits = all(
                d * sign > 0 or (sign == 0 and (not exact or d == 0))
                for d, sign in ((x, right), (y, up))
            )
            if fits:
                found.add((u, name, v))
        found.update((u, name, v) for name, sign in DEPTH.items() if z * sign > 0)
    return found


def true_of_cells(regions: Sequence[int]) -> set[Relation]:
    return {
        (u, name, v)
        for u, v in _pairs(len(regions))
        for name, label in RCC8.items()
        if label >> base_of_cells(regions[u], regions[v]) & 1
    }


def true_of_tiles(boxes: Sequence[Box]) -> set[Relation]:
    """Return all single tiles in which boxes on two axes lie."""
    found: set[Relation] = set()
    for u, v in _pairs(len(boxes)):
        lies = [
            {
                sign
                for sign, fits in (
                    (1, a[0] >= b[1]),
                    (-1, a[1] <= b[0]),
                    (0, b[0] <= a[0] and a[1] <= b[1]),
                )
                if fits
            }
            for a, b in zip(boxes[u], boxes[v], strict=True)
        ]
        found.update(
            (u, name, v) for name, (x, y) in TILES.items() if x in lies[0] and y in lies[1]
        )
    return found


def base_of_boxes(one: Box, other: Box) -> int:
    axes = list(zip(one, other, strict=True))
    if one == other:
        return BASE.index("eq")
    if any(a[0] > b[1] or b[0] > a[1] for a, b in axes):
        return BASE.index("dc")
    if any(a[0] == b[1] or b[0] == a[1] for a, b in axes):
        return BASE.index("ec")
    if all(b[0] <= a[0] and a[1] <= b[1] for a, b in axes):
        return BASE.index("ntpp" if all(b[0] < a[0] and a[1] < b[1] for a, b in axes) else "tpp")
    if all(a[0] <= b[0] and b[1] <= a[1] for a, b in axes):
        return BASE.index("ntppi" if all(a[0] < b[0] and b[1] < a[1] for a, b in axes) else "tppi")
    return BASE.index("po")


def true_of_blocks(boxes: Sequence[Box]) -> set[Relation]:
    """Return what is true of boxes on three axes: connection, directions, support, and distance
    (near means a gap of at most two steps).
    """
    found: set[Relation] = set()
    for u, v in _pairs(len(boxes)):
        base = base_of_boxes(boxes[u], boxes[v])
        found.update((u, r, v) for r, label in BLOCK_MEANINGS.items() if label >> base & 1)
        axes = dict(zip("xyz", zip(boxes[u], boxes[v], strict=True), strict=True))
        for name in (*COMPASS, *DEPTH, *ON_SIDES):
            if name == "same_position":
                fits = all(axes[axis][0] == axes[axis][1] for axis in "xy")
            else:
                fits = all(
                    axes[axis][0][0] >= axes[axis][1][1]
                    if sign > 0
                    else axes[axis][0][1] <= axes[axis][1][0]
                    for axis, sign in signs(name).items()
                    if sign
                )
            if fits and (name not in ON_SIDES or BASE[base] == "ec"):
                found.add((u, name, v))
        gap = max(max(a[0] - b[1], b[0] - a[1]) for a, b in axes.values())
        found.add((u, "near" if gap <= 2 else "far", v))
        if BASE[base] == "dc":
            found.add((u, "opposite", v))
    return found


# Random scenes -------------------------------------------------------------------------


def _interval(rng: random.Random, within: Interval) -> Interval:
    low, high = sorted(rng.sample(range(within[0], within[1] + 1), 2))
    return low, high


def random_boxes(rng: random.Random, count: int, axes: int) -> list[Box]:
    """Draw random boxes, many of them inside others."""
    boxes: list[Box] = []
    for _ in range(count):
        if boxes and rng.random() < 0.1:
            boxes.append(rng.choice(boxes))
        elif boxes and rng.random() < 0.5:
            boxes.append(tuple(_interval(rng, side) for side in rng.choice(boxes)))
        else:
            boxes.append(tuple(_interval(rng, (0, 7)) for _ in range(axes)))
    return boxes


def random_truths(
    profile: str, rng: random.Random, count: int
) -> tuple[set[Relation], set[Relation]]:
    """Return what is true of things in a random model of a profile, both as the scene states it and
    as claims do.
    """
    if profile == "rcc8":
        found = true_of_cells([rng.randrange(1, 1 << 7) for _ in range(count)])
    elif profile == "cdc":
        found = true_of_tiles(random_boxes(rng, count, 2))
    elif profile in BLOCKS:
        found = true_of_blocks(random_boxes(rng, count, 3))
    else:
        points = [tuple(rng.randrange(4) for _ in range(3)) for _ in range(count)]
        found = true_of_points(points, strict=False)
        if profile == "babi":
            return true_of_points(points, strict=True), found
    return found, found


def _pools(profile: str) -> list[list[str]]:
    """Return the sets of relation names from which scenes are made."""
    names = sorted(READINGS[profile].names)
    if profile in ("half-plane", "babi"):
        return [names, [*COMPASS, *DEPTH], [*COMPASS, *DEPTH]]
    if profile not in BLOCKS:
        return [names]
    return [
        names,
        [*BASE, "near", "far", "inside", "contains"],
        [*REGIONS, "inside", "contains", "left", "right"],
    ]


@dataclass(frozen=True)
class Case:
    """A random scene.

    Attributes:
        count: Number of things.
        scene: Relations of the scene.
        names: Relation names from which the scene is made.
        truths: What claims may truly say in the model that the scene is made from; empty if the
            scene need not have a model.
    """

    count: int
    scene: tuple[Relation, ...]
    names: tuple[str, ...]
    truths: frozenset[Relation]

    def pairs(self) -> st.SearchStrategy[Pair]:
        """Draw two things in the scene, occasionally the same thing twice."""
        others = list(permutations(range(self.count), 2))
        return st.sampled_from([*others, *others, *((t, t) for t in range(self.count))])

    def anything(self) -> st.SearchStrategy[Relation]:
        """Draw any relation between things in the scene."""
        both = st.tuples(self.pairs(), st.sampled_from(self.names))
        return both.map(lambda drawn: (drawn[0][0], drawn[1], drawn[0][1]))


@st.composite
def cases(draw: st.DrawFn, profile: str, modelled: bool = False) -> Case:
    """Draw 3 to 6 things and relations from a model; in every other scene, one relation for each
    link of a tree. Unless `modelled`, occasionally add one that need not be true, or draw all at
    random.
    """
    count = draw(st.sampled_from([3, 4, 4, 5, 5, 6]))
    names = tuple(draw(st.sampled_from(_pools(profile))))
    free = Case(count, (), names, frozenset())
    if not modelled and draw(st.integers(0, 2)) == 0:
        relations = draw(st.lists(free.anything(), max_size=count + 2))
        return replace(free, scene=tuple(relations))
    rng = random.Random(draw(st.integers(0, 2**32)))
    asserted, queried = random_truths(profile, rng, count)
    relations = []
    if draw(st.booleans()):
        for new in range(1, count):
            link = {new, rng.randrange(new)}
            linking = sorted(z for z in asserted if {z[0], z[2]} == link and z[1] in names)
            relations += [draw(st.sampled_from(linking))] if linking else []
    else:
        # In a set's order, the draws would differ from run to run.
        offered = [
            z for z in sorted(asserted) if z[1] in names and (z[0] != z[2] or rng.random() < 0.1)
        ]
        if offered:
            relations = draw(st.lists(st.sampled_from(offered), min_size=2, max_size=2 * count))
    if not modelled and draw(st.integers(0, 3)) == 0:
        relations.insert(draw(st.integers(0, len(relations))), draw(free.anything()))
        queried = set()
    truths = frozenset(z for z in queried if z[1] in READINGS[profile].names)
    return Case(count, tuple(relations), names, truths)
