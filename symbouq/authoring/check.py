"""Findings about an ontology, with remedies: `symbouq rules check`.

Every finding has a stable code, a severity, a place and a remedy. `rules/check.lp` declares the
checks; those that need the audit's solver are in this module.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import clingo
from clingo import ast

from symbouq.errors import OntologyError
from symbouq.io.sarif import Result, Rule, sarif_log
from symbouq.logic.programs import TraceSolver, clashes
from symbouq.ontology.compilation import (
    checks,
    solved_ontology,
    solved_tables,
    within_limit,
)
from symbouq.ontology.source import (
    ASSERTED,
    Place,
    Source,
    atoms_in,
    data_folder,
    lp_files,
    rule_statements,
    signature,
)
from symbouq.ontology.tables import Ontology
from symbouq.ontology.wellformed import read_source


@dataclass(frozen=True, order=True)
class Finding:
    """A fault of an ontology, with the stable name of its check (`rules/check.lp`), its severity
    (`error`, `warning` or `note`) and its remedy.
    """

    file: str
    line: int
    code: str
    severity: str
    message: str
    mend: str


def check(folder: str | None = None) -> list[Finding]:
    """Find faults of an ontology folder, or of the built-in ontology.

    For an ontology that extends the built-in one, only faults in the folder's own files are
    reported.

    Raises:
        OntologyError: If the folder does not exist or has no `.lp` file.
    """
    errors: list[OntologyError] = []
    source, _ = read_source(lp_files(data_folder("ontology")), folder, errors.append)
    name = "builtin" if folder is None else folder
    try:
        return within_limit(source, partial(_found, source, name, errors))
    except OntologyError as error:
        return _found(source, name, [*errors, error])


def _found(source: Source, name: str, errors: list[OntologyError]) -> list[Finding]:
    """Return the findings about an ontology's statements. If any statement cannot be read, return
    only the errors about reading.
    """
    table = checks()
    profiles_of: dict[_Fault, list[str]] = defaultdict(list)
    mends: dict[_Fault, str] = {}
    profiles = [profile for (profile,) in source.rows["profile", 1]]
    # Statements that cannot be read would be reported as missing everywhere else, so report them
    # first.
    if not errors:
        for finder in (
            *(_repeated, _replaced, _unmatched, _without_reason, _without_clash),
            *(_taken_for_helpers, _narrowed),
        ):
            profiles_of |= dict.fromkeys(finder(source), profiles)
        contradictions = _Contradictions(source)
        for profile in profiles:
            try:
                solved = solved_tables(source, profile, name)
                own = [f for f in solved.findings if f.place.file in source.own]
                for finding in own:
                    profiles_of[finding.code, finding.place, finding.message].append(profile)
                # Faulty facts cause many clashes, so report them first, too.
                if not any(finding.severity == "error" for finding in own):
                    ontology = solved_ontology(source, solved, profile, name, "")
                    for fault in contradictions.of(ontology):
                        profiles_of[fault].append(profile)
            except OntologyError as error:
                errors.append(error)
                if error.code == "growth":  # slow to find, and the same in every profile
                    break
    # Blame a built-in file only if none of the author's files is involved.
    for fatal in [error for error in errors if error.file in source.own] or errors:
        place = Place(fatal.file or name, fatal.line or 1)
        profiles_of[fatal.code, place, fatal.message] = profiles
        mends[fatal.code, place, fatal.message] = fatal.mend
    return sorted(
        Finding(
            *fault[1],
            fault[0],
            table[fault[0]].severity,
            fault[2] + _in(some, profiles),
            mends.get(fault) or table[fault[0]].mend,
        )
        for fault, some in profiles_of.items()
    )


def _in(some: Sequence[str], profiles: Sequence[str]) -> str:
    """Name the profiles that have a finding, unless all of them do."""
    names = [profile.replace("_", "-") for profile in dict.fromkeys(some)]
    if len(names) == len(profiles):
        return ""
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f" (profile{'s' if len(names) > 1 else ''} {shown})"


_Fault = tuple[str, Place, str]
"""Code, position and message of a fault."""


def _repeated(source: Source) -> Iterator[_Fault]:
    for fact, place in source.repeated:
        first = source.facts[fact]
        yield "stated-twice", place, f"{fact} is stated at {first.file}:{first.line} already"


def _replaced(source: Source) -> Iterator[_Fault]:
    for fact, place in source.facts.items():
        if fact.name == "family" and (count := source.replaced.get(str(fact.arguments[0]))):
            message = (
                f"{fact} declares {fact.arguments[0]} anew: {count} facts of the built-in ontology "
                "about it are set aside, its phrases, axioms and wordings among them"
            )
            yield "replaces-builtin", place, message


def _unmatched(source: Source) -> Iterator[_Fault]:
    """Yield phrases that cannot occur in a sentence because they contain the end of a sentence."""
    for fact, place in source.facts.items():
        if fact.name in ("phrase", "phrase_of") and place.file in source.own:
            text = fact.arguments[-1].string
            plain_text = " ".join(re.sub(r"[.!?:;]+(?=\s|$)", " ", text).split())
            if plain_text != text and not _ABBREVIATED.search(text):
                message = f'no sentence can have the phrase "{text}": write "{plain_text}"'
                yield "unmatched-phrase", place, message


_ABBREVIATED = re.compile(r"\w\.\w\.\s")
"""Matches an abbreviation with a full stop that does not end a sentence: "e.g. by"."""


def _clashes(rules: Iterable[ast.AST]) -> Iterator[str]:
    for rule in rules:
        for term in atoms_in([rule.head]) if rule.ast_type is ast.ASTType.Rule else ():
            if signature(term) == ("clash", 3):
                code = term.arguments[0]
                yield code.name if code.ast_type is ast.ASTType.Function else str(code)


def _without_clash(source: Source) -> Iterator[_Fault]:
    built_in = _clashes(rule_statements("hulls"))
    known = {*built_in, *_clashes(rule.statement for rule in source.rules)}
    for fact, place in source.facts.items():
        if fact.name == "reason" and place.file in source.own:
            name = str(fact.arguments[0])
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                yield "reason-without-clash", place, f"no rule derives the clash {name}{hint}"


def _without_reason(source: Source) -> Iterator[_Fault]:
    explained = {name for name, _ in source.rows["reason", 2]}
    for rule in source.rules:
        for name in _clashes([rule.statement]):
            if name not in explained:
                yield "clash-without-reason", rule.place, f"no reason/2 explains the clash {name}"


def _taken_for_helpers(source: Source) -> Iterator[_Fault]:
    """Yield vocabulary predicates that the author's rules derive and use like helpers, although no
    fact states them.
    """
    stated = {
        (fact.name, len(fact.arguments))
        for fact, place in source.facts.items()
        if place.file in source.own
    }
    used = {signature(term) for rule in source.rules for term in atoms_in(rule.statement.body)}
    for key, place in source.derived.items():
        if key in used and key not in stated and place.file in source.own:
            message = (
                f"this rule adds to {key[0]}/{key[1]}, a predicate of the ontology "
                "(`symbouq rules reference`), and other rules build on it"
            )
            yield "vocabulary-helper", place, message


def _narrowed(source: Source) -> Iterator[_Fault]:
    """Yield built-in directions for which the author adds consequences: claims about these
    directions no longer follow from positions alone.
    """
    rows = source.rows
    stated = {
        str(fact.arguments[0]): place.file
        for fact, place in source.facts.items()
        if fact.name == "component"
    }
    closed = {row[0] for key in (("means", 2), ("means_not", 2)) for row in rows[key]}
    for fact, place in source.facts.items():
        if fact.name != "implies" or place.file not in source.own:
            continue
        relation = str(fact.arguments[0])
        if relation not in closed and stated.get(relation, place.file) not in source.own:
            message = (
                f"{relation} has components: implying {fact.arguments[1]}, a claim of it needs "
                "more than the places of things, and follows only from what states it"
            )
            yield "direction-implies", place, message


class _Contradictions:
    """Finder of relations that contradict themselves: the audit's rules derive a clash from a
    single premise.

    Profiles share most of their relations. A relation with the same meaning and axioms as a
    consistent relation is therefore not solved again.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._consistent: set[tuple[str, ...]] = set()

    def of(self, ontology: Ontology) -> Iterator[_Fault]:
        axioms = (
            ontology.encoding.closure_facts,
            ontology.encoding.rules,
            ontology.encoding.extent_facts,
            ontology.encoding.hull_facts,
        )
        atoms: dict[str, tuple[int, int, int]] = {}
        meanings: dict[str, tuple[str, ...]] = {}
        for number, relation in enumerate(ontology.relations.family):
            key = ontology.encoding.readings[ASSERTED, relation]
            # Facts of the reading, without its number.
            meanings[relation] = (ontology.encoding.facts[key].replace(f"({key},", "("), *axioms)
            if meanings[relation] not in self._consistent:
                # Each relation gets two things of its own, so that one program checks all
                # relations.
                atoms[relation] = (key, 2 * number, 2 * number + 1)
        solver = TraceSolver(ontology, atoms.values())
        for relation, atom in atoms.items():
            if solver.feasible([atom]):
                self._consistent.add(meanings[relation])
                continue
            reasons = clashes(ontology, [atom])
            named = [
                ontology.messages.reason[code].format(first=relations[0], second=relations[-1])
                if relations and code in ontology.messages.reason
                else code
                for code, relations in reasons
            ]
            culprits = "; ".join(named) or "its own bounds"
            involved = {relation, *(r for _, relations in reasons for r in relations)}
            yield (
                "one-premise-clash",
                _involved(self._source, involved),
                f"`a {relation} b` alone contradicts itself ({culprits})",
            )


def _involved(source: Source, relations: Collection[str]) -> Place:
    """Return the position of the fact in the checked files that contains the most of the given
    relations; if there are several, the first one.
    """

    def count(fact: clingo.Symbol) -> int:
        return len(set(map(str, fact.arguments)).intersection(relations))

    facts = [fact for fact, place in source.facts.items() if place.file in source.own]
    return source.facts[max(facts, key=count)]


def as_json(findings: Sequence[Finding]) -> list[dict[str, object]]:
    """Return the findings as JSON objects."""
    order = ("code", "severity", "file", "line", "message", "mend")
    return [{name: getattr(finding, name) for name in order} for finding in findings]


def as_sarif(findings: Sequence[Finding]) -> dict[str, object]:
    """Return the findings as a SARIF log."""
    table = checks()
    found = sorted({finding.code for finding in findings})
    rules = {code: Rule(code, table[code].mend, table[code].mend) for code in found}
    results = [
        Result(each.code, each.severity, f"{each.message}. {each.mend}", each.file, each.line)
        for each in findings
    ]
    return sarif_log("symbouq rules check", rules, results)
