"""Best premises: hand-made cores, and correction sets against a plain search."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbouq.auditing.premises import (
    Unit,
    _correction,
    atoms_of,
    best_premises,
    premise_cost,
    premises_of_core,
)
from symbouq.auditing.verdicts import Premise
from symbouq.logic.programs import Atom

SCENE = [Unit(Premise("scene", n), ((n, 0, 1),)) for n in (1, 2, 3)]
CLAIMS = [Unit(Premise("claim", n), ((10 + n, 0, 1),)) for n in (1, 2)]


class Cores:
    """A condition that some sets of atoms, told by their readings, decide."""

    def __init__(self, *cores: Collection[int]) -> None:
        self.cores = cores

    def holds(self, context: Iterable[Atom]) -> bool:
        return self.core(context) is not None

    def core(self, context: Iterable[Atom]) -> set[Atom] | None:
        by_key = {atom[0]: atom for atom in context}
        for core in self.cores:
            if by_key.keys() >= set(core):
                return {by_key[key] for key in core}
        return None

    def widest(self, required: Iterable[Atom], wanted: Collection[Atom]) -> set[Atom]:
        found = [*required]
        assert not self.holds(found)
        for atom in wanted:
            if not self.holds([*found, atom]):
                found.append(atom)
        return set(found)


@pytest.mark.parametrize(
    ("cores", "best"),
    [
        ([{2, 3}], ["scene:2", "scene:3"]),
        # The scene alone decides, so no claim is named, though that takes more premises.
        ([{11}, {1, 2, 3}], ["scene:1", "scene:2", "scene:3"]),
        # With claims in any case: the fewest claims, then the fewest premises, then the earliest.
        ([{11, 12}, {1, 2, 12}], ["scene:1", "scene:2", "claim:2"]),
        ([{1, 2, 11}, {3, 11}], ["scene:3", "claim:1"]),
        ([{3, 12}, {3, 11}], ["scene:3", "claim:1"]),
    ],
)
def test_best_premises(cores: list[set[int]], best: list[str]) -> None:
    condition = Cores(*cores)
    units = [*SCENE, *CLAIMS]
    core = condition.core(atoms_of(units))
    assert core is not None
    assert list(map(str, best_premises(units, core, condition))) == best


def test_a_repeated_premise_is_never_named() -> None:
    units = [SCENE[0], Unit(Premise("scene", 2), SCENE[0].atoms), SCENE[2]]
    assert list(map(str, premises_of_core(units, {(1, 0, 1), (3, 0, 1)}))) == ["scene:1", "scene:3"]


def test_cost_prefers_few_claims_then_few_premises_then_early_ones() -> None:
    scene = [Premise("scene", n) for n in (1, 2, 3)]
    claim = Premise("claim", 1)
    order = [[scene[2]], [scene[0], scene[1]], [scene[0], scene[2]], [claim], [scene[0], claim]]
    shuffled = [order[n] for n in (3, 1, 4, 0, 2)]
    assert sorted(shuffled, key=premise_cost) == order


@given(
    st.lists(st.frozensets(st.integers(0, 15), min_size=1, max_size=3), min_size=1, max_size=12),
    st.sets(st.frozensets(st.integers(0, 15), min_size=1), min_size=1, max_size=6),
    st.data(),
)
def test_correction_sets(
    drawn: list[frozenset[int]], minimal: set[frozenset[int]], data: st.DataObject
) -> None:
    """What a correction set leaves decides nothing, and does with any premise of it; where each
    premise has one relation, it is what is found premise by premise.
    """
    condition = Cores(*minimal)
    units = [
        Unit(Premise("scene", n), tuple((key, 0, 1) for key in sorted(keys)))
        for n, keys in enumerate(drawn)
    ]

    def decides(places: Iterable[int]) -> bool:
        return condition.core(atoms_of(units[n] for n in places)) is not None

    picked = data.draw(st.sets(st.integers(0, len(units) - 1)))
    if decides(picked):
        return
    outside = _correction(units, picked, condition)
    kept = set(range(len(units))) - outside
    assert picked <= kept and not decides(kept)
    assert all(decides({*kept, n}) for n in outside)
    if all(len(unit.atoms) == 1 for unit in units):
        first = set(picked)
        for n in range(len(units)):
            if not decides({*first, n}):
                first.add(n)
        assert kept == first


@given(
    st.lists(st.frozensets(st.integers(0, 9), min_size=1, max_size=2), min_size=1, max_size=8),
    st.integers(0, 8),
    st.sets(st.frozensets(st.integers(0, 9), min_size=1), min_size=1, max_size=6),
)
def test_the_best_premises_are_the_cheapest_that_decide(
    drawn: list[frozenset[int]], scene: int, minimal: set[frozenset[int]]
) -> None:
    condition = Cores(*minimal)
    units = [
        Unit(
            Premise("scene", n) if n < scene else Premise("claim", n),
            tuple((key, 0, 1) for key in sorted(keys)),
        )
        for n, keys in enumerate(drawn)
    ]
    core = condition.core(atoms_of(units))
    if core is None:
        return
    choices = chain.from_iterable(combinations(units, n) for n in range(len(units) + 1))
    deciding = [each for each in choices if condition.core(atoms_of(each)) is not None]
    best = min(premise_cost([unit.premise for unit in each]) for each in deciding)
    assert premise_cost(best_premises(units, core, condition)) == best
