"""Amounts in one audit: units are converted, and relations with amounts are decided exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symbouq.ontology.measures import EXACT, LARGEST, Measure, Shift, common_unit, with_measures
from symbouq.ontology.tables import Ontology
from symbouq.reading.parsed import IN_PART, ParsedTrace, Stated

Record = Mapping[str, Any]
"""A relation in the shape of `symbouq.records.RelationRecord`."""

_FINEST = 8
"""The fewest steps of the layout in the common unit."""
_ROOM = 2
"""How many steps a relation takes up at most: one between its things, one that a thing is long."""
_COMPARED = {"<": "less than", "<=": "at most", ">": "more than", ">=": "at least", EXACT: ""}


def quantified(ontology: Ontology, parsed: ParsedTrace) -> tuple[Ontology, ParsedTrace]:
    """A trace whose relations with amounts are relations of their own, and the ontology that has
    them (`measured`). Of claims whose amounts cannot be compared nothing is judged (`in-part`).

    Args:
        ontology: The tables of the profile.
        parsed: The trace.
    """
    scene = [stated.record for _, stated in parsed.scene]
    claimed = [stated.record for claim in parsed.claims for stated in claim.relations]
    if not any(record.get("offset") for record in (*scene, *claimed)):
        return ontology, parsed
    extended, names = measured(ontology, scene, claimed)

    def named(stated: Stated) -> Stated:
        subject, relation, thing = stated.triple
        name = names.get(id(stated.record), relation)
        return replace(stated, triple=(subject, name, thing))

    claims = []
    for claim in parsed.claims:
        records = [stated.record for stated in claim.relations]
        lost = any(record.get("offset") and id(record) not in names for record in records)
        relations = () if lost else tuple(map(named, claim.relations))
        reason = IN_PART if lost else claim.reason
        claims.append(replace(claim, relations=relations, reason=reason))
    stated_scene = tuple((number, named(stated)) for number, stated in parsed.scene)
    return extended, replace(parsed, scene=stated_scene, claims=tuple(claims))


def measured(
    ontology: Ontology, scene: Sequence[Record], claimed: Sequence[Record] = ()
) -> tuple[Ontology, dict[int, str]]:
    """The ontology that has the relations with amounts of a trace as relations of their own, and
    the names of these by the identity of their records.

    Amounts in units of one kind are compared; of several kinds, that which the trace has most of.
    Others have no name, nor has any in a profile without units: they are directions alone.

    Args:
        ontology: The tables of the profile.
        scene: The relations of the scene.
        claimed: Those of the claims.
    """
    measures = _comparable(ontology, [r for r in (*scene, *claimed) if r.get("offset")])
    unit = common_unit(measures.values())
    steps = _FINEST + _ROOM * len(scene)
    largest = max((abs(s.value) for m in measures.values() for s in m.offset), default=0)
    if largest * steps * (len(scene) + 1) > LARGEST * unit:
        measures = {}
    if not measures:
        return ontology, {}
    names = {record: measure.name for record, measure in measures.items()}
    return with_measures(ontology, frozenset(measures.values()), unit, steps), names


def _comparable(ontology: Ontology, records: Sequence[Record]) -> dict[int, Measure]:
    """The measures of the relations with amounts that can be compared, by their identity."""
    units = ontology.wording.unit
    if not units:
        return {}
    told = [unit for record in records if (unit := record.get("unit"))]

    def converted(unit: str) -> tuple[str, Fraction]:
        kind, parts = units.get(unit.lower(), (unit, 1))
        return kind, Fraction(parts)

    # Numbers without a unit are in the first one of the kind that the text has most of.
    kinds = Counter(converted(unit)[0] for unit in told)
    chosen = kinds.most_common(1)[0][0] if kinds else ""
    first = next((unit for unit in told if converted(unit)[0] == chosen), "")
    found = {}
    for record in records:
        kind, parts = converted(record.get("unit") or first)
        if kind == chosen:
            shifts = sorted(_shifts(record["offset"]))
            offset = tuple(shift._replace(value=shift.value * parts) for shift in shifts)
            found[id(record)] = Measure(record["relation"], offset, amount_text(record))
    return found


def _shifts(offset: Mapping[str, Any]) -> Iterator[Shift]:
    for axis, told in offset.items():
        bounds = told if isinstance(told, Mapping) else {EXACT: told}
        for sense, value in bounds.items():
            yield Shift(axis, Fraction(str(value)), sense)


def amount_text(record: Record) -> str:
    """The amounts of a relation record as text: "3 m", "(3, -4) cells", "more than 3 m"; empty
    without any.
    """
    shifts = sorted(_shifts(record.get("offset") or {}))
    alone = len({shift.axis for shift in shifts}) == 1
    # Of one axis alone the relation tells which way it goes.
    values = sorted(shift.turned() if alone and shift.value < 0 else shift for shift in shifts)
    texts = [f"{_COMPARED[sense]} {float(value):g}".strip() for _, value, sense in values]
    told = " and ".join(texts) if alone else f"({', '.join(texts)})"
    return f"{told} {record.get('unit') or ''}".strip() if shifts else ""
