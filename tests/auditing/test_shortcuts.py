"""Verdicts and premises without a solver, derived by hand."""

from __future__ import annotations

import pytest

from symbouq.auditing.shortcuts import DirectVerdicts
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
