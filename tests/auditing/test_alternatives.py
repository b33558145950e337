"""Alternatives, judged by what a context leaves open; expectations from the calculi by hand."""

from __future__ import annotations

import pytest

from symbouq.api import TraceAuditor
from symbouq.auditing.alternatives import judge_alternatives
from symbouq.auditing.relations import ClaimInput, audit_relations
from symbouq.auditing.verdicts import Verdict
from symbouq.ontology.library import builtin
from symbouq.ontology.source import ASSERTED
from symbouq.records import Trace

X, Y, Z = range(3)


def judged(profile: str, context: list[tuple[str, int, int]], relations: str) -> tuple[str, ...]:
    ontology = builtin().ontology(profile)
    atoms = [(ontology.encoding.readings[ASSERTED, r], u, v) for r, u, v in context]
    claim = [(X, r, Z) for r in relations.split()]
    found = judge_alternatives(ontology, atoms, claim)
    return (str(found.verdict), *found.open)


# EC(x, y), DC(y, z): x and z are DC, EC, PO, TPPi or NTPPi (Cohn et al., 1997, Table 1).
REGIONS = [("ec", X, Y), ("dc", Y, Z)]
# x is right of y, which is left of and below z, whose row and column x may share or not.
PLANE = [("right", X, Y), ("lower_left", Y, Z)]


@pytest.mark.parametrize(
    ("profile", "context", "relations", "expected"),
    [
        ("rcc8", REGIONS, "dc ec po tppi ntppi", ("entailed",)),
        ("rcc8", REGIONS, "dc ec po tppi", ("contradicted", "dc", "ec", "ntppi", "po", "tppi")),
        (
            "rcc8",
            REGIONS,
            "dc ec po tppi ntppi eq",
            ("contradicted", "dc", "ec", "ntppi", "po", "tppi"),
        ),
        ("nine-way", PLANE, "lower_left below lower_right", ("entailed",)),
        ("nine-way", PLANE, "below", ("contradicted", "below", "lower_left", "lower_right")),
        # Half-planes exclude less: what lies to one side may be level as well.
        ("half-plane", [], "left right", ("unknown",)),
        # They can hold together, and are no alternatives.
        ("half-plane", [], "left above", ("unknown",)),
        # Nothing says that one of the two contains the other.
        ("nine-way", [], "inside contains", ("unknown",)),
    ],
)
def test_exactly_what_is_open(
    profile: str, context: list[tuple[str, int, int]], relations: str, expected: tuple[str, ...]
) -> None:
    assert judged(profile, context, relations) == expected


def test_relations_of_several_pairs_are_no_alternatives() -> None:
    ontology = builtin().ontology("rcc8")
    found = judge_alternatives(ontology, [], [(X, "dc", Y), (X, "ec", Z)])
    assert found.verdict is Verdict.UNKNOWN


def test_what_is_open_depends_on_the_claims_before() -> None:
    ontology = builtin().ontology("nine-way")
    scene = [(1, [(X, "right", Y)]), (2, [(Y, "lower_left", Z)])]
    below = [(X, "below", Z)]
    claims = [ClaimInput(below), ClaimInput(below, "alternatives")]
    found = audit_relations(ontology, scene, claims)
    assert [c.verdict for c in found.claims] == [Verdict.UNKNOWN, Verdict.ENTAILED]
    assert found.claims[1].grounded is Verdict.CONTRADICTED
    assert not found.claims[1].first_conflict


@pytest.mark.parametrize(
    ("settled", "sure", "verdict", "reason"),
    [
        (True, True, Verdict.CONTRADICTED, "set_wrong"),
        (True, False, Verdict.UNKNOWN, "uncertain"),
        (False, True, Verdict.UNKNOWN, "set_open"),
    ],
)
def test_what_is_not_surely_read(settled: bool, sure: bool, verdict: Verdict, reason: str) -> None:
    ontology = builtin().ontology("nine-way")
    claim = ClaimInput([(X, "left", Z)], "alternatives", settled, sure)
    found = audit_relations(ontology, [], [claim])
    assert (found.claims[0].verdict, found.claims[0].reason) == (verdict, reason)


def test_a_trace_in_relations_may_have_them() -> None:
    trace = Trace.model_validate(
        {
            "id": "t",
            "scene_relations": [["x", "ec", "y"], ["y", "dc", "z"]],
            "claims": [
                {
                    "stance": "alternatives",
                    "relations": [["x", "dc", "z"], ["z", "ntpp", "x"]],
                }
            ],
        }
    )
    (claim,) = TraceAuditor("rcc8").audit(trace).claims
    assert claim.verdict == "contradicted"
    assert claim.message == (
        "Said to be open is dc, ntpp; what the context leaves open is dc, ec, ntppi, po, tppi."
    )
