"""Rules and facts that no test fires: `symbouq rules test --coverage`.

A rule fires where its body can hold in a program that a test makes. A fact fires where
such a rule uses it, where a table row that a test uses is derived from it, or, for what
the parser and the messages read, where a test's text or message has it.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import clingo
from clingo import ast

from symbouq.auditing.auditor import TraceAuditor
from symbouq.authoring.specs import Outcome, run
from symbouq.logic.programs import Program, observed_program, recorded
from symbouq.ontology.compilation import compiling_program, solved_tables
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.source import (
    ASSERTED,
    PRIVATE,
    QUERIED,
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
from symbouq.ontology.words import ASKED, BY_TEXT, MEASURES, OPENING, PARTICIPLE, WAYS

if TYPE_CHECKING:
    from symbouq.reading.lexicon import Token  # which loads spaCy
    from symbouq.reading.parsed import ParsedTrace


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
        """The rules and facts that did not fire."""
        return [item for item in self.items if not item.fired]


_PROGRAMS = ("compile", "hulls", "refutation", "repair", "premises", "events")
"""Rule files that, with what they include, hold every rule that decides."""


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
        is_member = super().__contains__(member)
        if is_member:
            self.used.add(member)
        return is_member


class _Understood(str):
    """A relation that no text states, told from a stated one of the same name by its type."""

    __slots__ = ()


_WATCHED = {
    "relations": ("mirror", "converse", "join", "negation", "sort"),
    "lexicon": ("clock", "grouped", "label", "relation_label", "loosely", "of_container"),
    "messages": ("message", "reason"),
    "wording": (
        *("through_as", "denied_as", "partly_as", "understood_as"),
        *(
            "within_as",
            "exactly_as",
            "levels",
            "upright_as",
            "sense",
            "metric",
            "clockwise",
            "quarters",
            "person",
        ),
    ),
}
"""Groups to their tables that are read by key."""

_MEMBERS = ("carried", "bounding", "central", "shares_place", "tall", "blurred")
"""Tables of the wording that are asked for their members."""


class _WatchedLibrary(OntologyLibrary):
    """An ontology whose tables are watched."""

    def _compile(self, profile: str, literal: bool) -> Ontology:
        ontology = super()._compile(profile, literal)
        covers = {kind: _WatchedSet(kinds) for kind, kinds in ontology.lexicon.covers.items()}

        def watched(group: str, **others: Any) -> Any:
            tables = getattr(ontology, group)
            by_key = {name: _Watched(getattr(tables, name)) for name in _WATCHED[group]}
            return dataclasses.replace(tables, **by_key, **others)

        return dataclasses.replace(
            ontology,
            relations=watched("relations"),
            lexicon=watched(
                "lexicon",
                covers=covers,
                container=_WatchedSet(ontology.lexicon.container),
                vague=_WatchedSet(ontology.lexicon.vague),
                situated=_Understood(ontology.lexicon.situated),
            ),
            messages=watched("messages"),
            wording=watched(
                "wording",
                **{name: _WatchedSet(getattr(ontology.wording, name)) for name in _MEMBERS},
                part_as=_Understood(ontology.wording.part_as),
                distinct=_Understood(ontology.wording.distinct),
            ),
        )


class _ReadTest(NamedTuple):
    """A test with all that its profile's parser reads in it."""

    spec: Spec
    ontology: Ontology
    parsed: ParsedTrace
    tokens: list[Token]


def covered(specs: Sequence[Spec], folder: str | None) -> tuple[list[Outcome], Coverage]:
    """Runs tests and collects the rules and facts that they fire.

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
    tests = [_read(auditor, spec) for spec in specs]
    facts: set[clingo.Symbol] = set()
    for ontology in dict.fromkeys(test.ontology for test in tests):
        selected = ontology.profile.replace("-", "_")
        why, spots = _provenance(source, selected)
        fired |= spots
        ready = [f for f in source.facts if (f.name, len(f.arguments)) in source.ready]
        rows = [*solved_tables(source, selected, library.name).rows, *ready]
        here = [test for test in tests if test.ontology is ontology]
        # A noun is read, or not, whatever else of its kind is spoken of.
        leaves = _leaves(_used_rows(ontology, rows, here, used), why)
        facts |= {fact for fact in leaves if fact.name != "noun"}
        facts.add(clingo.Function("profile", [clingo.Function(selected)]))
    facts |= _stated_facts_used(source, tests, outcomes, facts)
    own = Path(folder).resolve() if folder is not None else None
    of_answers = declared("of_answers")  # which no test here reads
    items = [
        Item(place, f"{fact}.", fact in facts)
        for fact, place in source.facts.items()
        if fact.name not in of_answers
    ]
    items += [
        Item(place_of(rule), str(rule), _spot(rule) in fired)
        for rule in [*_rule_files(), *(rule.statement for rule in source.rules)]
    ]
    counted = (i for i in items if own is None or own in Path(i.place.file).resolve().parents)
    return outcomes, Coverage(tuple(sorted(counted, key=lambda item: (item.place, item.text))))


def _read(auditor: TraceAuditor, spec: Spec) -> _ReadTest:
    """A test, parsed; its tokens are those of all its texts."""
    trace = spec.trace()
    parser = auditor.parser_for(trace)
    tokens: list[Token] = []
    if spec.in_words:
        reader = parser.reader
        # Claims and statements about events are read by words of their own.
        for lexicon in filter(None, (reader.lexicon, getattr(reader, "words", None))):
            tokens += [token for text in _texts(spec) for token in lexicon.tokens(text)]
    return _ReadTest(spec, parser.ontology, parser.parse(trace), tokens)


def _rule_files(*names: str) -> Iterator[ast.AST]:
    """The statements with a body, or a choice, of rule files; of all that decide by default."""
    for statement in rule_statements(*(names or _PROGRAMS)):
        if statement.ast_type in (ast.ASTType.Rule, ast.ASTType.Minimize):
            yield statement


def _observers(
    trees: Iterable[ast.AST], whys: bool, beside: Collection[Signature] = frozenset()
) -> str:
    """Rules that say which of some statements fire, and with which atoms of their bodies, of which
    those of some predicates are left out; with `whys`, also what each head is derived from.
    """
    lines = []
    for tree in trees:
        namer = _Namer()
        # Grounding leaves open whether a difference holds.
        body = [part for part in tree.body if not _is_difference(part)]
        parts = [namer.visit(part) if _is_positive(part) else part for part in body]
        positive = [part for part in parts if _is_positive(part)]
        joined = "; ".join(map(str, parts))
        then = f" :- {joined}." if joined else "."
        file, line, column = _spot(tree)
        lines.append(f"_fired({clingo.String(file)}, {line}, {column}){then}")
        used = [part for part in positive if signature(part.atom.symbol) not in beside]
        lines += [f"_used({literal}){then}" for literal in used]
        plain_head = tree.ast_type is ast.ASTType.Rule and tree.head.ast_type is ast.ASTType.Literal
        if whys and plain_head:
            lines += [f"_why({tree.head}, {literal}){then}" for literal in positive]
    return "\n".join(lines)


def _is_difference(part: ast.AST) -> bool:
    """Whether a part of a body is a difference constraint."""
    literal = part.ast_type is ast.ASTType.Literal
    return literal and part.atom.ast_type is ast.ASTType.TheoryAtom


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
    """Places of the rules that fire in the programs of the traces, and atoms of their bodies."""
    own = [rule.private for rule in source.rules if rule.audit]
    fired: set[Spot] = set()
    used: set[clingo.Symbol] = set()
    observers: dict[tuple[str, ...], str] = {}
    for parts, facts in sorted(programs):
        if parts not in observers:
            decide = [*_rule_files(*parts)]
            # What they derive of a trace is no fact of the ontology, and there is much of it.
            heads = [r.head for r in decide if r.ast_type is ast.ASTType.Rule and r.body]
            derived = set(map(signature, atoms_in(heads)))
            observed = [*decide, *([] if "points" in parts else own)]
            observers[parts] = _observers(observed, whys=False, beside=derived)
        control = observed_program(parts, facts, observers[parts])
        fired |= _fired_spots(control)
        used |= {
            atom.symbol.arguments[0] for atom in control.symbolic_atoms.by_signature("_used", 1)
        }
    return fired, used


def _provenance(
    source: Source, profile: str
) -> tuple[dict[clingo.Symbol, set[clingo.Symbol]], set[Spot]]:
    """The atoms that each table row of a profile is derived from, and the table rules that fire."""
    own = [rule.private for rule in source.rules if not rule.audit]
    observers = _observers([*_rule_files("compile"), *own], whys=True)
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


_NAMES = {
    "implies": ("implies", "means"),
    "composition": ("composition",),
    "incompatible": ("incompatible", "means_not"),
}
"""Axioms of the closure to the facts of a profile that they are shown from."""


def _used_rows(
    ontology: Ontology,
    rows: Iterable[clingo.Symbol],
    tests: Sequence[_ReadTest],
    used: Collection[clingo.Symbol],
) -> Iterator[clingo.Symbol]:
    """The table rows of a profile that its tests use.

    Args:
        ontology: The profile's tables, watched.
        rows: All its rows.
        tests: The tests of the profile.
        used: Atoms that fired rules of the traces' programs have in their bodies.
    """
    scene = [stated.triple[1] for test in tests for _, stated in test.parsed.scene]
    queried = {s.triple[1] for t in tests for claim in t.parsed.claims for s in claim.relations}
    queried |= {r.replace("-", "_") for t in tests for pair in t.spec.pairs for r in pair.relations}
    relations = {(ASSERTED, r) for r in scene} | {(QUERIED, r) for r in queried}
    tokens = [token for test in tests for token in test.tokens]
    lexical = {
        (token.entry.relation, _spelled(token.text))
        for token in tokens
        if token.entry is not None and token.kind == "relation"
    }
    claimed = {*scene, *queried, *((r for r, _ in lexical) if ontology.eventful else ())}
    led_to = {str(atom.arguments[0]) for atom in used if atom.name.startswith("held_at_")}
    looked_up: dict[str, set[Any]] = {
        name: getattr(getattr(ontology, group), name).used
        for group, names in _WATCHED.items()
        for name in names
    }
    accompanied = any(token.kind == "with" for token in tokens)
    always = {
        "state_updates": True,
        "eventful": True,
        **dict.fromkeys(("describes", "coherent"), any(test.spec.in_words for test in tests)),
        **dict.fromkeys(_PROMPTED, any(test.spec.reads for test in tests)),
    }
    understood = {relation for relation in scene if isinstance(relation, _Understood)}
    by_first: dict[str, Collection[str]] = {
        "part_as": understood,
        **dict.fromkeys(("relational", "needs", "bars", "displacement"), claimed),
        **dict.fromkeys(("held_at_least", "held_at_most"), led_to),
        "container": getattr(ontology.lexicon.container, "used", ()),
        **{name: getattr(getattr(ontology.wording, name), "used", ()) for name in _MEMBERS},
        **{
            name: looked_up[name]
            for name in (
                *("mirror", "converse", "negation", "sort", "grouped", "of_container"),
                *_WATCHED["wording"],
            )
        },
    }
    by_second: dict[str, Collection[str]] = {
        "situated": understood,
        "distinct": understood,
        "loosely": looked_up["loosely"],
        "within_as": looked_up["within_as"],
        "person": looked_up["person"],
        "exactly_as": looked_up["exactly_as"],
        "levels": looked_up["levels"],
        "upright_as": looked_up["upright_as"],
        "vague": getattr(ontology.lexicon.vague, "used", ()),
    }
    by_pair = {
        "at_least": relations,
        "at_most": relations,
        **{name: looked_up[name] for name in ("join", "sense", "through_as")},
    }

    by_last_pair = {"blurred": getattr(ontology.wording.blurred, "used", ())}

    def is_used(predicate: str, *keys: str) -> bool:
        return (
            always.get(predicate, False)
            or keys[:2] in by_pair.get(predicate, ())
            or keys[1:] in by_last_pair.get(predicate, ())
            or any(key in by_first.get(predicate, ()) for key in keys[:1])
            or any(key in by_second.get(predicate, ()) for key in keys[1:2])
            or (predicate == "clock" and int(keys[0]) in looked_up["clock"])
            or (
                predicate == "label"
                and len(keys) == 3
                and keys[2].lower() in looked_up["relation_label"]
            )
            or (
                predicate == "covers"
                and keys[1] in getattr(ontology.lexicon.covers.get(keys[0]), "used", ())
            )
        )

    for row in rows:
        keys = tuple(map(plain, row.arguments))
        if row.name == "family" and keys[0] in claimed:
            yield clingo.Function("available", row.arguments[:1])
        if is_used(row.name, *keys):
            yield row
        elif (row.name == "phrase" and (keys[0], _spelled(keys[1])) in lexical) or (
            row.name == "having" and accompanied
        ):
            yield clingo.Function("has", [row])
    for atom in used:
        key = public(atom)
        if key in vocabulary() and atom.name.startswith(PRIVATE):
            yield clingo.Function(key[0], atom.arguments)
        yield clingo.Function("converse" if atom.name == "inverse" else atom.name, atom.arguments)
        if atom.name == "nested" and len(atom.arguments) > 2:  # its axis is a coordinate
            yield clingo.Function("nested_along", atom.arguments)
        for name in _NAMES.get(atom.name, ()):
            yield clingo.Function("has", [clingo.Function(name, atom.arguments)])


_PROMPTED = ("guidance", "grows")
"""What language models are told, with the tests that say what sentences read as for examples."""

_UNPROVOKED = {"timed_out"}
"""Messages that no test can bring about: tests have no time limit."""


def _stated_facts_used(
    source: Source,
    tests: Sequence[_ReadTest],
    outcomes: Sequence[Outcome],
    fired: Collection[clingo.Symbol],
) -> set[clingo.Symbol]:
    """The facts that no rule carries to where they are used: those of language and messages that
    the tests' texts and messages have, those that choose the profile, and the axes in use.
    """
    tokens = [token for test in tests for token in test.tokens]
    entries = [(token.kind, token.entry, _spelled(token.text)) for token in tokens if token.entry]
    items = defaultdict(set)
    for kind, _, text in entries:
        items[kind].add(text)
    named = {text for _, _, text in entries}
    meant = {name for _, entry, _ in entries for name in (entry.relation, *entry.verbs)}
    texts = {_spelled(token.text) for token in tokens}
    finite = {
        _spelled(token.text)
        for test in tests
        if test.ontology.describes
        for token in test.tokens
        if token.entry is not None and token.entry.finite
    }
    questions = [t.spec.options.get("question", "") for t in tests if t.spec.in_words]
    asked = {word.strip("?.,:") for question in questions for word in question.lower().split()}
    written = [text for test in tests if test.spec.in_words for text in _texts(test.spec)]
    messages = [message for outcome in outcomes for message in outcome.messages]
    prose = " ".join([*written, *messages]).lower()
    words = f" {' '.join(_WORD.findall(prose))} "
    texts_of_words = [set(_WORD.findall(text.lower())) for text in written]
    labels, message_codes, reason_codes = (
        {key for test in tests for key in table(test.ontology).used}
        for table in (
            attrgetter("lexicon.label"),
            attrgetter("messages.message"),
            attrgetter("messages.reason"),
        )
    )
    options = [test.spec.options for test in tests]
    by_first = {
        **dict.fromkeys(("verb", "posture", "opaque"), meant),
        **dict.fromkeys(("returning", "betweenness", "divided"), meant),
        "message": message_codes | _UNPROVOKED,
        "reason": reason_codes | _UNPROVOKED,
        "axis": {str(fact.arguments[1]) for fact in fired if fact.name == "component"},
    }
    by_first_spelled = {"place": items["relation"], "adjacent": items["relation"], "finite": finite}
    by_last_spelled = {
        **dict.fromkeys(("way", "compared", "times", "inflected"), named),
        "attribute": items["attribute"],
    }
    told = defaultdict(list)
    for fact in source.facts:
        if fact.name == "scaled":
            told[plain(fact.arguments[0])].append(plain(fact.arguments[-1]))
    by_default = any({"profile", "dataset"}.isdisjoint(some) for some in options)

    def is_word_used(kind: str, text: str) -> bool:
        return (
            _spelled(text) in items[kind]
            or (kind in ASKED and text.lower() in asked)
            or (kind in (*BY_TEXT, PARTICIPLE) and _spelled(text) in named)
            or (kind in (*OPENING, *WAYS, *MEASURES) and _spelled(text) in texts)
        )

    def is_used(predicate: str, *arguments: str) -> bool:
        first, last = (arguments[0], arguments[-1]) if arguments else ("", "")
        match predicate, len(arguments):
            case "word", _:
                return is_word_used(first, arguments[1])
            case "noun", _:
                return not items["noun"].isdisjoint(map(_spelled, arguments[1:]))
            case "wording", _:
                return arguments[2].lower() in prose
            case "expression", _ if arguments[1] == "verb":
                return any(_holds(last, text) for text in texts_of_words)
            case "expression" | "lexeme" | "phrase_of" | "unit" | "axis_of", _:
                return _is_in(last, words)
            case (("numeral" | "ordinal"), _):
                return _is_in(last, words)
            case "scaled" | "level", _:
                return _fits(last, words)
            case "crosses" | "region" | "scale", _:
                return any(_fits(text, words) for text in told[first])
            case "label", 2:
                return last.lower() in labels
            case "dataset" | "texts", _:
                return any(some.get("dataset", "").lower() == first.lower() for some in options)
            case ("default_profile", _) | ("extends", 1):
                return by_default
        return (
            first in by_first.get(predicate, ())
            or _spelled(first) in by_first_spelled.get(predicate, ())
            or _spelled(last) in by_last_spelled.get(predicate, ())
        )

    return {fact for fact in source.facts if is_used(fact.name, *map(plain, fact.arguments))}


def _is_in(entry: str, words: str) -> bool:
    """Whether a text has an entry, the first word of which may be inflected."""
    first, *rest = _WORD.findall(entry.lower())
    stem = first.removesuffix("e").removesuffix("y")
    tail = "".join(f" {word}" for word in rest)
    forms = {first, *(stem + ending for ending in _ENDINGS)}
    return any(f" {form}{tail} " in words for form in forms)


def _fits(entry: str, words: str) -> bool:
    """Whether a text has words for a place, with any number."""
    parts = (
        r"-? ?\w+" if word in ("#", "_", "*") else re.escape(word) for word in _WORD.findall(entry)
    )
    return re.search(rf" {' '.join(parts)}(?!\w)", words) is not None


def _holds(entry: str, words: set[str]) -> bool:
    """Whether a text has the words of a verb's expression, the verb in any of its forms."""
    first, *rest = entry.split()
    return words >= set(rest) and any(word[:2] == first[:2] for word in words)


_WORD = re.compile(r"\w[\w'-]*|[^\w\s]+")
_ENDINGS = ("s", "es", "ies", "ed", "ied", "ing")


def _texts(spec: Spec) -> list[str]:
    return [*spec.scene, *(claim.text for claim in spec.claims), spec.options.get("question", "")]


def _spelled(text: str) -> str:
    return text.lower().replace("-", " ")
