"""The vLLM engine, where vLLM can be imported: the same contract as transformers' engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from symbouq.errors import SymboUQError
from symbouq.evidence.contract import LONGEST, SCHEMA, Structured
from symbouq.evidence.generation.engine import Options, Request
from symbouq.evidence.generation.engines import load_engine

# vLLM warns of much that is its own affair.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

MESSAGES = [f"Where is {n} from B?" + " The jar is left." * (n % 7) for n in range(100)]


@pytest.fixture(scope="module")
def engine(tiny: Path) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as environment:
        # One process starts faster; the model needs little room on a CPU.
        environment.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        environment.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
        pytest.importorskip("vllm", reason="vLLM is not installed (extra `vllm`)")
        yield load_engine("vllm", str(tiny))


@pytest.fixture(scope="module")
def reference(tiny: Path, engine: Any) -> Any:
    return load_engine("transformers", str(tiny), Options(engine.device, "float32"))


def structured(message: str, seed: int = 0, temperature: float = 0.0) -> Request:
    return Request(message, LONGEST + 1, SCHEMA, temperature, seed)


def test_a_thousand_constrained_texts_are_valid(engine: Any) -> None:
    requests = [structured(MESSAGES[n % 100], n, (1.0, 2.0)[n % 2]) for n in range(1000)]
    made = engine.generate(requests)
    read = [Structured.of(one.text) for one in made]
    assert sum(one is not None for one in read) == 1000
    assert [one.encoded() for one in read if one] == [one.text for one in made]
    assert {one.finish for one in made} == {"stop"}


def test_greedy_texts_are_those_of_transformers(engine: Any, reference: Any) -> None:
    if engine.dtype != "float32":
        pytest.skip(f"vLLM computes with {engine.dtype} here")
    requests = [structured(message) for message in MESSAGES]
    for ours, theirs in zip(reference.generate(requests), engine.generate(requests), strict=True):
        assert theirs.text == ours.text
        assert theirs.token_ids == ours.token_ids
        assert theirs.prompt_tokens == ours.prompt_tokens
        for one, other in zip(theirs.tokens, ours.tokens, strict=True):
            assert one.logprob == pytest.approx(other.logprob, abs=1e-3)
            assert [a.logprob for a in one.top] == pytest.approx(
                [a.logprob for a in other.top], abs=1e-3
            )
            assert one.text == other.text


def test_logprobs_are_masked(engine: Any) -> None:
    letters = {"type": "string", "enum": ["a", "b"]}
    (made,) = engine.generate([Request("A?", 10, letters)])
    assert json.loads(made.text) in ("a", "b")
    assert engine.masked_logprobs
    # Nothing but these two may come, so they share all of the probability.
    assert all(len(token.top) <= 2 for token in made.tokens)


def test_logprobs_before_the_mask_are_those_of_transformers(engine: Any, tiny: Path) -> None:
    if engine.dtype != "float32":
        pytest.skip(f"vLLM computes with {engine.dtype} here")
    requests = [structured(message) for message in MESSAGES[:20]]
    requests += [Request("A?", 5, SCHEMA), Request("A?", 20)]
    unmasked = load_engine(
        "transformers", str(tiny), Options(engine.device, "float32", None, None, False)
    )
    masked = engine.generate(requests)
    engine.masked_logprobs = False
    try:
        found = engine.generate(requests)
    finally:
        engine.masked_logprobs = True
    for ours, theirs, before in zip(unmasked.generate(requests), found, masked, strict=True):
        assert theirs.text == ours.text == before.text
        for one, other in zip(theirs.tokens, ours.tokens, strict=True):
            assert one.logprob == pytest.approx(other.logprob, abs=1e-3)
            assert [a.logprob for a in one.top] == pytest.approx(
                [a.logprob for a in other.top], abs=1e-3
            )
    assert found[0].logprob < masked[0].logprob


def test_samples_depend_on_their_seed_alone(engine: Any) -> None:
    requests = [structured(message, seed, 1.0) for message in MESSAGES[:3] for seed in (1, 2)]
    together = [made.text for made in engine.generate(requests)]
    assert [engine.generate([request])[0].text for request in requests] == together
    assert len(set(together)) == len(together)


def test_free_and_cut_texts(engine: Any) -> None:
    from helpers.tiny_model import CONTEXT

    cut, failed = engine.generate([Request("A?", 5, SCHEMA), Request("x " * CONTEXT, 5)])
    assert (cut.finish, len(cut.tokens)) == ("length", 5)
    assert failed.finish == "failed"
    assert f"the model's context is {CONTEXT}" in failed.error
    (free,) = engine.generate([Request("A?", 20)])
    assert free.text == "".join(token.text for token in free.tokens)


def test_what_vllm_has_not(engine: Any, tiny: Path) -> None:
    with pytest.raises(SymboUQError, match="leave --device out"):
        load_engine("vllm", str(tiny), Options("cpu"))
    with pytest.raises(SymboUQError, match=r"vLLM fails: .*nonsense"):
        engine.generate([Request("A?", 5, {"type": "nonsense"})])
