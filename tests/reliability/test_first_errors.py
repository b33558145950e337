from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.commands import read_lines, run, write_lines

from symbouq.evidence.scorers.bank import Score
from symbouq.reliability.first_errors import (
    MAJORITY,
    audited_error,
    compared,
    halves,
    known_errors,
)


def audit(name: str, *verdicts: str) -> dict[str, Any]:
    claims = [
        {"index": n, "verdict": verdict, "grounded_verdict": verdict, "first_conflict": False}
        for n, verdict in enumerate(verdicts, start=1)
    ]
    return {"id": name, "claims": claims}


def test_the_auditor_names_the_first_contradicted_claim() -> None:
    found = audit("a", "entailed", "contradicted", "contradicted")
    assert audited_error(found) == 2
    assert audited_error(audit("a", "entailed", "unknown")) == 0
    found["claims"][0]["grounded_verdict"] = "contradicted"
    assert audited_error(found, "grounded_verdict") == 1


def test_a_claim_that_contradicts_itself_is_an_error() -> None:
    found = audit("a", "entailed", "unknown", "not-evaluable")
    found["claims"][1]["first_conflict"] = True
    assert (audited_error(found), audited_error(found, "grounded_verdict")) == (2, 0)


def test_traces_whose_first_error_is_known() -> None:
    audits = [audit(name, "entailed", "entailed") for name in "abcde"]
    labels = {"a": (1, 0), "b": (1, 1), "c": (None, 0), "d": (1,)}
    assert {name: error for name, (_, error) in known_errors(audits, labels).items()} == {
        "a": 2,
        "b": 0,
    }


def test_halves_depend_on_the_ids_alone() -> None:
    names = [f"trace-{n}" for n in range(200)]
    first, second = halves(names)
    assert sorted([*first, *second]) == sorted(names)
    assert 70 < len(first) < 130
    assert halves(reversed(names)) == ([*reversed(first)], [*reversed(second)])


def score(name: str, *claims: float, method: str = "Perplexity", seed: int = 0) -> Score:
    return Score(name, method, seed, list(claims))


def test_methods_are_compared() -> None:
    validation = {"v": (audit("v", "entailed", "entailed"), 2), "w": (audit("w", "entailed"), 0)}
    test = {"a": (audit("a", "entailed", "contradicted"), 2), "b": (audit("b", "unknown"), 0)}
    fitting = [score("v", 1.0, 9.0), score("w", 2.0)]
    # Above 2, the threshold, lies the wrong claim alone; larger correctness is no uncertainty.
    measuring = [score("a", 1.0, 3.0), score("b", 1.5)]
    short = [score("a", 1.0, method="MCP"), score("b", 1.0, method="MCP")]
    rows = {
        row.method: row.result for row in compared(validation, test, fitting, measuring + short)
    }
    assert [*rows] == ["audit", "audit, scene alone", MAJORITY, "Perplexity"]
    assert rows["audit"].f1 == rows["Perplexity"].f1 == 1.0
    assert rows[MAJORITY].f1 == 0.0


def test_the_command(tmp_path: Path) -> None:
    scene = ["A is left of B.", "B is left of C."]
    steps = {True: "A is left of C", False: "C is left of A"}
    traces = [
        {
            "id": f"t{n}",
            "scene": scene,
            "reasoning": [steps[n % 3 > 0]],
            "conclusion": "A is left of B",
        }
        for n in range(40)
    ]
    labels = [{"id": f"t{n}", "source": "us", "labels": [int(n % 3 > 0), 1]} for n in range(40)]
    given = write_lines(tmp_path / "traces.jsonl", *traces)
    audits, told = tmp_path / "audits.jsonl", write_lines(tmp_path / "labels.jsonl", *labels)
    assert run("audit", given, "--out", audits, "--jobs", 1).exit_code == 0
    result = run("score", "first-error", audits, told, "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 0, result.stderr
    assert result.stderr.startswith("40 of 40 traces have a known first error, or none")
    first, *_ = read_lines(tmp_path / "out.jsonl")
    assert (first["method"], first["f1"], first["interval"]) == ("audit", 1.0, [1.0, 1.0])
    # Contradicted claims are the wrong ones: all before them are kept, and no wrong one.
    kept = tmp_path / "kept.jsonl"
    run("score", "first-error", audits, told, "--guarantee", "0.2", "--out", kept)
    assert read_lines(kept)[0]["kept"] == [{"threshold": 1.0, "wrong": 0.0, "claims": 1.0}]
    shown = run("score", "first-error", audits, told, "--guarantee", "0.01", "--out", kept)
    assert "keeps wrong %" in shown.stderr  # too few traces for so much: nothing is kept
    assert read_lines(kept)[0]["kept"] == [{"threshold": None, "wrong": 0.0, "claims": 0.0}]
    swapped = run("score", "first-error", given, told)
    assert swapped.exit_code == 2 and "holds no audits" in swapped.stderr
    other = write_lines(tmp_path / "other.jsonl", {"id": "x", "source": "us", "labels": [1]})
    refused = run("score", "first-error", audits, other)
    assert refused.exit_code == 2 and "tells of no trace" in refused.stderr
    assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[-1])["method"] == MAJORITY


def test_reliability_is_scored_by_labels(tmp_path: Path) -> None:
    # Three of the four pairs of a right and a wrong trace rank as they should.
    scores = {"a": 0.9, "b": 0.6, "c": 0.7, "d": 0.1, "unlabelled": 0.5}
    given = write_lines(
        tmp_path / "reliability.jsonl",
        *({"id": name, "reliability": score} for name, score in scores.items()),
    )
    trace = {
        "scene": ["A is left of B."],
        "question": "Where is A?",
        "answer": "left",
        "answer_space": ["left", "right"],
    }
    told = write_lines(
        tmp_path / "labels.jsonl",
        {"id": "a", "correct": True},
        {"id": "b", "conclusion": "left", **trace},
        {"id": "c", "conclusion": "right", **trace},
        {"id": "d", "correct": False},
        {"id": "other", "correct": True},
    )
    out = tmp_path / "out.jsonl"
    result = run("score", "reliability", given, told, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert "4 of 5 predictions have a label" in result.stderr
    assert "Reliability: 2 right of 4 traces" in result.stderr
    (row,) = read_lines(out)
    assert (row["traces"], row["right"], row["auroc"]) == (4, 2, 0.75)
    # The squares are 0.01, 0.16, 0.49 and 0.01, the distances 0.1, 0.4, 0.7 and 0.1.
    assert row["brier"] == pytest.approx(0.67 / 4)
    assert row["ece"] == pytest.approx(1.3 / 4)
    # By falling reliability, the risks are 0, 1/2, 1/3 and 2/4.
    assert row["aurc"] == pytest.approx((1 / 2 + 1 / 3 + 1 / 2) / 4)
    # Each of both classes is drawn alone often: the best resamples rank all pairs, the worst none.
    assert row["auroc_interval"] == [0.0, 1.0]


def test_labels_that_cannot_be_used_for_reliability(tmp_path: Path) -> None:
    given = write_lines(
        tmp_path / "reliability.jsonl",
        {"id": "a", "reliability": 0.9},
        {"id": "b", "reliability": 0.2},
    )
    some = write_lines(
        tmp_path / "some.jsonl",
        {"id": "a", "correct": True},
        {"id": "b", "correct": "perhaps"},
        {"id": "c", "correct": "perhaps"},
    )
    result = run("score", "reliability", given, some)
    assert result.exit_code == 1
    assert "found 'perhaps' (2 records)" in result.stderr
    row = json.loads(result.stdout)
    assert (row["traces"], row["auroc"], row["auroc_interval"]) == (1, None, None)
    other = write_lines(tmp_path / "other.jsonl", {"id": "x", "correct": True})
    refused = run("score", "reliability", given, other)
    assert refused.exit_code == 2 and "has no label of a trace" in refused.stderr
    twice = write_lines(tmp_path / "twice.jsonl", *[{"id": "a", "correct": True}] * 2)
    refused = run("score", "reliability", given, twice)
    assert refused.exit_code == 2 and "the id a occurs twice" in refused.stderr
    swapped = run("score", "reliability", some, given)
    assert swapped.exit_code == 2 and "has no `reliability` from 0 to 1" in swapped.stderr
