"""What the composer predicts from the scores of a cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symbouq.composer.variants import VARIANTS
from symbouq.experiments.composition import (
    CANDIDATES,
    METHOD,
    Seen,
    composed,
    read_predictions,
    write_predictions,
)

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
