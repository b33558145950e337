"""Conversations."""

from __future__ import annotations

from pathlib import Path

from helpers.writers import (
    TRACES,
    chat_row,
    completion,
    faults,
    good,
    lines,
    messages,
    sharegpt_row,
)

from symbouq.io.adapters import adapter
from symbouq.io.adapters.inputs import ReadOptions, opened

EXPECTED = "expected a conversation (messages or conversations), found"


def test_the_prompt_is_what_stands_before_the_answer(tmp_path: Path) -> None:
    (record,) = good(lines(tmp_path / "chats.jsonl", chat_row(TRACES[0])))
    assert record == {name: TRACES[0][name] for name in ("id", "scene", "question", "response")}


def test_without_an_id_the_number_is_it(tmp_path: Path) -> None:
    rows = [sharegpt_row(trace) for trace in TRACES[:2]]
    for row in rows:
        del row["id"]
    records = good(lines(tmp_path / "chats.jsonl", *rows))
    assert [record["id"] for record in records] == ["1", "2"]
    assert [record["scene"] for record in records] == [trace["scene"] for trace in TRACES[:2]]


def test_what_was_asked_may_stand_beside_the_messages(tmp_path: Path) -> None:
    row = {**chat_row(TRACES[0]), "question": "Where?", "scene": "P is left of Q.", "answer": "up"}
    path = lines(tmp_path / "chats.jsonl", row)
    (record,) = good(path, ReadOptions("chat"))
    assert (record["scene"], record["question"]) == ("P is left of Q.", "Where?")
    assert record["answer"] == "up"


def test_one_bad_record_costs_no_other(tmp_path: Path) -> None:
    rows = [chat_row(TRACES[0]), {"messages": "hm"}, {"id": "x"}, chat_row(TRACES[1])]
    path = lines(tmp_path / "chats.jsonl", *rows)
    assert faults(path) == [
        f"chats.jsonl:2: {EXPECTED} an object with messages",
        f"chats.jsonl:3: {EXPECTED} an object with id",
    ]


def test_completions_are_another_format(tmp_path: Path) -> None:
    row = {**completion(TRACES[0]), "messages": messages(TRACES[0])}
    with opened(lines(tmp_path / "chats.jsonl", row)) as source:
        assert not adapter("chat").detects(source)
