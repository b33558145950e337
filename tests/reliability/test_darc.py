"""DARC against a slow reference, and the cases that the algorithm names."""

from __future__ import annotations

import json

import numpy as np
import pytest
from helpers import darc_reference as reference

from symbouq.errors import SymboUQError
from symbouq.reliability import darc
from symbouq.reliability.calibrators import Calibrator
from symbouq.reliability.darc import Composer, Evidence, Options, oriented, screen
from symbouq.reliability.designs import Coverage

NAMES = ("Constraint-Rule", "Constraint-Only", "MLP", "Perplexity", "MCP")


def traces(seed: int, n: int, m: int = 5) -> tuple[Evidence, np.ndarray]:
    """Traces whose first scores inform where delta is high, and whose last is reversed."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 2, n)
    pi = generator.random(n)
    delta = pi * generator.random(n)
    weight = np.stack([delta, delta, np.full(n, 0.3), np.zeros(n), np.full(n, -0.3)])[:m].T
    scores = np.clip(0.5 + weight * (y[:, None] - 0.5) + 0.3 * generator.normal(size=(n, m)), 0, 1)
    return Evidence(NAMES[:m], scores, Coverage(pi, delta)), y


def in_lists(evidence: Evidence) -> tuple[list[list[float]], list[tuple[float, float]]]:
    coverage = evidence.coverage
    profiles = zip(coverage.symbolizability.tolist(), coverage.applicability.tolist(), strict=True)
    return evidence.scores.tolist(), list(profiles)


def logits(composer: Composer, evidence: Evidence) -> list[float]:
    """Before the calibrator."""
    parts = composer.contributions(evidence)
    return [sum(part.values()) + composer.intercept for part in parts]


@pytest.mark.parametrize("seed", range(4))
def test_equals_the_slow_reference(seed: int) -> None:
    validation, y = traces(seed, 60)
    test, _ = traces(seed + 100, 25)
    wanted = reference.darc(
        *in_lists(validation)[:1], y.tolist(), in_lists(validation)[1], *in_lists(test)
    )
    found = darc.fit(validation, y)
    assert (found.kind, found.design, found.l2) == ("composed", wanted["design"], wanted["l2"])
    assert found.held_out == pytest.approx(wanted["held_out"])
    assert found.names == tuple(NAMES[j] for j in wanted["retained"])
    assert found.flipped == tuple(wanted["turned"])
    assert logits(found, test) == pytest.approx(wanted["logits"], abs=1e-7)
    calibrated = found.calibrator(np.array(wanted["logits"]))
    assert found.predict(test) == pytest.approx(calibrated, abs=1e-7)


def test_one_class_returns_the_fixed_constraint_score() -> None:
    validation, _ = traces(0, 10)
    test, _ = traces(1, 5)
    for label in (0, 1):
        found = darc.fit(validation, [label] * 10)
        assert found.kind == "fixed"
        assert list(found.predict(test)) == list(test.scores[:, 0])
    with pytest.raises(SymboUQError, match="Constraint-Rule is missing"):
        darc.fit(Evidence(("MLP",), np.zeros((2, 1)), Coverage(np.zeros(2), np.zeros(2))), [1, 1])


def test_nothing_retained_returns_the_best_candidate_as_it_stands() -> None:
    # AUROCs by hand: right at ranks 1 and 4 of four, so 2 of 4 pairs; constant; likewise 2 of 4.
    scores = np.array([[0.1, 0.5, 0.4], [0.2, 0.5, 0.3], [0.3, 0.5, 0.2], [0.4, 0.5, 0.1]])
    evidence = Evidence(NAMES[:3], scores, Coverage(np.ones(4), np.ones(4)))
    found = darc.fit(evidence, [1, 0, 0, 1])
    assert (found.kind, found.names) == ("best", ("Constraint-Rule",))
    assert list(found.predict(evidence)) == [0.1, 0.2, 0.3, 0.4]
    wanted = reference.darc(
        *in_lists(evidence)[:1], [1, 0, 0, 1], in_lists(evidence)[1], *in_lists(evidence)
    )
    assert wanted["kind"] == "best" and wanted["best"] == 0


def test_the_best_candidate_has_the_largest_auroc_as_it_stands() -> None:
    scores = np.array([[0.1, 0.5], [0.4, 0.5], [0.2, 0.5], [0.3, 0.5]])  # AUROC 0.25 and 0.5
    evidence = Evidence(NAMES[:2], scores, Coverage(np.ones(4), np.ones(4)))
    found = darc.fit(evidence, [1, 0, 0, 1], Options(epsilon=0.3))
    assert (found.kind, found.names) == ("best", ("Constraint-Only",))


def test_degenerate_folds_take_the_determinacy_design_and_the_reference_l2() -> None:
    validation, _ = traces(2, 20)
    y = [1, 0, 0, 0, 0] * 4  # every right answer is in the first fold
    found = darc.fit(validation, y)
    assert (found.kind, found.design, found.l2, found.held_out) == (
        "composed",
        "determinacy",
        20,
        None,
    )
    wanted = reference.darc(
        *in_lists(validation)[:1], y, in_lists(validation)[1], *in_lists(validation)
    )
    assert logits(found, validation) == pytest.approx(wanted["logits"], abs=1e-7)


@pytest.mark.parametrize("k", [1, 30])
def test_one_fold_or_more_folds_than_traces_are_degenerate(k: int) -> None:
    validation, y = traces(3, 20)
    assert darc.fit(validation, y, Options(folds=k)).held_out is None


def test_a_tie_goes_to_the_larger_l2_and_then_to_the_simpler_design() -> None:
    # One score that separates the classes, and a constant profile: every pair has AUROC 1.
    y = np.array([0, 1] * 10)
    scores = np.where(y[:, None] == 1, 0.9, 0.1)
    evidence = Evidence(("Constraint-Rule",), scores, Coverage(np.ones(20), np.ones(20)))
    # Labels alternate and k = 5 is odd, so each fold holds both.
    found = darc.fit(evidence, y)
    assert (found.held_out, found.l2, found.design) == (1.0, 200, "scores")


def test_forced_designs_and_grids() -> None:
    validation, y = traces(4, 50)
    for design in ("scores", "symbolizability", "determinacy"):
        found = darc.fit(validation, y, Options(designs=(design,), l2=(5,)))
        assert (found.design, found.l2) == (design, 5)
        blocks = {"scores": 1, "symbolizability": 2, "determinacy": 3}[design]
        assert len(found.weights) == blocks * len(found.names)


def test_epsilon_decides_what_is_retained() -> None:
    validation, y = traces(4, 50)
    areas = darc.fit(validation, y).aurocs
    assert set(areas) == set(NAMES)
    for epsilon in (0.0, 0.1, 0.2):
        wanted = tuple(n for n in NAMES if abs(areas[n] - 0.5) >= epsilon)
        assert darc.fit(validation, y, Options(epsilon=epsilon)).names == wanted


def test_gated_candidates_have_no_raw_column() -> None:
    validation, y = traces(5, 60)
    options = Options(designs=("determinacy",), gated=frozenset({"Constraint-Rule"}))
    found = darc.fit(validation, y, options)
    assert "Constraint-Rule" in found.names
    assert len(found.weights) == 3 * len(found.names) - 1
    # Where pi and delta are 0 its score changes nothing.
    none = Coverage(np.zeros(2), np.zeros(2))
    scores = np.array([[0.0, 0.3, 0.3, 0.3, 0.3], [1.0, 0.3, 0.3, 0.3, 0.3]])
    low, high = found.predict(Evidence(NAMES, scores, none))
    assert low == high
    low, high = darc.fit(validation, y, Options(designs=("determinacy",))).predict(
        Evidence(NAMES, scores, none)
    )
    assert low != high


def test_gated_candidates_alone_skip_the_scores_only_design() -> None:
    validation, y = traces(5, 60, m=1)
    found = darc.fit(validation, y, Options(gated=frozenset(NAMES), epsilon=0))
    assert found.design != "scores"
    with pytest.raises(SymboUQError, match="no feature is left"):
        darc.fit(validation, y, Options(designs=("scores",), gated=frozenset(NAMES), epsilon=0))


def test_average_fits_nothing() -> None:
    validation, y = traces(6, 10)
    found = darc.fit(validation, y, Options(average=("Constraint-Rule", "MLP")))
    assert found.predict(validation) == pytest.approx(validation.scores[:, [0, 2]].mean(axis=1))
    assert darc.fit(validation, 1 - y, Options(average=("Constraint-Rule", "MLP"))) == found


def test_contributions_sum_to_the_logit() -> None:
    validation, y = traces(7, 80)
    found = darc.fit(validation, y)
    expected = found.calibrator(np.array(logits(found, validation)))
    assert found.predict(validation) == pytest.approx(expected)
    assert set(found.contributions(validation)[0]) == set(found.names)


def test_a_reversed_score_contributes_as_if_it_were_turned() -> None:
    validation, y = traces(8, 80)
    turned = Evidence(
        NAMES,
        np.column_stack([validation.scores[:, :4], 1 - validation.scores[:, 4]]),
        validation.coverage,
    )
    plain, other = darc.fit(validation, y), darc.fit(turned, y)
    assert "MCP" in plain.names and plain.flipped[plain.names.index("MCP")]
    assert not other.flipped[other.names.index("MCP")]
    assert plain.predict(validation) == pytest.approx(other.predict(turned), abs=1e-9)


def test_other_candidates_and_their_order_do_not_matter_to_prediction() -> None:
    validation, y = traces(9, 80)
    found = darc.fit(validation, y)
    order = [NAMES.index(name) for name in reversed(NAMES)]
    shuffled = Evidence(tuple(reversed(NAMES)), validation.scores[:, order], validation.coverage)
    assert list(found.predict(shuffled)) == list(found.predict(validation))
    with pytest.raises(SymboUQError, match="is missing"):
        found.predict(Evidence(NAMES[3:4], validation.scores[:, 3:4], validation.coverage))


@pytest.mark.parametrize("m", [1, 2, 3])
def test_any_subset_of_scores(m: int) -> None:
    validation, y = traces(10, 60, m)
    predicted = darc.fit(validation, y).predict(validation)
    assert ((predicted >= 0) & (predicted <= 1)).all()


def test_a_label_free_target_is_standardised_by_itself() -> None:
    source, y = traces(11, 100)
    found = darc.fit(source, y, Options(designs=("scores",)))
    shifted = Evidence(NAMES, 0.5 * source.scores + 0.2, source.coverage)
    adapted = found.adapted(shifted)
    assert adapted.predict(shifted) == pytest.approx(found.predict(source))
    assert (adapted.weights, adapted.calibrator) == (found.weights, found.calibrator)
    with pytest.raises(SymboUQError):
        found.adapted(Evidence(NAMES, np.zeros((0, 5)), Coverage(np.zeros(0), np.zeros(0))))


def test_records_hold_the_composer() -> None:
    validation, y = traces(12, 60)
    for options in (Options(), Options(gated=frozenset({"MLP"})), Options(average=("MLP",))):
        found = darc.fit(validation, y, options)
        again = Composer.of(json.loads(json.dumps(found.record())))
        assert again == found
        assert list(again.predict(validation)) == list(found.predict(validation))
    assert Composer.of(darc.fit(validation, y * 0).record()).kind == "fixed"


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": [1.0]},
        {"calibrator": {"family": "affine-logit", "parameters": [-1, 0]}},
        {"other": 1},
        {"mean": None},
    ],
)
def test_wrong_records_are_refused(wrong: dict[str, object]) -> None:
    validation, y = traces(12, 60)
    with pytest.raises(SymboUQError, match="not a"):
        Composer.of(darc.fit(validation, y).record() | wrong)


def test_faults_are_named() -> None:
    validation, y = traces(13, 20)
    with pytest.raises(SymboUQError, match="one label a trace"):
        darc.fit(validation, y[:5])
    with pytest.raises(SymboUQError, match="needs labelled traces"):
        darc.fit(Evidence((), np.zeros((3, 0)), Coverage(np.ones(3), np.ones(3))), [0, 1, 0])
    with pytest.raises(SymboUQError, match="not a finite number"):
        Evidence(("a",), np.array([[np.nan]]), Coverage(np.ones(1), np.ones(1)))
    with pytest.raises(SymboUQError, match="one name"):
        Evidence(("a", "a"), np.zeros((1, 2)), Coverage(np.ones(1), np.ones(1)))
    with pytest.raises(SymboUQError, match="shape"):
        Evidence(("a",), np.zeros((2, 1)), Coverage(np.ones(1), np.ones(1)))
    for options in ({"designs": ()}, {"l2": (0,)}, {"folds": 0}):
        with pytest.raises(SymboUQError):
            Options(**options)  # type: ignore[arg-type]
    with pytest.raises(SymboUQError, match="not a temperature"):
        Calibrator("temperature", (0.0,))


# Screening

LABELS = np.array([1, 1, 0, 0])
SCORES = np.array(
    [[0.9, 0.1, 0.5, 0.3], [0.8, 0.2, 0.5, 0.1], [0.1, 0.9, 0.5, 0.2], [0.2, 0.8, 0.5, 0.4]]
)


def test_screening_by_hand() -> None:
    found = screen(SCORES, LABELS, 0.03)
    assert found.aurocs.tolist() == [1, 0, 0.5, 0.25]
    assert found.retained == (0, 1, 3)
    assert found.flipped == (False, True, True)
    assert found.best == 0
    assert oriented(SCORES[:, [0, 1]], (False, True))[0] == pytest.approx([0.9, 0.9])


def test_the_threshold_itself_is_retained() -> None:
    # The right ones beat 4, 3, 2, 0 and 0 of the four wrong ones: 9 of 20 pairs. The distance of
    # 0.45 from 0.5 rounds to less than 0.05.
    scores = np.array([[4.5], [3.5], [2.5], [0.5], [0.4], [1], [2], [3], [4]])
    labels = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0])
    found = screen(scores, labels, 0.05)
    assert found.aurocs[0] == 0.45 and abs(0.45 - 0.5) < 0.05
    assert found.retained == (0,)
    assert screen(scores, labels, 0.051).retained == ()


def test_what_says_nothing_is_not_turned() -> None:
    # Line 6 of the algorithm turns A_j < 0.5; a constant has 0.5, which a threshold of 0 retains.
    screening = screen(np.array([[0.3], [0.3]]), np.array([1.0, 0.0]), 0)
    assert (screening.retained, screening.flipped) == ((0,), (False,))


def test_one_class_is_refused() -> None:
    with pytest.raises(SymboUQError):
        screen(SCORES, np.ones(4), 0.03)
