"""Ontology files, parsed: facts and rules with the places they stand at.

The files are parsed with clingo's own parser, so every complaint names file and line;
`rules/vocabulary.lp` says which predicates exist and what their arguments are.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import clingo
from clingo import ast

from symbouq.errors import OntologyError

PRIVATE = "_own_"
"""What the names of an author's helpers begin with in a program: no rule of the project
has a name like that, so that helpers and internals never meet."""

Signature = tuple[str, int]
"""Predicate and arity."""

Row = tuple[str, ...]
"""The arguments of a fact, as text."""

Rows = dict[Signature, list[Row]]
"""Predicate and arity to its facts."""

ASSERTED, QUERIED = ROLES = ("asserted", "queried")
"""The roles of a relation: the scene asserts it, or a claim queries it."""


class Place(NamedTuple):
    """Where a statement stands: a file and a line in it, from 1."""

    file: str
    line: int


@dataclass(frozen=True)
class Rule:
    """A rule of an ontology.

    Attributes:
        statement: Its syntax tree, as its author wrote it.
        place: Where it stands.
        audit: Whether it joins the audit's rules, rather than the tables': what it speaks of
            depends on what holds in a trace.
    """

    statement: ast.AST
    place: Place
    audit: bool

    @property
    def private(self) -> ast.AST:
        """The syntax tree for a program, its helpers under private names.

        So are the facts of the vocabulary in a rule of the audit: the audit's own tables go
        by the same names.
        """
        shared = audited() if self.audit else {**vocabulary(), **audited()}
        return _Private(shared).visit(self.statement)


@dataclass
class Source:
    """The statements of an ontology.

    Attributes:
        facts: Each fact, its pools written out, to the place it stands at.
        rules: The rules.
        repeated: Facts stated once more, with the later place.
        extended: The profile that a user's folder extends or makes its default.
        own: The files that the author answers for: a user's folder's, else the built-in ones.
        replaced: Relations that the folder declares anew, to how many built-in facts about them
            are set aside.
    """

    facts: dict[clingo.Symbol, Place] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    repeated: list[tuple[clingo.Symbol, Place]] = field(default_factory=list)
    extended: str | None = None
    own: frozenset[str] = frozenset()
    replaced: dict[str, int] = field(default_factory=dict)

    @cached_property
    def rows(self) -> Rows:
        """The facts by predicate, their arguments as text."""
        rows: Rows = defaultdict(list)
        for fact in self.facts:
            rows[fact.name, len(fact.arguments)].append(tuple(map(plain, fact.arguments)))
        return rows

    @cached_property
    def ready(self) -> Rows:
        """The facts that are tables as they stand, sorted: of every profile, and no rule reads or
        derives them. They need not be solved for each profile.
        """
        ruled = {
            signature(term)
            for rule in self.rules
            for term in atoms_in([rule.statement.head, *rule.statement.body])
        }
        keys = {key for key, group in table_groups().items() if group == "reading"} - ruled
        rows: Rows = {key: [] for key in keys}
        for fact in sorted(self.facts):
            if (key := (fact.name, len(fact.arguments))) in keys:
                rows[key].append(tuple(map(plain, fact.arguments)))
        return rows

    @cached_property
    def text(self) -> str:
        """The facts as program text; of those that are tables as they stand, that there are some:
        `ready(Predicate)`.
        """
        solved = [f for f in self.facts if (f.name, len(f.arguments)) not in self.ready]
        solved += [
            clingo.Function("ready", [clingo.Function(p)])
            for (p, _), rows in self.ready.items()
            if rows
        ]
        return "".join(f"{fact}." for fact in solved)

    @property
    def audit(self) -> str:
        """The rules that join the audit's, as program text."""
        return "\n".join(str(rule.private) for rule in self.rules if rule.audit)

    @property
    def inputs(self) -> list[Signature]:
        """The facts of the tables that rules of the audit read: predicates of the
        vocabulary, and helpers derived from them.
        """
        audit = [rule.statement for rule in self.rules if rule.audit]
        heads = {signature(term) for rule in audit for term in atoms_in([rule.head])}
        used = {signature(term) for rule in audit for term in atoms_in(rule.body)}
        return sorted(used - heads - set(audited()))

    @property
    def derived(self) -> dict[Signature, Place]:
        """The predicates of the vocabulary that rules add to, with the place of such a rule."""
        heads = [
            (signature(term), rule.place)
            for rule in self.rules
            for term in atoms_in([rule.statement.head])
        ]
        return {key: place for key, place in heads if key in vocabulary()}

    def place(self, fact: clingo.Symbol) -> Place:
        """Where a fact stands; of one that a rule derives, where the rule does."""
        return self.facts.get(fact) or self.derived[fact.name, len(fact.arguments)]

    @property
    def concluded(self) -> set[str]:
        """The relations that rules conclude to hold; all that there are, where a rule leaves
        them to its body.
        """
        named: set[str] = set()
        for rule in self.rules:
            for term in atoms_in([rule.statement.head]):
                if signature(term) == HOLDS:
                    relation = term.arguments[0]
                    known = is_constant(relation)
                    named |= {str(relation)} if known else {r for r, _ in self.rows["family", 2]}
        return named


def data_folder(name: str) -> Path:
    """The folder `rules` or `ontology`: beside the package in a checkout, inside it
    in an installed wheel.

    Raises:
        OntologyError: If the installation has neither.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "_data" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise OntologyError(f"the folder {name}/ is missing from this installation; reinstall symbouq")


def lp_files(folder: Path) -> list[Path]:
    """The `.lp` files of a folder and the folders in it, in order; links are not followed to
    other folders.
    """
    return sorted(file for file in folder.rglob("*.lp") if file.is_symlink() or not file.is_dir())


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


_Stamp = tuple[tuple[str, int, int], ...]


def files_stamp(folder: str | None) -> _Stamp:
    """Names, times and sizes of the rule and ontology files, to notice an edit; they are looked at
    once a second at most.
    """
    return _stamp(folder, int(time.monotonic()))


@lru_cache(maxsize=8)
def _stamp(folder: str | None, _second: int) -> _Stamp:
    folders = [data_folder("rules"), data_folder("ontology")]
    files = [file for f in folders for file in lp_files(f)]
    files += lp_files(Path(folder)) if folder is not None else []
    seen = [(str(f), f.stat() if f.exists() else f.lstat()) for f in files]
    return tuple((name, status.st_mtime_ns, status.st_size) for name, status in seen)


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


MOST_BYTES = 4_000_000
"""The largest file that is read as part of an ontology."""

MOST_OPERATORS = 250
"""The most parentheses and operators of one statement: the parser nests as deep."""


def statements(files: Iterable[Path]) -> Iterator[ast.AST]:
    """The statements of files, comments and `#program base` left out.

    Raises:
        OntologyError: If something is no regular file, or is too large to be an ontology, at
            what leads out of the file, and at a syntax error, with its file and line.
    """
    complaints: list[str] = []
    for file in files:
        found: list[ast.AST] = []
        try:
            check_file(file)
            # As it is: the parser ends no line at a carriage return.
            text = file.read_bytes().decode("utf-8")
            _check_text(file, text)
            ast.parse_files(
                [str(file)], found.append, logger=lambda _, text: complaints.append(text)
            )
        except (OSError, UnicodeDecodeError) as error:
            raise OntologyError(f"cannot be read: {error}", str(file), code="syntax") from error
        except RuntimeError as error:
            lines = text.splitlines()
            fault = complaint(complaints, str(error), str(file), len(lines))
            raise _unended(fault, lines) from error
        for statement in found:
            if statement.ast_type is ast.ASTType.Comment:
                continue
            if str(statement) != "#program base.":
                yield statement


def check_file(file: Path, folder: str | os.PathLike[str] | None = None) -> None:
    """Whether a file is one that a folder may hold: opening anything else may wait for ever,
    and what a link leads to may be another's.

    Args:
        file: The file.
        folder: The folder that it has to lie in, if there is one.

    Raises:
        OntologyError: If it is no regular file, a very large one, or a link to elsewhere or to
            nothing.
    """
    message = ""
    try:
        str(file).encode()
    except UnicodeEncodeError as error:  # the parser opens files by names in UTF-8
        name = os.fsencode(file).decode(errors="backslashreplace")
        raise OntologyError("has no name in UTF-8; rename it", name, code="file") from error
    try:
        status = file.stat()
        real = file.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: links on a circle, in Python 3.11
        reason = "is a link to nothing; take it away"
        message = reason if file.is_symlink() else f"cannot be read: {error}"
        raise OntologyError(message, str(file), code="file") from error
    if folder is not None and not real.is_relative_to(Path(folder).resolve()):
        message = "is a link out of the folder; put a copy of the file there"
    elif not stat.S_ISREG(status.st_mode):
        message = "is no regular file; take it away"
    elif status.st_size > MOST_BYTES:
        message = f"has {status.st_size:,} bytes; a file of rules has at most {MOST_BYTES:,}"
    if message:
        raise OntologyError(message, str(file), code="file")


_CODE = re.compile(
    r'"(?:[^"\\\n]|\\["\\n])*"|%\*|%[^\n]*|(?P<left>#(?:include|script|theory|!))'
    r"|(?P<foreign>[^\x00-\x7f])|(?P<operator>\.{2,}|[-(+*/\\^&?~|])|(?P<end>\.)"
)
_COMMENT = re.compile(r"(?P<open>%\*)|(?P<close>\*%)|%[^\n]*")
"""What clingo's lexer tells apart outside and inside of comments, as far as it matters here."""


def _code(text: str) -> Iterator[re.Match[str]]:
    """The code of a text, in order, without comments; they nest."""
    at = 0
    while found := _CODE.search(text, at):
        yield found
        at = found.end()
        depth = int(found[0] == "%*")
        while depth and (found := _COMMENT.search(text, at)):
            depth += bool(found["open"]) - bool(found["close"])
            at = found.end()
        if depth:
            return


def _check_text(file: Path, text: str) -> None:
    """Refuses what clingo's parser would stumble over, or follow out of the folder.

    Raises:
        OntologyError: At a byte order mark, a NUL, another kind of program, what leads out of
            the file (`#include`) or has a syntax of its own (`#script`, `#theory`, a line after
            `#!`), in which a comment may be none, a character that is in no name, or a
            statement that nests too deep.
    """
    if text.startswith("\ufeff"):
        message = "begins with a byte order mark; save it as UTF-8 without one"
        raise OntologyError(message, str(file), 1, code="syntax")
    if re.match(r"asp \d", text):  # the parser takes it for a program that is grounded already
        message = "begins like the output of a grounder; only facts and rules belong in an ontology"
        raise OntologyError(message, str(file), 1, code="form")
    if "\0" in text:  # the parser cuts a text off there
        line = text.count("\n", 0, text.index("\0")) + 1
        raise OntologyError("has a NUL character; take it away", str(file), line, code="syntax")
    operators = 0
    for found in _code(text):
        message = mend = ""
        operators = 0 if found["end"] else operators + bool(found["operator"])
        if found["left"]:
            message = (
                f"{found[0]} does not belong in an ontology: only facts and rules belong there, "
                "and every .lp file of a folder is read"
            )
        elif found["foreign"]:
            # The parser cuts such a character in two where it complains of it, and dies of it.
            message = f'{found[0]} belongs in texts ("...") and comments only; names are ASCII'
            mend = "Spell the name with ASCII letters, or put the text in straight quotes."
        elif operators > MOST_OPERATORS:
            message = f"the statement has more than {MOST_OPERATORS} operators; divide it"
        if message:
            line = text.count("\n", 0, found.start()) + 1
            raise OntologyError(message, str(file), line, "form", mend)


_COMMENT_ELSEWHERE = re.compile(r"\s*(?:#|//)")
"""What begins a comment in other languages."""


def _unended(error: OntologyError, lines: Sequence[str]) -> OntologyError:
    """A syntax error where its cause is: at the end of a statement without its full stop, which the
    parser misses when the next one begins, or at the end of the file.
    """
    if error.code != "syntax" or error.line is None:
        return error
    at, line, message = error.line - 1, error.line, ""
    before = at + 1 if "unexpected EOF" in error.message else at
    code = [re.sub(r"%.*", "", text).rstrip() for text in lines[:before]]
    last = max((number for number, text in enumerate(code) if text), default=-1)
    if _COMMENT_ELSEWHERE.match(lines[at] if lines else ""):
        message, mend = "this is no statement", "Begin a comment with %."
    elif 'unexpected "' in error.message:
        message, mend = "a text does not end here", "Close the text with a straight quote."
    elif last >= 0 and re.search(r"[\w)\"]$", code[last]):
        line, message = last + 1, "a full stop is missing at the end of this line"
        mend = "End the statement with a full stop."
    if not message:
        return error
    return OntologyError(f"syntax error: {message}", error.file, line, "syntax", mend)


def complaint(
    complaints: Sequence[str], otherwise: str, file: str, lines: int | None = None
) -> OntologyError:
    """The solver's first complaint as an error with file and line."""
    text = (complaints[0] if complaints else otherwise).replace(PRIVATE, "")
    place = re.match(
        r"(?P<file>.*?):(?P<line>\d+):[\d-]+.*?: (?:error|warning|info): (?P<what>.*)",
        text,
        re.DOTALL,
    )
    if place is None or place["file"].startswith("<"):
        return OntologyError(" ".join(text.split()), file, code="syntax")
    line = int(place["line"])
    # An unfinished last statement is reported after the end of the file.
    line = max(1, min(line, lines)) if lines is not None else line
    what = " ".join(place["what"].replace("[#inc_base];", "").split())
    if unsafe := re.findall(r"note: '(\w+)' is unsafe", what):
        rule = what.removeprefix("unsafe variables in: ").partition(f" {place['file']}:")[0]
        what = f"unsafe variables: no plain atom of the body binds {' and '.join(unsafe)}: {rule}"
    code = "syntax" if "syntax error" in what or "lexer" in what else "unsafe"
    code = "arithmetic" if what.startswith("operation undefined") else code
    return OntologyError(what, place["file"], line, code=code)


def new_control(*options: str) -> tuple[clingo.Control, list[str]]:
    """A control, and what it will complain about."""
    complaints: list[str] = []
    return clingo.Control(options, lambda _, text: complaints.append(text)), complaints


def ground(control: clingo.Control, complaints: Sequence[str], name: str) -> None:
    """Grounds a program that is to be without any complaint: an atom that nothing derives is
    a name mistyped.

    Args:
        control: Holds the program.
        complaints: What it complains about.
        name: What the program is called.

    Raises:
        OntologyError: At the first complaint.
    """
    try:
        control.ground()
    except RuntimeError as error:
        raise complaint(complaints, str(error), name) from error
    if complaints:
        raise complaint(complaints, "", name)


def place_of(statement: ast.AST) -> Place:
    """Where a statement begins."""
    begin = statement.location.begin
    return Place(begin.filename, begin.line)


def signature(term: ast.AST) -> Signature:
    """Predicate and arity of a function term."""
    return term.name, len(term.arguments)


def public(atom: clingo.Symbol) -> Signature:
    """Predicate and arity of an atom, a helper's under the name that its author gave it."""
    return atom.name.removeprefix(PRIVATE), len(atom.arguments)


def _functions(symbol: ast.AST) -> list[ast.AST]:
    """The function terms of an atom's symbol: of a pool one for each alternative."""
    if symbol.ast_type is ast.ASTType.UnaryOperation:  # classical negation
        return _functions(symbol.argument)
    if symbol.ast_type is ast.ASTType.Pool:
        return [term for part in symbol.arguments for term in _functions(part)]
    return [symbol]


def fact_of(statement: ast.AST) -> ast.AST | None:
    """The function term of a statement that is a fact, if it is one."""
    if statement.ast_type is not ast.ASTType.Rule or statement.body:
        return None
    literal = statement.head
    if literal.ast_type is not ast.ASTType.Literal or literal.sign != ast.Sign.NoSign:
        return None
    atom = literal.atom
    if atom.ast_type is not ast.ASTType.SymbolicAtom:
        return None
    symbol = atom.symbol
    return symbol if symbol.ast_type is ast.ASTType.Function else None


def is_constant(term: ast.AST) -> bool:
    """Whether a term is a name, a number or a text."""
    named = term.ast_type is ast.ASTType.Function and term.name and not term.arguments
    return bool(named) or term.ast_type is ast.ASTType.SymbolicTerm


class _Atoms(ast.Transformer):
    """Collects the function terms of all atoms below a syntax tree."""

    def __init__(self) -> None:
        self.found: list[ast.AST] = []

    def visit_SymbolicAtom(self, node: ast.AST) -> ast.AST:  # noqa: N802 (clingo's naming)
        self.found += _functions(node.symbol)
        return node


def atoms_in(trees: Iterable[ast.AST]) -> list[ast.AST]:
    """The function terms of all atoms below syntax trees."""
    collector = _Atoms()
    for tree in trees:
        collector.visit(tree)
    return collector.found


class _Private(ast.Transformer):
    """Gives the atoms of a rule private names.

    Args:
        shared: The predicates that keep theirs.
    """

    def __init__(self, shared: Collection[Signature]) -> None:
        self._shared = shared

    def visit_SymbolicAtom(self, node: ast.AST) -> ast.AST:  # noqa: N802 (clingo's naming)
        return node.update(symbol=self._named(node.symbol))

    def _named(self, symbol: ast.AST) -> ast.AST:
        if symbol.ast_type is ast.ASTType.Pool:
            return symbol.update(arguments=[self._named(part) for part in symbol.arguments])
        if signature(symbol) in self._shared:
            return symbol
        return symbol.update(name=PRIVATE + symbol.name)


HOLDS = ("holds", 3)


_INCLUDE = re.compile(r'^#include "(?P<file>[^"]+)"\.$', re.MULTILINE)


def rule_files(*names: str) -> list[Path]:
    """The files of the project's rules that make a program, each once.

    A file with `#include` is an entry: it includes the files of a program and holds nothing else.
    They are looked up beside it, never in the working folder, where clingo looks first.

    Args:
        names: Files in `rules/`, without `.lp`.
    """
    found: dict[Path, None] = {}
    for name in names:
        file = data_folder("rules") / f"{name}.lp"
        included = _INCLUDE.findall(file.read_text("utf-8"))
        inner = rule_files(*(other.removesuffix(".lp") for other in included))
        found |= dict.fromkeys(inner if included else [file])
    return [*found]


def rule_statements(*names: str) -> list[ast.AST]:
    """The statements of the project's rules that make a program.

    Args:
        names: Files in `rules/`, without `.lp`.
    """
    return list(statements(rule_files(*names)))


@cache
def declarations() -> dict[str, list[tuple[clingo.Symbol, ...]]]:
    """Predicate to the arguments of its facts in `rules/vocabulary.lp`, in order."""
    table = defaultdict(list)
    for statement in rule_statements("vocabulary"):
        fact = fact_of(statement)
        assert fact is not None  # the file ships with the package and holds facts alone
        for term in fact.unpool():
            symbol = clingo.parse_term(str(term))
            table[symbol.name].append(tuple(symbol.arguments))
    return table


def declared(predicate: str) -> list[str]:
    """The first arguments of a predicate's facts in `rules/vocabulary.lp`, in order."""
    return [str(row[0]) for row in declarations()[predicate]]


def _signatures(predicate: str) -> dict[Signature, tuple[str, ...]]:
    """Predicates with the kinds of their arguments, as facts of `rules/vocabulary.lp` say."""
    table = {}
    for name, kinds, *_ in declarations()[predicate]:
        # A one-place signature is a parenthesised term, longer ones are tuples.
        names = [str(kinds)] if kinds.name else [str(kind) for kind in kinds.arguments]
        table[str(name), len(names)] = tuple(names)
    return table


@cache
def vocabulary() -> dict[Signature, tuple[str, ...]]:
    """Predicate and arity to the kinds of its arguments (`rules/vocabulary.lp`)."""
    return _signatures("signature")


@cache
def audited() -> dict[Signature, tuple[str, ...]]:
    """The same of what a user's rules may use of the audit (`rules/closure.lp`)."""
    return _signatures("audited")


@cache
def table_groups() -> dict[Signature, str]:
    """Predicates whose facts are tables of the readers, to the group that they belong to."""
    rows = zip(vocabulary(), declarations()["signature"], strict=True)
    return {key: str(row[2]) for key, row in rows if len(row) > 2}


@cache
def domains() -> dict[str, tuple[str, ...]]:
    """Kind of argument to its values, where `rules/vocabulary.lp` lists them."""
    table: dict[str, tuple[str, ...]] = {}
    for kind, value in declarations()["domain"]:
        table[str(kind)] = (*table.get(str(kind), ()), str(value))
    return table


def forget() -> None:
    """Forgets what was read of `rules/vocabulary.lp`, after an edit."""
    for remembered in (declarations, vocabulary, audited, table_groups, domains):
        remembered.cache_clear()
