"""Solve one trace with clingo-dl under assumptions (Eqs. status and repair).

A trace becomes one small program: a fact for each relation instance, `rules/layout.lp` and, if a
claim or a relation needs them, `rules/refutation.lp` and `rules/closure.lp`. Every instance is an
assumption literal. Each context, and each claim on top of it, is therefore one solver call on the
same ground program. Things are numbered slots: their names never reach clingo.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

import clingo
from clingo import ast
from clingo.backend import HeuristicType
from clingodl import ClingoDLTheory

from symbouq.limits import check_result, check_time, meter, running
from symbouq.ontology.recording import add_program, is_recording
from symbouq.ontology.source import ground, new_control, rule_statements
from symbouq.ontology.tables import Ontology

Atom = tuple[int, int, int]
"""(reading, subject slot, object slot). The reading is the meaning of a relation in a role. Equal
atoms share one assumption literal.
"""

Group = frozenset[Atom]
"""The relations of one claim. They are queried together."""


@cache
def rules_text(*names: str) -> str:
    """Return rule files as program text, with their `&diff` atoms rewritten for clingo-dl.

    Rewriting is slow, so it is done once per process. The text is then added to each program.
    """
    theory = ClingoDLTheory()  # type: ignore[no-untyped-call]
    statements: list[ast.AST] = []
    for statement in rule_statements(*names):
        theory.rewrite_ast(statement, statements.append)
    return "\n".join(map(str, statements))


@cache
def _symbol(name: str, *numbers: int) -> clingo.Symbol:
    return clingo.Function(name, [clingo.Number(number) for number in numbers])


def record(ontology: Ontology, atoms: Collection[Atom], groups: Collection[Group]) -> None:
    """Record the program for atoms that are decided without it."""
    if is_recording():
        program = TraceProgram(ontology, atoms, groups)
        if add_program(program.parts, program.facts):
            _grounded(program.parts, program.facts)


def ground_arcs(parts: Sequence[str], facts: str) -> list[tuple[tuple[int, int, int], bool]]:
    """Return the arcs of `rules/layout.lp` in a program, and for each arc, whether it holds
    unconditionally.

    Args:
        parts: Names of the rule files.
        facts: The facts.
    """
    control, _theory = _grounded(parts, facts)
    found = []
    for arc in control.symbolic_atoms.by_signature("arc", 3):
        x, y, length = (argument.number for argument in arc.symbol.arguments)
        found.append(((x, y, length), arc.is_fact))
    return found


def _grounded(
    parts: Sequence[str], facts: str, *options: str, large: bool = False
) -> tuple[clingo.Control, ClingoDLTheory]:
    """Ground a program made of rule files and facts.

    Args:
        parts: Names of the rule files.
        facts: The facts.
        options: Options of clingo.
        large: Whether the grounding may become large and has to be limited.

    Raises:
        LimitError: If grounding takes too long, or the program becomes too large.
    """
    check_time()
    control, complaints = new_control(*options)
    theory = ClingoDLTheory()  # type: ignore[no-untyped-call]
    theory.register(control)
    if large:
        meter(control)
    control.add("base", [], rules_text(*parts) + facts)
    ground(control, complaints, ", ".join(f"rules/{part}.lp" for part in parts))
    add_program(parts, facts, control)
    theory.prepare(control)
    return control, theory


def possible_modes(rules: str, facts: str, modes: Sequence[str]) -> list[bool]:
    """Whether a program has a model in each mode, with `mode(M)` as its only assumption.

    Args:
        rules: Name of a rule file.
        facts: Facts to add to the program.
        modes: Modes to check.

    Raises:
        LimitError: If checking takes too long, or the program becomes too large.
    """
    control, _theory = _grounded((rules,), facts, large=True)
    found: list[bool] = []
    for mode in modes:
        assumption = clingo.Function("mode", [clingo.Function(mode)]), True
        with running(control):
            result = control.solve([assumption])
        check_result(result)
        found.append(bool(result.satisfiable))
    return found


_SUPPORTED = "--supp-models"
"""clingo option that omits the check for unfounded sets. If all rules except choices are definite,
the existence of a model does not depend on this check.
"""

_MANY_THINGS = 40
"""Maximum number of things for which the closure is grounded without limits. Its size is cubic in
their number.
"""


class TraceProgram:
    """A program for a set of atoms, before grounding.

    Args:
        ontology: The tables of the profile.
        atoms: All atoms that may be in a context.
        groups: All groups that may be queried.

    Attributes:
        number: Maps an atom to its number.
        group: Maps a group to its number.
        closed: Whether the program includes the relational closure.
        parts: Names of the program's rule files.
        facts: Facts of the program.
        large: Whether the grounding may become large.
    """

    def __init__(
        self, ontology: Ontology, atoms: Collection[Atom], groups: Collection[Group] = ()
    ) -> None:
        self.number = {atom: n for n, atom in enumerate(atoms)}
        self.group = {group: g for g, group in enumerate(groups)}
        # Atoms decided only by the closure have no coordinates, but still need numbers.
        self.step = step = max(1, len(ontology.encoding.coordinates))
        used = {key for key, _, _ in atoms}.union(key for group in groups for key, _, _ in group)
        slots = {slot for atom in atoms for slot in atom[1:]}
        slots.update(s for group in groups for atom in group for s in atom[1:])
        self.closed = ontology.encoding.closes(used)
        self.large = self.closed and (len(slots) > _MANY_THINGS or bool(ontology.encoding.rules))
        facts = [ontology.encoding.facts[key] for key in used]
        facts += _pooled(
            "inst", (f"{n},{k},{u * step},{v * step}" for (k, u, v), n in self.number.items())
        )
        facts += _pooled(
            "ask",
            (
                f"{g},{k},{u * step},{v * step}"
                for group, g in self.group.items()
                for k, u, v in group
            ),
        )
        context = "relations" if self.closed else "points"
        if ontology.extent:
            context = "hulls" if ontology.encoding.spans(used) else "extents"
        self.parts = [context, "refutation"] if groups else [context]
        if ontology.encoding.denies(used):
            self.parts.append("denial")
        if self.closed:
            facts += [ontology.encoding.closure_facts, ontology.encoding.rules]
        if ontology.extent:
            facts.append(ontology.encoding.extent_facts)
            if context == "hulls":
                facts.append(ontology.encoding.hull_facts)
            # `within` applies to all axes alike. An axis that no relation of the trace bounds adds
            # nothing to the others.
            bounded = set().union(*(ontology.encoding.axes[key] for key in used))
            axes = [axis for axis in ontology.encoding.ends if axis in bounded] or [
                *ontology.encoding.ends
            ][:1]
            facts += [ontology.encoding.ends[axis] for axis in axes]
        if self.closed or ontology.extent:
            facts += _pooled("thing", (str(slot * step) for slot in sorted(slots)))
        self.facts = "".join(facts)


class Condition(Protocol):
    """Monotone condition on contexts: if it holds in a context, it holds in every larger one.

    Raises:
        LimitError: From every method, if a surrounding `time_limit` is over.
    """

    def holds(self, context: Iterable[Atom], /) -> bool:
        """Whether the condition holds in a context."""

    def core(self, context: Iterable[Atom], /) -> set[Atom] | None:
        """Return a part of a context in which the condition holds, not necessarily minimal. None if
        it does not hold in the context.
        """

    def widest(self, required: Iterable[Atom], wanted: Collection[Atom], /) -> set[Atom]:
        """Return the largest set of atoms in which the condition does not hold. If there are
        several, take the one with the earliest atoms.

        Args:
            required: Atoms that the set must contain. The condition does not hold for these alone.
            wanted: All atoms that the set may contain.
        """


class Solver(Protocol):
    """Decide contexts and groups over the atoms of one trace.

    Raises:
        LimitError: From every method, if a surrounding `time_limit` is over.
    """

    def feasible(self, context: Iterable[Atom], /) -> bool:
        """SAT(B): whether the context has a layout and a closure without clash."""

    def infeasibility(self) -> Condition:
        """Return the condition that a context is infeasible."""

    def entailment(self, group: Group, /) -> Condition:
        """Return the condition that a feasible context entails every relation of a group."""

    def exclusion(self, atom: Atom, /) -> Condition:
        """Return the condition that a context excludes an additional atom."""


class TraceSolver:
    """Decide contexts and groups over the atoms of one trace by a program.

    Args:
        ontology: The tables of the profile.
        atoms: All atoms that may be in a context.
        groups: All groups that may be queried.

    Raises:
        LimitError: From here and from every method, if a surrounding `time_limit` is over.
    """

    def __init__(
        self, ontology: Ontology, atoms: Collection[Atom], groups: Collection[Group] = ()
    ) -> None:
        program = TraceProgram(ontology, atoms, groups)
        # The theory must live as long as the control object.
        self._control, self._theory = _grounded(
            program.parts, program.facts, _SUPPORTED, large=program.large
        )
        symbols = self._control.symbolic_atoms
        self._on = {atom: _literal(symbols, _symbol("on", n)) for atom, n in program.number.items()}
        self._prefers = False
        self._refute = {
            group: _literal(symbols, _symbol("refute", g)) for group, g in program.group.items()
        }
        self._strict = [-_literal(symbols, _symbol("tolerate"))] if program.closed else []

    def feasible(self, context: Iterable[Atom]) -> bool:
        """SAT(B): whether the context has a layout and a closure without clash."""
        return not self.holds(self._strict, context)

    def infeasibility(self) -> Condition:
        """Return the condition that a context is infeasible."""
        return _Unsatisfied(self, self._strict)

    def entailment(self, group: Group) -> Condition:
        """Return the condition that a feasible context entails every relation of a group."""
        return _Unsatisfied(self, [*self._strict, self._refute[group]])

    def exclusion(self, atom: Atom) -> Condition:
        """Return the condition that a context excludes an additional atom."""
        return _Unsatisfied(self, [*self._strict, self._on[atom]])

    def holds(self, assumed: Sequence[int], context: Iterable[Atom]) -> bool:
        """Whether a context has no model under the given assumptions.

        Args:
            assumed: Literals of the program.
            context: The context.
        """
        assumptions = [*assumed, *(self._on[atom] for atom in context)]
        with running(self._control):
            result = self._control.solve(assumptions=assumptions)
        check_result(result)
        return not result.satisfiable

    def core(self, assumed: Sequence[int], context: Iterable[Atom]) -> set[Atom] | None:
        """Return a part of a context that has no model under the given assumptions; None if the
        context has a model.

        Args:
            assumed: Literals of the program.
            context: The context.
        """
        atoms = {self._on[atom]: atom for atom in context}
        with (
            running(self._control),
            self._control.solve(assumptions=[*assumed, *atoms], yield_=True) as handle,
        ):
            result = handle.get()
            check_result(result)
            if result.satisfiable:
                return None
            return {atoms[literal] for literal in handle.core() if literal in atoms}

    def widest(
        self, assumed: Sequence[int], required: Iterable[Atom], wanted: Collection[Atom]
    ) -> set[Atom]:
        """Return the largest set of atoms that has a model under the given assumptions. If there
        are several, take the one with the earliest atoms.

        The solver first decides the atoms in order: each is true unless earlier ones exclude it. No
        omitted atom can then be added.

        Args:
            assumed: Literals of the program.
            required: Atoms that the set must contain. They have a model under the assumptions.
            wanted: All atoms that the set may contain.
        """
        chosen = {self._on[atom]: atom for atom in wanted}
        others = (-literal for literal in self._on.values() if literal not in chosen)
        assumptions = [*dict.fromkeys([*assumed, *(self._on[atom] for atom in required)])]
        assumptions += [literal for literal in others if -literal not in assumed]
        with (
            self._preferring(),
            running(self._control),
            self._control.solve(assumptions=assumptions, yield_=True) as handle,
        ):
            check_result(handle.get())
            model = handle.model()
            assert model is not None  # the required atoms have a model
            return {atom for literal, atom in chosen.items() if model.is_true(literal)}

    @contextmanager
    def _preferring(self) -> Iterator[None]:
        """Make the solver decide the atoms first, in order, and as true."""
        if not self._prefers:
            with self._control.backend() as backend:
                for level, literal in enumerate(reversed(self._on.values()), start=1):
                    backend.add_heuristic(literal, HeuristicType.True_, level, 1, [])
            self._prefers = True
        settings: Any = self._control.configuration.solver
        usual = settings.heuristic
        settings.heuristic = "Domain"
        try:
            yield
        finally:
            settings.heuristic = usual


class _Unsatisfied:
    """The condition that a context has no model under the given assumptions.

    Args:
        solver: The solver.
        assumed: Literals of its program.
    """

    def __init__(self, solver: TraceSolver, assumed: Sequence[int]) -> None:
        self._solver = solver
        self._assumed = assumed

    def holds(self, context: Iterable[Atom]) -> bool:
        return self._solver.holds(self._assumed, context)

    def core(self, context: Iterable[Atom]) -> set[Atom] | None:
        return self._solver.core(self._assumed, context)

    def widest(self, required: Iterable[Atom], wanted: Collection[Atom]) -> set[Atom]:
        return self._solver.widest(self._assumed, required, wanted)


def clashes(ontology: Ontology, atoms: Collection[Atom]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the clashes in the closure of the given atoms: codes and relations, in order. Empty if
    only the layout is at fault.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
    """
    program = TraceProgram(ontology, atoms)
    if not program.closed:
        return []
    control, _theory = _grounded(program.parts, program.facts, large=program.large)
    symbols = control.symbolic_atoms
    assumptions = [_literal(symbols, _symbol("tolerate"))]
    assumptions += [_literal(symbols, _symbol("on", n)) for n in program.number.values()]
    with running(control), control.solve(assumptions=assumptions, yield_=True) as handle:
        check_result(handle.get())
        model = handle.model()
        if model is None:
            return []
        found = {a.arguments[0] for a in model.symbols(atoms=True) if a.name == "clash"}
    return [(code.name, tuple(map(str, code.arguments))) for code in sorted(found)]


def repair(ontology: Ontology, kept: Collection[Atom], generated: Sequence[Atom]) -> int:
    """Return the minimum number of generated relation instances to remove so that the rest is
    consistent with the kept atoms, which are feasible (Eq. repair).

    Args:
        ontology: The tables of the profile.
        kept: The scene and the relation to be tested.
        generated: Earlier generated instances, in which duplicates count.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
    """
    program = TraceProgram(ontology, dict.fromkeys([*kept, *generated]))
    facts = "".join(f"generated({n},{program.number[a]})." for n, a in enumerate(generated))
    # Core-guided optimization, because branch and bound is slow with many disjoint conflicts.
    control, _theory = _grounded(
        [*program.parts, "repair"],
        program.facts + facts,
        _SUPPORTED,
        "--opt-strategy=usc",
        large=program.large,
    )
    symbols = control.symbolic_atoms
    assumptions = [_literal(symbols, _symbol("on", program.number[atom])) for atom in kept]
    if program.closed:
        assumptions.append(-_literal(symbols, _symbol("tolerate")))
    cost = 0
    with running(control), control.solve(assumptions=assumptions, yield_=True) as handle:
        for model in handle:
            cost = model.cost[0]
        check_result(handle.get())
    return cost


def layout(
    ontology: Ontology, atoms: Collection[Atom], beside: Collection[Atom] = ()
) -> dict[tuple[int, int], int] | None:
    """Return one feasible layout of the given atoms, or None. It maps (slot, index in the
    ontology's coordinates) to a value. Unconstrained coordinates are left out.

    Args:
        ontology: The tables of the profile.
        atoms: Atoms that hold.
        beside: Atoms that need not hold. Their things and axes also get coordinates.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
    """
    program = TraceProgram(ontology, dict.fromkeys([*atoms, *beside]))
    control, theory = _grounded(program.parts, program.facts, large=program.large)
    symbols = control.symbolic_atoms
    held = frozenset(atoms)
    assumptions = []
    for atom, n in program.number.items():
        literal = _literal(symbols, _symbol("on", n))
        assumptions.append(literal if atom in held else -literal)
    if program.closed:
        assumptions.append(-_literal(symbols, _symbol("tolerate")))
    places: dict[tuple[int, int], int] = {}
    with running(control), control.solve(assumptions=assumptions, yield_=True) as handle:
        check_result(handle.get())
        model = handle.model()
        if model is None:
            return None
        theory.on_model(model)
        for coordinate, value in theory.assignment(model.thread_id):
            places[divmod(coordinate.arguments[0].number - 1, program.step)] = int(str(value))
    return places


def _pooled(predicate: str, rows: Iterable[str]) -> list[str]:
    """Return the facts of one predicate as a single statement, which parses faster than many."""
    arguments = ";".join(rows)
    return [f"{predicate}({arguments})."] if arguments else []


def _literal(symbols: clingo.SymbolicAtoms, symbol: clingo.Symbol) -> int:
    atom = symbols[symbol]
    assert atom is not None  # derived from a fact of the program
    return atom.literal


def hitting_set(
    corrections: Sequence[frozenset[int]], claims: Collection[int], last: int
) -> frozenset[int]:
    """Return the best set of premises that meets every correction set: with the fewest claims, then
    the fewest premises, then the earliest (`rules/premises.lp`).

    Args:
        corrections: Sets of positions. At least one premise of each set must be present.
        claims: Positions of generated claims.
        last: The highest position.
    """
    facts = [f"last({last})."]
    facts += [f"claim({position})." for position in claims]
    facts += [f"correction({n},{p})." for n, s in enumerate(corrections) for p in s]
    control, _theory = _grounded(("premises",), "".join(facts))
    picked: frozenset[int] = frozenset()
    with running(control), control.solve(yield_=True) as handle:
        for model in handle:
            picked = frozenset(s.arguments[0].number for s in model.symbols(shown=True))
        check_result(handle.get())
    return picked
