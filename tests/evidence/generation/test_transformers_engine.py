"""The engine against plain forward passes of the same model."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from helpers.extras import need_models

from symbouq.errors import SymboUQError
from symbouq.evidence.contract import LONGEST, SCHEMA, Structured
from symbouq.evidence.generation.engine import Options, Request
from symbouq.evidence.generation.engines import load_engine
from symbouq.evidence.generation.run import Settings, run_settings

torch = need_models()

MESSAGES = ["Where is A from B?", "A?", "The lamp is above the desk. " * 5, "Is the jar left?", "Q"]
LETTERS = {"type": "string", "enum": ["a", "b", "left", "lamp"]}


def structured(message: str, seed: int = 0, temperature: float = 0.0) -> Request:
    return Request(message, LONGEST + 1, SCHEMA, temperature, seed)


def forward(engine: Any, message: str, ids: list[int], schema: bool = True) -> Any:
    """Log-probabilities at each generated token, `[tokens, vocabulary]`, from one pass."""
    prompt = engine.chat.ids(message)
    with torch.no_grad():
        logits = engine.network(torch.tensor([prompt + ids])).logits[0]
    return logits[len(prompt) - 1 : len(prompt) - 1 + len(ids)].log_softmax(-1)


def test_greedy_text_is_the_most_probable_one(engine: Any) -> None:
    (made,) = engine.generate([Request("Where is A?", 30)])
    plain = forward(engine, "Where is A?", made.token_ids, schema=False)
    assert made.token_ids == plain.argmax(-1).tolist()
    assert made.prompt_tokens == len(engine.chat.ids("Where is A?"))


def test_logprobs_equal_those_of_a_plain_pass(engine: Any) -> None:
    requests = [Request(message, 25, None, 1.0, seed) for seed, message in enumerate(MESSAGES)]
    for request, made in zip(requests, engine.generate(requests), strict=True):
        plain = forward(engine, request.message, made.token_ids, schema=False)
        for row, token in zip(plain, made.tokens, strict=True):
            assert token.logprob == pytest.approx(row[token.id].item(), abs=1e-4)
            best = row.topk(4)
            assert [other.id for other in token.top] == best.indices.tolist()
            assert [other.logprob for other in token.top] == pytest.approx(
                best.values.tolist(), abs=1e-4
            )


def spellings(engine: Any, strings: list[str], written: str) -> list[int]:
    """The tokens by which a text can grow towards one of some strings, found by trying all."""
    rest = [s[len(written) :] for s in strings if s.startswith(written)]
    texts = {n: engine.tokenizer.decode([n]) for n in range(5, len(engine.tokenizer))}
    return [n for n, text in texts.items() if text and any(r.startswith(text) for r in rest)]


def test_masked_logprobs_are_renormalised_over_what_the_grammar_allows(engine: Any) -> None:
    (made,) = engine.generate([Request("A?", 10, LETTERS)])
    strings = [json.dumps(text) for text in LETTERS["enum"]]
    assert made.text in strings
    plain = forward(engine, "A?", made.token_ids)
    written = ""
    for row, token in zip(plain, made.tokens, strict=True):
        allowed = spellings(engine, strings, written)
        expected = row - row[allowed].logsumexp(-1)
        best = sorted(allowed, key=lambda n: -row[n].item())[:4]
        assert [other.id for other in token.top] == best
        assert [other.logprob for other in token.top] == pytest.approx(
            expected[best].tolist(), abs=1e-4
        )
        assert token.id == best[0]
        written += token.text


def test_raw_logprobs_are_the_models_own(tiny: Path, engine: Any) -> None:
    raw = load_engine("transformers", str(tiny), Options("cpu", masked_logprobs=False))
    (made,) = raw.generate([Request("A?", 10, LETTERS)])
    (masked,) = engine.generate([Request("A?", 10, LETTERS)])
    assert made.token_ids == masked.token_ids
    plain = forward(engine, "A?", made.token_ids)
    for row, token in zip(plain, made.tokens, strict=True):
        assert token.logprob == pytest.approx(row[token.id].item(), abs=1e-4)
        assert [other.id for other in token.top] == row.topk(4).indices.tolist()
    assert made.logprob < masked.logprob


def test_agrees_with_the_librarys_own_generation(engine: Any) -> None:
    from symbouq.evidence.generation.grammar import GrammarProcessor

    (made,) = engine.generate([structured(MESSAGES[0])])
    prompt = torch.tensor([engine.chat.ids(MESSAGES[0])])
    grammar = GrammarProcessor([engine._grammars.matcher(SCHEMA)], engine._ends)
    output = engine.network.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        logits_processor=[grammar],
        do_sample=False,
        max_new_tokens=LONGEST + 1,
    )
    assert output[0, prompt.shape[1] :].tolist() == [*made.token_ids, engine._ends[0]]


def test_greedy_texts_do_not_depend_on_the_batch(tiny: Path, engine: Any) -> None:
    requests = [structured(message) for message in MESSAGES]
    together = engine.generate(requests)
    for size in (1, 2, 3):
        apart = load_engine("transformers", str(tiny), Options("cpu", batch_size=size))
        for one, other in zip(together, apart.generate(requests), strict=True):
            assert one.text == other.text
            assert [t.logprob for t in one.tokens] == pytest.approx(
                [t.logprob for t in other.tokens], abs=1e-4
            )


def test_what_prompts_begin_with_is_read_once(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[int, int]] = []
    forward = type(engine.network).forward

    def counted(network: Any, *args: Any, input_ids: Any, **kwargs: Any) -> Any:
        read.append(tuple(input_ids.shape))
        return forward(network, *args, input_ids=input_ids, **kwargs)

    monkeypatch.setattr(type(engine.network), "forward", counted)
    first, second = (engine.chat.ids(message) for message in MESSAGES[:2])
    alike = next(n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    assert alike > 1
    engine.generate([structured(message) for message in MESSAGES[:2]])
    assert read[0] == (1, alike)
    assert read[1] == (2, max(len(first), len(second)) - alike)


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("mistral", {"sliding_window": 12}),
        ("gemma2", {"sliding_window": 12, "head_dim": 32, "query_pre_attn_scalar": 32}),
        ("gemma2", {"sliding_window": 900, "head_dim": 32, "query_pre_attn_scalar": 32}),
        ("qwen3", {"head_dim": 32}),
    ],
)
def test_the_other_families(tmp_path: Path, family: str, settings: dict[str, Any]) -> None:
    """Their caches differ; texts longer than the sliding window, and shorter ones that share what
    their prompts begin with, show whether they are right.
    """
    from helpers.tiny_model import tiny_model

    folder = tiny_model(tmp_path, family=family, **settings)
    other = load_engine("transformers", str(folder), Options("cpu"))
    assert other.network.config.model_type == family
    requests = [Request(message, 40, SCHEMA) for message in MESSAGES]
    for request, made in zip(requests, other.generate(requests), strict=True):
        assert len(made.tokens) > 12
        plain = forward(other, request.message, made.token_ids)
        for row, token in zip(plain, made.tokens, strict=True):
            allowed = [other.id for other in token.top]
            expected = row[allowed] - row[allowed[0]]
            got = [other.logprob - token.top[0].logprob for other in token.top]
            assert got == pytest.approx(expected.tolist(), abs=1e-3)
        (alone,) = other.generate([request])
        assert alone.text == made.text


def test_samples_depend_on_their_seed_alone(engine: Any) -> None:
    requests = [structured(message, seed, 1.0) for message in MESSAGES for seed in range(3)]
    together = [made.text for made in engine.generate(requests)]
    assert [made.text for made in engine.generate(requests[::-1])] == together[::-1]
    assert [engine.generate([request])[0].text for request in requests] == together
    assert len(set(together)) == len(together)


@pytest.mark.parametrize("temperature", [1.0, 0.5, 2.0])
def test_samples_follow_the_models_distribution(engine: Any, temperature: float) -> None:
    count = 2000
    draws = engine.generate([Request("A?", 1, None, temperature, seed) for seed in range(count)])
    prompt = torch.tensor([engine.chat.ids("A?")])
    with torch.no_grad():
        expected = (engine.network(prompt).logits[0, -1] / temperature).softmax(-1)
    drawn = [made.token_ids[0] if made.tokens else engine._ends[0] for made in draws]
    for token in expected.topk(3).indices.tolist():
        p = expected[token].item()
        error = math.sqrt(p * (1 - p) / count)
        assert drawn.count(token) / count == pytest.approx(p, abs=4 * error)
    # What is recorded is the model's distribution, not the one drawn from.
    plain = engine.network(prompt).logits[0, -1].log_softmax(-1)
    assert draws[0].tokens[0].logprob == pytest.approx(plain[drawn[0]].item(), abs=1e-4)


def test_every_constrained_text_is_valid(engine: Any) -> None:
    requests = [structured(f"Where is {n}?", n, float(n % 2)) for n in range(50)]
    made = engine.generate(requests)
    assert all(one.finish == "stop" for one in made)
    read = [Structured.of(one.text) for one in made]
    assert None not in read
    # Written as the contract writes it, so that no whitespace is left to choice.
    assert [one.encoded() for one in read if one] == [one.text for one in made]


@pytest.mark.slow
def test_a_thousand_constrained_texts_are_valid(tiny: Path) -> None:
    engine = load_engine("transformers", str(tiny), Options("cpu", batch_size=128))
    requests = [structured(f"Where is {n % 100}?", n, (1.0, 2.0)[n % 2]) for n in range(1000)]
    made = engine.generate(requests)
    assert sum(Structured.of(one.text) is not None for one in made) == 1000
    assert {one.finish for one in made} == {"stop"}


def test_constrained_and_free_texts_in_one_batch(engine: Any) -> None:
    requests = [structured("A?"), Request("A?", 20), Request("B?", 10, LETTERS)]
    together = engine.generate(requests)
    assert [made.text for made in together] == [
        engine.generate([request])[0].text for request in requests
    ]


def test_a_text_that_is_cut(engine: Any) -> None:
    (made,) = engine.generate([Request("A?", 5, SCHEMA)])
    assert made.finish == "length"
    assert len(made.tokens) == 5
    assert '{"reasoning": ["'.startswith(made.text[:16])


def test_prompt_and_text_share_the_models_context(tiny: Path, engine: Any) -> None:
    from helpers.tiny_model import CONTEXT

    long = "x " * CONTEXT
    short, failed = engine.generate([Request("A?", 5), Request(long, 5)])
    assert short.finish == "length"
    assert (failed.finish, failed.text, failed.tokens) == ("failed", "", ())
    assert f"the model's context is {CONTEXT}" in failed.error
    tight = "x" * 1
    while len(engine.chat.ids(tight)) < CONTEXT - 2:
        tight += " z"
    (made,) = engine.generate([Request(tight, 5)])
    assert len(made.tokens) == CONTEXT - made.prompt_tokens <= 2


class TestOutOfMemory:
    """A batch too large is halved, and what was right stays right."""

    @pytest.mark.parametrize(
        "error",
        [
            torch.OutOfMemoryError("CUDA out of memory"),
            RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9"),
            MemoryError(),
        ],
    )
    def test_smaller_batches(
        self, tiny: Path, engine: Any, monkeypatch: pytest.MonkeyPatch, error: Exception
    ) -> None:
        requests = [structured(message, 3, 1.0) for message in MESSAGES]
        expected = [made.text for made in engine.generate(requests)]
        small = load_engine("transformers", str(tiny), Options("cpu"))
        sizes = self.limit(monkeypatch, small, 2, error)
        assert [made.text for made in small.generate(requests)] == expected
        assert max(sizes) == 5
        del sizes[:]
        assert [made.text for made in small.generate(requests)] == expected
        assert max(sizes) == 2  # it has learnt

    def test_one_that_does_not_fit_alone(self, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        small = load_engine("transformers", str(tiny), Options("cpu"))
        self.limit(monkeypatch, small, 0, torch.OutOfMemoryError("no room"))
        made = small.generate([structured("A?"), structured("B?")])
        assert [one.finish for one in made] == ["failed", "failed"]
        assert made[0].error == "out of memory: OutOfMemoryError: no room"

    def test_other_errors_are_not_taken_for_it(
        self, tiny: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        small = load_engine("transformers", str(tiny), Options("cpu"))
        self.limit(monkeypatch, small, 0, RuntimeError("shapes differ"))
        with pytest.raises(RuntimeError, match="shapes differ"):
            small.generate([structured("A?")])

    @staticmethod
    def limit(
        monkeypatch: pytest.MonkeyPatch, engine: Any, most: int, error: Exception
    ) -> list[int]:
        """Lets a model fail on more rows than some; gives the sizes that it is called with."""
        sizes: list[int] = []
        forward = engine.network.forward

        def limited(*args: Any, **options: Any) -> Any:
            rows = options["input_ids"].shape[0]
            sizes.append(rows)
            if rows > most:
                raise error
            return forward(*args, **options)

        monkeypatch.setattr(engine.network, "forward", limited)
        return sizes


class TestLoading:
    def test_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(SymboUQError, match=r"there is no model at .*nowhere"):
            load_engine("transformers", str(tmp_path / "nowhere"))

    @pytest.mark.parametrize("error", [OSError("offline"), ValueError("no such repository")])
    def test_hub_id_that_cannot_be_fetched(
        self, monkeypatch: pytest.MonkeyPatch, error: Exception
    ) -> None:
        import huggingface_hub

        def fail(*args: Any, **options: Any) -> str:
            raise error

        monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
        with pytest.raises(SymboUQError, match=rf"owner/name.*cannot be fetched.*{error}"):
            load_engine("transformers", "owner/name")

    def test_hub_id(self, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import huggingface_hub

        asked = []

        def snapshot(name: str, revision: str | None, **_: Any) -> str:
            asked.append((name, revision))
            return str(tiny)

        monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
        loaded = load_engine("transformers", "owner/name", Options("cpu"))
        assert loaded.model.name == "owner/name"
        assert loaded.model.folder == tiny
        pinned = load_engine("transformers", "owner/name@12ab", Options("cpu"))
        assert asked == [("owner/name", None), ("owner/name", "12ab")]
        assert pinned.model.name == "owner/name"
        # The hub's library calls the folder of a snapshot as the commit.
        assert run_settings(pinned, Settings())["revision"] == tiny.name

    def test_no_models_folder(self, tmp_path: Path) -> None:
        with pytest.raises(SymboUQError, match=r"no model's folder: it has no config\.json"):
            load_engine("transformers", str(tmp_path))

    def test_broken_weights(self, tiny: Path, tmp_path: Path) -> None:
        for file in tiny.iterdir():
            (tmp_path / file.name).write_bytes(file.read_bytes())
        (tmp_path / "model.safetensors").write_bytes(b"broken")
        with pytest.raises(SymboUQError, match="the model cannot be loaded"):
            load_engine("transformers", str(tmp_path), Options("cpu"))

    def test_no_tokenizer(self, tiny: Path, tmp_path: Path) -> None:
        for name in ("config.json", "model.safetensors"):
            (tmp_path / name).write_bytes((tiny / name).read_bytes())
        with pytest.raises(SymboUQError, match="the tokenizer cannot be loaded"):
            load_engine("transformers", str(tmp_path), Options("cpu"))

    def test_no_chat_template(self, tmp_path: Path) -> None:
        from helpers.tiny_model import tiny_model

        with pytest.raises(SymboUQError, match="no chat template"):
            load_engine("transformers", str(tiny_model(tmp_path, template=None)))

    def test_no_such_device(self, tiny: Path) -> None:
        with pytest.raises(SymboUQError, match="there is no device nonsense here"):
            load_engine("transformers", str(tiny), Options("nonsense"))

    def test_schema_that_cannot_be_compiled(self, engine: Any) -> None:
        with pytest.raises(SymboUQError, match="the schema cannot be compiled"):
            engine.generate([Request("A?", 5, {"type": "nonsense"})])

    def test_dtype(self, tiny: Path, engine: Any) -> None:
        assert engine.dtype == "float32"
        half = load_engine("transformers", str(tiny), Options("cpu", dtype="bfloat16"))
        assert half.dtype == "bfloat16"
        (made,) = half.generate([structured("A?")])
        assert Structured.of(made.text)

    def test_hash_is_of_the_files(self, tiny: Path, tmp_path: Path) -> None:
        from symbouq.evidence.generation.models import find_model

        for file in tiny.iterdir():
            (tmp_path / file.name).write_bytes(file.read_bytes())
        assert find_model(str(tmp_path)).hash == find_model(str(tiny)).hash
        (tmp_path / "config.json").write_text("{}")
        assert find_model(str(tmp_path)).hash != find_model(str(tiny)).hash
