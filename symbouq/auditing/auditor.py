"""The auditor: from a trace record to its audit.

A trace is read (`symbouq.reading.parser`), decided (`symbouq.auditing.relations`, or
`symbouq.auditing.events` if the profile reads events) and described
(`symbouq.auditing.description`).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from symbouq.auditing.answers.delivery import asks_what_is_possible, judge_answer, with_alternatives
from symbouq.auditing.coherence import certain, coherent
from symbouq.auditing.description import describe
from symbouq.auditing.presumptions import Decide, presume
from symbouq.auditing.quantities import quantified
from symbouq.auditing.relations import ClaimInput, audit_relations
from symbouq.auditing.united import united
from symbouq.auditing.universals import instantiated
from symbouq.auditing.verdicts import TraceResult
from symbouq.errors import RecordError
from symbouq.limits import LimitError, late, turn, untimed
from symbouq.ontology.library import VERSION, OntologyLibrary, builtin
from symbouq.ontology.tables import Ontology, Triple
from symbouq.reading.faults import InternalError, reading
from symbouq.reading.parser import TraceParser
from symbouq.reading.syntax.pipeline import PipelineError
from symbouq.reading.text import IN_PART, SURE, Claim, ParsedTrace
from symbouq.records import SCHEMA_VERSION, Answers, Context, Instance, Trace


class TraceAuditor:
    """Auditor of traces with fixed options.

    Audits are dictionaries in the shape of `symbouq.records.Audit`. Threads may share an auditor:
    they take turns (`symbouq.limits.turn`).

    Args:
        profile: Profile for every trace. By default, each trace's own profile, the profile for its
            dataset, or the default profile.
        ontology: Folder of your ontology, or a loaded ontology.
        context: Context from which the verdicts for the profile, the features and Constraint-Rule
            are taken.
        partial: Whether an audit that reaches a limit (`symbouq.limits`) keeps the verdicts decided
            so far. Otherwise the audit fails.
        pipeline: English pipeline that parses open text; by default, the installed one.
        answers: How to judge the conclusion. `relation` gives the paper's strict auditor: it judges
            every claim by its relations and admits each claim that has relations to `A_k`.

    Raises:
        OntologyError: If the ontology or the profile is invalid.
    """

    @turn()
    def __init__(
        self,
        profile: str | None = None,
        ontology: str | os.PathLike[str] | OntologyLibrary | None = None,
        context: Context = "assumed",
        partial: bool = False,
        pipeline: str | None = None,
        answers: Answers = "answer",
    ) -> None:
        if ontology is None:
            ontology = builtin()
        elif not isinstance(ontology, OntologyLibrary):
            ontology = OntologyLibrary(ontology)
        self.library = ontology
        self.context: Context = context
        self._partial = partial
        self._pipeline = pipeline
        self._strict = answers == "relation"
        self._profile = self.library.ontology(profile).profile if profile else None
        self._parsers: dict[tuple[str, str], TraceParser] = {}

    @turn()
    def parser_for(self, instance: Instance) -> TraceParser:
        """Return the parser for an instance's profile, with its ontology.

        Raises:
            RecordError: If the instance names an unknown profile.
        """
        profile = self._profile or self._profile_of(instance)
        of = self.library.ontology
        described = of(profile).reads(instance.dataset) == "described"
        own = self.library.profile_of(instance.dataset) if described else profile
        if (profile, own) not in self._parsers:
            self._parsers[profile, own] = TraceParser(of(profile), of(own), self._pipeline)
        return self._parsers[profile, own]

    def _profile_of(self, instance: Instance) -> str:
        if instance.profile is None:
            return self.library.profile_of(instance.dataset)
        wanted = instance.profile.strip().lower().replace("-", "_")
        if wanted not in self.library.profiles:
            names = ", ".join(p.replace("_", "-") for p in self.library.profiles)
            raise RecordError(f"unknown profile {instance.profile!r}; there are: {names}")
        return wanted.replace("_", "-")

    @turn()
    def ahead(self, instances: Sequence[Instance]) -> None:
        """Read several instances in batches, which is much faster than one by one."""
        given: dict[TraceParser, list[Instance]] = {}
        for instance in instances:
            with suppress(RecordError):
                given.setdefault(self.parser_for(instance), []).append(instance)
        for parser, some in given.items():
            parser.ahead(some)

    @turn()
    def parsed(self, trace: Trace) -> ParsedTrace:
        """Parse a trace.

        Raises:
            RecordError: If the trace cannot be read.
        """
        parser = self.parser_for(trace)
        parsed = parser.parse(trace)
        if self._strict:
            return parsed
        try:
            with reading("what is said to be possible", ""):
                return with_alternatives(parser.ontology, trace, parsed)
        except LimitError:  # keep the parts already read
            return parsed
        except InternalError as error:
            return _with_fault(parsed, error)

    def audited(
        self, trace: Trace, file: str | None = None, line: int | None = None
    ) -> dict[str, Any]:
        """Audit a trace.

        Args:
            trace: The trace.
            file: The trace's file, for the record.
            line: The trace's line in that file.

        Raises:
            RecordError: If the trace cannot be audited.
        """
        return self.audited_under(trace, (self.context,), file, line)[self.context]

    @turn()
    def audited_under(
        self,
        trace: Trace,
        contexts: Sequence[Context] = ("assumed", "grounded"),
        file: str | None = None,
        line: int | None = None,
    ) -> dict[Context, dict[str, Any]]:
        """Audit a trace in several contexts. It is read and solved only once.

        Args:
            trace: The trace.
            contexts: The contexts.
            file: The trace's file, for the record.
            line: The trace's line in that file.

        Raises:
            RecordError: If the trace cannot be audited.
        """
        parser = self.parser_for(trace)
        ontology = parser.ontology
        parsed = certain(ontology, self.parsed(trace))
        cases = asks_what_is_possible(trace)
        decided = partial(decide, cases=cases, strict=self._strict)
        if trace.structured:
            result = decided(ontology, parsed)
        else:
            parsed, result = coherent(ontology, parsed, partial(decided, ontology))
            if trace.readings is not None and trace.readings.second_opinion:
                parsed, result = united((parsed, result), self._second_opinion(trace))
        try:
            if not (self._strict or trace.truncated):
                with reading("the answer", trace.conclusion or trace.response or ""):
                    parsed, result = judge_answer(ontology, trace, parsed, result)
        except LimitError:  # keep the verdicts already decided
            result.timed_out = True
        except PipelineError:  # if a trace is given as relations, only its question is read
            pass
        except InternalError as error:
            parsed = _with_fault(parsed, error)
        try:
            self._presume(ontology, parsed, result, decided)
        except LimitError:
            result.timed_out = True
        result.timed_out = result.timed_out or late()  # reading may have been cut short, too
        if not self._partial:
            result.whole()
        extended, measured = quantified(ontology, parsed)
        has_place = file is not None and line is not None
        head = {
            "id": trace.id,
            "source": {"file": file, "line": line} if has_place else None,
            "schema_version": SCHEMA_VERSION,
            "ontology": {
                "name": ontology.name,
                "profile": ontology.profile,
                "version": VERSION,
                "hash": ontology.hash,
            },
            "reader": parser.pipeline_of(trace),
        }
        unscored: dict[str, Any] = {"truncated": trace.truncated}
        if trace.truncated:
            unscored["constraint_rule"] = None
        return {
            context: {
                **head,
                "context": context,
                **describe(extended, measured, result, context),
                **unscored,
            }
            for context in contexts
        }

    def _second_opinion(self, trace: Trace) -> tuple[ParsedTrace, TraceResult]:
        """Read and decide a trace with the parser, whatever a language model reads in it."""
        parser = self.parser_for(trace)
        decided = partial(decide, cases=asks_what_is_possible(trace), strict=self._strict)
        read = certain(parser.ontology, parser.second_opinion(trace))
        return coherent(parser.ontology, read, partial(decided, parser.ontology))

    @turn()
    def decided_by_parser(self, trace: Trace) -> set[str]:
        """Return the claims of a trace in words that its scene decides, as the parser reads it.

        Raises:
            RecordError: If the trace cannot be read.
        """
        parsed, result = self._second_opinion(trace)
        judged = zip(parsed.claims, result.claims, strict=True)
        return {claim.text for claim, found in judged if found.grounded.determinate}

    def _presume(
        self, ontology: Ontology, parsed: ParsedTrace, result: TraceResult, decided: Decide
    ) -> None:
        if ontology.relations.presumed and parsed.events is None:
            literal = partial(self.library.ontology, ontology.profile, literal=True)
            presume(ontology, literal, parsed, result, decided)


def _with_fault(parsed: ParsedTrace, error: InternalError) -> ParsedTrace:
    return replace(parsed, faults=tuple(dict.fromkeys((*parsed.faults, str(error)))))


def decide(
    ontology: Ontology, parsed: ParsedTrace, cases: bool = False, strict: bool = False
) -> TraceResult:
    """Decide a trace by its clauses if the profile reads events, otherwise by its relations.

    Args:
        ontology: The tables of the profile.
        parsed: The parsed trace.
        cases: Whether the trace distinguishes cases, as for questions about possible relations. An
            assertion about things that the scene does not relate then holds in one case only.
        strict: Whether every claim with relations counts as read with certainty, as in the paper.
    """
    if parsed.events is not None:
        with untimed():
            from symbouq.auditing.events import audit_events

        return audit_events(ontology, parsed.events, [claim.events for claim in parsed.claims])
    ontology, parsed = quantified(ontology, instantiated(ontology, parsed))
    related: set[frozenset[str]] | None = None
    if cases:
        related = {frozenset((s.figure, s.ground)) for _, s in parsed.scene}
    scene: dict[int, list[Triple]] = {}
    for number, triple in parsed.numbered:
        scene.setdefault(number, []).append(triple)
    claims = (
        ClaimInput(
            tuple(map(parsed.triple, claim.relations)),
            claim.stance,
            parsed.complete and all(statement.grounded for statement in claim.relations),
            strict or _sure(claim, related),
            claim.reason != IN_PART,
            claim.count,
        )
        for claim in parsed.claims
    )
    return audit_relations(ontology, list(scene.items()), claims)


def _sure(claim: Claim, related: Collection[frozenset[str]] | None) -> bool:
    """Whether a claim was read with certainty as a statement about the scene.

    Args:
        claim: The claim.
        related: Pairs that the scene relates, if the trace distinguishes cases; otherwise None.
    """
    if any(statement.confidence < SURE for statement in claim.relations):
        return False
    if related is None or claim.stance != "asserted":
        return True
    return all(frozenset((s.figure, s.ground)) in related for s in claim.relations)
