"""Merging sources of labels, and how far two agree."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from symbouq.errors import RecordError, SymboUQError
from symbouq.evidence.labels.agreement import Agreement, agreement, cohen_kappa
from symbouq.evidence.labels.records import Label, Labels, labelled, merge, read_labels


def given(name: str, dataset: str | None = "d", **labels: list[Label]) -> dict[str, Labels]:
    return {i: Labels(i, name, tuple(found), dataset) for i, found in labels.items()}


def test_agreement_by_hand() -> None:
    # Both label six claims: 1-1 three times, 0-0 once, 1-0 and 0-1 once each.
    first = given("a", x=[1, 1, 0, None], y=[1, 0, 1], z=[1])
    second = given("b", x=[1, 1, 0, 1], y=[1, 1, 0], w=[0])
    # chance: 4/6 * 4/6 + 2/6 * 2/6 = 20/36; kappa: (24 - 20) / (36 - 20)
    for row, name in zip(agreement(first, second), ("d", "all"), strict=True):
        assert row == Agreement(name, 2, 6, pytest.approx(4 / 6), pytest.approx(0.25))


def test_each_dataset_has_its_row() -> None:
    first = given("a", "p", x=[1, 0]) | given("a", None, y=[1, 0])
    second = given("b", None, x=[1, 1]) | given("b", None, y=[1, 0])
    rows = agreement(first, second)
    assert [(row.dataset, row.claims, row.rate) for row in rows] == [
        ("p", 2, 0.5),
        ("no dataset", 2, 1.0),
        ("all", 4, 0.75),
    ]


def test_kappa_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="the extra `fit` is not installed")
    draw = random.Random(0)
    for _ in range(20):
        a = [draw.randint(0, 1) for _ in range(30)]
        b = [x if draw.random() < 0.7 else 1 - x for x in a]
        row = agreement(given("a", x=a), given("b", x=b))[-1]
        assert row.kappa == pytest.approx(metrics.cohen_kappa_score(a, b))


def test_kappa_where_one_source_knows_one_label_only() -> None:
    row = agreement(given("a", x=[1, 1, 1, 1]), given("b", x=[1, 1, 0, 1]))[-1]
    assert (row.rate, row.kappa, row.undefined) == (0.75, 0.0, "")


@pytest.mark.parametrize("label", [0, 1])
def test_kappa_is_undefined_where_both_know_the_same_one(label: int) -> None:
    row = agreement(given("a", x=[label] * 3), given("b", x=[label] * 3))[-1]
    assert (row.rate, row.kappa) == (1.0, None)
    assert ("right", "wrong")[not label] in row.undefined


def test_nothing_in_common_is_told() -> None:
    rows = agreement(given("a", x=[1, None]), given("b", x=[None, 1], y=[0]))
    for row, name in zip(rows, ("d", "all"), strict=True):
        assert row == Agreement(name, 0, 0, None, None, "no claim is labelled by both")


def test_different_claims_are_refused() -> None:
    first, second = given("a", x=[1, 1]), given("b", x=[1])
    with pytest.raises(SymboUQError, match="trace x has 2 claims by a and 1 by b"):
        agreement(first, second)
    with pytest.raises(SymboUQError, match="trace x has 2 claims by a and 1 by b"):
        merge([first, second])


def test_the_first_source_that_labels_a_claim_wins() -> None:
    human = given("human", None, x=[0, None, None])
    judge = given("judge:m", "d", x=[1, 1, None], y=[1, None])
    answer = given("answer", "d", x=[None, None, 1], y=[None, 0], z=[None])
    x, y, z = merge([human, judge, answer])
    assert x.record() == {
        "id": "x",
        "source": "human+judge:m+answer",
        "labels": [0, 1, 1],
        "dataset": "d",
        "sources": ["human", "judge:m", "answer"],
    }
    assert (y.labels, y.source, y.extra["sources"]) == (
        (1, 0),
        "judge:m+answer",
        ["judge:m", "answer"],
    )
    assert (z.labels, z.source, z.extra["sources"]) == ((None,), "", [None])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"id": "a", "labels": [1]}', "source"),
        ('{"id": "a", "source": "s", "labels": []}', "`labels` is a list"),
        ('{"id": "a", "source": "s", "labels": [2]}', "`labels` is a list"),
        ('{"id": "a", "source": "s", "labels": [true]}', "`labels` is a list"),
        ('{"id": "z", "source": "s", "labels": [1]}', "occurs before"),
    ],
)
def test_label_files_are_checked(tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "l.jsonl"
    path.write_text('{"id": "z", "source": "s", "labels": [1, null, 0]}\n' + line + "\n")
    with pytest.raises(RecordError, match=rf"l.jsonl:2: .*{told}"):
        read_labels(path)


def test_a_source_gives_a_label_for_each_claim() -> None:
    trace = {"id": "t", "dataset": "d", "reasoning": ["s"], "conclusion": "c"}
    assert labelled(trace, "n", lambda record: [1, None]) == Labels("t", "n", (1, None), "d")
    with pytest.raises(RecordError, match="source n gives 1 labels for 2 claims"):
        labelled(trace, "n", lambda record: [1])


def test_cohen_kappa_by_hand() -> None:
    # Observed 3/4; by chance 1/2 * 3/4 + 1/2 * 1/4 = 1/2.
    assert cohen_kappa([1, 1, 0, 0], [1, 1, 1, 0]) == pytest.approx(0.5)
    assert cohen_kappa([1, 1], [1, 1]) is None
    assert cohen_kappa([], []) is None
    with pytest.raises(SymboUQError):
        cohen_kappa([1], [])
