"""Check the expectations of `.test` files (`symbouq.ontology.specs`): `symbouq rules test`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from symbouq.auditing.answers import answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import SymboUQError
from symbouq.limits import untimed
from symbouq.logic.worlds import pair_worlds
from symbouq.ontology.specs import ExpectedClaim, ExpectedPair, Spec, SpecError, listed
from symbouq.ontology.tables import Ontology
from symbouq.reading.text import triples
from symbouq.records import Trace, make_record

_TOGETHER = 64
"""Number of tests for which the sentences are read in one batch."""


@dataclass(frozen=True)
class Miss:
    """A failed expectation: its line, and the actual result."""

    line: int
    message: str


@dataclass
class Outcome:
    """Result of a test.

    Attributes:
        spec: The test.
        misses: Failed expectations.
        todo: Known misses that still fail.
        notes: Oddities that are not failures: a known miss that passes, an unread scene, no
            expectation.
        seconds: How long the test took.
        messages: The audit's messages, one per claim.
    """

    spec: Spec
    misses: list[Miss] = field(default_factory=list)
    todo: list[Miss] = field(default_factory=list)
    notes: list[Miss] = field(default_factory=list)
    seconds: float = 0.0
    messages: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether every expectation not marked `todo` passed."""
        return not self.misses


def run(specs: Sequence[Spec], auditor: TraceAuditor) -> Iterator[Outcome]:
    """Run tests one by one.

    Raises:
        SpecError: If a test cannot be run.
    """
    for number, spec in enumerate(specs):
        if number % _TOGETHER == 0:
            _ahead(specs[number : number + _TOGETHER], auditor)
        started = time.perf_counter()
        outcome = Outcome(spec)
        try:
            _run(outcome, auditor)
        except SpecError as error:
            raise SpecError(error.message, spec.file, error.line or spec.line) from error
        except SymboUQError as error:
            raise SpecError(error.message, spec.file, spec.line) from error
        outcome.seconds = time.perf_counter() - started
        yield outcome


def _ahead(specs: Sequence[Spec], auditor: TraceAuditor) -> None:
    with suppress(SymboUQError):  # raised again for the test at fault
        auditor.ahead([spec.trace() for spec in specs])


def _run(outcome: Outcome, auditor: TraceAuditor) -> None:
    spec = outcome.spec
    trace = spec.trace()
    if spec.reads:
        _run_readings(outcome, auditor, trace)
        return
    record = _judged(spec, auditor, trace)
    results = [*_claim_results(spec, record), *_pair_results(spec, auditor, trace)]
    for expected, message in results:
        if message is not None:
            missed = outcome.todo if expected.todo else outcome.misses
            missed.append(Miss(expected.line, message))
        elif expected.todo:
            outcome.notes.append(Miss(expected.line, "comes out: take `todo` away"))
    of_all = [_answer_miss(spec, auditor, trace), _clash_miss(spec, record)]
    outcome.misses += [Miss(spec.line, message) for message in of_all if message is not None]
    eventful = auditor.parser_for(trace).ontology.eventful
    if spec.in_words and spec.scene and not (eventful or record["scene"]["relations"]):
        told = "; ".join(record["faults"]) or "it states no relation of the profile"
        outcome.notes.append(Miss(spec.line, f"nothing is read of the scene: {told}"))
    if not spec.expects:
        told = "expects nothing: give it `claims:`, `steps:`, `pairs:`, `reads:` or `answer:`"
        outcome.notes.append(Miss(spec.line, told))
    outcome.messages = [claim["message"] for claim in record["claims"]]


def _run_readings(outcome: Outcome, auditor: TraceAuditor, trace: Trace) -> None:
    """Fill in the outcome of a test about readings: the parser must read each sentence like an
    equivalent reply of a language model.
    """
    with untimed():
        from symbouq.reading.model.examples import as_claims

    spec = outcome.spec
    parser = auditor.parser_for(trace)
    found = parser.parse(trace)
    expected = parser.model_reader.read(*as_claims(spec))
    for sentence, claim, wanted in zip(spec.reads, found.claims, expected.claims, strict=False):
        read = {_said(claim.stance, parser.ontology, triple) for triple in triples(claim.relations)}
        said = {_said(wanted.stance, parser.ontology, t) for t in triples(wanted.relations)}
        if read != said:
            listing = "; ".join(sorted(map(" ".join, read))) or "nothing"
            wants = "; ".join(sorted(map(" ".join, said))) or "nothing"
            miss = Miss(sentence.line, f"{sentence.text}: expected {wants}, read {listing}")
            (outcome.todo if sentence.todo else outcome.misses).append(miss)
        elif sentence.todo:
            outcome.notes.append(Miss(sentence.line, "comes out: take `todo` away"))


def _said(stance: str, ontology: Ontology, triple: tuple[str, str, str]) -> tuple[str, ...]:
    """Describe a stance and a relation. The description is the same for a relation and its mirror
    image.
    """
    u, r, v = triple
    things = u.lower(), v.lower()
    mirror = ontology.relations.mirror
    if things[0] > things[1] and r in mirror:
        return stance, things[1], mirror[r], things[0]
    return stance, things[0], r, things[1]


_Results = Iterator[tuple[ExpectedClaim | ExpectedPair, str | None]]
"""Expectations, each with a message if it failed."""


def _judged(spec: Spec, auditor: TraceAuditor, trace: Trace) -> dict[str, Any]:
    if spec.steps or len(spec.claims) < 2:
        return auditor.audited(trace)
    # Read the claims together as one text, because a single claim might be read differently.
    parsed = auditor.parser_for(trace).record(trace, auditor.parsed(trace))
    records = [
        auditor.audited(make_record(Trace, {**parsed, "claims": [claim]}))
        for claim in parsed["claims"]
    ]
    return {**records[0], "claims": [record["claims"][0] for record in records]}


def _clash_miss(spec: Spec, record: dict[str, Any]) -> str | None:
    clash = tuple(record["scene"]["clash"])
    if spec.clash is None:
        return None if record["scene"]["feasible"] else record["scene"]["message"]
    if clash == spec.clash:
        return None
    return f"expected the clash {', '.join(spec.clash)}, got {', '.join(clash) or 'no clash'}"


def _claim_results(spec: Spec, record: dict[str, Any]) -> _Results:
    # A plain-text test without claims has an empty conclusion.
    for expected, claim in zip(spec.claims, record["claims"], strict=False):
        judged = claim["relations"] or claim["verdict"] != "unknown" or claim["reason"] == "open"
        verdict = claim["verdict"] if judged else "unread"
        miss = ""
        if verdict != expected.verdict:
            miss = f"expected {expected.verdict}, got {verdict}: {claim['message']}"
        elif expected.grounded not in (None, claim["grounded_verdict"]):
            miss = f"expected {expected.grounded} when grounded, got {claim['grounded_verdict']}"
        elif expected.premises is not None and set(expected.premises) != set(claim["premises"]):
            premises = ", ".join(claim["premises"]) or "no premises"
            miss = f"expected {', '.join(expected.premises)}, got {premises}"
        yield expected, f"{expected.text}: {miss}" if miss else None


def _answer_miss(spec: Spec, auditor: TraceAuditor, trace: Trace) -> str | None:
    if "answer" not in spec.options:
        return None
    given = answer(auditor, trace).answer
    if set(given) == set(listed(spec.options["answer"])) - {"nothing"}:
        return None
    return f"expected the answer {spec.options['answer']}, got {', '.join(given) or 'nothing'}"


def _pair_results(spec: Spec, auditor: TraceAuditor, trace: Trace) -> _Results:
    if not spec.pairs:
        return
    ontology = auditor.parser_for(trace).ontology
    parsed_trace = auditor.parser_for(trace).parse(trace)
    slots = parsed_trace.slots
    scene = [triple for _, triple in parsed_trace.numbered]
    for expected in spec.pairs:
        for name in expected.pair:
            if name not in slots:
                raise SpecError(f"{name!r} is not in the scene", line=expected.line)
        pair = (slots[expected.pair[0]], slots[expected.pair[1]])
        try:
            relations = {ontology.canonical(relation) for relation in expected.relations}
        except KeyError as error:
            raise SpecError(error.args[0], line=expected.line) from error
        families = {ontology.relations.family[relation] for relation in relations}
        asked = [r for r, f in ontology.relations.family.items() if not relations or f in families]
        worlds = pair_worlds(ontology, scene, [pair], asked)[pair]
        found = set(getattr(worlds, expected.mode)) if worlds is not None else set()
        listed = " ".join(sorted(found)) or "none"
        miss = f"{expected.mode} {' '.join(expected.pair)}: got {listed}"
        yield expected, miss if found != relations else None


def as_junit(outcomes: Sequence[Outcome]) -> str:
    """Return the outcomes as JUnit XML."""
    suite = ElementTree.Element(
        "testsuite",
        name="symbouq rules test",
        tests=str(len(outcomes)),
        failures=str(sum(not outcome.passed for outcome in outcomes)),
        skipped=str(sum(outcome.passed and bool(outcome.todo) for outcome in outcomes)),
        time=f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    )
    for outcome in outcomes:
        spec = outcome.spec
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=spec.file,
            name=spec.name,
            file=spec.file,
            line=str(spec.line),
            time=f"{outcome.seconds:.3f}",
        )
        if outcome.misses:
            text = "\n".join(f"line {m.line}: {m.message}" for m in outcome.misses)
            failure = ElementTree.SubElement(case, "failure", message=outcome.misses[0].message)
            failure.text = text
        elif outcome.todo:
            ElementTree.SubElement(case, "skipped", message=f"todo: {outcome.todo[0].message}")
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
