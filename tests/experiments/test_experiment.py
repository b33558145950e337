"""The whole chain: generate, audit, label, fit, score, and the tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("torch", reason="the extra `models` is not installed")

from symbouq_cli.main import main

from symbouq.experiments.config import read_config
from symbouq.experiments.experiment import LABELS, SCORES, TRACES, Cell, Experiment
from symbouq.scorers.base import SCORERS

SMOKE = Path(__file__).parents[2] / "experiments/smoke.yaml"


def test_the_plan_needs_no_model_loaded(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        main, ["experiment", "run", str(SMOKE), "--out", str(tmp_path), "--dry-run"]
    )
    assert done.exit_code == 0, done.output
    assert "traces-tiny-chains-train: about" in done.output
    assert "scores-tiny-blocks-test: seconds" in done.output
    assert not any(tmp_path.iterdir())


@pytest.mark.slow
def test_the_chain_from_the_shipped_weights(tmp_path: Path) -> None:
    arguments = ["experiment", "run", str(SMOKE), "--out", str(tmp_path)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    bank = Experiment(read_config(SMOKE), tmp_path)
    test = Cell("tiny", "chains", "test")
    traces = bank.run.output(bank.cells[test].traces, TRACES)
    records = [json.loads(line) for line in traces.read_text().splitlines()]
    assert len(records) == 40
    assert {record["generation"]["status"] for record in records} == {"valid"}
    assert not any("answer" in record for record in records)

    # Nothing that is made is made again, and test labels change no score.
    assert "46 stages are made" in CliRunner().invoke(main, arguments).output
    scores = bank.run.output(bank.scores[test], SCORES).read_bytes()
    labels = bank.run.output(bank.cells[test].labels, LABELS)
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    for row in rows:
        row["labels"][-1] = 1 - row["labels"][-1]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    again = Experiment(read_config(SMOKE), tmp_path)
    again.run.make()
    assert again.run.output(again.scores[test], SCORES).read_bytes() == scores

    table = CliRunner().invoke(
        main, ["experiment", "table", "scorers", str(SMOKE), "--out", str(tmp_path)]
    )
    assert [line.split("|")[1].strip() for line in table.output.splitlines()[2:]] == list(SCORERS)
