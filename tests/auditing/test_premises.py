"""Best premises: hand-made cores, and correction sets against a plain search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbouq.auditing.premises import (
    Unit,
    _correction,
    best_premises,
    premise_cost,
    premises_of_core,
)
from symbouq.auditing.verdicts import Premise
from symbouq.logic.programs import Atom

SCENE = [Unit(Premise("scene", n), ((n, 0, 1),)) for n in (1, 2, 3)]
CLAIMS = [Unit(Premise("claim", n), ((10 + n, 0, 1),)) for n in (1, 2)]


def core_in(*cores: set[int]) -> object:
    """Finds the first of some cores, by their atoms' readings, among given atoms."""

    def core_of(atoms: Sequence[Atom]) -> set[Atom] | None:
        by_key = {atom[0]: atom for atom in atoms}
        for core in cores:
            if core <= by_key.keys():
                return {by_key[key] for key in core}
        return None

    return core_of


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
    core_of = core_in(*cores)
    units = [*SCENE, *CLAIMS]
    core = core_of([atom for unit in units for atom in unit.atoms])  # type: ignore[operator]
    assert list(map(str, best_premises(units, core, core_of))) == best  # type: ignore[arg-type]


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
    st.integers(1, 30),
    st.sets(st.frozensets(st.integers(0, 29), min_size=1), min_size=1, max_size=6),
    st.data(),
)
def test_correction_sets(count: int, minimal: set[frozenset[int]], data: st.DataObject) -> None:
    """A correction set leaves a largest part that decides nothing, found premise by premise."""
    minimal = {frozenset(n % count for n in each) for each in minimal}

    def decides(places: Iterable[int]) -> bool:
        held = set(places)
        return any(each <= held for each in minimal)

    picked = data.draw(st.sets(st.integers(0, count - 1)))
    if decides(picked):
        return
    kept = set(picked)
    for n in range(count):
        if not decides({*kept, n}):
            kept.add(n)
    assert sorted(_correction(count, picked, decides)) == sorted(set(range(count)) - kept)
