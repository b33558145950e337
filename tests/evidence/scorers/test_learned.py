"""Training: the loss by hand, learning where there is something to learn, bit-equal reruns,
saved models, and what is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.synthetic import example, split
from sklearn.utils.class_weight import compute_class_weight

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.base import Labelled
from symbouq.evidence.scorers.batches import Batch, TokenStore, collate
from symbouq.evidence.scorers.learned import Learned
from symbouq.evidence.scorers.methods.neural import MLP, UHead
from symbouq.evidence.scorers.methods.symbolic import Constraint
from symbouq.evidence.scorers.networks import Loss, Network, balance
from symbouq.evidence.scorers.reduction import auroc
from symbouq.evidence.scorers.registry import SCORERS
from symbouq.evidence.scorers.settings import Settings

LEARNED = [scorer for scorer in SCORERS.values() if issubclass(scorer, Learned)]
QUICK = Settings(width=16, epochs=12, learning_rate=5e-3)


def examples(items: Sequence[Labelled]) -> list:
    return [item.example for item in items]


# The loss ------------------------------------------------------------------------------


def labelled(*labels: int | None) -> Labelled:
    return Labelled(example(claims=len(labels)), labels)


def test_the_loss_by_hand() -> None:
    train = [labelled(1, None, 1), labelled(1, 0), labelled(0, 1, 0), labelled(None, 1)]
    # Reasoning claims: wrong 1, right 3 of 4. Traces: wrong 2, right 2.
    loss = Loss.balanced(train)
    assert loss.claims == pytest.approx((4 / 2, 4 / 6))
    assert loss.traces == pytest.approx((1.0, 1.0))
    logits = torch.tensor([[0.0, 9.0, math.log(3)], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    # Reasoning claims of the batch: 1 at 0, 1 at 0, 0 at 0, 1 at 0; traces: 1 at log 3, 0, 0.
    log2 = math.log(2)
    claims = (3 * log2 * 4 / 6 + log2 * 2) / 4
    traces = (math.log(4 / 3) + 2 * log2) / 3
    found = loss(logits, [item.labels for item in train[:3]])
    assert found.item() == pytest.approx((claims + traces) / 2)
    plain = Loss()(logits, [item.labels for item in train[:3]])
    assert plain.item() == pytest.approx((log2 + traces) / 2)


def test_a_term_without_labels_is_left_out() -> None:
    only_traces = [labelled(None, 1), labelled(0)]
    loss = Loss.balanced(only_traces)
    assert loss.claims is None
    value = loss(torch.zeros(2, 2), [item.labels for item in only_traces])
    assert value.item() == pytest.approx(math.log(2))
    # A batch that has none of the labels there are.
    nothing = loss(torch.zeros(1, 2, requires_grad=True), [(1, None)])
    assert nothing.item() == 0
    nothing.backward()


def test_balance_is_scikit_learns() -> None:
    labels = [0, 1, 1, 1, 1, 0, 1, None]
    known = [label for label in labels if label is not None]
    expected = compute_class_weight("balanced", classes=np.array([0, 1]), y=known)
    assert balance(labels) == pytest.approx(tuple(expected))


# Learning ------------------------------------------------------------------------------

LEARNS = {
    "MLP": ("hidden", 0.95),
    "UHead": ("hidden", 0.9),
    "Factoscope": ("hidden", 0.9),
    "Neural-Seq": ("hidden", 0.9),
    "Constraint-Only": ("audit", 0.9),
    "Constraint": ("audit", 0.9),
}


@pytest.mark.parametrize("kind", LEARNED)
def test_what_separates_is_learned(kind: type[Learned]) -> None:
    source, floor = LEARNS[kind.name]
    tells = {"hidden_tells": 1.5} if source == "hidden" else {"audit_tells": 1.0}
    train, validation, test = (split(n, seed, **tells) for n, seed in ((160, 1), (60, 2), (150, 3)))
    scorer = kind(QUICK)
    scorer.fit(train, validation)
    last = [values[-1] for values in scorer.score(examples(test))]
    assert auroc(last, [item.correct for item in test]) > floor
    claims = np.concatenate([values[:-1] for values in scorer.score(examples(test))])
    labels = [label for item in test for label in item.labels[:-1]]
    assert auroc(claims, labels) > floor


def test_the_best_epoch_is_kept() -> None:
    train, validation = split(60, 1, hidden_tells=0.5), split(50, 2, hidden_tells=0.5)
    scorer = MLP(replace(QUICK, epochs=10))
    scorer.fit(train, validation)
    seen = scorer.history
    assert len(seen) == 10
    last = [values[-1] for values in scorer.score(examples(validation))]
    reached = auroc(last, [item.correct for item in validation])
    assert reached == max(epoch.auroc for epoch in seen)
    best = [epoch.auroc for epoch in seen].index(reached) + 1
    assert best < 10, "this data is to overfit"
    shorter = MLP(replace(QUICK, epochs=best))
    shorter.fit(train, validation)
    assert shorter.history == scorer.history[:best]
    same = zip(shorter.score(examples(train)), scorer.score(examples(train)), strict=True)
    assert all(np.array_equal(a, b) for a, b in same)


@pytest.mark.parametrize("kind", LEARNED)
def test_reruns_are_bit_equal(kind: type[Learned]) -> None:
    train, validation = split(40, 1), split(20, 2)
    settings = Settings(width=16, epochs=2, batch=8)

    def rerun(seed: int) -> list[np.ndarray]:
        torch.rand(seed + 1)  # what else draws random numbers does not matter
        scorer = kind(replace(settings, seed=seed))
        scorer.fit(train, validation)
        return scorer.score(examples(validation))

    first, second, other = rerun(0), rerun(0), rerun(1)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def test_training_leaves_random_numbers_alone() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    MLP(replace(QUICK, epochs=1)).fit(split(10, 1), split(10, 2))
    assert torch.equal(torch.rand(2), expected)


def test_scores_are_in_the_order_of_traces() -> None:
    train = split(20, 1)
    scorer = UHead(replace(QUICK, epochs=1, batch=4))
    scorer.fit(train, train)
    nothing = example(claims=0, id="failed")
    given = [*examples(train), nothing]
    found = scorer.score(given)
    assert [len(values) for values in found] == [len(item.claims) for item in given]
    for item, values in zip(given[:5], found[:5], strict=True):
        assert scorer.score([item])[0] == pytest.approx(values, abs=1e-5)


# Keeping -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LEARNED)
def test_a_saved_model_gives_the_same_bits(kind: type[Learned], tmp_path: Path) -> None:
    train = split(12, 1)
    scorer = kind(replace(QUICK, epochs=2, seed=5))
    scorer.fit(train, train)
    scorer.save(tmp_path)
    again = kind.load(tmp_path)
    assert (again.name, again.settings, again.history) == (
        kind.name,
        scorer.settings,
        scorer.history,
    )
    pairs = zip(scorer.score(examples(train)), again.score(examples(train)), strict=True)
    assert all(np.array_equal(a, b) for a, b in pairs)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "model.json",
        "model.safetensors",
    ]


def test_what_cannot_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(SymboUQError, match="holds no trained scorer"):
        MLP.load(tmp_path)
    train = split(12, 1)
    scorer = MLP(replace(QUICK, epochs=1))
    with pytest.raises(SymboUQError, match="MLP is not trained"):
        scorer.save(tmp_path)
    scorer.fit(train, train)
    scorer.save(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"not one")
    with pytest.raises(SymboUQError, match="holds no trained scorer"):
        MLP.load(tmp_path)
    scorer.save(tmp_path)
    described = json.loads((tmp_path / "model.json").read_text())
    for change, message in (
        ({"format": 9}, "a model of format 9, not 2"),
        ({"token_features": 5}, "holds no trained scorer"),
        ({"name": "Random"}, "holds a model of Random, not of MLP"),
    ):
        (tmp_path / "model.json").write_text(json.dumps(described | change))
        with pytest.raises(SymboUQError, match=message):
            MLP.load(tmp_path)


# What is refused -----------------------------------------------------------------------


def test_one_class_and_empty_splits() -> None:
    both = split(10, 1)
    right = [item for item in both if item.correct == 1]
    for train, validation, message in (
        (right, both, rf"MLP: training needs both right and wrong answers, found {len(right)} right, 0 wrong"),
        (both, right, "MLP: validation needs both right and wrong answers"),
        ([], both, "MLP: training needs labelled traces, found none"),
        (both, [], "MLP: validation needs labelled traces, found none"),
        ([replace(item, labels=(None,) * len(item.labels)) for item in both], both, "training needs labelled traces"),
    ):  # fmt: skip
        with pytest.raises(SymboUQError, match=message):
            MLP(QUICK).fit(train, validation)


def test_what_examples_lack() -> None:
    train = split(10, 1)
    blind = [replace(item, example=replace(item.example, audit=None)) for item in train]
    with pytest.raises(SymboUQError, match="trace 1-0: Constraint needs an audit"):
        Constraint(QUICK).fit(blind, train)
    with pytest.raises(SymboUQError, match="MLP is not trained"):
        MLP().score(examples(train))
    scorer = MLP(replace(QUICK, epochs=1))
    scorer.fit(blind, blind)
    with pytest.raises(SymboUQError, match="trained on tokens of 12 features, these have 15"):
        scorer.score(examples(split(3, 1, width=9)))
    odd = train[0].example
    assert odd.audit is not None
    odd.audit["features"]["trace"].pop()
    with pytest.raises(SymboUQError, match="trace 1-0: its audit has other features"):
        collate([odd])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 18}, "multiple of 4"),
        ({"loss": "mse"}, "balanced or bce"),
        ({"epochs": 0}, "positive"),
        ({"learning_rate": math.nan}, "positive"),
    ],
)
def test_settings(settings: dict, message: str) -> None:
    with pytest.raises(SymboUQError, match=message):
        Settings(**settings)


def test_divergence_is_told() -> None:
    train = split(20, 1)
    with pytest.raises(SymboUQError, match="MLP: training diverged"):
        MLP(replace(QUICK, learning_rate=1e30)).fit(train, train)


def test_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    train = split(20, 1)
    scorer = MLP(replace(QUICK, epochs=1))
    scorer.fit(train, train)
    expected = scorer.score(examples(train))
    forward = Network.forward

    def limited(most: int):
        def short_of_memory(self, batch: Batch):
            if len(batch.claims) > most:
                raise torch.OutOfMemoryError("no room")
            return forward(self, batch)

        return short_of_memory

    monkeypatch.setattr(Network, "forward", limited(3))
    found = scorer.score(examples(train))
    assert all(a == pytest.approx(b, abs=1e-6) for a, b in zip(found, expected, strict=True))
    with pytest.raises(SymboUQError, match="out of memory with 20 traces in a step"):
        scorer.fit(train, train)
    monkeypatch.setattr(Network, "forward", limited(0))
    with pytest.raises(SymboUQError, match="out of memory with a single trace"):
        scorer.score(examples(train))


# Features kept on a device -------------------------------------------------------------


def halved(items: Sequence[Labelled]) -> list[Labelled]:
    """The same with hidden states and lookback ratios as a cache stores them."""
    made = []
    for item in items:
        signals = item.example.signals
        assert signals is not None
        half = {name: getattr(signals, name).astype(np.float16) for name in ("hidden", "lookback")}
        made.append(replace(item, example=replace(item.example, signals=replace(signals, **half))))
    return made


def test_kept_features_are_those_of_the_examples() -> None:
    items = examples(halved(split(7, 3)))
    store = TokenStore(items, "cpu")
    numbers = [5, 0, 6, 6]  # of other lengths, the last one too
    chosen = [items[n] for n in numbers]
    plain, kept = collate(chosen), collate(chosen, store=store, numbers=numbers)
    assert kept.tokens.dtype == torch.float32
    assert torch.equal(kept.tokens, plain.tokens)
    assert torch.equal(kept.spans, plain.spans)
    assert len({len(item.signals.logprobs) for item in chosen}) > 1


def test_training_on_kept_features_is_the_same_training(monkeypatch: pytest.MonkeyPatch) -> None:
    train, validation = halved(split(40, 1, hidden_tells=1.0)), halved(split(20, 2))
    histories = []
    for kept in (False, True):
        monkeypatch.setattr(TokenStore, "fits", staticmethod(lambda *_, kept=kept: kept))
        scorer = MLP(replace(QUICK, epochs=3))
        scorer.fit(train, validation)
        histories.append(scorer.history)
    assert histories[0] == histories[1]


def test_features_are_kept_where_a_gpu_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    (item,) = examples(halved(split(1, 1, width=6, lookback=2)))
    tokens = len(item.signals.logprobs)
    assert item.signals.top.dtype == np.float32
    # Two bytes for each hidden unit and ratio, four for each probability, and as much again.
    needed = 2 * tokens * (2 * 6 + 2 * 2 + 4 * 4)
    assert not TokenStore.fits([item], "cpu")
    for free, fits in ((needed, False), (needed + 1, True)):
        monkeypatch.setattr("torch.cuda.mem_get_info", lambda _, free=free: (free, 1 << 40))
        assert TokenStore.fits([item], "cuda") == fits
