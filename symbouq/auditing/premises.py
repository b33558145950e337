"""The premises of a verdict: a best minimal set of scene sentences and claims that decides it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from symbouq.auditing.verdicts import Premise
from symbouq.logic.programs import Atom, Condition, hitting_set

_ROUNDS = 40
"""Bound on the search for the best premises, which is hard in the worst case."""
_MANY = 12
"""Premises in a core up to which each is tried at once."""
_ROUNDS_AHEAD = 10
"""Rounds of the search before more are tried one by one."""


@dataclass(frozen=True)
class Unit:
    """A premise with the atoms that it brings into a context."""

    premise: Premise
    atoms: tuple[Atom, ...]


def best_premises(
    units: Sequence[Unit], core: set[Atom], condition: Condition
) -> tuple[Premise, ...]:
    """The best minimal set of premises: from the scene alone where one exists, else
    with the fewest claims, then the fewest premises, then the earliest.

    A premise without which the rest no longer decides is in every such set; where
    these decide by themselves, they are the only minimal set. Otherwise the set is
    found by hitting-set duality: the best set that meets all correction sets known
    so far either decides, or yields one more of them. Should that take more than
    _ROUNDS rounds, a minimal set is given that need not be the best. Which cores the
    solver happens to find makes no difference to the outcome.

    Args:
        units: All premises of the context, scene first, in order.
        core: Atoms that decide together, as the solver found them.
        condition: What they decide.

    Raises:
        LimitError: If there is no time for it.
    """
    units = _undominated(units)
    candidates = [n for n, unit in enumerate(units) if _meets(unit, core)]
    search = _Search(units, condition)
    found = None
    if len(candidates) > _MANY:  # of which few may matter
        found = search.best(_ROUNDS_AHEAD)
    if found is None:
        search.need(candidates)
        found = search.best(_ROUNDS)
    if found is None:
        found = search.minimal()
    return tuple(units[n].premise for n in sorted(found))


class _Search:
    """The search for the best set of premises that decides.

    Args:
        units: The premises.
        condition: What they decide.
    """

    def __init__(self, units: Sequence[Unit], condition: Condition) -> None:
        self._units = units
        self._condition = condition
        self._claims = [n for n, unit in enumerate(units) if unit.premise.source == "claim"]
        self._corrections: list[frozenset[int]] = []

    def decides(self, places: Iterable[int]) -> bool:
        """Whether premises, by position, decide."""
        return self._condition.holds(atoms_of(self._units[n] for n in sorted(places)))

    def need(self, candidates: Sequence[int]) -> None:
        """Finds the premises without which the rest does not decide.

        Args:
            candidates: The positions of some that decide together.
        """
        units, left = self._units, [*candidates]
        while left:
            n = left.pop(0)
            rest = atoms_of(unit for m, unit in enumerate(units) if m != n)
            core = self._condition.core(rest)
            if core is None:
                self._corrections.append(frozenset([n]))
            else:  # what is in every deciding set is in this one
                left = [m for m in left if _meets(units[m], core)]

    def best(self, rounds: int) -> frozenset[int] | None:
        """The best set; None if it is not found in some rounds."""
        for _ in range(rounds):
            picked = self._picked()
            if self.decides(picked):
                return picked
            self._corrections.append(_correction(self._units, picked, self._condition))
        return None

    def _picked(self) -> frozenset[int]:
        """The best set that meets every correction set known so far."""
        apart = frozenset().union(*self._corrections)
        if sum(map(len, self._corrections)) == len(apart):  # no premise meets two of them
            return frozenset(min(one, key=self._rank) for one in self._corrections)
        return hitting_set(self._corrections, self._claims, len(self._units) - 1)

    def _rank(self, place: int) -> tuple[bool, int]:
        """The key by which better premises sort first: those of the scene, then earlier ones."""
        return self._units[place].premise.source == "claim", place

    def minimal(self) -> frozenset[int]:
        """A minimal set, which need not be the best: of the premises the latest claims go first."""
        left = dict.fromkeys(range(len(self._units)))
        for n in reversed(left):
            if self.decides(left.keys() - {n}):
                left = dict.fromkeys(m for m in left if m != n)
        return frozenset(left)


def _correction(
    units: Sequence[Unit], picked: Collection[int], condition: Condition
) -> frozenset[int]:
    """The premises outside of a largest set that does not decide, to which all that is picked
    belongs.

    A largest set of atoms has parts of premises, too, which may keep whole ones out: where it does,
    what is left is looked at one by one.
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
    """The premises that have a part in a core: they decide, but need not be minimal."""
    return tuple(unit.premise for unit in _undominated(units) if _meets(unit, core))


def premise_cost(premises: Sequence[Premise]) -> tuple[int, int, list[tuple[bool, int]]]:
    """The key by which better premises sort first: fewer claims, fewer premises, earlier ones."""
    places = sorted((premise.source == "claim", premise.number) for premise in premises)
    return sum(claimed for claimed, _ in places), len(places), places


def atoms_of(units: Iterable[Unit]) -> list[Atom]:
    """The atoms of some premises, each once."""
    return list(dict.fromkeys(atom for unit in units for atom in unit.atoms))


def _meets(unit: Unit, core: set[Atom]) -> bool:
    """Whether a premise has a part in a core."""
    return not core.isdisjoint(unit.atoms)


def _undominated(units: Sequence[Unit]) -> list[Unit]:
    """The units, in order, without those that an earlier one makes superfluous."""
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
