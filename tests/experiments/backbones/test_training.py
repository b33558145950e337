"""A backbone is trained, loads like any other model, and learns."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from transformers import (  # noqa: E402
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
)

from symbouq.evidence.contract import Structured  # noqa: E402
from symbouq.evidence.generation.models import find_model  # noqa: E402
from symbouq.experiments.backbones import training  # noqa: E402
from symbouq.experiments.backbones.corpus import corpus, instructions  # noqa: E402
from symbouq.experiments.backbones.plan import Plan, Size  # noqa: E402
from symbouq.experiments.backbones.training import (  # noqa: E402
    CARD,
    STATE,
    _further,
    batches,
    encoded,
    train,
    train_tokenizer,
)


@pytest.fixture(autouse=True)
def few_texts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus that is enough for a few steps."""
    if not request.node.get_closest_marker("slow"):
        monkeypatch.setattr(training, "_VOCABULARY_TEXTS", 200)
        monkeypatch.setattr(training, "_POOL", 64)


SMALL = Size(width=64, layers=2, feed_forward=128)


def test_a_model_folder_of_transformers(tmp_path: Path) -> None:
    losses: list[float] = []
    train(Plan(SMALL, steps=12, tokens=1024), tmp_path, watch=lambda _, loss: losses.append(loss))
    assert len(losses) == 12
    assert losses[-1] < losses[0]
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    model = AutoModelForCausalLM.from_pretrained(tmp_path)
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Is A above B?"}], add_generation_prompt=True, tokenize=False
    )
    assert text == "<s><user>Is A above B?<assistant>"
    assert tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)) == text
    assert model(torch.tensor([tokenizer.encode(text)])).logits.shape[-1] == len(tokenizer)
    card = json.loads((tmp_path / CARD).read_text())
    assert card["plan"]["steps"] == 12
    assert card["parameters"] == model.num_parameters()


def test_the_same_seed_makes_the_same_weights(tmp_path: Path) -> None:
    plan = Plan(SMALL, steps=3, tokens=512)
    one, two = (train(plan, tmp_path / name).state_dict() for name in ("one", "two"))
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_only_the_answer_is_learnt(tmp_path: Path) -> None:
    plan = Plan(SMALL, steps=1, tokens=512)
    train(plan, tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    pair = next(corpus(1))
    ids, prompt = encoded(pair, tokenizer)
    assert tokenizer.decode(ids[prompt:]) == pair.completion + "</s>"
    inputs, mask, targets = next(batches(corpus(3), tokenizer, plan))
    assert inputs.shape == mask.shape == targets.shape
    for row in range(len(inputs)):
        learnt = targets[row] != -100
        assert torch.equal(inputs[row][learnt], targets[row][learnt])
        assert tokenizer.decode(inputs[row][~learnt & (mask[row] == 1)]).endswith("<assistant>")


@pytest.mark.slow
def test_one_hop_is_learnt_in_minutes(tmp_path: Path) -> None:
    """Traces keep to the form, and far more answers are right than a guess would have."""
    plan = Plan(Size(width=128, layers=4, feed_forward=256), steps=400, tokens=2048, hops=(1,))
    model = train(plan, tmp_path).float()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    asked = [pair for pair in islice(corpus(99, (1,)), 75) if pair.completion.startswith("{")][:60]
    prompts = [ids[:prompt] for ids, prompt in (encoded(pair, tokenizer) for pair in asked)]
    longest = max(map(len, prompts))
    padding = [[0] * (longest - len(ids)) for ids in prompts]
    with torch.inference_mode():
        written = model.generate(
            torch.tensor([[*pad, *ids] for pad, ids in zip(padding, prompts, strict=True)]),
            attention_mask=torch.tensor(
                [[*pad, *[1] * len(ids)] for pad, ids in zip(padding, prompts, strict=True)]
            ),
            max_new_tokens=120,
            do_sample=False,
        )
    traces = [
        Structured.of(tokenizer.decode(ids[longest:], skip_special_tokens=True)) for ids in written
    ]
    assert sum(trace is not None for trace in traces) >= 54
    gold = [Structured.of(pair.completion) for pair in asked]
    right = sum(
        trace is not None and known is not None and trace.conclusion == known.conclusion
        for trace, known in zip(traces, gold, strict=True)
    )
    # Half of the questions have 9 answers, the others 3 and more: a guess is right in a sixth.
    assert right >= 17


def made(plan: Plan, out: Path) -> dict[str, torch.Tensor]:
    return train(plan, out).state_dict()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    train(Plan(SMALL, steps=2, tokens=512), folder)
    return folder


def test_a_pretrained_model_is_trained_further(base: Path, tmp_path: Path) -> None:
    losses: list[float] = []
    plan = Plan(str(base), steps=12, tokens=1024, rate=0.01)
    train(plan, tmp_path, watch=lambda _, loss: losses.append(loss))
    assert losses[-1] < losses[0]
    card = json.loads((tmp_path / CARD).read_text())
    assert card["plan"]["start"] == {"name": base.name, "hash": find_model(str(base)).hash}
    assert (card["plan"]["steps"], card["plan"]["rate"]) == (12, 0.01)
    assert not (tmp_path / STATE).exists()


def test_instructions_become_tokens_that_begin_as_what_they_stand_for(tmp_path: Path) -> None:
    tokenizer = train_tokenizer(["where is the lamp"], 300)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=1, tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    pupil = _further(str(tmp_path))
    weights = pupil.model.get_input_embeddings().weight
    for text in instructions():
        (token,) = pupil.tokenizer.encode(text, add_special_tokens=False)
        pieces = tokenizer.encode(text, add_special_tokens=False)
        assert token >= len(tokenizer) and len(pieces) > 1
        assert torch.allclose(weights[token], weights[pieces].mean(0), atol=1e-6)


@pytest.mark.parametrize("together", [1, 1024])
def test_loss_and_gradients_are_those_of_the_model(
    together: int, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "_TOGETHER", together)
    monkeypatch.setattr(training, "has_bfloat16", lambda _device: False)
    model, tokenizer, _ = training._further(str(base))
    ids, mask, targets = next(batches(corpus(1), tokenizer, Plan(str(base), tokens=1600)))
    assert len(ids) > 1
    expected: Any = model(input_ids=ids, attention_mask=mask, labels=targets).loss
    wanted = torch.autograd.grad(expected, model.model.embed_tokens.weight)[0]
    assert training._gradients(model, ids, mask, targets) == pytest.approx(expected.item())
    torch.testing.assert_close(model.model.embed_tokens.weight.grad, wanted)


@pytest.mark.parametrize("further", [False, True])
def test_what_was_stopped_goes_on(
    further: bool, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(str(base) if further else SMALL, steps=6, tokens=512)
    whole = made(plan, tmp_path / "whole")
    monkeypatch.setattr(training, "_STATE_EVERY", 0.0)
    steps: list[int] = []

    def stop(step: int, _loss: float) -> None:
        steps.append(step)
        if step == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(plan, tmp_path / "parts", watch=stop)
    train(plan, tmp_path / "parts", watch=stop)
    assert steps == [1, 2, 3, 4, 5, 6]
    again = AutoModelForCausalLM.from_pretrained(tmp_path / "parts").state_dict()
    assert all(torch.equal(whole[name], again[name]) for name in whole)


def test_what_is_made_is_not_made_again(base: Path, tmp_path: Path) -> None:
    plan = Plan(str(base), steps=2, tokens=512)
    first = made(plan, tmp_path)
    steps: list[int] = []
    again = train(plan, tmp_path, watch=lambda step, _: steps.append(step)).state_dict()
    assert not steps
    assert all(torch.equal(first[name], again[name]) for name in first)
    train(Plan(str(base), steps=3, tokens=512), tmp_path, watch=lambda s, _: steps.append(s))
    assert steps == [1, 2, 3]
