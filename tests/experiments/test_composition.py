"""What the composer predicts from the scores of a cell."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symbouq import metrics
from symbouq.composer.reading import WORLDS
from symbouq.composer.variants import VARIANTS
from symbouq.errors import SymboUQError
from symbouq.experiments.composition import (
    CANDIDATES,
    METHOD,
    UNLABELLED,
    Seen,
    composed,
    read_predictions,
    without_target_labels,
    write_predictions,
)
from symbouq.scorers.bank import Score, Scored, write_scores
from symbouq.scorers.calibration import Calibrator, MinMax, Platt

COUNT = 60
PROFILE = {
    "symbolizability": 1.0,
    "unknown_rate": 0.25,
    "determinacy": 0.75,
    "applicability": 0.75,
    "unparsed": 0,
}


def seen(prefix: str, labels: np.ndarray, noise: float, seed: int, names: Any = CANDIDATES) -> Seen:
    draw = np.random.default_rng(seed)
    ids = tuple(f"{prefix}{n}" for n in range(len(labels)))
    scores = {}
    for name in names:
        values = np.clip(0.5 + 0.3 * (labels - 0.5) + noise * draw.normal(size=len(labels)), 0, 1)
        scores[name, 2026] = dict(zip(ids, values.tolist(), strict=True))
    audits = tuple({"profile": PROFILE, "discounted": PROFILE} for _ in ids)
    return Seen(ids, ids, audits, scores)


LABELS = np.array([0, 1] * (COUNT // 2))
KNOWN = {f"v{n}": int(label) for n, label in enumerate(LABELS)}


def test_the_bank_is_the_papers() -> None:
    assert len(CANDIDATES) == 11
    assert {"Constraint", "MLP", "CCP"} <= set(CANDIDATES)
    assert not {"Random", "P(True)", "Semantic Entropy"} & set(CANDIDATES)


def test_every_variant_and_view_predicts(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    both = seen("v", LABELS, 0.2, 1), seen("t", LABELS, 0.2, 2)
    views = {None: both, "grounded": both, "dual": both}
    found = list(composed(views, KNOWN, [2026], [8, 16, 100]))
    methods = [one.method for one in found]
    variants = [METHOD if name == "full" else name for name in VARIANTS]
    assert methods == [*variants, "grounded view", "dual view", "valsize 8", "valsize 16"]
    assert all(one.scores.shape == (COUNT,) for one in found)
    dual = next(one for one in found if one.method == "dual view")
    assert "Constraint-Rule (grounded)" in dual.composer.aurocs
    assert next(one for one in found if one.method == "valsize 8").composer.design == "determinacy"

    write_predictions(iter(found), tmp_path / "p.parquet", tmp_path / "c.json")
    read = read_predictions(tmp_path / "p.parquet")
    assert list(read[METHOD, 2026]) == [f"t{n}" for n in range(COUNT)]
    assert list(read[METHOD, 2026].values()) == found[methods.index(METHOD)].scores.tolist()


def test_worlds_are_a_candidate_beside_what_the_dual_view_shows() -> None:
    pytest.importorskip("sklearn")
    names = ["Constraint-Rule", "MLP"]
    both = seen("v", LABELS, 0.3, 1, names), seen("t", LABELS, 0.3, 2, names)
    told = [
        replace(each, worlds=dict(zip(each.ids, LABELS.tolist(), strict=True))) for each in both
    ]
    views = {None: (told[0], told[1]), "grounded": both, "dual": both}
    found = {one.method: one.composer for one in composed(views, KNOWN, [2026], [])}
    assert found["worlds view"].aurocs[WORLDS] == 1.0
    assert set(found["worlds view"].aurocs) == {*found["dual view"].aurocs, WORLDS}
    assert WORLDS not in found[METHOD].aurocs


def test_without_target_labels_the_composer_is_the_sources() -> None:
    pytest.importorskip("sklearn")
    names = ["Constraint-Rule", "MLP"]
    source = seen("v", LABELS, 0.1, 1, names)
    target = seen("w", LABELS, 0.1, 2, names), seen("t", LABELS, 0.1, 3, names)
    (found,) = without_target_labels(source, KNOWN, target, [2026])
    own = next(one for one in composed({None: (source, source)}, KNOWN, [2026], []) if one.method == METHOD)  # fmt: skip
    assert (found.method, found.ids) == (UNLABELLED, target[1].ids)
    assert found.composer.weights == own.composer.weights
    assert found.composer.calibrator == own.composer.calibrator
    assert found.composer.mean != own.composer.mean  # that of the target's validation traces
    assert metrics.auroc(found.scores, LABELS) > 0.9
    # A score that is higher everywhere on the target moves nothing.
    assert found.composer.design == "scores"
    moved = [replace(each, scores=_raised(each.scores)) for each in target]
    (other,) = without_target_labels(source, KNOWN, (moved[0], moved[1]), [2026])
    assert other.scores == pytest.approx(found.scores, abs=1e-9)


def _raised(scores: Any) -> Any:
    return {key: {name: value + 0.1 for name, value in row.items()} for key, row in scores.items()}


def test_scores_are_read_as_another_dataset_calibrates_them(tmp_path: Path) -> None:
    for name, slope in (("source", 2.0), ("target", 5.0)):
        calibrator = Calibrator(MinMax(0.0, 1.0), "conclusion", Platt(slope, 0.0), 0.7, 9)
        description = {"name": "MCP", "seed": 0, "calibrator": calibrator.record()}
        rows = [
            Score(each, "MCP", 0, [0.9, 0.25], float(calibrator([np.array([0.9, 0.25])])[0]))
            for each in ("a", "b")
        ]
        write_scores(tmp_path / name, [[Scored(description, [*rows, Score("c", "MCP", 0)])]])
    traces, audits = tmp_path / "traces.jsonl", tmp_path / "audits.jsonl"
    traces.write_text("".join(json.dumps({"id": n, "scene": n}) + "\n" for n in "abc"))
    audit = {"profile": PROFILE, "discounted": PROFILE}
    audits.write_text("".join(json.dumps({"id": n, **audit}) + "\n" for n in "abc"))
    found = Seen.read(traces, audits, tmp_path / "target", calibrated_as=tmp_path / "source")
    # The conclusion's uncertainty 0.25 is correctness 0.75; slope 2: 1 / (1 + exp(-1.5)).
    assert found.scores["MCP", 0] == pytest.approx(dict.fromkeys("ab", 0.8175744761936437))
    write_scores(tmp_path / "other", [[Scored({**description, "name": "CCP"}, [])]])
    with pytest.raises(SymboUQError, match="no calibrator of MCP, seed 0"):
        Seen.read(traces, audits, tmp_path / "target", calibrated_as=tmp_path / "other")
    own = Seen.read(traces, audits, tmp_path / "target")
    assert own.scores["MCP", 0]["a"] == pytest.approx(1 / (1 + np.exp(-5 * 0.75)))
    assert own.worlds is None


def test_only_labelled_validation_decides_and_a_missing_score_is_the_mean() -> None:
    pytest.importorskip("sklearn")
    known, new = seen("v", LABELS, 0.1, 1, ["MLP"]), seen("t", LABELS, 0.1, 2, ["MLP"])
    del new.scores["MLP", 2026]["t0"]  # type: ignore[attr-defined]
    (found,) = [
        one for one in composed({None: (known, new)}, KNOWN, [2026], []) if one.method == METHOD
    ]
    new.scores["MLP", 2026]["t0"] = float(  # type: ignore[index]
        np.mean(list(known.scores["MLP", 2026].values()))
    )
    (filled,) = [
        one for one in composed({None: (known, new)}, KNOWN, [2026], []) if one.method == METHOD
    ]
    assert found.scores[0] == pytest.approx(filled.scores[0])
    fewer = {name: label for name, label in KNOWN.items() if name != "v0"}
    other = next(composed({None: (known, new)}, fewer, [2026], []))
    assert other.composer.aurocs != found.composer.aurocs


def test_views_bring_their_own_constraint_scores_and_profiles() -> None:
    pytest.importorskip("sklearn")
    names = ["Constraint-Rule", "MLP"]
    both = seen("v", LABELS, 0.2, 1, names), seen("t", LABELS, 0.2, 2, names)
    other = seen("v", LABELS, 0.0, 3, names[:1]), seen("t", LABELS, 0.0, 4, names[:1])
    views = {None: both, "grounded": other}
    found = {one.method: one.composer for one in composed(views, KNOWN, [2026], [])}
    assert found["grounded view"].aurocs["Constraint-Rule"] == 1.0
    assert found[METHOD].aurocs["Constraint-Rule"] < 1.0
    assert found["grounded view"].aurocs["MLP"] == found[METHOD].aurocs["MLP"]
