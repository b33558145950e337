"""`symbouq rules check`: what is wrong with an ontology, and how to mend it.

Every finding has a stable code, a severity, a place and a sentence on how to mend it.
What there is to find is in `rules/check.lp`; a check that needs the solver of the audit
is here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import clingo
from clingo import ast

from symbouq.errors import OntologyError
from symbouq.logic import TraceSolver, clashes
from symbouq.ontology import ASSERTED, solved_tables, tables_of
from symbouq.source import (
    Place,
    Source,
    atoms_in,
    data_folder,
    lp_files,
    plain,
    read_source,
    signature,
    vocabulary,
)
from symbouq.version import __version__


@dataclass(frozen=True, order=True)
class Finding:
    """One thing that is wrong with an ontology.

    Attributes:
        file: The file that it is in.
        line: The line, from 1.
        code: Stable name of the check (`rules/check.lp`).
        severity: `error`, `warning` or `note`.
        message: What is wrong.
        mend: What to do about it.
    """

    file: str
    line: int
    code: str
    severity: str
    message: str
    mend: str


@dataclass(frozen=True)
class Check:
    """One check: its severity and how to mend what it finds."""

    severity: str
    mend: str


def checks() -> dict[str, Check]:
    """Every check by its code."""
    control = clingo.Control(["--warn=none"])
    control.load(str(data_folder("rules") / "check.lp"))
    control.ground()
    return {
        plain(atom.symbol.arguments[0]): Check(*map(plain, atom.symbol.arguments[1:]))
        for atom in control.symbolic_atoms.by_signature("check", 3)
    }


def check(folder: str | None = None) -> list[Finding]:
    """What is wrong with an ontology folder, or with the built-in ontology.

    Of an ontology that extends the built-in one, only what is wrong in the folder's own
    files is reported.

    Raises:
        OntologyError: If there is no such folder, or no `.lp` file in it.
    """
    complaints: list[OntologyError] = []
    builtin = lp_files(data_folder("ontology"))
    source, files = read_source(builtin, folder, complaints.append)
    name = "builtin" if folder is None else folder
    own = {str(file) for file in files if folder is None or file not in builtin} | {name}
    table = checks()
    where: dict[_Found, list[str]] = defaultdict(list)
    profiles = [profile for (profile,) in source.rows["profile", 1]]
    # What could not be read would be missed everywhere else: that is to be mended first.
    if not complaints:
        for found in (*_repeated(source), *_without_reason(source)):
            where[found] = profiles
        for profile in profiles:
            try:
                found_here = list(_by_rules(source, profile, name))
                # Faulty facts clash in many ways; they are to be mended first, too.
                if not any(table[code].severity == "error" for code, _, _ in found_here):
                    found_here += _by_solver(source, profile, name, own)
                for found in found_here:
                    where[found].append(profile)
            except OntologyError as error:
                complaints.append(error)
    syntax = [error for error in complaints if error.code == "syntax"]
    for wrong in syntax or complaints:
        where[wrong.code, Place(wrong.file or name, wrong.line or 1), wrong.message] = profiles
    return sorted(
        Finding(*place, code, table[code].severity, message + _in(some, profiles), table[code].mend)
        for (code, place, message), some in where.items()
        if place.file in own
    )


def _in(some: Sequence[str], profiles: Sequence[str]) -> str:
    """The profiles that something is found in, unless it is found in all."""
    names = [profile.replace("_", "-") for profile in dict.fromkeys(some)]
    if len(names) == len(profiles):
        return ""
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f" (profile{'s' if len(names) > 1 else ''} {shown})"


_Found = tuple[str, Place, str]
"""Code, place and message."""


def _unused(source: Source) -> Iterator[_Found]:
    """Rules whose head nothing uses."""
    used = {signature(term) for rule in source.rules for term in atoms_in(rule.statement.body)}
    known = {*vocabulary(), ("holds", 3), ("clash", 3), *used}
    for rule in source.rules:
        for term in atoms_in([rule.statement.head]):
            if signature(term) not in known:
                yield "unused-predicate", rule.place, f"nothing uses {term.name}"


def _repeated(source: Source) -> Iterator[_Found]:
    for fact, place in source.repeated:
        first = source.facts[fact]
        yield "stated-twice", place, f"{fact} is stated at {first.file}:{first.line} already"


def _without_reason(source: Source) -> Iterator[_Found]:
    """Clashes that a rule derives and no reason/2 explains."""
    explained = {name for name, _ in source.rows["reason", 2]}
    for rule in source.rules:
        for term in atoms_in([rule.statement.head]):
            if signature(term) != ("clash", 3):
                continue
            code = term.arguments[0]
            named = code.ast_type is ast.ASTType.Function
            name = code.name if named else str(code)
            if name not in explained:
                yield "clash-without-reason", rule.place, f"no reason/2 explains the clash {name}"


def _by_rules(source: Source, profile: str, name: str) -> Iterator[_Found]:
    """What `rules/check.lp` finds in a profile."""
    for symbol in solved_tables(source, profile, name, ("compile", "closure", "check")):
        if symbol.name == "finding":
            code, at, text, arguments = symbol.arguments
            yield (
                code.string,
                _place(source, at),
                text.string.format(*map(plain, arguments.arguments)),
            )


def _place(source: Source, fact: clingo.Symbol) -> Place:
    """Where a fact stands; of one that a rule derives, where the rule does."""
    if fact in source.facts:
        return source.facts[fact]
    for rule in source.rules:
        if any(term.name == fact.name for term in atoms_in([rule.statement.head])):
            return rule.place
    raise AssertionError(f"{fact} comes from no statement")


def _by_solver(source: Source, profile: str, name: str, own: Collection[str]) -> Iterator[_Found]:
    """Relations whose one premise contradicts itself: what the audit's rules derive from
    it clashes.
    """
    ontology = tables_of(source, profile, name, "")
    for relation in ontology.families:
        atom = (ontology.readings[ASSERTED, relation], 0, 1)
        solver = TraceSolver(ontology, [atom])
        if solver.feasible([atom]):
            continue
        reasons = clashes(ontology, [atom])
        named = [
            ontology.reasons[code].format(first=relations[0], second=relations[-1])
            if relations and code in ontology.reasons
            else code
            for code, relations in reasons
        ]
        culprits = "; ".join(named) or "its own bounds"
        involved = {relation, *(r for _, relations in reasons for r in relations)}
        yield (
            "one-premise-clash",
            _involved(source, involved, own),
            f"`a {relation} b` alone contradicts itself ({culprits})",
        )


def _involved(source: Source, relations: Collection[str], own: Collection[str]) -> Place:
    """The first fact of the checked files that has most of some relations."""

    def count(fact: clingo.Symbol) -> int:
        return len(set(map(str, fact.arguments)).intersection(relations))

    facts = [fact for fact, place in source.facts.items() if place.file in own]
    return source.facts[max(facts, key=count)]


def as_json(findings: Sequence[Finding]) -> list[dict[str, object]]:
    """Findings as JSON objects."""
    return [
        {
            "code": f.code,
            "severity": f.severity,
            "file": f.file,
            "line": f.line,
            "message": f.message,
            "mend": f.mend,
        }
        for f in findings
    ]


def as_sarif(findings: Sequence[Finding]) -> dict[str, object]:
    """Findings as a SARIF 2.1.0 log."""
    used = sorted({finding.code for finding in findings})
    table = checks()
    driver = {
        "name": "symbouq rules check",
        "version": __version__,
        "rules": [{"id": code, "help": {"text": table[code].mend}} for code in used],
    }
    results = [
        {
            "ruleId": finding.code,
            "ruleIndex": used.index(finding.code),
            "level": finding.severity,
            "message": {"text": f"{finding.message}. {finding.mend}"},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": Path(finding.file).as_posix()},
                        "region": {"startLine": finding.line},
                    }
                }
            ],
        }
        for finding in findings
    ]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
