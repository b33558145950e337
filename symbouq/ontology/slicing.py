"""The part of a program that can fire beside some facts.

What a rule costs the grounder does not depend on whether it ever fires. Where the rules are many
and the facts concern few of them, that part alone has the same stable models for a tenth of the
time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import clingo
from clingo import ast

from symbouq.ontology.source import Signature, atoms_in, is_constant
from symbouq.ontology.store import Store

_Pattern = tuple[str | None, ...]
"""A predicate and its arguments: names and texts as they are written, and None for whatever else
there is, a number too, which may stand for anything.
"""

_OTHER = ""
"""A constant that no rule has."""

_NUMBER = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*")|\b\d+')
"""A number, or a text, in which none is looked for."""


class _Analysis(NamedTuple):
    """A program as its slices are made of it; JSON values.

    Attributes:
        others: Its statements that are in every slice.
        rules: Its rules.
        literals: The patterns of positive literals of bodies; a literal's number is its place.
        needs: How many of the literals each rule needs.
        needed_by: The rules that need each literal.
        gives: The literals that the head of each rule can meet.
    """

    others: list[str]
    rules: list[str]
    literals: list[_Pattern]
    needs: list[int]
    needed_by: list[list[int]]
    gives: list[list[int]]


def _analysis(text: str) -> _Analysis:
    statements: list[ast.AST] = []
    ast.parse_string(text, statements.append)
    # One rule for each alternative of its pools: few of the words of a pool are in a sentence.
    rules = [r for s in statements if s.ast_type is ast.ASTType.Rule for r in s.unpool()]
    bodies = [{*map(_pattern, _needed(rule))} for rule in rules]
    others = [str(s) for s in statements if s.ast_type is ast.ASTType.ShowSignature]
    literals = _Literals(dict.fromkeys(pattern for body in bodies for pattern in body))
    numbers = {pattern: n for n, pattern in enumerate(literals.listed)}
    needs = [{numbers[pattern] for pattern in body} for body in bodies]
    needed_by: list[list[int]] = [[] for _ in numbers]
    for rule, each in enumerate(needs):
        for literal in each:
            needed_by[literal].append(rule)
    gives = [
        sorted({n for atom in atoms_in([rule.head]) for n in literals.met_by(_pattern(atom))})
        for rule in rules
    ]
    texts = [str(rule) for rule in rules]
    return _Analysis(others, texts, literals.listed, [*map(len, needs)], needed_by, gives)


class _Literals:
    """Literals that atoms may meet.

    Args:
        listed: Their patterns.

    Attributes:
        listed: The same.
        constants: What stands in the patterns.
    """

    def __init__(self, listed: Iterable[_Pattern]) -> None:
        self.listed = [*listed]
        self.constants = {c for pattern in self.listed for c in pattern[1:]} - {None}
        self._by_name: dict[Signature, list[tuple[_Pattern, int]]] = defaultdict(list)
        for n, pattern in enumerate(self.listed):
            self._by_name[pattern[0] or "", len(pattern)].append((pattern, n))
        self._met: dict[_Pattern, tuple[int, ...]] = {}

    def met_by(self, pattern: _Pattern) -> tuple[int, ...]:
        """The literals that an atom of some pattern can meet."""
        if pattern not in self._met:
            there = self._by_name.get((pattern[0] or "", len(pattern)), ())
            self._met[pattern] = tuple(n for other, n in there if _agree(pattern, other))
        return self._met[pattern]


class Slices:
    """Gives those rules of a program that can fire beside some facts.

    A rule can fire where each positive literal of its body has the pattern of a fact, or of the
    head of a rule that can fire. Other literals are taken to hold. What nothing derives in a part
    may be derived in the whole: ground it with the option `-Wno-atom-undefined`.

    Args:
        text: The program, without `#external` and `#script`.
        store: Where what is made of it is kept, so that it is made once.
    """

    def __init__(self, text: str, store: Store | None = None) -> None:
        kept = store.load("analysis") if store is not None else None
        found = _analysis(text) if kept is None else _Analysis(*kept)
        if kept is None and store is not None:
            store.save("analysis", found)
        self._others, self._rules, _, self._needs, self._needed_by, self._gives = found
        self._literals = _Literals(map(tuple, found.literals))

    def beside(self, facts: Iterable[str]) -> str:
        """The text of the part that can fire beside some facts.

        Args:
            facts: The facts, each with a full stop at its end.
        """
        left = [*self._needs]
        fired = [rule for rule, needs in enumerate(left) if not needs]
        new = {n for fact in facts for n in self._literals.met_by(self._pattern(fact))}
        new.update(n for rule in fired for n in self._gives[rule])
        met: set[int] = set()
        while new:
            literal = new.pop()
            met.add(literal)
            for rule in self._needed_by[literal]:
                left[rule] -= 1
                if not left[rule]:
                    fired.append(rule)
                    new.update(n for n in self._gives[rule] if n not in met)
        return "\n".join([*self._others, *(self._rules[rule] for rule in sorted(fired)), ""])

    def _pattern(self, fact: str) -> _Pattern:
        """A fact's pattern, with what no rule names as one and the same constant."""
        name, *constants = _parsed(_NUMBER.sub(lambda found: found["text"] or "0", fact))
        return name, *(
            c if c in self._literals.constants or c is None else _OTHER for c in constants
        )


@lru_cache(1 << 16)
def _parsed(fact: str) -> _Pattern:
    symbol = clingo.parse_term(fact.rstrip("."))
    return symbol.name, *(
        None if argument.type is clingo.SymbolType.Number else str(argument)
        for argument in symbol.arguments
    )


def _needed(rule: ast.AST) -> Iterator[ast.AST]:
    """The function terms of the positive atoms in a rule's body."""
    for part in rule.body:
        positive = part.ast_type is ast.ASTType.Literal and part.sign == ast.Sign.NoSign
        if positive and part.atom.ast_type is ast.ASTType.SymbolicAtom:
            yield part.atom.symbol


def _pattern(symbol: ast.AST) -> _Pattern:
    """The pattern of an atom."""
    return symbol.name, *(
        str(term) if is_constant(term) and not _is_number(term) else None
        for term in symbol.arguments
    )


def _is_number(term: ast.AST) -> bool:
    is_symbol = term.ast_type is ast.ASTType.SymbolicTerm
    return is_symbol and term.symbol.type is clingo.SymbolType.Number


def _agree(one: _Pattern, other: _Pattern) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))
