"""Layout of one trace by shortest paths (Eqs. status and repair).

If only the layout matters, a trace is a set of integer difference constraints, and a program for
each trace would ground the same few rules again. Here, the rules are grounded once for each
reading, between two placeholders. The derived arcs of `rules/layout.lp` are then instantiated for
the things of a trace. Arcs are feasible unless they contain a cycle of negative length, so all
decisions depend on such cycles. They are found by adding one arc at a time, starting from values
that satisfy all earlier arcs (Cotton and Maler, "Fast and flexible difference constraint
propagation for DPLL(T)", SAT 2006; clingo-dl uses the same method).
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
"""(x, y, h): coordinate x is at most coordinate y + h. Coordinates are numbered as in
`rules/layout.lp`.
"""


def solver_for(
    ontology: Ontology, atoms: Collection[Atom], groups: Collection[Group] = ()
) -> Solver:
    """Return a solver for contexts and groups over the given atoms. It uses shortest paths if only
    the layout matters and no atom is a denial, which would be a disjunction; otherwise a program.

    Args:
        ontology: The tables of the profile.
        atoms: All atoms that may be in a context.
        groups: All groups that may be queried.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
    """
    keys = {key for key, _, _ in atoms}.union(key for group in groups for key, _, _ in group)
    if ontology.encoding.closes(keys) or ontology.encoding.denies(keys):
        return TraceSolver(ontology, atoms, groups)
    record(ontology, atoms, groups)
    return DifferenceSolver(ontology)


class _Pattern(NamedTuple):
    """Arcs for a reading of two things. The coordinates `x` and `y` are numbered from 1 for the
    first thing, followed by those of the second.

    Attributes:
        own: Arcs of the things themselves: the low end is not above the high end.
        stated: Arcs that hold if the reading does.
        denied: If the reading does not hold, at least one of these arcs holds.
    """

    own: tuple[Arc, ...]
    stated: tuple[Arc, ...]
    denied: tuple[Arc, ...]


class _Patterns:
    """Patterns of a profile."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
        self._known: dict[int, _Pattern] = {}

    def of(self, key: int) -> _Pattern:
        """Return the pattern of a reading, between two things that may be the same."""
        found = self._known.get(key)
        if found is None:
            atom = key, 0, 1
            held = TraceProgram(self._ontology, [atom])
            asked = TraceProgram(self._ontology, [], [frozenset([atom])])
            with untimed():
                arcs = ground_arcs(held.parts, held.facts)
                # Leave out the arcs of extents, which may be what fails here.
                failing = ground_arcs(("points", "refutation"), asked.facts)
            found = self._known[key] = _Pattern(
                tuple(arc for arc, certain in arcs if certain),
                tuple(arc for arc, certain in arcs if not certain),
                tuple(arc for arc, _ in failing),
            )
        return found


_patterns = lru_cache(maxsize=8)(_Patterns)
"""Patterns of the recently used profiles."""

Marked: TypeAlias = tuple[Arc, int]
"""An arc with the bit that identifies it in cycles. Arcs that always hold share `_ALWAYS`."""

_ALWAYS = 1


class _Layout:
    """Values that satisfy a set of arcs.

    Args:
        steps: Maps a coordinate to its outgoing arcs: target, bound and bit.
        held: Bits of the satisfied arcs.
        values: Maps a coordinate to its value, by default 0.
    """

    def __init__(
        self, steps: dict[int, list[tuple[int, int, int]]], held: int, values: dict[int, int]
    ) -> None:
        self._steps = steps
        self._values = values
        self.held = held

    def part(self, held: int) -> _Layout:
        return _Layout(self._steps, held, self._values)

    def add(self, arcs: Iterable[Marked]) -> int | None:
        """Satisfy more arcs, one by one. If that is impossible, return the bits of a cycle; the
        values are then invalid.
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
        """Return the bits of a cycle that the given arcs would close; None if they can be
        satisfied.
        """
        if len(arcs) == 1:
            return self._changed(*arcs[0])[1]
        return self.part(self.held).add(arcs)

    def _changed(self, arc: Arc, bit: int) -> tuple[dict[int, int], int | None]:
        """Return new values that satisfy an arc, or the bits of the cycle that it closes.

        Each value decreases only as far as the arcs require. A cycle of negative length contains
        the new arc, so it would decrease the value at the arc's start.
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
    """Decide contexts and groups of atoms by the layout alone.

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
        """Return the condition that a context is infeasible."""
        return _Conflict(self, [()])

    def entailment(self, group: Group) -> Condition:
        """Return the condition that a context entails every relation of a group."""
        return _Conflict(self, [(arc,) for atom in group for arc in self._failing(atom)])

    def exclusion(self, atom: Atom) -> Condition:
        """Return the condition that a context excludes an additional atom."""
        return _Conflict(self, [self.arcs(atom)])

    def arcs(self, atom: Atom) -> Sequence[Marked]:
        """Return the arcs of an atom."""
        found = self._stated.get(atom)
        if found is None:
            found = self._stated[atom] = self._marked(self._pattern(atom).stated, atom)
            self._bits[atom] = sum(bit for _, bit in found)
        return found

    def _failing(self, atom: Atom) -> Sequence[Marked]:
        found = self._denied.get(atom)
        if found is None:
            found = self._denied[atom] = self._marked(self._pattern(atom).denied, atom)
        return found

    def atoms(self, bits: int, context: Iterable[Atom]) -> set[Atom]:
        """Return the atoms of a context that have any of the given bits."""
        return {atom for atom in context if self._bits[atom] & bits}

    def layout(self, context: Sequence[Atom]) -> tuple[_Layout, int | None]:
        """Return a layout of a context, or the bits of a cycle if it has none.

        Values that satisfy the largest context so far also satisfy parts of it.

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
        """Return the arcs of a pattern between the things of an atom, each with a new bit."""
        marked = []
        for x, y, length in self._placed(arcs, atom):
            self._steps.setdefault(y, []).append((x, length, self._free))
            marked.append(((x, y, length), self._free))
            self._free *= 2
        return marked

    def _pattern(self, atom: Atom) -> _Pattern:
        """Return the pattern of an atom, and permanently add the arcs of its things."""
        pattern = self._patterns.of(atom[0])
        for arc in self._placed(pattern.own, atom):
            if arc not in self._own:
                x, y, length = arc
                self._own.add(arc)
                self._steps.setdefault(y, []).append((x, length, _ALWAYS))
                self._largest.add([(arc, _ALWAYS)])
        return pattern

    def _placed(self, arcs: Iterable[Arc], atom: Atom) -> list[Arc]:
        _, u, v = atom
        size = self._size
        first, second = u * size, (v - 1) * size
        return [
            (x + (first if x <= size else second), y + (first if y <= size else second), length)
            for x, y, length in arcs
        ]


class _Conflict:
    """Condition that a context excludes each of several alternatives."""

    def __init__(self, solver: DifferenceSolver, alternatives: Sequence[Sequence[Marked]]) -> None:
        self._solver = solver
        self._alternatives = alternatives

    def holds(self, context: Iterable[Atom]) -> bool:
        return self.core(context) is not None

    def core(self, context: Iterable[Atom]) -> set[Atom] | None:
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
        """Return the largest set of atoms in which the condition does not hold. In order, each atom
        is included if it is consistent with the atoms included before and with some alternative.
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
    found = []
    for layout, arcs in asked:
        further = layout.part(layout.held)
        if further.add(arcs) is None:
            found.append(further)
    return found
