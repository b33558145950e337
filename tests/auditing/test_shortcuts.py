"""Verdicts and premises without a solver, derived by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbouq.auditing.relations import _memory_of, audit_relations
from symbouq.auditing.shortcuts import DirectVerdicts, Forest
from symbouq.auditing.verdicts import Verdict
from symbouq.logic.programs import Atom
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.source import ASSERTED, QUERIED
from symbouq.ontology.tables import Ontology, Triple

LIBRARY = OntologyLibrary()
NINE_WAY = LIBRARY.ontology("nine-way")
A, B, C, D, E, F = range(6)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ((A, "above", B), (Verdict.ENTAILED, 0)),
        ((A, "upper_left", B), (Verdict.CONTRADICTED, 0)),
        ((A, "above", C), None),  # by way of B: for the solver
        ((B, "right", C), (Verdict.ENTAILED, 1)),
        ((A, "same_position", A), None),
        ((C, "near", D), (Verdict.ENTAILED, 2)),
        # Whether near things touch is for the closure.
        ((C, "touching", D), None),
    ],
)
def test_direct_verdicts(claim: Triple, expected: tuple[Verdict, int] | None) -> None:
    scene = [(1, ((A, "above", B),)), (2, ((B, "right", C),)), (3, ((C, "near", D),))]
    assert DirectVerdicts(NINE_WAY, scene).of(claim) == expected


def test_a_premise_of_two_relations_decides_nothing_after_it() -> None:
    scene = [(1, ((A, "above", B), (A, "above", C))), (2, ((C, "left", D),))]
    direct = DirectVerdicts(NINE_WAY, scene)
    assert direct.of((A, "above", B)) == (Verdict.ENTAILED, 0)
    assert direct.of((C, "left", D)) is None


def stated(ontology: Ontology, *triples: Triple) -> list[list[Atom]]:
    """Premises of a relation each."""
    readings = ontology.encoding.readings
    return [[(readings[ASSERTED, r], u, v)] for u, r, v in triples]


def claimed(ontology: Ontology, u: int, r: str, v: int) -> Atom:
    return ontology.encoding.readings[QUERIED, r], u, v


#     D
#     |
# A - B - C     E - F
TREE = ((A, "left", B), (C, "right", B), (B, "below", D), (E, "left", F))


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ((A, "left", C), (Verdict.ENTAILED, [0, 1])),
        ((C, "left", A), (Verdict.CONTRADICTED, [0, 1])),
        ((A, "above", C), (Verdict.CONTRADICTED, [0, 1])),
        ((D, "upper_right", A), (Verdict.ENTAILED, [0, 2])),
        ((D, "above", A), (Verdict.CONTRADICTED, [0, 2])),  # straight above is not to the right
        ((E, "left", F), (Verdict.ENTAILED, [3])),
        ((A, "left", F), (Verdict.UNKNOWN, [])),
        ((A, "near", C), None),
        ((A, "left", A), None),
    ],
)
def test_verdicts_in_a_forest(claim: Triple, expected: tuple[Verdict, list[int]] | None) -> None:
    forest = Forest.of(NINE_WAY, stated(NINE_WAY, *TREE))
    assert forest is not None
    assert forest.verdict(claimed(NINE_WAY, *claim)) == expected


def test_steps_of_a_grid_add_up() -> None:
    grid = LIBRARY.ontology("unit-grid")
    forest = Forest.of(grid, stated(grid, (A, "left", B), (C, "above", B)))
    assert forest is not None
    assert forest.verdict(claimed(grid, A, "lower_left", C)) == (Verdict.ENTAILED, [0, 1])
    assert forest.verdict(claimed(grid, A, "left", C)) == (Verdict.CONTRADICTED, [0, 1])


def test_ways_that_cancel_out_leave_it_open() -> None:
    forest = Forest.of(NINE_WAY, stated(NINE_WAY, (A, "left", B), (B, "right", C)))
    assert forest is not None
    assert forest.verdict(claimed(NINE_WAY, A, "left", C)) == (Verdict.UNKNOWN, [])
    assert forest.verdict(claimed(NINE_WAY, A, "above", C)) == (Verdict.CONTRADICTED, [0, 1])


@pytest.mark.parametrize(
    "premises",
    [
        stated(NINE_WAY, (A, "left", B), (B, "left", C), (A, "left", C)),  # a cycle
        [[*stated(NINE_WAY, (A, "left", B))[0], *stated(NINE_WAY, (B, "left", C))[0]]],
        stated(NINE_WAY, (A, "near", B)),  # no direction
        stated(NINE_WAY, (A, "left", A)),
    ],
)
def test_no_forest(premises: list[list[Atom]]) -> None:
    assert Forest.of(NINE_WAY, premises) is None


def test_things_with_an_extent_make_no_forest() -> None:
    ontology = LIBRARY.ontology("cdc")
    assert Forest.of(ontology, stated(ontology, (A, "left", B))) is None


TREES = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=6)
PROFILES = ("nine-way", "half-plane", "unit-grid", "story", "babi")


@given(st.sampled_from(PROFILES), TREES, st.data())
def test_a_forest_decides_as_the_solver_does(
    profile: str, drawn: list[tuple[int, bool]], data: st.DataObject
) -> None:
    """Verdicts, premises and repairs in both contexts; claims join the forest, or close cycles."""
    ontology = LIBRARY.ontology(profile)
    relations = st.sampled_from(sorted(ontology.relations.displacement))
    things = len(drawn) + 2
    scene = []
    for n, (parent, turned) in enumerate(drawn, start=1):
        ends = (n, parent % n) if turned else (parent % n, n)
        scene.append((n, [(ends[0], data.draw(relations), ends[1])]))
    pair = st.permutations(range(things)).map(lambda order: order[:2])
    claims = [
        [(u, data.draw(relations), v)] for u, v in data.draw(st.lists(pair, min_size=1, max_size=4))
    ]
    found = audit_relations(ontology, scene, claims)
    _memory_of.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Forest, "of", lambda *_: None)
        expected = audit_relations(ontology, scene, claims)
    _memory_of.cache_clear()
    assert found == expected
