"""Read traces that are given as relations instead of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from symbouq.errors import RecordError
from symbouq.limits import untimed
from symbouq.ontology.tables import Ontology
from symbouq.reading.clauses import Clauses
from symbouq.reading.text import (
    NOWHERE,
    Claim,
    Count,
    ParsedTrace,
    Question,
    Statement,
    offset_of,
)
from symbouq.records import ClaimRecord, ClauseRecord, Instance, RelationRecord, Trace


def structured_trace(
    ontology: Ontology, trace: Instance, question: Callable[[], Question]
) -> ParsedTrace:
    """Convert a trace that is given as relations.

    Args:
        ontology: The tables of the profile.
        trace: The trace, or a scene with a question.
        question: Function that reads the question.

    Raises:
        RecordError: If a relation is not in the profile, or if only some relations have sentence
            numbers.
    """
    named = {name for r in trace.scene_relations or () for name in (r.subject, r.object)}

    def stated(relation: RelationRecord, place: str) -> Statement:
        try:
            name = ontology.canonical(relation.relation)
        except KeyError as error:
            raise RecordError(f"{place}: {error.args[0]}") from error
        axes = {axis for axis, _ in ontology.encoding.coordinates}
        measured = name in ontology.relations.component and axes >= set(relation.offset or ())
        if relation.offset and not measured:
            raise RecordError(
                f"{place}: an offset is that of a direction, along axes of the profile "
                f"({', '.join(sorted(axes))})"
            )
        grounded = relation.grounded
        if grounded is None:
            grounded = relation.subject in named and relation.object in named
        return Statement(
            relation.subject,
            name,
            relation.object,
            (relation.span[0], relation.span[1]) if relation.span else NOWHERE,
            relation.confidence,
            grounded,
            offset_of({"offset": relation.offset}),
            relation.unit or "",
            sentence=relation.sentence,
        )

    relations = trace.scene_relations or []
    unplaced = [n for n, r in enumerate(relations, start=1) if r.sentence is None]
    if unplaced and len(unplaced) < len(relations):
        raise RecordError(
            f"scene_relations.{unplaced[0]}: has no sentence, but others have; give all or none"
        )
    scene = tuple(
        (r.sentence or n, stated(r, f"scene_relations.{n}"))
        for n, r in enumerate(relations, start=1)
    )
    given = (trace.claims or []) if isinstance(trace, Trace) else []
    scene_events, claim_events = structured_events(ontology, trace)
    claims = tuple(
        Claim(
            "conclusion" if number == len(given) else claim.type,
            claim.text,
            tuple(
                stated(r, f"claims.{number}.relations.{n}")
                for n, r in enumerate(claim.relations, start=1)
            ),
            claim.stance,
            claim.reason,
            _count(claim, number),
            tuple(claim.rest),
            claim_events[number - 1] if claim_events else (),
        )
        for number, claim in enumerate(given, start=1)
    )
    parsed = ParsedTrace(scene, claims, events=scene_events, question=question)
    if not isinstance(trace, Trace):
        return parsed
    return replace(parsed, faults=tuple(trace.faults), complete=trace.complete)


def _count(claim: ClaimRecord, number: int) -> Count | None:
    """The minimum and maximum of a counted claim; None for other claims.

    Raises:
        RecordError: If a counted claim has no minimum and maximum.
    """
    if claim.stance != "counted":
        return None
    if claim.least is None or claim.most is None or claim.least > claim.most:
        raise RecordError(f"claims.{number}: a counted claim needs `least` and `most`, in order")
    return claim.least, claim.most


def structured_events(
    ontology: Ontology, trace: Instance
) -> tuple[tuple[tuple[int, Clauses], ...] | None, Sequence[Clauses]]:
    """If the profile reads events, return a record's clauses for each scene sentence, with its
    number, and for each claim.

    Raises:
        RecordError: If there are relations without clauses, or invalid clauses.
    """
    if not ontology.eventful or trace.scene_events is None:
        return None, ()
    with untimed():
        from symbouq.reading.events.reader import given_clause

    def clauses(records: Sequence[ClauseRecord], place: str) -> Clauses:
        return tuple(
            given_clause(ontology, record, f"{place}.{n}") for n, record in enumerate(records, 1)
        )

    if trace.scene_relations and not trace.scene_events:
        raise RecordError("scene_events: empty, but there are scene_relations")
    claims = list(enumerate(getattr(trace, "claims", None) or (), 1))
    for n, claim in claims:
        if claim.relations and not claim.events:
            raise RecordError(f"claims.{n}: has relations, but no events")
    return (
        tuple((n, clauses(s, f"scene_events.{n}")) for n, s in enumerate(trace.scene_events, 1)),
        tuple(clauses(claim.events, f"claims.{n}.events") for n, claim in claims),
    )
