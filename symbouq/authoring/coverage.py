"""`symbouq rules test --coverage`: which rules and facts no test ever fired.

A rule fires where its body can hold in a program that a test makes. A fact fires where
such a rule uses it, where a table row that a test uses is derived from it, or, for what
the parser and the messages read, where a test's text or message has it.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import clingo
from clingo import ast

from symbouq.auditing.auditor import TraceAuditor
from symbouq.authoring.specs import Outcome, Spec, run
from symbouq.logic.programs import Program, observed_program, recorded
from symbouq.ontology.library import (
    ASSERTED,
    QUERIED,
    Ontology,
    OntologyLibrary,
    compiling_program,
    solved_tables,
)
from symbouq.ontology.source import (
    PRIVATE,
    Place,
    Source,
    data_folder,
    place_of,
    plain,
    public,
    statements,
    vocabulary,
)
from symbouq.ontology.words import ASKED, BY_TEXT, MEASURES, OPENING, PARTICIPLE, WAYS


@dataclass(frozen=True)
class Item:
    """A rule or fact with its place, and whether a test fired it."""

    place: Place
    text: str
    fired: bool


@dataclass(frozen=True)
class Coverage:
    """Every rule and fact of an ontology, fired or not."""

    items: tuple[Item, ...]

    @property
    def share(self) -> float:
        """The share that fired, 0 to 1; 1 where there is nothing."""
        if not self.items:
            return 1.0
        return sum(item.fired for item in self.items) / len(self.items)

    @property
    def missed(self) -> list[Item]:
        """What did not fire."""
        return [item for item in self.items if not item.fired]


_TRACE_RULES = ("layout", "extent", "refutation", "closure", "repair", "premises", "events")
"""Rule files that a trace is solved with."""


class _Watched(dict[Any, Any]):
    """A table that knows which of its keys were looked up."""

    def __init__(self, table: dict[Any, Any]) -> None:
        super().__init__(table)
        self.used: set[Any] = set()

    def __getitem__(self, key: Any) -> Any:
        self.used.add(key)
        return super().__getitem__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        self.used.add(key)
        return super().get(key, default)


class _WatchedSet(frozenset[Any]):
    """A set that knows which of its members were asked for."""

    used: set[Any]

    def __new__(cls, members: Iterable[Any]) -> _WatchedSet:
        made = super().__new__(cls, members)
        made.used = set()
        return made

    def __contains__(self, member: object) -> bool:
        found = super().__contains__(member)
        if found:
            self.used.add(member)
        return found


class _Understood(str):
    """A relation that no text states: what it is told by is that it is this very object."""

    __slots__ = ()


_WATCHED = (
    "mirror",
    "converse",
    "joins",
    "hours",
    "denials",
    "grouped",
    "labels",
    "relation_labels",
    "messages",
    "reasons",
    "loosely",
    "of_container",
)
"""Tables that are read by key."""


class _WatchedLibrary(OntologyLibrary):
    """An ontology whose tables are watched."""

    def _compile(self, profile: str) -> Ontology:
        ontology = super()._compile(profile)
        watched: dict[str, Any] = {name: _Watched(getattr(ontology, name)) for name in _WATCHED}
        covers: dict[str, frozenset[str]] = {
            kind: _WatchedSet(kinds) for kind, kinds in ontology.covers.items()
        }
        return dataclasses.replace(
            ontology,
            **watched,
            covers=covers,
            containers=_WatchedSet(ontology.containers),
            situated=_Understood(ontology.situated),
        )


def covered(specs: Sequence[Spec], folder: str | None) -> tuple[list[Outcome], Coverage]:
    """Runs tests and says what they fired.

    Of an ontology that extends the built-in one, the folder's own statements count.

    Raises:
        OntologyError: If the ontology cannot be used.
        SpecError: If a test cannot be run.
    """
    library = _WatchedLibrary(folder)
    auditor = TraceAuditor(ontology=library)
    with recorded() as programs:
        outcomes = list(run(specs, auditor))
    source = library.source
    fired, used = _observed(source, set(programs))
    facts: set[clingo.Symbol] = set()
    for ontology, traces in _by_profile(auditor, specs).items():
        selected = ontology.profile.replace("-", "_")
        why, spots = _provenance(source, selected)
        fired |= spots
        roots = _roots(auditor, ontology, traces, used)
        # A noun is read, or not, whatever else of its kind is spoken of.
        facts |= {fact for fact in _leaves(roots, why) if fact.name != "noun"}
        facts.add(clingo.Function("profile", [clingo.Function(selected)]))
    facts |= _read(auditor, specs, outcomes)
    facts |= {f for f in source.facts if _direct(f, specs, facts)}
    own = Path(folder).resolve() if folder is not None else None

    def counts(place: Place) -> bool:
        return own is None or own in Path(place.file).resolve().parents

    items = [
        Item(place, f"{fact}.", fact in facts)
        for fact, place in source.facts.items()
        if counts(place)
    ]
    items += [
        Item(place_of(rule), str(rule), _spot(rule) in fired)
        for rule in [*_rule_files(), *(rule.statement for rule in source.rules)]
        if counts(place_of(rule))
    ]
    return outcomes, Coverage(tuple(sorted(items, key=lambda item: (item.place, item.text))))


def _rule_files() -> Iterator[ast.AST]:
    """The statements with a body, or a choice, of the rule files that decide."""
    folder = data_folder("rules")
    for statement in statements([folder / f"{name}.lp" for name in ("compile", *_TRACE_RULES)]):
        if statement.ast_type in (ast.ASTType.Rule, ast.ASTType.Minimize):
            yield statement


def _observers(trees: Iterable[ast.AST], whys: bool) -> str:
    """Rules that say which of some statements fire, and with which atoms of their bodies;
    with `whys`, also what each head is derived from.
    """
    lines = []
    for tree in trees:
        namer = _Namer()
        parts = [namer.visit(part) if _is_positive(part) else part for part in tree.body]
        positive = [part for part in parts if _is_positive(part)]
        body = "; ".join(map(str, parts))
        then = f" :- {body}." if body else "."
        file, line, column = _spot(tree)
        lines.append(f'_fired("{_quoted(file)}", {line}, {column}){then}')
        lines += [f"_used({literal}){then}" for literal in positive]
        plain_head = tree.ast_type is ast.ASTType.Rule and tree.head.ast_type is ast.ASTType.Literal
        if whys and plain_head:
            lines += [f"_why({tree.head}, {literal}){then}" for literal in positive]
    return "\n".join(lines)


def _is_positive(part: ast.AST) -> bool:
    """Whether a part of a body is a plain positive atom."""
    return (
        part.ast_type is ast.ASTType.Literal
        and part.sign == ast.Sign.NoSign
        and part.atom.ast_type is ast.ASTType.SymbolicAtom
    )


class _Namer(ast.Transformer):
    """Names the anonymous variables of atoms, so that a head can repeat them."""

    def __init__(self) -> None:
        self._count = 0

    def visit_Variable(self, node: ast.AST) -> ast.AST:  # noqa: N802 (clingo's naming)
        if node.name != "_":
            return node
        self._count += 1
        return node.update(name=f"Any{self._count}")


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


Spot = tuple[str, int, int]
"""File, line and column where a statement begins: several may share a line."""


def _spot(tree: ast.AST) -> Spot:
    begin = tree.location.begin
    return begin.filename, begin.line, begin.column


def _fired_spots(control: clingo.Control) -> set[Spot]:
    return {
        (file.string, line.number, column.number)
        for atom in control.symbolic_atoms.by_signature("_fired", 3)
        for file, line, column in [atom.symbol.arguments]
    }


def _observed(source: Source, programs: set[Program]) -> tuple[set[Spot], set[clingo.Symbol]]:
    """What fires in the programs of the traces: places of rules, and atoms of bodies."""
    own = [rule.private for rule in source.rules if rule.audit]
    trees: dict[str, list[ast.AST]] = defaultdict(list)
    for tree in _rule_files():
        trees[Path(place_of(tree).file).stem].append(tree)
    fired: set[Spot] = set()
    used: set[clingo.Symbol] = set()
    observers: dict[tuple[str, ...], str] = {}
    for parts, facts in sorted(programs):
        if parts not in observers:
            observed = [tree for part in parts for tree in trees[part]]
            observed += own if "closure" in parts else []
            observers[parts] = _observers(observed, whys=False)
        control = observed_program(parts, facts, observers[parts])
        fired |= _fired_spots(control)
        used |= {
            atom.symbol.arguments[0] for atom in control.symbolic_atoms.by_signature("_used", 1)
        }
    return fired, used


def _provenance(
    source: Source, profile: str
) -> tuple[dict[clingo.Symbol, set[clingo.Symbol]], set[Spot]]:
    """What each table row of a profile is derived from, and which table rules fire."""
    own = [rule.private for rule in source.rules if not rule.audit]
    compile_file = data_folder("rules") / "compile.lp"
    trees = [tree for tree in _rule_files() if place_of(tree).file == str(compile_file)]
    observers = _observers([*trees, *own], whys=True)
    control = compiling_program(source, profile, "coverage", observers)
    why: dict[clingo.Symbol, set[clingo.Symbol]] = defaultdict(set)
    for atom in control.symbolic_atoms.by_signature("_why", 2):
        head, body = atom.symbol.arguments
        why[head].add(body)
    return why, _fired_spots(control)


def _leaves(
    roots: Iterable[clingo.Symbol], why: dict[clingo.Symbol, set[clingo.Symbol]]
) -> set[clingo.Symbol]:
    """Everything that some atoms are derived from, themselves included."""
    seen: set[clingo.Symbol] = set()
    left = list(roots)
    while left:
        atom = left.pop()
        if atom not in seen:
            seen.add(atom)
            left.extend(why.get(atom, ()))
    return seen


def _by_profile(auditor: TraceAuditor, specs: Sequence[Spec]) -> dict[Ontology, list[Spec]]:
    found: dict[Ontology, list[Spec]] = defaultdict(list)
    for spec in specs:
        found[auditor.parser_for(spec.trace()).ontology].append(spec)
    return found


_NAMES = {
    "implies": ("leads_to", "means_also"),
    "composition": ("composed",),
    "incompatible": ("clashing", "denied"),
    "inverse": ("converse",),
}
"""Axioms of the closure to the rows of compile.lp that they are shown from."""


def _roots(
    auditor: TraceAuditor,
    ontology: Ontology,
    specs: Sequence[Spec],
    used: Collection[clingo.Symbol],
) -> Iterator[clingo.Symbol]:
    """The table rows of a profile that its tests use."""
    relations: set[tuple[str, str]] = set()
    understood: set[str] = set()
    for spec in specs:
        parsed = auditor.parser_for(spec.trace()).parse(spec.trace())
        understood |= {s.triple[1] for _, s in parsed.scene if isinstance(s.triple[1], _Understood)}
        relations |= {(ASSERTED, stated.triple[1]) for _, stated in parsed.scene}
        relations |= {(QUERIED, s.triple[1]) for claim in parsed.claims for s in claim.relations}
        relations |= {(QUERIED, r.replace("-", "_")) for p in spec.pairs for r in p.relations}
    rows = _compiled_symbols(auditor, ontology)
    about = ("in_use", "closed", "needed", "denied", "moves")
    lexical = {
        (token.entry.relation, _spelled(token.text))
        for spec in specs
        for token in _tokens(auditor, spec)
        if token.entry is not None and token.kind == "relation"
    }
    accompanied = any(token.kind == "with" for spec in specs for token in _tokens(auditor, spec))
    claimed = {relation for _, relation in relations}
    if ontology.eventful:
        claimed |= {relation for relation, _ in lexical}
    for row in rows:
        keys = tuple(map(str, row.arguments))
        bounds = row.name in ("at_least", "at_most") and keys[:2] in relations
        switch = row.name in ("latest_counts", "reads_events")
        if bounds or (row.name in about and keys[0] in claimed) or switch:
            yield row
    led_to = {str(atom.arguments[0]) for atom in used if atom.name.startswith("held_at_")}
    watched: dict[str, set[Any]] = {name: getattr(ontology, name).used for name in _WATCHED}
    for row in rows:
        keys = tuple(map(plain, row.arguments))
        if (
            (row.name == "reads" and (keys[0], _spelled(keys[1])) in lexical)
            or (row.name == "mirror" and keys[0] in watched["mirror"])
            or (row.name == "converse" and keys[0] in watched["converse"])
            or (row.name == "join" and keys[:2] in watched["joins"])
            or (row.name == "hour" and int(keys[0]) in watched["hours"])
            or (row.name == "denies" and keys[0] in watched["denials"])
            or (row.name == "stands_for" and keys[1].lower() in watched["relation_labels"])
            or (row.name == "together" and keys[0] in watched["grouped"])
            or (row.name == "meant_loosely" and keys[0] in watched["loosely"])
            or (row.name == "of_container" and keys[0] in watched["of_container"])
            or (row.name == "understood" and keys[0] in understood)
            or (row.name == "covers" and keys[1] in _asked_for(ontology.covers.get(keys[0])))
            or (row.name == "container" and keys[0] in _asked_for(ontology.containers))
            or (row.name == "has" and accompanied)
            or (row.name == "described" and any(spec.in_words for spec in specs))
            or (row.name in ("held_at_least", "held_at_most") and keys[0] in led_to)
        ):
            yield row
    for atom in used:
        key = public(atom)
        if key in vocabulary() and atom.name.startswith(PRIVATE):
            yield clingo.Function(key[0], atom.arguments)
        for name in _NAMES.get(atom.name, (atom.name,)):
            yield clingo.Function(name, atom.arguments)


def _asked_for(table: frozenset[str] | None) -> set[Any]:
    """The members of a set that were asked for."""
    return table.used if isinstance(table, _WatchedSet) else set()


def _compiled_symbols(auditor: TraceAuditor, ontology: Ontology) -> list[clingo.Symbol]:
    profile = ontology.profile.replace("-", "_")
    return solved_tables(auditor.library.source, profile, auditor.library.name).rows


def _tokens(auditor: TraceAuditor, spec: Spec) -> Iterator[Any]:
    """The lexical items of a test's texts."""
    if not spec.in_words:
        return
    reader = auditor.parser_for(spec.trace()).reader
    # Claims and statements about events are read by words of their own.
    for lexicon in filter(None, (reader.lexicon, getattr(reader, "words", None))):
        for text in _texts(spec):
            yield from lexicon.tokens(text)


def _texts(spec: Spec) -> list[str]:
    return [*spec.scene, *(claim.text for claim in spec.claims), spec.options.get("question", "")]


def _spelled(text: str) -> str:
    return text.lower().replace("-", " ")


_UNPROVOKED = ("timed_out",)
"""Messages that no test can bring about: tests have no time limit."""


def _read(
    auditor: TraceAuditor, specs: Sequence[Spec], outcomes: Sequence[Outcome]
) -> set[clingo.Symbol]:
    """The facts of language and of messages that the tests' texts and messages have."""
    facts = auditor.library.source.facts
    items: set[tuple[str, str]] = set()
    texts: set[str] = set()
    asked: set[str] = set()
    finite: set[str] = set()
    meant: set[str] = set()
    for spec in specs:
        tokens = list(_tokens(auditor, spec))
        meant |= {
            m for t in tokens if t.entry is not None for m in (t.entry.relation, *t.entry.verbs)
        }
        items |= {(t.kind, _spelled(t.text)) for t in tokens if t.entry is not None}
        texts |= {_spelled(t.text) for t in tokens}
        if auditor.parser_for(spec.trace()).ontology.described:
            finite |= {_spelled(t.text) for t in tokens if t.entry is not None and t.entry.finite}
        question = spec.options.get("question", "").lower()
        asked |= {word.strip("?.,:") for word in question.split() if spec.in_words}
    relational = {text for kind, text in items if kind == "relation"}
    said = " ".join(
        text.lower()
        for outcome in outcomes
        for text in (*(_texts(outcome.spec) if outcome.spec.in_words else ()), *outcome.messages)
    )
    tables = {"message": "messages", "reason": "reasons", "label": "labels"}
    used = {
        (predicate, key)
        for ontology in _by_profile(auditor, specs)
        for predicate, table in tables.items()
        for key in getattr(ontology, table).used
    }
    found: set[clingo.Symbol] = set()
    for fact in facts:
        arguments = list(map(plain, fact.arguments))
        if fact.name == "word":
            kind, text = arguments[0], _spelled(arguments[1])
            hit = (kind, text) in items
            hit = hit or (kind in ASKED and arguments[1].lower() in asked)
            hit = hit or (kind in (*BY_TEXT, PARTICIPLE) and text in {told for _, told in items})
            hit = hit or (kind in (*OPENING, *WAYS, *MEASURES) and text in texts)
        elif fact.name == "noun":
            hit = any(("noun", _spelled(text)) in items for text in arguments[1:])
        elif fact.name in ("attribute", "numeral", "ordinal"):
            hit = (fact.name, _spelled(arguments[-1])) in items
        elif fact.name == "finite":
            hit = _spelled(arguments[0]) in finite
        elif fact.name in ("way", "compared", "times", "inflected"):
            hit = _spelled(arguments[-1]) in {told for _, told in items}
        elif fact.name in ("verb", "posture", "opaque", "returning", "betweenness", "divided"):
            hit = arguments[0] in meant
        elif fact.name in ("place", "adjacent"):
            hit = _spelled(arguments[0]) in relational
        elif fact.name == "wording":
            hit = arguments[2].lower() in said
        elif fact.name in ("message", "reason"):
            hit = (fact.name, arguments[0]) in used or arguments[0] in _UNPROVOKED
        elif fact.name == "label" and len(arguments) == 2:
            hit = ("label", arguments[1].lower()) in used
        else:
            hit = False
        if hit:
            found.add(fact)
    return found


def _direct(fact: clingo.Symbol, specs: Sequence[Spec], fired: set[clingo.Symbol]) -> bool:
    """Whether a fact is used as such: what chooses the profile, and the axes in use."""
    if fact.name == "dataset":
        name = fact.arguments[0].string.lower()
        return any(spec.options.get("dataset", "").lower() == name for spec in specs)
    if fact.name == "default_profile" or (fact.name == "extends" and len(fact.arguments) == 1):
        return any(not {"profile", "dataset"} & set(spec.options) for spec in specs)
    if fact.name == "axis":
        return any(f.name == "component" and f.arguments[1] == fact.arguments[0] for f in fired)
    return False
