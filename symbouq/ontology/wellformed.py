"""Parse and check an ontology's statements: facts and plain rules of the vocabulary with valid
arguments, and rules that keep the closure definite.
"""

from __future__ import annotations

import difflib
import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NoReturn

import clingo
from clingo import ast

from symbouq.errors import OntologyError
from symbouq.ontology.source import (
    HOLDS,
    Place,
    Rows,
    Rule,
    Signature,
    Source,
    atoms_in,
    audited,
    check_file,
    data_folder,
    declarations,
    declared,
    domains,
    fact_of,
    is_constant,
    place_of,
    signature,
    statements,
    user_files,
    vocabulary,
)
from symbouq.ontology.words import CLASSES

Complain = Callable[[OntologyError], None]
"""Error handler, which raises or collects errors in the ontology."""


def fail(error: OntologyError) -> NoReturn:
    """Raise the first error, as when an ontology is loaded."""
    raise error


def read_source(
    builtin: Sequence[Path], folder: str | os.PathLike[str] | None, complain: Complain = fail
) -> tuple[Source, list[Path]]:
    """Parse and check an ontology: the built-in files, with a user's folder on top.

    A folder that extends a built-in profile adds to the built-in ontology; any other folder
    replaces it. If the folder declares a relation with family/2, it replaces the built-in relation
    of that name with all facts about it.

    Args:
        builtin: The built-in files.
        folder: The user's folder, if there is one.
        complain: Error handler.

    Returns:
        The statements, and the files that they come from.

    Raises:
        OntologyError: If the folder cannot be read, or from `complain`.
    """
    source = Source()
    files = user_files(folder) if folder is not None else []
    own, missing = _parsed(files, complain, folder)
    if missing:
        # Statements of the missing files would be reported as missing everywhere else.
        return source, files
    stated = [f for f in own if isinstance(f, _Stated)]
    if folder is not None:
        extends, source.extended = _extension(stated)
        builtin = builtin if extends else []
        if not extends and source.extended is None:
            message = (
                "the folder extends no profile and has no default_profile(PROFILE), so there is "
                "nothing to read a trace by"
            )
            complain(OntologyError(message, str(files[0]), 1, code="no-profile"))
    redeclared = {str(f.arguments[0]) for f in stated if f.key == ("family", 2)}
    inherited = _parsed(builtin, complain)[0]
    # When a relation is replaced, so are the scales that grow in its direction.
    scales = {
        str(part.arguments[0])
        for part in inherited
        if isinstance(part, _Stated)
        and part.key == ("scale", 2)
        and _about(part, "relation") & redeclared
    }
    about = (part for part in inherited if isinstance(part, _Stated))
    source.replaced |= Counter(n for part in about for n in _about(part, "relation") & redeclared)
    inherited = [
        part
        for part in inherited
        if not isinstance(part, _Stated)
        or not (_about(part, "relation") & redeclared or _about(part, "scale") & scales)
    ]
    # A scale has only one direction. The folder's direction takes precedence.
    turned = {f.arguments[0] for f in stated if f.key == ("scale", 2)}
    inherited = [
        part
        for part in inherited
        if not (
            isinstance(part, _Stated) and part.key == ("scale", 2) and part.arguments[0] in turned
        )
    ]
    facts = [*(f for f in inherited if isinstance(f, _Stated)), *stated]
    rules = [part for part in [*inherited, *own] if isinstance(part, ast.AST)]
    for fact in facts:
        if fact.symbol in source.facts:
            source.repeated.append((fact.symbol, fact.place))
        source.facts.setdefault(fact.symbol, fact.place)
    values = _Values(source.rows)
    for fact in (*stated, *facts[: len(facts) - len(stated)]):
        values.check(fact, complain)
    source.rules = _checked_rules(rules, values, complain)
    source.own = frozenset(map(str, files or builtin))
    return source, [*builtin, *files]


def check_derived(source: Source, facts: Iterable[clingo.Symbol]) -> None:
    """Check derived vocabulary facts in the same way as stated ones.

    Raises:
        OntologyError: If an argument is invalid.
    """
    values = _Values(source.rows)
    for fact in facts:
        values.check(_Stated(fact, source.place(fact)), fail)


@dataclass(frozen=True)
class _Stated:
    """Fact with its position."""

    symbol: clingo.Symbol
    place: Place

    @cached_property
    def arguments(self) -> tuple[clingo.Symbol, ...]:
        """Arguments of the fact. They are kept because clingo would create new objects on each
        access.
        """
        return tuple(self.symbol.arguments)

    @cached_property
    def key(self) -> Signature:
        return self.symbol.name, len(self.arguments)


def _about(fact: _Stated, kind: str) -> set[str]:
    kinds = vocabulary()[fact.key]
    return {str(v) for told, v in zip(kinds, fact.arguments, strict=True) if told == kind}


def _parsed(
    files: Sequence[Path], complain: Complain, folder: str | os.PathLike[str] | None = None
) -> tuple[list[_Stated | ast.AST], bool]:
    """Parse files. Return their vocabulary facts and rules, in order, and whether a file is missing
    because it cannot be read.
    """
    found: list[_Stated | ast.AST] = []
    missing = False
    for file in files:
        try:
            check_file(file, folder)
            state = file.stat()
            parts, errors = _parts_of(file, (state.st_mtime_ns, state.st_size, state.st_ino))
        except OntologyError as error:
            complain(error)
            missing = True
            continue
        found += parts
        for fault in errors:
            complain(fault)
    return found, missing


@lru_cache(maxsize=256)
def _parts_of(
    file: Path, _state: tuple[int, ...]
) -> tuple[list[_Stated | ast.AST], list[OntologyError]]:
    """Return the facts, rules and errors of a file in one state. They are cached, because the
    built-in files are read with every folder.

    Raises:
        OntologyError: If the file cannot be parsed.
    """
    found: list[_Stated | ast.AST] = []
    errors: list[OntologyError] = []
    for tree in statements([file]):
        try:
            fact = _well_formed(tree)
            found += _expanded(tree, fact) if fact is not None else [tree]
        except OntologyError as error:
            errors.append(error)
    return found, errors


def _extension(facts: Sequence[_Stated]) -> tuple[bool, str | None]:
    """Return whether a folder extends the built-in ontology, and its default profile: its own
    default_profile/1, otherwise the profile of its extends/1.
    """

    def said(key: Signature) -> list[list[str]]:
        return [[str(a) for a in f.arguments] for f in facts if f.key == key]

    own = {profile for (profile,) in said(("profile", 1))}
    extended = [profile for (profile,) in said(("extends", 1))]
    beyond = [profile for _, profile in said(("extends", 2)) if profile not in own]
    defaults = [profile for (profile,) in said(("default_profile", 1))] + extended
    return bool(extended or beyond), (defaults[0] if defaults else None)


def _at(statement: ast.AST, message: str, code: str, mend: str = "") -> OntologyError:
    return OntologyError(message, *place_of(statement), code, mend)


def _well_formed(statement: ast.AST) -> ast.AST | None:
    """Return the function term of a fact, or None for a rule. An ontology may contain only facts
    and plain rules.

    Raises:
        OntologyError: At a directive, a choice, a disjunction, a constraint without a
            name, a negated fact, a theory atom, or a fact outside the vocabulary.
    """
    fact = fact_of(statement)
    if fact is not None:
        if signature(fact) not in vocabulary():
            raise _undefined(statement, signature(fact), vocabulary())
        return fact
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
    _check_terms(statement)
    return None


MOST_VALUES = 1000
"""Maximum number of values in an interval."""

MOST_ALTERNATIVES = 25_000
"""Maximum number of alternatives to which the pools and intervals of a statement may expand."""

_SHORTER = f"Write an interval of at most {MOST_VALUES:,} values, or the values that are needed."


def _check_terms(statement: ast.AST) -> None:
    """Check the terms of a statement.

    Raises:
        OntologyError: At an external function call, a long interval, or a classical negation.
    """
    terms = _Terms()
    terms.visit(statement)
    if terms.wrong:
        raise _at(statement, terms.wrong[0], "form", _SHORTER if ".." in terms.wrong[0] else "")
    _check_alternatives(statement)


def _check_alternatives(statement: ast.AST) -> None:
    """Check the number of alternatives of a statement.

    Raises:
        OntologyError: If there are too many.
    """
    text = str(statement)
    if ".." not in text and 2 ** text.count(";") <= MOST_ALTERNATIVES:
        return  # the usual case, because each semicolon at most doubles the number
    many = _alternatives(statement)
    if many > MOST_ALTERNATIVES:
        message = (
            f"the statement stands for {many:,} by its pools and intervals; at most "
            f"{MOST_ALTERNATIVES:,} belong in one"
        )
        raise _at(statement, message, "growth", _SHORTER)


def _alternatives(tree: ast.AST) -> int:
    if tree.ast_type is ast.ASTType.Interval:
        ends = str(tree.left), str(tree.right)
        if all(re.fullmatch(r"-?\d{1,9}", end) for end in ends):
            return max(1, int(ends[1]) - int(ends[0]) + 1)
        return 1
    children: list[ast.AST] = []
    for key in tree.child_keys:
        child = getattr(tree, key)
        if child is not None:
            children += [child] if isinstance(child, ast.AST) else child
    counts = map(_alternatives, children)
    return sum(counts) if tree.ast_type is ast.ASTType.Pool else math.prod(counts)


class _Terms(ast.Transformer):
    """Collector of errors in the terms and atoms of a syntax tree."""

    def __init__(self) -> None:
        self.wrong: list[str] = []

    def visit_SymbolicAtom(self, node: ast.AST) -> ast.AST:  # noqa: N802 (clingo's naming)
        if node.symbol.ast_type is ast.ASTType.UnaryOperation:
            self.wrong.append(f"{node} is classical negation, which nothing here derives")
        return node.update(**self.visit_children(node))

    def visit_Function(self, node: ast.AST) -> ast.AST:  # noqa: N802 (clingo's naming)
        if node.external:
            self.wrong.append(f"{node} calls a function of a program; an ontology calls none")
        return node.update(**self.visit_children(node))

    def visit_Interval(self, node: ast.AST) -> ast.AST:  # noqa: N802 (clingo's naming)
        ends = str(node.left), str(node.right)
        small = all(re.fullmatch(r"-?\d{1,9}", end) for end in ends)
        if not small or int(ends[1]) - int(ends[0]) >= MOST_VALUES:
            self.wrong.append(f"the interval {node} has over {MOST_VALUES:,} values, or no end")
        return node


def _expanded(statement: ast.AST, fact: ast.AST) -> list[_Stated]:
    """Return the facts of a statement with its pools (`a; b`) expanded.

    Raises:
        OntologyError: If the statement has a variable or undefined arithmetic.
    """
    place = place_of(statement)
    _check_alternatives(statement)
    try:
        terms = map(str, fact.unpool())
        return [_Stated(clingo.parse_term(term, logger=_unheard), place) for term in terms]
    except RuntimeError:  # grounding expands intervals and finds mistakes
        _check_terms(statement)
        control = clingo.Control(logger=_unheard)
    with ast.ProgramBuilder(control) as builder:
        builder.add(statement)
    try:
        control.ground()
    except RuntimeError as error:
        names = sorted(variables_in([fact]) - {"_"})
        instead = " or ".join(f'{name[0].lower()}{name[1:]} or "{name}"' for name in names)
        message = f"the fact {fact} has a variable; facts are ground: write {instead or 'a name'}"
        raise _at(statement, message, "unsafe") from error
    found = [_Stated(atom.symbol, place) for atom in control.symbolic_atoms]
    if not found:
        dashed = [str(a).strip("()") for a in fact.arguments if a.ast_type in _CALCULATED]
        instead = " and ".join(f'{re.sub(r"[^a-zA-Z0-9]+", "_", t)} or "{t}"' for t in dashed)
        message = f"the fact {fact} has arithmetic without a value; write {instead or 'a name'}"
        raise _at(statement, message, "unknown-value", "Names have no minus: write an underscore.")
    return found


_CALCULATED = (ast.ASTType.BinaryOperation, ast.ASTType.UnaryOperation)


def _unheard(_code: clingo.MessageCode, _text: str) -> None:
    """Ignore a complaint by clingo, because its cause is reported elsewhere."""


class _Variables(ast.Transformer):
    """Collect the names of the variables in a syntax tree."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_Variable(self, node: ast.AST) -> ast.AST:  # noqa: N802 (clingo's naming)
        self.found.add(node.name)
        return node


def variables_in(trees: Iterable[ast.AST]) -> set[str]:
    """Return the names of the variables in syntax trees."""
    collector = _Variables()
    for tree in trees:
        collector.visit(tree)
    return collector.found


def _checked_rules(rules: Sequence[ast.AST], values: _Values, complain: Complain) -> list[Rule]:
    """Return the valid rules: their atoms exist with the right arity and known constants, and they
    keep the closure definite.
    """
    defined = set(vocabulary()) | set(audited())
    used = {signature(term) for rule in rules for term in atoms_in(rule.body)}
    for rule in rules:
        defined |= {signature(term) for term in atoms_in([rule.head])} & used
    of_traces = _of_traces(rules)
    reached = _reached(rules)
    checked = []
    for rule in rules:
        terms = atoms_in([rule.head, *rule.body])
        audit = any(signature(term) in of_traces for term in terms)
        try:
            for term in terms:
                if signature(term) not in defined:
                    raise _undefined(rule, signature(term), defined)
                values.check_rule(rule, term)
            values.check_body(rule)
            _check_definite(rule, of_traces)
            _check_conclusion(rule, audit)
            _check_growth(rule, reached)
        except OntologyError as error:
            complain(error)
            continue
        checked.append(Rule(rule, place_of(rule), audit))
    return checked


def _of_traces(rules: Sequence[ast.AST]) -> set[Signature]:
    """Return the predicates whose facts depend on the trace: predicates that the audit derives, and
    helpers derived from these.
    """
    found = set(audited())
    before = 0
    while len(found) > before:
        before = len(found)
        for rule in rules:
            heads = {signature(term) for term in atoms_in([rule.head])}
            body = {signature(term) for term in atoms_in(rule.body)}
            if found & (heads | body):
                found |= heads - set(vocabulary())
    return found


def _reached(rules: Sequence[ast.AST]) -> dict[Signature, set[Signature]]:
    """Map each predicate to the predicates from which rules derive it, directly or indirectly."""
    found: dict[Signature, set[Signature]] = defaultdict(set)
    for rule in rules:
        for head in atoms_in([rule.head]):
            found[signature(head)] |= {signature(term) for term in atoms_in(rule.body)}
    before = -1
    while (now := sum(map(len, found.values()))) > before:
        before = now
        for others in found.values():
            for other in list(others):
                others |= found.get(other, set())
    return found


def _check_definite(rule: ast.AST, of_traces: Collection[Signature]) -> None:
    """Check that atoms that depend on a trace occur only positively in a body. The closure must
    stay definite: an additional premise never removes a consequence.

    Raises:
        OntologyError: If a rule uses such an atom negated, in an aggregate or in a condition.
    """
    for part in rule.body:
        plain_part = part.literal if part.ast_type is ast.ASTType.ConditionalLiteral else part
        atom = plain_part.atom if plain_part.ast_type is ast.ASTType.Literal else None
        allowed = (
            atom is not None
            and atom.ast_type is ast.ASTType.SymbolicAtom
            and plain_part.sign == ast.Sign.NoSign
        )
        asked = [*part.condition] if plain_part is not part else []
        for term in atoms_in(asked if allowed else [part]):
            if signature(term) in of_traces:
                message = (
                    f"{part} asks for what does not hold, or for how much does; of "
                    f"{term.name}/{len(term.arguments)} only plain atoms belong in a body"
                )
                raise _at(rule, message, "not-definite")


def _check_conclusion(rule: ast.AST, audit: bool) -> None:
    """Check that audit rules conclude only relations of things and named clashes, and that rules
    for tables do not depend on a trace.

    Raises:
        OntologyError: At a thing that is not a variable or a relation that is computed (either
            could create new terms without end), a clash that is not a constant or function, or a
            vocabulary predicate that such a rule may not derive.
    """
    for term in atoms_in([rule.head]):
        key = signature(term)
        spelled = f"{key[0]}/{key[1]}"
        if key in vocabulary() and audit:
            message = (
                f"{spelled} is a predicate of the ontology, the same for every trace: it cannot "
                "be derived from what holds in one; give the helper another name"
            )
            raise _at(rule, message, "vocabulary")
        if key in vocabulary() and key[0] in declared("stated"):
            message = f"{spelled} is stated as facts, and not derived by a rule"
            raise _at(rule, message, "vocabulary")
        if key not in audited():
            continue
        if any(thing.ast_type is not ast.ASTType.Variable for thing in term.arguments[1:]):
            raise _at(rule, f"the things in {term} are variables, bound by the body", "form")
        name = term.arguments[0]
        unnamed = name.ast_type is ast.ASTType.Variable
        if key == HOLDS and not unnamed and not is_constant(name):
            raise _at(rule, f"the relation in {term} is a name or a variable", "form")
        if term.name == "clash" and unnamed:
            raise _at(rule, f"clash {name} has no name; write clash(NAME, U, V)", "form")


def _check_growth(rule: ast.AST, reached: dict[Signature, set[Signature]]) -> None:
    """Check that a recursive rule terminates: terms in its head must be copied, or calculated
    within bounds.

    Raises:
        OntologyError: If it keeps calculating new terms without bound.
    """
    for term in atoms_in([rule.head]):
        head = signature(term)

        def again(part: ast.AST, head: Signature = head) -> bool:
            found = {signature(other) for other in atoms_in([part])}
            return any(key == head or head in reached.get(key, ()) for key in found)

        if any(map(again, rule.body)):
            bounds = _Bounds(rule.body, again)
            for argument in term.arguments:
                if not bounds.hold(argument):
                    message = (
                        f"{argument} in the head grows without end: {head[0]}/{head[1]} is "
                        "derived from itself; bound it by a number on the side where it grows, "
                        "as N < 10 bounds N + 1"
                    )
                    raise _at(rule, message, "growth")


_UP, _DOWN = 1, -1
_ABOVE = (ast.ComparisonOperator.LessThan, ast.ComparisonOperator.LessEqual)
_BELOW = (ast.ComparisonOperator.GreaterThan, ast.ComparisonOperator.GreaterEqual)


class _Bounds:
    """Bounds on the variables of a recursive rule.

    A variable is fixed if a non-recursive part of the body binds it. A variable bound by a
    recursive part takes one of the existing terms. A term calculated from such a variable is new.
    It needs a bound on the side where it grows, or on both sides if that side is unknown.

    Args:
        body: The body of the rule.
        again: Tells whether a part of the body is recursive.
    """

    def __init__(self, body: Iterable[ast.AST], again: Callable[[ast.AST], bool]) -> None:
        self._fixed: set[str] = set()
        self._carried: set[str] = set()
        compared: list[tuple[ast.AST, int, ast.AST]] = []
        for part in body:
            if part.ast_type is not ast.ASTType.Literal or part.sign != ast.Sign.NoSign:
                continue
            if part.atom.ast_type is ast.ASTType.SymbolicAtom:
                names = _taken(part.atom.symbol)
                (self._carried if again(part) else self._fixed).update(names)
            elif part.atom.ast_type is ast.ASTType.Comparison:
                compared += _pairs(part.atom)
        equal = [(a, b) for a, sign, b in compared if sign == ast.ComparisonOperator.Equal]
        equal += [(b, a) for a, b in equal]
        before = -1
        while len(self._fixed) > before:
            before = len(self._fixed)
            for left, right in equal:
                if left.ast_type is ast.ASTType.Variable and self._is_fixed(right):
                    self._fixed.add(left.name)
        self._equal: dict[str, list[ast.AST]] = defaultdict(list)
        for left, right in equal:
            if left.ast_type is ast.ASTType.Variable:
                self._equal[left.name].append(right)
        self._sides: dict[str, set[int]] = defaultdict(set)
        for left, sign, right in compared:
            for inner, outer, above, below in (
                (left, right, _ABOVE, _BELOW),
                (right, left, _BELOW, _ABOVE),
            ):
                if inner.ast_type is ast.ASTType.Variable and self._is_number(outer):
                    self._sides[inner.name] |= {_UP} if sign in above else set()
                    self._sides[inner.name] |= {_DOWN} if sign in below else set()

    def hold(self, term: ast.AST) -> bool:
        """Whether an argument of the head takes only finitely many values."""
        if self._is_fixed(term):
            return True
        if term.ast_type is not ast.ASTType.Variable:
            return self._calculated(term, set())
        values = self._equal[term.name]
        names = {value.name for value in values if value.ast_type is ast.ASTType.Variable}
        return not self._carried.isdisjoint({term.name, *names}) or any(
            self._calculated(value, self._sides[term.name]) for value in values
        )

    def _is_fixed(self, term: ast.AST) -> bool:
        return variables_in([term]) <= self._fixed

    def _is_number(self, term: ast.AST) -> bool:
        """Whether a term is a fixed number. A name compares greater than all numbers, so it is not
        a bound on a number.
        """
        number = re.fullmatch(r"-?\d+", str(term)) or term.ast_type in _CALCULATED
        return bool(number) and self._is_fixed(term)

    def _calculated(self, term: ast.AST, sides: set[int]) -> bool:
        """Whether a new term is bounded on the sides where its value may grow."""
        if sides == {_UP, _DOWN}:
            return True
        step = _step(term)
        if step is not None:
            name, side = step
            return name in self._carried and side in self._sides[name] | sides
        return all(self._sides[name] == {_UP, _DOWN} for name in variables_in([term]) - self._fixed)


def _taken(term: ast.AST) -> set[str]:
    """Return the variables of a term that are bound by matching, without calculation."""
    if term.ast_type is ast.ASTType.Variable:
        return {term.name}
    if term.ast_type in (ast.ASTType.Function, ast.ASTType.Pool):
        return set().union(*map(_taken, term.arguments))
    return set()


def _pairs(comparison: ast.AST) -> Iterator[tuple[ast.AST, int, ast.AST]]:
    left = comparison.term
    for guard in comparison.guards:
        yield left, guard.comparison, guard.term
        left = guard.term


def _step(term: ast.AST) -> tuple[str, int] | None:
    """Return the variable to which a number is added or from which it is subtracted, and the side
    on which the result grows.
    """
    if term.ast_type is not ast.ASTType.BinaryOperation:
        return None
    plus = term.operator_type == ast.BinaryOperator.Plus
    if not plus and term.operator_type != ast.BinaryOperator.Minus:
        return None
    for one, other in ((term.left, term.right), (term.right, term.left))[: 1 + plus]:
        number = re.fullmatch(r"\d+", str(other))
        if one.ast_type is ast.ASTType.Variable and number:
            return one.name, _UP if plus else _DOWN
    return None


def _undefined(statement: ast.AST, key: Signature, known: Iterable[Signature]) -> OntologyError:
    spelled = {f"{name}/{arity}" for name, arity in known}
    wanted = f"{key[0]}/{key[1]}"
    near = difflib.get_close_matches(wanted, sorted(spelled), n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    mend = f"Write {near[0].partition('/')[0]}, or define the helper by a rule." if near else ""
    if any(name == key[0] for name, _ in known):
        return _at(statement, f"undefined predicate {wanted}{hint}", "arity")
    if statement.body and any(signature(term) == key for term in atoms_in([statement.head])):
        message = f"undefined predicate {wanted}: nothing uses what this rule derives{hint}"
        return _at(statement, message, "unused-predicate")
    return _at(statement, f"undefined predicate {wanted}{hint}", "undefined-predicate", mend)


class _Values:
    """The valid values for each kind of argument.

    Args:
        rows: The facts, which declare relations, axes, profiles and readings.
    """

    def __init__(self, rows: Rows) -> None:
        self._allowed: dict[str, set[str]] = {
            kind: {
                row[0] for (name, _), found in rows.items() if name == predicate for row in found
            }
            for kind, predicate in _declared_by().items()
        }
        self._allowed["family"] = {row[1] for row in rows["uses", 2]}
        self._allowed["word_class"] = set(CLASSES)
        self._allowed |= {kind: set(values) for kind, values in domains().items()}
        self._closure_only = frozenset(declared("closure_only"))
        self._of_answers = frozenset(declared("of_answers"))
        self._builtin = data_folder("ontology")
        self._directions = {row[0] for row in rows["component", 3] if row[2] in ("-1", "0", "1")}
        self._axioms = {
            value: name
            for (name, _), found in rows.items()
            if name in self._closure_only
            for row in found
            for value in row
        }
        meaning = (("implies", 2), ("means", 2), ("means_not", 2))
        self._closed = {row[0] for key in meaning for row in rows[key]}

    def check(self, fact: _Stated, complain: Complain) -> None:
        """Check that each argument of a fact is valid, and that the predicate applies to its
        relations.
        """
        predicate, arity = fact.key
        row = fact.arguments
        wrong: list[tuple[str, ...]] = []
        for position, (kind, value) in enumerate(zip(vocabulary()[fact.key], row, strict=True), 1):
            wrong += self._wrong(fact.key, position, kind, value)
        if predicate in self._of_answers and not Path(fact.place.file).is_relative_to(
            self._builtin
        ):
            message = (
                f"{predicate}/{arity} has no effect here: delivered answers are matched by the "
                "built-in ontology, whatever the folder"
            )
            wrong.append((message, "of-answers"))
        if predicate in self._closure_only and self._directions.intersection(map(str, row)):
            message = (
                f"{predicate}/{arity} is for relations without components; directions exclude "
                "and follow from each other by their components"
            )
            wrong.append((message, "direction"))
        if predicate == "component" and str(row[0]) in self._axioms:
            axiom = self._axioms[str(row[0])]
            message = f"component/3 is for directions, and {row[0]} is said to be {axiom}"
            wrong.append((message, "direction"))
        if predicate == "interval" and row[-2] > row[-1]:
            wrong.append((f"the interval from {row[-2]} to {row[-1]} is empty", "interval"))
        for message, *how in wrong:
            complain(OntologyError(message, *fact.place, *how))

    def check_rule(self, rule: ast.AST, term: ast.AST) -> None:
        """Check the constants in an atom of a rule.

        Raises:
            OntologyError: If a constant is invalid.
        """
        key = signature(term)
        kinds = vocabulary().get(key, audited().get(key, ()))
        for position, (kind, argument) in enumerate(zip(kinds, term.arguments, strict=False), 1):
            if not is_constant(argument):
                continue
            symbolic = argument.ast_type is ast.ASTType.SymbolicTerm
            value = argument.symbol if symbolic else clingo.Function(argument.name)
            for message, code, mend in self._wrong(key, position, kind, value):
                raise _at(rule, message, code, mend)

    def check_body(self, rule: ast.AST) -> None:
        """Check that the body of a rule only uses relations that the closure decides.

        Raises:
            OntologyError: If it uses a direction, which only the layout decides.
        """
        for term in atoms_in(rule.body):
            name = str(term.arguments[0]) if signature(term) == HOLDS else ""
            if name in self._directions - self._closed:
                message = (
                    f"{term} is not told from what the rules derive: the layout decides where "
                    f"things lie, by component/3 of {name}"
                )
                raise _at(rule, message, "direction-in-body")

    def _wrong(
        self, key: Signature, position: int, kind: str, value: clingo.Symbol
    ) -> list[tuple[str, str, str]]:
        """Return the errors of a value: message, code and remedy. Empty if the value is valid."""
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
        message, mend = _not_a(kind, value, position, key, self._allowed.get(kind, ()))
        return [(message, code, mend)]


def _declared_by() -> dict[str, str]:
    """Map a kind of argument to the predicate that declares its values as first argument."""
    return {str(kind): str(predicate) for kind, predicate in declarations()["declared_by"]}


_FEW = 3
"""Maximum number of values for which a message keeps their own order."""


def _spelled(kind: str) -> str:
    """Describe the possible values of a kind of argument; empty if authors choose the values."""
    for name, text in declarations()["spelled"]:
        if str(name) == kind:
            return text.string
    values = domains().get(kind, ())
    if len(values) > _FEW:
        return f"one of {', '.join(sorted(values))}"
    return f"{', '.join(values[:-1])} or {values[-1]}" if values else ""


def _not_a(
    kind: str, value: clingo.Symbol, position: int, key: Signature, allowed: Iterable[str]
) -> tuple[str, str]:
    place = f"argument {position} of {key[0]}/{key[1]}"
    is_text = value.type is clingo.SymbolType.String
    text = value.string if is_text else ""
    spelled = _spelled(kind)
    names = sorted(name for name in allowed if re.fullmatch(r"\w+", name))
    near = difflib.get_close_matches(text or str(value), names, n=1, cutoff=0.5)
    hint = mend = ""
    if kind == "text":
        hint = f'; a text stands in quotes: "{value}"' if not is_text else "; it says nothing"
        mend = "Put it in quotes." if not is_text else "Write a text, or leave the fact out."
    elif is_text and (not spelled or spelled.startswith("one of")):
        name = re.sub(r"\W+", "_", text.strip().lower()).strip("_")
        spelled = near[0] if near else name
        hint = f"; a {kind} stands without quotes" + (f": {spelled}" if spelled else "")
        mend = f"Write {spelled or f'the name of a {kind}'}, without quotes."
    elif spelled:
        hint = f"; it is {spelled}"
        mend = f"Write {spelled}."
    elif near:
        hint = f"; did you mean {near[0]}?"
        how = _declared_by().get(kind)
        mend = f"Write {near[0]}" + (f", or declare {value} with {how}." if how else ".")
    elif kind in (declared_by := _declared_by()):
        hint = f" (a {kind} is declared by {declared_by[kind]})"
    if kind == "family" and not is_text:
        return f"family {value} in {place} is used by no profile (uses/2){hint}", mend
    named = kind.replace("_", " ")
    return f"unknown {named} {value} in {place}{hint}", mend
