"""What the composer predicts from the scores of a cell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symbouq import metrics
from symbouq.evidence.scorers.bank import Score, Scored, write_scores
from symbouq.evidence.scorers.calibration import Calibrator, MinMax, Platt
from symbouq.evidence.scorers.registry import SCORERS
from symbouq.experiments.composition import (
    CANDIDATES,
    METHOD,
    UNLABELLED,
    ScoredTraces,
    composed,
    read_predictions,
    subsampled,
    swept,
    without_target_labels,
    write_predictions,
)
from symbouq.reliability.darc import Options
from symbouq.reliability.variants import VARIANTS
from symbouq.reliability.worlds import WORLDS

COUNT = 60
PROFILE = {
    "symbolizability": 1.0,
    "unknown_rate": 0.25,
    "determinacy": 0.75,
    "applicability": 0.75,
    "unparsed": 0,
}


def seen(
    prefix: str, labels: np.ndarray, noise: float, seed: int, names: Any = CANDIDATES
) -> ScoredTraces:
    draw = np.random.default_rng(seed)
    ids = tuple(f"{prefix}{n}" for n in range(len(labels)))
    claims = {}
    for name in names:
        values = np.clip(0.5 + 0.3 * (labels - 0.5) + noise * draw.normal(size=len(labels)), 0, 1)
        claims[name, 2026] = {each: np.array([x]) for each, x in zip(ids, values, strict=True)}
    audits = tuple({"profile": PROFILE, "discounted": PROFILE} for _ in ids)
    return ScoredTraces(ids, ids, audits, claims, dict.fromkeys(names, "correctness"))


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


def test_what_is_fixed_beforehand_decides_compositions_of_its_own() -> None:
    pytest.importorskip("sklearn")
    views = {None: (seen("v", LABELS, 0.2, 1), seen("t", LABELS, 0.2, 2))}
    others = swept(Options(folds=3), (0.0, 0.5), (2,))
    assert {name: (each.epsilon, each.folds) for name, each in others.items()} == {
        "epsilon 0.0": (0.0, 3),
        "epsilon 0.5": (0.5, 3),
        "folds 2": (0.03, 2),
    }
    found = {
        p.method: p.composer for p in composed(views, KNOWN, [1], [], Options(folds=3), others)
    }
    assert len(found["epsilon 0.0"].names) == len(CANDIDATES)
    # No candidate's AUROC is 1/2 away from 1/2: the best one stands alone.
    assert len(found["epsilon 0.5"].names) == 1
    assert {*found} >= {METHOD, *others}


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


@pytest.mark.slow
@pytest.mark.parametrize("reversed_", [False, True])
def test_a_subsample_reads_no_label_outside_it(tmp_path: Path, reversed_: bool) -> None:
    """Scores as the files have them: calibrated on every label of validation."""
    pytest.importorskip("sklearn")
    draw = np.random.default_rng(0)
    sign = -1 if reversed_ else 1
    known, new = (
        {
            name: {
                f"{prefix}{n}": draw.normal(sign * LABELS[n], 1.5, draw.integers(1, 5))
                for n in range(COUNT)
            }
            for name in CANDIDATES
        }
        for prefix in "vt"
    )

    def predicted(
        labels: dict[str, int], seeds: Sequence[int], sizes: Sequence[int]
    ) -> dict[tuple[str, int], Any]:
        pair = []
        for prefix, claims in (("v", known), ("t", new)):
            made = []
            for name in CANDIDATES:
                orientation = SCORERS[name].orientation
                values = [*known[name].values()]
                fitted = Calibrator.fit(values, [labels[n] for n in known[name]], orientation)
                told = {"name": name, "seed": 2026, "calibrator": fitted.record()}
                rows = [
                    Score(each, name, 2026, one.tolist(), float(fitted([one])[0]))
                    for each, one in claims[name].items()
                ]
                made.append(Scored(told, rows))
            file = tmp_path / f"{prefix}.parquet"
            write_scores(file, [made])
            pair.append(ScoredTraces.read(*_files(tmp_path, prefix), file))
        found = subsampled(pair[0], pair[1], labels, seeds, (*sizes, COUNT))
        return {(one.method, one.seed): one.scores for one in found}

    plain = predicted(KNOWN, SEEDS, SIZES)
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(COUNT)
        for size in SIZES:
            drawn = {f"v{n}" for n in order[:size]}
            turned = {n: label if n in drawn else 1 - label for n, label in KNOWN.items()}
            other = predicted(turned, [seed], [size])
            valsize = f"valsize {size}", seed
            assert other[valsize].tolist() == plain[valsize].tolist()
            whole = f"valsize {COUNT}", seed
            assert other[whole].tolist() != plain[whole].tolist()


SEEDS, SIZES = (2026, 2027), (8, 16, 32)


def _files(folder: Path, prefix: str) -> tuple[Path, Path]:
    traces, audits = folder / f"{prefix}-traces.jsonl", folder / f"{prefix}-audits.jsonl"
    names = [f"{prefix}{n}" for n in range(COUNT)]
    traces.write_text("".join(json.dumps({"id": n, "scene": n}) + "\n" for n in names))
    audit = {"profile": PROFILE, "discounted": PROFILE}
    audits.write_text("".join(json.dumps({"id": n, **audit}) + "\n" for n in names))
    return traces, audits


def test_a_subsample_is_calibrated_by_hand() -> None:
    # Only the mean of the first four tells: 0.4, 0.4 against 0.8, 0.6.
    claims = {
        "v0": np.array([0.2, 0.6]),
        "v1": np.array([0.6, 0.2]),
        "v2": np.array([1.0, 0.6]),
        "v3": np.array([1.0, 0.2]),
        "v4": np.array([9.0, 9.0]),
    }
    ids = tuple(claims)
    audits = tuple({"profile": PROFILE, "discounted": PROFILE} for _ in ids)
    whole = ScoredTraces(ids, ids, audits, {("MCP", 0): claims}, {"MCP": "uncertainty"})
    few = whole.subset([0, 1, 2, 3])
    made = few.calibrators({"v0": 1, "v1": 1, "v2": 0, "v3": 0}, 2026)
    assert list(made) == [("MCP", 0)]
    assert made["MCP", 0].minmax == MinMax(0.2, 1.0)  # v4 is outside
    assert made["MCP", 0].reduction == "mean"
    assert made["MCP", 0].traces == 4
    again = few.calibrated(made).scores["MCP", 0]
    assert again["v0"] == again["v1"] > again["v3"] > again["v2"] > again["v4"]
    assert few.calibrators(dict.fromkeys(ids, 1), 2026) == {}


def test_a_subsample_of_one_class_is_the_fixed_score_as_it_stands() -> None:
    pytest.importorskip("sklearn")
    known, new = seen("v", LABELS, 0.1, 1), seen("t", LABELS, 0.1, 2)
    right = {name: label for name, label in KNOWN.items() if label}
    (found,) = subsampled(known, new, right, [2026], [8])
    assert (found.method, found.composer.kind) == ("valsize 8", "fixed")
    rule = new.claims["Constraint-Rule", 2026]
    assert found.scores.tolist() == [rule[each][-1] for each in new.ids]


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
    # A score that is higher everywhere on the target moves little: less than the bend of its Platt
    # map.
    assert found.composer.design == "scores"
    moved = [replace(each, claims=_raised(each.claims)) for each in target]
    (other,) = without_target_labels(source, KNOWN, (moved[0], moved[1]), [2026])
    assert metrics.auroc(other.scores, LABELS) > 0.97
    assert other.scores.mean() == pytest.approx(found.scores.mean(), abs=0.05)


def _raised(scores: Any) -> Any:
    return {key: {name: value + 0.1 for name, value in row.items()} for key, row in scores.items()}


def test_what_the_files_hold(tmp_path: Path) -> None:
    calibrator = Calibrator(MinMax(0.0, 1.0), "conclusion", Platt(5.0, 0.0), 0.7, 9)
    told = {"name": "MCP", "seed": 0, "calibrator": calibrator.record()}
    rows = [Score("v0", "MCP", 0, [0.9, 0.25], 0.5), Score("v1", "MCP", 0)]
    write_scores(tmp_path / "scores", [[Scored(told, rows)]])
    found = ScoredTraces.read(*_files(tmp_path, "v"), tmp_path / "scores")
    assert len(found.ids) == len(set(found.groups)) == COUNT
    assert list(found.claims) == [("MCP", 0)]
    assert {name: x.tolist() for name, x in found.claims["MCP", 0].items()} == {"v0": [0.9, 0.25]}
    assert found.orientations == {"MCP": "uncertainty"}
    assert (found.scores, found.worlds) == ({}, None)
    made = found.calibrated({("MCP", 0): calibrator})
    # The conclusion's uncertainty 0.25 is correctness 0.75; slope 5.
    assert made.scores["MCP", 0] == {"v0": pytest.approx(1 / (1 + np.exp(-5 * 0.75)))}


def test_scores_keep_the_calibration_of_the_source_where_no_target_label_is_known() -> None:
    pytest.importorskip("sklearn")
    names = ["Constraint-Rule", "MLP"]
    source = seen("v", LABELS, 0.3, 1, names)
    target = seen("w", LABELS, 0.3, 2, names), seen("t", LABELS, 0.3, 3, names)
    (found,) = without_target_labels(source, KNOWN, target, [2026])
    made = source.calibrators(KNOWN, 2026)["MLP", 2026]
    raw = source.claims["MLP", 2026]
    assert made.platt == Platt.fit([raw[name][0] for name in KNOWN], [*KNOWN.values()])
    assert found.composer.aurocs["MLP"] == made.auroc


@pytest.mark.slow
def test_only_labelled_validation_decides_and_a_missing_score_is_the_mean() -> None:
    pytest.importorskip("sklearn")
    known, new = seen("v", LABELS, 0.1, 1, ["MLP"]), seen("t", LABELS, 0.1, 2, ["MLP"])
    del new.claims["MLP", 2026]["t0"]  # type: ignore[attr-defined]
    (found,) = [
        one for one in composed({None: (known, new)}, KNOWN, [2026], []) if one.method == METHOD
    ]
    made = known.calibrators(KNOWN, 2026)["MLP", 2026]
    mean = made([*known.claims["MLP", 2026].values()]).mean()
    logit = np.log(mean / (1 - mean))
    new.claims["MLP", 2026]["t0"] = np.array(  # type: ignore[index]
        [(logit - made.platt.intercept) / made.platt.slope]
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
