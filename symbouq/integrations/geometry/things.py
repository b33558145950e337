"""Named things with places, and sentences about how they lie relative to each other.

Topology is stated with the relations of RCC-8. A direction is stated if two things are completely
separate on an axis. The ontology determines which relation has which sign on which axis, and how it
is worded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import combinations
from operator import ge, gt
from typing import Any, NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError
from shapely import Geometry, STRtree
from shapely.affinity import scale

from symbouq.errors import RecordError
from symbouq.ontology.library import builtin
from symbouq.ontology.tables import Relations

PROFILE = "everyday"
"""Profile of the scenes, which has topology, directions and depth."""

_FAMILIES = ("direction", "depth")
"""Families of relations that only describe the position of a thing."""

_EVERYDAY = {
    "tpp": "inside", "ntpp": "inside", "tppi": "contains", "ntppi": "contains",
    "eq": "same_position",
}  # fmt: skip
"""Maps relations of RCC-8 to the everyday relations that are worded differently."""

_Checked = TypeVar("_Checked")


class Thing(NamedTuple):
    """A named thing and its place.

    Attributes:
        name: Name in sentences.
        ends: Maps an axis of the ontology to the two ends of the thing on it: x grows to the right
            or eastwards, y upwards or northwards, z towards the viewer.
        shape: Geometries that make up the thing: one geometry on a map; ground plan and height in
            space, which are multiplied. Empty if contact and containment are unknown.
        solid: Whether the thing fills part of the plane or space, unlike a point or a line. Only
            such things can touch and still have a direction.
    """

    name: str
    ends: dict[str, tuple[float, float]]
    shape: tuple[Geometry, ...] = ()
    solid: bool = True


Found = Iterator[tuple[str, Sequence[Thing]] | RecordError]
"""Scenes of a file, each a name and its things, and errors about things that are left out."""


def checked(
    kind: TypeAdapter[_Checked], content: Any, format_: str, file: str, depths: Sequence[int]
) -> tuple[_Checked, list[RecordError]]:
    """Check the JSON value of a file. Return it, and errors about the parts that are left out.

    Args:
        kind: The expected shape.
        content: The value, which is changed.
        format_: Name of the shape.
        file: The file, for messages.
        depths: Lengths of paths to parts that may be left out, the longest first.

    Raises:
        RecordError: If the value has another shape. The message gives the position of the first
            error.
    """
    faults: dict[tuple[int | str, ...], RecordError] = {}
    try:
        return kind.validate_python(content), []
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_input=False):
            place = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in fault["loc"])
            where = f"{place.lstrip('.')}: " if place else ""
            told = RecordError(f"expected {format_}; {where}{fault['msg']}", file)
            parts = (fault["loc"][:n] for n in depths if len(fault["loc"]) > n)
            part = next((each for each in parts if _holder(content, each) is not None), None)
            if part is None:
                raise told from error
            faults.setdefault(part, told)
    for part in sorted(faults, reverse=True):
        del _holder(content, part)[part[-1]]
    found, others = checked(kind, content, format_, file, depths)
    return found, [*faults.values(), *others]


def _holder(content: Any, part: Sequence[int | str]) -> Any:
    for step in part[:-1]:
        content = content[step]
    return content if isinstance(content, dict | list) else None


def numbered(names: Sequence[str]) -> list[str]:
    """Turn common nouns into names: "the dog", or "the cup 1", "the cup 2" if there are several."""
    counts = Counter(name.casefold() for name in names)
    seen: Counter[str] = Counter()
    called = []
    for name in names:
        seen[name.casefold()] += 1
        number = f" {seen[name.casefold()]}" if counts[name.casefold()] > 1 else ""
        called.append(f"the {name}{number}")
    return called


def distinct(things: Sequence[Thing]) -> list[Thing]:
    """Give all things different names. If several things have the same name, ignoring case, add a
    unique number to each name.
    """
    counts = Counter(thing.name.casefold() for thing in things)
    taken, made = set(counts), []
    for thing in things:
        name, number = thing.name, 0
        while counts[thing.name.casefold()] > 1 and name.casefold() in taken:
            number += 1
            name = f"{thing.name} {number}"
        taken.add(name.casefold())
        made.append(thing._replace(name=name))
    return made


def rcc8(first: Geometry, second: Geometry) -> str:
    """Return the relation of RCC-8 between two geometries, by their DE-9IM. For lines and points,
    return the relation with the corresponding meaning.
    """
    if first.equals(second):
        return "eq"
    if not first.intersects(second):
        return "dc"
    for inner, outer, part, interior in (
        (first, second, "tpp", "ntpp"),
        (second, first, "tppi", "ntppi"),
    ):
        if inner.within(outer):
            return part if inner.intersects(outer.boundary) else interior
    return "ec" if first.touches(second) else "po"


def topology(first: Thing, second: Thing) -> str:
    """Return the relation of RCC-8 between two things that have a shape."""
    return reduce(_product, map(rcc8, first.shape, second.shape))


def scene(
    things: Sequence[Thing],
    compass: bool = False,
    tolerance: float = 0.0,
    told: Callable[[str], bool] = lambda name: True,
) -> list[tuple[str, tuple[str, str, str]]]:
    """List the relations between things: each as a sentence, and as (subject, relation, object).

    Args:
        things: The things. Either all or none of them have a shape.
        compass: Whether directions are worded as compass directions.
        tolerance: Share of a thing's size by which it may overlap another thing and still count as
            beside it; at least 0 and less than 1. Topological relations are stated only if they do
            not depend on this tolerance.
        told: Returns whether the thing with the given name is to be described. Pairs without such a
            thing are left out.
    """
    ontology = builtin().ontology(PROFILE)
    wording, directions = ontology.lexicon.wording, _directions(ontology.relations)
    tight = [_shrunk(thing, tolerance) for thing in things] if tolerance else things
    layouts = (things, tight) if tolerance else (things,)
    # Topology is stated only if both layouts agree, so all that is stated is true of the shrunk
    # things.
    shaped = [layout for layout in layouts if layout and all(thing.shape for thing in layout)]
    meetings = [_meetings(layout) for layout in shaped]
    sentences = []

    def tell(subject: int, relation: str, object_: int, rank: int = 0) -> None:
        text = f"{things[subject].name} is {wording[relation][rank]} {things[object_].name}."
        stated = things[subject].name, relation, things[object_].name
        sentences.append((text[0].upper() + text[1:], stated))

    for i, j in combinations(range(len(things)), 2):
        if not (told(things[i].name) or told(things[j].name)):
            continue
        found = {met.get((i, j), "dc") for met in meetings}
        if found == {"contains"}:  # stated the other way round, as people would do
            tell(j, "inside", i)
        elif len(found) == 1:
            tell(i, found.pop(), j)
        left = _signs(tight[i], tight[j])
        for signs, relation in directions:
            if signs <= left:
                left -= signs
                tell(i, relation, j, rank=int(compass))
    return sentences


_Signs = frozenset[tuple[str, int]]
"""Axes, each with the sign of the difference on it."""


def _directions(relations: Relations) -> list[tuple[_Signs, str]]:
    """Return the signs of each direction. Directions with the most axes come first."""
    of = {
        frozenset((axis, sign) for axis, sign in components.items() if sign): relation
        for relation, components in relations.component.items()
        if relations.family[relation] in _FAMILIES
    }
    told = [(signs, relation) for signs, relation in of.items() if signs]
    return sorted(told, key=lambda each: (-len(each[0]), each[1]))


def _signs(first: Thing, second: Thing) -> _Signs:
    """Return the axes on which the first thing is completely on one side of the second thing, each
    with the sign for this side.
    """
    # A point on a border may belong to the thing that begins there, so it has to lie beyond the
    # border.
    past = ge if first.solid and second.solid else gt
    signs = set()
    for axis, (low, high) in first.ends.items():
        other_low, other_high = second.ends[axis]
        signs.add((axis, int(past(low, other_high)) - int(past(other_low, high))))
    return frozenset((axis, sign) for axis, sign in signs if sign)


def _meetings(things: Sequence[Thing]) -> dict[tuple[int, int], str]:
    """Map each pair of things (by number) that may be connected to its topological relation."""
    places = [thing.shape[0] for thing in things]
    pairs = STRtree(places).query(places, predicate="intersects").T.tolist()
    found = {(i, j): topology(things[i], things[j]) for i, j in pairs if i < j}
    return {pair: _EVERYDAY.get(relation, relation) for pair, relation in found.items()}


def _product(one: str, other: str) -> str:
    for either in ("dc", "ec"):
        if either in (one, other):
            return either
    if one == other:
        return one
    for part in ({"tpp", "ntpp", "eq"}, {"tppi", "ntppi", "eq"}):
        if {one, other} <= part:
            return "tpp" if "tpp" in part else "tppi"
    return "po"


def _shrunk(thing: Thing, share: float) -> Thing:
    """Shrink a thing by a share of its size, half of it at either end."""
    ends = {
        axis: (low + share * (high - low) / 2, high - share * (high - low) / 2)
        for axis, (low, high) in thing.ends.items()
    }
    shape = tuple(scale(part, 1 - share, 1 - share) for part in thing.shape)
    return thing._replace(ends=ends, shape=shape)
