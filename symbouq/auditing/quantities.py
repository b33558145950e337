"""Amounts in one audit: units are converted, and relations with amounts are decided exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symbouq.ontology.measures import LARGEST, Measure, common_unit, with_measures
from symbouq.ontology.tables import Ontology
from symbouq.reading.parsed import ParsedTrace, Stated


def quantified(ontology: Ontology, parsed: ParsedTrace) -> tuple[Ontology, ParsedTrace]:
    """A trace whose relations with amounts are relations of their own, and the ontology that has
    them.

    Amounts in units of one kind are compared; of several kinds, that which the scene has most of.
    Of others, as in a profile without units, a scene says the direction alone, and claims say what
    cannot be judged (`in-part`).

    Args:
        ontology: The tables of the profile.
        parsed: The trace.
    """
    scene = [stated for _, stated in parsed.scene if stated.record.get("offset")]
    claimed = [s for claim in parsed.claims for s in claim.relations if s.record.get("offset")]
    if not scene and not claimed:
        return ontology, parsed
    measures = _comparable(ontology, scene, claimed)
    unit = common_unit(measures.values())
    if any(abs(value) > LARGEST * unit for m in measures.values() for _, value in m.offset):
        measures = {}
    extended = with_measures(ontology, frozenset(measures.values()), unit)

    def named(stated: Stated) -> Stated:
        measure = measures.get(id(stated))
        if measure is None:
            return stated
        subject, _, thing = stated.triple
        return replace(stated, triple=(subject, measure.name, thing))

    claims = []
    for claim in parsed.claims:
        lost = any(s.record.get("offset") and id(s) not in measures for s in claim.relations)
        relations = () if lost else tuple(map(named, claim.relations))
        reason = "in-part" if lost else claim.reason
        claims.append(replace(claim, relations=relations, reason=reason))
    stated_scene = tuple((number, named(stated)) for number, stated in parsed.scene)
    return extended, replace(parsed, scene=stated_scene, claims=tuple(claims))


def _comparable(
    ontology: Ontology, scene: list[Stated], claimed: list[Stated]
) -> dict[int, Measure]:
    """The measures of the relations with amounts that can be compared, by their identity."""
    units = ontology.wording.unit
    if not units:
        return {}
    told = [unit for s in (*scene, *claimed) if (unit := s.record.get("unit") or "")]

    def converted(unit: str) -> tuple[str, Fraction]:
        kind, parts = units.get(unit.lower(), (unit, 1))
        return kind, Fraction(parts)

    # Numbers without a unit are in the first one of the kind that the text has most of.
    kinds = Counter(converted(unit)[0] for unit in told)
    chosen = kinds.most_common(1)[0][0] if kinds else ""
    first = next((unit for unit in told if converted(unit)[0] == chosen), "")

    def kind_of(stated: Stated) -> tuple[str, Fraction]:
        return converted(stated.record.get("unit") or first)

    found = {}
    for stated in (*scene, *claimed):
        kind, parts = kind_of(stated)
        if kind == chosen:
            offset = tuple(
                (axis, value * parts) for axis, value in sorted(_values(stated.record["offset"]))
            )
            found[id(stated)] = Measure(stated.triple[1], offset, _amount_text(stated.record))
    return found


def _values(offset: Mapping[str, Any]) -> Iterator[tuple[str, Fraction]]:
    for axis, value in offset.items():
        yield axis, Fraction(str(value))


def _amount_text(record: Mapping[str, Any]) -> str:
    """The amounts of a relation record as text: "3 m", "(3, -4) cells"; empty without any."""
    offset = record.get("offset") or {}
    values = [f"{value:g}" for _, value in sorted(offset.items())]
    told = values[0].lstrip("-") if len(values) == 1 else f"({', '.join(values)})"
    return f"{told} {record.get('unit') or ''}".strip() if values else ""
