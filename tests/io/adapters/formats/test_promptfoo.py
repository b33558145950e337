"""Results of promptfoo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.writers import (
    TRACES,
    faults,
    good,
    lines,
    messages,
    promptfoo_output,
    promptfoo_result,
)

from symbouq.io.adapters.inputs import ReadOptions


def written(path: Path, document: dict[str, Any]) -> str:
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("bare", [False, True])
def test_a_file_and_a_summary_alone(bare: bool, tmp_path: Path) -> None:
    output = promptfoo_output(*map(promptfoo_result, TRACES))
    path = written(tmp_path / "out.json", output["results"] if bare else output)
    records = good(path)
    assert [record["id"] for record in records] == ["1", "2", "3"]
    assert records[0]["scene"] == TRACES[0]["scene"]
    assert (records[0]["response"], records[0]["model"]) == (TRACES[0]["response"], "m")


def test_results_without_an_id(tmp_path: Path) -> None:
    rows = [{k: v for k, v in promptfoo_result(t).items() if k != "id"} for t in TRACES]
    records = good(lines(tmp_path / "out.jsonl", *rows))
    assert [record["id"] for record in records] == ["1", "2", "3"]


def test_prompts_that_are_chats(tmp_path: Path) -> None:
    raw = json.dumps(messages(TRACES[0]), indent=2)
    row = promptfoo_result(TRACES[0], prompt={"raw": raw, "label": "chat"})
    (record,) = good(lines(tmp_path / "out.jsonl", row))
    assert (record["scene"], record["question"]) == (TRACES[0]["scene"], TRACES[0]["question"])


def test_scene_and_question_may_be_variables(tmp_path: Path) -> None:
    asked = {"scene": "P is left of Q.", "question": "Where is Q?"}
    row = promptfoo_result(TRACES[0], vars=asked)
    (record,) = good(lines(tmp_path / "out.jsonl", row))
    assert (record["scene"], record["question"]) == ("P is left of Q.", "Where is Q?")
    row = promptfoo_result(TRACES[0], vars=None, testCase={"vars": asked})
    assert good(lines(tmp_path / "out.jsonl", row))[0]["scene"] == "P is left of Q."
    path = lines(tmp_path / "out.jsonl", promptfoo_result(TRACES[0]))
    assert (
        good(path, ReadOptions(mapping=(("scene", "vars.story"),)))[0]["scene"]
        == (TRACES[0]["scene"])
    )


def test_results_that_failed(tmp_path: Path) -> None:
    rows = [
        promptfoo_result(TRACES[0], response=None, error="API\nerror"),
        promptfoo_result(TRACES[0], response={"error": "timeout"}),
        promptfoo_result(TRACES[0], response={"output": 1}),
        {"id": "4"},
    ]
    assert faults(lines(tmp_path / "out.jsonl", *rows)) == [
        "out.jsonl:1: the request failed: API error",
        "out.jsonl:2: the request failed: timeout",
        "out.jsonl:3: response.output: expected a text or a message, found a number",
        "out.jsonl:4: expected a result of promptfoo (prompt, vars, response), found an object "
        "with id",
    ]


def test_no_results(tmp_path: Path) -> None:
    path = written(tmp_path / "out.json", promptfoo_output())
    (fault,) = faults(path, ReadOptions(format="promptfoo"))
    assert fault.startswith(
        "out.json:1: expected a result of promptfoo (prompt, vars, response), found an object with"
    )
