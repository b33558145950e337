"""Ontology files, parsed and checked: facts and rules with the places they stand at.

The files are parsed with clingo's own parser, so every complaint names file and line;
`rules/vocabulary.lp` says which predicates exist and what their arguments are.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple, NoReturn

import clingo
from clingo import ast

from symbouq.errors import OntologyError
from symbouq.words import CLASSES

Signature = tuple[str, int]
"""Predicate and arity."""

Rows = dict[Signature, list[tuple[str, ...]]]
"""Predicate and arity to the arguments of its facts, as text."""

ROLES = ("asserted", "queried")


class Place(NamedTuple):
    """Where a statement stands: a file and a line in it, from 1."""

    file: str
    line: int


@dataclass(frozen=True)
class Rule:
    """A rule of an ontology.

    Attributes:
        statement: Its syntax tree.
        place: Where it stands.
        audit: Whether it joins the audit's rules, rather than the tables'.
    """

    statement: ast.AST
    place: Place
    audit: bool


@dataclass
class Source:
    """The statements of an ontology.

    Attributes:
        facts: Each fact, its pools written out, to the place it stands at.
        rules: The rules.
        repeated: Facts stated once more, with the later place.
        extended: The profile that a user's folder extends or makes its default.
    """

    facts: dict[clingo.Symbol, Place] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    repeated: list[tuple[clingo.Symbol, Place]] = field(default_factory=list)
    extended: str | None = None

    @property
    def rows(self) -> Rows:
        """The facts by predicate, their arguments as text."""
        rows: Rows = defaultdict(list)
        for fact in self.facts:
            rows[fact.name, len(fact.arguments)].append(tuple(map(plain, fact.arguments)))
        return rows

    @property
    def audit(self) -> str:
        """The rules that join the audit's, as program text."""
        return "\n".join(str(rule.statement) for rule in self.rules if rule.audit)


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


def lp_files(folder: Path) -> list[Path]:
    """The `.lp` files of a folder and the folders in it, in order."""
    return sorted(folder.rglob("*.lp"))


def user_files(folder: str | os.PathLike[str]) -> list[Path]:
    """The `.lp` files of a user's folder.

    Raises:
        OntologyError: If there is no such folder, or no file in it.
    """
    if not Path(folder).is_dir():
        raise OntologyError(f"ontology folder {folder} does not exist or is not a folder")
    files = lp_files(Path(folder))
    if not files:
        raise OntologyError(f"ontology folder {folder} holds no .lp file")
    return files


def files_stamp(folder: str | None) -> tuple[tuple[str, int, int], ...]:
    """Names, times and sizes of the rule and ontology files, to notice an edit."""
    folders = [data_folder("rules"), data_folder("ontology")]
    files = [file for f in folders for file in lp_files(f)]
    files += lp_files(Path(folder)) if folder is not None else []
    return tuple((str(f), f.stat().st_mtime_ns, f.stat().st_size) for f in files)


def digest(files: Iterable[Path]) -> str:
    """SHA-256 over files and their names, hexadecimal."""
    found = hashlib.sha256()
    for file in files:
        found.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


def plain(symbol: clingo.Symbol) -> str:
    """A symbol as text: the content of a string, the spelling of anything else."""
    return symbol.string if symbol.type is clingo.SymbolType.String else str(symbol)


def shown(file: str) -> str:
    """A file's path for people: that of a built-in file from `ontology/` or `rules/` on,
    one below the working folder relative to it.
    """
    for name in ("ontology", "rules"):
        if Path(file).is_relative_to(data_folder(name)):
            return (Path(name) / Path(file).relative_to(data_folder(name))).as_posix()
    if Path(file).is_relative_to(Path.cwd()):
        return Path(file).relative_to(Path.cwd()).as_posix()
    return file


def statements(files: Iterable[Path]) -> Iterator[ast.AST]:
    """The statements of files, comments and `#program base` left out.

    Raises:
        OntologyError: At a syntax error, with its file and line.
    """
    complaints: list[str] = []
    for file in files:
        found: list[ast.AST] = []
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
            _check_text(file, lines)
            ast.parse_files(
                [str(file)], found.append, logger=lambda _, text: complaints.append(text)
            )
        except (OSError, UnicodeDecodeError) as error:
            raise OntologyError(f"cannot be read: {error}", str(file), code="syntax") from error
        except RuntimeError as error:
            raise complaint(complaints, str(error), str(file), len(lines)) from error
        for statement in found:
            if statement.ast_type is ast.ASTType.Comment:
                continue
            if statement.ast_type is not ast.ASTType.Program or statement.name != "base":
                yield statement


def _check_text(file: Path, lines: Sequence[str]) -> None:
    """What clingo's parser would stumble over, or follow out of the folder.

    Raises:
        OntologyError: At a byte order mark, or an `#include`.
    """
    if lines and lines[0].startswith("\ufeff"):
        message = "begins with a byte order mark; save it as UTF-8 without one"
        raise OntologyError(message, str(file), 1, code="syntax")
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith("#include"):
            message = "#include does not belong in an ontology: every .lp file of a folder is read"
            raise OntologyError(message, str(file), number, code="form")


def complaint(
    complaints: Sequence[str], otherwise: str, file: str, lines: int | None = None
) -> OntologyError:
    """The solver's first complaint as an error with file and line."""
    text = complaints[0] if complaints else otherwise
    place = re.match(r"(?P<file>.*?):(?P<line>\d+):[\d-]+.*?: error: (?P<what>.*)", text, re.DOTALL)
    if place is None:
        return OntologyError(" ".join(text.split()), file, code="syntax")
    line = int(place["line"])
    # An unfinished last statement is reported after the end of the file.
    line = max(1, min(line, lines)) if lines is not None else line
    what = " ".join(place["what"].split())
    code = "syntax" if "syntax error" in what or "lexer" in what else "unsafe"
    return OntologyError(what, place["file"], line, code=code)


def place_of(statement: ast.AST) -> Place:
    """Where a statement begins."""
    begin = statement.location.begin
    return Place(begin.filename, begin.line)


def signature(term: ast.AST) -> Signature:
    """Predicate and arity of a function term."""
    return term.name, len(term.arguments)


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


def fact_of(statement: ast.AST) -> ast.AST | None:
    """The function term of a statement that is a fact, if it is one."""
    if statement.ast_type is ast.ASTType.Rule and not statement.body:
        return _function(statement.head)
    return None


class _Atoms(ast.Transformer):
    """Collects the function terms of all atoms below a syntax tree."""

    def __init__(self) -> None:
        self.found: list[ast.AST] = []

    def visit_SymbolicAtom(self, node: ast.AST) -> ast.AST:  # noqa: N802 (clingo's naming)
        term = _function(node)
        if term is not None:
            self.found.append(term)
        return node


def atoms_in(trees: Iterable[ast.AST]) -> list[ast.AST]:
    """The function terms of all atoms below syntax trees."""
    collector = _Atoms()
    for tree in trees:
        collector.visit(tree)
    return collector.found


_AUDIT_KINDS: dict[Signature, tuple[str, ...]] = {
    ("holds", 3): ("relation", "thing", "thing"),
    ("clash", 3): ("clash", "thing", "thing"),
}
"""What a user's rules may use of the audit (`rules/closure.lp`), with its kinds."""


@cache
def vocabulary() -> dict[Signature, tuple[str, ...]]:
    """Predicate and arity to the kinds of its arguments (`rules/vocabulary.lp`)."""
    table = {}
    for statement in statements([data_folder("rules") / "vocabulary.lp"]):
        fact = fact_of(statement)
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


Complain = Callable[[OntologyError], None]
"""Takes a complaint about the ontology, to raise or to keep."""


def fail(error: OntologyError) -> NoReturn:
    """Raises the first complaint: what loading an ontology does."""
    raise error


def read_source(
    builtin: Sequence[Path], folder: str | os.PathLike[str] | None, complain: Complain = fail
) -> tuple[Source, list[Path]]:
    """Parses and checks an ontology: the built-in files, with a user's folder on top.

    A folder that extends a built-in profile adds to the built-in ontology, another
    replaces it. A relation that the folder declares with family/2 is its own: what the
    built-in ontology says of a relation of that name is set aside.

    Args:
        builtin: The built-in files.
        folder: The user's folder, if there is one.
        complain: What to do with a complaint.

    Returns:
        The statements, and the files that they come from.

    Raises:
        OntologyError: If the folder cannot be read, or what `complain` raises.
    """
    source = Source()
    own = _parsed(user_files(folder), complain) if folder is not None else []
    stated = [f for f in own if isinstance(f, _Stated)]
    if folder is not None:
        extends, source.extended = _extension(stated)
        builtin = builtin if extends else []
    redeclared = {str(f.symbol.arguments[0]) for f in stated if f.key == ("family", 2)}
    inherited = [
        part
        for part in _parsed(builtin, complain)
        if not (isinstance(part, _Stated) and _about(redeclared, part))
    ]
    facts = [*(f for f in inherited if isinstance(f, _Stated)), *stated]
    rules = [part for part in [*inherited, *own] if isinstance(part, ast.AST)]
    for fact in facts:
        if fact.symbol in source.facts:
            source.repeated.append((fact.symbol, fact.place))
        source.facts.setdefault(fact.symbol, fact.place)
    values = _Values(source.rows)
    for fact in facts:
        values.check(fact, complain)
    source.rules = _checked_rules(rules, values, complain)
    return source, [*builtin, *(user_files(folder) if folder is not None else [])]


@dataclass(frozen=True)
class _Stated:
    """One fact with its place."""

    symbol: clingo.Symbol
    place: Place

    @property
    def key(self) -> Signature:
        return self.symbol.name, len(self.symbol.arguments)


def _about(relations: Collection[str], fact: _Stated) -> bool:
    """Whether a fact is about one of the relations."""
    kinds = vocabulary()[fact.key]
    return any(
        kind == "relation" and str(value) in relations
        for kind, value in zip(kinds, fact.symbol.arguments, strict=True)
    )


def _parsed(files: Sequence[Path], complain: Complain) -> list[_Stated | ast.AST]:
    """Facts of the vocabulary, one by one, and rules, in order."""
    found: list[_Stated | ast.AST] = []
    for file in files:
        try:
            trees = list(statements([file]))
        except OntologyError as error:
            complain(error)
            continue
        for tree in trees:
            try:
                fact = _well_formed(tree)
                found += _expanded(tree, fact) if fact is not None else [tree]
            except OntologyError as error:
                complain(error)
    return found


def _extension(facts: Sequence[_Stated]) -> tuple[bool, str | None]:
    """Whether a folder extends the built-in ontology, and its default profile: its own
    default_profile/1, else the profile that its extends/1 names.
    """

    def said(key: Signature) -> list[list[str]]:
        return [[str(a) for a in f.symbol.arguments] for f in facts if f.key == key]

    own = {profile for (profile,) in said(("profile", 1))}
    extended = [profile for (profile,) in said(("extends", 1))]
    beyond = [profile for _, profile in said(("extends", 2)) if profile not in own]
    defaults = [profile for (profile,) in said(("default_profile", 1))] + extended
    return bool(extended or beyond), (defaults[0] if defaults else None)


def _at(statement: ast.AST, message: str, code: str) -> OntologyError:
    return OntologyError(message, *place_of(statement), code=code)


def _well_formed(statement: ast.AST) -> ast.AST | None:
    """The function term of a fact, None for a rule: facts and plain rules belong in an
    ontology, and nothing else.

    Raises:
        OntologyError: At a directive, a choice, a disjunction, a constraint without a
            name, a negated fact, a theory atom, or a fact outside the vocabulary.
    """
    if statement.ast_type is not ast.ASTType.Rule:
        raise _at(
            statement, f"only facts and rules belong in an ontology, not: {statement}", "form"
        )
    head = statement.head
    plain_head = head.ast_type is ast.ASTType.Literal and head.sign == ast.Sign.NoSign
    if (
        not plain_head
        or head.atom.ast_type is not ast.ASTType.SymbolicAtom
        or head.atom.symbol.ast_type is not ast.ASTType.Function
    ):
        raise _at(statement, f"the head of a rule is one plain atom, not: {head}", "form")
    body = [part.atom if part.ast_type is ast.ASTType.Literal else part for part in statement.body]
    if any(element.ast_type is ast.ASTType.TheoryAtom for element in body):
        raise _at(
            statement, "difference constraints are stated by component/3, not by &diff", "form"
        )
    fact = fact_of(statement)
    if fact is not None and signature(fact) not in vocabulary():
        raise _undefined(statement, signature(fact), vocabulary())
    return fact


def _expanded(statement: ast.AST, fact: ast.AST) -> list[_Stated]:
    """The facts of a statement, its pools (`a; b`) written out, by grounding it alone."""
    control = clingo.Control(["--warn=none"], message_limit=0)
    with ast.ProgramBuilder(control) as builder:
        builder.add(statement)
    try:
        control.ground()
    except RuntimeError as error:
        message = f"the fact {fact} has a variable; facts are ground"
        raise _at(statement, message, "unsafe") from error
    return [_Stated(atom.symbol, place_of(statement)) for atom in control.symbolic_atoms]


def _checked_rules(rules: Sequence[ast.AST], values: _Values, complain: Complain) -> list[Rule]:
    """The rules whose atoms exist, have the right arity and known constants."""
    defined = set(vocabulary()) | set(_AUDIT_KINDS)
    used = {signature(term) for rule in rules for term in atoms_in(rule.body)}
    for rule in rules:
        defined |= {signature(term) for term in atoms_in([rule.head])} & used
    checked = []
    for rule in rules:
        terms = atoms_in([rule.head, *rule.body])
        try:
            for term in terms:
                if signature(term) not in defined:
                    raise _undefined(rule, signature(term), defined)
                values.check_rule(rule, term)
            _check_conclusion(rule)
        except OntologyError as error:
            complain(error)
            continue
        audit = any(signature(term) in _AUDIT_KINDS for term in terms)
        checked.append(Rule(rule, place_of(rule), audit))
    return checked


def _check_conclusion(rule: ast.AST) -> None:
    """What a rule concludes for the audit is about things, and a clash has a name.

    Raises:
        OntologyError: At a thing that is no variable (a computed one would be new, without
            end), or a clash that is no constant or function.
    """
    for term in atoms_in([rule.head]):
        if signature(term) not in _AUDIT_KINDS:
            continue
        if any(thing.ast_type is not ast.ASTType.Variable for thing in term.arguments[1:]):
            raise _at(rule, f"the things in {term} are variables, bound by the body", "form")
        name = term.arguments[0]
        unnamed = name.ast_type is ast.ASTType.Variable
        if term.name == "clash" and unnamed:
            raise _at(rule, f"clash {name} has no name; write clash(NAME, U, V)", "form")


def _undefined(statement: ast.AST, key: Signature, known: Iterable[Signature]) -> OntologyError:
    spelled = {f"{name}/{arity}" for name, arity in known}
    wanted = f"{key[0]}/{key[1]}"
    near = difflib.get_close_matches(wanted, sorted(spelled), n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    if any(name == key[0] for name, _ in known):
        return _at(statement, f"undefined predicate {wanted}{hint}", "arity")
    if statement.body and any(signature(term) == key for term in atoms_in([statement.head])):
        message = f"undefined predicate {wanted}: nothing uses what this rule derives{hint}"
        return _at(statement, message, "unused-predicate")
    return _at(statement, f"undefined predicate {wanted}{hint}", "undefined-predicate")


_DECLARED_BY = {"relation": "family", "axis": "axis", "profile": "profile", "reading": "interval"}
"""Kind of argument to the predicate whose first argument declares its values."""

_CLOSURE_ONLY = frozenset(
    ("incompatible", "transitive", "strict", "functional", "reflexive", "composition")
)
"""What is said of relations that closure decides."""

_FIXED_VALUES = {
    "role": frozenset(ROLES),
    "sign": frozenset({"-1", "0", "1"}),
    "end": frozenset({"low", "high"}),
    "meaning": frozenset(
        (
            "yes",
            "no",
            "open",
            "both",
            "none",
            "entailment",
            "contradiction",
            "satisfiable",
            "unsatisfiable",
        )
    ),
    "stage": frozenset(("begin", "during", "end")),
    "part": frozenset(("agent", "patient")),
    "form": frozenset(("past", "participle", "gerund")),
    "hour": frozenset(str(hour) for hour in range(13)),
    "word_class": CLASSES,
}


class _Values:
    """What the arguments of each kind may be.

    Args:
        rows: The facts, which declare relations, axes, profiles and readings.
    """

    def __init__(self, rows: Rows) -> None:
        self._allowed: dict[str, set[str]] = {
            kind: {
                row[0] for (name, _), found in rows.items() if name == predicate for row in found
            }
            for kind, predicate in _DECLARED_BY.items()
        }
        self._allowed["family"] = {row[1] for row in rows["uses", 2]}
        self._allowed |= {kind: set(values) for kind, values in _FIXED_VALUES.items()}
        self._directions = {row[0] for row in rows["component", 3]}

    def check(self, fact: _Stated, complain: Complain) -> None:
        """Checks a fact: each argument is one of its kind, and it is said of relations
        that it can be said of.
        """
        predicate, arity = fact.key
        row = fact.symbol.arguments
        wrong: list[tuple[str, str]] = []
        for position, (kind, value) in enumerate(zip(vocabulary()[fact.key], row, strict=True), 1):
            wrong += self._wrong(fact.key, position, kind, value)
        if predicate in _CLOSURE_ONLY and self._directions.intersection(map(str, row)):
            message = (
                f"{predicate}/{arity} is for relations without components; directions exclude "
                "and follow from each other by their components"
            )
            wrong.append((message, "direction"))
        if predicate == "interval" and row[-2] > row[-1]:
            wrong.append((f"the interval from {row[-2]} to {row[-1]} is empty", "interval"))
        for message, code in wrong:
            complain(OntologyError(message, *fact.place, code=code))

    def check_rule(self, rule: ast.AST, term: ast.AST) -> None:
        """Checks the constants in an atom of a rule.

        Raises:
            OntologyError: If a constant is none of its kind.
        """
        key = signature(term)
        kinds = vocabulary().get(key, _AUDIT_KINDS.get(key, ()))
        for position, (kind, argument) in enumerate(zip(kinds, term.arguments, strict=False), 1):
            constant = argument.ast_type is ast.ASTType.Function and not argument.arguments
            if argument.ast_type is ast.ASTType.SymbolicTerm:
                value = argument.symbol
            elif constant and argument.name:
                value = clingo.Function(argument.name)
            else:
                continue
            for message, code in self._wrong(key, position, kind, value):
                raise _at(rule, message, code)

    def _wrong(
        self, key: Signature, position: int, kind: str, value: clingo.Symbol
    ) -> list[tuple[str, str]]:
        """What is wrong with a value of some kind: a message and its code, or nothing."""
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
        if not wrong:
            return []
        code = "relation-without-family" if kind == "relation" else "unknown-value"
        return [(_not_a(kind, str(value), position, key, self._allowed.get(kind, ())), code)]


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
    named = kind.replace("_", " ")
    return f"unknown {named} {value} in argument {position} of {key[0]}/{key[1]}{hint}{declare}"
