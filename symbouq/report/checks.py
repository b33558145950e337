"""Audits as checks in continuous integration: pass or fail, JUnit XML, SARIF and GitHub
annotations.

A check fails on claims with one of the given verdicts, by default `contradicted`, and on records
that cannot be audited.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from symbouq.auditing.verdicts import Verdict, verdict_in
from symbouq.io.sarif import Result, Rule, sarif_log, shown_path

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that are not allowed in XML."""


@dataclass(frozen=True)
class Failure:
    """A failing claim: its number in the trace, its verdict in the audit's context, its text, and a
    message.
    """

    index: int
    verdict: Verdict
    text: str
    message: str


@dataclass(frozen=True)
class Case:
    """A checked record: its file, line, id and failing claims. `error` is the reason if the record
    could not be audited, `undecided` the reason if no claim is decided. Otherwise, they are empty.
    """

    file: str
    line: int
    name: str
    failures: tuple[Failure, ...] = ()
    error: str = ""
    undecided: str = ""


@dataclass
class Checks:
    """Checks on the audits of a run.

    Attributes:
        verdicts: Verdicts that make a claim fail.
        claims: Number of claims.
        failing: Number of failing claims.
        decided: Number of entailed or contradicted claims.
        cases: All checked records.
    """

    verdicts: Collection[Verdict] = (Verdict.CONTRADICTED,)
    claims: int = 0
    failing: int = 0
    decided: int = 0
    cases: list[Case] = field(default_factory=list)

    def add(self, audit: Mapping[str, Any], file: str, line: int) -> None:
        """Check an audit, given as a dictionary."""
        failures = tuple(self._failures(audit))
        claims, context = audit["claims"], audit["context"]
        decided = sum(Verdict(verdict_in(claim, context)).determinate for claim in claims)
        cut = audit.get("truncated", False)
        decided = 0 if cut else decided
        self.claims += len(claims)
        self.failing += len(failures)
        self.decided += decided
        why = f"claim 1: {claims[0]['message']}" if claims else "it makes no claims"
        why = "the output was cut off, or is empty" if cut else f"no claim was decided; {why}"
        reason = "" if decided else why
        self.cases.append(Case(file, line, audit["id"], failures, undecided=reason))

    def add_error(self, file: str, line: int, name: str, error: str) -> None:
        """Add a record that could not be audited."""
        self.cases.append(Case(file, line, name, error=error))

    def exceed(self, share: float) -> bool:
        """Whether more than the given share of the claims fail."""
        return self._share(self.failing) > share

    def fall_short(self, share: float | None) -> bool:
        """Whether no trace was audited, or less than the given share of the claims is decided.
        Without a share, one decided claim is enough.
        """
        if share is None:
            return not self.decided
        return all(case.error for case in self.cases) or self._share(self.decided) < share

    @property
    def message(self) -> str:
        """Return a sentence about the number of failing claims."""
        return self._part(self.failing, " or ".join(self.verdicts))

    @property
    def decided_message(self) -> str:
        """Return a sentence about the number of decided claims."""
        return self._part(self.decided, "decided")

    def _part(self, count: int, kind: str) -> str:
        return f"{count:,} of {self.claims:,} claims are {kind} ({self._share(count):.1%})"

    def _share(self, count: int) -> float:
        return count / self.claims if self.claims else 0.0

    def _failures(self, audit: Mapping[str, Any]) -> Iterator[Failure]:
        for claim in audit["claims"]:
            own = verdict_in(claim, audit["context"])
            if own in self.verdicts:
                yield Failure(claim["index"], Verdict(own), claim["text"], claim["message"])


def junit(checks: Checks) -> bytes:
    """Render checks as JUnit XML, with one suite per file and one case per trace."""
    # A file without cases would be shown as passed.
    everything = checks.cases or [Case("symbouq audit", 0, "traces", error="no trace was audited")]
    suites: dict[str, list[Case]] = {}
    for case in everything:
        suites.setdefault(case.file, []).append(case)
    root = ElementTree.Element("testsuites", {"name": "symbouq audit", **_counts(everything)})
    for file, cases in suites.items():
        suite = ElementTree.SubElement(root, "testsuite", {"name": _xml(file), **_counts(cases)})
        for case in cases:
            name = case.name or f"line {case.line}"
            named = {"name": _xml(name), "classname": _xml(file)}
            place = {"file": _xml(file), "line": str(case.line)}
            test = ElementTree.SubElement(suite, "testcase", named | place)
            if case.error:
                ElementTree.SubElement(test, "error", message=_xml(case.error))
            elif case.failures:
                first = case.failures[0]
                failure = ElementTree.SubElement(
                    test, "failure", type=first.verdict, message=_xml(_sentence(first))
                )
                failure.text = _xml("\n".join(map(_sentence, case.failures)))
            elif case.undecided:
                ElementTree.SubElement(test, "skipped", message=_xml(case.undecided))
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return text + b"\n"


def sarif(checks: Checks) -> bytes:
    """Render checks as SARIF, with one result per failing claim, at the line of its trace, and one
    notification per record that could not be audited.
    """
    results = [
        Result(
            failure.verdict,
            "error",
            f"{case.name}: {_sentence(failure)}",
            case.file,
            case.line,
            f"{case.name}/{failure.index}/{failure.verdict}",
        )
        for case in checks.cases
        for failure in case.failures
    ]
    faults = [
        Result("", "error", case.error, case.file, case.line) for case in checks.cases if case.error
    ]
    rules = {
        verdict.value: Rule(f"{verdict.capitalize()} claim", _RULES[verdict], _HELP)
        for verdict in checks.verdicts
    }
    log = sarif_log("symbouq audit", rules, results, faults)
    return json.dumps(log, ensure_ascii=False, indent=2).encode() + b"\n"


def github(checks: Checks) -> Iterator[str]:
    """Render checks as GitHub workflow commands, with one `::error` line for each failing claim and
    for each record that could not be audited.
    """
    for case in checks.cases:
        told = [(f"{f.verdict} claim in {case.name}", _sentence(f)) for f in case.failures]
        told += [("unaudited record", case.error)] if case.error else []
        place = _escaped(shown_path(case.file).as_posix(), _IN_PROPERTIES)
        for title, message in told:
            named = _escaped(title, _IN_PROPERTIES)
            yield f"::error file={place},line={case.line},title={named}::{_escaped(message)}"


_IN_PROPERTIES = "%\r\n:,"
_HELP = "The result names the premises of the verdict; `symbouq explain` shows the whole trace."
_RULES = {
    Verdict.ENTAILED: "The claim follows from the scene and the claims before it.",
    Verdict.CONTRADICTED: "The claim contradicts the scene or the claims before it.",
    Verdict.UNKNOWN: "Neither the claim nor its opposite follows.",
    Verdict.NOT_EVALUABLE: "What stands before the claim contradicts itself already.",
}


def _sentence(failure: Failure) -> str:
    return f'claim {failure.index}, "{failure.text}", is {failure.verdict}: {failure.message}'


def _counts(cases: Collection[Case]) -> dict[str, str]:
    return {
        "tests": str(len(cases)),
        "failures": str(sum(bool(case.failures) for case in cases)),
        "errors": str(sum(bool(case.error) for case in cases)),
        "skipped": str(sum(bool(case.undecided and not case.failures) for case in cases)),
    }


def _xml(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _escaped(text: str, signs: str = "%\r\n") -> str:
    for sign in signs:
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
