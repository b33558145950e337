"""The whole chain: generate, audit, label, fit, score, and the tables."""

from __future__ import annotations

import gzip
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("torch", reason="the extra `models` is not installed")

from symbouq_cli.experiment import _progress
from symbouq_cli.main import main

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.sweep import best_of, read_sweep
from symbouq.experiments.composition import METHOD, UNLABELLED, read_predictions
from symbouq.experiments.config import DatasetConfig, read_config
from symbouq.experiments.experiment import Experiment
from symbouq.experiments.figures import FIGURES
from symbouq.experiments.rendering import NOT_RUN
from symbouq.experiments.results import Results, relation_f1
from symbouq.experiments.runner import Run
from symbouq.experiments.stages import Cell
from symbouq.experiments.tables import TABLES
from symbouq.io.settings import SettingsError

SMOKE = Path(__file__).parents[2] / "experiments/smoke.yaml"
PAPER = SMOKE.with_name("paper.yaml")


def test_the_plan_needs_no_model_loaded(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        main, ["experiment", "run", str(SMOKE), "--out", str(tmp_path), "--dry-run"]
    )
    assert done.exit_code == 0, done.output
    assert "traces-tiny-chains-train: about" in done.output
    assert "scores-tiny-blocks-test: seconds" in done.output
    assert not any(tmp_path.iterdir())


def test_the_papers_experiment_is_planned_without_weights_or_traces(tmp_path: Path) -> None:
    data = tmp_path / "data"
    row = {"id": "0", "scene": ["A is above B."], "question": "Where is A?", "answer": "above"}
    for dataset in read_config(PAPER).datasets:
        for name in dataset.files.values():
            (data / name).parent.mkdir(parents=True, exist_ok=True)
            with gzip.open(data / name, "wt") as stream:
                stream.write(json.dumps(row) + "\n")
    arguments = ["experiment", "run", str(PAPER), "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(main, [*arguments, "--data", str(data), "--dry-run"])
    assert done.exit_code == 0, done.output
    assert "judged-Llama-3.3-70B-Instruct-Qwen3-8B-SpaRP-test: about" in done.output
    assert "scorer-Gemma-2-9B-it-Constraint-dual: about" in done.output
    assert "predictions-Mistral-7B-Instruct-SpaceNLI_free-form: about" in done.output
    assert "on one GPU" in done.output
    assert not (tmp_path / "run").exists()


def test_the_papers_models_are_pinned() -> None:
    config = read_config(PAPER)
    models = [model.model or "" for model in (*config.backbones, *config.judges)]
    assert len(models) == 8
    unpinned = [each for each in models if not re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", each)]
    assert unpinned == ["unsloth/Mistral-Small-3.2-24B-Instruct-2506"]  # a copy, with a tokenizer


class Planned(NamedTuple):
    """What the progress reads of a stage."""

    number: int
    name: str
    cost: float


@pytest.mark.parametrize(
    ("workers", "begins", "seconds", "minutes"),
    [
        (1, (0, 120, 360), (120, 240), (7, 5, 1)),  # as estimated
        (2, (0, 0, 120), (120, 240), (4, 4, 2)),  # what is begun is still to be done
        (2, (0, 120, 360), (120, 240), (4, 4, 1)),  # room for one: (120 + 120) / (120 + 60) at once
        # The first took 600: the pace is (600 + 120) / (120 + 120), and then (840 + 120) / 480.
        (1, (0, 600, 840), (600, 240), (7, 15, 2)),
    ],
)
def test_progress_tells_what_is_left_by_the_estimates_and_the_pace(
    workers: int,
    begins: tuple[int, ...],
    seconds: tuple[int, int],
    minutes: tuple[int, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SimpleNamespace(now=0)
    left: Any = [Planned(0, "a", 120), Planned(1, "b", 240), Planned(2, "c", 60)]

    def took(stage: Any) -> float | None:
        made = stage.number < 2 and clock.now >= begins[stage.number] + seconds[stage.number]
        return seconds[stage.number] if made else None

    monkeypatch.setattr("symbouq_cli.experiment.monotonic", lambda: clock.now)
    with _progress(left, 5, workers, took, inner=True) as (begun, _):
        for stage, clock.now in zip(left, begins, strict=True):
            begun(stage)
    assert capsys.readouterr().err.splitlines() == [
        f"[{number}/5, about {minute} min left] {name}"
        for number, minute, name in zip((3, 4, 5), minutes, "abc", strict=True)
    ]


def test_progress_leaves_out_what_proves_to_be_made(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter((0, 0, 120))
    monkeypatch.setattr("symbouq_cli.experiment.monotonic", lambda: next(times))
    left: Any = [Planned(0, "a", 120), Planned(1, "b", 240), Planned(2, "c", 60)]
    made: dict[Any, float] = {}
    with _progress(left, 3, 1, lambda stage: made.get(stage), inner=True) as (begun, _):
        begun(left[0])
        made.update({left[0]: 120, left[1]: 5})
        begun(left[2])
    assert capsys.readouterr().err.splitlines() == [
        "[1/3, about 7 min left] a",
        "[3/3, about 1 min left] c",
    ]


def test_what_files_cannot_fill_is_told_and_may_be_taken_smaller(tmp_path: Path) -> None:
    config = tmp_path / "small.yaml"
    config.write_text(
        "name: small\nsource: f\nbackbones: [{name: B, model: nowhere}]\n"
        "datasets: [{name: f, files: {train: f.jsonl, validation: f.jsonl}, "
        "sizes: {train: 3, validation: 5}}]\n"
    )
    rows = [{"id": str(n), "scene": f"A{n} is above B.", "answer": "above"} for n in range(7)]
    (tmp_path / "f.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["experiment", "run", str(config), "--data", str(tmp_path), "--dry-run"]
    done = CliRunner().invoke(main, arguments)
    expected = (
        "f, validation: 5 questions are asked for, and f.jsonl has 4 beside those of other "
        "splits; --allow-smaller accepts this"
    )
    assert expected in done.output
    smaller = Experiment(read_config(config), tmp_path / "run", tmp_path, allow_smaller=True)
    assert smaller.datasets["f"].sizes == {"train": 3, "validation": 4}
    assert smaller.shortages() == []
    assert expected not in CliRunner().invoke(main, [*arguments, "--allow-smaller"]).output
    config.write_text(config.read_text().replace("train: 3", "train: 10"))
    told = CliRunner().invoke(main, arguments).output
    assert "f, train: 10 questions are asked for, and f.jsonl has 7; --allow-smaller" in told
    nothing = "f, validation: 5 questions are asked for, and f.jsonl has 0 beside those of other"
    assert nothing in told
    refused = CliRunner().invoke(main, [*arguments, "--allow-smaller"])
    assert nothing in refused.output
    assert refused.exit_code == 2


def test_a_dataset_may_be_for_some_backbones(tmp_path: Path) -> None:
    config = tmp_path / "some.yaml"
    text = (
        "name: some\nsource: chains\nbackbones: [{name: B, model: b}, {name: C, model: c}]\n"
        "datasets: [{name: chains, family: chains, sizes: {train: 3, validation: 5, test: 5}}, "
        "{name: blocks, family: blocks, backbones: [C], sizes: {validation: 5, test: 5}}]\n"
    )
    config.write_text(text)
    cells = Experiment(read_config(config), tmp_path).cells
    assert {(cell.backbone, cell.dataset) for cell in cells} == {
        ("B", "chains"),
        ("C", "chains"),
        ("C", "blocks"),
    }
    config.write_text(text.replace("[C]", "[D]"))
    with pytest.raises(SettingsError, match="blocks: no backbone D"):
        read_config(config)
    config.write_text(text.replace("family: chains,", "family: chains, backbones: [B],"))
    with pytest.raises(SettingsError, match="source chains: every backbone answers it"):
        read_config(config)


def test_an_optional_dataset_is_left_out_where_its_files_are_not_there(tmp_path: Path) -> None:
    files = {split: f"stepgame/{split}.jsonl.gz" for split in ("validation", "test")}
    optional = {"name": "StepGame", "files": files, "sizes": {"validation": 1}, "optional": True}
    smoke = read_config(SMOKE)
    datasets = [*smoke.datasets, DatasetConfig.model_validate(optional)]
    read = smoke.model_copy(update={"datasets": datasets})
    families = ["chains", "blocks"]
    assert list(Experiment(read, tmp_path).datasets) == families
    assert list(Experiment(read, tmp_path, tmp_path).datasets) == families
    row = {"id": "0", "scene": ["A is above B."], "question": "Where is A?", "answer": "above"}
    (tmp_path / "stepgame").mkdir()
    for split in ("validation", "test"):
        with gzip.open(tmp_path / "stepgame" / f"{split}.jsonl.gz", "wt") as stream:
            stream.write(json.dumps(row) + "\n")
    assert list(Experiment(read, tmp_path, tmp_path).datasets) == [*families, "StepGame"]


def test_a_view_that_needs_another_is_refused(tmp_path: Path) -> None:
    config = tmp_path / "wrong.yaml"
    views = "[grounded, non-committal, dual, worlds]"
    text = SMOKE.read_text(encoding="utf-8").replace(views, "[dual]")
    config.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(main, ["experiment", "run", str(config), "--dry-run"])
    assert done.exit_code == 2
    assert "the view `dual` needs the view `grounded` beside it" in done.output


def test_the_source_may_come_last(tmp_path: Path) -> None:
    config = tmp_path / "last.yaml"
    config.write_text(
        "name: last\nbackbones: [{name: tiny, model: nowhere}]\nsource: chains\ndatasets:\n"
        "  - {name: blocks, family: blocks, sizes: {validation: 4, test: 4}}\n"
        "  - {name: chains, family: chains, sizes: {train: 4, validation: 4, test: 4}}\n"
        "views: [grounded, dual, worlds]\n"
    )
    done = CliRunner().invoke(
        main, ["experiment", "run", str(config), "--out", str(tmp_path / "run"), "--dry-run"]
    )
    assert done.exit_code == 0, done.output
    assert "predictions-tiny-blocks" in done.output


PREPARED = """
name: prepared
backbones:
  - {name: plain, pretrained: smollm2}
  - {name: trained, pretrained: smollm2, training: {steps: 3, wordings: rows.jsonl}}
  - {name: further, model: MODEL, training: {steps: 2, tokens: 256, hops: [1]}}
source: chains
datasets:
  - {name: chains, family: chains, sizes: {train: 2, validation: 2, test: 2}}
threads: 1
"""


def prepared(folder: Path, changed: str = "") -> Experiment:
    config = folder / "prepared.yaml"
    text = PREPARED.replace("MODEL", str(SMOKE.parent / "backbones/tiny"))
    config.write_text(text.replace("steps: 2", changed or "steps: 2"))
    (folder / "rows.jsonl").touch()
    return Experiment(read_config(config), folder / "run", folder)


def test_pretrained_models_are_installed_once_and_trained_before_they_are_used(
    tmp_path: Path,
) -> None:
    names = [stage.name for stage in prepared(tmp_path).run.stages]
    assert names.count("pretrained-smollm2") == 1
    for backbone in ("trained", "further"):
        assert names.index(f"backbone-{backbone}") < names.index(f"traces-{backbone}-chains-train")
    assert "backbone-plain" not in names


def test_wordings_need_the_folder_of_the_benchmarks(tmp_path: Path) -> None:
    prepared(tmp_path)
    with pytest.raises(SettingsError, match="backbone trained reads wordings: give the folder"):
        Experiment(read_config(tmp_path / "prepared.yaml"), tmp_path / "run")


def test_packages_that_are_missing_are_told_before_the_first_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = {"gguf", "accelerate"}

    def find_spec(package: str) -> str | None:
        return None if package in absent else package

    monkeypatch.setattr("symbouq.experiments.experiment.find_spec", find_spec)
    with pytest.raises(SymboUQError, match=r"not installed \(accelerate\): .*\[gguf\]'"):
        prepared(tmp_path).check_packages()
    absent |= {"vllm", "torch"}
    config = read_config(PAPER).model_copy(update={"datasets": read_config(SMOKE).datasets})
    with pytest.raises(SymboUQError, match=r"\[models,vllm\]'"):
        Experiment(config.model_copy(update={"source": "chains"}), tmp_path).check_packages()
    Experiment(read_config(SMOKE), tmp_path)
    absent.clear()
    monkeypatch.setattr("symbouq.experiments.experiment.installed", lambda: None)
    with pytest.raises(SymboUQError, match=r"pipeline of spaCy\): .*\[english\]'"):
        Experiment(read_config(SMOKE), tmp_path).check_packages()
    absent.add("en_mine")
    named = read_config(SMOKE).model_copy(update={"pipeline": "en_mine"})
    with pytest.raises(SymboUQError, match=r"not installed \(en_mine\)"):
        Experiment(named, tmp_path).check_packages()


def test_a_model_is_trained_as_a_stage(tmp_path: Path) -> None:
    import torch

    experiment = prepared(tmp_path)
    model = experiment.models["further"]
    (stage,) = model.stages
    run = Run(tmp_path / "run", (stage,), threads=1)
    run.make()
    card = json.loads((model.folder(run) / "training.json").read_text())
    assert (card["plan"]["steps"], card["plan"]["start"]["name"]) == (2, "tiny")
    assert torch.get_num_threads() == 1
    (again,) = prepared(tmp_path).models["further"].stages
    assert Run(tmp_path / "run", (again,)).states()[0].done
    (other,) = prepared(tmp_path, "steps: 3").models["further"].stages
    assert not Run(tmp_path / "run", (other,)).states()[0].done


def test_tables_and_figures_are_listed() -> None:
    done = CliRunner().invoke(main, ["experiment", "list"])
    assert done.exit_code == 0
    assert "  ablation         Variants of the composer" in done.output
    assert "  risk-coverage    Plot risk against coverage" in done.output


@pytest.mark.slow
def test_the_chain_from_the_shipped_weights(tmp_path: Path) -> None:
    """The experiment of `smoke.yaml` with half as many traces."""
    run = tmp_path / "run"
    config = tmp_path / "smoke.yaml"
    text = SMOKE.read_text(encoding="utf-8")
    for given, taken in (
        ("{train: 60, validation: 40, test: 40}", "{train: 30, validation: 20, test: 20}"),
        ("{validation: 30, test: 30}", "{validation: 18, test: 15}"),
        ("backbones/tiny", str(SMOKE.parent / "backbones/tiny")),
    ):
        assert given in text
        text = text.replace(given, taken)
    config.write_text(text, encoding="utf-8")
    arguments = ["experiment", "run", str(config), "--out", str(run)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    made = Experiment(read_config(config), run)
    test = Cell("tiny", "chains", "test")
    traces = made.run.output(made.cells[test].traces)
    records = [json.loads(line) for line in traces.read_text().splitlines()]
    assert len(records) == 20
    assert {record["generation"]["status"] for record in records} == {"valid"}
    assert not any("answer" in record for record in records)
    assert {*made.cells[test].scores} == {None, "grounded", "non-committal", "dual"}
    predicted = {method for method, _ in _predictions(made, test)}
    assert {METHOD, "worlds view", "dual view"} <= predicted
    assert UNLABELLED not in predicted  # the source is no target
    assert (UNLABELLED, 2026) in _predictions(made, Cell("tiny", "blocks", "test"))
    audits = made.run.output(made.cells[test].audits["dual"])
    features = json.loads(audits.read_text().splitlines()[0])["features"]
    assert (len(features["claims"][0]), len(features["trace"])) == (2 * 23, 2 * 16)

    # Every table and figure is written at the end of the run; each may be had again.
    assert {file.name for file in (run / "tables").iterdir()} == {f"{name}.md" for name in TABLES}
    assert {file.name for file in (run / "figures").iterdir()} == {f"{n}.png" for n in FIGURES}
    told = CliRunner().invoke(main, ["experiment", "table", "all", str(config), "--out", str(run)])
    assert told.exit_code == 0, told.output
    assert told.output.count(f"configuration smoke {Results(made).footer.split()[4][:-1]}") == len(
        TABLES
    )
    assert Results(made).cell("tiny", "chains").metric("SymboUQ", "auroc") is not None
    shown = tmp_path / "figures"
    figure = ["experiment", "figure", "separation", str(config), "--out", str(run), "--form", "svg"]
    drawn = CliRunner().invoke(main, [*figure, "--to", str(shown)])
    assert drawn.exit_code == 0, drawn.output
    assert [file.name for file in shown.iterdir()] == ["separation.svg"]
    assert (run / "tables/traces.md").read_text() in told.output + "\n"

    # Nothing that is made is made again, and test labels change no score and no prediction.
    assert "91 stages are finished" in CliRunner().invoke(main, arguments).output
    before = _predicted(made)
    for cell, stages in made.cells.items():
        if cell.split == "test":
            labels = made.run.output(stages.labels)
            rows = [json.loads(line) for line in labels.read_text().splitlines()]
            for row in rows:
                row["labels"] = [label if label is None else 1 - label for label in row["labels"]]
            labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    again = Experiment(read_config(config), run)
    again.run.make()
    assert _predicted(again) == before

    # A subsample of a target's validation knows no label outside it.
    plain = _valsize(again)
    validation = again.cells[Cell("tiny", "blocks", "validation")]
    labels = again.run.output(validation.labels)
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    order = np.random.default_rng(2026).permutation(len(rows))
    for n in order[16:]:
        rows[n]["labels"][-1] = 1 - rows[n]["labels"][-1]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    other = Experiment(read_config(config), run)
    other.run.make()
    assert _valsize(other) == plain
    assert _predicted(other) != before


def _predictions(made: Experiment, cell: Cell) -> dict[tuple[str, int], dict[str, float]]:
    stage = made.cells[cell].predictions
    assert stage is not None
    return read_predictions(made.run.output(stage))


def _valsize(made: Experiment) -> dict[str, dict[str, float]]:
    read = _predictions(made, Cell("tiny", "blocks", "test"))
    return {method: scores for (method, _), scores in read.items() if "valsize" in method}


KILLED = """
name: killed
backbones: [{{name: tiny, model: {backbone}}}]
source: chains
datasets:
  - {{name: chains, family: chains, sizes: {{train: 12, validation: 12, test: 8}}}}
  - {{name: blocks, family: blocks, sizes: {{validation: 8, test: 8}}}}
generation: {{samples: 1}}
scorers: [Perplexity, P(True), MLP, Constraint-Rule]
seeds: [2026]
epochs: 2
width: 16
validation_sizes: [4]
epsilons: [0.03]
fold_numbers: [5]
workers: 2
threads: 1
"""


MORTAL = """
import os, signal
from symbouq.experiments.runner import Run
record, made = Run._record, []
def mortal(*arguments):
    record(*arguments)
    made.append(arguments)
    if len(made) == {half}:
        os.kill(os.getpid(), signal.SIGKILL)
Run._record = mortal
"""
"""A run that is killed once so many stages are finished."""


@pytest.mark.slow
def test_a_killed_run_goes_on_to_equal_results(tmp_path: Path) -> None:
    config = tmp_path / "killed.yaml"
    config.write_text(KILLED.format(backbone=SMOKE.parent / "backbones/tiny"), encoding="utf-8")

    # In one folder, the one after the other: audits name the file that they are of.
    run, whole = tmp_path / "run", tmp_path / "whole"
    code = "from symbouq_cli.main import main; main()"
    arguments = ["experiment", "run", str(config), "--out", str(run)]
    command = [sys.executable, "-c", code, *arguments]

    def made(run: Path) -> set[str]:
        return {mark.parent.name for mark in run.glob("*/stage.json")}

    Experiment(read_config(config), run).run.make()  # in one process, one stage after the other
    run.rename(whole)
    half = len(made(whole)) // 2
    died = subprocess.run([sys.executable, "-c", MORTAL.format(half=half) + code, *arguments])
    assert (died.returncode, len(made(run))) == (-signal.SIGKILL, half)
    resumed = subprocess.run(command, capture_output=True, text=True)
    assert resumed.returncode == 0, resumed.stderr
    # Names have the hashes of what stages read.
    assert made(run) == made(whole)
    test = Cell("tiny", "blocks", "test")
    first, second = (
        _predictions(Experiment(read_config(config), folder), test) for folder in (run, whole)
    )
    assert first == second


JUDGED = """
name: judged
backbones: [{{name: tiny, model: {backbone}}}]
judge: {{name: J, model: {backbone}}}
reference_judges: [{{name: R, model: {backbone}}}]
source: chains
datasets:
  - {{name: chains, family: chains, sizes: {{train: 8, validation: 8, test: 8}}}}
  - {{name: prose, family: chains, sizes: {{validation: 4, test: 4}}, free_form: true}}
generation: {{samples: 0}}
scorers: [Random, Perplexity, MCP, Constraint-Rule]
seeds: [2026]
validation_sizes: [4]
epsilons: [0.03]
fold_numbers: [5]
"""


@pytest.mark.slow
def test_judges_and_prose(tmp_path: Path) -> None:
    config = tmp_path / "judged.yaml"
    config.write_text(JUDGED.format(backbone=SMOKE.parent / "backbones/tiny"), encoding="utf-8")
    run = tmp_path / "run"
    done = CliRunner().invoke(main, ["experiment", "run", str(config), "--out", str(run)])
    assert done.exit_code == 0, done.output
    results = Results(Experiment(read_config(config), run))
    (agreed,) = TABLES["judge_agreement"](results)
    # The reference is the same model: it agrees with itself on every step.
    assert agreed.rows[0][:2] == ("R", "100.0")
    assert agreed.rows[1][0] == "generator's truth"
    (prose,) = TABLES["freeform_cot"](results)
    assert [row[:3] for row in prose.rows] == [
        ("tiny", "chains", "structured"),
        ("tiny", "chains", "free-form"),
    ]
    # Truth goes before the judge's opinion; scorers that did not run are not guessed.
    labels = results.cell("tiny", "chains").claim_labels
    assert any(label is not None for known in labels.values() for label in known[:-1])
    varied, _ = TABLES["ablation"](results)
    assert varied.rows[0][:2] == ("Constraint", NOT_RUN)


def test_relations_read_against_annotated_ones(tmp_path: Path) -> None:
    def read(*triples: tuple[str, str, str]) -> dict[str, Any]:
        return {"relations": [{"subject": s, "relation": r, "object": o} for s, r, o in triples]}

    audits = [
        {
            "id": "t",
            "ontology": {"profile": "nine-way"},
            "claims": [
                read(("the box", "left", "b")),
                read(("b", "above", "c"), ("b", "near", "c")),
            ],
        }
    ]
    file = tmp_path / "annotated.jsonl"
    rows = [
        {"id": "t", "claim": 1, "relations": [["B", "right", "The box"]]},  # its converse
        {"id": "t", "claim": 2, "relations": [["b", "Upper-Left", "c"], ["c", "near", "b"]]},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert relation_f1(audits, file) == pytest.approx(2 * 2 / (3 + 3))
    for row, message in (
        ({"id": "t", "claim": 3, "relations": []}, "trace 't' has no claim 3"),
        ({"id": "u", "claim": 1, "relations": []}, "trace 'u' has no claim 1, or is none of these"),
        ({"id": "t", "claim": 0, "relations": []}, "is no annotation"),
        ({"id": "t", "claim": 1}, "is no annotation"),
        ({"id": "t", "claim": 1, "relations": [["a", "left", 3]]}, "is no annotation"),
        ({"id": "t", "claim": 1, "relations": [["a", "lefft", "b"]]}, "unknown relation 'lefft'"),
        ([1], "is no annotation"),
    ):
        file.write_text("\n".join(map(json.dumps, (rows[0], row))))
        with pytest.raises(SymboUQError, match=message) as caught:
            relation_f1(audits, file)
        assert (caught.value.file, caught.value.line) == (str(file), 2)
    with pytest.raises(SymboUQError, match="cannot be read"):
        relation_f1(audits, tmp_path / "missing")


def _predicted(made: Experiment) -> dict[str, bytes]:
    stages = [
        stage
        for cell, cell_stages in made.cells.items()
        if cell.split == "test"
        for stage in (*cell_stages.scores.values(), cell_stages.predictions)
    ]
    return {stage.name: made.run.output(stage).read_bytes() for stage in stages}


SMALL = """
name: small
backbones: [{{name: tiny, model: {backbone}}}]
source: chains
datasets: [{{name: chains, family: chains, sizes: {{train: 24, validation: 16, test: 16}}}}]
generation: {{samples: 1}}
scorers: [Random, MCP, MLP, P(True), Constraint-Rule, Constraint-Only]
seeds: [2026]
epochs: 2
width: 8
views: [grounded, dual, worlds]
"""


@pytest.mark.slow
def test_scorers_are_tuned_where_a_search_is_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "small.yaml"
    text = SMALL.format(backbone=SMOKE.parent / "backbones/tiny")
    text = text.replace("[Random, MCP, MLP, P(True), ", "[MLP, ").replace(
        "samples: 1", "samples: 0"
    )
    grid = "search: {width: [8], loss: [balanced], learning_rate: [0.1, 0.0001], epochs: [1, 2]}"
    config.write_text(f"{text}{grid}\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["experiment", "run", str(config)])
    assert done.exit_code == 0, done.output
    experiment = Experiment(read_config(config), Path("runs/small"))
    stage = experiment.searches["tiny"]["MLP"]
    rows = read_sweep(experiment.run.output(stage, "search.jsonl"))
    assert [(row.settings.learning_rate, row.settings.epochs) for row in rows] == [
        *((0.1, 1), (0.1, 2)),
        *((0.0001, 1), (0.0001, 2)),
    ]
    space, _, chosen = TABLES["search-space"](Results(experiment))
    assert {row[2] for row in space.rows[5:]} == {"the source's validation"}
    best = best_of(rows, "MLP")
    rate, epochs = str(best.settings.learning_rate), str(best.settings.epochs)
    assert chosen.rows[0] == ("MLP", "8", "balanced", rate, epochs, f"{best.auroc:.3f}")
    kept = experiment.cells[Cell("tiny", "chains", "validation")].scores[None].scorers
    (fitted,) = (scorer for scorer in kept if scorer.scorer == "MLP")
    assert fitted.search is stage


@pytest.mark.ray
@pytest.mark.slow
def test_a_cluster_makes_the_same_stages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nodes: None
) -> None:
    made = {}
    for name, options in (("alone", ()), ("cluster", ("--engine", "ray", "--jobs", "2"))):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)  # audits name their files
        config = Path("small.yaml")
        config.write_text(SMALL.format(backbone=SMOKE.parent / "backbones/tiny"), encoding="utf-8")
        done = CliRunner().invoke(main, ["experiment", "run", str(config), *options])
        assert done.exit_code == 0, done.output
        made[name] = {
            str(file): file.read_bytes()
            for file in sorted(Path("runs").rglob("*"))
            if file.is_file() and file.name not in TIMED
        }
    assert len(made["alone"]) > 30
    assert made["cluster"].keys() == made["alone"].keys()
    differing = [file for file in made["alone"] if made["cluster"][file] != made["alone"][file]]
    assert differing == []


TIMED = ("stage.json", "timing.json", "costs.json", "cost.json", "efficiency.md")
"""Files that hold how long something took."""
