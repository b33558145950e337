"""A backbone is trained, loads like any other model, and learns."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: E402

from symbouq.evidence.contract import Structured  # noqa: E402
from symbouq.experiments.backbones.corpus import corpus  # noqa: E402
from symbouq.experiments.backbones.training import CARD, Plan, Size, batches, encoded, train  # noqa: E402

SMALL = Size(width=64, layers=2, feed_forward=128)


def test_a_model_folder_of_transformers(tmp_path: Path) -> None:
    losses: list[float] = []
    torch.set_num_threads(1)
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
    torch.set_num_threads(1)
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
def test_one_hop_is_learnt_in_a_minute(tmp_path: Path) -> None:
    """Traces keep to the form, and far more answers are right than a guess would have."""
    torch.set_num_threads(1)
    plan = Plan(Size(width=128, layers=4, feed_forward=256), steps=400, tokens=2048, hops=(1,))
    model = train(plan, tmp_path).float()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    asked = [pair for pair in islice(corpus(99, (1,)), 75) if pair.completion.startswith("{")][:60]
    traces = []
    for pair in asked:
        ids, prompt = encoded(pair, tokenizer)
        with torch.inference_mode():
            written = model.generate(
                torch.tensor([ids[:prompt]]), max_new_tokens=120, do_sample=False
            )
        text = tokenizer.decode(written[0][prompt:], skip_special_tokens=True)
        traces.append(Structured.of(text))
    assert sum(trace is not None for trace in traces) >= 54
    gold = [Structured.of(pair.completion) for pair in asked]
    right = sum(
        trace is not None and known is not None and trace.conclusion == known.conclusion
        for trace, known in zip(traces, gold, strict=True)
    )
    # Families have 3 to 9 answers: a guess is right in less than a quarter of them.
    assert right >= 20
