"""`symbouq fit` and `symbouq predict` as their users meet them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from helpers.labelled_traces import traces
from symbouq_cli.main import main

from symbouq.records import Reliability


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments] + ["--jobs", "1"])


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fitted model, its validation traces and new ones."""
    made = tmp_path_factory.mktemp("fit")
    write(made / "validation.jsonl", traces(40))
    write(made / "new.jsonl", traces(60)[40:])
    result = run("fit", made / "validation.jsonl", "--out", made / "model.json")
    assert result.exit_code == 0, result.output
    return made


def predicted(folder: Path, traces_: Path, *options: str) -> list[dict[str, Any]]:
    out = folder / "out.jsonl"
    result = run("predict", traces_, "--model", folder / "model.json", "--out", out, *options)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_fit_tells_what_it_fitted(folder: Path) -> None:
    result = run("fit", folder / "validation.jsonl", "--out", folder / "again.json")
    assert "40 traces, 24 right" in result.stderr
    assert "Constraint-Rule (grounded): AUROC 1.000" in result.stderr
    assert "design " in result.stderr
    assert (folder / "again.json").read_bytes() == (folder / "model.json").read_bytes()


def test_predictions_are_reliabilities(folder: Path) -> None:
    rows = predicted(folder, folder / "new.jsonl")
    assert [Reliability.model_validate(row).id for row in rows] == [
        f"t{n:03d}" for n in range(40, 60)
    ]
    right = [n % 7 < 4 for n in range(40, 60)]
    low = min(row["reliability"] for row, y in zip(rows, right, strict=True) if y)
    assert low > max(row["reliability"] for row, y in zip(rows, right, strict=True) if not y)


def test_permuted_labels_change_no_prediction(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "new.jsonl").read_text().splitlines()]
    plain = predicted(folder, folder / "new.jsonl")
    answers = [row["answer"] for row in rows]
    permuted = [
        row | {"answer": a, "correct": n % 2 == 0}
        for n, (row, a) in enumerate(zip(rows, answers[3:] + answers[:3], strict=True))
    ]
    assert permuted != rows
    assert predicted(folder, write(folder / "permuted.jsonl", permuted)) == plain
    bare = [{k: v for k, v in row.items() if k != "answer"} for row in rows]
    assert predicted(folder, write(folder / "bare.jsonl", bare)) == plain


@pytest.mark.parametrize(
    ("composition", "more"),
    [
        (("--composition", "paper"), set()),
        (("--composition", "dual"), {"Constraint-Rule (grounded)"}),
        ((), {"Constraint-Rule (grounded)", "Constraint-Worlds"}),
    ],
)
def test_compositions(folder: Path, composition: tuple[str, ...], more: set[str]) -> None:
    model = folder / "composed.json"
    result = run("fit", folder / "validation.jsonl", "--out", model, *composition)
    assert result.exit_code == 0
    names = set(json.loads(model.read_text())["candidates"])
    assert names == {"Constraint-Rule", "Constraint-Only"} | more


def test_traces_without_label_are_named(folder: Path) -> None:
    rows = traces(40)
    rows[4]["answer"] = None
    rows[5]["correct"] = "maybe"
    result = run("fit", write(folder / "some.jsonl", rows), "--out", folder / "some.json")
    assert result.exit_code == 1
    assert "some.jsonl:5: a label is needed" in result.stderr
    assert "some.jsonl:6: correct: true or false is expected" in result.stderr
    assert json.loads((folder / "some.json").read_text())["notes"]["traces"] == 38


def test_no_usable_trace_ends_with_2(folder: Path) -> None:
    result = run("fit", write(folder / "none.jsonl", []), "--out", folder / "none.json")
    assert result.exit_code == 2
    assert "needs traces" in result.stderr
    assert not (folder / "none.json").exists()


def test_one_class_is_told(folder: Path) -> None:
    rows = [row | {"correct": True} for row in traces(6)]
    result = run("fit", write(folder / "right.jsonl", rows), "--out", folder / "right.json")
    assert "one class only: the reliability is Constraint-Rule" in result.stderr


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"response": "Answer: Q"}, "40 of 40 delivered answers are no label"),
        ({"answer": "nowhere"}, "fitting needs traces"),
        ({"turned": True}, "`correct` is at odds with `answer` in 40 of 40 traces"),
    ],
)
def test_no_model_is_fitted_to_labels_that_are_none(
    folder: Path, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    rows = [row | changes for row in traces(40)]
    if changes.pop("turned", None):
        rows = [row | {"correct": n % 7 >= 4} for n, row in enumerate(traces(40))]
    result = run("fit", write(tmp_path / "rows.jsonl", rows), "--out", tmp_path / "model.json")
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "model.json").exists()


def test_what_makes_figures_say_little_is_told(folder: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "few.jsonl", traces(19))
    result = run("fit", file, "--out", tmp_path / "few.json")
    assert "warning: 19 labels are few" in result.stderr
    assert "in-sample" in result.stderr
    again = run("fit", folder / "validation.jsonl", "--out", tmp_path / "model.json")
    assert "warning" not in again.stderr


def test_a_source_model_is_adapted_without_labels(folder: Path) -> None:
    rows = [{k: v for k, v in row.items() if k != "answer"} for row in traces(20)]
    target = write(folder / "target.jsonl", rows)
    out = folder / "adapted.json"
    result = run("fit", target, "--out", out, "--source", folder / "model.json")
    assert result.exit_code == 0, result.output
    notes = json.loads(out.read_text())["notes"]
    assert (notes["adapted_to"], notes["traces"]) == (20, 40)


def test_another_ontology_warns_or_refuses(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.lp").write_text('extends(nine_way). phrase(above, "perched over").\n')
    arguments = (
        "predict",
        folder / "new.jsonl",
        "--model",
        folder / "model.json",
        "--ontology",
        tmp_path,
    )
    result = run(*arguments)
    assert result.exit_code == 0
    assert "warning: the model was fitted under another version of the ontology" in result.stderr
    assert len(result.stdout.splitlines()) == 20
    result = run(*arguments, "--strict")
    assert result.exit_code == 2
    assert not result.stdout


def test_no_model_ends_with_2(folder: Path) -> None:
    result = run("predict", folder / "new.jsonl", "--model", folder / "new.jsonl")
    assert result.exit_code == 2
    assert "not a reliability model" in result.stderr


@pytest.mark.slow
def test_predicting_and_auditing_import_no_scikit_learn(folder: Path) -> None:
    code = (
        "import sys\nfrom symbouq_cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "loaded = {'sklearn', 'pandas'} & set(sys.modules)\nassert not loaded, loaded\n"
        "assert sys.argv[1] != 'audit' or 'scipy' not in sys.modules\n"
    )
    out = ["--out", str(folder / "o.jsonl"), "--jobs", "1"]
    for command in (["audit"], ["predict", "--model", str(folder / "model.json")]):
        arguments = [*command, str(folder / "new.jsonl"), *out]
        subprocess.run([sys.executable, "-c", code, *arguments], check=True, cwd=folder)


def test_meta_that_is_no_object_is_no_fault(folder: Path) -> None:
    row = {**traces(60)[50], "meta": "text"}
    assert len(predicted(folder, write(folder / "meta.jsonl", [row]))) == 1


def test_the_pipeline_reaches_the_reader(folder: Path, tmp_path: Path) -> None:
    traces = [folder / "new.jsonl", "--pipeline", "en_nowhere"]
    for command in (["fit", *traces], ["predict", *traces, "--model", folder / "model.json"]):
        result = run(*command, "--out", tmp_path / "out")
        assert "the pipeline 'en_nowhere' cannot be loaded" in result.stderr
        assert result.exit_code == 2


def test_a_guarantee_says_what_is_accepted(folder: Path) -> None:
    model = folder / "guaranteed.json"
    result = run("fit", folder / "validation.jsonl", "--out", model, "--guarantee", "0.5",
                 "--delta", "0.25")  # fmt: skip
    assert "accepted from reliability" in result.stderr
    assert "of 10 held-out scenes" in result.stderr
    told = run("predict", folder / "new.jsonl", "--model", model, "--out", folder / "taken.jsonl")
    rows = [json.loads(line) for line in (folder / "taken.jsonl").read_text().splitlines()]
    assert f", {sum(row['accepted'] for row in rows)} accepted" in told.stderr
    result = run("fit", folder / "validation.jsonl", "--out", model, "--guarantee", "0.05")
    assert result.exit_code == 0
    assert "needs 45 held-out traces" in result.stderr


def test_a_guarantee_needs_labels(folder: Path) -> None:
    result = run("fit", folder / "new.jsonl", "--out", folder / "x.json", "--guarantee", "0.1",
                 "--source", folder / "model.json")  # fmt: skip
    assert result.exit_code == 2
    assert "--guarantee needs labels" in result.stderr
