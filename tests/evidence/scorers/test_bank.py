"""Fitting, keeping and applying scorers, and the Parquet file of scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from helpers.synthetic import example, split

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.bank import (
    Fitted,
    Resources,
    Score,
    Scored,
    fingerprint,
    fit,
    folder_of,
    kept,
    load,
    possible,
    read_scores,
    save,
    scores,
    write_scores,
)
from symbouq.evidence.scorers.base import Labelled
from symbouq.evidence.scorers.reduction import auroc, reduced
from symbouq.evidence.scorers.registry import SCORERS
from symbouq.evidence.scorers.settings import Settings
from symbouq.evidence.signals.example import Example

QUICK = Settings(width=16, epochs=6, learning_rate=5e-3)
TRAIN, VALIDATION, TEST = (
    split(n, seed, hidden_tells=1.5, audit_tells=0.9) for n, seed in ((80, 1), (50, 2), (40, 3))
)
EXAMPLES = [item.example for item in TEST]


def fitted(name: str, seed: int = 0) -> Fitted:
    return fit(name, TRAIN, VALIDATION, seed, QUICK)


@pytest.mark.parametrize("name", ["MLP", "Constraint-Only", "Perplexity", "Random"])
def test_scores_are_calibrated_probabilities(name: str) -> None:
    ready = fitted(name)
    rows = list(scores(ready, EXAMPLES))
    assert [row.id for row in rows] == [item.id for item in EXAMPLES]
    values = ready.scorer.score(EXAMPLES)
    assert [row.claims for row in rows] == [list(v) for v in values]
    assert all(row.score is not None and 0 < row.score < 1 for row in rows)
    # Calibration changes no order.
    oriented = values if name in ("MLP", "Constraint-Only") else [-v for v in values]
    labels = [item.correct for item in TEST]
    found = auroc([row.score for row in rows], labels)
    assert found == pytest.approx(auroc(reduced(oriented, ready.calibrator.reduction), labels))
    if name in ("MLP", "Constraint-Only"):
        assert found > 0.7


def test_test_labels_and_test_traces_do_not_matter() -> None:
    ready = fitted("MLP")
    one_by_one = [next(scores(ready, [given])).score for given in EXAMPLES]
    together = [row.score for row in scores(ready, EXAMPLES)]
    assert one_by_one == pytest.approx(together, abs=1e-6)


def test_what_cannot_be_read_has_no_score() -> None:
    ready = fitted("MLP")
    first, second = EXAMPLES[:2]
    assert first.signals is not None
    silent = replace(
        first,
        signals=replace(
            first.signals,
            **{k: getattr(first.signals, k)[:0] for k in ("logprobs", "top", "hidden", "lookback")},
        ),
    )
    nothing = example(claims=0, id="nothing")
    rows = list(scores(ready, [silent, second, nothing]))
    assert [row.score is None for row in rows] == [True, False, True]
    assert rows[0].claims == []
    assert rows[1] == next(scores(ready, [second]))
    # In training they are left out.
    more = [*TRAIN, Labelled(silent, TEST[0].labels), Labelled(nothing, ())]
    again = fit("MLP", more, VALIDATION, 0, QUICK)
    assert again.calibrator == ready.calibrator
    assert again.data == ready.data


@pytest.mark.parametrize("name", ["Constraint", "Random", "Token Entropy", "Semantic Entropy"])
def test_kept_scorers_say_the_same(name: str, tmp_path: Path) -> None:
    sampled = [replace(e, samples=({"scene": "A is left of B.", "conclusion": e.id[-1]},)) for e in EXAMPLES]  # fmt: skip
    validation = [
        replace(item, example=replace(item.example, samples=sampled[0].samples))
        for item in VALIDATION
    ]
    ready = fit(name, TRAIN, validation, 3, QUICK)
    folder = save(ready, tmp_path)
    assert folder == folder_of(tmp_path, name, 3)
    again = load(folder)
    assert again.description == ready.description
    assert list(scores(again, sampled)) == list(scores(ready, sampled))


def test_folders(tmp_path: Path) -> None:
    for name, seed in (("P(True)", 0), ("MLP", 10), ("MLP", 2), ("Token Entropy", 0)):
        folder = folder_of(tmp_path, name, seed)
        folder.mkdir(parents=True)
        (folder / "scorer.json").write_text("{}")
    names = [str(path.relative_to(tmp_path)) for path in kept(tmp_path)]
    assert names == ["token-entropy/seed-0", "p-true/seed-0", "mlp/seed-2", "mlp/seed-10"]
    assert len({folder_of(tmp_path, name, 0) for name in SCORERS}) == len(SCORERS)
    assert [path.name for path in kept(tmp_path, ["mlp"])] == ["seed-2", "seed-10"]
    with pytest.raises(SymboUQError, match="holds no fitted UHead"):
        kept(tmp_path, ["UHead"])
    with pytest.raises(SymboUQError, match="holds no fitted scorers"):
        kept(tmp_path / "elsewhere")


def test_what_cannot_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(SymboUQError, match="holds no fitted scorer"):
        load(tmp_path)
    folder = save(fitted("Perplexity"), tmp_path)
    described = json.loads((folder / "scorer.json").read_text())
    for change, message in (
        ({"format": 7}, "a scorer of format 7"),
        ({"calibrator": None}, "not a calibrator|holds no fitted scorer"),
        ({"name": "BERT"}, "unknown scorer"),
        ({"equivalence": "nli, large"}, "calibrated with equivalence 'nli, large', not with None"),
    ):
        (folder / "scorer.json").write_text(json.dumps(described | change))
        with pytest.raises(SymboUQError, match=message):
            load(folder)


def said(ready: Fitted, examples: Sequence[Example]) -> Scored:
    return Scored(ready.description, list(scores(ready, examples)))


def test_the_parquet_file(tmp_path: Path) -> None:
    ready = [fitted("Perplexity"), fitted("MLP", seed=1)]
    file = tmp_path / "new" / "scores.parquet"
    parts = ([said(one, part) for one in ready] for part in (EXAMPLES[:30], EXAMPLES[30:]))
    counts = write_scores(file, parts)
    assert counts == {"Perplexity, seed 0": 40, "MLP, seed 1": 40}
    table = pq.read_table(file)
    assert table.schema.names == ["id", "method", "seed", "claims", "score", "reduction", "tokens"]
    described = json.loads(table.schema.metadata[b"scorers"])
    assert described == [one.description for one in ready]
    rows = read_scores(file)
    expected = [said(one, part).rows for one in ready for part in (EXAMPLES[:30], EXAMPLES[30:])]
    assert rows == [row for part in expected for row in part]
    assert [path.name for path in file.parent.iterdir()] == ["scores.parquet"]
    write_scores(file, [])
    assert read_scores(file) == []
    (tmp_path / "x").write_text("no")
    with pytest.raises(SymboUQError, match="holds no scores"):
        read_scores(tmp_path / "x")


def test_values_of_tokens_are_given_where_they_are_asked_for(tmp_path: Path) -> None:
    for name, some in (("MCP", True), ("Random", False)):
        ready = fitted(name)
        rows = list(scores(ready, EXAMPLES[:3], tokens=True))
        assert [bool(row.tokens) for row in rows] == [some] * 3
        write_scores(tmp_path / name, [[Scored(ready.description, rows)]])
        assert read_scores(tmp_path / name) == rows
    assert [row.tokens for row in scores(fitted("MCP"), EXAMPLES[:3])] == [[], [], []]


def test_files_without_values_of_tokens_are_read(tmp_path: Path) -> None:
    table = pq.read_table(_written(tmp_path / "new"))
    pq.write_table(table.drop_columns(["tokens"]), tmp_path / "old")
    assert read_scores(tmp_path / "old") == read_scores(tmp_path / "new")


def _written(path: Path) -> Path:
    ready = fitted("Perplexity")
    write_scores(path, [[said(ready, EXAMPLES[:3])]])
    return path


def test_missing_scores_stay_missing(tmp_path: Path) -> None:
    ready = fitted("Perplexity")
    scored = Scored(ready.description, [Score("a", "Perplexity", 0)])
    assert write_scores(tmp_path / "s", [[scored]]) == {"Perplexity, seed 0": 1}
    assert read_scores(tmp_path / "s") == [Score("a", "Perplexity", 0)]


def test_a_fingerprint_is_of_all_that_decides() -> None:
    base = fingerprint(TRAIN, VALIDATION, QUICK)
    assert fingerprint(split(80, 1, hidden_tells=1.5, audit_tells=0.9), VALIDATION, QUICK) == base
    item = TRAIN[0]
    flipped = replace(item, labels=tuple(1 - label for label in item.labels))
    assert item.example.signals is not None
    moved = replace(item.example.signals, hidden=np.ones_like(item.example.signals.hidden))
    others = [
        fingerprint([flipped, *TRAIN[1:]], VALIDATION, QUICK),
        fingerprint([replace(item, example=replace(item.example, signals=moved)), *TRAIN[1:]], VALIDATION, QUICK),
        fingerprint([replace(item, example=replace(item.example, audit=None)), *TRAIN[1:]], VALIDATION, QUICK),
        fingerprint(VALIDATION, TRAIN, QUICK),
        fingerprint(TRAIN, VALIDATION, replace(QUICK, epochs=1)),
    ]  # fmt: skip
    assert len({base, *others}) == 6


def test_what_is_possible() -> None:
    names, missing = possible([], EXAMPLES, Resources())
    assert set(names) == {name for name, known in SCORERS.items() if not known.needs & {"samples"}}
    assert missing == {
        "Semantic Entropy": "further answers to its question (samples)",
        "SelfCheckGPT": "further answers to its question (samples)",
        "P(True)": "the model that wrote the traces",
    }
    assert possible(["mlp"], EXAMPLES, Resources())[0] == ["MLP"]
    with pytest.raises(SymboUQError, match="SelfCheckGPT needs further answers"):
        possible(["MLP", "SelfCheckGPT"], EXAMPLES, Resources())


def test_samples_that_say_nothing_have_no_score(tmp_path: Path) -> None:
    def answered(n: int, answers: Sequence[str]) -> Labelled:
        samples = tuple({"scene": "A is left of B.", "conclusion": a} for a in answers)
        return Labelled(example(id=f"t{n}", claims=1, samples=samples), (n % 2,))

    said = [answered(n, ["x", "x" if n % 2 else "y", "x"]) for n in range(8)]
    empty = answered(9, ["", "", ""])
    ready = fit("Semantic Entropy", [], [*said, empty])
    assert ready.calibrator == fit("Semantic Entropy", [], said).calibrator
    rows = list(scores(ready, [said[0].example, empty.example]))
    assert rows[0].score is not None and rows[0].lacks == ""
    assert (rows[1].score, rows[1].claims) == (None, [])
    assert rows[1].lacks == "an answer in one of its 3 samples"
    file = tmp_path / "scores.parquet"
    write_scores(file, [[Scored(ready.description, rows)]])
    assert read_scores(file) == rows
    with pytest.raises(SymboUQError, match=r"Semantic Entropy needs an answer .* no trace has it"):
        fit("Semantic Entropy", [], [empty])
    found, missing = possible((), [empty.example], Resources())
    assert "Semantic Entropy" not in found
    assert missing["Semantic Entropy"] == "an answer in one of its 3 samples"
