"""Parsed ontology files: facts and rules with their positions.

clingo's own parser is used, so every error has a file and line. `rules/vocabulary.lp` declares the
predicates and their arguments.
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
"""Prefix added to an author's helper predicates in programs. No rule of the project uses it, so
helpers cannot collide with internal predicates.
"""

Signature = tuple[str, int]
"""Predicate and arity."""

Row = tuple[str, ...]
"""Arguments of a fact, as text."""

Rows = dict[Signature, list[Row]]
"""Maps a predicate and its arity to its facts."""

ASSERTED, QUERIED = ROLES = ("asserted", "queried")
"""Roles of a relation: asserted by the scene, or queried by a claim."""


class Place(NamedTuple):
    """Position of a statement: file and line, from 1."""

    file: str
    line: int


@dataclass(frozen=True)
class Rule:
    """A rule of an ontology.

    Attributes:
        statement: Syntax tree, as written.
        place: Position of the rule.
        audit: Whether it joins the rules of the audit, because it depends on a trace. Otherwise it
            joins the rules that make the tables.
    """

    statement: ast.AST
    place: Place
    audit: bool

    @property
    def private(self) -> ast.AST:
        """Syntax tree for use in a program, with private names for helpers.

        In audit rules, vocabulary facts also get private names, because the audit's tables use the
        same names.
        """
        shared = audited() if self.audit else {**vocabulary(), **audited()}
        return _Private(shared).visit(self.statement)


@dataclass
class Source:
    """Statements of an ontology.

    Attributes:
        facts: Maps a fact, with pools expanded, to its position.
        rules: The rules.
        repeated: Facts that are stated again, each with the later position.
        extended: The profile that a user's folder extends or makes the default.
        own: The author's files: the files in a user's folder, otherwise the built-in files.
        replaced: Maps a relation that the folder redeclares to the number of built-in facts
            replaced.
    """

    facts: dict[clingo.Symbol, Place] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    repeated: list[tuple[clingo.Symbol, Place]] = field(default_factory=list)
    extended: str | None = None
    own: frozenset[str] = frozenset()
    replaced: dict[str, int] = field(default_factory=dict)

    @cached_property
    def rows(self) -> Rows:
        """Facts by predicate, with their arguments as text."""
        rows: Rows = defaultdict(list)
        for fact in self.facts:
            rows[fact.name, len(fact.arguments)].append(tuple(map(plain, fact.arguments)))
        return rows

    @cached_property
    def ready(self) -> Rows:
        """Sorted facts that already are tables in every profile. No rule reads or derives them, so
        they need no solving.
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
        """Facts as program text. If all facts of a predicate already are tables, the text only has
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
        """Audit rules of the ontology as program text."""
        return "\n".join(str(rule.private) for rule in self.rules if rule.audit)

    @property
    def inputs(self) -> list[Signature]:
        """Facts that audit rules read from the tables: vocabulary predicates, and helpers derived
        from them.
        """
        audit = [rule.statement for rule in self.rules if rule.audit]
        heads = {signature(term) for rule in audit for term in atoms_in([rule.head])}
        used = {signature(term) for rule in audit for term in atoms_in(rule.body)}
        return sorted(used - heads - set(audited()))

    @property
    def derived(self) -> dict[Signature, Place]:
        """Vocabulary predicates for which rules derive facts, each with the position of such a
        rule.
        """
        heads = [
            (signature(term), rule.place)
            for rule in self.rules
            for term in atoms_in([rule.statement.head])
        ]
        return {key: place for key, place in heads if key in vocabulary()}

    def place(self, fact: clingo.Symbol) -> Place:
        """Return the position of a fact, or of the rule that derives it."""
        return self.facts.get(fact) or self.derived[fact.name, len(fact.arguments)]

    @property
    def concluded(self) -> set[str]:
        """Relations that rules conclude, or all relations if a rule takes the relation from its
        body.
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
    """Return the folder `rules` or `ontology`: next to the package in a checkout, inside it in an
    installed wheel.

    Raises:
        OntologyError: If the folder does not exist.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "_data" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise OntologyError(f"the folder {name}/ is missing from this installation; reinstall symbouq")


def lp_files(folder: Path) -> list[Path]:
    """Return the `.lp` files in a folder and its subfolders, in order. Links to other folders are
    not followed.
    """
    return sorted(file for file in folder.rglob("*.lp") if file.is_symlink() or not file.is_dir())


def user_files(folder: str | os.PathLike[str]) -> list[Path]:
    """Return the `.lp` files in a user's folder.

    Raises:
        OntologyError: If the folder does not exist or contains no such file.
    """
    if not Path(folder).is_dir():
        raise OntologyError(f"ontology folder {folder} does not exist or is not a folder")
    files = lp_files(Path(folder))
    if not files:
        raise OntologyError(f"ontology folder {folder} holds no .lp file")
    return files


_Stamp = tuple[tuple[str, int, int], ...]


def files_stamp(folder: str | None) -> _Stamp:
    """Return the names, times and sizes of the rule and ontology files, to detect changes. They are
    checked at most once a second.
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
    """Return the hexadecimal SHA-256 of files and their names."""
    found = hashlib.sha256()
    for file in files:
        found.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


@lru_cache(maxsize=1 << 16)  # asking clingo is slow
def plain(symbol: clingo.Symbol) -> str:
    """Return a symbol as text: the content of a string, or the spelling of any other symbol."""
    return symbol.string if symbol.type is clingo.SymbolType.String else str(symbol)


def shown(file: str) -> str:
    """Return the path of a file for messages. Built-in files start at `ontology/` or `rules/`.
    Files below the working folder are relative to it.
    """
    for name in ("ontology", "rules"):
        if Path(file).is_relative_to(data_folder(name)):
            return (Path(name) / Path(file).relative_to(data_folder(name))).as_posix()
    if Path(file).is_relative_to(Path.cwd()):
        return Path(file).relative_to(Path.cwd()).as_posix()
    return file


MOST_BYTES = 4_000_000
"""Maximum size of an ontology file in bytes."""

MOST_OPERATORS = 250
"""Maximum number of parentheses and operators in a statement, which limits how deeply the parser
recurses.
"""


def statements(files: Iterable[Path]) -> Iterator[ast.AST]:
    """Yield the statements of files, without comments and `#program base`.

    Raises:
        OntologyError: If a file is not regular or is too large, refers to other files, or has a
            syntax error. The error has a file and line.
    """
    complaints: list[str] = []
    for file in files:
        found: list[ast.AST] = []
        try:
            check_file(file)
            # Keep line ends, because the parser does not end a line at a carriage return.
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
    """Check that a file may belong to a folder. Opening a special file may block, and a link may
    lead to someone else's file.

    Args:
        file: The file.
        folder: The folder that must contain it, if any.

    Raises:
        OntologyError: If the file is not regular, is too large, or is a link that leads elsewhere
            or nowhere.
    """
    message = ""
    try:
        str(file).encode()
    except UnicodeEncodeError as error:  # the parser opens files by UTF-8 names
        name = os.fsencode(file).decode(errors="backslashreplace")
        raise OntologyError("has no name in UTF-8; rename it", name, code="file") from error
    try:
        status = file.stat()
        real = file.resolve(strict=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: circular links, in Python 3.11
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
"""Comment marks. clingo's lexer treats some text differently inside and outside of comments."""


def _code(text: str) -> Iterator[re.Match[str]]:
    """Yield the code of the text, in order, without comments, which may be nested."""
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
    """Reject text that clingo's parser cannot handle, or that refers to a file outside the folder.

    Raises:
        OntologyError: At a byte order mark, a NUL, another kind of program, a reference outside the
            file (`#include`), another syntax in which comments may differ (`#script`, `#theory`, a
            line after `#!`), a character that no name may contain, or a statement that nests too
            deeply.
    """
    if text.startswith("\ufeff"):
        message = "begins with a byte order mark; save it as UTF-8 without one"
        raise OntologyError(message, str(file), 1, code="syntax")
    if re.match(r"asp \d", text):  # the parser would read a ground program
        message = "begins like the output of a grounder; only facts and rules belong in an ontology"
        raise OntologyError(message, str(file), 1, code="form")
    if "\0" in text:  # the parser stops there
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
            # The parser crashes when it reports such a character, because it cuts it in two.
            message = f'{found[0]} belongs in texts ("...") and comments only; names are ASCII'
            mend = "Spell the name with ASCII letters, or put the text in straight quotes."
        elif operators > MOST_OPERATORS:
            message = f"the statement has more than {MOST_OPERATORS} operators; divide it"
        if message:
            line = text.count("\n", 0, found.start()) + 1
            raise OntologyError(message, str(file), line, "form", mend)


_COMMENT_ELSEWHERE = re.compile(r"\s*(?:#|//)")
"""Start of a comment in other languages."""


def _unended(error: OntologyError, lines: Sequence[str]) -> OntologyError:
    """Move a syntax error to its cause: the end of a statement without a full stop. The parser only
    notices this at the next statement or at the end of the file.
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
    """Turn the solver's first complaint into an error with file and line."""
    text = (complaints[0] if complaints else otherwise).replace(PRIVATE, "")
    place = re.match(
        r"(?P<file>.*?):(?P<line>\d+):[\d-]+.*?: (?:error|warning|info): (?P<what>.*)",
        text,
        re.DOTALL,
    )
    if place is None or place["file"].startswith("<"):
        return OntologyError(" ".join(text.split()), file, code="syntax")
    line = int(place["line"])
    # An unfinished last statement is reported after the end of the file, so clip the line.
    line = max(1, min(line, lines)) if lines is not None else line
    what = " ".join(place["what"].replace("[#inc_base];", "").split())
    if unsafe := re.findall(r"note: '(\w+)' is unsafe", what):
        rule = what.removeprefix("unsafe variables in: ").partition(f" {place['file']}:")[0]
        what = f"unsafe variables: no plain atom of the body binds {' and '.join(unsafe)}: {rule}"
    code = "syntax" if "syntax error" in what or "lexer" in what else "unsafe"
    code = "arithmetic" if what.startswith("operation undefined") else code
    return OntologyError(what, place["file"], line, code=code)


def new_control(*options: str) -> tuple[clingo.Control, list[str]]:
    """Return a control object, and the list that collects its complaints."""
    complaints: list[str] = []
    return clingo.Control(options, lambda _, text: complaints.append(text)), complaints


def ground(control: clingo.Control, complaints: Sequence[str], name: str) -> None:
    """Ground a program. Any complaint is an error. If an atom is never derived, for example, its
    name is mistyped.

    Args:
        control: Control object of the program.
        complaints: List that collects its complaints.
        name: Name of the program.

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
    """Position of a statement."""
    begin = statement.location.begin
    return Place(begin.filename, begin.line)


def signature(term: ast.AST) -> Signature:
    """Predicate and arity of a function term."""
    return term.name, len(term.arguments)


def public(atom: clingo.Symbol) -> Signature:
    """Return the predicate and arity of an atom. A helper is returned under the name that its
    author gave it.
    """
    return atom.name.removeprefix(PRIVATE), len(atom.arguments)


def _functions(symbol: ast.AST) -> list[ast.AST]:
    if symbol.ast_type is ast.ASTType.UnaryOperation:  # classical negation
        return _functions(symbol.argument)
    if symbol.ast_type is ast.ASTType.Pool:
        return [term for part in symbol.arguments for term in _functions(part)]
    return [symbol]


def fact_of(statement: ast.AST) -> ast.AST | None:
    """Return the function term of a statement if it is a fact."""
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
    """Whether a term is a name, a number or a string."""
    named = term.ast_type is ast.ASTType.Function and term.name and not term.arguments
    return bool(named) or term.ast_type is ast.ASTType.SymbolicTerm


class _Atoms(ast.Transformer):
    """Collect the function terms of all atoms in a syntax tree."""

    def __init__(self) -> None:
        self.found: list[ast.AST] = []

    def visit_SymbolicAtom(self, node: ast.AST) -> ast.AST:  # noqa: N802 (clingo's naming)
        self.found += _functions(node.symbol)
        return node


def atoms_in(trees: Iterable[ast.AST]) -> list[ast.AST]:
    """Return the function terms of all atoms in the given syntax trees."""
    collector = _Atoms()
    for tree in trees:
        collector.visit(tree)
    return collector.found


class _Private(ast.Transformer):
    """Give the atoms in a rule private names.

    Args:
        shared: Predicates that keep their names.
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
    """Return the project's rule files that make up a program, each once.

    A file with `#include` only lists the files of a program. They are looked up next to it, never
    in the working folder, where clingo would look first.

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
    """Return the statements in the project's rule files that make up a program.

    Args:
        names: Files in `rules/`, without `.lp`.
    """
    return list(statements(rule_files(*names)))


@cache
def declarations() -> dict[str, list[tuple[clingo.Symbol, ...]]]:
    """Map each predicate to the arguments of its facts in `rules/vocabulary.lp`, in order."""
    table = defaultdict(list)
    for statement in rule_statements("vocabulary"):
        fact = fact_of(statement)
        assert fact is not None  # the file ships with the package and contains only facts
        for term in fact.unpool():
            symbol = clingo.parse_term(str(term))
            table[symbol.name].append(tuple(symbol.arguments))
    return table


def declared(predicate: str) -> list[str]:
    """Return the first arguments of a predicate's facts in `rules/vocabulary.lp`, in order."""
    return [str(row[0]) for row in declarations()[predicate]]


def _signatures(predicate: str) -> dict[Signature, tuple[str, ...]]:
    """Map each predicate to the kinds of its arguments, from facts in `rules/vocabulary.lp`."""
    table = {}
    for name, kinds, *_ in declarations()[predicate]:
        # A signature with one argument is a parenthesised term; longer ones are tuples.
        names = [str(kinds)] if kinds.name else [str(kind) for kind in kinds.arguments]
        table[str(name), len(names)] = tuple(names)
    return table


@cache
def vocabulary() -> dict[Signature, tuple[str, ...]]:
    """Map each predicate and arity to the kinds of its arguments (`rules/vocabulary.lp`)."""
    return _signatures("signature")


@cache
def audited() -> dict[Signature, tuple[str, ...]]:
    """Map each audit predicate that a user's rules may use to the kinds of its arguments
    (`rules/closure.lp`).
    """
    return _signatures("audited")


@cache
def table_groups() -> dict[Signature, str]:
    """Map each predicate to its group, if its facts are tables for the readers."""
    rows = zip(vocabulary(), declarations()["signature"], strict=True)
    return {key: str(row[2]) for key, row in rows if len(row) > 2}


@cache
def domains() -> dict[str, tuple[str, ...]]:
    """Map each kind of argument to its values, if `rules/vocabulary.lp` lists them."""
    table: dict[str, tuple[str, ...]] = {}
    for kind, value in declarations()["domain"]:
        table[str(kind)] = (*table.get(str(kind), ()), str(value))
    return table


def forget() -> None:
    """Clear the cached contents of `rules/vocabulary.lp` after a change."""
    for remembered in (declarations, vocabulary, audited, table_groups, domains):
        remembered.cache_clear()
