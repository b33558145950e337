"""Find the premises of a verdict: the best minimal set of sentences and claims that decides it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from symbouq.auditing.verdicts import Premise
from symbouq.logic.programs import Atom, Condition, hitting_set

_ROUNDS = 40
"""Maximum number of search rounds. Finding the best premises is hard in the worst case."""
_MANY = 12
"""Maximum size of a core for which the premises are tried one by one immediately."""
_ROUNDS_AHEAD = 10
"""Number of search rounds before the premises of a larger core are tried one by one."""


@dataclass(frozen=True)
class Unit:
    """A premise with the atoms that it adds to a context."""

    premise: Premise
    atoms: tuple[Atom, ...]


def best_premises(
    units: Sequence[Unit], core: set[Atom], condition: Condition
) -> tuple[Premise, ...]:
    """Find the best minimal set of premises: from the scene alone if possible, otherwise with the
    fewest claims, then the fewest premises, then the earliest.

    A premise is necessary if the other premises do not decide the condition without it. Every
    minimal set contains all necessary premises. If they decide alone, they are the only minimal
    set. Otherwise the search uses hitting-set duality: the best set that meets all known correction
    sets either decides or yields another correction set. After _ROUNDS rounds, the result is some
    minimal set. The outcome does not depend on which cores the solver happens to find.

    Args:
        units: All premises of the context, scene first, in order.
        core: Atoms from the solver that together decide the condition.
        condition: The condition to be decided.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
    """
    units = _undominated(units)
    candidates = [n for n, unit in enumerate(units) if _meets(unit, core)]
    search = _Search(units, condition)
    found = None
    if len(candidates) > _MANY:  # perhaps only a few of the premises matter
        found = search.best(_ROUNDS_AHEAD)
    if found is None:
        search.need(candidates)
        found = search.best(_ROUNDS)
    if found is None:
        found = search.minimal()
    return tuple(units[n].premise for n in sorted(found))


class _Search:
    """Search for the best set of premises that decides the condition."""

    def __init__(self, units: Sequence[Unit], condition: Condition) -> None:
        self._units = units
        self._condition = condition
        self._claims = [n for n, unit in enumerate(units) if unit.premise.source == "claim"]
        self._corrections: list[frozenset[int]] = []

    def decides(self, places: Iterable[int]) -> bool:
        return self._condition.holds(atoms_of(self._units[n] for n in sorted(places)))

    def need(self, candidates: Sequence[int]) -> None:
        """Find the necessary premises: those without which the others do not decide."""
        units, left = self._units, [*candidates]
        while left:
            n = left.pop(0)
            rest = atoms_of(unit for m, unit in enumerate(units) if m != n)
            core = self._condition.core(rest)
            if core is None:
                self._corrections.append(frozenset([n]))
            else:  # every deciding set contains these premises
                left = [m for m in left if _meets(units[m], core)]

    def best(self, rounds: int) -> frozenset[int] | None:
        for _ in range(rounds):
            picked = self._picked()
            if self.decides(picked):
                return picked
            self._corrections.append(_correction(self._units, picked, self._condition))
        return None

    def _picked(self) -> frozenset[int]:
        """Return the best set that meets every known correction set."""
        apart = frozenset().union(*self._corrections)
        if sum(map(len, self._corrections)) == len(apart):  # no premise meets two correction sets
            return frozenset(min(one, key=self._rank) for one in self._corrections)
        return hitting_set(self._corrections, self._claims, len(self._units) - 1)

    def _rank(self, place: int) -> tuple[bool, int]:
        return self._units[place].premise.source == "claim", place

    def minimal(self) -> frozenset[int]:
        """Return a minimal set, not necessarily the best. The latest claims are dropped first."""
        left = dict.fromkeys(range(len(self._units)))
        for n in reversed(left):
            if self.decides(left.keys() - {n}):
                left = dict.fromkeys(m for m in left if m != n)
        return frozenset(left)


def _correction(
    units: Sequence[Unit], picked: Collection[int], condition: Condition
) -> frozenset[int]:
    """Return the premises that are left out of a largest set. This set contains all picked premises
    and does not decide the condition.

    The largest set of atoms may contain only parts of some premises, and thereby exclude the
    complete premises. The remaining premises are then checked one by one.
    """
    kept = set(picked)
    left = [n for n in range(len(units)) if n not in kept]
    outside: set[int] = set()
    while left:
        held = atoms_of(units[n] for n in kept)
        found = condition.widest(held, atoms_of(units[n] for n in (*kept, *left)))
        kept.update(n for n in left if found.issuperset(units[n].atoms))
        left = [n for n in left if n not in kept]
        held = atoms_of(units[n] for n in sorted(kept))
        if found.issubset(held):
            return frozenset(outside.union(left))
        first = left.pop(0)
        decided = condition.holds([*held, *units[first].atoms])
        (outside if decided else kept).add(first)
    return frozenset(outside)


def premises_of_core(units: Sequence[Unit], core: set[Atom]) -> tuple[Premise, ...]:
    """Return the premises with an atom in a core. Together they decide, but they need not be
    minimal.
    """
    return tuple(unit.premise for unit in _undominated(units) if _meets(unit, core))


def premise_cost(premises: Sequence[Premise]) -> tuple[int, int, list[tuple[bool, int]]]:
    """Return a sort key for sets of premises: fewer claims first, then fewer premises, then earlier
    premises.
    """
    places = sorted((premise.source == "claim", premise.number) for premise in premises)
    return sum(claimed for claimed, _ in places), len(places), places


def atoms_of(units: Iterable[Unit]) -> list[Atom]:
    """Return the atoms of the given premises, each once."""
    return list(dict.fromkeys(atom for unit in units for atom in unit.atoms))


def _meets(unit: Unit, core: set[Atom]) -> bool:
    return not core.isdisjoint(unit.atoms)


def _undominated(units: Sequence[Unit]) -> list[Unit]:
    """Return the units in order, without units that an earlier unit makes redundant."""
    kept: list[Unit] = []
    seen: set[Atom] = set()
    for unit in units:
        if len(unit.atoms) == 1:
            dominated = unit.atoms[0] in seen
        else:
            dominated = any(set(unit.atoms) <= set(other.atoms) for other in kept)
        if not dominated:
            kept.append(unit)
            seen.update(unit.atoms)
    return kept
