"""`symbouq rules test`: expectations that stand beside the rules, as text.

A `.test` file holds tests such as

    test: a box keeps the place of the crate around it
    profile: spartun
    scene:
      The box is inside the crate.
      The crate is left of the sofa.
    claims:
      entailed: The box is left of the sofa. by scene 1, scene 2
      todo unknown: The box is near the sofa.

Lines that end in a full stop are words, read by the parser; others are relations
(`box inside crate; box near sofa`), and one test is in words or in relations. A claim
begins with its verdict, or `unread` where no relation is to be read from it, and `by` names its
premises. Each claim is judged on its own; under `steps:` in place of `claims:` they are judged
in order, each after those before it, as those of a trace are: the verdict is then that under the
assumed context, `(grounded VERDICT)` may follow, and a premise may be a claim. `pairs:` holds
lines such as `possible x z: dc ec` and `certain x z: dc`. A scene that contradicts itself
says so with `clash: scene 1, scene 2`. With `answers:` (the labels, divided by commas) and
`answer:` (the one expected, or several, or `nothing`), the question is answered too; the last
claim is then the delivered answer.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from symbouq.auditing.answering.questions import answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import OntologyError, SymboUQError
from symbouq.logic.worlds import pair_worlds
from symbouq.ontology.source import check_file, data_folder
from symbouq.records import Trace, make_record

VERDICTS = ("entailed", "contradicted", "unknown", "not-evaluable", "unread")

_FIELDS = ("profile", "dataset", "question", "answers", "answer")
_BLOCKS = ("scene", "claims", "steps", "pairs")
_CLAIM = re.compile(
    r"(?P<todo>todo\s+)?(?P<verdict>[a-z-]+)(?:\s+\(grounded\s+(?P<grounded>[a-z-]+)\))?\s*:\s*"
    r"(?P<text>.*?)(?:\s+by\s+(?P<premises>(?:scene|claim)\s+\d+(?:\s*,\s*(?:scene|claim)\s+\d+)*))?"
)
_TOGETHER = 64
"""Tests whose sentences are read together."""

_PAIR = re.compile(
    r"(?P<todo>todo\s+)?(?P<mode>possible|certain)\s+(?P<pair>.*?)\s*:\s*(?P<relations>.*)"
)


class SpecError(SymboUQError):
    """A test file cannot be read."""


@dataclass(frozen=True)
class ExpectedClaim:
    """One claim of a test, and the verdict expected of it.

    Attributes:
        line: The line that says so.
        text: The claim, in words or in relations.
        verdict: The verdict, among steps that under the assumed context, or `unread`.
        grounded: The verdict under the scene alone, where the test gives it.
        premises: The premises, where the test gives them.
        todo: Whether it is known to come out otherwise.
    """

    line: int
    text: str
    verdict: str
    grounded: str | None = None
    premises: tuple[str, ...] | None = None
    todo: bool = False


@dataclass(frozen=True)
class ExpectedPair:
    """A pair of a test, and the relations expected to be possible, or certain."""

    line: int
    mode: str
    pair: tuple[str, str]
    relations: tuple[str, ...]
    todo: bool = False


@dataclass
class Spec:
    """One test.

    Attributes:
        file: The file that it stands in.
        line: The line of its name.
        name: What it is called.
        options: `profile`, `dataset`, `question`, `answers` and `answer`, where it gives
            them.
        scene: The scene's lines.
        claims: The claims, in order.
        steps: Whether each claim is judged after those before it, and not on its own.
        pairs: Expectations about pairs.
        clash: The premises of the scene that contradict each other, where they do.
    """

    file: str
    line: int
    name: str
    options: dict[str, str] = field(default_factory=dict)
    scene: list[str] = field(default_factory=list)
    claims: list[ExpectedClaim] = field(default_factory=list)
    steps: bool = False
    pairs: list[ExpectedPair] = field(default_factory=list)
    clash: tuple[str, ...] | None = None

    @property
    def in_words(self) -> bool:
        """Whether the test is in words, rather than in relations."""
        return any(map(_is_words, [*self.scene, *(claim.text for claim in self.claims)]))

    def trace(self) -> Trace:
        """The trace that the test audits.

        Raises:
            SpecError: If a line is no relation, or words and relations are mixed; without the
                place.
        """
        options = {k: v for k, v in self.options.items() if k not in ("answers", "answer")}
        record: dict[str, Any] = {"id": self.name, **options}
        if "answers" in self.options:
            record["answer_space"] = _listed(self.options["answers"])
        texts = [claim.text for claim in self.claims]
        if self.in_words:
            for line in [*self.scene, *texts]:
                if not _is_words(line):
                    raise SpecError(
                        f"{line!r} does not end in a full stop: a test is in words or in "
                        "relations, not both"
                    )
            record |= {
                "scene": self.scene,
                "reasoning": texts[:-1],
                "conclusion": "".join(texts[-1:]),
            }
        else:
            record["scene_relations"] = [
                {**relation, "sentence": number}
                for number, line in enumerate(self.scene, start=1)
                for relation in _relations(line)
            ]
            record["claims"] = [{"relations": _relations(text)} for text in texts]
            if texts:
                record["claims"][-1]["type"] = "conclusion"
        return make_record(Trace, record)


def _is_words(line: str) -> bool:
    return line.endswith((".", "?", "!"))


def _relations(line: str) -> list[dict[str, str]]:
    relations = []
    for part in filter(None, map(str.strip, line.split(";"))):
        words = _split(part)
        if len(words) != 3:
            raise SpecError(
                f"{part!r} is no relation: write SUBJECT RELATION OBJECT, names of several "
                "words in quotes, or a sentence with a full stop"
            )
        relations.append(dict(zip(("subject", "relation", "object"), words, strict=True)))
    return relations


def _split(text: str) -> list[str]:
    """The words of a text, several in quotes as one; none where a quote is not closed."""
    try:
        return shlex.split(text)
    except ValueError:
        return []


@dataclass(frozen=True)
class Miss:
    """One expectation that did not come out: the line and what came out."""

    line: int
    message: str


@dataclass
class Outcome:
    """The result of a test.

    Attributes:
        spec: The test.
        misses: Expectations that failed.
        todo: Known misses that still fail.
        mended: Known misses that do not fail any more.
        seconds: How long it took.
        messages: The audit's messages, one a claim.
    """

    spec: Spec
    misses: list[Miss] = field(default_factory=list)
    todo: list[Miss] = field(default_factory=list)
    mended: list[Miss] = field(default_factory=list)
    seconds: float = 0.0
    messages: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether every expectation that is not marked `todo` came out."""
        return not self.misses


def discovered(folder: str | None) -> list[Spec]:
    """The tests of an ontology folder, or the built-in ones.

    Raises:
        SpecError: If a test file cannot be read.
    """
    roots = [Path(folder)] if folder else [data_folder("ontology"), data_folder("rules")]
    files = [(root, file) for root in roots for file in sorted(root.rglob("*.test"))]
    return [spec for root, file in files for spec in parsed(file, root)]


def parsed(file: Path, folder: Path | None = None) -> list[Spec]:
    """The tests of one file.

    Args:
        file: The file.
        folder: The folder that it has to lie in, if there is one.

    Raises:
        SpecError: At the first line that is none of the format.
    """
    try:
        check_file(file, folder)
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except OntologyError as error:
        raise SpecError(error.message, error.file) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"cannot be read: {error}", str(file)) from error
    specs: list[Spec] = []
    block = ""
    for number, raw in enumerate(lines, start=1):
        if raw.strip() and not raw.strip().startswith("#"):
            try:
                block = _take(specs, block, raw, str(file), number)
            except SpecError as error:
                raise SpecError(error.message, str(file), number) from error
    return specs


def _take(specs: list[Spec], block: str, raw: str, file: str, number: int) -> str:
    """Adds one line to the tests; gives the block that it stands in or begins."""
    line = raw.strip()
    key, _, rest = line.partition(":")
    rest = rest.strip()
    if key == "test" and rest:
        specs.append(Spec(file, number, rest))
        return ""
    if not specs:
        raise SpecError("a test begins with `test: NAME`")
    spec = specs[-1]
    if raw[0] not in " \t":
        if key in _FIELDS and rest:
            spec.options[key] = rest
        elif key == "clash" and rest:
            spec.clash = _premises(rest)
        elif key not in _BLOCKS or rest:
            keys = ", ".join(f"`{name}:`" for name in ("test", *_FIELDS, *_BLOCKS, "clash"))
            raise SpecError(f"{line!r} is none of {keys}")
        return key
    if block == "scene":
        spec.scene.append(line)
    elif block in ("claims", "steps"):
        steps = block == "steps"
        if spec.claims and spec.steps != steps:
            raise SpecError("a test has claims, each on its own, or steps, one after the other")
        spec.steps = steps
        spec.claims.append(_claim(line, number, steps))
    elif block == "pairs":
        spec.pairs.append(_pair(line, number))
    else:
        raise SpecError(f"{line!r} stands in no block")
    return block


def _premises(text: str) -> tuple[str, ...]:
    return tuple(re.sub(r"\s+", ":", part.strip()) for part in text.split(","))


def _claim(line: str, number: int, steps: bool) -> ExpectedClaim:
    match = _CLAIM.fullmatch(line)
    if match is None or match["verdict"] not in VERDICTS:
        verdicts = ", ".join(VERDICTS)
        raise SpecError(
            f"{line!r} is no claim: write VERDICT: CLAIM, the verdict one of {verdicts}"
        )
    todo, verdict, grounded, text, premises = match.groups()
    if grounded is not None and grounded not in VERDICTS:
        raise SpecError(f"unknown verdict {grounded!r}")
    if not steps and (grounded or "claim" in (premises or "")):
        raise SpecError("a claim of its own rests on the scene alone; write `steps:` for `claims:`")
    expected = _premises(premises) if premises else None
    return ExpectedClaim(number, text, verdict, grounded, expected, bool(todo))


def _pair(line: str, number: int) -> ExpectedPair:
    match = _PAIR.fullmatch(line)
    things = _split(match["pair"]) if match is not None else []
    if match is None or len(things) != 2:
        raise SpecError(
            f"{line!r} is no pair: write `possible SUBJECT OBJECT: RELATIONS` or "
            "`certain SUBJECT OBJECT: RELATIONS`"
        )
    relations = tuple(match["relations"].split())
    return ExpectedPair(
        number, match["mode"], (things[0], things[1]), relations, bool(match["todo"])
    )


def run(specs: Sequence[Spec], auditor: TraceAuditor) -> Iterator[Outcome]:
    """Runs tests one by one.

    Raises:
        SpecError: If a test cannot be run as it is written.
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
    """Reads the sentences of some tests in the same batches."""
    with suppress(SymboUQError):  # it comes again where it belongs
        auditor.ahead([spec.trace() for spec in specs])


def _run(outcome: Outcome, auditor: TraceAuditor) -> None:
    """Runs the test of an outcome and fills it."""
    spec = outcome.spec
    trace = spec.trace()
    record = _judged(spec, auditor, trace)
    results = [*_claim_results(spec, record), *_pair_results(spec, auditor, trace)]
    for expected, message in results:
        if message is not None:
            missed = outcome.todo if expected.todo else outcome.misses
            missed.append(Miss(expected.line, message))
        elif expected.todo:
            outcome.mended.append(Miss(expected.line, "comes out: take `todo` away"))
    of_all = [_answer_miss(spec, auditor, trace), _clash_miss(spec, record)]
    outcome.misses += [Miss(spec.line, message) for message in of_all if message is not None]
    outcome.messages = [claim["message"] for claim in record["claims"]]


_Results = Iterator[tuple[ExpectedClaim | ExpectedPair, str | None]]
"""Expectations, each with a message where it does not come out."""


def _judged(spec: Spec, auditor: TraceAuditor, trace: Trace) -> dict[str, Any]:
    """The audit of a test, its claims judged each on its own or one after the other."""
    if spec.steps or len(spec.claims) < 2:
        return auditor.audited(trace)
    # Read together, as one text; a claim alone might be read otherwise.
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
    # A test in words without claims has the empty conclusion.
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


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _answer_miss(spec: Spec, auditor: TraceAuditor, trace: Trace) -> str | None:
    if "answer" not in spec.options:
        return None
    given = answer(auditor, trace).answer
    if set(given) == set(_listed(spec.options["answer"])) - {"nothing"}:
        return None
    return f"expected the answer {spec.options['answer']}, got {', '.join(given) or 'nothing'}"


def _pair_results(spec: Spec, auditor: TraceAuditor, trace: Trace) -> _Results:
    if not spec.pairs:
        return
    ontology = auditor.parser_for(trace).ontology
    parsed_trace = auditor.parser_for(trace).parse(trace)
    slots = {name: slot for slot, name in enumerate(parsed_trace.names)}
    scene = [stated.triple for _, stated in parsed_trace.scene]
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
    """Outcomes as JUnit XML."""
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
