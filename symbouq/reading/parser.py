"""The parser: a trace's text as relations, by the reader that its profile needs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from symbouq.limits import untimed
from symbouq.ontology.tables import Ontology
from symbouq.reading.clauses import Clauses
from symbouq.reading.parsed import ParsedClaim, ParsedTrace, Slots, Stated
from symbouq.reading.structured import structured_trace
from symbouq.records import ClauseRecord, Instance, Trace

if TYPE_CHECKING:  # spaCy loads only where there is text to parse
    from symbouq.reading.syntax.reader import SyntaxReader
    from symbouq.reading.traces import Mention, Text, TraceReader


class TraceParser:
    """Parses the traces of one profile.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self._readers: dict[tuple[str | None, bool], TraceReader[Any] | SyntaxReader] = {}

    def reader_for(self, instance: Instance) -> TraceReader[Any] | SyntaxReader:
        """The reader of an instance's text.

        Raises:
            PipelineError: If it is open text, and no trained English pipeline is installed.
        """
        return self._reader_of(instance.dataset)

    def _reader_of(self, dataset: str | None) -> TraceReader[Any] | SyntaxReader:
        own = dataset in self.ontology.lexicon.phrase_of
        templated = dataset in self.ontology.lexicon.templated
        key = dataset if own else None, templated
        if key not in self._readers:
            with untimed():
                self._readers[key] = self._reader(*key)
        return self._readers[key]

    def _reader(self, dataset: str | None, templated: bool) -> TraceReader[Any] | SyntaxReader:
        """A reader.

        Args:
            dataset: The data set whose phrases have a sense of their own, if there is one.
            templated: Whether its texts are made from templates.
        """
        from symbouq.reading.described.reader import DescribedReader
        from symbouq.reading.events.reader import EventReader
        from symbouq.reading.named.reader import NamedReader
        from symbouq.reading.syntax.pipeline import pipeline
        from symbouq.reading.syntax.reader import SyntaxReader
        from symbouq.reading.syntax.sentences import Sentences

        ontology = self.ontology
        if dataset is not None:
            own = ontology.lexicon.phrase_of[dataset]
            phrase = {**ontology.lexicon.phrase, **own}
            ontology = replace(ontology, lexicon=replace(ontology.lexicon, phrase=phrase))
        if ontology.eventful:
            return EventReader(ontology)
        if ontology.describes:
            return DescribedReader(ontology)
        if templated:
            return NamedReader(ontology)
        return SyntaxReader(ontology, Sentences(ontology, pipeline()))

    def pipeline_of(self, trace: Trace) -> dict[str, str] | None:
        """Package and version of the pipeline that parses a trace's text, if one does."""
        if trace.structured:
            return trace.reader.model_dump() if trace.reader else None
        pipeline = getattr(self.reader_for(trace), "pipeline", None)
        return {"pipeline": pipeline.name, "version": pipeline.version} if pipeline else None

    @property
    def reader(self) -> TraceReader[Any] | SyntaxReader:
        """The reader of texts of no data set."""
        return self._reader_of(None)

    def sentences(self, instance: Instance) -> list[str]:
        """The scene's sentences; none where it is given in relations alone."""
        if isinstance(instance.scene, str):
            return self.reader_for(instance).split(instance.scene)
        return instance.scene or []

    def parse(self, trace: Trace) -> ParsedTrace:
        """The trace's relations, read from its text or taken as they are given.

        Raises:
            RecordError: If a given relation is not in the profile, or the scene cannot be read.
        """
        if trace.structured:
            return structured_trace(self.ontology, trace)
        scene, reader = self.sentences(trace), self.reader_for(trace)
        if trace.conclusion is None:
            text = reader.read(scene, trace.question, response=trace.response)
        else:
            steps = trace.reasoning or ()
            text = reader.read(scene, trace.question, steps, trace.conclusion)
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
                "reason": claim.reason,
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
        record["reader"] = self.pipeline_of(trace)
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
            claim.reason,
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
