"""The rule files: every program of theirs grounds without a complaint, a name mistyped is
complained about, and what they derive has names that nobody else uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count

import pytest
from clingo import ast
from clingodl import ClingoDLTheory

from symbouq.auditing.answering.questions import answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import OntologyError
from symbouq.logic import programs as logic
from symbouq.logic.programs import (
    TraceSolver,
    clashes,
    hitting_set,
    layout,
    observed_program,
    repair,
)
from symbouq.ontology import library as ontology
from symbouq.ontology.library import (
    ASSERTED,
    QUERIED,
    OntologyLibrary,
    compiling_program,
    compiling_rules,
)
from symbouq.ontology.source import (
    PRIVATE,
    Source,
    atoms_in,
    data_folder,
    signature,
    statements,
    vocabulary,
)
from symbouq.records import Trace, make_record

LIBRARY = OntologyLibrary()

TRACE_RULES = ("layout", "refutation", "closure", "extent", "repair")
"""The files of the largest program that a trace is solved with; the others leave some out."""


def parts_of(name: str) -> tuple[str, ...]:
    """The rule files that are grounded together with one."""
    tables = ("compile", "check")
    return tables if name in tables else TRACE_RULES if name in TRACE_RULES else (name,)


@pytest.mark.parametrize("profile", LIBRARY.profiles)
def test_every_program_grounds_without_a_complaint(profile: str) -> None:
    """All combinations of rule files that a profile is audited with: a complaint is an error."""
    tables = LIBRARY.ontology(profile)
    laid_out = [r for r in tables.families if tables.readings[QUERIED, r] not in tables.closed_keys]
    for relations in filter(None, (laid_out, list(tables.families))):
        trusted = [(tables.readings[ASSERTED, r], 0, 1) for r in relations]
        claimed = [(tables.readings[QUERIED, r], 1, 2) for r in relations]
        for groups in ((), [frozenset([atom]) for atom in claimed]):
            solver = TraceSolver(tables, dict.fromkeys([*trusted, *claimed]), groups)
            assert solver.feasible([])
            assert solver.feasible(trusted[:1])
        assert repair(tables, [], claimed[:1]) == 0
        assert clashes(tables, trusted[:1]) == []
        assert layout(tables, trusted[:1], claimed) is not None


def test_the_other_programs_ground_without_a_complaint() -> None:
    assert hitting_set([frozenset({0, 1})], [1], 1) == {0}
    trace = make_record(
        Trace,
        {
            "id": "1",
            "scene": ["Mary walked out of the kitchen."],
            "question": "Mary was in the kitchen.",
            "answer_space": ["entailment", "neutral", "contradiction"],
            "reasoning": [],
            "conclusion": "",
            "profile": "event",
        },
    )
    assert answer(TraceAuditor(), trace).status == "answered"


class _Mistyped(ast.Transformer):
    """Mistypes one predicate of what a rule asks for: of its body, or of a condition in its head.

    Args:
        which: Which of them, from 0.
    """

    def __init__(self, which: int) -> None:
        self._left = which
        self._head = False
        self.name = ""

    def rule(self, rule: ast.AST) -> ast.AST:
        """The rule with a name mistyped; unchanged where there are not so many."""
        if "head" in rule.keys():  # noqa: SIM118 (no mapping)
            self._head = True
            rule = rule.update(head=self.visit(rule.head))
            self._head = False
        return rule.update(body=[self.visit(part) for part in rule.body])

    def visit_ConditionalLiteral(self, node: ast.AST) -> ast.AST:  # noqa: N802 (clingo's naming)
        head, self._head = self._head, False
        literal = node.literal if head else self.visit(node.literal)
        found = node.update(
            literal=literal, condition=[self.visit(part) for part in node.condition]
        )
        self._head = head
        return found

    def visit_SymbolicAtom(self, node: ast.AST) -> ast.AST:  # noqa: N802 (clingo's naming)
        if self._head:
            return node
        self._left -= 1
        if self._left != -1:
            return node
        self.name = f"{node.symbol.name}_mistyped"
        return node.update(symbol=node.symbol.update(name=self.name))


def mutants(name: str) -> Iterator[tuple[int, str, ast.AST]]:
    """Every rule of a file with one predicate mistyped: its position, the name, the rule."""
    for position, rule in enumerate(statements([data_folder("rules") / f"{name}.lp"])):
        if "body" not in rule.keys():  # noqa: SIM118 (no mapping)
            continue
        for which in count():
            mistyped = _Mistyped(which)
            mutant = mistyped.rule(rule)
            if not mistyped.name:
                break
            yield position, mistyped.name, mutant


@cache
def rewritten(rule: str) -> str:
    """A rule as clingo-dl takes it."""
    lines: list[ast.AST] = []
    theory = ClingoDLTheory()  # type: ignore[no-untyped-call]
    ast.parse_string(rule, lambda statement: theory.rewrite_ast(statement, lines.append))
    return "".join(map(str, lines))


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("compile", 250), ("check", 70), ("layout", 6), ("refutation", 9), ("closure", 35),
        ("extent", 19), ("repair", 5), ("premises", 9), ("events", 400),
    ],
)  # fmt: skip
def test_a_name_mistyped_in_a_rule_is_complained_about(
    name: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = name in ("compile", "check")
    program = {
        part: list(statements([data_folder("rules") / f"{part}.lp"])) for part in parts_of(name)
    }
    defined = [s for s in compiling_rules() if s.ast_type is ast.ASTType.Defined]
    found = 0
    for position, mistyped, mutant in mutants(name):
        found += 1
        rules = program | {name: [*program[name]]}
        rules[name][position] = mutant
        every = [rule for part in rules.values() for rule in part]
        with pytest.raises(OntologyError, match=mistyped):
            if tables:
                monkeypatch.setattr(ontology, "compiling_rules", lambda e=every: [*e, *defined])
                compiling_program(Source(), "nine_way", "mutant")
            else:
                text = "".join(rewritten(str(rule)) for rule in every)
                monkeypatch.setattr(logic, "rules_text", lambda *_parts, t=text: t)
                observed_program(parts_of(name), "", "")
    assert found >= least


def test_names_of_the_rules_are_their_own() -> None:
    """No rule derives a predicate that an ontology states, and none has the name of a helper."""
    for file in sorted(data_folder("rules").glob("*.lp")):
        for rule in statements([file]):
            assert PRIVATE not in str(rule)
            if rule.ast_type is ast.ASTType.Rule and file.stem != "vocabulary":
                derived = {signature(term) for term in atoms_in([rule.head])}
                assert not derived & set(vocabulary()), f"{file.name}: {rule}"
