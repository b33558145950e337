"""`symbouq labels`, as its users meet it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.commands import read_lines, run
from helpers.commands import write_lines as lines

SPACE = ["left", "right", "above", "below"]


def read(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def trace(
    identity: str, conclusion: str | None, answer: str = "left", **more: Any
) -> dict[str, Any]:
    fields = {"reasoning": ["A is left of B."], "conclusion": conclusion} if conclusion else {}
    scene = {"scene": "A is left of B.", "question": "Where is A?", "dataset": "d"}
    return {"id": identity, **scene, **fields, "answer": answer, "answer_space": SPACE, **more}


def test_traces_come_from_standard_input_as_well(tmp_path: Path) -> None:
    traces = lines(tmp_path / "t.jsonl", trace("a", "left"), trace("b", "right"))
    given = run("labels", "answer", "-", stdin=traces.read_text())
    assert given.exit_code == 0, given.stderr
    assert given.stdout == run("labels", "answer", traces).stdout


def test_answers_then_people_then_both(tmp_path: Path) -> None:
    traces = lines(tmp_path / "t.jsonl", trace("a", "left"), trace("b", "above"))
    answers = tmp_path / "answers.jsonl"
    result = run("labels", "answer", traces, "--out", answers)
    assert result.exit_code == 0, result.stderr
    assert "2 traces, 2 claims labelled, 1 right" in result.stderr
    assert [record["labels"] for record in read_lines(answers)] == [[None, 1], [None, 0]]

    table = tmp_path / "people.csv"
    table.write_text("id,claim,label\na,1,1\na,conclusion,1\nb,2,1\n")
    people = tmp_path / "people.jsonl"
    assert run("labels", "human", traces, table, "--out", people).exit_code == 0
    assert [record["labels"] for record in read_lines(people)] == [[1, 1], [None, 1]]

    result = run("labels", "merge", answers, people)
    assert [record["labels"] for record in read(result.stdout)] == [[1, 1], [None, 0]]
    assert read(result.stdout)[0]["sources"] == ["human", "answer"]

    result = run("labels", "agree", answers, people)
    everything = read(result.stdout)[-1]
    assert (everything["dataset"], everything["claims"], everything["rate"]) == ("all", 2, 0.5)
    assert "kappa" in result.stderr


def test_free_responses_are_cut_by_their_audit_and_failures_told(tmp_path: Path) -> None:
    free = trace("f", None, response="A is left of B. So it is left.\nAnswer: left")
    traces = lines(tmp_path / "t.jsonl", free, {**trace("n", "left"), "answer": None})
    result = run("labels", "answer", traces)
    assert result.exit_code == 1
    assert "t.jsonl:1: trace f: the audit says" in result.stderr
    assert "trace n: `answer`" in result.stderr
    audits = tmp_path / "audits.jsonl"
    assert run("audit", traces, "--out", audits, "--jobs", "1").exit_code == 0
    result = run("labels", "answer", traces, "--audits", audits)
    assert [record["labels"] for record in read(result.stdout)] == [[None, None, 1]]


def test_rows_about_no_trace_fail(tmp_path: Path) -> None:
    traces = lines(tmp_path / "t.jsonl", trace("a", "left"))
    table = tmp_path / "people.csv"
    table.write_text("id,claim,label\nz,1,1\n")
    result = run("labels", "human", traces, table)
    assert result.exit_code == 1
    assert "people.csv:2: there is no trace z" in result.stderr


def test_a_judge(tiny: Path, tmp_path: Path) -> None:
    traces = lines(tmp_path / "t.jsonl", trace("a", "left"), trace("b", "above"))
    out = tmp_path / "judged.jsonl"
    result = run("labels", "judge", traces, "--model", tiny, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert "2 valid" in result.stderr
    assert [record["source"] for record in read_lines(out)] == ["judge:tiny"] * 2
    assert "nothing new" in run("labels", "judge", traces, "--model", tiny, "--out", out).stderr


def test_no_input_is_overwritten(tmp_path: Path) -> None:
    traces = lines(tmp_path / "t.jsonl", trace("a", "left"))
    before = traces.read_text()
    for command in (("answer", traces), ("merge", traces), ("agree", traces, traces)):
        result = run("labels", *command, "--out", traces)
        assert result.exit_code == 2
        assert "one of the input files" in result.stderr
    assert traces.read_text() == before


def test_what_is_odd_about_one_trace_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = trace("a", "left", meta="text"), trace("b", "left", meta=[]), trace("c", "left")
    traces = lines(tmp_path / "t.jsonl", *rows)
    result = run("labels", "answer", traces)
    assert result.exit_code == 0, result.stderr
    assert [record["labels"] for record in read(result.stdout)] == [[None, 1]] * 3

    def fail(record: dict[str, Any]) -> list[int | None]:
        return [None, 1 // (record["id"] != "b")]

    monkeypatch.setattr("symbouq.auditing.correctness.answer_labels", fail)
    result = run("labels", "answer", traces)
    assert result.exit_code == 1
    assert [record["id"] for record in read(result.stdout)] == ["a", "c"]
    assert f"{traces}: internal error, please report it: ZeroDivisionError" in result.stderr


def test_answers_outside_their_space_are_said(tmp_path: Path) -> None:
    given = [trace("a", "Left."), trace("b", "left", "Left"), trace("c", "left", "nowhere")]
    result = run("labels", "answer", lines(tmp_path / "t.jsonl", *given))
    assert result.exit_code == 1
    assert [record["labels"] for record in read(result.stdout)] == [[None, 1], [None, 1]]
    assert "trace c: answer: 'nowhere' is no label of the answer space: left" in result.stderr
    assert "warning" not in result.stderr
    silent = [trace(name, "option Q") for name in "abc"] + [trace("d", "left")]
    result = run("labels", "answer", lines(tmp_path / "t.jsonl", *silent))
    assert "warning: 3 of 4 delivered answers are no label" in result.stderr
