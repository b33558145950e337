"""From a trace record to its audit: read, decide, summarise.

`TraceAuditor` is what every front end uses: one object per set of options, any number of
traces. Results are plain dictionaries in the shape of `symbouq.records.Audit`, which is
what is written; `audit` returns the record itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symbouq.auditing.auditor import (
    REPAIR_BUDGET,
    ClaimResult,
    Clashes,
    Premise,
    TraceResult,
    Verdict,
    audit_relations,
    reads_assumed,
)
from symbouq.auditing.features import ClaimFacts, features
from symbouq.auditing.profile import Profile, determinacy_profile, discounted_profile
from symbouq.auditing.score import constraint_rule
from symbouq.errors import RecordError
from symbouq.limits import late, untimed
from symbouq.ontology.library import VERSION, Ontology, OntologyLibrary, Triple
from symbouq.records import (
    SCHEMA_VERSION,
    ClauseRecord,
    Context,
    Instance,
    RelationRecord,
    Trace,
)
from symbouq.records.features import TRACE_FEATURES

if TYPE_CHECKING:  # spaCy loads only where there is text to parse
    from symbouq.reading.events.grammar import Clauses
    from symbouq.reading.traces import Mention, Text, TraceReader


@dataclass(frozen=True)
class Stated:
    """A relation as the audit uses it.

    Attributes:
        triple: Slots and relation name.
        record: The same in the output's shape.
    """

    triple: Triple
    record: dict[str, Any]


@dataclass(frozen=True)
class ParsedClaim:
    """A claim with its relations."""

    type: str
    text: str
    relations: tuple[Stated, ...]
    stance: str = "asserted"


@dataclass(frozen=True)
class Events:
    """What a trace says happens where.

    Attributes:
        scene: The clauses of each sentence of the scene, with its number; none where it could
            not be read.
        claims: The clauses of each claim; none where it states no relation.
    """

    scene: tuple[tuple[int, Clauses], ...]
    claims: tuple[Clauses, ...]


@dataclass(frozen=True)
class ParsedTrace:
    """A trace whose things are slots.

    Attributes:
        names: The things' names; the position is the slot.
        scene: Premise number and relation, for each relation of the scene.
        claims: The claims, the conclusion last.
        faults: What could not be read, a message each.
        events: The same as clauses about events, where the profile reads them.
    """

    names: tuple[str, ...]
    scene: tuple[tuple[int, Stated], ...]
    claims: tuple[ParsedClaim, ...]
    faults: tuple[str, ...] = ()
    events: Events | None = None


class TraceAuditor:
    """Audits traces under one set of options.

    Args:
        profile: Profile for every trace; else each trace's own, its dataset's, or the
            default one.
        ontology: Folder of a user's ontology, or an ontology that is already read.
        context: Which context's verdicts feed profile, features and Constraint-Rule.
        partial: Whether the audit of a trace that reaches a limit (`symbouq.limits`) has what
            was decided by then; else there is none.

    Raises:
        OntologyError: If the ontology or the profile cannot be used.
    """

    def __init__(
        self,
        profile: str | None = None,
        ontology: str | os.PathLike[str] | OntologyLibrary | None = None,
        context: Context = "assumed",
        partial: bool = False,
    ) -> None:
        if not isinstance(ontology, OntologyLibrary):
            ontology = OntologyLibrary(ontology)
        self.library = ontology
        self.context: Context = context
        self._partial = partial
        self._profile = self.library.ontology(profile).profile if profile else None
        self._readers: dict[str, TraceReader[Any]] = {}

    # Steps ---------------------------------------------------------------------------

    def ontology_for(self, trace: Instance) -> Ontology:
        """The tables that a trace is audited with.

        Raises:
            RecordError: If the trace names a profile that does not exist.
        """
        if self._profile is not None:
            return self.library.ontology(self._profile)
        if trace.profile is None:
            return self.library.ontology(self.library.profile_of(trace.dataset))
        wanted = trace.profile.strip().lower().replace("-", "_")
        if wanted not in self.library.profiles:
            known = ", ".join(p.replace("_", "-") for p in self.library.profiles)
            raise RecordError(f"unknown profile {trace.profile!r}; there are: {known}")
        return self.library.ontology(wanted)

    def reader_for(self, ontology: Ontology) -> TraceReader[Any]:
        """The reader of a profile, made when it is first needed."""
        reader = self._readers.get(ontology.profile)
        if reader is None:
            with untimed():
                reader = self._readers[ontology.profile] = _reader(ontology)
        return reader

    def sentences(self, instance: Instance) -> list[str]:
        """The scene's sentences; none where it is given in relations alone."""
        if isinstance(instance.scene, str):
            return self.reader_for(self.ontology_for(instance)).split(instance.scene)
        return instance.scene or []

    def parsed(self, trace: Trace) -> ParsedTrace:
        """The trace's relations, read from its text or taken as they are given.

        Raises:
            RecordError: If a given relation is not in the profile.
        """
        ontology = self.ontology_for(trace)
        if trace.structured:
            return _from_records(ontology, trace)
        if ontology.eventful:
            return self._parsed_events(ontology, trace)
        return _from_text(self._text(ontology, trace))

    def _text(self, ontology: Ontology, trace: Trace) -> Text:
        """A trace's text, read."""
        reader = self.reader_for(ontology)
        scene = self.sentences(trace)
        if trace.conclusion is None:
            return reader.read(scene, trace.question, response=trace.response)
        return reader.read(scene, trace.question, trace.reasoning or (), trace.conclusion)

    def _parsed_events(self, ontology: Ontology, trace: Trace) -> ParsedTrace:
        """The relations and clauses of a trace about events."""
        reader = self.reader_for(ontology)
        from symbouq.reading.events.reader import EventReader

        assert isinstance(reader, EventReader)
        text = self._text(ontology, trace)
        text, scene, claims = reader.eventful(text, self.sentences(trace), trace.question)
        return _from_text(text, Events(tuple(enumerate(scene, start=1)), claims))

    def parse(self, trace: Trace) -> dict[str, Any]:
        """The trace with its relations beside its text, in a shape that `audit` takes."""
        parsed = self.parsed(trace)
        record = trace.model_dump(exclude_unset=True)
        record["profile"] = self.ontology_for(trace).profile
        record["scene_relations"] = [stated.record for _, stated in parsed.scene]
        record["claims"] = [
            {
                "type": c.type,
                "text": c.text,
                "stance": c.stance,
                "relations": [s.record for s in c.relations],
            }
            for c in parsed.claims
        ]
        if parsed.events is not None:
            record["scene_events"] = [_clause_records(said) for _, said in parsed.events.scene]
            for claim, said in zip(record["claims"], parsed.events.claims, strict=True):
                claim["events"] = _clause_records(said)
        record["faults"] = list(parsed.faults)
        return record

    def audited(
        self, trace: Trace, file: str | None = None, line: int | None = None
    ) -> dict[str, Any]:
        """The audit of a trace, in the shape of `symbouq.records.Audit`.

        Args:
            trace: The trace.
            file: Where it came from, for the record.
            line: Its line there.

        Raises:
            RecordError: If the trace cannot be audited as it is.
        """
        return self.channels(trace, (self.context,), file, line)[self.context]

    def channels(
        self,
        trace: Trace,
        contexts: Sequence[Context] = ("assumed", "grounded"),
        file: str | None = None,
        line: int | None = None,
    ) -> dict[Context, dict[str, Any]]:
        """The audits of a trace under several contexts, for little more than one costs: it is
        read and solved once.

        Args:
            trace: The trace.
            contexts: The contexts.
            file: Where it came from, for the record.
            line: Its line there.

        Raises:
            RecordError: If the trace cannot be audited as it is.
        """
        ontology = self.ontology_for(trace)
        parsed = self.parsed(trace)
        result = _decided(ontology, parsed)
        # Reading may have been cut, too.
        result.timed_out = result.timed_out or late()
        if not self._partial:
            result.whole()
        known = file is not None and line is not None
        head = {
            "id": trace.id,
            "source": {"file": file, "line": line} if known else None,
            "schema_version": SCHEMA_VERSION,
            "ontology": {
                "name": ontology.name,
                "profile": ontology.profile,
                "version": VERSION,
                "hash": ontology.hash,
            },
        }
        return {
            context: {**head, "context": context, **_findings(ontology, parsed, result, context)}
            for context in contexts
        }


def _reader(ontology: Ontology) -> TraceReader[Any]:
    """The reader that a profile's texts need."""
    from symbouq.reading.described.reader import DescribedReader
    from symbouq.reading.events.reader import EventReader
    from symbouq.reading.named.reader import Reader

    if ontology.eventful:
        return EventReader(ontology)
    return DescribedReader(ontology) if ontology.described else Reader(ontology)


def _decided(ontology: Ontology, parsed: ParsedTrace) -> TraceResult:
    """The verdicts on a trace: by its clauses, where the profile reads events, else by its
    relations.
    """
    if parsed.events is not None:
        with untimed():
            from symbouq.auditing.entailment import audit_events

        return audit_events(ontology, parsed.events.scene, parsed.events.claims)
    scene: dict[int, list[Triple]] = {}
    for number, stated in parsed.scene:
        scene.setdefault(number, []).append(stated.triple)
    return audit_relations(
        ontology,
        list(scene.items()),
        [tuple(stated.triple for stated in claim.relations) for claim in parsed.claims],
    )


def _clause_records(clauses: Clauses) -> list[dict[str, Any]]:
    """Clauses in the shape of `symbouq.records.ClauseRecord`."""
    return [
        ClauseRecord.model_validate(vars(clause)).model_dump(exclude_defaults=True)
        for clause in clauses
    ]


def given_events(ontology: Ontology, trace: Instance) -> Events | None:
    """The clauses that a record brings, where the profile reads events.

    Raises:
        RecordError: If it has relations without clauses, or clauses that cannot be.
    """
    if not ontology.eventful or trace.scene_events is None:
        return None
    with untimed():
        from symbouq.reading.events.reader import given_clause

    def said(records: Sequence[ClauseRecord], place: str) -> Clauses:
        return tuple(
            given_clause(ontology, record, f"{place}.{n}") for n, record in enumerate(records, 1)
        )

    if trace.scene_relations and not trace.scene_events:
        raise RecordError("scene_events: empty, but there are scene_relations")
    claims = list(enumerate(getattr(trace, "claims", None) or (), 1))
    for n, claim in claims:
        if claim.relations and not claim.events:
            raise RecordError(f"claims.{n}: has relations, but no events")
    return Events(
        tuple((n, said(s, f"scene_events.{n}")) for n, s in enumerate(trace.scene_events, 1)),
        tuple(said(claim.events, f"claims.{n}.events") for n, claim in claims),
    )


# From records and from text ------------------------------------------------------------


class _Slots:
    """Numbers things in order of appearance."""

    def __init__(self) -> None:
        self.of: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        return self.of.setdefault(name, len(self.of))


def _from_text(text: Text, events: Events | None = None) -> ParsedTrace:
    slots = _Slots()

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
    return ParsedTrace(tuple(slots.of), scene, claims, text.faults, events)


def _from_records(ontology: Ontology, trace: Trace) -> ParsedTrace:
    slots = _Slots()
    named = {name for r in trace.scene_relations or () for name in (r.subject, r.object)}

    def stated(relation: RelationRecord, place: str, sentence: int | None) -> Stated:
        try:
            name = ontology.canonical(relation.relation)
        except KeyError as error:
            raise RecordError(f"{place}: {error.args[0]}") from error
        grounded = relation.grounded
        if grounded is None:
            grounded = relation.subject in named and relation.object in named
        return Stated(
            (slots[relation.subject], name, slots[relation.object]),
            {
                "subject": relation.subject,
                "relation": name,
                "object": relation.object,
                "sentence": sentence,
                "span": relation.span,
                "confidence": relation.confidence,
                "grounded": grounded,
            },
        )

    relations = trace.scene_relations or []
    unplaced = [n for n, r in enumerate(relations, start=1) if r.sentence is None]
    if unplaced and len(unplaced) < len(relations):
        raise RecordError(
            f"scene_relations.{unplaced[0]}: has no sentence, but others have; give all or none"
        )
    scene = tuple(
        (r.sentence or n, stated(r, f"scene_relations.{n}", r.sentence))
        for n, r in enumerate(relations, start=1)
    )
    given = trace.claims or []
    claims = tuple(
        ParsedClaim(
            "conclusion" if number == len(given) else claim.type,
            claim.text,
            tuple(
                stated(r, f"claims.{number}.relations.{n}", r.sentence)
                for n, r in enumerate(claim.relations, start=1)
            ),
            claim.stance,
        )
        for number, claim in enumerate(given, start=1)
    )
    events = given_events(ontology, trace)
    return ParsedTrace(tuple(slots.of), scene, claims, tuple(trace.faults), events)


# Findings ------------------------------------------------------------------------------


def _findings(
    ontology: Ontology, parsed: ParsedTrace, result: TraceResult, context: Context
) -> dict[str, Any]:
    """Everything in the audit that depends on relations and verdicts."""
    claims = result.claims
    assumed = [reads_assumed(c.verdict, c.grounded, context) for c in claims]
    verdicts = [c.verdict if a else c.grounded for c, a in zip(claims, assumed, strict=True)]
    is_parsed = [bool(claim.relations) for claim in parsed.claims]
    resting = [
        [p.number for p in c.premises if p.source == "claim"] if a else []
        for c, a in zip(claims, assumed, strict=True)
    ]
    facts = [
        _facts(ontology, claim, finding, verdict, result.feasible, context)
        for claim, finding, verdict in zip(parsed.claims, claims, verdicts, strict=True)
    ]
    scene_relations = [ontology.oriented(stated.triple) for _, stated in parsed.scene]
    if facts:
        rows, trace_row = features(scene_relations, result.feasible, facts)
        score = constraint_rule(is_parsed, verdicts, [fact.repair for fact in facts])
    else:
        rows, trace_row = [], [0.0] * len(TRACE_FEATURES)
        score = 0.5
    words = _Words(ontology, parsed.names)
    conflict = next((n for n, c in enumerate(claims, start=1) if c.first_conflict), 0)
    return {
        "scene": {
            "relations": [stated.record for _, stated in parsed.scene],
            "feasible": result.feasible,
            "clash": [str(premise) for premise in result.clash],
            "message": "" if result.feasible else words.scene_clash(result),
        },
        "claims": [
            {
                "index": number,
                "type": claim.type,
                "text": claim.text,
                "stance": claim.stance,
                "relations": [stated.record for stated in claim.relations],
                "verdict": str(finding.verdict),
                "grounded_verdict": str(finding.grounded),
                "conditional": finding.conditional,
                "repair_cost": finding.bounded_repair,
                "repair_cost_exact": finding.repair,
                "first_conflict": finding.first_conflict,
                "premises": [str(premise) for premise in finding.premises],
                "message": words.message(claim, finding, result, conflict),
            }
            for number, (claim, finding) in enumerate(
                zip(parsed.claims, claims, strict=True), start=1
            )
        ],
        "profile": _record(determinacy_profile(is_parsed, verdicts)),
        "discounted": _record(discounted_profile(is_parsed, verdicts, resting)),
        "features": {"claims": rows, "trace": trace_row},
        "constraint_rule": score,
        "timed_out": result.timed_out,
        "faults": [*parsed.faults, *_lacking(result)],
    }


def _lacking(result: TraceResult) -> list[str]:
    """What a result lacks because a limit was reached."""
    if not result.timed_out:
        return []
    undecided = result.undecided
    if not undecided:
        return ["the time limit was reached: premises and repairs need not be the best"]
    more = f" and {len(undecided) - 1} more" if len(undecided) > 1 else ""
    return [f"the time limit was reached: no verdict on claim {undecided[0]}{more}"]


def _record(profile: Profile) -> dict[str, float | int]:
    return dict(vars(profile))


def _facts(
    ontology: Ontology,
    claim: ParsedClaim,
    finding: ClaimResult,
    verdict: Verdict,
    scene_feasible: bool,
    context: Context,
) -> ClaimFacts:
    relations = [stated.triple[1] for stated in claim.relations]
    moves = [ontology.moves[r] for r in relations if r in ontology.moves]
    repair = finding.bounded_repair
    if not reads_assumed(finding.verdict, finding.grounded, context):
        # What contradicts the scene cannot be repaired by dropping claims.
        repair = REPAIR_BUDGET + 1 if verdict is Verdict.CONTRADICTED else 0
    return ClaimFacts(
        relations=tuple(ontology.oriented(stated.triple) for stated in claim.relations),
        confidences=tuple(stated.record["confidence"] for stated in claim.relations),
        grounded=tuple(stated.record["grounded"] for stated in claim.relations),
        layout=len(moves),
        symmetric=sum(r in ontology.symmetric for r in relations),
        axial=moves.count(1),
        diagonal=sum(n > 1 for n in moves),
        verdict=verdict,
        first_conflict=finding.first_conflict and context != "grounded",
        feasible_after=finding.feasible_after if context == "assumed" else scene_feasible,
        repair=repair,
        conclusion=claim.type == "conclusion",
    )


class _Words:
    """Findings in plain words, from the ontology's templates."""

    def __init__(self, ontology: Ontology, names: Sequence[str]) -> None:
        self._ontology = ontology
        self._names = names

    def relation(self, triple: Triple) -> str:
        """A relation as a short sentence: `A is above B`."""
        u, r, v = triple
        wording = self._ontology.wordings.get(r, (r.replace("_", " "),))[0]
        return f"{self._names[u]} is {wording} {self._names[v]}"

    def message(
        self, claim: ParsedClaim, finding: ClaimResult, result: TraceResult, conflict: int
    ) -> str:
        """What the auditor says about a claim."""
        if finding.reason == "unparsed":
            return self._ontology.messages.get("unparsed", "unparsed")
        premises = result.clash if finding.reason == "blocked_scene" else finding.premises
        stated = _listed(self.relation(stated.triple) for stated in claim.relations)
        text = self._filled(
            finding.reason,
            claim=stated,
            relation=stated if finding.fault is None else self.relation(finding.fault),
            premises=_listed(map(_spoken, premises)),
            conflict=str(conflict),
        )
        own = finding.fault[1] if finding.fault is not None else ""
        # A clash shows up in both directions of reading; the claim's own goes first.
        return self._with_reason(text, sorted(finding.clashes, key=lambda c: own not in c[1]))

    def scene_clash(self, result: TraceResult) -> str:
        """What is wrong with an infeasible scene."""
        text = self._filled("clash", premises=_listed(map(_spoken, result.clash)))
        return self._with_reason(text, result.clash_reasons)

    def _filled(self, message: str, **values: str) -> str:
        template = self._ontology.messages.get(message, message)
        # Names are data: only the template's own braces are fields.
        parts = []
        for piece in template.split("{"):
            field, brace, rest = piece.partition("}")
            parts.append(values.get(field, "") + rest if brace else piece)
        return "".join(parts)

    def _with_reason(self, text: str, clashes: Clashes) -> str:
        for code, relations in clashes:
            template = self._ontology.reasons.get(code)
            if template is not None:
                first, second = (*relations, "", "")[:2]
                reason = template.replace("{first}", first).replace("{second}", second)
                return f"{text.removesuffix('.')}: {reason.replace('_', ' ')}."
        return text


def _spoken(premise: Premise) -> str:
    return f"{premise.source} {premise.number}"


def _listed(texts: Iterable[str]) -> str:
    items = list(texts)
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
