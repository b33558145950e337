"""The parser: a trace's text as relations, by the reader that its profile needs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from symbouq.limits import untimed
from symbouq.ontology.tables import Ontology
from symbouq.reading.clauses import Clauses
from symbouq.reading.parsed import ParsedClaim, ParsedTrace, Slots, Stated
from symbouq.reading.structured import structured_trace
from symbouq.records import ClauseRecord, Instance, Trace

if TYPE_CHECKING:  # spaCy loads only where there is text to parse
    from symbouq.reading.traces import Mention, Text, TraceReader


class TraceParser:
    """Parses the traces of one profile.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology

    @cached_property
    def reader(self) -> TraceReader[Any]:
        """The reader of the profile's texts, made when it is first needed."""
        with untimed():
            from symbouq.reading.described.reader import DescribedReader
            from symbouq.reading.events.reader import EventReader
            from symbouq.reading.named.reader import NamedReader

            if self.ontology.eventful:
                return EventReader(self.ontology)
            if self.ontology.describes:
                return DescribedReader(self.ontology)
            return NamedReader(self.ontology)

    def sentences(self, instance: Instance) -> list[str]:
        """The scene's sentences; none where it is given in relations alone."""
        if isinstance(instance.scene, str):
            return self.reader.split(instance.scene)
        return instance.scene or []

    def parse(self, trace: Trace) -> ParsedTrace:
        """The trace's relations, read from its text or taken as they are given.

        Raises:
            RecordError: If a given relation is not in the profile, or the scene cannot be read.
        """
        if trace.structured:
            return structured_trace(self.ontology, trace)
        scene = self.sentences(trace)
        if trace.conclusion is None:
            text = self.reader.read(scene, trace.question, response=trace.response)
        else:
            steps = trace.reasoning or ()
            text = self.reader.read(scene, trace.question, steps, trace.conclusion)
        return _parsed(text)

    def record(self, trace: Trace) -> dict[str, Any]:
        """The trace with its relations beside its text, in a shape that is read as a trace.

        Raises:
            RecordError: As `parse` does.
        """
        parsed = self.parse(trace)
        record = trace.model_dump(exclude_unset=True)
        record["profile"] = self.ontology.profile
        record["scene_relations"] = [stated.record for _, stated in parsed.scene]
        record["claims"] = [
            {
                "type": claim.type,
                "text": claim.text,
                "stance": claim.stance,
                "relations": [stated.record for stated in claim.relations],
            }
            for claim in parsed.claims
        ]
        if parsed.events is not None:
            record["scene_events"] = [
                _clause_records(clauses) for _, clauses in parsed.events.scene
            ]
            for claim, clauses in zip(record["claims"], parsed.events.claims, strict=True):
                claim["events"] = _clause_records(clauses)
        record["faults"] = list(parsed.faults)
        return record


def _parsed(text: Text) -> ParsedTrace:
    """A text's relations over numbered things."""
    slots = Slots()

    def stated(mention: Mention, sentence: int) -> Stated:
        return Stated(
            (slots[mention.subject], mention.relation, slots[mention.object]),
            {
                "subject": mention.subject,
                "relation": mention.relation,
                "object": mention.object,
                "sentence": sentence,
                "span": list(mention.span),
                "confidence": mention.confidence,
                "grounded": mention.grounded,
            },
        )

    scene = tuple(
        (number, stated(mention, number))
        for number, mentions in enumerate(text.scene, start=1)
        for mention in mentions
    )
    claims = tuple(
        ParsedClaim(
            claim.type,
            claim.text,
            tuple(stated(m, number) for m in claim.relations),
            claim.stance,
        )
        for number, claim in enumerate(text.claims, start=1)
    )
    return ParsedTrace(tuple(slots.of), scene, claims, text.faults, text.events)


def _clause_records(clauses: Clauses) -> list[dict[str, Any]]:
    """Clauses in the shape of `symbouq.records.ClauseRecord`."""
    return [
        ClauseRecord.model_validate(vars(clause)).model_dump(exclude_defaults=True)
        for clause in clauses
    ]
