"""Tables and figures from files of stages, on values that were worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from symbouq.errors import RecordError
from symbouq.evidence.scorers.bank import Score, Scored, write_scores
from symbouq.experiments.composition import METHOD, Predicted, write_predictions
from symbouq.experiments.config import SPLITS, ExperimentConfig, Split
from symbouq.experiments.figures import FIGURES
from symbouq.experiments.results import Results
from symbouq.experiments.stages import Cell
from symbouq.experiments.tables import TABLES
from symbouq.reliability.darc import Composer

SIZES = {"validation": 3, "test": 6}
CONFIG = ExperimentConfig.model_validate(
    {
        "name": "made",
        "backbones": [{"name": "B", "model": "nowhere"}],
        "source": "chains",
        "datasets": [
            {"name": "chains", "family": "chains", "sizes": {"train": 1} | SIZES},
            {"name": "prose", "family": "chains", "sizes": SIZES, "free_form": True},
        ],
        "seeds": [1],
        "validation_sizes": [2],
    }
)
Scores = dict[str, float | None]

LABELS = {"a": 1, "b": 1, "c": 0, "d": 0, "e": 0, "f": None}
"""Of the test traces; one has no label."""

RULE: Scores = {"a": 0.9, "b": 0.4, "c": 0.3, "d": 0.1, "e": None, "f": 0.5}
CONSTRAINT: Scores = {"a": 0.8, "b": 0.6, "c": 0.7, "d": 0.2, "e": None, "f": 0.5}
CLAIMS = {"a": 2, "c": 2, "d": 2, "b": 3, "e": 3}
"""How many claims each trace has."""
WHOLE = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.2, "e": 0.1, "f": 0.5}
"""A composition has a score of every trace."""


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """The results of a backbone on two datasets, of which the stages' files were written by hand:
    no scorer has a score of the trace e.
    """
    cells = {}
    for dataset in ("chains", "prose"):
        known: Scores = {"v": 0.2, "w": 0.7, "x": None}  # their mean is 0.45
        for split, given in zip(SPLITS[1:], ((known, known), (RULE, CONSTRAINT)), strict=True):
            cell, folder = Cell("B", dataset, split), tmp_path / dataset / split
            folder.mkdir(parents=True)
            _lines(folder / "traces.jsonl", [{"id": n} for n in given[0]])
            profile = {"symbolizability": 0.5, "determinacy": 0.25, "unparsed": 0}
            audits = [
                {"id": n, "profile": profile, "claims": [{"relations": []}] * CLAIMS.get(n, 1)}
                for n in given[0]
            ]
            _lines(folder / "audits.jsonl", audits)
            labels = [{"id": n, "source": "answer", "labels": [LABELS.get(n, 1)]} for n in given[0]]
            _lines(folder / "labels.jsonl", labels)
            _write_scores(folder, *given)
            cells[cell] = SimpleNamespace(
                traces=folder / "traces.jsonl",
                audits={None: folder / "audits.jsonl"},
                labels=folder / "labels.jsonl",
                scores={None: folder / "scores.parquet"},
                predictions=folder / "predictions.parquet" if split == "test" else None,
            )
        made = Composer("average", ("Constraint",))
        values = np.array([*WHOLE.values()])
        names = (METHOD, "scores only", "shuffled", "evaluable-only", "valsize 2", "epsilon 0.03")
        write_predictions(
            (Predicted(name, 1, tuple(WHOLE), values, made) for name in names),
            folder / "predictions.parquet",
            folder / "composers.json",
        )
    made_of = SimpleNamespace(
        config=CONFIG,
        cells=cells,
        searches={},
        run=SimpleNamespace(output=lambda file: file),
    )
    return Results(made_of)  # type: ignore[arg-type]


def _folder(results: Results, split: Split) -> Any:
    return results.experiment.cells[Cell("B", "chains", split)].scores[None].parent


def _write_scores(folder: Path, rule: Scores, constraint: Scores) -> None:
    rows = [
        Scored({"name": name, "seed": 1}, [Score(n, name, 1, [], x) for n, x in scores.items()])
        for name, scores in (("Constraint-Rule", rule), ("Constraint", constraint))
    ]
    write_scores(folder / "scores.parquet", [rows])


def _lines(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_every_method_is_measured_on_the_same_traces(results: Results) -> None:
    cell = results.cell("B", "chains")
    assert cell.imputed == 1
    labels = [1, 1, 0, 0, 0]
    # The trace e has the mean over validation, as it has for the composer; f has no label.
    expected = {
        "Constraint-Rule": [0.9, 0.4, 0.3, 0.1, 0.45],
        "Constraint": [0.8, 0.6, 0.7, 0.2, 0.45],
        METHOD: [0.9, 0.8, 0.7, 0.2, 0.1],
    }
    for method, values in expected.items():
        ((scores, truth),) = cell.runs(method)
        assert scores.tolist() == pytest.approx(values)
        assert truth.tolist() == labels
    # Right above wrong in 3 + 2 of 6 pairs; over the four traces with a score it was 1.
    assert cell.metric("Constraint-Rule", "auroc") == pytest.approx(5 / 6)
    assert cell.metric("Constraint", "auroc") == pytest.approx(5 / 6)
    assert cell.metric(METHOD, "auroc") == 1.0


def test_a_score_that_validation_has_nowhere_stands_at_a_half(results: Results) -> None:
    nowhere: Scores = dict.fromkeys("vwx")
    _write_scores(_folder(results, "validation"), nowhere, nowhere)
    ((scores, _),) = results.cell("B", "chains").runs("Constraint")
    assert scores.tolist() == [0.8, 0.6, 0.7, 0.2, 0.5]


def test_what_is_left_of_a_score_within_a_length(results: Results) -> None:
    cell = results.cell("B", "chains")
    # Of two claims a is right, c and d are wrong; of three b is right, e is wrong and stands at 0.45.
    assert cell.within_length("Constraint-Rule") == pytest.approx(2 / 3)
    assert cell.within_length("Constraint") == 1.0
    assert cell.within_length("Length") is None


def test_first_errors_are_found_by_verdicts(results: Results) -> None:
    assert TABLES["first-error"](results) == []  # no trace here has labels of all claims
    folder = _folder(results, "test")
    verdicts = {"a": ["entailed", "entailed"], "c": ["entailed", "contradicted"], "d": ["unknown"]}
    both = ("verdict", "grounded_verdict")
    claims = {
        name: [
            {"index": n, "first_conflict": False, **dict.fromkeys(both, verdict)}
            for n, verdict in enumerate(given, 1)
        ]
        for name, given in verdicts.items()
    }
    _lines(folder / "audits.jsonl", [{"id": n, "claims": given} for n, given in claims.items()])
    labels = {"a": [1, 1], "c": [1, 0], "d": [0]}
    told = [{"id": n, "source": "truth", "labels": given} for n, given in labels.items()]
    _lines(folder / "labels.jsonl", told)
    (table,) = TABLES["first-error"](Results(results.experiment))
    # One of two errors is found, and the right trace is cleared: 2 * 0.5 * 1 / 1.5.
    assert table.rows[0][:4] == ("audit", "0.667", "0.500", "1.000")
    assert "chains 2 and 1" in table.note


def test_the_labels_of_people_are_of_claims_that_there_are(
    results: Results, tmp_path: Path
) -> None:
    traces = results.experiment.cells[Cell("B", "chains", "test")].traces
    said = [{"id": n, "reasoning": ["A is left of B."], "conclusion": "left"} for n in "ab"]
    _lines(traces, said)
    file = tmp_path / "people.csv"
    file.write_text("id,claim,label\na,1,0\nb,2,1\n")
    given = results.cell("B", "chains").labelled_by(file)
    assert {name: labels.labels for name, labels in given.items()} == {
        "a": (0, None),
        "b": (None, 1),
    }
    file.write_text("id,claim,label\nz,1,0\n")
    with pytest.raises(RecordError, match="there is no trace z"):
        results.cell("B", "chains").labelled_by(file)


def test_a_backbone_that_does_not_answer_a_dataset_has_nothing(results: Results) -> None:
    cell = results.cell("C", "chains")
    assert (cell.truth, cell.traces, cell.audits, cell.imputed) == ({}, [], [], 0)
    assert not cell.has(METHOD)
    assert cell.metric(METHOD, "auroc") is None
    assert cell.gain(over="scores only") is None


COMPARING = (
    "result", "headline", "ablation", "significance", "extrametrics", "valsize", "scorers",
    "beyond-length",
)  # fmt: skip


@pytest.mark.parametrize("name", COMPARING)
def test_a_table_says_how_many_traces_it_is_about(results: Results, name: str) -> None:
    counts = "test traces (chains: 5 (1 imputed, 1 without a label left out))"
    for table in TABLES[name](results):
        assert counts in table.note
        assert "the score's mean over validation replaces a missing score" in table.note


def test_results_are_told_a_metric_a_table(results: Results) -> None:
    areas, losses = TABLES["result"](results)
    assert areas.title == "Final-answer reliability on B: AUROC"
    assert losses.title == "Final-answer reliability on B: balanced Brier"
    assert areas.columns == losses.columns == ("Group", "Method", "chains")
    assert {row[1]: getattr(row[2], "text", row[2]) for row in areas.rows}[METHOD] == "1.000"
    varied, _ = TABLES["ablation"](results)
    assert varied.columns == ("Variant", "chains", "Gain kept")


def test_what_is_fixed_beforehand_is_compared_over_the_cells(results: Results) -> None:
    _, table = TABLES["search-space"](results)
    by_name = {row[0]: row[1:] for row in table.rows}
    assert [*by_name][4:6] == ["epsilon 0.05", "folds 1"]
    # Like the composition it ranks every right answer first; balanced, its loss is
    # ((0.01 + 0.04) / 2 + (0.49 + 0.04 + 0.01) / 3) / 2.
    assert by_name["epsilon 0.03"] == ("1.000", "0.102", "1")
    assert by_name["folds 10"] == ("not run", "not run", "0")


def test_traces_that_copy_the_instruction_are_counted(results: Results) -> None:
    test = results.experiment.cells[Cell("B", "chains", "test")]
    states = [{"status": "valid", "copied": True}, {"status": "valid"}, {"status": "truncated"}]
    _lines(
        test.traces,
        [{"id": n, "generation": state} for n, state in zip("abc", states, strict=True)],
    )
    cells = {Cell("B", "chains", "test"): test}
    made = SimpleNamespace(config=CONFIG, cells=cells, run=results.experiment.run)
    (table,) = TABLES["traces"](Results(made))  # type: ignore[arg-type]
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert (row["Traces"], row["Valid"], row["Copied"]) == ("3", "0.667", "0.333")


def test_the_judge_beside_people_and_what_the_paper_reports_of_them(
    results: Results, tmp_path: Path
) -> None:
    file = tmp_path / "people.csv"
    file.write_text("id,claim,label\na,1,1\nb,1,0\nc,1,0\n")
    people = {"backbone": "B", "dataset": "StepGame", "file": file}
    judge = {"name": "J", "model": "nowhere"}
    datasets = [CONFIG.datasets[0].model_copy(update={"name": "StepGame"})]
    config = CONFIG.model_copy(update={"datasets": datasets, "source": "StepGame"})
    config = ExperimentConfig.model_validate(
        config.model_dump() | {"judge": judge, "human_labels": [people]}
    )
    test = results.experiment.cells[Cell("B", "chains", "test")]
    said = [{"id": n, "reasoning": ["A is left of B."], "conclusion": "left"} for n in "abc"]
    _lines(test.traces, said)
    judged = tmp_path / "judged.jsonl"
    _lines(judged, [{"id": n, "source": "J", "labels": [1, None]} for n in "abc"])
    _lines(test.labels, [{"id": n, "source": "truth", "labels": [1, 1]} for n in "abc"])
    stages = SimpleNamespace(**vars(test), judged={"J": judged}, dataset=config.datasets[0])
    cells = {Cell("B", "StepGame", "test"): stages}
    made = SimpleNamespace(config=config, cells=cells, run=results.experiment.run)
    (table,) = TABLES["judge_agreement"](Results(made))  # type: ignore[arg-type]
    (row,) = (row for row in table.rows if row[0] == "Human")
    # One of three steps agrees; 93.1 and 0.83 are the paper's.
    assert row == ("Human", "33.3", "93.1", "0.00", "0.83", "3")


def test_the_other_tables_compare_no_methods() -> None:
    assert set(TABLES) - set(COMPARING) == {
        "prefix", "auditor", "judge_agreement", "dataset", "models", "freeform_cot", "efficiency",
        "search-space", "counterfactual", "illustrative", "first-error", "traces",
    }  # fmt: skip


def test_free_form_rows_have_their_own_counts(results: Results) -> None:
    (table,) = TABLES["freeform_cot"](results)
    columns = table.columns.index
    assert [row[columns("Form")] for row in table.rows] == ["structured", "free-form"]
    assert {row[columns("Traces")] for row in table.rows} == {"5"}
    assert {row[columns("Imputed")] for row in table.rows} == {"1"}
    assert {len(row) for row in table.rows} == {len(table.columns)}


def test_nothing_is_said_of_imputing_where_nothing_is_missing(results: Results) -> None:
    every: Scores = dict.fromkeys("abcdef", 0.5)
    _write_scores(_folder(results, "test"), every, every)
    (table,) = TABLES["scorers"](results)
    assert table.note == (
        "Every method is measured on the same test traces (chains: 5 (1 without a label left out))."
    )


def test_figures_say_how_many_traces_they_are_of(results: Results) -> None:
    pytest.importorskip("matplotlib")
    risk, separation = FIGURES["risk-coverage"](results), FIGURES["separation"](results)
    (axes,) = risk.axes
    assert axes.get_xlabel() == "coverage of 5 traces, 1 imputed"
    assert {len(line.get_xdata()) for line in axes.lines} == {5}
    (axes,) = separation.axes
    assert axes.get_title() == "B, 5 traces"
    assert axes.get_ylabel() == "Somers' D of Constraint-Rule"
    assert axes.get_xlabel() == "bin of determinacy or parse coverage (1 low, 5 high)"
    assert len(axes.collections) == 2  # an interval of each


def test_risk_has_a_band_over_seeds(results: Results) -> None:
    pytest.importorskip("matplotlib")
    folder = _folder(results, "test")
    made, other = Composer("average", ("Constraint",)), [*reversed(WHOLE.values())]
    write_predictions(
        (
            Predicted(METHOD, seed, tuple(WHOLE), np.array([*values]), made)
            for seed, values in ((1, WHOLE.values()), (2, other))
        ),
        folder / "predictions.parquet",
        folder / "composers.json",
    )
    (axes,) = FIGURES["risk-coverage"](Results(results.experiment)).axes
    places = [line.get_label() for line in axes.lines]
    # Of one trace, a is right by the first seed, f has no label, e is wrong by the second.
    bands = {
        name: {float(y) for x, y in band.get_paths()[0].vertices if x == pytest.approx(0.2)}
        for name, band in zip(places, axes.collections, strict=True)
    }
    assert bands[METHOD] == {0.0, 1.0}
    assert len(bands["Constraint"]) == 1  # it has one seed
