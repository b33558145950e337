"""All features and the profile of ten traces, derived by hand (`golden.txt`)."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from symbouq.api import TraceAuditor
from symbouq.records import Trace
from symbouq.records.features import CLAIM_FEATURES, TRACE_FEATURES

RELATION = re.compile(r"(\w+) (\w+) (\w+)(?: \((\S+)\))?( ungrounded)?")
BLOCKS = [
    [line.split(maxsplit=1) for line in block.splitlines() if not line.startswith("#")]
    for block in (Path(__file__).parent / "golden.txt")
    .read_text(encoding="utf-8")
    .split("\n\n")[1:]
]


def relation(text: str) -> dict[str, Any]:
    found = RELATION.fullmatch(text.strip())
    assert found, text
    subject, name, thing, confidence, ungrounded = found.groups()
    record: dict[str, Any] = {"subject": subject, "relation": name, "object": thing}
    if confidence:
        record["confidence"] = float(Fraction(confidence))
    return {**record, "grounded": False} if ungrounded else record


def numbers(text: str) -> list[float]:
    return [float(Fraction(number)) for number in text.replace("|", " ").split()]


def named(names: dict[str, str], values: list[float]) -> dict[str, float]:
    return dict(zip(names, values, strict=True))


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block[0][1])
def test_features_and_profile_by_hand(block: list[list[str]]) -> None:
    (_, scene), *rows, (_, trace), (_, profile) = block
    claims = [row.split("|", maxsplit=1) for _, row in rows]
    record = {
        "id": "t",
        "scene_relations": [relation(text) for text in scene.split(";")],
        "claims": [
            {"relations": [relation(r) for r in said.split("&") if r.strip() != "-"]}
            for said, _ in claims
        ],
    }
    audit = TraceAuditor("nine-way").audit(Trace.model_validate(record))
    for found, (said, values) in zip(audit.features.claims, claims, strict=True):
        wanted = named(CLAIM_FEATURES, numbers(values))
        assert named(CLAIM_FEATURES, found) == pytest.approx(wanted), said
    assert named(TRACE_FEATURES, audit.features.trace) == pytest.approx(
        named(TRACE_FEATURES, numbers(trace))
    )
    assert list(audit.profile.model_dump().values()) == pytest.approx(numbers(profile))


def test_there_are_ten_and_each_feature_has_two_values() -> None:
    assert len(BLOCKS) == 10
    rows = [numbers(row.split("|", maxsplit=1)[1]) for block in BLOCKS for _, row in block[1:-2]]
    traces = [numbers(block[-2][1]) for block in BLOCKS]
    for table in (rows, traces):
        assert all(len(set(column)) > 1 for column in zip(*table, strict=True))
