"""Rows and sheets of the report."""

from __future__ import annotations

import json
from typing import Any

import pytest

from symbouq.auditing.auditor import TraceAuditor
from symbouq.records import Trace, make_record
from symbouq.report.entries import Entry, entry, label_of, marked

AUDITOR = TraceAuditor()
KITCHEN = {
    "id": "k",
    "scene": ["The oven is above the sink.", "The sink is to the right of the fridge."],
    "question": "Where is the oven relative to the fridge?",
    "reasoning": ["The sink is right of the fridge.", "Hm."],
    "conclusion": "The oven is to the upper left of the fridge.",
    "model": "m",
}


def made(**fields: Any) -> Entry:
    trace = make_record(Trace, {**KITCHEN, **fields})
    return entry(AUDITOR, trace, AUDITOR.audited(trace, "f.jsonl", 3))


def test_row() -> None:
    row = made(correct=False).row
    assert row == {
        "id": "k",
        "verdicts": ["entailed", "unread", "contradicted"],
        "score": row["score"],
        "first": 3,
        "feasible": True,
        "conditional": 0,
        "determinacy": 1.0,
        "label": False,
        "model": "m",
        "profile": "nine-way",
        "file": "f.jsonl",
        "place": "f.jsonl:3",
        "why": row["why"],
    }
    assert row["why"].startswith("3. ")
    assert "cannot hold together with scene" in row["why"]


def test_sheet() -> None:
    sheet = json.loads(made().sheet)
    first = sheet["sentences"][0]
    assert first["parts"] == [["The ", []], ["oven is above the sink", [0]], [".", []]]
    assert first["relations"] == [
        {
            "subject": "oven",
            "relation": "above",
            "words": "above",
            "object": "sink",
            "confidence": 0.95,
        }
    ]
    assert sheet["source"] == "f.jsonl:3"
    assert sheet["claims"][2]["premises"] == ["scene:1", "scene:2"]
    assert sheet["claims"][2]["relations"][0]["words"] == "to the upper left of"
    assert sheet["claims"][1]["parts"] == [["Hm.", []]]
    assert sheet["picture"]["regions"][2][0]["possible"] == "001000000"


def test_sheet_of_relations_without_text() -> None:
    trace = make_record(
        Trace,
        {
            "id": "r",
            "scene_relations": [
                {"subject": "A", "relation": "left", "object": "B", "sentence": 2},
                {"subject": "B", "relation": "left", "object": "C", "sentence": 4},
            ],
            "claims": [{"relations": [["A", "left", "C"]]}],
        },
    )
    sheet = json.loads(entry(AUDITOR, trace, AUDITOR.audited(trace)).sheet)
    # Premises keep their numbers: what is not stated in relations has none.
    assert [len(line["relations"]) for line in sheet["sentences"]] == [0, 1, 0, 1]
    assert sheet["sentences"][1]["parts"] == []
    assert sheet["source"] is None


@pytest.mark.parametrize(
    ("spans", "parts"),
    [
        ([], [["0123456789", []]]),
        ([[2, 4]], [["01", []], ["23", [0]], ["456789", []]]),
        ([[0, 4], [2, 10]], [["01", [0]], ["23", [0, 1]], ["456789", [1]]]),
        ([None, [8, 99], [-1, 2], [5, 5]], [["0123456789", []]]),
    ],
)
def test_marked(spans: list[list[int] | None], parts: list[Any]) -> None:
    assert marked("0123456789", [{"span": span} for span in spans]) == parts


def test_marked_counts_characters_not_code_units() -> None:
    assert marked("\U0001f600ab", [{"span": [1, 2]}]) == [["\U0001f600", []], ["a", [0]], ["b", []]]


def test_marked_of_nothing() -> None:
    assert marked("", []) == []


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({}, None),
        ({"correct": True, "answer": "left", "answer_space": ["left", "right"]}, True),
        ({"correct": 0}, False),
        ({"correct": "perhaps"}, None),
        ({"answer": "upper-left", "answer_space": ["upper-left", "lower-right", "above"]}, True),
        ({"answer": "above", "answer_space": ["upper-left", "lower-right", "above"]}, False),
        ({"answer": "above"}, None),
    ],
)
def test_label(fields: dict[str, Any], label: bool | None) -> None:
    assert label_of(make_record(Trace, {**KITCHEN, **fields})) is label


def test_label_of_a_response_and_of_relations() -> None:
    space = {"answer": "left", "answer_space": ["left", "right"]}
    response = {"id": "a", "scene": ["A is left of B."], "response": "Well.\nAnswer: left", **space}
    assert label_of(make_record(Trace, response)) is True
    claims = [{"relations": [["A", "left", "B"]], "text": "right"}]
    structured = {"id": "a", "scene_relations": [["A", "left", "B"]], "claims": claims, **space}
    assert label_of(make_record(Trace, structured)) is False
