"""Compile an ontology's statements into the tables of a profile, with `rules/compile.lp`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, TypeVar

import clingo
from clingo import ast

from symbouq.errors import OntologyError
from symbouq.limits import COMPILING, LimitError, apart, meter
from symbouq.ontology.denials import with_denials
from symbouq.ontology.source import (
    PRIVATE,
    Place,
    Rule,
    Signature,
    Source,
    atoms_in,
    complaint,
    fact_of,
    ground,
    new_control,
    plain,
    public,
    rule_statements,
    signature,
    table_groups,
    vocabulary,
)
from symbouq.ontology.tables import Ontology, Tables
from symbouq.ontology.wellformed import check_derived


def tables_of(
    source: Source, profile: str, name: str, digest: str, literal: bool = False
) -> Ontology:
    """Compile the tables of a profile (output of `rules/compile.lp`) into an Ontology.

    Args:
        source: The ontology's statements.
        profile: The profile.
        name: Name of the ontology in audits.
        digest: Hash of the ontology in audits.
        literal: Whether to omit world defaults (presumes/3).

    Raises:
        OntologyError: If a rule of the ontology cannot be grounded.
    """
    solved = solved_tables(source, profile, name, "literal." if literal else "")
    for finding in solved.findings:
        if finding.severity == "error" and finding.place.file in source.own:
            raise OntologyError(finding.message, *finding.place, code=finding.code)
    return solved_ontology(source, solved, profile, name, digest)


def solved_ontology(
    source: Source, solved: Solved, profile: str, name: str, digest: str
) -> Ontology:
    """Build the tables of a profile from solved rules."""
    kinds = vocabulary()
    rows: dict[Signature, list[tuple[clingo.Symbol, ...]]] = defaultdict(list)
    for symbol in solved.rows:
        key = symbol.name, len(symbol.arguments)
        of = kinds.get(key, ("",) * key[1])
        row = zip(symbol.arguments, of, strict=True)
        rows[key].append(tuple(argument for argument, kind in row if kind != "profile"))
    made = {key: [tuple(map(plain, row)) for row in sorted(rows[key])] for key in rows}
    tables = Tables(made | {key: found for key, found in source.ready.items() if found})
    if ("eventful", 1) in tables:
        # Keep the order of the statements, because it decides between verbs that share a form.
        for key, group in table_groups().items():
            if group == "events":
                derived = (f for f in solved.derived if (f.name, len(f.arguments)) == key)
                more = (tuple(map(plain, fact.arguments)) for fact in derived)
                tables[key] = [*source.rows[key], *more]
    return with_denials(Ontology.of(tables, profile, name, digest, solved.rules))


class FoundByRule(NamedTuple):
    """Finding of `rules/check.lp`: the check's code and severity, the place and the message."""

    code: str
    severity: str
    place: Place
    message: str


@dataclass(frozen=True)
class Solved:
    """Result of compiling a profile of an ontology.

    Attributes:
        rows: Output of `rules/compile.lp`.
        derived: Vocabulary facts that rules of the ontology add.
        findings: Findings of `rules/check.lp`.
        rules: The ontology's audit rules and the facts that they read, as text.
    """

    rows: list[clingo.Symbol]
    derived: list[clingo.Symbol]
    findings: list[FoundByRule]
    rules: str


@cache
def compiling_rules() -> tuple[ast.AST, ...]:
    """Return the rules that make the tables, as statements."""
    made: list[ast.AST] = []
    defined = "".join(f"#defined {name}/{arity}." for name, arity in vocabulary())
    ast.parse_string(defined + "".join(_shown_facts()), made.append)
    return (*rule_statements("compile", "check"), *made)


_CONDITIONS = {"profile": "active", "relation": "available", "family": "used"}
"""Maps a kind of argument to the predicate of `rules/compile/profile.lp` that holds for a profile's
values of this kind.
"""


def _shown_facts() -> Iterator[str]:
    """Yield statements that show the facts that `rules/vocabulary.lp` declares as tables for the
    readers.
    """
    for key, group in table_groups().items():
        if group != "events":
            arguments = {f"A{n}": kind for n, kind in enumerate(vocabulary()[key], start=1)}
            fact = f"{key[0]}({', '.join(arguments)})"
            has = [f"{_CONDITIONS[k]}({name})" for name, k in arguments.items() if k in _CONDITIONS]
            has = [] if group == "reading" else has
            yield f"#show {fact} : {', '.join([fact, *has])}."


MOST_RULES = 50_000
"""Maximum number of ground rules for the tables of a profile. The built-in ontology has 8,000."""
_OBSERVED = 8
"""Factor by which rules that observe the program raise this limit."""


def _ground(
    control: clingo.Control,
    complaints: list[str],
    source: Source,
    name: str,
    limit: int = MOST_RULES,
) -> None:
    """Ground a program that includes rules of an ontology.

    Raises:
        OntologyError: If a rule cannot be grounded, or the program grows too large.
    """
    meter(control, limit)
    try:
        ground(control, complaints, name)
    except LimitError as error:
        message = f"the rules make more than {limit:,} rules once they are grounded"
        # Among rules with the same head, blame the one with the most joins.
        rules = sorted(source.rules, key=lambda rule: -len(rule.statement.body))
        heads = [(t, rule.place) for rule in rules for t in atoms_in([rule.statement.head])]
        if not heads:
            raise OntologyError(message, code="growth") from error
        atoms = control.symbolic_atoms
        many: Counter[Signature] = Counter()
        for own, arity, _ in atoms.signatures:
            many[own.removeprefix(PRIVATE), arity] += sum(1 for _ in atoms.by_signature(own, arity))
        most, place = max(heads, key=lambda head: many[signature(head[0])])
        message += f"; most of them conclude {most.name}/{len(most.arguments)}"
        raise OntologyError(message, *place, code="growth") from error


R = TypeVar("R")


def within_limit(source: Source, work: Callable[[], R]) -> R:
    """Run a task that grounds an ontology's rules. If there are any rules, a separate process is
    used, because their grounding may not end.

    Args:
        source: The ontology's statements.
        work: Function with a picklable result.

    Raises:
        OntologyError: If the work exceeds the time limit, or the work itself raises this error.
    """
    if not source.rules:
        return work()
    try:
        return apart(work)
    except LimitError as error:
        longest = max(source.rules, key=lambda rule: len(atoms_in(rule.statement.body)))
        message = (
            f"the rules take more than {COMPILING} seconds, or 4 GB of memory, to compile; of all "
            "rules, this one joins the most atoms"
        )
        raise OntologyError(message, *longest.place, code="growth") from error


def compiling_program(source: Source, profile: str, name: str, further: str = "") -> clingo.Control:
    """Return the program that makes the tables of a profile, ready to be solved.

    Args:
        source: The ontology's statements.
        profile: The profile.
        name: Name of the ontology in error messages.
        further: Additional rules that observe the program.

    Raises:
        OntologyError: If a rule of the ontology cannot be grounded.
    """
    control, complaints = new_control()
    with ast.ProgramBuilder(control) as builder:
        for statement in compiling_rules():
            builder.add(statement)
    # Added as syntax trees, so that error messages name their file and line.
    _add(control, [rule for rule in source.rules if not rule.audit], complaints, name)
    concluded = "".join(f"concluded({relation})." for relation in sorted(source.concluded))
    control.add("base", [], f"{source.text} {concluded} selected({profile}). {further}")
    _ground(control, complaints, source, name, MOST_RULES * (_OBSERVED if further else 1))
    return control


def solved_tables(source: Source, profile: str, name: str, further: str = "") -> Solved:
    """Compile a profile of an ontology.

    Args:
        source: The ontology's statements.
        profile: The profile.
        name: Name of the ontology in error messages.
        further: Additional facts for the program.

    Raises:
        OntologyError: If a rule of the ontology cannot be grounded or derives an invalid fact, or
            if the rules have more than one result.
    """
    control = compiling_program(source, profile, name, further)
    control.configuration.solve.models = 2  # type: ignore[union-attr]
    derived = source.derived
    inputs = {key if key in vocabulary() else (PRIVATE + key[0], key[1]) for key in source.inputs}
    models = []
    with control.solve(yield_=True) as handle:
        for model in handle:
            asked = model.symbols(atoms=True) if derived or inputs else ()
            models.append((model.symbols(shown=True), asked))
    if len(models) != 1:
        many = "have no model" if not models else "can be read in several ways"
        message = f"the rules for profile {profile} {many}: negation runs in a circle"
        raise OntologyError(message, *source.rules[0].place if source.rules else ())
    ((shown, atoms),) = models
    added = [
        atom
        for atom in atoms
        if (atom.name, len(atom.arguments)) in derived and atom not in source.facts
    ]
    check_derived(source, added)
    read = [atom for atom in atoms if (atom.name, len(atom.arguments)) in inputs]
    tables: list[clingo.Symbol] = []
    findings: list[clingo.Symbol] = []
    for symbol in shown:
        (findings if symbol.name == "finding" else tables).append(symbol)
    return Solved(
        tables,
        added,
        [_finding(source, symbol) for symbol in findings],
        _audit_rules(source, read, name),
    )


def _add(control: clingo.Control, rules: Iterable[Rule], complaints: list[str], name: str) -> None:
    """Add rules of an ontology to a program.

    Raises:
        OntologyError: If a rule cannot be grounded.
    """
    try:
        with ast.ProgramBuilder(control) as builder:
            for rule in rules:
                builder.add(rule.private)
    except RuntimeError as error:
        raise complaint(complaints, str(error), name) from error


def _audit_rules(source: Source, read: Iterable[clingo.Symbol], name: str) -> str:
    """Return the ontology's audit rules with the facts that they read.

    Raises:
        OntologyError: If a rule cannot be grounded.
    """
    rules = [rule for rule in source.rules if rule.audit]
    if not rules:
        return ""
    inputs = "".join(f"#defined {PRIVATE}{key[0]}/{key[1]}." for key in source.inputs)
    for atom in read:
        own = clingo.Function(PRIVATE + public(atom)[0], atom.arguments)
        inputs += f"{own}."
    control, complaints = new_control()
    control.add("base", [], "".join(map(str, rule_statements("closure"))) + inputs)
    _add(control, rules, complaints, name)
    _ground(control, complaints, source, name)
    return source.audit + inputs


def _finding(source: Source, symbol: clingo.Symbol) -> FoundByRule:
    code, at, text, arguments = symbol.arguments
    message = text.string.format(*map(plain, arguments.arguments))
    severity = checks()[code.string].severity
    return FoundByRule(code.string, severity, source.place(at), message)


class Check(NamedTuple):
    """Severity of a check, and how to mend its findings."""

    severity: str
    mend: str


@cache
def checks() -> dict[str, Check]:
    """Return all checks by code (`rules/check.lp`)."""
    found = {}
    for statement in rule_statements("check"):
        fact = fact_of(statement)
        if fact is not None and fact.name == "check":
            code, severity, mend = clingo.parse_term(str(fact)).arguments
            found[code.string] = Check(str(severity), mend.string)
    return found
