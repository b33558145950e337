"""The ontology: `.lp` files checked, solved once, and held as tables.

Everything that the audit and the parser know about relations comes from here. The
files are parsed with clingo's own parser, so every complaint names file and line;
`rules/vocabulary.lp` says which predicates exist and what their arguments are, and
`rules/compile.lp` derives the tables of one profile from the facts.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import clingo
from clingo import ast

from symbouq.errors import OntologyError

Rows = dict[tuple[str, int], list[tuple[str, ...]]]
"""Predicate and arity to the arguments of its facts, as text."""

_ROLES = ("asserted", "queried")
ASSERTED, QUERIED = _ROLES
VERSION = "1"
"""Version of the ontology's vocabulary; it changes when old files stop working."""


def data_folder(name: str) -> Path:
    """The folder `rules` or `ontology`: beside the package in a checkout, inside it
    in an installed wheel.

    Raises:
        OntologyError: If the installation has neither.
    """
    package = Path(__file__).parent
    for folder in (package / "_data" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise OntologyError(f"the folder {name}/ is missing from this installation; reinstall symbouq")


@dataclass(frozen=True, eq=False)
class Ontology:
    """The tables of one profile.

    Attributes:
        profile: Name of the profile, with dashes as users write it.
        name: `builtin`, or the path of the user's folder.
        hash: SHA-256 over the rule and ontology files, hexadecimal.
        families: Relation name to family.
        readings: (role, relation) to its reading, a number; where a relation says the
            same in both roles, they share it.
        facts: What each reading says, as facts for `rules/layout.lp` and
            `rules/closure.lp`.
        closed_keys: The readings that closure, and not the layout, decides.
        closure_facts: The relational axioms (inverse, ... incompatible) as facts.
        rules: Rules that a user's ontology adds to the audit's.
        coordinates: (axis, end) of each coordinate of a thing, a `point` or the `low`
            and `high` ends of an extent; coordinate i of the rule programs is
            `coordinates[i - 1]`.
        extent: Whether things have an extent.
        extent_facts: What `rules/extent.lp` needs to know; empty for points.
        functional: The relations of which a subject has one object at a time.
        updates: Whether the scene's latest statement of a functional relation of a
            subject replaces the earlier ones.
        converse: Relation to its converse (a symmetric one to itself).
        mirror: The converse, where swapping the things says exactly the same.
        suffices: (trusted, claimed) pairs of relations of which, over one pair of
            things, the first suffices for the second.
        excludes: Relation to those that no pair can have with it at once.
        joins: Two directions to the one that has the components of both.
        moves: Relation that the layout alone decides to the number of axes on which it
            is not equality.
        phrases: Surface phrase (lower case) to relation.
        hours: Hour of a clock face to direction.
        wordings: Relation to the phrases that express it in generated text.
        denials: Relation to the one that states its absence.
        words: Word class to its words.
        places: Phrases that name a side; their landmark needs a linking word.
        adjacent: Phrases that count only right before their landmark.
        messages: Message name to template.
        reasons: Clash code to template.
    """

    profile: str
    name: str
    hash: str
    families: dict[str, str]
    readings: dict[tuple[str, str], int]
    facts: tuple[str, ...]
    closed_keys: frozenset[int]
    closure_facts: str
    rules: str
    coordinates: tuple[tuple[str, str], ...]
    extent: bool
    extent_facts: str
    functional: frozenset[str]
    updates: bool
    converse: dict[str, str]
    mirror: dict[str, str]
    suffices: frozenset[tuple[str, str]]
    excludes: dict[str, frozenset[str]]
    joins: dict[tuple[str, str], str]
    moves: dict[str, int]
    phrases: dict[str, str]
    hours: dict[int, str]
    wordings: dict[str, tuple[str, ...]]
    denials: dict[str, str]
    words: dict[str, frozenset[str]]
    places: frozenset[str]
    adjacent: frozenset[str]
    messages: dict[str, str]
    reasons: dict[str, str]

    @cached_property
    def symmetric(self) -> frozenset[str]:
        """The relations that equal their converse."""
        return frozenset(r for r, s in self.converse.items() if r == s)

    def oriented(self, triple: tuple[int, str, int]) -> tuple[int, str, int]:
        """A relation over numbered things, or its mirror image where that puts the lower
        number first: `A left B` and `B right A` have one form.
        """
        u, r, v = triple
        return (v, self.mirror[r], u) if u > v and r in self.mirror else triple

    def canonical(self, relation: str) -> str:
        """The relation's name as the ontology spells it (`upper-left` is `upper_left`).

        Raises:
            KeyError: If there is none; the message suggests the nearest.
        """
        name = relation.strip().lower().replace("-", "_")
        if name in self.families:
            return name
        near = difflib.get_close_matches(name, self.families, n=1, cutoff=0.0)
        raise KeyError(
            f"unknown relation {relation!r} in profile {self.profile}"
            + (f"; did you mean {near[0]!r}?" if near else "")
        )


class OntologyLibrary:
    """The built-in ontology, with a user's folder on top of it where one is given.

    A folder with a fact `extends(PROFILE)` adds to the built-in ontology and makes
    that profile its default; a folder without one replaces the built-in ontology. A
    relation that the folder declares with family/2 is its own: what the built-in
    ontology says of a relation of that name is set aside.

    Args:
        folder: The user's folder of `.lp` files, read recursively.

    Raises:
        OntologyError: If a file has a syntax error, an undefined predicate, an
            unknown relation or an argument of the wrong kind.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        builtin = _lp_files(data_folder("ontology"))
        own: list[Path] = []
        self.name = "builtin"
        default: str | None = None
        if folder is not None:
            own = _user_files(Path(folder))
            self.name = str(folder)
            extends, default = _extension(own)
            builtin = builtin if extends else []
        self._source = _checked(builtin, own)
        self._hash = _digest([*builtin, *own, *_lp_files(data_folder("rules"))])
        self._compiled: dict[str, Ontology] = {}
        rows = self._source.rows
        self.profiles = sorted(profile for (profile,) in rows["profile", 1])
        self._datasets = {name.lower(): profile for name, profile in rows["dataset", 2]}
        self._default = default or next((p for (p,) in rows["default_profile", 1]), None)

    def profile_of(self, dataset: str | None) -> str:
        """The profile for traces of a dataset: what a `dataset` fact says, else the
        default profile.

        Raises:
            OntologyError: If the ontology has no default profile.
        """
        chosen = self._datasets.get((dataset or "").lower(), self._default)
        if chosen is None:
            raise OntologyError(f"ontology {self.name} has no fact default_profile(PROFILE)")
        return chosen.replace("_", "-")

    def ontology(self, profile: str | None = None) -> Ontology:
        """The tables of a profile (the default one, unless named).

        Raises:
            OntologyError: If the profile does not exist.
        """
        wanted = (profile or self.profile_of(None)).strip().lower().replace("-", "_")
        if wanted not in self.profiles:
            known = ", ".join(p.replace("_", "-") for p in self.profiles)
            raise OntologyError(f"unknown profile {profile!r}; there are: {known}")
        if wanted not in self._compiled:
            self._compiled[wanted] = self._compile(wanted)
        return self._compiled[wanted]

    def _compile(self, profile: str) -> Ontology:
        complaints: list[str] = []
        control = clingo.Control(["--warn=none"], lambda _, text: complaints.append(text))
        folder = data_folder("rules")
        try:
            with ast.ProgramBuilder(control) as builder:
                for statement in _statements([folder / "compile.lp", folder / "closure.lp"]):
                    builder.add(statement)
                for statement in (*self._source.tables, *self._source.audit):
                    builder.add(statement)
            # The audit's rules are grounded here only so that a faulty one is found.
            control.add("base", [], f"selected({profile}). #external on(I) : inst(I, _, _, _).")
            control.add("base", [], "#defined inst/4.")
            control.ground()
        except RuntimeError as error:
            raise _complaint(complaints, str(error), self.name) from error
        rows: Rows = defaultdict(list)
        with control.solve(yield_=True) as handle:
            model = handle.model()
            if model is None:
                raise OntologyError(f"the rules for profile {profile} have no model")
            for symbol in sorted(model.symbols(shown=True)):
                rows[symbol.name, len(symbol.arguments)].append(
                    tuple(_plain(argument) for argument in symbol.arguments)
                )
        rules = "\n".join(str(statement) for statement in self._source.audit)
        return _tables(profile.replace("_", "-"), self.name, self._hash, rules, rows)


def _lp_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.lp"))


def files_stamp(folder: str | None) -> tuple[tuple[str, int, int], ...]:
    """Names, times and sizes of the rule and ontology files, to notice an edit."""
    folders = [data_folder("rules"), data_folder("ontology")]
    files = [file for f in folders for file in _lp_files(f)]
    files += _lp_files(Path(folder)) if folder is not None else []
    return tuple((str(f), f.stat().st_mtime_ns, f.stat().st_size) for f in files)


def _user_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise OntologyError(f"ontology folder {folder} does not exist or is not a folder")
    files = _lp_files(folder)
    if not files:
        raise OntologyError(f"ontology folder {folder} holds no .lp file")
    return files


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _plain(symbol: clingo.Symbol) -> str:
    """A symbol as text: the content of a string, the spelling of anything else."""
    return symbol.string if symbol.type is clingo.SymbolType.String else str(symbol)


def _statements(files: Iterable[Path]) -> Iterator[ast.AST]:
    """The statements of files, `#program base` left out.

    Raises:
        OntologyError: At a syntax error, with its file and line.
    """
    complaints: list[str] = []
    for file in files:
        found: list[ast.AST] = []
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
            ast.parse_files(
                [str(file)], found.append, logger=lambda _, text: complaints.append(text)
            )
        except (OSError, UnicodeDecodeError) as error:
            raise OntologyError(f"cannot be read: {error}", str(file)) from error
        except RuntimeError as error:
            raise _complaint(complaints, str(error), str(file), len(lines)) from error
        for statement in found:
            if statement.ast_type is ast.ASTType.Comment:
                continue
            if statement.ast_type is not ast.ASTType.Program or statement.name != "base":
                yield statement


def _complaint(
    complaints: list[str], otherwise: str, file: str, lines: int | None = None
) -> OntologyError:
    """The solver's first complaint as an error with file and line."""
    text = complaints[0] if complaints else otherwise
    place = re.match(r"(?P<file>.*?):(?P<line>\d+):[\d-]+.*?: error: (?P<what>.*)", text, re.DOTALL)
    if place is None:
        return OntologyError(" ".join(text.split()), file)
    line = int(place["line"])
    # An unfinished last statement is reported after the end of the file.
    line = max(1, min(line, lines)) if lines is not None else line
    return OntologyError(" ".join(place["what"].split()), place["file"], line)


@dataclass
class _Source:
    """Checked statements: those that make tables, those that join the audit's rules,
    and the facts as rows.
    """

    tables: list[ast.AST] = field(default_factory=list)
    audit: list[ast.AST] = field(default_factory=list)
    rows: Rows = field(default_factory=lambda: defaultdict(list))


def _extension(files: list[Path]) -> tuple[bool, str | None]:
    """Whether a folder extends the built-in ontology, and its default profile: its own
    default_profile/1, else the profile that its extends/1 names.
    """
    facts = [fact for statement in _statements(files) if (fact := _fact(statement)) is not None]

    def said(name: str, arity: int) -> list[list[str]]:
        return [[str(a) for a in f.arguments] for f in facts if _signature_of(f) == (name, arity)]

    own = {profile for (profile,) in said("profile", 1)}
    extended = [profile for (profile,) in said("extends", 1)]
    beyond = [profile for _, profile in said("extends", 2) if profile not in own]
    defaults = [profile for (profile,) in said("default_profile", 1)] + extended
    return bool(extended or beyond), (defaults[0] if defaults else None)


def _function(atom: ast.AST) -> ast.AST | None:
    """The function term of a plain atom or literal, if it is one."""
    if atom.ast_type is ast.ASTType.Literal:
        atom = atom.atom
    if atom.ast_type is not ast.ASTType.SymbolicAtom:
        return None
    term = atom.symbol
    if term.ast_type is ast.ASTType.UnaryOperation:
        term = term.argument
    return term if term.ast_type is ast.ASTType.Function else None


def _fact(statement: ast.AST) -> ast.AST | None:
    if statement.ast_type is ast.ASTType.Rule and not statement.body:
        return _function(statement.head)
    return None


def _signature_of(term: ast.AST) -> tuple[str, int]:
    return term.name, len(term.arguments)


def _at(statement: ast.AST, message: str) -> OntologyError:
    begin = statement.location.begin
    return OntologyError(message, begin.filename, begin.line)


class _Atoms(ast.Transformer):
    """Collects the function terms of all atoms below a syntax tree."""

    def __init__(self) -> None:
        self.found: list[ast.AST] = []

    def visit_SymbolicAtom(self, node: ast.AST) -> ast.AST:  # noqa: N802 (clingo's naming)
        term = _function(node)
        if term is not None:
            self.found.append(term)
        return node


def _atoms(trees: Iterable[ast.AST]) -> list[ast.AST]:
    collector = _Atoms()
    for tree in trees:
        collector.visit(tree)
    return collector.found


_AUDIT_KINDS = {
    ("holds", 3): ("relation", "thing", "thing"),
    ("clash", 3): ("clash", "thing", "thing"),
}
"""What a user's rules may use of the audit (`rules/closure.lp`), with its kinds."""

_AUDIT_PREDICATES = frozenset(_AUDIT_KINDS)


def _vocabulary() -> dict[tuple[str, int], tuple[str, ...]]:
    """Predicate and arity to the kinds of its arguments."""
    table = {}
    for statement in _statements([data_folder("rules") / "vocabulary.lp"]):
        fact = _fact(statement)
        assert fact is not None  # the file ships with the package and holds facts alone
        name, kinds = fact.arguments
        # A one-place signature is a parenthesised term, longer ones are tuples.
        names = (
            [str(kind) for kind in kinds.arguments]
            if kinds.ast_type is ast.ASTType.Function and not kinds.name
            else [str(kinds)]
        )
        table[str(name), len(names)] = tuple(names)
    return table


_DECLARED_BY = {"relation": "family", "axis": "axis", "profile": "profile", "reading": "interval"}
"""Kind of argument to the predicate whose first argument declares its values."""

_CLOSURE_ONLY = frozenset(
    ("incompatible", "transitive", "strict", "functional", "reflexive", "composition")
)
"""What is said of relations that closure decides."""

_FIXED_VALUES = {
    "role": frozenset(_ROLES),
    "sign": frozenset({"-1", "0", "1"}),
    "end": frozenset({"low", "high"}),
    "hour": frozenset(str(hour) for hour in range(13)),
}


def _checked(builtin: list[Path], own: list[Path]) -> _Source:
    """Parses files and checks every fact and rule against the vocabulary.

    Raises:
        OntologyError: At the first statement that is wrong.
    """
    vocabulary = _vocabulary()
    source = _Source()
    facts: list[_Fact] = []
    rules: list[ast.AST] = []
    redeclared: set[str] = set()
    for files in (own, builtin):
        added: list[_Fact] = []
        for statement in _statements(files):
            _check_form(statement)
            fact = _fact(statement)
            if fact is None:
                rules.append(statement)
                continue
            key = _signature_of(fact)
            if key not in vocabulary:
                raise _at(statement, _undefined(key, vocabulary))
            rows = _expanded(statement, fact)
            kept = [row for row in rows if not _about(redeclared, vocabulary[key], row)]
            added += [(statement, key, row) for row in kept]
            if len(kept) == len(rows):
                source.tables.append(statement)
            else:
                source.tables += [_restated(key[0], row) for row in kept]
        redeclared = {str(row[0]) for _, key, row in added if key == ("family", 2)}
        facts += added
    for _, key, row in facts:
        source.rows[key].append(tuple(map(_plain, row)))
    values = _Values(vocabulary, source.rows)
    for statement, key, row in facts:
        values.check(statement, key, row)
    defined = set(vocabulary) | _AUDIT_PREDICATES
    used = {_signature_of(term) for rule in rules for term in _atoms(rule.body)}
    for rule in rules:
        head = _atoms([rule.head])
        defined |= {_signature_of(term) for term in head if _signature_of(term) in used}
    for rule in rules:
        for term in _atoms([rule.head, *rule.body]):
            if _signature_of(term) not in defined:
                raise _at(rule, _undefined(_signature_of(term), defined))
            values.check_rule(rule, term)
        touched = {_signature_of(term) for term in _atoms([rule.head, *rule.body])}
        (source.audit if touched & _AUDIT_PREDICATES else source.tables).append(rule)
    return source


def _about(relations: set[str], kinds: Sequence[str], row: Sequence[clingo.Symbol]) -> bool:
    """Whether a fact is about one of the relations."""
    return any(
        kind == "relation" and str(value) in relations
        for kind, value in zip(kinds, row, strict=True)
    )


def _restated(predicate: str, row: Sequence[clingo.Symbol]) -> ast.AST:
    """One row of a fact as a statement of its own."""
    parsed: list[ast.AST] = []
    ast.parse_string(f"{clingo.Function(predicate, row)}.", parsed.append)
    return parsed[-1]


def _check_form(statement: ast.AST) -> None:
    """Facts and plain rules belong in an ontology, and nothing else.

    Raises:
        OntologyError: At a directive, a choice, a disjunction, a constraint without a
            name, a negated fact or a theory atom.
    """
    if statement.ast_type is not ast.ASTType.Rule:
        raise _at(statement, f"only facts and rules belong in an ontology, not: {statement}")
    head = statement.head
    plain = head.ast_type is ast.ASTType.Literal and head.sign == ast.Sign.NoSign
    if not plain or head.atom.ast_type is not ast.ASTType.SymbolicAtom:
        raise _at(statement, f"the head of a rule is one plain atom, not: {head}")
    if head.atom.symbol.ast_type is not ast.ASTType.Function:
        raise _at(statement, f"the head of a rule is one plain atom, not: {head}")
    if any(element.ast_type is ast.ASTType.TheoryAtom for element in _elements(statement.body)):
        raise _at(statement, "difference constraints are stated by component/3, not by &diff")


def _elements(body: Iterable[ast.AST]) -> list[ast.AST]:
    """The atoms of a rule's body, of whatever kind."""
    return [part.atom if part.ast_type is ast.ASTType.Literal else part for part in body]


def _expanded(statement: ast.AST, fact: ast.AST) -> list[tuple[clingo.Symbol, ...]]:
    """The rows of a fact, its pools (`a; b`) written out, by grounding it alone."""
    control = clingo.Control(["--warn=none"], message_limit=0)
    with ast.ProgramBuilder(control) as builder:
        builder.add(statement)
    try:
        control.ground()
    except RuntimeError as error:
        raise _at(statement, f"the fact {fact} has a variable; facts are ground") from error
    return [tuple(atom.symbol.arguments) for atom in control.symbolic_atoms]


_Fact = tuple[ast.AST, tuple[str, int], tuple[clingo.Symbol, ...]]
"""A fact's statement, its predicate and arity, and its arguments."""


class _Values:
    """What the arguments of each kind may be.

    Args:
        vocabulary: Predicate and arity to the kinds of its arguments.
        rows: The facts, which declare relations, axes, profiles and readings.
    """

    def __init__(self, vocabulary: dict[tuple[str, int], tuple[str, ...]], rows: Rows) -> None:
        self._vocabulary = vocabulary
        self._allowed: dict[str, set[str]] = {
            kind: {
                row[0] for (name, _), found in rows.items() if name == predicate for row in found
            }
            for kind, predicate in _DECLARED_BY.items()
        }
        self._allowed["family"] = {row[1] for row in rows["uses", 2]}
        self._allowed |= {kind: set(values) for kind, values in _FIXED_VALUES.items()}
        self._directions = {row[0] for row in rows["component", 3]}

    def check(self, statement: ast.AST, key: tuple[str, int], row: Sequence[clingo.Symbol]) -> None:
        """Checks a fact.

        Raises:
            OntologyError: If an argument is none of its kind.
        """
        for position, (kind, value) in enumerate(zip(self._vocabulary[key], row, strict=True), 1):
            self._check_value(statement, key, position, kind, value)
        if key[0] in _CLOSURE_ONLY and self._directions.intersection(map(str, row)):
            raise _at(
                statement,
                f"{key[0]}/{key[1]} is for relations without components; directions exclude "
                "and follow from each other by their components",
            )
        if key[0] == "interval" and row[-2] > row[-1]:
            raise _at(statement, f"the interval from {row[-2]} to {row[-1]} is empty")

    def check_rule(self, rule: ast.AST, term: ast.AST) -> None:
        """Checks the constants in an atom of a rule.

        Raises:
            OntologyError: If a constant is none of its kind.
        """
        key = _signature_of(term)
        kinds = self._vocabulary.get(key, _AUDIT_KINDS.get(key, ()))
        for position, (kind, argument) in enumerate(zip(kinds, term.arguments, strict=False), 1):
            constant = argument.ast_type is ast.ASTType.Function and not argument.arguments
            if argument.ast_type is ast.ASTType.SymbolicTerm:
                self._check_value(rule, key, position, kind, argument.symbol)
            elif constant and argument.name:
                symbol = clingo.Function(argument.name)
                self._check_value(rule, key, position, kind, symbol)

    def _check_value(
        self,
        statement: ast.AST,
        key: tuple[str, int],
        position: int,
        kind: str,
        value: clingo.Symbol,
    ) -> None:
        is_text = value.type is clingo.SymbolType.String
        if kind == "text":
            wrong = not is_text or not value.string.strip()
        elif kind == "bound":
            bounds = (
                clingo.SymbolType.Number,
                clingo.SymbolType.Infimum,
                clingo.SymbolType.Supremum,
            )
            wrong = value.type not in bounds
        elif kind in ("rank", "margin"):
            wrong = value.type is not clingo.SymbolType.Number
        elif kind == "clash":
            wrong = value.type is not clingo.SymbolType.Function
        elif kind in self._allowed:
            wrong = is_text or str(value) not in self._allowed[kind]
        else:
            wrong = is_text or (value.type is clingo.SymbolType.Function and bool(value.arguments))
        if wrong:
            raise _at(
                statement, _not_a(kind, str(value), position, key, self._allowed.get(kind, ()))
            )


def _undefined(key: tuple[str, int], known: Iterable[tuple[str, int]]) -> str:
    spelled = {f"{name}/{arity}" for name, arity in known}
    wanted = f"{key[0]}/{key[1]}"
    near = difflib.get_close_matches(wanted, sorted(spelled), n=1, cutoff=0.5)
    return f"undefined predicate {wanted}" + (f"; did you mean {near[0]}?" if near else "")


def _not_a(
    kind: str, value: str, position: int, key: tuple[str, int], allowed: Iterable[str]
) -> str:
    near = difflib.get_close_matches(value, sorted(allowed), n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    if kind == "family":
        place = f"argument {position} of {key[0]}/{key[1]}"
        return f"family {value} in {place} is used by no profile (uses/2){hint}"
    declare = (
        f" (a {kind} is declared by {_DECLARED_BY[kind]})"
        if kind in _DECLARED_BY and not near
        else ""
    )
    return f"unknown {kind} {value} in argument {position} of {key[0]}/{key[1]}{hint}{declare}"


_AXIOMS = (
    ("inverse", 2),
    ("symmetric", 1),
    ("reflexive", 1),
    ("transitive", 1),
    ("implies", 2),
    ("composition", 3),
    ("strict", 1),
    ("functional", 1),
    ("incompatible", 2),
)
"""What `rules/closure.lp` is told about relations: predicates and arities."""


def _tables(profile: str, name: str, digest: str, rules: str, rows: Rows) -> Ontology:
    """The rows that `rules/compile.lp` shows, as the tables of an Ontology."""
    numbers = {(axis, end): int(n) for axis, end, n in rows["coordinate_number", 3]}
    bounds: dict[tuple[str, str], list[str]] = defaultdict(list)
    for predicate in ("at_least", "at_most"):
        for role, relation, axis, end, other, value in rows[predicate, 6]:
            places = f"{numbers[axis, end]},{numbers[axis, other]}"
            bounds[role, relation].append(f"{predicate}({{key}},{places},{value}).")
    families = dict(_pairs(rows["in_use", 2]))
    closed = {relation for (relation,) in rows["closed", 1]}
    for relation in closed:
        said = [f"closure({{key}},{relation})."]
        said += [f"needs({{key}},{other})." for r, other in rows["needed", 2] if r == relation]
        said += [f"bars({{key}},{other})." for r, other in rows["denied", 2] if r == relation]
        for role in _ROLES:
            bounds[role, relation] += said
    readings: dict[tuple[str, str], int] = {}
    facts: list[str] = []
    shared: dict[tuple[str, tuple[str, ...]], int] = {}
    for relation in families:
        for role in _ROLES:
            texts_said = tuple(bounds[role, relation])
            if (relation, texts_said) not in shared:
                shared[relation, texts_said] = len(facts)
                facts.append("".join(texts_said).replace("{key}", str(len(facts))))
            readings[role, relation] = shared[relation, texts_said]
    closure_facts = "".join(
        f"{predicate}({','.join(row)})." for predicate, n in _AXIOMS for row in rows[predicate, n]
    ) + "".join(f"#defined {predicate}/{n}." for predicate, n in _AXIOMS)
    extent = ("with_extent", 0) in rows
    extent_facts = ""
    if extent:
        lows = ((axis, n) for (axis, end), n in numbers.items() if end == "low")
        extent_facts = "".join(f"ends({n},{numbers[axis, 'high']})." for axis, n in lows)
        extent_facts += "".join(f"nested({','.join(row)})." for row in rows["nested", 2])
    excludes: dict[str, set[str]] = defaultdict(set)
    for first, second in rows["excludes", 2]:
        excludes[first].add(second)
    words: dict[str, set[str]] = defaultdict(set)
    for word_class, word in rows["word", 2]:
        words[word_class].add(word.lower())
    wordings: dict[str, list[str]] = defaultdict(list)
    for relation, _rank, wording in sorted(rows["says", 3], key=lambda row: int(row[1])):
        wordings[relation].append(wording)

    def texts(predicate: str) -> frozenset[str]:
        return frozenset(text.lower() for (text,) in rows[predicate, 1])

    return Ontology(
        profile=profile,
        name=name,
        hash=digest,
        families=families,
        readings=readings,
        facts=tuple(facts),
        closed_keys=frozenset(readings[role, r] for role in _ROLES for r in closed),
        closure_facts=closure_facts,
        rules=rules,
        coordinates=tuple(sorted(numbers, key=lambda place: numbers[place])),
        extent=extent,
        extent_facts=extent_facts,
        functional=frozenset(relation for (relation,) in rows["functional", 1]),
        updates=("state_updates", 0) in rows,
        converse=dict(_pairs(rows["converse", 2])),
        mirror=dict(_pairs(rows["mirror", 2])),
        suffices=frozenset(_pairs(rows["suffices", 2])),
        excludes={relation: frozenset(others) for relation, others in excludes.items()},
        joins={(first, second): joint for first, second, joint in rows["join", 3]},
        moves={relation: int(count) for relation, count in rows["moves", 2]},
        phrases={text.lower(): relation for relation, text in rows["reads", 2]},
        hours={int(hour): relation for hour, relation in rows["hour", 2]},
        wordings={relation: tuple(texts) for relation, texts in wordings.items()},
        denials=dict(_pairs(rows["denies", 2])),
        words={name: frozenset(members) for name, members in words.items()},
        places=texts("place"),
        adjacent=texts("adjacent"),
        messages=dict(_pairs(rows["message", 2])),
        reasons=dict(_pairs(rows["reason", 2])),
    )


def _pairs(rows: Iterable[tuple[str, ...]]) -> list[tuple[str, str]]:
    """Rows of two columns, typed as such."""
    return [(first, second) for first, second in rows]
