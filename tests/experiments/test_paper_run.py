"""The paper's experiment through vLLM, every stage and every table, with twenty questions a split
and one small model in place of all: trained further for the backbones, since probes are fitted on
right answers and wrong ones, and as it came for the judges.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

pytest.importorskip("torch", reason="the extra `models` is not installed")

from helpers.smollm2 import smollm2
from symbouq_cli.main import main

from symbouq.experiments.config import read_config
from symbouq.experiments.experiment import Experiment
from symbouq.experiments.figures import FIGURES
from symbouq.experiments.results import Results
from symbouq.experiments.tables import TABLES

PAPER = Path(__file__).parents[2] / "experiments/paper.yaml"
ROWS = 20
FILES = {
    "spartqa": "spartqa/spartqa_auto_{}.jsonl.gz",
    "spartun": "spartun/spartun_{}.jsonl.gz",
    "spacenli": "spacenli/spacenli_{}.jsonl.gz",
    "sparp": "sparp/sparp_ps1_style_{}.jsonl.gz",
}
"""Where the folder of benchmarks has what `paper.yaml` reads, by benchmark."""


def cut(backbone: Path, judge: Path) -> dict[str, Any]:
    """The configuration of `paper.yaml`, made small."""
    config: dict[str, Any] = yaml.safe_load(PAPER.read_text(encoding="utf-8"))
    for entry in config["backbones"]:
        entry["model"] = str(backbone)
    for entry in (config["judge"], *config["reference_judges"]):
        entry["model"] = str(judge)
        for key in ("tensor_parallel", "context"):
            entry.pop(key, None)
    for dataset in config["datasets"]:
        dataset["sizes"] = dict.fromkeys(dataset["sizes"], ROWS)
        dataset["files"] = {
            split: FILES.get(file.partition("/")[0], file).format(split)
            for split, file in dataset["files"].items()
        }
    config["generation"] |= {"samples": 1, "max_tokens": 160, "context": 2048}
    return config | {
        "seeds": [2026, 2027],
        "epochs": 1,
        "width": 16,
        "workers": 1,
        "nli": None,
        "validation_sizes": [8, 16],
        "search": {"width": [16], "loss": ["balanced"], "learning_rate": [0.002], "epochs": [1]},
    }


def test_the_papers_experiment_can_be_cut(data: Path, tmp_path: Path) -> None:
    config = tmp_path / "cut.yaml"
    config.write_text(yaml.safe_dump(cut(tmp_path, tmp_path)), encoding="utf-8")
    experiment = Experiment(read_config(config), tmp_path / "run", data)
    assert experiment.shortages() == []
    kinds = {stage.kind for stage in experiment.run.stages}
    assert {"traces", "judged", "signals", "search", "scores", "predictions", "costs"} <= kinds


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # vLLM warns of much that is its own affair
def test_every_stage_and_table_of_the_papers_experiment(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("vllm", reason="vLLM is not installed (extra `vllm`)")
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
    config, run = tmp_path / "cut.yaml", tmp_path / "run"
    judge, backbone = smollm2(tmp_path), tmp_path / "trained"
    training = ["backbone", "train", "--from", str(judge), "--out", str(backbone)]
    training += ["--wordings", str(data / "stepgame/train.jsonl.gz")]
    done = CliRunner().invoke(main, training)
    assert done.exit_code == 0, done.output
    config.write_text(yaml.safe_dump(cut(backbone, judge)), encoding="utf-8")
    arguments = ["experiment", "run", str(config), "--data", str(data), "--out", str(run)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    results = Results(Experiment(read_config(config), run, data))
    for make in TABLES.values():
        assert all(table.rows for table in make(results))
    for draw in FIGURES.values():
        assert draw(results).axes
