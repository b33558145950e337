"""Logs of inspect_ai, indented or on one line, with epochs, parts and attachments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.writers import TRACES, faults, good, inspect_log, inspect_sample, messages, read

from symbouq.io.adapters.inputs import ReadOptions


def log(path: Path, *samples: Any, indent: int | None = 2) -> str:
    path.write_text(json.dumps(inspect_log(*samples), indent=indent), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("indent", [None, 2])
def test_samples_with_their_epochs(indent: int | None, tmp_path: Path) -> None:
    samples = [inspect_sample(t, epoch) for epoch in (1, 2) for t in TRACES[:2]]
    records = good(log(tmp_path / "log.json", *samples, indent=indent))
    assert [record["id"] for record in records] == ["1", "2", "1:2", "2:2"]
    assert {record["model"] for record in records} == {"m"}
    assert {record["answer"] for record in records} == {"above"}


def test_input_as_messages(tmp_path: Path) -> None:
    sample = {**inspect_sample(TRACES[0]), "input": messages(TRACES[0])}
    (record,) = good(log(tmp_path / "log.json", sample))
    assert record["scene"] == TRACES[0]["scene"]


def test_reasoning_stands_before_the_answer(tmp_path: Path) -> None:
    sample = inspect_sample(TRACES[0])
    sample["output"]["choices"][0]["message"]["content"] = [
        {"type": "reasoning", "reasoning": "The oven is above the sink."},
        {"type": "text", "text": "Answer: upper right"},
    ]
    (record,) = good(log(tmp_path / "log.json", sample))
    assert record["response"] == (
        "<think>\nThe oven is above the sink.\n</think>\nAnswer: upper right"
    )


def test_further_choices_are_samples(tmp_path: Path) -> None:
    (record,) = good(log(tmp_path / "log.json", inspect_sample(TRACES[0], 1, "left", "below")))
    assert record["samples"] == ["left", "below"]


def test_a_completion_without_choices(tmp_path: Path) -> None:
    sample = inspect_sample(TRACES[0])
    del sample["output"]["choices"]
    (record,) = good(log(tmp_path / "log.json", sample))
    assert record["response"] == TRACES[0]["response"]


def test_attachments_are_put_back(tmp_path: Path) -> None:
    sample = inspect_sample(TRACES[0])
    sample["attachments"] = {"a1": sample["input"], "a2": "Answer: above"}
    sample["input"] = "attachment://a1"
    sample["output"]["choices"][0]["message"]["content"] = "attachment://a2"
    (record,) = good(log(tmp_path / "log.json", sample))
    assert (record["scene"], record["response"]) == (TRACES[0]["scene"], "Answer: above")


def test_mapping_looks_into_the_sample(tmp_path: Path) -> None:
    path = log(tmp_path / "log.json", inspect_sample(TRACES[0]))
    mapping = (("scene", "metadata.story"), ("correct", "scores.match.value"))
    (record,) = good(path, ReadOptions(mapping=mapping))
    assert (record["scene"], record["correct"]) == (TRACES[0]["scene"], "C")


def test_faults_name_the_sample(tmp_path: Path) -> None:
    failed = {**inspect_sample(TRACES[1]), "error": {"message": "out of\nmemory"}}
    failed["output"] = {"model": "m", "choices": [], "completion": ""}
    silent = {**inspect_sample(TRACES[2]), "output": {"model": "m", "choices": []}}
    path = log(tmp_path / "log.json", inspect_sample(TRACES[0]), failed, silent, {"id": 4}, 5)
    expected = "expected a sample of inspect_ai (id, epoch, input, output), found"
    told = [fault.partition(":")[2].partition(": ") for fault in faults(path)]
    assert [message for _, _, message in told] == [
        "the sample ended in an error: out of memory",
        "output: expected choices or a completion, found an object with model, choices",
        f"{expected} an object with id",
        f"{expected} a number",
    ]
    text = Path(path).read_text().splitlines()
    assert text[int(told[2][0]) - 1].strip() == "{"
    assert text[int(told[2][0])].strip() == '"id": 4'


def test_a_log_that_breaks_off_keeps_what_precedes(tmp_path: Path) -> None:
    path = log(tmp_path / "log.json", *map(inspect_sample, TRACES))
    whole = Path(path).read_bytes()
    Path(path).write_bytes(whole[:-900])
    assert len(read(path)) == 3
    (fault,) = faults(path)
    assert fault.endswith(": the file breaks off before its JSON is complete")


def test_a_log_without_samples(tmp_path: Path) -> None:
    (fault,) = faults(log(tmp_path / "log.json"))
    assert fault.startswith("log.json:1: expected records at samples.*, found none in it")
    (tmp_path / "other").write_text('{"id": "1"}')
    (fault,) = faults(str(tmp_path / "other"), ReadOptions("inspect"))
    assert fault.endswith("found none in it, but an object with id")


def test_a_damaged_archive(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")
    (tmp_path / "log.eval").write_bytes(b"PK\x03\x04 and then nothing")
    (fault,) = faults(str(tmp_path / "log.eval"))
    assert fault.startswith("log.eval:1: inspect_ai cannot read this log: ")


def test_scene_and_question_may_stand_in_the_metadata(tmp_path: Path) -> None:
    kept = {"scene": "A is left of B.", "question": "Where is A?", "answer_space": ["left"]}
    sample = {**inspect_sample(TRACES[0]), "metadata": kept}
    (record,) = good(log(tmp_path / "log.json", sample))
    assert {name: record[name] for name in kept} == kept
