"""Inputs of no known format: one hint a file, what fails by itself as before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.writers import TRACES, lines
from hypothesis import given
from hypothesis import strategies as st

from symbouq.errors import RecordError
from symbouq.io.adapters.choice import read_options, trace_files
from symbouq.io.adapters.inputs import TraceFile
from symbouq.io.adapters.unrecognised import mapping_for
from symbouq.io.stream import read_lines

SCENE = "The mug is left of the bowl."
QUESTION = "Where is the bowl relative to the mug?"
ANSWER = "The bowl is right of the mug."


@pytest.mark.parametrize(
    ("record", "options"),
    [
        (
            {"context": SCENE, "asked": QUESTION, "completion": ANSWER},
            "--map scene=context --map question=asked --map response=completion",
        ),
        (
            {"Story": [SCENE, SCENE], "question": QUESTION, "response": ANSWER},
            "--map scene=Story",
        ),
        (
            {"doc": {"story": SCENE, "query": QUESTION}, "result": {"output": ANSWER}},
            "--map scene=doc.story --map question=doc.query --map response=result.output",
        ),
        (
            {"n": 3, "q": f"{SCENE} {QUESTION}", "a": ANSWER},
            "--map prompt=q --map response=a",
        ),
        ({"q": QUESTION, "x": SCENE, "y": ANSWER}, "--map scene=FIELD --map response=FIELD"),
        (
            {"the doc": {"context": SCENE}, "reply": "up"},
            "--map 'scene=the doc.context' --map response=reply",
        ),
        ({}, "--map scene=FIELD --map response=FIELD"),
    ],
)
def test_options_that_a_record_suggests(record: dict[str, Any], options: str) -> None:
    assert mapping_for(record) == options


NAMES = st.sampled_from(["context", "query", "reply", "q", "a", "b.c", "x y"])
JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=9) | st.sampled_from([SCENE, QUESTION, ANSWER]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, JSON, max_size=5))
def test_any_record_suggests_a_scene_and_a_response(record: dict[str, Any]) -> None:
    options = mapping_for(record)
    assert "scene=" in options or "prompt=" in options
    assert "response=" in options
    assert "\n" not in options


def faults(path: str) -> list[str]:
    (file,) = trace_files([path], read_options())
    return [f"{e.line}: {e.message}" for e in read_lines(file) if isinstance(e, RecordError)]


def test_one_hint_a_file(tmp_path: Path) -> None:
    row = {"context": SCENE, "asked": QUESTION, "completion": ANSWER}
    path = lines(tmp_path / "runs.jsonl", b"{", row, row, b"[", row)
    assert faults(path) == [
        "2: expected a trace or a record of a known format, found an object with context, asked, "
        "completion; name its fields: --map scene=context --map question=asked "
        "--map response=completion",
        "5: 2 more records without a scene, up to this one",
    ]
    assert len(list(read_lines(TraceFile(path, read_options())))) == 4


@pytest.mark.parametrize("row", [{"id": 1}, [1]])
def test_what_lacks_fields_of_its_own_is_left_to_the_work(row: Any, tmp_path: Path) -> None:
    assert faults(lines(tmp_path / "own.jsonl", row, TRACES[0])) == []


def test_an_object_with_a_list_names_the_way_to_it(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps({"rows": [{"x": 1}] * 3}, indent=1))
    assert faults(str(path)) == [
        "1: expected a trace or a record of a known format, found an object with rows; say where "
        "its records are: --items rows"
    ]


def test_a_long_trace_of_our_own_is_untouched(tmp_path: Path) -> None:
    row = {"id": "1", "tokens": ["x" * 90_000], **TRACES[0]}
    assert faults(lines(tmp_path / "own.jsonl", row)) == []
