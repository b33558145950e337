"""Measure which rules and facts the tests cover: `symbouq rules test --coverage`.

A rule fires if its body can hold in a program that a test makes. A fact fires if a rule that fires
uses the fact or a consequence of it, or if the tests contain everything that the fact mentions: its
relations in scenes or claims, its words in sentences or messages.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import clingo
from clingo import ast

from symbouq.auditing.auditor import TraceAuditor
from symbouq.authoring.specs import Outcome, run
from symbouq.ontology.compilation import compiling_program, solved_tables
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.recording import recorded
from symbouq.ontology.source import (
    PRIVATE,
    Place,
    Signature,
    Source,
    atoms_in,
    declared,
    place_of,
    plain,
    public,
    rule_statements,
    signature,
    vocabulary,
)
from symbouq.ontology.specs import Spec
from symbouq.ontology.tables import Ontology


@dataclass(frozen=True)
class Item:
    """A rule or fact with its position, and whether a test fired it."""

    place: Place
    text: str
    fired: bool


@dataclass(frozen=True)
class Coverage:
    """All rules and facts of an ontology, fired or not."""

    items: tuple[Item, ...]

    @property
    def share(self) -> float:
        """Share of items that fired, 0 to 1; 1 if there are no items."""
        if not self.items:
            return 1.0
        return sum(item.fired for item in self.items) / len(self.items)

    @property
    def missed(self) -> list[Item]:
        """Rules and facts that did not fire."""
        return [item for item in self.items if not item.fired]


_PROGRAMS = ("compile", "hulls", "refutation", "repair", "premises", "events")
"""Rule files that contain all rules for decisions, together with the files that they include."""


def covered(specs: Sequence[Spec], folder: str | None) -> tuple[list[Outcome], Coverage]:
    """Run tests and collect the rules and facts that fire.

    For an ontology that extends the built-in one, only the folder's own statements count.

    Raises:
        OntologyError: If the ontology is invalid.
        SpecError: If a test cannot be run.
    """
    library = OntologyLibrary(folder)
    auditor = TraceAuditor(ontology=library)
    source = library.source
    seen = _Seen([rule.private for rule in source.rules if rule.audit])
    with recorded(seen.record):
        outcomes = list(run(specs, auditor))
    told = _told(specs, outcomes)
    facts = {fact for fact in source.facts if told.has(fact)}
    for ontology, relations in _stated(auditor, specs).items():
        selected = ontology.profile.replace("-", "_")
        why, spots = _provenance(source, selected)
        seen.fired |= spots
        rows = [*solved_tables(source, selected, library.name).rows, *source.facts]
        facts |= _leaves(_used_rows(rows, relations, seen.used.values()), why)
        facts.add(clingo.Function("profile", [clingo.Function(selected)]))
    own = Path(folder).resolve() if folder is not None else None
    decisive = _names_in([*_rule_files(), *(rule.statement for rule in source.rules)])
    named = {plain(fact.arguments[0]) for fact in source.facts if fact.name == "family"}
    items = [
        Item(place, f"{fact}.", fact in facts)
        for fact, place in source.facts.items()
        if _is_testable(fact, named, decisive)
    ]
    items += [
        Item(place_of(rule), str(rule), _spot(rule) in seen.fired)
        for rule in [*_rule_files(), *(rule.statement for rule in source.rules)]
    ]
    counted = (i for i in items if own is None or own in Path(i.place.file).resolve().parents)
    return outcomes, Coverage(tuple(sorted(counted, key=lambda item: (item.place, item.text))))


def _is_testable(
    fact: clingo.Symbol, relations: Collection[str], decisive: Collection[str]
) -> bool:
    """Whether tests can contain what a fact mentions: its words, or relations of some profile that
    a rule reads.
    """
    if fact.name in {*declared("of_answers"), *declared("unread")}:
        return False
    related = any(plain(argument) in relations for argument in fact.arguments)
    return _has_words(fact) or (related and fact.name in decisive)


def _has_words(fact: clingo.Symbol) -> bool:
    return any(argument.type is _STRING for argument in fact.arguments)


def _names_in(trees: Iterable[ast.AST]) -> set[str]:
    return {name for tree in trees for part in tree.body for name in _NAME.findall(str(part))}


_NAME = re.compile(r"([a-z]\w*)\(")


def _stated(auditor: TraceAuditor, specs: Sequence[Spec]) -> dict[Ontology, set[str]]:
    found: dict[Ontology, set[str]] = defaultdict(set)
    for spec in specs:
        trace = spec.trace()
        parser = auditor.parser_for(trace)
        parsed = parser.parse(trace)
        relations = found[parser.ontology]
        relations |= {s.relation for _, s in parsed.scene}
        relations |= {s.relation for claim in parsed.claims for s in claim.relations}
        relations |= {r.replace("-", "_") for pair in spec.pairs for r in pair.relations}
        if parsed.events is not None:  # the relations of events come from the words
            phrases = parser.ontology.lexicon.phrase.items()
            relations |= {r for text, r in phrases if any(text in t.lower() for t in _texts(spec))}
    return found


class _Told(NamedTuple):
    """Words in the tests and in their messages.

    Attributes:
        texts: Words of each sentence and message, in lower case.
        prose: All these words, separated by spaces.
        options: Values of the tests' options, in lower case.
    """

    texts: tuple[frozenset[str], ...]
    prose: str
    options: frozenset[str]

    def has(self, fact: clingo.Symbol) -> bool:
        """Whether the tests contain one of the fact's phrases; False for a fact without phrases."""
        texts = [argument.string.lower() for argument in fact.arguments if argument.type is _STRING]
        if fact.name == "verb" or "verb" in map(str, fact.arguments):
            return any(map(self._has_verb, texts))
        return any(text in self.options or self._has(text) for text in texts)

    def _has(self, text: str) -> bool:
        """Whether the tests contain a phrase, possibly in an inflected form, or all pieces of a
        template.
        """
        return all(_fits(piece, self.prose) for piece in _FIELD.split(text) if piece.strip())

    def _has_verb(self, text: str) -> bool:
        """Whether a sentence or message contains the words of the given verb, in any form and with
        other words between them.
        """
        first, *rest = text.split()
        of_verb = (words for words in self.texts if words.issuperset(rest))
        return any(word[:2] == first[:2] for words in of_verb for word in words)


_FIELD = re.compile(r"\{\w*\}")
_STRING = clingo.SymbolType.String


def _told(specs: Sequence[Spec], outcomes: Sequence[Outcome]) -> _Told:
    written = [text for spec in specs for text in _texts(spec)]
    messages = [message for outcome in outcomes for message in outcome.messages]
    texts = [_WORD.findall(text.lower()) for text in (*written, *messages)]
    options = {str(value).lower() for spec in specs for value in spec.options.values()}
    prose = " ".join(word for text in texts for word in text)
    return _Told(tuple(map(frozenset, texts)), f" {prose} ", frozenset(options))


def _rule_files(*names: str) -> Iterator[ast.AST]:
    """Yield the statements of rule files that have a body or a choice; by default, of all files
    that decide.
    """
    for statement in rule_statements(*(names or _PROGRAMS)):
        if statement.ast_type in (ast.ASTType.Rule, ast.ASTType.Minimize):
            yield statement


def _observers(
    trees: Iterable[ast.AST], beside: Collection[Signature] | None = None
) -> Iterator[tuple[Spot, set[str], str]]:
    """Yield rules that report which statements fire, and with which body atoms, except those in
    `beside`; without `beside`, also the premises of each head. Each rule comes with the place of
    its statement and the names of the atoms.
    """
    for tree in trees:
        namer = _Namer()
        # Grounding does not decide whether a difference holds.
        body = [part for part in tree.body if not _is_difference(part)]
        parts = [namer.visit(part) if _is_positive(part) else part for part in body]
        positive = [part for part in parts if _is_positive(part)]
        then = f" :- {'; '.join(map(str, parts))}." if parts else "."
        file, line, column = _spot(tree)
        used = [part for part in positive if signature(part.atom.symbol) not in (beside or ())]
        heads = [f"_fired({clingo.String(file)}, {line}, {column})"]
        heads += [f"_used({literal})" for literal in used]
        plain_head = tree.ast_type is ast.ASTType.Rule and tree.head.ast_type is ast.ASTType.Literal
        if beside is None and plain_head:
            heads += [f"_why({tree.head}, {literal})" for literal in positive]
        rule = f"{{ {'; '.join(heads)} }}{then}\n"  # only one: its body is joined once
        yield _spot(tree), {part.atom.symbol.name for part in used}, rule


def _is_difference(part: ast.AST) -> bool:
    literal = part.ast_type is ast.ASTType.Literal
    return literal and part.atom.ast_type is ast.ASTType.TheoryAtom


def _is_positive(part: ast.AST) -> bool:
    return (
        part.ast_type is ast.ASTType.Literal
        and part.sign == ast.Sign.NoSign
        and part.atom.ast_type is ast.ASTType.SymbolicAtom
    )


class _Namer(ast.Transformer):
    """Give names to anonymous variables in atoms, so that a head can repeat them."""

    def __init__(self) -> None:
        self._count = 0

    def visit_Variable(self, node: ast.AST) -> ast.AST:  # noqa: N802 (clingo's naming)
        if node.name != "_":
            return node
        self._count += 1
        return node.update(name=f"Any{self._count}")


Spot = tuple[str, int, int]
"""File, line and column of a statement. Several statements may share a line."""


def _spot(tree: ast.AST) -> Spot:
    begin = tree.location.begin
    return begin.filename, begin.line, begin.column


def _fired_spots(control: clingo.Control) -> set[Spot]:
    return {
        (file.string, line.number, column.number)
        for atom in control.symbolic_atoms.by_signature("_fired", 3)
        for file, line, column in [atom.symbol.arguments]
    }


class _Seen:
    """Statements that fire in the programs of traces, the ontology's own among them, and the atoms
    of their bodies.
    """

    def __init__(self, own: Sequence[ast.AST]) -> None:
        self.fired: set[Spot] = set()
        self.used: dict[str, clingo.Symbol] = {}
        self._own = own
        compiled = [r.head for r in _rule_files("compile") if r.ast_type is ast.ASTType.Rule]
        self._tables = {atom.name for atom in atoms_in(compiled)} | _names_in(own)
        self._tables.update(name for name, _ in vocabulary())

    @cache  # noqa: B019 (as short-lived as the tests)
    def _rules(self, *parts: str) -> list[tuple[Spot, set[str], str]]:
        decide = [*_rule_files(*parts)]
        # Atoms derived from a trace are not facts of the ontology, and there are many.
        heads = [r.head for r in decide if r.ast_type is ast.ASTType.Rule and r.body]
        derived = set(map(signature, atoms_in(heads)))
        return [*_observers([*decide, *([] if "points" in parts else self._own)], derived)]

    def record(self, parts: Sequence[str], facts: str, control: clingo.Control | None) -> bool:
        """Observe the statements of a program that did not fire yet, and those that read facts of
        the ontology that were not used yet. Return whether there are any.
        """
        new = {fact.strip().partition("(")[0] for fact in {*facts.split(".")} - self.used.keys()}
        unseen = [
            rule
            for spot, names, rule in self._rules(*parts)
            if spot not in self.fired or names & new & self._tables
        ]
        if unseen and control is not None:
            control.add("observers", [], "".join(unseen))
            control.ground([("observers", [])])
            self.fired |= _fired_spots(control)
            atoms = control.symbolic_atoms.by_signature("_used", 1)
            self.used |= {str(used): used for atom in atoms for used in atom.symbol.arguments}
        return bool(unseen)


def _provenance(
    source: Source, profile: str
) -> tuple[dict[clingo.Symbol, set[clingo.Symbol]], set[Spot]]:
    """Return the premises of each table row of a profile, and the table rules that fire."""
    own = [rule.private for rule in source.rules if not rule.audit]
    rules = [rule for *_, rule in _observers([*_rule_files("compile"), *own])]
    control = compiling_program(source, profile, "coverage", "".join(rules))
    why: dict[clingo.Symbol, set[clingo.Symbol]] = defaultdict(set)
    for atom in control.symbolic_atoms.by_signature("_why", 2):
        head, body = atom.symbol.arguments
        why[head].add(body)
    return why, _fired_spots(control)


def _leaves(
    roots: Iterable[clingo.Symbol], why: dict[clingo.Symbol, set[clingo.Symbol]]
) -> set[clingo.Symbol]:
    seen: set[clingo.Symbol] = set()
    left = list(roots)
    while left:
        atom = left.pop()
        if atom not in seen:
            seen.add(atom)
            left.extend(why.get(atom, ()))
    return seen


_NAMES = {
    "implies": ("implies", "means"),
    "composition": ("composition",),
    "incompatible": ("incompatible", "means_not"),
}
"""Maps an axiom of the closure to the predicates of the facts from which it is derived."""


def _used_rows(
    rows: Iterable[clingo.Symbol], relations: Collection[str], used: Iterable[clingo.Symbol]
) -> Iterator[clingo.Symbol]:
    """Yield the table rows of a profile that its tests use: through the relations that they state
    or claim, or through the body atoms `used` by fired rules.
    """
    rows = [*rows]
    known = {plain(row.arguments[0]) for row in rows if row.name == "family"}
    for row in rows:
        of = known.intersection(map(plain, row.arguments))
        if of and of <= set(relations) and not _has_words(row):
            yield row
            yield clingo.Function("has", [row])
            if row.name == "family":
                yield clingo.Function("available", row.arguments[:1])
    for atom in used:
        key = public(atom)
        if key in vocabulary() and atom.name.startswith(PRIVATE):
            yield clingo.Function(key[0], atom.arguments)
        yield clingo.Function("converse" if atom.name == "inverse" else atom.name, atom.arguments)
        if atom.name == "nested" and len(atom.arguments) > 2:  # its axis is a coordinate
            yield clingo.Function("nested_along", atom.arguments)
        for name in _NAMES.get(atom.name, ()):
            yield clingo.Function("has", [clingo.Function(name, atom.arguments)])


def _fits(entry: str, words: str) -> bool:
    """Whether the given words contain the words of an entry. The first word may be inflected, and
    "#" stands for any number.
    """
    first, *rest = _WORD.findall(entry.lower()) or [""]
    if f" {' '.join([first, *rest])} " in words:
        return True
    stem = re.escape(first.removesuffix("e").removesuffix("y"))
    inflected = rf"(?:{re.escape(first)}|{stem}(?:s|es|ies|ed|ied|ing))"
    parts = [_NUMBER if first in _ANY else inflected]
    parts += [_NUMBER if word in _ANY else re.escape(word) for word in rest]
    return re.search(rf" {' '.join(parts)}(?!\w)", words) is not None


_NUMBER = r"-? ?\w+"
_ANY = ("#", "_", "*")
_WORD = re.compile(r"\w[\w'-]*|[^\w\s]+")


def _texts(spec: Spec) -> list[str]:
    return [*spec.scene, *(claim.text for claim in spec.claims), spec.options.get("question", "")]
