"""`symbouq scenes` and `symbouq backbone train`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from symbouq_cli.main import main


def test_scenes_are_records_with_what_claims_are_judged_by(tmp_path: Path) -> None:
    out = tmp_path / "regions.jsonl"
    arguments = ["scenes", "regions", "--count", "4", "--hops", "2", "--sound", "--out", str(out)]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["id"] for row in rows] == [f"regions-2026-0000{n}" for n in range(4)]
    assert all(row["dataset"] == "scenes-regions" and row["hops"] == 2 for row in rows)
    assert all(len(row["meta"]["facts"]) == len(row["scene"]) for row in rows)
    judged = tmp_path / "labels.jsonl"
    done = CliRunner().invoke(main, ["labels", "truth", str(out), "--out", str(judged)])
    assert done.exit_code == 0, done.output
    for row, line in zip(rows, judged.read_text().splitlines(), strict=True):
        assert json.loads(line)["labels"] == [1] * len(row["reasoning"]) + [None]


def test_a_model_is_trained_with_the_wordings_of_a_file(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra `models` is not installed")
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"id": "1", "scene": ["P sits to the right of Q."]}) + "\n")
    out = tmp_path / "model"
    done = CliRunner().invoke(
        main,
        [
            *("backbone", "train", "--size", "tiny", "--steps", "2", "--threads", "1"),
            *("--wordings", str(rows), "--out", str(out)),
        ],
    )
    assert done.exit_code == 0, done.output
    assert "step 2 of 2: loss" in done.output
    assert json.loads((out / "training.json").read_text())["wordings"] == 1
