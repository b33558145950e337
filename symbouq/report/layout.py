"""The picture of a trace: one layout of the scene, and the places of things according to the
claims.

A scene usually allows many layouts; the picture shows the first one found by clingo-dl. Around each
thing, there are nine cells: before it, level with it or beyond it on each of the two axes. For any
two things, the scene determines in which cells around the second thing the first can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from symbouq.auditing.quantities import measured
from symbouq.limits import LimitError
from symbouq.logic.programs import Atom, TraceSolver
from symbouq.logic.programs import layout as solved_layout
from symbouq.logic.scene import current_scene
from symbouq.ontology.source import ASSERTED, QUERIED
from symbouq.ontology.tables import Ontology, Triple
from symbouq.reading.text import Statement, offset_of

AXES = ("x", "y")
"""The axes of a picture: rightwards and upwards."""

CELLS = tuple((x, y) for y in (1, 0, -1) for x in (-1, 0, 1))
"""The nine cells around a thing, row by row from the upper left. Each cell is given by its signs on
the two axes."""


def picture(ontology: Ontology, audit: Mapping[str, Any]) -> dict[str, Any]:
    """Lay out an audited trace (`symbouq.records.Audit`) for drawing.

    Returns:
        `things`, each with its `name`, its ends on the axes (`x`, `y`: `[low, high]` or None), its
        coordinates on `other` axes as text, and the index of the thing that it lies `in`, or None;
        `groups` of connected things, by index; whether things have an `extent`; and `regions`. For
        each relation of each claim, these hold None, or the indices of `subject` and `object` (None
        for things that the scene does not name) and the cells around the object that are `claimed`
        and, according to the scene, `possible`: nine characters, 1 or 0, in the order of `CELLS`.
        There are no things if the scene contradicts itself, or if a time limit is reached.
    """
    try:
        return _picture(ontology, audit)
    except LimitError:
        return _nothing(ontology)


def _statement(relation: Mapping[str, Any]) -> Statement:
    ends = relation["subject"], relation["relation"], relation["object"]
    return Statement(*ends, offset=offset_of(relation), unit=relation.get("unit") or "")


def _nothing(ontology: Ontology) -> dict[str, Any]:
    return {"things": [], "groups": [], "extent": ontology.extent, "regions": []}


def _picture(ontology: Ontology, audit: Mapping[str, Any]) -> dict[str, Any]:
    names: dict[str, int] = {}
    stated = audit["scene"]["relations"]
    measuring, measures = measured(ontology, [*map(_statement, stated)])

    def triple(relation: Mapping[str, Any]) -> Triple:
        subject, thing = (names.setdefault(relation[end], len(names)) for end in _ENDS)
        return subject, measures.get(_statement(relation), relation["relation"]), thing

    scene = _scene(measuring, stated, triple)
    things = list(names)
    claims = [[triple(relation) for relation in claim["relations"]] for claim in audit["claims"]]
    if not audit["scene"]["feasible"]:
        return _nothing(ontology)
    pairs = {
        (u, v): None
        for claim in claims
        for u, r, v in claim
        if u != v and _claimed(measuring, r) is not None
    }
    signs = _signs(measuring)
    context = [(measuring.encoding.readings[ASSERTED, r], u, v) for u, r, v in scene]
    probes = [(key, u, v) for u, v in pairs for key in signs.readings.values()]
    places: Mapping[tuple[int, int], int] = {}
    possible: dict[tuple[int, int], str] = {}
    if atoms := dict.fromkeys([*context, *probes]):
        solver = TraceSolver(signs.ontology, atoms)
        places = solved_layout(signs.ontology, context, probes) or {}
        possible = {(u, v): _cells(solver, context, signs, u, v) for u, v in pairs}
    inside = _nesting(measuring, scene)
    return {
        "things": [
            {"name": name, **_coordinates(measuring, scene, places, slot), "in": inside.get(slot)}
            for slot, name in enumerate(things)
        ],
        "groups": _groups(measuring, scene, len(things)),
        "extent": ontology.extent,
        "regions": [
            [_region(measuring, one, possible, len(things)) for one in claim] for claim in claims
        ],
    }


_ENDS = ("subject", "object")


def _scene(
    ontology: Ontology,
    relations: Sequence[Mapping[str, Any]],
    triple: Callable[[Mapping[str, Any]], Triple],
) -> list[Triple]:
    """Return the relations of the scene between slots, without relations that are replaced by later
    ones.
    """
    premises = [
        (relation["sentence"] or number, [triple(relation)])
        for number, relation in enumerate(relations, start=1)
    ]
    if ontology.state_updates:
        premises = current_scene(ontology, premises)
    return list(dict.fromkeys(one for _, triples in premises for one in triples))


# Where things are ------------------------------------------------------------------------


def _coordinates(
    ontology: Ontology, scene: Iterable[Triple], places: Mapping[tuple[int, int], int], slot: int
) -> dict[str, Any]:
    stated = {
        axis
        for u, r, v in scene
        if slot in (u, v)
        for axis in ontology.encoding.axes[ontology.encoding.readings[ASSERTED, r]]
    }
    ends: dict[str, list[int]] = {}
    for number, (axis, _) in enumerate(ontology.encoding.coordinates):
        # A coordinate mentioned only in a claim also has a value, but this value is arbitrary.
        if (slot, number) in places and (ontology.extent or axis in stated):
            ends.setdefault(axis, []).append(places[slot, number])
    spans = {axis: [min(values), max(values)] for axis, values in ends.items()}
    return {
        **{axis: spans.pop(axis, None) for axis in AXES},
        "other": ", ".join(
            f"{axis} {low}" if low == high else f"{axis} {low} to {high}"
            for axis, (low, high) in spans.items()
        ),
    }


def _spanning(ontology: Ontology, scene: Iterable[Triple]) -> set[int]:
    """Return the slots for pairs such as "B and C" in "between B and C". They are not drawn."""
    return {u for u, r, _ in scene if r in ontology.lexicon.grouped.values()}


def _nesting(ontology: Ontology, scene: Sequence[Triple]) -> dict[int, int]:
    wholes: dict[int, set[int]] = {}
    unseen = _spanning(ontology, scene)
    for u, r, v in scene:
        if not unseen.isdisjoint((u, v)):
            continue
        converse = ontology.relations.converse.get(r)
        if r in ontology.relations.within and converse not in ontology.relations.within:
            wholes.setdefault(u, set()).add(v)
        elif converse in ontology.relations.within and r not in ontology.relations.within:
            wholes.setdefault(v, set()).add(u)

    def around(thing: int, seen: frozenset[int]) -> set[int]:
        outer: set[int] = set()
        for whole in wholes.get(thing, set()) - seen:
            outer |= {whole, *around(whole, seen | {whole})}
        return outer

    depths = {whole: len(around(whole, frozenset([whole]))) for s in wholes.values() for whole in s}
    return {
        thing: max(candidates, key=lambda whole: (depths[whole], -whole))
        for thing, several in wholes.items()
        # If two things are parts of each other, neither is drawn inside the other.
        if (candidates := {w for w in several if thing not in around(w, frozenset([w]))})
    }


def _groups(ontology: Ontology, scene: Sequence[Triple], count: int) -> list[list[int]]:
    """Group things by connected places. Things without a place are grouped by any relation."""
    tied = [
        (u, v)
        for u, r, v in scene
        if r in ontology.relations.within
        or ontology.relations.converse.get(r) in ontology.relations.within
        or ontology.encoding.axes[ontology.encoding.readings[ASSERTED, r]]
    ]
    placed = {slot for pair in tied for slot in pair}
    group = list(range(count))
    for u, v in [*tied, *((u, v) for u, _, v in scene if u not in placed and v not in placed)]:
        old, new = group[v], group[u]
        group = [new if number == old else number for number in group]
    drawn = [slot for slot in range(count) if slot not in _spanning(ontology, scene)]
    return [[slot for slot in drawn if group[slot] == g] for g in dict.fromkeys(group)]


# Where things can be ---------------------------------------------------------------------


class _Signs:
    """An ontology with an additional reading for each sign on each axis of a picture: the subject
    is before the object, level with it (if things have an extent: overlapping it), or beyond it.
    """

    def __init__(self, ontology: Ontology) -> None:
        patterns, axes = list(ontology.encoding.patterns), list(ontology.encoding.axes)
        numbers = {place: n for n, place in enumerate(ontology.encoding.coordinates, start=1)}
        self.readings: dict[tuple[str, int], int] = {}
        for axis in AXES:
            if (axis, "point") in numbers:
                low = high = numbers[axis, "point"]
                step = 1
            elif (axis, "low") in numbers:
                low, high = numbers[axis, "low"], numbers[axis, "high"]
                step = 0  # a thing that ends where the other begins is before it
            else:
                continue
            for sign in (-1, 0, 1):
                key = self.readings[axis, sign] = len(patterns)
                bounds = {
                    -1: f"at_most({key},{high},{low},{-step}).",
                    0: f"at_least({key},{high},{low},{1 - step})."
                    f"at_most({key},{low},{high},{step - 1}).",
                    1: f"at_least({key},{low},{high},{step}).",
                }
                patterns.append(bounds[sign])
                axes.append(frozenset([axis]))
        self.ontology = replace(
            ontology,
            encoding=replace(ontology.encoding, patterns=tuple(patterns), axes=tuple(axes)),
        )

    def atoms(self, cell: tuple[int, int], u: int, v: int) -> list[Atom]:
        """Return readings that place thing `u` in a cell around thing `v`."""
        wanted = zip(AXES, cell, strict=True)
        return [(self.readings[key], u, v) for key in wanted if key in self.readings]


@lru_cache(maxsize=32)
def _signs(ontology: Ontology) -> _Signs:
    return _Signs(ontology)


def _cells(solver: TraceSolver, context: Sequence[Atom], signs: _Signs, u: int, v: int) -> str:
    return "".join(
        "1" if solver.feasible([*context, *signs.atoms(cell, u, v)]) else "0" for cell in CELLS
    )


@lru_cache(maxsize=4096)
def _claimed(ontology: Ontology, relation: str) -> str | None:
    """Return the cells in which the subject can be according to a claimed relation; None if all
    cells are possible.
    """
    signs = _signs(ontology)
    if not signs.readings:
        return None
    stated = (ontology.encoding.readings[QUERIED, relation], 0, 1)
    atoms = [stated, *((key, 0, 1) for key in signs.readings.values())]
    cells = _cells(TraceSolver(signs.ontology, atoms), [stated], signs, 0, 1)
    return cells if "0" in cells else None


def _region(
    ontology: Ontology, triple: Triple, possible: Mapping[tuple[int, int], str], count: int
) -> dict[str, Any] | None:
    """Return the cells for a claimed relation. The first `count` things are the things in the
    scene.
    """
    u, r, v = triple
    if (u, v) not in possible or (claimed := _claimed(ontology, r)) is None:
        return None
    subject, thing = (slot if slot < count else None for slot in (u, v))
    return {"subject": subject, "object": thing, "claimed": claimed, "possible": possible[u, v]}
