"""Amounts in an audit: convert units, and decide relations with amounts exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symbouq.ontology.measures import EXACT, LARGEST, Measure, Offset, common_unit, with_measures
from symbouq.ontology.tables import Ontology
from symbouq.reading.text import IN_PART, ParsedTrace, Statement, offset_of

_FINEST = 8
"""Minimum number of layout steps in the common unit."""
_ROOM = 2
"""Maximum number of steps per relation: one between its things, and one for the length of a thing.
"""
_COMPARED = {"<": "less than", "<=": "at most", ">": "more than", ">=": "at least", EXACT: ""}


def quantified(ontology: Ontology, parsed: ParsedTrace) -> tuple[Ontology, ParsedTrace]:
    """Turn a trace's relations with amounts into separate relations, and add these to the ontology
    (`measured`). If the amounts of a claim cannot be compared, the claim is not judged (`in-part`).

    Args:
        ontology: The tables of the profile.
        parsed: The parsed trace.
    """
    scene = [statement for _, statement in parsed.scene]
    claimed = [statement for claim in parsed.claims for statement in claim.relations]
    if not any(statement.offset for statement in (*scene, *claimed)):
        return ontology, parsed
    extended, names = measured(ontology, scene, claimed)

    def named(statement: Statement) -> Statement:
        if statement not in names:
            return statement
        return replace(statement, relation=names[statement], direction=statement.relation)

    claims = []
    for claim in parsed.claims:
        lost = any(s.offset and s not in names for s in claim.relations)
        relations = () if lost else tuple(map(named, claim.relations))
        reason = IN_PART if lost else claim.reason
        claims.append(replace(claim, relations=relations, reason=reason))
    stated_scene = tuple((number, named(statement)) for number, statement in parsed.scene)
    return extended, replace(parsed, scene=stated_scene, claims=tuple(claims))


def measured(
    ontology: Ontology, scene: Sequence[Statement], claimed: Sequence[Statement] = ()
) -> tuple[Ontology, dict[Statement, str]]:
    """Extend the ontology by a trace's relations with amounts, and return the names of these
    relations.

    Amounts are compared within the most frequent kind of unit. Relations with other units, and all
    relations in a profile without units, get no name and count as plain directions.

    Args:
        ontology: The tables of the profile.
        scene: Relations of the scene.
        claimed: Relations of the claims.
    """
    measures = _comparable(ontology, [s for s in (*scene, *claimed) if s.offset])
    unit = common_unit(measures.values())
    steps = _FINEST + _ROOM * len(scene)
    largest = max((abs(s.value) for m in measures.values() for s in m.offset), default=0)
    if largest * steps * (len(scene) + 1) > LARGEST * unit:
        measures = {}
    if not measures:
        return ontology, {}
    names = {statement: measure.name for statement, measure in measures.items()}
    return with_measures(ontology, frozenset(measures.values()), unit, steps), names


def _comparable(ontology: Ontology, statements: Sequence[Statement]) -> dict[Statement, Measure]:
    """Return the measures of all relations with comparable amounts."""
    units = ontology.wording.unit
    if not units:
        return {}
    told = [statement.unit for statement in statements if statement.unit]

    def converted(unit: str) -> tuple[str, Fraction]:
        kind, parts = units.get(unit.lower(), (unit, 1))
        return kind, Fraction(parts)

    # Numbers without a unit get the first unit of the most frequent kind.
    kinds = Counter(converted(unit)[0] for unit in told)
    chosen = kinds.most_common(1)[0][0] if kinds else ""
    first = next((unit for unit in told if converted(unit)[0] == chosen), "")
    found = {}
    for statement in statements:
        kind, parts = converted(statement.unit or first)
        if kind == chosen:
            shifts = sorted(statement.offset)
            offset = tuple(shift._replace(value=shift.value * parts) for shift in shifts)
            amount = _amount_text(statement.offset, statement.unit)
            found[statement] = Measure(statement.relation, offset, amount)
    return found


def amount_text(record: Mapping[str, Any]) -> str:
    """Return the amounts of a relation record as text: "3 m", "(3, -4) cells", "more than 3 m".
    Empty if there are none.
    """
    return _amount_text(offset_of(record), record.get("unit") or "")


def _amount_text(offset: Offset, unit: str) -> str:
    alone = len({shift.axis for shift in offset}) == 1
    # On a single axis, the relation implies the sign.
    values = sorted(shift.turned() if alone and shift.value < 0 else shift for shift in offset)
    texts = [f"{_COMPARED[sense]} {float(value):g}".strip() for _, value, sense in values]
    told = " and ".join(texts) if alone else f"({', '.join(texts)})"
    return f"{told} {unit}".strip() if offset else ""
