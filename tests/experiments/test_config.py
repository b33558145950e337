"""Configurations are checked whole before anything runs; answers are kept from questions."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from symbouq.evidence.scorers.sweep import Grid
from symbouq.experiments.config import (
    AnnotationConfig,
    BackboneConfig,
    DatasetConfig,
    ExperimentConfig,
    GenerationConfig,
    HumanLabelsConfig,
    TrainingConfig,
    read_config,
)
from symbouq.experiments.experiment import Experiment
from symbouq.experiments.questions import GOLD, QUESTIONS, write_questions, write_splits
from symbouq.io.settings import SettingsError

GOOD = """
name: small
backbones:
  - {name: one, model: models/one}
  - {name: two, model: someone/two}
source: chains
datasets:
  - {name: chains, family: chains, sizes: {train: 4, validation: 3, test: 2}}
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "experiment.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_folders_of_models_are_found_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "models/one").mkdir(parents=True)
    config = read_config(written(tmp_path, GOOD))
    assert [backbone.model for backbone in config.backbones] == [
        str(tmp_path / "models/one"),
        "someone/two",
    ]
    assert config.seeds == [2026, 2027, 2028, 2029, 2030]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("source: chains", "source: trees", "source trees is none of the datasets"),
        ("train: 4, ", "", "source chains needs a `train` split"),
        ("validation: 3, ", "", "dataset chains needs a `validation` split"),
        (
            "sizes: {train: 4, validation: 3, test: 2}}",
            "sizes: {train: 4, validation: 3}}\n"
            "  - {name: blocks, family: blocks, sizes: {test: 2}}",
            "dataset blocks needs a `validation` split: it calibrates the scores",
        ),
        ("family: chains", "family: trees", "unknown family trees; there are chains"),
        ("family: chains, ", "", "dataset chains needs either `family`, `files` or `provider`"),
        ("name: small", "name: small\nseed: 3", "seed: Extra inputs are not permitted"),
        ("sizes: {", "sizes: {dev: 3, ", "sizes"),
        ("model: models/one", "training: {steps: 3}", "one needs either `model` or `pretrained`"),
        ("model: models/one", "pretrained: gpt", "unknown pretrained model gpt; there are smollm2"),
        ("name: two", "name: one", "two models have the name one"),
        ("name: small", "name: [small", "not valid YAML"),
        ("name: small", "name: small\nscorers: [BERT]", "unknown scorer 'BERT'"),
        (
            "name: small",
            "name: small\nscorers: [Random, MLP]",
            "`scorers` needs Constraint-Rule: it stands in where labels have one class",
        ),
        (
            "name: small",
            "name: small\nannotations: [{backbone: one, dataset: trees, file: a}]",
            "annotations of one on trees: no such traces",
        ),
        (
            "name: small",
            "name: small\nannotations: [{backbone: one, dataset: chains, file: a}, "
            "{backbone: one, dataset: chains, file: b}]",
            "annotations: one file for a backbone and a dataset",
        ),
    ],
)
def test_faults_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(SettingsError, match=message) as raised:
        read_config(file)
    assert raised.value.file == str(file)


def test_questions_hold_no_answers(tmp_path: Path) -> None:
    dataset = DatasetConfig(name="b", family="blocks", sizes={"test": 5})
    write_questions(dataset, "test", None, tmp_path)
    questions = [json.loads(line) for line in (tmp_path / QUESTIONS).read_text().splitlines()]
    gold = [json.loads(line) for line in (tmp_path / GOLD).read_text().splitlines()]
    assert len(questions) == 5
    assert not any({"answer", "meta", "correct"} & question.keys() for question in questions)
    assert [row["id"] for row in gold] == [row["id"] for row in questions]
    assert all(row["answer"] and row["meta"]["facts"] for row in gold)


def test_no_scene_of_a_family_is_in_two_splits(tmp_path: Path) -> None:
    sizes = {"train": 150, "validation": 150, "test": 150}
    dataset = DatasetConfig(name="b", family="regions", hops=(1,), sizes=sizes)
    files = {}
    for split in sizes:
        (tmp_path / split).mkdir()
        write_questions(dataset, split, None, tmp_path / split)
        files[split] = tmp_path / split / QUESTIONS
    write_splits(files, tmp_path / "splits.json")
    told = json.loads((tmp_path / "splits.json").read_text())
    assert [told[split]["questions"] for split in sizes] == [150, 150, 150]
    files["test"].write_text(
        files["train"]
        .read_text()
        .upper()
        .replace('"ID"', '"id"')
        .replace('"SCENE"', '"scene"')
        .replace('"QUESTION"', '"question"')
    )
    with pytest.raises(SettingsError, match=r"\(test\) is that of b-train-00000 \(train\)"):
        write_splits(files, tmp_path / "splits.json")


def test_rows_of_a_file_are_drawn_by_their_ids(tmp_path: Path) -> None:
    rows = [
        {"id": f"r{n}", "scene": ["A is above B."], "hops": n % 3, "answer": "above"}
        for n in range(30)
    ]
    with gzip.open(tmp_path / "t.jsonl.gz", "wt") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)
    dataset = DatasetConfig(name="f", files={"test": "t.jsonl.gz"}, sizes={"test": 6}, hops=(1, 2))
    drawn = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_questions(dataset, "test", tmp_path, tmp_path / name)
        drawn.append((tmp_path / name / QUESTIONS).read_text())
    assert drawn[0] == drawn[1]
    taken = [json.loads(line) for line in drawn[0].splitlines()]
    assert len(taken) == 6
    assert all(row["hops"] in (1, 2) for row in taken)
    few = r"f, test: 21 questions are asked for, and t\.jsonl\.gz has 20 of 1, 2 hops"
    with pytest.raises(SettingsError, match=few):
        write_questions(
            dataset.model_copy(update={"sizes": {"test": 21}}), "test", tmp_path, tmp_path / "one"
        )
    with pytest.raises(SettingsError, match="give the folder with --data"):
        write_questions(dataset, "test", None, tmp_path / "one")


def test_splits_of_one_file_share_no_row(tmp_path: Path) -> None:
    rows = [{"id": f"s-{n}", "scene": f"A{n} is left of B.", "answer": "left"} for n in range(20)]
    asked = [{**row, "question": "Where is A?", "answer_space": ["left", "right"]} for row in rows]
    (tmp_path / "f.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    files = {"train": "f.jsonl", "validation": "other.jsonl", "test": "f.jsonl"}
    sizes = {"train": 12, "validation": 5, "test": 8}
    dataset = DatasetConfig.model_validate({"name": "f", "files": files, "sizes": sizes})
    drawn = []
    for split in ("train", "test"):
        (tmp_path / split).mkdir()
        write_questions(dataset, split, tmp_path, tmp_path / split)
        written = (tmp_path / split / QUESTIONS).read_text().splitlines()
        drawn.append({json.loads(line)["id"] for line in written})
    assert [len(names) for names in drawn] == [12, 8]
    assert not drawn[0] & drawn[1]
    more = dataset.model_copy(update={"sizes": {**sizes, "test": 9}})
    with pytest.raises(
        SettingsError,
        match=r"9 questions are asked for, and f.jsonl has 8 beside those of other",
    ):
        write_questions(more, "test", tmp_path, tmp_path / "test")


def test_prose_is_paired_with_the_same_questions_alone() -> None:
    sizes = {"validation": 2, "test": 2}
    plain, prose, shorter, other = (
        DatasetConfig.model_validate({"name": "chains", "family": "chains", "sizes": sizes} | more)
        for more in ({}, {"free_form": True}, {"hops": (1,)}, {"seed": 1})
    )
    assert prose.questions == plain.questions
    assert plain.questions not in (shorter.questions, other.questions)


def test_every_key_is_documented_with_its_default() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/configuration.md").read_text("utf-8")
    tables = page.split("| key |")[1:]
    kinds = [
        *(ExperimentConfig, BackboneConfig, TrainingConfig),
        *(DatasetConfig, GenerationConfig, Grid, AnnotationConfig, HumanLabelsConfig),
    ]
    assert len(tables) == len(kinds)
    for table, kind in zip(tables, kinds, strict=True):
        rows = re.findall(r"^\| `(\w+)` \| .+ \| (.+) \|$", table, re.MULTILINE)
        schema = TypeAdapter(kind).json_schema()
        assert sorted(name for name, _ in rows) == sorted(schema["properties"])
        for name, default in rows:
            assert (default == "required") == (name in schema.get("required", ()))
            value = schema["properties"][name].get("default")
            if isinstance(value, int | float | str) and not isinstance(value, bool):
                assert default == str(value)


LOADED = """
judge: {name: J, model: someone/judge, tensor_parallel: 4, context: 512, dtype: bfloat16}
reference_judges: [{name: R, model: someone/reference}]
generation: {engine: vllm, context: 2048, tokenizer_mode: hf}
"""


def test_a_model_is_loaded_by_its_own_settings_before_those_of_all(tmp_path: Path) -> None:
    config = read_config(written(tmp_path, GOOD + LOADED))
    judge, reference = (config.generation.of(model) for model in config.judges)
    assert (judge.context, judge.tensor_parallel, judge.tokenizer_mode) == (512, 4, "hf")
    assert (reference.context, reference.tensor_parallel, reference.dtype) == (2048, None, None)
    experiment = Experiment(config, tmp_path)
    stages = {stage.name: stage for stage in experiment.run.stages}
    assert stages["judged-J-one-chains-test"].gpus == 4
    assert stages["judged-R-one-chains-test"].gpus == stages["traces-one-chains-test"].gpus == 1
    # What says nothing of the texts does not make them anew, and what is not set is not named.
    traces = stages["traces-one-chains-test"].settings
    assert traces["context"] == 2048
    assert "tensor_parallel" not in traces
    assert "dtype" not in traces
    other = written(tmp_path, GOOD + LOADED.replace("engine: vllm, ", ""))
    with pytest.raises(SettingsError, match="generation: tokenizer_mode is a setting of the"):
        read_config(other)


def test_judges_label_what_something_reads(tmp_path: Path) -> None:
    prose = "  - {name: prose, family: chains, sizes: {validation: 3, test: 2}, free_form: true}\n"
    config = read_config(written(tmp_path, GOOD + prose + LOADED))
    judged = {
        (cell.dataset, cell.split): [*stages.judged]
        for cell, stages in Experiment(config, tmp_path).cells.items()
    }
    assert judged == {
        ("chains", "train"): ["J"],
        ("chains", "validation"): ["J"],
        ("chains", "test"): ["J", "R"],
        ("prose", "validation"): [],
        ("prose", "test"): [],
    }


def test_stages_that_ask_an_entailment_model_are_made_of_it(tmp_path: Path) -> None:
    def settings(nli: str) -> dict[str, Any]:
        config = read_config(written(tmp_path, GOOD + nli))
        return {stage.name: stage for stage in Experiment(config, tmp_path).run.stages}

    entropy, mlp = "scorer-one-Semantic_Entropy", "scorer-one-MLP"
    none, hub = settings(""), settings("nli: someone/nli@abc\n")
    for name in (entropy, "scores-one-chains-test", "costs-one"):
        assert none[name].settings | {"nli": "someone/nli@abc"} == hub[name].settings
    assert none[mlp].settings == hub[mlp].settings
    (tmp_path / "nli").mkdir()
    here = settings("nli: nli\n")
    assert here[entropy].settings == none[entropy].settings
    assert tmp_path / "nli" in here[entropy].inputs
    assert tmp_path / "nli" not in here[mlp].inputs
