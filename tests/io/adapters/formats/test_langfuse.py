"""Observations of langfuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.writers import TRACES, faults, good, lines, messages, observation

from symbouq.io.adapters.inputs import ReadOptions

ASKED = {"scene": TRACES[0]["scene"], "question": TRACES[0]["question"]}


@pytest.mark.parametrize(
    "asked",
    [
        messages(TRACES[0]),
        {"messages": messages(TRACES[0]), "temperature": 0},
        json.dumps(messages(TRACES[0])),
        json.dumps({"messages": messages(TRACES[0])}),
        f"{TRACES[0]['scene']} {TRACES[0]['question']}",
    ],
)
def test_inputs(asked: Any, tmp_path: Path) -> None:
    (record,) = good(lines(tmp_path / "in.jsonl", observation(TRACES[0], input=asked)))
    assert {name: record[name] for name in ASKED} == ASKED
    assert (record["id"], record["model"]) == ("1", "m")


@pytest.mark.parametrize(
    "said",
    [
        "left",
        {"role": "assistant", "content": "left"},
        [{"role": "assistant", "content": "left"}],
        json.dumps({"role": "assistant", "content": "left"}),
    ],
)
def test_outputs(said: Any, tmp_path: Path) -> None:
    (record,) = good(lines(tmp_path / "in.jsonl", observation(TRACES[0], output=said)))
    assert record["response"] == "left"


def test_rows_of_blob_storage(tmp_path: Path) -> None:
    row = observation(TRACES[0], input=json.dumps(messages(TRACES[0])), output="left")
    row["trace_id"], row["provided_model_name"] = row.pop("traceId"), row.pop("model")
    (record,) = good(lines(tmp_path / "in.jsonl", row))
    assert {name: record[name] for name in ASKED} == ASKED
    assert record["model"] == "m"


@pytest.mark.parametrize("name", ["observations", "data"])
def test_a_trace_and_a_page_of_the_api(name: str, tmp_path: Path) -> None:
    span = observation(TRACES[1], type="SPAN")
    document = {name: [observation(TRACES[0]), span, observation(TRACES[2])], "meta": {"data": []}}
    (tmp_path / "trace.json").write_text(json.dumps(document, indent=2))
    records = good(str(tmp_path / "trace.json"))
    assert [record["id"] for record in records] == ["1", "3"]


def test_what_no_model_wrote_is_left_out(tmp_path: Path) -> None:
    rows = [observation(TRACES[0], type="SPAN"), observation(TRACES[1], type="TOOL")]
    assert faults(lines(tmp_path / "in.jsonl", *rows)) == [
        "in.jsonl:1: expected records with type=GENERATION or !type, found none of them"
    ]


def test_observations_that_failed(tmp_path: Path) -> None:
    rows = [
        observation(TRACES[0], level="ERROR", output=None, statusMessage="rate\nlimit"),
        observation(TRACES[0], output=None),
        observation(TRACES[0], input={"city": "x"}),
        {"id": "4", "traceId": "t"},
        observation(TRACES[1]),
    ]
    path = lines(tmp_path / "in.jsonl", *rows)
    assert faults(path) == [
        "in.jsonl:1: the request failed: rate limit",
        "in.jsonl:3: input: expected a text, messages or an object with messages, found an object "
        "with city",
        "in.jsonl:4: expected an observation of langfuse (id, input, output), found an object with "
        "id, traceId",
    ]


def test_scene_in_the_metadata(tmp_path: Path) -> None:
    path = lines(tmp_path / "in.jsonl", observation(TRACES[0], metadata={"scene": ["A is B."]}))
    (record,) = good(path)
    assert record["scene"] == ["A is B."]
    (record,) = good(
        lines(tmp_path / "in.jsonl", observation(TRACES[0])),
        ReadOptions(mapping=(("scene", "metadata.story"),)),
    )
    assert record["scene"] == TRACES[0]["scene"]
