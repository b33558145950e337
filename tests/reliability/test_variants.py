"""Variants of the composer: what each changes, and that test labels have no part in it."""

from __future__ import annotations

import numpy as np
import pytest

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.calibration import Calibrator
from symbouq.metrics import auroc
from symbouq.reliability import darc
from symbouq.reliability.darc import Options
from symbouq.reliability.designs import Coverage
from symbouq.reliability.variants import VARIANTS, Pool, compose, evidence_of

NAMES = ("Constraint-Rule", "Constraint-Rule (grounded)", "Constraint", "MLP")


def split(seed: int, n: int = 80) -> tuple[Pool, np.ndarray]:
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 2, n)
    audits = []
    for pi, nu, share in generator.random((n, 3)):
        d = (1 - nu) * share
        profile = {
            "symbolizability": pi,
            "unknown_rate": nu,
            "determinacy": d,
            "applicability": pi * d,
        }
        audits.append({"profile": profile, "discounted": {**profile, "applicability": pi * d / 2}})
    scores = np.clip(
        0.4 * y[:, None] * generator.random((n, 4)) + 0.6 * generator.random((n, 4)), 0, 1
    )
    return Pool(NAMES, scores, audits), y


VALIDATION, LABELS = split(0)
TEST, _ = split(1, 30)


def test_full_is_the_algorithm() -> None:
    predicted, composer = compose("full", VALIDATION, LABELS, TEST)
    plain = darc.fit(evidence_of(VARIANTS["full"], VALIDATION), LABELS)
    assert composer == plain
    assert list(predicted) == list(plain.predict(evidence_of(VARIANTS["full"], TEST)))


@pytest.mark.parametrize("name", ["scores only", "symbolizability", "determinacy"])
def test_designs_are_forced(name: str) -> None:
    _, composer = compose(name, VALIDATION, LABELS, TEST)
    assert composer.design == {"scores only": "scores"}.get(name, name)


def test_shuffling_is_of_applicability_alone() -> None:
    aligned = evidence_of(VARIANTS["determinacy"], VALIDATION)
    shuffled = evidence_of(VARIANTS["shuffled"], VALIDATION)
    assert list(shuffled.coverage.symbolizability) == list(aligned.coverage.symbolizability)
    assert list(shuffled.coverage.applicability) != list(aligned.coverage.applicability)
    _, composer = compose("shuffled", VALIDATION, LABELS, TEST)
    assert composer.design == "determinacy"


def test_coverage_of_the_variants() -> None:
    for name, kind in (("evaluable-only", "evaluable"), ("discounted", "discounted")):
        found = evidence_of(VARIANTS[name], VALIDATION).coverage.applicability
        assert list(found) == list(Coverage.of(VALIDATION.audits, kind).applicability)  # type: ignore[arg-type]


def test_the_gate_is_for_the_constraint_family() -> None:
    options = Options(designs=("determinacy",), epsilon=0)
    _, composer = compose("gated", VALIDATION, LABELS, TEST, options)
    assert composer.gated == {"Constraint-Rule", "Constraint-Rule (grounded)", "Constraint"}
    assert len(composer.weights) == 1 + 4 + 4


def test_the_fixed_average() -> None:
    predicted, _ = compose("fixed average", VALIDATION, LABELS, TEST)
    assert predicted == pytest.approx((TEST.scores[:, 2] + TEST.scores[:, 3]) / 2)


def test_unknown_variants_are_named() -> None:
    with pytest.raises(SymboUQError, match="unknown variant 'best'"):
        compose("best", VALIDATION, LABELS, TEST)


def junk_split(seed: int) -> tuple[np.ndarray, np.ndarray, list[dict[str, dict[str, float]]]]:
    """A score that ranks slightly backwards, labels that pi decides, and the profiles."""
    generator = np.random.default_rng(seed)
    pi = np.arange(400) % 10 / 9
    y = (generator.random(400) < 0.1 + 0.8 * pi).astype(int)
    profiles = [
        {"symbolizability": p, "unknown_rate": 0.0, "determinacy": 1.0, "applicability": p}
        for p in pi
    ]
    return generator.random(400) - 0.05 * y, y, [{"profile": p, "discounted": p} for p in profiles]


@pytest.mark.parametrize("orient", [False, True])
def test_one_junk_score_lets_the_profile_predict_alone(orient: bool) -> None:
    (raw, labels, audits), (new, unseen, others) = junk_split(0), junk_split(1)
    claims, rest = ([np.array([x]) for x in side] for side in (raw, new))
    calibrator = Calibrator.fit(claims, labels.tolist(), "correctness", orient=orient)
    assert calibrator.turned is orient
    column = calibrator(claims)
    pi = np.array([audit["profile"]["symbolizability"] for audit in audits])
    if orient:  # the score keeps its spread ...
        assert column.std() > 0.03
    else:  # ... which an increasing map takes from it: its product with pi is pi
        assert column.std() < 0.001
        assert np.corrcoef(column * pi, pi)[0, 1] > 0.99999
    pool = Pool(("junk",), column[:, None], audits)
    test = Pool(("junk",), calibrator(rest)[:, None], others)
    areas = {
        name: auroc(compose(name, pool, labels, test)[0], unseen)
        for name in ("scores only", "symbolizability", "profile alone")
    }
    assert areas["scores only"] == pytest.approx(0.55, abs=0.05)
    # Nearly all that the interactions add is what pi and delta tell without any score.
    assert areas["profile alone"] > 0.8
    assert areas["symbolizability"] == pytest.approx(areas["profile alone"], abs=0.02)


def test_the_profile_alone_reads_no_score() -> None:
    predicted, composer = compose("profile alone", VALIDATION, LABELS, TEST)
    assert len(composer.weights) == 2
    other = Pool(NAMES, TEST.scores[::-1], TEST.audits)
    assert list(composer.predict(evidence_of(VARIANTS["profile alone"], other))) == list(predicted)


def test_the_profile_alone_of_one_class_is_the_fixed_score() -> None:
    predicted, composer = compose("profile alone", VALIDATION, np.ones(80, int), TEST)
    assert composer.kind == "fixed"
    assert list(predicted) == list(TEST.scores[:, 0])
