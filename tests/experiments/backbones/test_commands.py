"""`symbouq scenes` and `symbouq backbone train`."""

from __future__ import annotations

import json
from pathlib import Path

from helpers.commands import read_lines, run, write_lines
from helpers.extras import need_models


def test_scenes_are_records_with_what_claims_are_judged_by(tmp_path: Path) -> None:
    out = tmp_path / "regions.jsonl"
    made = run("scenes", "regions", "--count", 4, "--hops", 2, "--sound", "--out", out)
    assert made.exit_code == 0
    rows = read_lines(out)
    assert [row["id"] for row in rows] == [f"regions-2026-0000{n}" for n in range(4)]
    assert all(row["dataset"] == "scenes-regions" and row["hops"] == 2 for row in rows)
    assert all(len(row["meta"]["facts"]) == len(row["scene"]) for row in rows)
    judged = tmp_path / "labels.jsonl"
    done = run("labels", "truth", out, "--out", judged)
    assert done.exit_code == 0, done.output
    for row, record in zip(rows, read_lines(judged), strict=True):
        assert record["labels"] == [1] * len(row["reasoning"]) + [None]


def test_a_model_is_trained_with_the_wordings_of_a_file(tmp_path: Path) -> None:
    need_models()
    rows = write_lines(tmp_path / "rows.jsonl", {"id": "1", "scene": ["P sits to the right of Q."]})
    out = tmp_path / "model"
    plan = ("--size", "tiny", "--steps", 2, "--threads", 1, "--wordings", rows)
    done = run("backbone", "train", *plan, "--out", out)
    assert done.exit_code == 0, done.output
    assert "step 2 of 2: loss" in done.output
    assert json.loads((out / "training.json").read_text())["wordings"] == 1
