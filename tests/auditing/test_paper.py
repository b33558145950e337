"""The paper's own examples: its illustrative trace, its walkthroughs, its dilution case."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from common import rows
from helpers import reference
from helpers.audits import audits
from helpers.reference import Relation
from helpers.strategies import programs
from hypothesis import given, settings
from hypothesis import strategies as st

import symbouq
from symbouq.auditing.auditor import TraceAuditor
from symbouq.records import Audit, ProfileRecord, Trace

SCENE = ["A is above B.", "B is right of C.", "D is near E."]
QUESTION = "What is the position of A relative to C?"
TRACE = [
    "B is right of C.",
    "A is upper right of C.",
    "D is near C.",
    "The arrangement is now clear.",
    "A is upper left of C.",
    "Conclusion: A is upper left of C.",
]


def verdicts(audit: Audit) -> list[str]:
    return [claim.verdict for claim in audit.claims]


def phi(profile: ProfileRecord) -> list[float]:
    return [
        profile.symbolizability,
        profile.unknown_rate,
        profile.determinacy,
        profile.applicability,
        profile.unparsed,
    ]


def test_illustrative_trace_gives_its_table() -> None:
    audit = symbouq.audit(SCENE, TRACE, QUESTION)
    assert audit.ontology.profile == "nine-way"
    assert verdicts(audit) == [
        "entailed",
        "entailed",
        "unknown",
        "unknown",
        "contradicted",
        "not-evaluable",
    ]
    assert [bool(claim.relations) for claim in audit.claims] == [True] * 3 + [False] + [True] * 2
    assert phi(audit.profile) == pytest.approx([5 / 6, 1 / 5, 3 / 5, 1 / 2, 0])
    wrong = audit.claims[4]
    assert wrong.first_conflict
    assert wrong.repair_cost == 4
    assert wrong.repair_cost_exact is None
    assert wrong.premises == ["scene:1", "scene:2"]
    assert [claim.first_conflict for claim in audit.claims].count(True) == 1


def test_corrected_trace() -> None:
    audit = symbouq.audit(SCENE, [text.replace("left", "right") for text in TRACE], QUESTION)
    assert verdicts(audit)[4:] == ["entailed", "entailed"]
    assert phi(audit.profile) == pytest.approx([5 / 6, 1 / 5, 4 / 5, 2 / 3, 0])


def test_illustrative_scene_is_normalised() -> None:
    audit = symbouq.audit(SCENE, TRACE, QUESTION)
    relations = [(r.subject, r.relation, r.object) for r in audit.scene.relations]
    assert relations == [("A", "above", "B"), ("B", "right", "C"), ("D", "near", "E")]


@pytest.mark.parametrize("profile", ["nine-way", "unit-grid"])
def test_entailed_composition(profile: str) -> None:
    claim = "A is upper right of C."
    audit = symbouq.audit("A is above B. B is right of C.", [claim], profile=profile)
    (only,) = audit.claims
    assert (only.verdict, only.repair_cost, only.first_conflict) == ("entailed", 0, False)
    assert only.premises == ["scene:1", "scene:2"]


def test_localized_contradiction() -> None:
    claims = ["A is above B.", "B is right of C.", "A is upper left of C."]
    audit = symbouq.audit("A is above B. B is right of C.", claims)
    last = audit.claims[-1]
    assert (last.verdict, last.first_conflict, last.repair_cost) == ("contradicted", True, 4)


def test_parsed_but_unknown() -> None:
    audit = symbouq.audit("A is near B. B is near C.", ["A is near C."])
    (only,) = audit.claims
    assert only.relations
    assert only.verdict == "unknown"


def test_chain_of_ungrounded_claims() -> None:
    claims = ["A is left of B.", "B is left of C.", "A is left of C."]
    audit = symbouq.audit("D is above E.", claims, "Where are A, B and C?")
    assert verdicts(audit) == ["unknown", "unknown", "entailed"]
    assert [claim.grounded_verdict for claim in audit.claims] == ["unknown"] * 3
    last = audit.claims[-1]
    assert last.conditional
    assert last.premises == ["claim:1", "claim:2"]


@pytest.mark.parametrize("consequences", [1, 2, 8])
def test_dilution(consequences: int) -> None:
    """d = m / (m + q) for q unresolved premises and m conditional consequences; the
    discounted profile passes the penalty on."""
    claims = [[["A", "left", "B"]], [["B", "left", "C"]]] + [[["A", "left", "C"]]] * consequences
    audit = symbouq.audit([["D", "above", "E"]], claims)
    assert verdicts(audit) == ["unknown"] * 2 + ["entailed"] * consequences
    assert audit.profile.determinacy == pytest.approx(consequences / (consequences + 2))
    assert audit.discounted.determinacy == 0
    assert audit.discounted.unknown_rate == 1


def test_withholding_a_wrong_hypothesis_restores_evaluability() -> None:
    claims = ["A is below B.", "A is upper right of C."]
    audit = symbouq.audit("A is above B. B is right of C.", claims)
    assert verdicts(audit) == ["contradicted", "not-evaluable"]
    assert [claim.grounded_verdict for claim in audit.claims] == ["contradicted", "entailed"]


def test_repair_of_a_claim_that_earlier_claims_exclude() -> None:
    claims = ["A is left of C.", "C is left of B.", "A is right of B."]
    audit = symbouq.audit("D is above E.", claims, "Where are A, B and C?")
    last = audit.claims[-1]
    assert (last.verdict, last.grounded_verdict) == ("contradicted", "unknown")
    assert (last.repair_cost, last.repair_cost_exact) == (1, 1)


def test_infeasible_scene_is_reported_with_its_sentences() -> None:
    scene = ["D is near E.", "A is above B.", "B is above C.", "C is above A."]
    audit = symbouq.audit(scene, ["A is above C.", "Nothing is stated here."])
    assert not audit.scene.feasible
    assert audit.scene.clash == ["scene:2", "scene:3", "scene:4"]
    assert "scene 2, scene 3 and scene 4" in audit.scene.message
    assert verdicts(audit) == ["not-evaluable", "unknown"]
    assert not any(claim.first_conflict for claim in audit.claims)


@pytest.mark.parametrize(
    ("relation", "verdict"),
    [("above", "contradicted"), ("inside", "contradicted"), ("same_position", "entailed")],
)
def test_self_relations_are_logic(relation: str, verdict: str) -> None:
    audit = symbouq.audit([["A", "left", "B"]], [[["A", relation, "A"]]])
    assert audit.claims[0].verdict == verdict
    assert audit.claims[0].premises == []


def test_arguments_that_make_no_trace() -> None:
    with pytest.raises(symbouq.RecordError, match="three strings"):
        symbouq.audit([["A", "above"]], [])
    with pytest.raises(symbouq.RecordError, match="unknown relation"):
        symbouq.audit([["A", "abov", "B"]], [])


# The strict auditor, `answers="relation"` -----------------------------------------------------


def agree(audit: dict[str, Any], scene: list[Relation], claims: list[list[Relation]]) -> None:
    """An audit has the verdicts, conflicts and repairs of the independent reading."""
    found = [
        {
            "verdict": claim["verdict"],
            "grounded": claim["grounded_verdict"],
            "exact": claim["repair_cost_exact"],
            "bounded": claim["repair_cost"],
            "first_conflict": claim["first_conflict"],
        }
        for claim in audit["claims"]
    ]
    assert found == reference.audit(scene, claims)


STRICT = TraceAuditor("nine-way", answers="relation")


def check_strict(program: tuple[list[Relation], list[list[Relation]]], seed: int) -> None:
    """A program whose claims were read with any confidence."""
    scene, claims = program
    chance = random.Random(seed)

    def record(relation: Relation) -> dict[str, Any]:
        named = dict(zip(("subject", "relation", "object"), relation, strict=True))
        return named | {"confidence": chance.uniform(0.05, 1)}

    told = [{"type": "reasoning", "relations": [*map(record, claim)]} for claim in claims]
    trace = Trace.model_validate({"id": "t", "scene_relations": scene, "claims": told})
    agree(STRICT.audited(trace), scene, claims)


@given(programs(), st.integers(0, 99))
@settings(max_examples=150)
def test_strict_audits_agree_with_plain_python(
    program: tuple[list[Relation], list[list[Relation]]], seed: int
) -> None:
    check_strict(program, seed)


@pytest.mark.slow
@given(programs(), st.integers(0, 99))
@settings(max_examples=2000)
def test_thousands_of_strict_audits_agree_with_plain_python(
    program: tuple[list[Relation], list[list[Relation]]], seed: int
) -> None:
    check_strict(program, seed)


@pytest.mark.slow
def test_strict_audits_of_real_traces_agree_with_plain_python(data: Path) -> None:
    """By the relations that were read of StepGame's traces, those that only assert."""
    compared = 0
    for file in sorted((data / "stepgame").glob("llm_traces_*.jsonl.gz")):
        for audit in audits(STRICT, map(Trace.model_validate, islice(rows(file), 40))):
            claims = audit["claims"]
            if any(c["rest"] or (c["relations"] and c["stance"] != "asserted") for c in claims):
                continue
            scene, *told = (
                [(r["subject"], r["relation"], r["object"]) for r in said["relations"]]
                for said in (audit["scene"], *claims)
            )
            agree(audit, scene, told)
            compared += 1
    assert compared >= 200


def test_a_doubtful_claim_is_a_premise_of_the_strict_auditor_alone() -> None:
    left = {"subject": "A", "relation": "left", "object": "B", "confidence": 0.2}
    claims: list[dict[str, Any]] = [
        {"relations": [left]},
        {"relations": [["A", "left", "B"]]},
        {"relations": [{**left, "relation": "right"}]},
    ]
    trace = Trace.model_validate({"id": "t", "scene_relations": [], "claims": claims})
    strict, usual = STRICT.audited(trace), TraceAuditor("nine-way").audited(trace)
    assert [c["verdict"] for c in strict["claims"]] == ["unknown", "entailed", "contradicted"]
    assert [c["verdict"] for c in usual["claims"]] == ["unknown", "unknown", "unknown"]
    assert usual["claims"][2]["reason"] == "uncertain"


@pytest.mark.parametrize(
    ("question", "conclusion", "by"),
    [
        ("Is the cup above the fork?", "Yes.", "answer"),
        ("Where is the cup relative to the fork?", "Above.", "relation"),
        ("Where is the cup relative to the fork?", "I like tea.", "none"),
    ],
)
def test_an_audit_says_how_the_conclusion_was_judged(
    question: str, conclusion: str, by: str
) -> None:
    scene, claims = "The cup is above the fork.", ["The cup is above the fork.", conclusion]
    usual = symbouq.audit(scene, claims, question)
    strict = symbouq.audit(scene, claims, question, answers="relation")
    assert usual.conclusion is not None and strict.conclusion is not None
    assert (usual.conclusion.by, usual.conclusion.text) == (by, conclusion)
    assert strict.conclusion.by == ("none" if by == "answer" else by)
    assert usual.profile.symbolizability == (0.5 if by == "none" else 1)
    assert strict.profile.symbolizability == (1 if by == "relation" else 0.5)


def test_without_claims_there_is_no_conclusion() -> None:
    audit = symbouq.audit([["A", "left", "B"]], [])
    assert audit.conclusion is not None
    assert (audit.conclusion.by, audit.conclusion.text) == ("none", "")
