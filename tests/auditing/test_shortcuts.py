"""Verdicts and premises without a solver, derived by hand."""

from __future__ import annotations

import pytest

from symbouq.auditing.shortcuts import DirectVerdicts, Forest
from symbouq.auditing.verdicts import Verdict
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.tables import Triple

LIBRARY = OntologyLibrary()
NINE_WAY = LIBRARY.ontology("nine-way")
A, B, C, D = range(4)


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


def test_paths_in_a_forest() -> None:
    #     D
    #     |
    # A - B - C
    scene = [(1, ((A, "left", B),)), (2, ((C, "right", B),)), (3, ((B, "below", D),))]
    forest = Forest.of(NINE_WAY, scene)
    assert forest is not None
    assert forest.path(A, C) == [0, 1]
    assert forest.path(D, A) == [0, 2]


@pytest.mark.parametrize(
    "scene",
    [
        [(1, ((A, "left", B),)), (2, ((B, "left", C),)), (3, ((A, "left", C),))],  # a cycle
        [(1, ((A, "left", B), (B, "left", C)))],  # two in one premise
        [(1, ((A, "near", B),))],  # no direction
        [(1, ((A, "left", A),))],
    ],
)
def test_no_forest(scene: list[tuple[int, tuple[Triple, ...]]]) -> None:
    assert Forest.of(NINE_WAY, scene) is None


def test_things_with_an_extent_make_no_forest() -> None:
    scene = [(1, ((A, "left", B),))]
    assert Forest.of(LIBRARY.ontology("cdc"), scene) is None
