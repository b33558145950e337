"""Each feature moved on its own: two traces, and the features in which they differ."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from helpers.audits import audits

import symbouq
from symbouq.api import TraceAuditor
from symbouq.records import Trace
from symbouq.records.features import CLAIM_FEATURES, TRACE_FEATURES

Relations = list[list[object]]
AB = ["A", "above", "B"]
BC = ["B", "above", "C"]
SCENE = [AB, BC]


def features(
    claims: list[Relations], scene: Relations | None = None
) -> tuple[list[dict[str, float]], dict[str, float]]:
    given = [[_record(r) for r in claim] for claim in claims]
    record = {
        "id": "t",
        "scene_relations": [_record(r) for r in (SCENE if scene is None else scene)],
        "claims": [{"relations": relations} for relations in given],
    }
    audit = TraceAuditor().audit(Trace.model_validate(record))
    rows = [dict(zip(CLAIM_FEATURES, row, strict=True)) for row in audit.features.claims]
    return rows, dict(zip(TRACE_FEATURES, audit.features.trace, strict=True))


def _record(relation: list[object]) -> dict[str, object]:
    """`[subject, relation, object]`, with confidence and grounding where they are given."""
    record: dict[str, object] = dict(zip(("subject", "relation", "object"), relation, strict=False))
    if len(relation) > 3:
        record["confidence"] = relation[3]
    if len(relation) > 4:
        record["grounded"] = relation[4]
    return record


def test_there_are_23_and_16() -> None:
    assert len(CLAIM_FEATURES) == 23
    assert len(TRACE_FEATURES) == 16


# name: (claims before, claims after, scene after, which claim to look at, what else moves
# because it is defined through the same fact)
U = ["E", "above", "F"]
V = ["G", "above", "H"]
CLAIM_CASES: dict[str, tuple[list[Relations], list[Relations], Relations | None, int, set[str]]] = {
    "parsed": ([[], []], [[U], []], None, 0, {"relations", "confidence", "grounded", "layout"}),
    "relations": ([[U]], [[U, V]], None, 0, set()),
    "confidence": ([[U]], [[[*U, 0.5]]], None, 0, set()),
    "grounded": ([[[*U, 1.0, False]]], [[[*U, 1.0, True]]], None, 0, set()),
    "restated": ([[["A", "above", "C"]]], [[AB]], None, 0, set()),
    "repeated": ([[U], [V]], [[U], [U]], None, 1, {"unknown", "entailed"}),
    "context_feasible": ([[U], []], [[["B", "above", "A"]], []], None, 1, {"feasible_after", "since_conflict"}),
    "feasible_after": ([[U, V]], [[U, ["F", "above", "E"]]], None, 0, {"first_conflict"}),
    "entailed": ([[["A", "above", "E"]]], [[["A", "above", "C"]]], None, 0, {"unknown", "grounded"}),
    "contradicted": ([[["C", "above", "E"]]], [[["C", "above", "A"]]], None, 0,
                     {"unknown", "grounded", "repair", "first_conflict", "feasible_after"}),
    "unknown": ([[["A", "above", "E"]]], [[["A", "above", "C"]]], None, 0, {"entailed", "grounded"}),
    "not_evaluable": ([[U], [V]], [[["B", "above", "A"]], [V]], None, 1,
                      {"unknown", "context_feasible", "feasible_after", "since_conflict"}),
    "first_conflict": ([[U, V]], [[U, ["F", "above", "E"]]], None, 0, {"feasible_after"}),
    "repair": ([[U], [U], [["F", "above", "E"]]], [[U], [V], [["F", "above", "E"]]], None, 2, set()),
    "index": ([[U], []], [[U], [], []], None, -1, {"position"}),
    "position": ([[U], []], [[U], [], []], None, 0, set()),
    "since_conflict": ([[["B", "above", "A"]], [], []], [[], [["B", "above", "A"]], []], None, 2, set()),
    "conclusion": ([[], [U], []], [[], [U]], None, 1, {"position"}),
    "layout": ([[["E", "inside", "F"]]], [[["E", "upper_left", "F"]]], None, 0, {"containment"}),
    "containment": ([[["E", "at", "F"]]], [[["E", "not_inside", "F"]]], None, 0, {"location"}),
    "distance": ([[["E", "at", "F"]]], [[["E", "far", "F"]]], None, 0, {"location"}),
    "topology": ([[["E", "near", "F"]]], [[["E", "touching", "F"]]], None, 0, {"distance"}),
    "location": ([[["E", "contains", "F"]]], [[["E", "start", "F"]]], None, 0, {"containment"}),
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIM_FEATURES)
def test_claim_feature_moves_alone(name: str) -> None:
    before, after, scene, claim, along = CLAIM_CASES[name]
    first = features(before, scene)[0][claim]
    second = features(after, scene)[0][claim]
    moved = {key for key in first if first[key] != second[key]}
    assert name in moved
    assert moved <= along | {name}


def test_no_two_claim_features_always_move_together() -> None:
    """For every pair some case moves the one and not the other."""
    moves = {}
    for name, (before, after, scene, claim, _) in CLAIM_CASES.items():
        first, second = features(before, scene)[0][claim], features(after, scene)[0][claim]
        moves[name] = {key for key in first if first[key] != second[key]}
    for one in CLAIM_FEATURES:
        for other in CLAIM_FEATURES:
            if one != other:
                apart = any((one in moved) != (other in moved) for moved in moves.values())
                assert apart, f"{one} and {other} always move together"


TRACE_CASES: dict[str, tuple[list[Relations], list[Relations], Relations | None, set[str]]] = {
    "context_size": ([[U]], [[U]], [AB, BC, ["B", "near", "C"]], set()),
    "claims": ([[U], [U]], [[U], [U], [U], [U]], None, {"relations", "conflict_position", "entailed_rate", "unknown_rate"}),
    "relations": ([[U]], [[U, V]], None, set()),
    "parse_rate": ([[U], []], [[U], [V]], None, {"relations"}),
    "grounded_rate": ([[[*U, 1.0, False]]], [[[*U, 1.0, True]]], None, set()),
    "feasible": ([[U, V]], [[U, ["F", "above", "E"]]], None, {"conflict_position"}),
    "entailed_rate": ([[U], []], [[AB], []], None, {"unknown_rate", "grounded_rate"}),
    "contradicted_rate": ([[["C", "above", "E"]], []], [[["C", "above", "A"]], []], None,
                          {"unknown_rate", "grounded_rate", "feasible", "conflict_position", "repair_max", "repair_mean"}),
    "unknown_rate": ([[U], []], [[AB], []], None, {"entailed_rate", "grounded_rate"}),
    "not_evaluable_rate": ([[["B", "above", "A"]], [], []], [[["B", "above", "A"]], [AB], []], None,
                           {"unknown_rate", "parse_rate", "relations"}),
    "conflict_position": ([[["B", "above", "A"]], [], []], [[], [["B", "above", "A"]], []], None, set()),
    "repair_max": ([[U], [U], [V], [["F", "above", "E"]]], [[U], [V], [V], [["F", "above", "E"]]], None,
                   {"repair_mean", "entailed_rate", "unknown_rate"}),
    "repair_mean": ([[U], [["F", "above", "E"]]], [[U], [["F", "above", "E"]], []], None,
                    {"claims", "parse_rate", "entailed_rate", "contradicted_rate", "unknown_rate", "conflict_position", "conclusion_contradicted"}),
    "conclusion_entailed": ([[AB], [U]], [[U], [AB]], None, set()),
    "conclusion_contradicted": ([[["B", "above", "A"]], []], [[], [["B", "above", "A"]]], None, {"conflict_position"}),
    "conclusion_not_evaluable": ([[["B", "above", "A"]], [AB], []], [[["B", "above", "A"]], [], [AB]], None, set()),
}  # fmt: skip


@pytest.mark.parametrize("name", TRACE_FEATURES)
def test_trace_feature_moves_alone(name: str) -> None:
    before, after, scene, along = TRACE_CASES[name]
    first = features(before)[1]
    second = features(after, scene)[1]
    moved = {key for key in first if first[key] != second[key]}
    assert name in moved
    assert moved <= along | {name}


def test_hand_derived_values() -> None:
    rows, trace = features([[AB], [], [["B", "above", "A"]], [AB]])
    assert rows[2]["repair"] == 4
    assert rows[3]["since_conflict"] == 1
    assert trace["conflict_position"] == 3 / 4
    assert trace["repair_mean"] == 1
    assert trace["conclusion_not_evaluable"] == 1


def test_grounded_context_feeds_profile_and_features() -> None:
    scene, claims = [AB], [[["B", "above", "A"]], [AB]]
    assumed = symbouq.audit(scene, claims)
    grounded = symbouq.audit(scene, claims, context="grounded")
    assert [c.verdict for c in assumed.claims] == [c.verdict for c in grounded.claims]
    assert (assumed.profile.determinacy, grounded.profile.determinacy) == (0.5, 1.0)
    names = list(CLAIM_FEATURES)
    assert grounded.features.claims[1][names.index("entailed")] == 1
    assert grounded.features.claims[0][names.index("first_conflict")] == 0


def test_the_non_committal_context_admits_nothing_unresolved_and_tells_self_contradiction() -> None:
    scene, claims = [AB], [[["C", "above", "A"]], [["A", "above", "C"]], [AB]]
    found = {
        context: symbouq.audit(scene, claims, context=context)
        for context in ("assumed", "grounded", "non-committal")
    }
    index = list(CLAIM_FEATURES).index
    status = ("entailed", "contradicted", "unknown", "not_evaluable")
    verdicts = {
        context: [next(s for s in status if row[index(s)]) for row in audit.features.claims]
        for context, audit in found.items()
    }
    assert verdicts == {
        "assumed": ["unknown", "contradicted", "not_evaluable"],
        "grounded": ["unknown", "unknown", "entailed"],
        "non-committal": ["unknown", "contradicted", "entailed"],
    }
    assert found["non-committal"].profile.determinacy == pytest.approx(2 / 3)
    row = found["non-committal"].features.claims[1]
    # Dropping the first claim repairs the second; the context itself stays feasible.
    assert (row[index("first_conflict")], row[index("repair")]) == (1, 1)
    assert found["non-committal"].features.claims[2][index("context_feasible")] == 1


@pytest.mark.slow
def test_no_feature_is_constant_over_the_real_traces(data: Path) -> None:
    names = [*CLAIM_FEATURES, *TRACE_FEATURES]
    # StepGame is about directions alone.
    left = {*names} - {"containment", "distance", "topology", "location"}
    first: dict[str, float] = {}
    for audit in audits(TraceAuditor(), some_real_traces(data)):
        found = audit["features"]
        for row in found["claims"]:
            for name, value in zip(names, [*row, *found["trace"]], strict=True):
                if value != first.setdefault(name, value):
                    left.discard(name)
        if not left:
            break
    assert left == set()


def some_real_traces(data: Path) -> Iterator[Trace]:
    for file in sorted((data / "stepgame").glob("llm_traces_*cot*.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            yield from map(Trace.model_validate_json, islice(lines, None, None, 5))
