"""The layout of one trace by shortest paths (Eqs. status and repair).

Where the layout alone decides, a trace is a set of integer difference constraints, and a program
for each trace grounds the same few rules over again. Here the rules are grounded once for each
reading, between two placeholders; what they derive, the arcs of `rules/layout.lp`, is laid between
the things of a trace in their stead. Arcs are feasible together unless some of them are a cycle of
negative length, and whatever a context decides rests on such cycles. They are found one arc at a
time from values that satisfy all arcs before it (Cotton and Maler, "Fast and flexible difference
constraint propagation for DPLL(T)", SAT 2006, which is how clingo-dl finds them).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from symbouq.limits import check_time, untimed
from symbouq.logic.programs import (
    Atom,
    Condition,
    Group,
    Solver,
    TraceProgram,
    TraceSolver,
    ground_arcs,
    record,
)
from symbouq.ontology.tables import Ontology

Arc: TypeAlias = tuple[int, int, int]
"""(x, y, h): coordinate x lies at most h beyond coordinate y, numbered as in `rules/layout.lp`."""


def solver_for(
    ontology: Ontology, atoms: Collection[Atom], groups: Collection[Group] = ()
) -> Solver:
    """What decides contexts and groups over some atoms: shortest paths where the layout alone
    does and nothing is denied, which leaves open what fails; else a program.

    Args:
        ontology: The tables of the profile.
        atoms: Every atom that a context may hold.
        groups: Every group that may be asked for.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
    """
    keys = {key for key, _, _ in atoms}.union(key for group in groups for key, _, _ in group)
    if ontology.encoding.closes(keys) or ontology.encoding.denies(keys):
        return TraceSolver(ontology, atoms, groups)
    record(ontology, atoms, groups)
    return DifferenceSolver(ontology)


class _Pattern(NamedTuple):
    """What the rules make of a reading of two things, with `x` and `y` in the coordinates of the
    first from 1, and in those of the second after them.

    Attributes:
        own: What holds of the things themselves: no low end lies beyond the high one.
        stated: What holds of them where the reading does.
        denied: Of which one holds where the reading fails.
    """

    own: tuple[Arc, ...]
    stated: tuple[Arc, ...]
    denied: tuple[Arc, ...]


class _Patterns:
    """The patterns of a profile.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
        self._known: dict[int, _Pattern] = {}

    def of(self, key: int) -> _Pattern:
        """The pattern of a reading, between two things that may turn out to be one."""
        found = self._known.get(key)
        if found is None:
            atom = key, 0, 1
            held = TraceProgram(self._ontology, [atom])
            asked = TraceProgram(self._ontology, [], [frozenset([atom])])
            with untimed():
                arcs = ground_arcs(held.parts, held.facts)
                # Without what holds of extents, which may be just what fails here.
                failing = ground_arcs(("points", "refutation"), asked.facts)
            found = self._known[key] = _Pattern(
                tuple(arc for arc, certain in arcs if certain),
                tuple(arc for arc, certain in arcs if not certain),
                tuple(arc for arc, _ in failing),
            )
        return found


_patterns = lru_cache(maxsize=8)(_Patterns)
"""The patterns of the profiles that were last in use."""

Marked: TypeAlias = tuple[Arc, int]
"""An arc with its bit, by which cycles are told; those that hold whatever the context is share
`_ALWAYS`."""

_ALWAYS = 1


class _Layout:
    """Values that satisfy some arcs.

    Args:
        steps: Coordinate to the arcs out of it: where they lead, how far at most, and their bit.
        held: The bits of the arcs that are satisfied.
        values: Coordinate to its value; 0 where it has none.
    """

    def __init__(
        self, steps: dict[int, list[tuple[int, int, int]]], held: int, values: dict[int, int]
    ) -> None:
        self._steps = steps
        self._values = values
        self.held = held

    def part(self, held: int) -> _Layout:
        """The same values for some of the arcs."""
        return _Layout(self._steps, held, self._values)

    def add(self, arcs: Iterable[Marked]) -> int | None:
        """Satisfies more arcs, one by one; the bits of a cycle, if it cannot, with which the values
        are good for nothing.
        """
        for arc, bit in arcs:
            if bit & self.held and bit != _ALWAYS:
                continue
            check_time()
            changed, cycle = self._changed(arc, bit)
            if cycle is not None:
                return cycle
            if changed:
                self._values = {**self._values, **changed}
            self.held |= bit
        return None

    def conflict(self, arcs: Sequence[Marked]) -> int | None:
        """The bits of a cycle that more arcs would close; None if there is room for them."""
        if len(arcs) == 1:
            return self._changed(*arcs[0])[1]
        return self.part(self.held).add(arcs)

    def _changed(self, arc: Arc, bit: int) -> tuple[dict[int, int], int | None]:
        """The values to change so that an arc is satisfied, or the bits of the cycle it closes.

        Each value falls no further than the arcs make it. A cycle of negative length has the arc
        in it, and makes the arc's own start fall.
        """
        first, start, length = arc
        if first == start:
            return {}, bit if length < 0 else None
        values = self._values
        value = values.get(start, 0) + length
        if values.get(first, 0) <= value:
            return {}, None
        changed = {first: value}
        ways = {first: (start, bit)}
        ahead = deque([first])
        while ahead:
            here = ahead.popleft()
            reached = changed[here]
            for there, length, step in self._steps.get(here, ()):
                value = reached + length
                if not self.held & step or changed.get(there, values.get(there, 0)) <= value:
                    continue
                if there == start:
                    while here != start:
                        step |= ways[here][1]
                        here = ways[here][0]
                    return {}, step
                changed[there] = value
                ways[there] = here, step
                ahead.append(there)
        return changed, None


class DifferenceSolver:
    """Decides contexts and groups of atoms whose readings the layout alone decides.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        self._patterns = _patterns(ontology)
        self._size = max(1, len(ontology.encoding.coordinates))
        self._steps: dict[int, list[tuple[int, int, int]]] = {}
        self._stated: dict[Atom, Sequence[Marked]] = {}
        self._denied: dict[Atom, Sequence[Marked]] = {}
        self._bits: dict[Atom, int] = {}
        self._own: set[Arc] = set()
        self._free = 2 * _ALWAYS
        self._largest = _Layout(self._steps, _ALWAYS, {})

    def feasible(self, context: Iterable[Atom]) -> bool:
        """SAT(B): whether the context has a layout."""
        return not self.infeasibility().holds(context)

    def infeasibility(self) -> Condition:
        """The condition that a context is infeasible."""
        return _Conflict(self, [()])

    def entailment(self, group: Group) -> Condition:
        """The condition that a context entails every relation of a group."""
        return _Conflict(self, [(arc,) for atom in group for arc in self._failing(atom)])

    def exclusion(self, atom: Atom) -> Condition:
        """The condition that a context leaves no room for one more atom."""
        return _Conflict(self, [self.arcs(atom)])

    def arcs(self, atom: Atom) -> Sequence[Marked]:
        """The arcs of an atom."""
        found = self._stated.get(atom)
        if found is None:
            found = self._stated[atom] = self._marked(self._pattern(atom).stated, atom)
            self._bits[atom] = sum(bit for _, bit in found)
        return found

    def _failing(self, atom: Atom) -> Sequence[Marked]:
        """Arcs of which one holds where an atom does not."""
        found = self._denied.get(atom)
        if found is None:
            found = self._denied[atom] = self._marked(self._pattern(atom).denied, atom)
        return found

    def atoms(self, bits: int, context: Iterable[Atom]) -> set[Atom]:
        """The atoms of a context that have some of the bits."""
        return {atom for atom in context if self._bits[atom] & bits}

    def layout(self, context: Sequence[Atom]) -> tuple[_Layout, int | None]:
        """A layout of a context, or the bits of a cycle for which it has none.

        The values that satisfy the largest context so far satisfy every part of it.

        Raises:
            LimitError: If a surrounding `time_limit` is over.
        """
        check_time()
        known = self._bits
        bits = _ALWAYS
        for atom in context:
            if atom not in known:
                self.arcs(atom)
            bits |= known[atom]
        layout = self._largest.part(bits & self._largest.held)
        if layout.held == bits:
            return layout, None
        cycle = layout.add(arc for atom in context for arc in self._stated[atom])
        if cycle is None:
            self._largest = layout.part(bits)
        return layout, cycle

    def _marked(self, arcs: Iterable[Arc], atom: Atom) -> Sequence[Marked]:
        """Arcs of a pattern between the things of an atom, to which others lead from here on."""
        marked = []
        for x, y, length in self._placed(arcs, atom):
            self._steps.setdefault(y, []).append((x, length, self._free))
            marked.append(((x, y, length), self._free))
            self._free *= 2
        return marked

    def _pattern(self, atom: Atom) -> _Pattern:
        """The pattern of an atom; what holds of its things themselves holds from here on."""
        pattern = self._patterns.of(atom[0])
        for arc in self._placed(pattern.own, atom):
            if arc not in self._own:
                x, y, length = arc
                self._own.add(arc)
                self._steps.setdefault(y, []).append((x, length, _ALWAYS))
                self._largest.add([(arc, _ALWAYS)])
        return pattern

    def _placed(self, arcs: Iterable[Arc], atom: Atom) -> list[Arc]:
        """Arcs of a pattern between the things of an atom."""
        _, u, v = atom
        size = self._size
        first, second = u * size, (v - 1) * size
        return [
            (x + (first if x <= size else second), y + (first if y <= size else second), length)
            for x, y, length in arcs
        ]


class _Conflict:
    """The condition that a context leaves no room for any of some alternatives.

    Args:
        solver: Lays the context out.
        alternatives: The arcs of each.
    """

    def __init__(self, solver: DifferenceSolver, alternatives: Sequence[Sequence[Marked]]) -> None:
        self._solver = solver
        self._alternatives = alternatives

    def holds(self, context: Iterable[Atom]) -> bool:
        """Whether it holds of a context."""
        return self.core(context) is not None

    def core(self, context: Iterable[Atom]) -> set[Atom] | None:
        """A part of a context of which it holds; None if it does not hold of the context."""
        context = list(context)
        layout, cycle = self._solver.layout(context)
        if cycle is None:
            cycle = 0
            for arcs in self._alternatives:
                found = layout.conflict(arcs)
                if found is None:
                    return None
                cycle |= found
        return self._solver.atoms(cycle, context)

    def widest(self, required: Iterable[Atom], wanted: Collection[Atom]) -> set[Atom]:
        """A largest set of atoms of which it does not hold: each atom is in it for which those
        before it leave room beside some alternative.
        """
        arcs = {atom: self._solver.arcs(atom) for atom in wanted}
        layout, _ = self._solver.layout(list(required))
        layouts = _with_room((layout, alternative) for alternative in self._alternatives)
        chosen = set()
        for atom in wanted:
            further = _with_room((layout, arcs[atom]) for layout in layouts)
            if further:
                layouts = further
                chosen.add(atom)
        return chosen


def _with_room(asked: Iterable[tuple[_Layout, Sequence[Marked]]]) -> list[_Layout]:
    """The layouts, of some, that there are with more arcs."""
    found = []
    for layout, arcs in asked:
        further = layout.part(layout.held)
        if further.add(arcs) is None:
            found.append(further)
    return found
