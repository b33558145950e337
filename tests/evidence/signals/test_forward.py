"""The teacher-forced pass against a plain one that keeps everything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.extras import need_models

from symbouq.errors import SymboUQError
from symbouq.evidence.signals.example import TokenSignals
from symbouq.evidence.signals.forward import Forced, ForcedPass

torch = need_models()
import transformers  # noqa: E402

SEQUENCES = [
    Forced([5, 9, 12, 7], [30, 31, 8]),
    Forced([6], [40]),
    Forced(list(range(20, 60)), list(range(100, 130))),
    Forced([8, 8, 9], []),
    Forced(list(range(90, 70, -1)), [3, 3, 3, 250, 11]),
]


@pytest.fixture(scope="module")
def model(tiny: Path) -> Any:
    return transformers.AutoModelForCausalLM.from_pretrained(tiny, attn_implementation="eager")


def plain(model: Any, sequence: Forced) -> TokenSignals:
    """The same by definition, token by token, from a full pass."""
    ids = [*sequence.prompt, *sequence.generated]
    with torch.no_grad():
        out = model(torch.tensor([ids]), output_attentions=True, output_hidden_states=True)
    logprobs, top, hidden, lookback = [], [], [], []
    for t, token in enumerate(sequence.generated):
        place = len(sequence.prompt) + t - 1
        chances = torch.softmax(out.logits[0, place].double(), 0)
        logprobs.append(torch.log(chances[token]).item())
        top.append(sorted(chances.tolist(), reverse=True)[:4])
        hidden.append(out.hidden_states[-1][0, place].tolist())
        ratios = []
        for layer in out.attentions:
            for head in layer[0]:
                weights = head[place].tolist()
                old = weights[: len(sequence.prompt)]
                new = weights[len(sequence.prompt) : place + 1]
                assert len(new) == t
                to_old = sum(old) / len(old)
                to_new = sum(new) / len(new) if new else 0.0
                ratios.append(to_old / (to_old + to_new) if to_old else 0.0)
        lookback.append(ratios)
    return TokenSignals(*(np.array(x, np.float32) for x in (logprobs, top, hidden, lookback)))


def same(first: TokenSignals, second: TokenSignals) -> None:
    for name in ("logprobs", "top", "hidden", "lookback"):
        a, b = getattr(first, name), getattr(second, name)
        assert a.dtype == b.dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("family", ["Gemma2", "Mistral", "Qwen3"])
def test_other_families_too(family: str) -> None:
    """Capped logits, windows of attention that leave the prompt behind, grouped heads."""
    config = getattr(transformers, f"{family}Config")(
        vocab_size=300,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        sliding_window=16,
        initializer_range=0.3,
        attn_implementation="eager",
    )
    torch.manual_seed(0)
    model = getattr(transformers, f"{family}ForCausalLM")(config).eval()
    found = ForcedPass(model).signals(SEQUENCES)
    for number in (0, 2, 4):
        same(found[number], plain(model, SEQUENCES[number]))


@pytest.mark.parametrize("number", [0, 1, 2, 4])
def test_signals_are_those_of_a_plain_pass(model: Any, number: int) -> None:
    (found,) = ForcedPass(model).signals([SEQUENCES[number]])
    same(found, plain(model, SEQUENCES[number]))
    assert found.lookback.shape == (len(SEQUENCES[number].generated), 4)
    assert (found.lookback[0] == 1).all()


def test_a_batch_gives_what_its_members_give_alone(model: Any) -> None:
    together = ForcedPass(model, tokens=10_000).signals(SEQUENCES)
    for found, sequence in zip(together, SEQUENCES, strict=True):
        (alone,) = ForcedPass(model).signals([sequence])
        same(found, alone)


def test_batches_stay_within_their_tokens(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    run = ForcedPass._batch

    def watched(self: ForcedPass, sequences: list[Forced]) -> list[TokenSignals]:
        longest = max(len(s.prompt) + len(s.generated) for s in sequences)
        sizes.append((len(sequences), longest))
        return run(self, sequences)

    monkeypatch.setattr(ForcedPass, "_batch", watched)
    ForcedPass(model, tokens=100).signals(SEQUENCES * 3)
    # three of 70 tokens, then three of 25, three of 7 and three of 2 in one batch each
    assert sizes == [(1, 70), (1, 70), (1, 70), (4, 25), (5, 7)]
    assert sum(count for count, _ in sizes) == 12
    assert all(count == 1 or count * longest <= 100 for count, longest in sizes)


def test_nothing_generated_gives_empty_arrays(model: Any) -> None:
    (found,) = ForcedPass(model).signals([SEQUENCES[3]])
    assert found.logprobs.shape == (0,)
    assert found.top.shape == (0, 4)
    assert found.hidden.shape == (0, 64)
    assert found.lookback.shape == (0, 4)


def test_pooled_lookback_is_the_mean_over_the_heads_of_a_layer(model: Any) -> None:
    (apart,) = ForcedPass(model).signals(SEQUENCES[:1])
    (pooled,) = ForcedPass(model, lookback="pooled").signals(SEQUENCES[:1])
    wanted = np.stack([apart.lookback[:, :2].mean(1), apart.lookback[:, 2:].mean(1)], 1)
    np.testing.assert_allclose(pooled.lookback, wanted, rtol=1e-6)


def test_signals_know_nothing_of_what_follows(model: Any) -> None:
    (short,) = ForcedPass(model).signals([Forced([5, 9, 12], [30, 31])])
    (longer,) = ForcedPass(model).signals([Forced([5, 9, 12], [30, 31, 77, 78])])
    for name in ("logprobs", "top", "hidden", "lookback"):
        np.testing.assert_allclose(
            getattr(short, name), getattr(longer, name)[:2], rtol=1e-4, atol=1e-5
        )


def limited(monkeypatch: pytest.MonkeyPatch, rows: int, error: Exception) -> list[int]:
    """Lets batches of more than some rows run out of memory; gives the sizes tried."""
    tried: list[int] = []
    run = ForcedPass._batch

    def batch(self: ForcedPass, sequences: list[Forced]) -> list[TokenSignals]:
        tried.append(len(sequences))
        if len(sequences) > rows:
            raise error
        return run(self, sequences)

    monkeypatch.setattr(ForcedPass, "_batch", batch)
    return tried


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory."),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 12 bytes"),
        MemoryError(),
    ],
)
def test_a_batch_that_does_not_fit_is_made_smaller(
    model: Any, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    tried = limited(monkeypatch, 2, error)
    many = [SEQUENCES[0]] * 9
    found = ForcedPass(model).signals(many)
    assert tried == [9, 4, 2, 2, 2, 2, 1]
    for one in found:
        same(one, plain(model, SEQUENCES[0]))


def test_a_sequence_that_does_not_fit_alone_is_named(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(monkeypatch, 0, torch.OutOfMemoryError("CUDA out of memory."))
    with pytest.raises(SymboUQError, match="trace t7 of 4 tokens does not fit"):
        ForcedPass(model).signals([Forced([5, 9], [30, 31], "t7")])


def test_other_errors_are_not_hidden(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, 0, RuntimeError("shapes differ"))
    with pytest.raises(RuntimeError, match="shapes differ"):
        ForcedPass(model).signals(SEQUENCES)


def test_attention_that_is_not_eager_is_refused(tiny: Path) -> None:
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny, attn_implementation="sdpa")
    with pytest.raises(SymboUQError, match="eager"):
        ForcedPass(model).signals(SEQUENCES[:1])


def test_a_model_without_attention_is_refused() -> None:
    config = transformers.MambaConfig(
        vocab_size=20, hidden_size=8, num_hidden_layers=1, state_size=2
    )
    with pytest.raises(SymboUQError, match="MambaForCausalLM gives no attention weights"):
        ForcedPass(transformers.MambaForCausalLM(config))
