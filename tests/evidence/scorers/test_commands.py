"""`symbouq scores` on splits of a tiny random model: traces, signals, audits and labels as the other
commands write them.
"""

from __future__ import annotations

import csv
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from helpers.tiny_model import tiny_model
from symbouq_cli.main import main

from symbouq.auditing.auditor import TraceAuditor
from symbouq.evidence.scorers.bank import read_scores
from symbouq.evidence.scorers.registry import SCORERS
from symbouq.records import Trace, make_record

RELATIONS = ("left", "right", "above", "below")
FITTED = sum(2 if scorer.seeded else 1 for scorer in SCORERS.values())
"""Random and the networks have two seeds."""
QUICK = ("--width", "8", "--epochs", "2", "--learning-rate", "0.01")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["scores", *map(str, arguments)])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(scope="module")
def splits(model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("splits")
    for seed, (name, count) in enumerate({"train": 24, "validation": 16, "test": 8}.items()):
        write_split(folder / name, model, count, seed)
    return {path.name: path for path in folder.iterdir()}


def write_split(folder: Path, model: Path, count: int, seed: int) -> None:
    """Traces of which about half are right, one that failed, and what the other commands make of
    them."""
    from transformers import AutoTokenizer

    from symbouq.evidence.signals.extract import Extraction, Extractor

    folder.mkdir()
    tokenizer = AutoTokenizer.from_pretrained(model)
    draw = random.Random(seed)
    auditor = TraceAuditor()
    traces, audits, labels = [], [], []
    for n in range(count):
        truth, said = draw.choice(RELATIONS), draw.choice(RELATIONS)
        said = truth if draw.random() < 0.4 or n < 2 else said
        trace = _trace(f"{seed}-{n}", truth, said, tokenizer, draw)
        if n == count - 1:
            trace |= {"response": ""}
            trace |= {"generation": {"token_ids": [], "status": "failed"}, "tokens": []}
            del trace["reasoning"], trace["conclusion"]
        traces.append(trace)
        kept = {k: v for k, v in trace.items() if k != "response" or "conclusion" not in trace}
        audits.append(auditor.audited(make_record(Trace, kept)))
        right = int(truth == said)
        labels.append({"id": trace["id"], "source": "truth", "labels": [right, right]})
    labels[-1]["labels"] = [0]
    for name, records in (("traces", traces), ("audits", audits), ("labels", labels)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines)
    extractor = Extractor(str(model), Extraction(device="cpu"))
    extractor.write(folder / "traces.jsonl", folder / "signals", folder / "audits.jsonl")


def _trace(name: str, truth: str, said: str, tokenizer: Any, draw: random.Random) -> dict[str, Any]:
    fields = {"reasoning": [f"A is {said} of B"], "conclusion": said}
    response = json.dumps(fields)
    ids = tokenizer(response, add_special_tokens=False)["input_ids"]
    tokens = []
    for token in ids:
        logprob = -draw.random()
        other = {"text": draw.choice(RELATIONS), "logprob": logprob - 1}
        text = tokenizer.decode([token])
        tokens.append({"text": text, "logprob": logprob, "top": [{"text": text, "logprob": logprob}, other]})  # fmt: skip
    return {
        "id": name,
        "scene": [f"A is {truth} of B."],
        "question": "Where is A from B?",
        "answer": truth,
        "answer_space": list(RELATIONS),
        **fields,
        "response": response,
        "tokens": tokens,
        "samples": [
            {"reasoning": [], "conclusion": draw.choice((said, *RELATIONS)), "status": "valid"}
            for _ in range(3)
        ],
        "generation": {"token_ids": ids, "status": "valid"},
    }


@pytest.fixture(scope="module")
def models(splits: dict[str, Path], model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All scorers, fitted."""
    folder = tmp_path_factory.mktemp("models")
    result = run("fit", splits["train"], splits["validation"], "--out", folder, "--model", model, "--seeds", "0-1", *QUICK)  # fmt: skip
    assert result.exit_code == 0, result.output
    told = [line for line in result.stderr.splitlines() if ": AUROC " in line]
    assert len(told) == FITTED
    assert any(line.startswith("Constraint, seed 1: AUROC ") for line in told)
    return folder


def test_list() -> None:
    result = run("list")
    assert result.exit_code == 0
    for name in SCORERS:
        assert f"\n{name}: " in "\n" + result.output
    assert "needs: audit, hidden, lookback, tokens" in result.output


@pytest.mark.ray
@pytest.mark.slow
def test_a_cluster_gives_the_same_scores(
    models: Path,
    splits: dict[str, Path],
    model: Path,
    tmp_path: Path,
    nodes: None,
) -> None:
    for name in ("one", "two"):
        cluster = ("--engine", "ray", "--jobs", "2") if name == "two" else ()
        arguments = ("--out", tmp_path / name, "--model", model, "--validation", splits["validation"])  # fmt: skip
        result = run("apply", models, splits["test"], *arguments, *cluster)
        assert result.exit_code == 0, result.output
        assert "Constraint, seed 1: 8 traces" in result.stderr
        assert "1 traces have no input and no score" in result.stderr
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    # A fault where the split is read, where a worker is made, and where it works.
    broken = tmp_path / "split"
    shutil.copytree(splits["test"], broken)
    audits = (broken / "audits.jsonl").read_text().splitlines(keepends=True)
    (broken / "audits.jsonl").write_text("".join(audits[1:]))
    result = run("apply", models, broken, "--out", tmp_path / "x", "--model", model, "--engine", "ray")  # fmt: skip
    assert result.exit_code == 2
    assert "no audit of trace 2-0" in result.stderr
    assert "Ray" not in result.stderr
    assert not (tmp_path / "x").exists()
    shutil.copytree(models, tmp_path / "models")
    (tmp_path / "models" / "mcp" / "seed-0" / "timing.json").write_text("{}")
    result = run("apply", tmp_path / "models", splits["test"], "--out", tmp_path / "x", "--model", model, "--engine", "ray")  # fmt: skip
    assert (result.exit_code, result.stdout) == (2, "")
    assert "holds no fitted scorer: KeyError('training_seconds')" in result.stderr
    shutil.copytree(splits["test"], tmp_path / "damaged")
    (tmp_path / "damaged" / "signals" / "shard-00000.safetensors").write_bytes(b"no")
    result = run("apply", models, tmp_path / "damaged", "--out", tmp_path / "x", "--model", model, "--engine", "ray")  # fmt: skip
    assert (result.exit_code, result.stdout) == (2, "")
    assert "shard-00000.safetensors is damaged" in result.stderr
    assert "Ray" not in result.stderr


def test_traces_whose_samples_are_empty_have_no_sampling_score(
    models: Path, splits: dict[str, Path], model: Path, tmp_path: Path
) -> None:
    changed = tmp_path / "test"
    shutil.copytree(splits["test"], changed)
    rows = [json.loads(line) for line in (changed / "traces.jsonl").read_text().splitlines()]
    for sample in rows[0]["samples"]:
        sample["conclusion"] = ""
    (changed / "traces.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "scores.parquet"
    result = run("apply", models, changed, "--out", out, "--model", model)
    assert result.exit_code == 0, result.output
    for name in ("Semantic Entropy", "P(True)"):
        told = f"{name}, seed 0: 1 traces have no score, it needs an answer in one of its 3 samples"
        assert told in result.stderr
    assert "SelfCheckGPT, seed 0: 1 traces have no score, it needs a claim" in result.stderr
    lacking = {row.method for row in read_scores(out) if row.id == "2-0" and row.score is None}
    assert lacking == {"Semantic Entropy", "SelfCheckGPT", "P(True)"}


@pytest.mark.parametrize("command", ["fit", "apply", "efficiency"])
def test_one_way_to_compare_answers(command: str, splits: dict[str, Path], tmp_path: Path) -> None:
    folders = splits["train"], splits["validation"]
    out = ("--out", tmp_path / "out") if command != "efficiency" else ()
    result = run(command, *folders, *out, "--nli", tmp_path, "--answers-alone")
    assert result.exit_code == 2
    assert "--answers-alone cannot be combined with --nli" in result.stderr


def test_jobs_are_of_a_cluster(models: Path, splits: dict[str, Path], tmp_path: Path) -> None:
    result = run("apply", models, splits["test"], "--out", tmp_path / "x", "--jobs", "2")
    assert result.exit_code == 2
    assert "--jobs needs --engine ray" in result.stderr


def test_apply_scores_every_trace_by_every_method(
    models: Path, splits: dict[str, Path], model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "scores.parquet"
    result = run("apply", models, splits["test"], "--out", out, "--model", model)
    assert result.exit_code == 0, result.output
    assert "1 traces have no input and no score" in result.stderr
    rows = read_scores(out)
    assert len(rows) == FITTED * 8
    assert {row.method for row in rows} == set(SCORERS)
    for row in rows:
        if row.id == "2-7":
            assert (row.score, row.claims) == (None, [])
        else:
            assert row.score is not None
            assert 0 < row.score < 1
            assert len(row.claims) == 2
    described = json.loads(pq.read_table(out).schema.metadata[b"scorers"])
    named = {(one["name"], one["seed"]): one for one in described}
    assert named["Semantic Entropy", 0]["equivalence"] == "auditor, in the scene"
    assert named["P(True)", 0]["backbone"] == "tiny"


def test_apply_reads_no_labels(models: Path, splits: dict[str, Path], tmp_path: Path) -> None:
    import shutil

    blind = tmp_path / "blind"
    shutil.copytree(splits["test"], blind)
    (blind / "labels.jsonl").unlink()
    for split, out in ((splits["test"], "with"), (blind, "without")):
        assert (
            run("apply", models, split, "--out", tmp_path / out, "--method", "MLP").exit_code == 0
        )
    assert read_scores(tmp_path / "with") == read_scores(tmp_path / "without")


def test_another_split_may_calibrate(models: Path, splits: dict[str, Path], tmp_path: Path) -> None:
    arguments = ("apply", models, splits["test"], "--method", "MCP", "--out")
    assert run(*arguments, tmp_path / "source").exit_code == 0
    other = run(*arguments, tmp_path / "target", "--validation", splits["train"])
    assert other.exit_code == 0, other.output
    pairs = zip(read_scores(tmp_path / "source"), read_scores(tmp_path / "target"), strict=True)
    for source, target in pairs:
        assert source.claims == target.claims
        assert source.score is None or source.score != target.score


def test_fitted_scorers_are_kept(splits: dict[str, Path], tmp_path: Path) -> None:
    arguments = ("fit", splits["train"], splits["validation"], "--out", tmp_path, "--method", "mlp", *QUICK)  # fmt: skip
    assert run(*arguments).exit_code == 0
    weights = tmp_path / "mlp" / "seed-0" / "model.safetensors"
    before, bits = weights.stat().st_mtime_ns, weights.read_bytes()
    assert run(*arguments).exit_code == 0
    assert weights.stat().st_mtime_ns == before
    assert run(*arguments[:-1], "0.02").exit_code == 0
    assert weights.read_bytes() != bits
    # A stopped attempt, then again as at first: the same bits.
    (tmp_path / "mlp" / "seed-0" / "scorer.json").unlink()
    assert run(*arguments).exit_code == 0
    assert weights.read_bytes() == bits


def test_what_is_missing_is_left_out_or_told(splits: dict[str, Path], tmp_path: Path) -> None:
    import shutil

    bare = {}
    for name in ("train", "validation"):
        shutil.copytree(splits[name], tmp_path / name)
        shutil.rmtree(tmp_path / name / "signals")
        bare[name] = tmp_path / name
    arguments = ("fit", bare["train"], bare["validation"], "--out", tmp_path / "m", *QUICK)
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "MLP is left out, it needs the hidden states of its tokens" in result.stderr
    assert "Constraint-Only, seed 0: AUROC" in result.stderr
    result = run(*arguments, "--method", "MLP")
    assert result.exit_code == 2
    assert "MLP needs the hidden states of its tokens" in result.output
    (bare["train"] / "labels.jsonl").unlink()
    result = run(*arguments)
    assert result.exit_code == 2
    assert "has no labels.jsonl" in result.output
    (bare["train"] / "traces.jsonl").unlink()
    assert "has no traces.jsonl" in run(*arguments).output


def test_a_sweep_tunes(splits: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "sweep.jsonl"
    grid = ("--width", "8,16", "--loss", "balanced", "--learning-rate", "0.01", "--epochs", "1,3")
    arguments = ("sweep", splits["train"], splits["validation"], "--out", out, "--method", "MLP")
    result = run(*arguments, *grid)
    assert result.exit_code == 0, result.output
    assert len(out.read_text().splitlines()) == 4
    assert result.stdout.startswith("MLP: best is width ")
    best = result.stdout.split("best is width ")[1].split(",")[0]
    result = run("fit", splits["train"], splits["validation"], "--out", tmp_path / "m", "--method", "MLP", "--tuned", out)  # fmt: skip
    assert result.exit_code == 0, result.output
    settings = json.loads((tmp_path / "m" / "mlp" / "seed-0" / "model.json").read_text())[
        "settings"
    ]
    assert str(settings["width"]) == best
    assert run(*arguments, "--epochs", "1,x").exit_code == 2
    assert "Random is not learned" in run(*arguments[:-1], "Random").output


def test_efficiency(models: Path, splits: dict[str, Path], model: Path, tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    result = run("efficiency", models, splits["test"], "--out", out, "--seconds", "0", "--model", model)  # fmt: skip
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["method"] for row in rows] == [*SCORERS, "Constraint + MLP"]
    assert all(float(row["traces_per_second"]) > 0 for row in rows)
    assert "Traces/s" in result.stdout


@pytest.mark.parametrize("seeds", ["", "a", "3-1", "1-x"])
def test_seeds(seeds: str, splits: dict[str, Path], tmp_path: Path) -> None:
    result = run("fit", splits["train"], splits["train"], "--out", tmp_path, "--seeds", seeds)
    assert result.exit_code == 2
    assert "is not a list of seeds" in result.output
