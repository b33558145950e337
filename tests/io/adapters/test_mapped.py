"""Formats that files declare, those of users among them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import writers
from helpers.commands import run
from helpers.writers import TRACES, faults, good, lines

from symbouq.errors import SymboUQError
from symbouq.io.adapters import FORMATS, PLAIN, adapter
from symbouq.io.adapters.choice import read_options
from symbouq.io.adapters.fields import lookup, reached
from symbouq.io.adapters.inputs import ReadOptions
from symbouq.io.adapters.mapped import _Mapped, holds

TRACE = TRACES[0]
MINE = """
title = "a run of my tool (run, said)"
recognised = ["run & said"]
items = ["log.runs"]
only = ["kind=answer"]
[fields]
id = ["run"]
scene = ["asked.where"]
question = ["asked.what"]
response = ["said.text", "said"]
thought = ["said.why"]
finish = ["said.stop"]
error = ["fault"]
"""


@pytest.fixture
def mine(tmp_path: Path) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(MINE)
    return str(path)


def mine_row(number: int, **said: Any) -> dict[str, Any]:
    asked = {"where": "The jar is above the tin.", "what": "Where is the jar?"}
    return {"run": number, "kind": "answer", "asked": asked, "said": said or None}


def test_a_declaration_of_ones_own(mine: str, tmp_path: Path) -> None:
    rows = [
        mine_row(1, text="The jar is above the tin.", why="The tin is below the jar."),
        {"kind": "tool"},
        mine_row(2, text="The jar is", stop="length"),
        mine_row(3),
    ]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"log": {"runs": rows}}, indent=1))
    options = read_options(mine)
    first, cut, empty = good(str(path), options)
    assert first["id"] == "1"
    assert first["response"].startswith("<think>\nThe tin is below the jar.\n</think>\nThe jar")
    assert cut["truncated"]
    assert empty["response"] == ""
    failed = {**mine_row(4), "fault": {"error": {"message": "rate\nlimit"}}}
    assert faults(lines(tmp_path / "failed.jsonl", failed), options) == [
        "failed.jsonl:1: the request failed: rate limit"
    ]
    result = run("audit", str(path), "--format", mine)
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = 1", "declares no format: title: "),
        ("title = [", "declares no format: "),
        (MINE.replace("thought", "thoughts"), "a trace has no field thoughts; there are system,"),
        (MINE.replace("items", "item"), "declares no format: item: Extra inputs"),
    ],
)
def test_a_declaration_with_a_fault(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(SymboUQError) as error:
        read_options(str(path))
    assert error.value.message.startswith(message)
    result = run("audit", lines(tmp_path / "x.jsonl", {}), "--format", str(path))
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        ({"a": {"b": [1, 2]}}, "a.b.-1", 2),
        ({"a": {"b": [1, 2]}}, "a.b.5", None),
        ({"a.b": {"c": 1}}, "a.b.c", 1),
        ({"a": '{"b": [{"c": 1}]}'}, "a.b.0.c", 1),
        ({"a": [{"b": 1}, {"c": 0}, {"b": 2}]}, "a.*.b", [1, 2]),
        ({"m.0.role": "user", "m.0.text": "Q", "m.1.text": "A"}, "m.1.text", "A"),
        ({"m.0.role": "user", "m.0.text": "Q"}, "m", [{"role": "user", "text": "Q"}]),
        ([{"key": "a.b", "value": {"intValue": "3"}}], "a.b", "3"),
        (
            [{"key": "a", "value": {"arrayValue": {"values": [{"stringValue": "x"}]}}}],
            "a.0",
            "x",
        ),
        ({"a": 1}, ".", {"a": 1}),
        ({"a": None}, "a.b", None),
    ],
)
def test_paths(value: Any, path: str, found: Any) -> None:
    assert reached(value, path) == found
    if found is not None and path != ".":
        assert lookup(value, "scene", path) == found


def test_conditions() -> None:
    record = {"type": "LLM", "parent": "", "spans": {"kind": '"CHAT"'}}
    assert holds(record, ["x", "type=llm & !parent"])
    assert holds(record, ["spans.kind=chat"])
    assert not holds(record, ["type=llm & spans.none", "!type", "x=1"])


def test_requests_of_other_batches(tmp_path: Path) -> None:
    for name, row, place in (
        ("anthropic", writers.anthropic_row(TRACE), "params"),
        ("gemini", writers.gemini_row(TRACE), "request"),
    ):
        request = {k: v for k, v in row.items() if k not in ("result", "response")}
        path = lines(tmp_path / f"{name}.jsonl", {k: v for k, v in row.items() if k != place})
        requests = lines(tmp_path / f"{name}-in.jsonl", request)
        (record,) = good(path, ReadOptions(batch_input=requests))
        assert record["scene"].endswith(TRACE["scene"])
        assert record["question"] == TRACE["question"]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (
            {"custom_id": "1", "result": {"type": "errored", "error": {"message": "Overloaded"}}},
            "the request failed: Overloaded",
        ),
        ({"custom_id": "1", "result": {"type": "expired"}}, "the request failed: expired"),
        ({"key": "1", "error": {"code": 3, "message": "bad"}}, "the request failed: bad"),
        (
            {"recordId": "1", "modelInput": {}, "error": {"errorCode": 4, "errorMessage": "no"}},
            "the request failed: no",
        ),
        (
            {"id": "1", "run_type": "llm", "inputs": {}, "outputs": None, "error": "Boom()"},
            "the request failed: Boom()",
        ),
    ],
)
def test_requests_that_failed(row: dict[str, Any], fault: str, tmp_path: Path) -> None:
    assert faults(lines(tmp_path / "out.jsonl", row)) == [f"out.jsonl:1: {fault}"]


def test_roots_where_no_model_is_called(tmp_path: Path) -> None:
    root = {**writers.langsmith_row(TRACE), "run_type": "chain"}
    root |= {"inputs": {"question": writers.prompt(TRACE)}, "outputs": {"output": "above"}}
    child = {**root, "id": "2", "parent_run_id": "1"}
    (record,) = good(lines(tmp_path / "runs.jsonl", root, child))
    assert (record["id"], record["response"]) == ("1", "above")
    model = {**writers.langsmith_row(TRACES[1]), "parent_run_id": "1"}
    (record,) = good(lines(tmp_path / "runs.jsonl", root, model))
    assert record["id"] == "2"


def test_json_in_a_field_is_decoded(tmp_path: Path) -> None:
    row = writers.braintrust_row(TRACE)
    row["output"] = json.dumps(row["output"])
    (record,) = good(lines(tmp_path / "rows.jsonl", row))
    assert record["response"] == TRACE["response"]
    row = writers.promptfoo_result(TRACE)
    row["response"]["output"] = {"reasoning": "The oven is above the sink.", "answer": "above"}
    (record,) = good(lines(tmp_path / "rows.jsonl", row))
    assert json.loads(record["response"]) == row["response"]["output"]


def test_items_of_one_object(tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    rows = [{**trace, "id": n} for n, trace in enumerate(TRACES)]
    path.write_text(json.dumps({"meta": [{"rows": [1]}], "runs": [{"rows": rows}]}, indent=2))
    result = run("audit", str(path), "--items", "runs.*.rows")
    audits = [json.loads(line) for line in result.stdout.splitlines()]
    assert [audit["id"] for audit in audits] == ["0", "1", "2"]
    text = path.read_text().splitlines()
    assert all(text[audit["source"]["line"] - 1].strip() == "{" for audit in audits)
    result = run("audit", str(path), "--items", "runs.*.row")
    assert result.exit_code == 1
    assert "expected records at runs.*.row.*, found none in it, but an object with" in result.stderr
    hint = run("audit", str(path)).stderr
    assert "say where its records are: --items meta" in hint


@pytest.mark.parametrize(
    "row",
    [
        {
            "trace_id": "1",
            "spans": [],
            "request": json.dumps({"question": writers.prompt(TRACE)}),
            "response": json.dumps(TRACE["response"]),
        },
        {
            "context.span_id": "1",
            "attributes.llm.input_messages": [
                {"message.role": "user", "message.content": writers.prompt(TRACE)}
            ],
            "attributes.llm.output_messages": [
                {"message.role": "assistant", "message.content": TRACE["response"]}
            ],
        },
        {
            "id": "1",
            "name": "trace",
            "environment": "default",
            "input": {"messages": writers.messages(TRACE)},
            "output": TRACE["response"],
        },
    ],
)
def test_other_shapes_of_known_formats(row: dict[str, Any], tmp_path: Path) -> None:
    (record,) = good(lines(tmp_path / "rows.jsonl", row))
    assert (record["id"], record["scene"]) == ("1", TRACE["scene"])
    assert record["response"] == TRACE["response"]


@pytest.mark.parametrize(
    "options",
    [
        {"choices": ["above", "below"]},
        {"choices": {"text": ["above", "below"], "label": ["A", "B"]}},
        {"options": {"B": "below", "A": "above"}},
        {"options": ["A. above", "B. below"]},
        {"state": {"choices": [{"value": "above", "correct": True}, {"value": "below"}]}},
        {"choices": '["above", "below"]'},
    ],
)
def test_options_are_an_answer_space(options: dict[str, Any], tmp_path: Path) -> None:
    row = {"id": 7, "scene": "The jar is above the tin.", "response": "ANSWER: A", **options}
    (record,) = good(lines(tmp_path / "own.jsonl", row))
    assert (record["id"], record["answer_space"]) == ("7", ["above", "below"])


DOCS = Path(__file__).parents[3] / "docs" / "formats.md"
DECLARED = [n for n in FORMATS if n not in PLAIN and issubclass(adapter(n), _Mapped)]


def documented(name: str) -> str:
    """The row of the documentation about a format."""
    given = adapter(name).given  # type: ignore[attr-defined]

    def paths(*fields: str) -> str:
        listed = [path for field in fields for path in given.fields.get(field, ())]
        return ", ".join("the record" if path == "." else f"`{path}`" for path in listed)

    title = given.title[:1].upper() + given.title[1:]
    items = f"; items of {', '.join(f'`{path}`' for path in given.items)}" if given.items else ""
    asked = "; ".join(filter(None, (paths("scene", "question", "prompt"), paths("system"))))
    return f"| `{name}` | {title}{items} | {asked} | {paths('response')} |"


def test_the_documentation_has_a_row_a_format() -> None:
    text = DOCS.read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `") and "--format" not in line]
    assert rows == [documented(name) for name in DECLARED]
