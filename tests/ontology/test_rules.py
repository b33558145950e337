"""The rule files: every program of theirs grounds without a complaint, a name mistyped is
complained about, and what they derive has names that nobody else uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from clingo import ast
from clingodl import ClingoDLTheory

from symbouq.auditing.answers import answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import OntologyError
from symbouq.logic import programs as logic
from symbouq.logic.programs import (
    TraceSolver,
    clashes,
    ground_arcs,
    hitting_set,
    layout,
    repair,
)
from symbouq.ontology import compilation
from symbouq.ontology.compilation import compiling_program, compiling_rules
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.source import (
    ASSERTED,
    PRIVATE,
    QUERIED,
    Source,
    atoms_in,
    data_folder,
    ground,
    lp_files,
    new_control,
    rule_files,
    rule_statements,
    signature,
    statements,
    vocabulary,
)
from symbouq.records import Trace, make_record

LIBRARY = OntologyLibrary()

PROGRAMS = (
    ("compile", "check"),
    ("hulls", "refutation", "denial", "repair"),
    ("premises",),
    ("events",),
    ("reading",),
)
"""The largest programs: the others leave some of their files out."""


def program_of(file: Path) -> tuple[str, ...]:
    """The program that a rule file is grounded in."""
    return next(parts for parts in PROGRAMS if file in rule_files(*parts))


@pytest.mark.parametrize("profile", LIBRARY.profiles)
def test_every_program_grounds_without_a_complaint(profile: str) -> None:
    """All combinations of rule files that a profile is audited with: a complaint is an error."""
    tables = LIBRARY.ontology(profile)
    laid_out = [
        r
        for r in tables.relations.family
        if tables.encoding.readings[QUERIED, r] not in tables.encoding.relational
    ]
    for relations in filter(None, (laid_out, list(tables.relations.family))):
        trusted = [(tables.encoding.readings[ASSERTED, r], 0, 1) for r in relations]
        claimed = [(tables.encoding.readings[QUERIED, r], 1, 2) for r in relations]
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


def mutants(file: Path) -> Iterator[tuple[int, str, ast.AST]]:
    """Every rule of a file with one predicate mistyped: its position, the name, the rule."""
    for position, rule in enumerate(statements([file])):
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


def known_to(rules: list[ast.AST]) -> str:
    """What keeps a rule from being complained about for what the others derive or are given."""
    heads = [rule.head for rule in rules if rule.ast_type is ast.ASTType.Rule]
    derived = sorted(set(map(signature, atoms_in(heads))))
    given = [str(rule) for rule in rules if rule.ast_type is ast.ASTType.Defined]
    return "".join([*given, *(f"#defined {name}/{arity}." for name, arity in derived)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("compile", 230), ("check", 70), ("layout", 6), ("refutation", 9), ("denial", 15), ("closure", 35),
        ("extent", 14), ("hull", 20), ("repair", 5), ("premises", 9), ("events", 400), ("reading", 500),
    ],
)  # fmt: skip
def test_a_name_mistyped_in_a_rule_is_complained_about(
    name: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    defined = compiling_rules()[len(rule_statements("compile", "check")) :]
    found = 0
    for file in rule_files(name):
        parts = program_of(file)
        program = {part: list(statements([part])) for part in rule_files(*parts)}
        known = known_to([rule for part in program.values() for rule in part])
        for position, mistyped, mutant in mutants(file):
            found += 1
            rules = program | {file: [*program[file]]}
            rules[file][position] = mutant
            every = [rule for part in rules.values() for rule in part]
            with pytest.raises(OntologyError, match=mistyped):
                if "compile" in parts:
                    monkeypatch.setattr(
                        compilation, "compiling_rules", lambda e=every: [*e, *defined]
                    )
                    compiling_program(Source(), "nine_way", "mutant")
                elif "reading" in parts:
                    # The whole takes a second for each; what it derives is said to be there.
                    control, complaints = new_control()
                    control.add("base", [], f"{known}{mutant}")
                    ground(control, complaints, "mutant")
                else:
                    text = "".join(rewritten(str(rule)) for rule in every)
                    monkeypatch.setattr(logic, "rules_text", lambda *_parts, t=text: t)
                    ground_arcs(parts, "")
    assert found >= least


def test_no_negated_literal_has_a_pool() -> None:
    """`not p((a; b))` makes two rules, the second for what is not b: it holds of nearly all."""
    for file in lp_files(data_folder("rules")):
        assert not re.search(r"\bnot \w+\([^()]*\([^()]*;", file.read_text()), file


def test_what_several_reading_rule_files_derive_is_described_once() -> None:
    """Two files that each mean something else by a name would speak for each other."""
    files = rule_files("reading")
    deriving: dict[tuple[str, int], set[Path]] = {}
    for file in files:
        for rule in statements([file]):
            if rule.ast_type is ast.ASTType.Rule:
                for key in (signature(term) for term in atoms_in([rule.head])):
                    deriving.setdefault(key, set()).add(file)
    headers = {file: file.read_text().partition("*%")[0] for file in files}
    for name, arity in (key for key, those in deriving.items() if len(those) > 1):
        described = [f for f, text in headers.items() if re.search(rf"^    {name}\(", text, re.M)]
        assert len(described) == 1, f"{name}/{arity}: {described}"


def test_every_rule_file_is_part_of_a_program() -> None:
    entries = {file for file in lp_files(data_folder("rules")) if "#include" in file.read_text()}
    parts = {file for program in PROGRAMS for file in rule_files(*program)}
    assert parts | entries | {*rule_files("vocabulary")} == {*lp_files(data_folder("rules"))}
    for file in entries:  # which hold nothing else
        code = re.sub(r"%\*.*?\*%", "", file.read_text(), flags=re.DOTALL)
        assert all(line.startswith("#include ") for line in code.split("\n") if line)


def test_an_entry_file_includes_what_lies_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not what lies in the working folder under the same name."""
    (tmp_path / "layout.lp").write_text("nonsense")
    monkeypatch.chdir(tmp_path)
    assert rule_files("points") == [data_folder("rules") / "layout.lp"]


def test_names_of_the_rules_are_their_own() -> None:
    """No rule derives a predicate that an ontology states, and none has the name of a helper."""
    for file in (file for program in PROGRAMS for file in rule_files(*program)):
        for rule in statements([file]):
            assert PRIVATE not in str(rule)
            if rule.ast_type is ast.ASTType.Rule:
                derived = {signature(term) for term in atoms_in([rule.head])}
                assert not derived & set(vocabulary()), f"{file.name}: {rule}"
