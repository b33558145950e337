"""Pairs of prompt and completion."""

from __future__ import annotations

from pathlib import Path

from helpers.writers import TRACES, faults, good, lines, messages, pair_row

from symbouq.io.adapters.inputs import ReadOptions


def test_pairs_without_an_id(tmp_path: Path) -> None:
    rows = [{k: v for k, v in pair_row(trace).items() if k != "id"} for trace in TRACES]
    records = good(lines(tmp_path / "pairs.jsonl", *rows))
    assert [record["id"] for record in records] == ["1", "2", "3"]
    assert [record["response"] for record in records] == [t["response"] for t in TRACES]
    assert records[1]["scene"] == TRACES[1]["scene"]


def test_instructions_with_an_input(tmp_path: Path) -> None:
    rows = [
        {
            "instruction": "Where is the mug relative to the bowl?",
            "input": "The mug is left of the bowl.",
            "output": "left",
        },
        {
            "instruction": "Answer the question about the story.",
            "input": "The mug is left of the bowl. Where is the bowl relative to the mug?",
            "output": "right",
        },
    ]
    records = good(lines(tmp_path / "pairs.jsonl", *rows))
    assert [record["scene"] for record in records] == ["The mug is left of the bowl."] * 2
    assert [record["question"] for record in records] == [
        "Where is the mug relative to the bowl?",
        "Where is the bowl relative to the mug?",
    ]
    assert [record["response"] for record in records] == ["left", "right"]


def test_pairs_of_messages(tmp_path: Path) -> None:
    said = [{"role": "assistant", "content": "upper right"}]
    row = {"prompt": messages(TRACES[0]), "completion": said}
    (record,) = good(lines(tmp_path / "pairs.jsonl", row))
    assert (record["scene"], record["response"]) == (TRACES[0]["scene"], "upper right")


def test_a_pair_without_its_answer(tmp_path: Path) -> None:
    path = lines(tmp_path / "pairs.jsonl", pair_row(TRACES[0]), {"prompt": "Where?"})
    assert faults(path) == [
        "pairs.jsonl:2: expected a pair of prompt and completion (or instruction, input and "
        "output), found an object with prompt"
    ]


def test_a_completion_beside_its_scene(tmp_path: Path) -> None:
    asked = {"scene": "The mug is left of the bowl.", "question": "Where is the mug?"}
    said = {"completion": "It is left of the bowl."}
    alone, prompted = good(
        lines(tmp_path / "pairs.jsonl", asked | said, asked | said | {"prompt": "Think!"})
    )
    for record in (alone, prompted):
        assert (record["scene"], record["question"]) == (asked["scene"], asked["question"])
        assert record["response"] == said["completion"]


def test_a_trace_of_our_own_stays_one(tmp_path: Path) -> None:
    own = {
        "id": "own",
        "scene": "A is above B.",
        "reasoning": ["B is below A."],
        "conclusion": "no",
    }
    (record,) = good(lines(tmp_path / "own.jsonl", own | {"prompt": "Think!", "output": "?"}))
    assert (record["id"], record["conclusion"]) == ("own", "no")


def test_a_trace_of_our_own_whose_scene_comes_late(tmp_path: Path) -> None:
    own = {**TRACES[0], "response": "above"}
    long = {"prompt": "x" * 200_000, "completion": "y", **own}
    (record,) = good(lines(tmp_path / "in.jsonl", long))
    assert {name: record[name] for name in own} == own


def test_mapped_texts_are_not_guessed(tmp_path: Path) -> None:
    row = {"prompt": "Think step by step.", "completion": {"steps": "above"}, "story": "A is at B."}
    path = lines(tmp_path / "in.jsonl", row)
    reading = ReadOptions(mapping=(("scene", "story"), ("response", "completion.steps")))
    (record,) = good(path, reading)
    assert (record["scene"], record["response"]) == ("A is at B.", "above")
