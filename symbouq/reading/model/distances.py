"""Distances in a straight line: "A is 5 m from B"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from operator import eq, ge, gt, le, lt

from symbouq.ontology.measures import EXACT, Shift
from symbouq.ontology.tables import Ontology
from symbouq.reading.syntax.amounts import Amounts
from symbouq.reading.text import Statement

APART = "apart"
"""The relation of things at a distance. Its amount is a shift along no axis."""
_HOLDS = {EXACT: eq, "<": lt, "<=": le, ">": gt, ">=": ge}


def located(
    ontology: Ontology, scene: Sequence[Statement], distance: Statement
) -> Statement | None:
    """Turn a distance into a direction with an offset, which holds if and only if the distance is
    right. Return None if the exact amounts of a scene do not place both things in the plane. If
    they give heights or depths, these have to be equal.
    """
    component, amounts = ontology.relations.component, Amounts(ontology)
    origin = {distance.ground: Fraction(0)}
    places = {axis: dict(origin) for axis in amounts.plane}
    for statement in [*scene] * len(scene):
        level = component.get(statement.relation, {})
        shifts = [(axis, Fraction(0)) for axis in level if not any(level.values())]
        factor = amounts.factor(statement.unit or distance.unit, distance.unit) or 0
        shifts += ((a, v * factor) for a, v, sense in statement.offset if factor and sense == EXACT)
        for axis, value in shifts:
            known = places.setdefault(axis, dict(origin))
            if statement.ground in known:
                known.setdefault(statement.figure, known[statement.ground] + value)
            elif statement.figure in known:
                known[statement.ground] = known[statement.figure] - value
    found = {
        axis: known[distance.figure] for axis, known in places.items() if distance.figure in known
    }
    signs = {axis: 1 if value > 0 else -1 for axis, value in found.items() if value}
    ways = ontology.wording.clockwise
    way = next((w for w in ways if {a: s for a, s in component[w].items() if s} == signs), None)
    kind, _ = ontology.wording.unit.get(distance.unit, ("", 0))
    counted = len({size for of, size in ontology.wording.unit.values() if of == kind}) == 1
    if way is None or len(found) < len(places) or (counted and len(signs) > 1):
        return None  # steps and blocks are not counted across
    square = sum(value**2 for value in found.values())
    for _, value, sense in distance.offset:
        digit = Fraction(1, value.denominator)
        near = (value - digit) ** 2 < square < (value + digit) ** 2
        if sense == EXACT and near and square != value**2:
            return None  # the distance may be rounded
    held = all(_HOLDS[sense](square, value**2) for _, value, sense in distance.offset)
    # Twice the offset is one that the scene excludes.
    offset = tuple(Shift(axis, value if held else 2 * value) for axis, value in found.items())
    return replace(distance, relation=way, offset=tuple(sorted(offset)))
