"""Turn a trace's text into relations, with a reader suitable for the text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import clingo

from symbouq.errors import RecordError
from symbouq.limits import turn, untimed
from symbouq.ontology.source import Place
from symbouq.ontology.tables import Ontology
from symbouq.reading.bounds import left_out, shortened
from symbouq.reading.clauses import Clauses
from symbouq.reading.segments import lettered
from symbouq.reading.standins import StandIns
from symbouq.reading.structured import structured_trace
from symbouq.reading.text import ParsedTrace, Question
from symbouq.reading.traces import Told
from symbouq.reading.wrapping import unwrapped
from symbouq.records import ClauseRecord, Instance, Trace

if TYPE_CHECKING:  # spaCy is loaded only if there is text to parse
    from symbouq.reading.model.dialogue import TraceTexts
    from symbouq.reading.model.reader import ModelReader
    from symbouq.reading.syntax.derivation import Derivation
    from symbouq.reading.traces import TraceReader


class TraceParser:
    """Parser for the traces of one profile.

    Args:
        ontology: The tables of the profile.
        own: The tables of the profile with the words for described texts. By default, this is the
            same profile.
        pipeline: Package with the pipeline for parsing open text. By default, the installed package
            is used.
    """

    def __init__(
        self, ontology: Ontology, own: Ontology | None = None, pipeline: str | None = None
    ) -> None:
        self.ontology = ontology
        self._pipeline = pipeline
        self._own = own or ontology
        self._readers: dict[tuple[str | None, str], TraceReader] = {}
        self._by_model: ModelReader | None = None

    @turn()
    def reader_for(self, instance: Instance) -> TraceReader:
        """Return the reader for an instance's text.

        Raises:
            PipelineError: If the text is open and no trained English pipeline is installed.
        """
        return self._reader_of(instance.dataset)

    def _kind(self, dataset: str | None) -> str:
        """Return the kind of reader needed for a text. This depends on the dataset or else on the
        profile.
        """
        if self.ontology.eventful:
            return "eventful"
        by_profile = "described" if self.ontology.describes else "parsed"
        return self.ontology.reads(dataset) or by_profile

    def _words(self, kind: str) -> Ontology:
        """The tables with the words for a kind of text."""
        return self._own if kind == "described" else self.ontology

    def _reader_of(self, dataset: str | None) -> TraceReader:
        dataset = (dataset or "").lower()
        kind = self._kind(dataset)
        own = dataset in self._words(kind).lexicon.phrase_of
        key = dataset if own else None, kind
        if key not in self._readers:
            with untimed():
                self._readers[key] = self._reader(*key)
        return self._readers[key]

    def _reader(self, dataset: str | None, kind: str) -> TraceReader:
        ontology = self._words(kind)
        if dataset is not None:
            own = ontology.lexicon.phrase_of[dataset]
            phrase = {**ontology.lexicon.phrase, **own}
            ontology = replace(ontology, lexicon=replace(ontology.lexicon, phrase=phrase))
        match kind:
            case "eventful":
                from symbouq.reading.events.reader import EventReader

                return EventReader(ontology)
            case "described":
                from symbouq.reading.described.reader import DescribedReader

                return DescribedReader(replace(ontology, describes=True))
        from symbouq.reading.syntax.pipeline import pipeline
        from symbouq.reading.syntax.reader import SyntaxReader
        from symbouq.reading.syntax.sentences import Sentences

        return SyntaxReader(ontology, Sentences(ontology, pipeline(self._pipeline)))

    def pipeline_of(self, trace: Trace) -> dict[str, str] | None:
        """Describe the software that reads a trace's text (`symbouq.records.trace.ReaderRecord`):
        package and version of the pipeline, and the language model with the version of its prompt.
        """
        if trace.structured:
            return trace.reader.model_dump(exclude_none=True) if trace.reader else None
        given = trace.readings
        parses = given is None or given.second_opinion
        pipeline = getattr(self.reader_for(trace), "pipeline", None) if parses else None
        by_model = {} if given is None else {"model": given.model, "prompt": given.prompt}
        if pipeline is None and given is None:
            return None
        name, version = (pipeline.name, pipeline.version) if pipeline else ("", "")
        return {"pipeline": name, "version": version, **by_model}

    @turn()
    def sentences(self, instance: Instance) -> list[str]:
        """Split the scene into sentences. The result is empty if the scene is given only as
        relations.
        """
        if isinstance(instance.scene, str):
            return self.reader_for(instance).split(unwrapped(instance.scene))
        return [*map(unwrapped, instance.scene or ())]

    @turn()
    def ahead(self, instances: Iterable[Instance]) -> None:
        """Read the sentences of several instances in the same batches, if their reader supports
        this.
        """
        told: dict[Any, list[Told]] = {}
        for instance in instances:
            if isinstance(instance, Trace) and instance.structured:
                continue
            if instance.readings is None:
                reader, texts = self.reader_for(instance), self._told(instance)
            elif instance.readings.second_opinion:
                reader, texts = self.reader_for(instance), _cut(self.texts(instance))
            else:
                continue
            told.setdefault(reader, []).append(texts)
        for reader, some in told.items():
            reader.ahead(some)

    def _told(self, instance: Instance) -> Told:
        told = self._texts(instance)
        if instance.scene_relations is None:
            return told
        put = _stand_ins(instance).put
        return told._replace(
            scene=[*map(put, told.scene)],
            question=put(told.question),
            reasoning=None if told.reasoning is None else [*map(put, told.reasoning)],
            conclusion=None if told.conclusion is None else put(told.conclusion),
            response=None if told.response is None else put(told.response),
            options=put(told.options),
        )

    def _texts(self, instance: Instance) -> Told:
        scene, question = self.sentences(instance), unwrapped(instance.question)
        if not isinstance(instance, Trace):
            return Told(scene, question)
        if instance.conclusion is None or instance.truncated:
            response = unwrapped(shortened(_written(instance) or ""))
            options = lettered(instance.answer_space)
            return Told(scene, question, None, None, response, instance.truncated, options)
        conclusion = unwrapped(shortened(instance.conclusion))
        steps = [*map(unwrapped, instance.reasoning or ())]
        return Told(scene, question, steps, conclusion, options=lettered(instance.answer_space))

    @turn()
    def parse(self, instance: Instance) -> ParsedTrace:
        """Return the relations in a trace, or in a scene with a question. They may be given
        directly or as text.

        Raises:
            RecordError: If a given relation is not in the profile, or if the scene cannot be read.
        """
        if instance.scene_relations is not None:
            asked = cache(partial(self._asked, instance))
            given = structured_trace(self.ontology, instance, asked)
            if not isinstance(instance, Trace) or instance.structured:
                return given
            read = self._parsed_text(instance, self._told(instance))
            return _stand_ins(instance).parsed(replace(read, complete=given.complete), given.scene)
        if instance.readings is not None:
            return self._by_replies(instance)
        text = self._parsed_text(instance, self._told(instance))
        if isinstance(instance, Trace):
            part = ("the conclusion", instance.conclusion)
            if instance.conclusion is None or instance.truncated:
                part = ("the response", _written(instance))
            cut = left_out(*part)
            text = replace(text, faults=(*text.faults, *((cut,) if cut else ())))
        return text

    @turn()
    def _asked(self, instance: Instance) -> Question:
        """Read the question of an instance whose scene is given as relations."""
        if instance.readings is not None:
            return self._by_replies(instance).question()
        with untimed():  # the readers load spaCy
            from symbouq.reading.described.reader import DescribedReader

            reader = self.reader_for(instance)
        if isinstance(reader, DescribedReader):
            scene = [
                (r.sentence or n, (r.subject, self.ontology.canonical(r.relation), r.object))
                for n, r in enumerate(instance.scene_relations or (), start=1)
            ]
            return reader.question_about(scene, instance.question)
        return reader.question(self.sentences(instance), instance.question)

    def _parsed_text(self, instance: Instance, told: Told) -> ParsedTrace:
        """Read an instance's texts with its reader."""
        text = self.reader_for(instance).read(*told)
        if self._own is not self.ontology and self._kind(instance.dataset) == "described":
            from symbouq.reading.transfer import transferred

            text = transferred(text, self.ontology)
        return text

    # Language models ---------------------------------------------------------------------

    @property
    def model_reader(self) -> ModelReader:
        """The reader for a language model's replies."""
        if self._by_model is None:
            with untimed():
                from symbouq.reading.model.reader import ModelReader

                self._by_model = ModelReader(self.ontology)
        return self._by_model

    @turn()
    def texts(self, instance: Instance) -> TraceTexts:
        """Split the texts of an instance into sentences, as input for a language model."""
        with untimed():
            from symbouq.reading.model.dialogue import TraceTexts

        trace = instance if isinstance(instance, Trace) else None
        return TraceTexts.of(
            instance.scene or [],
            instance.question,
            trace.reasoning if trace else None,
            trace.conclusion if trace and not trace.truncated else None,
            _written(trace) if trace else None,
            instance.readings.left if instance.readings else (),
        )

    def _by_replies(self, instance: Instance) -> ParsedTrace:
        """Read an instance from a language model's replies.

        Raises:
            RecordError: If the readings are for a different text.
        """
        given = instance.readings
        assert given is not None  # checked by the caller
        return self.model_reader.read(self.texts(instance), given.replies, given.alone)

    @turn()
    def second_opinion(self, instance: Instance) -> ParsedTrace:
        """Read the sentences that a language model is asked about with the parser."""
        return self._parsed_text(instance, _cut(self.texts(instance)))

    @turn()
    def derivations(self, trace: Trace, facts: Mapping[clingo.Symbol, Place]) -> list[Derivation]:
        """Derive the reading of each sentence again.

        Args:
            trace: The trace.
            facts: The ontology's facts, with their positions.

        Raises:
            RecordError: If the trace has no text, or is not read with `rules/reading/`.
        """
        from symbouq.reading.syntax.derivation import derivation
        from symbouq.reading.syntax.reader import SyntaxReader

        reader = None if trace.structured else self.reader_for(trace)
        if not isinstance(reader, SyntaxReader):
            given = "in relations" if reader is None else f"{self._kind(trace.dataset)} text"
            raise RecordError(f"the trace is {given}, of which there is no parse to show")
        return [
            derivation(reader.sentences, sentence, facts)
            for sentence in reader.sentences_of(self._told(trace))
        ]

    def record(self, trace: Trace, parsed: ParsedTrace) -> dict[str, Any]:
        """Return a trace as an input record with its text and the relations read from it."""
        record = trace.model_dump(exclude_unset=True)
        record["profile"] = self.ontology.profile
        record["scene_relations"] = [statement.record(n) for n, statement in parsed.scene]
        record["claims"] = [
            {
                "type": claim.type,
                "text": claim.text,
                "stance": claim.stance,
                **claim.counted,
                "reason": claim.reason,
                "rest": list(claim.rest),
                "relations": [statement.record(n) for statement in claim.relations],
            }
            for n, claim in enumerate(parsed.claims, start=1)
        ]
        if parsed.events is not None:
            record["scene_events"] = [_clause_records(clauses) for _, clauses in parsed.events]
            for given, claim in zip(record["claims"], parsed.claims, strict=True):
                given["events"] = _clause_records(claim.events)
        if not parsed.complete:
            record["complete"] = False
        record["faults"] = list(parsed.faults)
        record["reader"] = self.pipeline_of(trace)
        return record


def _written(trace: Trace) -> str | None:
    """The free text of a trace. A truncated text is cut after its last complete sentence."""
    if not trace.truncated:
        return trace.response
    with untimed():
        from symbouq.reading.syntax.cutting import finished

    given = (trace.response,) if trace.response else (*(trace.reasoning or ()), trace.conclusion)
    return finished("\n\n".join(filter(None, given)))


def _stand_ins(instance: Instance) -> StandIns:
    given = instance.scene_relations or ()
    return StandIns(name for relation in given for name in (relation.subject, relation.object))


def _cut(texts: TraceTexts) -> Told:
    """Convert texts that were split into sentences for a language model to the form for other
    readers.
    """
    *steps, last = [*texts.claims] or [""]
    return Told(texts.scene, " ".join(texts.question), steps, last)


def _clause_records(clauses: Clauses) -> list[dict[str, Any]]:
    return [
        ClauseRecord.model_validate(vars(clause)).model_dump(exclude_defaults=True)
        for clause in clauses
    ]
