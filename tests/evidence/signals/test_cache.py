"""The signals cache: what is written, resumed, refused, read and joined."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.commands import read_lines, write_lines
from helpers.extras import need_models

from symbouq.errors import SymboUQError, install_command
from symbouq.evidence.signals.cache import Configuration, SignalsCache, examples, shard_name
from symbouq.evidence.signals.example import TokenSignals
from symbouq.evidence.signals.forward import Forced, ForcedPass
from symbouq.evidence.signals.writer import CacheWriter, Written
from symbouq.io.hashes import file_hash

need_models()

AUDIT = {"features": {"claims": [], "trace": []}}


class Backbone:
    """A tiny model with what the cache needs of it; counts the traces that it computes."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager")
        self.forced = ForcedPass(model)
        self.computed = 0
        compute = self.forced.signals

        def counted(sequences: list[Forced]) -> list[TokenSignals]:
            self.computed += len(sequences)
            return compute(sequences)

        self.forced.signals = counted  # type: ignore[method-assign, assignment]

    def prompt(self, record: Any) -> list[int]:
        return list(self.tokenizer.encode(record["question"], add_special_tokens=False))

    def trace(self, identity: str, claims: list[str] | None, **more: Any) -> dict[str, Any]:
        """A structured trace with these claims, or one with `response`."""
        fields: dict[str, Any] = {"response": more.pop("response", "")}
        if claims is not None:
            fields = {"reasoning": claims[:-1], "conclusion": claims[-1]}
            fields["response"] = json.dumps(fields)
        ids = self.tokenizer.encode(fields["response"], add_special_tokens=False)
        generation = {"token_ids": ids, "status": more.pop("status", "valid"), "model_hash": "m"}
        return {
            "id": identity,
            "scene": "A is above B.",
            "question": f"Where is {identity}?",
            "answer": "above",
            "correct": True,
            "meta": {"answer_kind": "single", "path": ["above"]},
            **fields,
            "generation": generation,
            **more,
        }

    def write(self, traces: Path, out: Path, **changed: Any) -> Written:
        audits = changed.pop("audits", None)
        prompt = changed.pop("prompt", self.prompt)
        configuration = {
            "model": "tiny",
            "model_hash": "m",
            "layers": self.forced.layers,
            "heads": self.forced.heads,
            "width": self.forced.width,
            "lookback": "heads",
            "dtype": "float32",
            "chat_template": "t",
            "traces": file_hash(traces),
            "shard": 2,
            **changed,
        }
        self.computed = 0
        made_with = Configuration(**configuration)
        writer = CacheWriter(out, traces, made_with, self.forced, self.tokenizer, prompt)
        return writer.write(audits)


@pytest.fixture(scope="module")
def backbone(tiny: Path) -> Backbone:
    return Backbone(tiny)


Lines = Callable[..., Path]


@pytest.fixture
def lines(tmp_path: Path) -> Lines:
    return lambda *records, name="traces.jsonl": write_lines(tmp_path / name, *records)


@pytest.fixture
def five(backbone: Backbone, lines: Lines) -> Path:
    """Five traces of different lengths: shards of 2, 2 and 1."""
    return lines(*(backbone.trace(f"t{n}", ["A is above B."] * n + ["above"]) for n in range(1, 6)))


def test_signals_are_those_of_the_pass(backbone: Backbone, five: Path, tmp_path: Path) -> None:
    done = backbone.write(five, tmp_path / "out")
    assert (done.traces, done.kept, done.failed) == (5, 0, [])
    cache = SignalsCache(tmp_path / "out")
    assert list(cache.entries) == ["t1", "t2", "t3", "t4", "t5"]
    total = 0
    for record in read_lines(five):
        ids = record["generation"]["token_ids"]
        total += len(ids)
        (wanted,) = backbone.forced.signals([Forced(backbone.prompt(record), ids)])
        found = cache.signals(record["id"])
        for name, tolerance in (
            ("logprobs", 1e-5),
            ("top", 1e-5),
            ("hidden", 1e-3),
            ("lookback", 1e-3),
        ):
            array = getattr(found, name)
            assert array.dtype == np.float32
            np.testing.assert_allclose(array, getattr(wanted, name), rtol=tolerance, atol=tolerance)
        claims = [*record["reasoning"], record["conclusion"]]
        assert len(found.spans) == len(claims)
        for (start, stop), claim in zip(found.spans, claims, strict=True):
            assert claim in backbone.tokenizer.decode(ids[start:stop])
    assert done.tokens == total


def test_layout_on_disk(backbone: Backbone, five: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq
    from safetensors.numpy import load_file

    backbone.write(five, tmp_path / "out")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["index.parquet", *(shard_name(n) for n in range(3)), "signals.json"]
    rows = pq.read_table(tmp_path / "out" / "index.parquet").to_pylist()
    assert [row["shard"] for row in rows] == [0, 0, 1, 1, 2]
    assert rows[0]["start"] == 0
    assert rows[1]["start"] == rows[0]["stop"]
    assert rows[2]["start"] == 0
    assert {row["status"] for row in rows} == {"valid"}
    tensors = load_file(tmp_path / "out" / shard_name(0))
    size = rows[1]["stop"]
    shapes = {name: (array.shape, str(array.dtype)) for name, array in tensors.items()}
    assert shapes == {
        "hidden": ((size, 64), "float16"),
        "top": ((size, 4), "float32"),
        "lookback": ((size, 4), "float16"),
        "logprobs": ((size,), "float32"),
    }
    configuration = json.loads((tmp_path / "out" / "signals.json").read_text())
    assert (configuration["layers"], configuration["heads"], configuration["width"]) == (2, 2, 64)
    assert configuration["traces"] == file_hash(five)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_mapped_signals_are_the_same_numbers(
    backbone: Backbone, five: Path, tmp_path: Path
) -> None:
    backbone.write(five, tmp_path / "out")
    plain, mapped = (SignalsCache(tmp_path / "out", mapped=way) for way in (False, True))
    for name in plain.entries:
        copied, viewed = plain.signals(name), mapped.signals(name)
        for part in ("logprobs", "top", "hidden", "lookback"):
            view = getattr(viewed, part)
            assert np.array_equal(view.astype(np.float32), getattr(copied, part))
            assert not view.flags.owndata
        assert viewed.hidden.dtype == viewed.lookback.dtype == np.float16
        assert viewed.spans == copied.spans


def test_a_finished_cache_is_left_as_it_is(backbone: Backbone, five: Path, tmp_path: Path) -> None:
    backbone.write(five, tmp_path / "out")
    before = contents(tmp_path / "out")
    done = backbone.write(five, tmp_path / "out")
    assert (backbone.computed, done.kept, done.traces) == (0, 3, 5)
    assert contents(tmp_path / "out") == before


def test_a_run_that_was_stopped_before_its_index_is_completed(
    backbone: Backbone, five: Path, tmp_path: Path
) -> None:
    import pyarrow.parquet as pq

    out = tmp_path / "out"
    backbone.write(five, out)
    whole = (out / "index.parquet").read_bytes()
    rows = pq.read_table(out / "index.parquet")
    (out / "index.parquet").unlink()
    backbone.write(five, out)
    assert (backbone.computed, (out / "index.parquet").read_bytes()) == (0, whole)
    pq.write_table(rows.slice(0, 4), out / "index.parquet")  # the last shard is not in it yet
    backbone.write(five, out)
    assert (backbone.computed, (out / "index.parquet").read_bytes()) == (0, whole)


@pytest.mark.parametrize("harm", ["missing", "torn", "other"])
def test_only_a_harmed_shard_is_computed_again(
    backbone: Backbone, five: Path, tmp_path: Path, harm: str
) -> None:
    backbone.write(five, tmp_path / "out")
    before = contents(tmp_path / "out")
    shard = tmp_path / "out" / shard_name(1)
    if harm == "missing":
        shard.unlink()
    elif harm == "torn":
        shard.write_bytes(shard.read_bytes()[:-10])
    else:
        shard.write_bytes((tmp_path / "out" / shard_name(0)).read_bytes())
    if harm != "other":
        with pytest.raises(
            SymboUQError, match=r"shard-00001.safetensors is (missing|damaged).*again"
        ):
            SignalsCache(tmp_path / "out").signals("t3")
        assert len(SignalsCache(tmp_path / "out").signals("t1").logprobs)
    assert backbone.write(five, tmp_path / "out").kept == 2
    assert backbone.computed == 2
    assert contents(tmp_path / "out") == before


def full_after(monkeypatch: pytest.MonkeyPatch, writes: int) -> None:
    """Lets the disk be full after some files."""
    sync = os.fsync
    left = [writes]

    def limited(descriptor: int) -> None:
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        left[0] -= 1
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", limited)


@pytest.mark.parametrize("writes", [3, 4])
def test_a_full_disk_leaves_finished_shards(
    backbone: Backbone,
    five: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    writes: int,
) -> None:
    with monkeypatch.context() as patch:
        # signals.json, shard 0, index, then shard 1 or its index
        full_after(patch, writes)
        with pytest.raises(SymboUQError, match="No space left on device; what was finished"):
            backbone.write(five, tmp_path / "out")
    assert not [name for name in contents(tmp_path / "out") if name.endswith(".part")]
    cache = SignalsCache(tmp_path / "out")
    assert list(cache.entries) == ["t1", "t2"]
    assert len(cache.signals("t2").logprobs)
    assert backbone.write(five, tmp_path / "out").kept == writes - 2
    backbone.write(five, tmp_path / "other")
    assert contents(tmp_path / "out") == contents(tmp_path / "other")


def test_an_index_does_not_lose_later_shards_while_an_earlier_one_is_mended(
    backbone: Backbone, five: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backbone.write(five, tmp_path / "out")
    (tmp_path / "out" / shard_name(0)).unlink()
    (tmp_path / "out" / shard_name(1)).unlink()
    with monkeypatch.context() as patch:
        full_after(patch, 2)
        with pytest.raises(SymboUQError, match="No space"):
            backbone.write(five, tmp_path / "out")
    cache = SignalsCache(tmp_path / "out")
    assert len(cache.signals("t1").logprobs)
    assert len(cache.signals("t5").logprobs)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"lookback": "pooled"}, "lookback heads, now pooled"),
        ({"dtype": "bfloat16"}, "dtype float32, now bfloat16"),
        ({"model_hash": "n", "layers": 3}, "model_hash m, now n; layers 2, now 3"),
    ],
)
def test_a_cache_of_another_configuration_is_refused(
    backbone: Backbone, five: Path, tmp_path: Path, changed: dict[str, Any], told: str
) -> None:
    backbone.write(five, tmp_path / "out")
    before = contents(tmp_path / "out")
    with pytest.raises(SymboUQError, match=told):
        backbone.write(five, tmp_path / "out", **changed)
    assert contents(tmp_path / "out") == before


def test_a_cache_of_other_traces_is_refused_and_a_renamed_model_is_not(
    backbone: Backbone, five: Path, tmp_path: Path
) -> None:
    backbone.write(five, tmp_path / "out")
    backbone.write(five, tmp_path / "out", model="renamed")
    five.write_text(five.read_text() + "\n")
    with pytest.raises(SymboUQError, match=r"traces .*, now "):
        backbone.write(five, tmp_path / "out")


def test_a_trace_of_another_model_is_refused(
    backbone: Backbone, lines: Lines, tmp_path: Path
) -> None:
    trace = backbone.trace("t", ["up"])
    trace["generation"]["model_hash"] = "x"
    with pytest.raises(SymboUQError, match="trace t was generated by"):
        backbone.write(lines(trace), tmp_path / "out")


def test_traces_that_cannot_be_used_are_told_with_their_lines(
    backbone: Backbone, lines: Lines, tmp_path: Path
) -> None:
    no_tokens = backbone.trace("n", ["up"])
    del no_tokens["generation"]["token_ids"]
    other_text = backbone.trace(
        "o", ["up"], response=json.dumps({"reasoning": [], "conclusion": "down"})
    )
    other_text["response"] = "what the tokens do not say"
    other_prompt = backbone.trace("p", ["up"])
    other_prompt["generation"]["prompt_tokens"] = 99
    free = backbone.trace("f", None, response="A is up.")
    good = backbone.trace("g", ["up"])
    traces = lines(no_tokens, {"scene": ""}, other_text, other_prompt, free, good, good)
    for _ in range(2):  # and told again by a run that keeps the shards
        done = backbone.write(traces, tmp_path / "out")
        assert sorted((error.line, str(error.message)[:28]) for error in done.failed) == [
            (1, "trace n: it has no generatio"),
            (2, "a record is an object with a"),
            (3, "trace o: its tokens do not d"),
            (4, "trace p: its prompt had 99 t"),
            (5, "trace f: the audit says whic"),
            (7, "id 'g' occurs before in this"),
        ]
        assert list(SignalsCache(tmp_path / "out").entries) == ["g"]


def audit(identity: str, *claims: str) -> dict[str, Any]:
    return {"id": identity, "claims": [{"text": claim} for claim in claims], **AUDIT}


def test_free_responses_have_the_claims_of_their_audit(
    backbone: Backbone, lines: Lines, tmp_path: Path
) -> None:
    trace = backbone.trace("f", None, response="A is above B.\nSo it is above.\nAnswer: above")
    audits = lines(audit("f", "A is above B.", "So it is above.", "Answer: above"), name="a.jsonl")
    traces = lines(trace)
    assert backbone.write(traces, tmp_path / "out", audits=audits).failed == []
    (example,) = examples(traces, tmp_path / "out", audits)
    assert example.claims == ("A is above B.", "So it is above.", "Answer: above")
    assert example.signals is not None
    ids = trace["generation"]["token_ids"]
    for (start, stop), claim in zip(example.signals.spans, example.claims, strict=True):
        assert claim in backbone.tokenizer.decode(ids[start:stop])


def test_another_segmentation_makes_the_shard_anew(
    backbone: Backbone, lines: Lines, tmp_path: Path
) -> None:
    traces = lines(backbone.trace("f", None, response="A is up. Up."))
    for claims in (["A is up.", "Up."], ["A is up. Up."]):
        audits = lines(audit("f", *claims), name="a.jsonl")
        assert backbone.write(traces, tmp_path / "out", audits=audits).kept == 0
        (example,) = examples(traces, tmp_path / "out", audits)
        assert example.signals is not None
        assert len(example.signals.spans) == len(claims)


def test_outputs_that_are_not_valid_are_kept(
    backbone: Backbone, lines: Lines, tmp_path: Path
) -> None:
    torn = backbone.trace("t", None, response='{"reasoning": ["A is', status="truncated")
    failed = backbone.trace("x", None, status="failed")
    traces = lines(torn, failed)
    assert backbone.write(traces, tmp_path / "out").failed == []
    first, second = examples(traces, tmp_path / "out")
    assert (first.claims, second.claims) == (("",), ("",))
    assert first.signals is not None
    assert second.signals is not None
    assert list(first.signals.spans) == list(second.signals.spans) == [(0, 0)]
    assert len(first.signals.logprobs) == len(torn["generation"]["token_ids"]) > 0
    assert second.signals.hidden.shape == (0, 64)
    entries = SignalsCache(tmp_path / "out").entries
    assert [entry.status for entry in entries.values()] == ["truncated", "failed"]


# Joining -------------------------------------------------------------------------------


def test_examples_join_by_id_whatever_the_order(
    backbone: Backbone, five: Path, lines: Lines, tmp_path: Path
) -> None:
    backbone.write(five, tmp_path / "out")
    order = [3, 1, 5, 2, 4, 6]
    audits = [audit(f"t{n}", *["A is above B."] * n, "above") for n in order]
    found = list(examples(five, tmp_path / "out", lines(*audits, name="a.jsonl")))
    assert [example.id for example in found] == ["t1", "t2", "t3", "t4", "t5"]
    for number, example in enumerate(found, start=1):
        assert example.audit == audits[order.index(number)]
        assert len(example.claims) == number + 1
        assert example.signals is not None
        assert len(example.signals.spans) == number + 1


def test_scorers_see_no_label(backbone: Backbone, lines: Lines) -> None:
    sample = {"response": "x", "status": "valid"}
    (example,) = examples(lines(backbone.trace("t", ["up"], samples=[sample])))
    assert example.record["meta"] == {"answer_kind": "single"}
    assert not {"answer", "correct"} & example.record.keys()
    (further,) = example.samples
    assert further["question"] == "Where is t?"
    assert further["response"] == "x"
    assert not {"answer", "correct", "tokens", "generation"} & further.keys()
    assert "path" not in further["meta"]
    assert (example.signals, example.audit) == (None, None)


def test_traces_without_signals_or_audit_are_named(
    backbone: Backbone, five: Path, lines: Lines, tmp_path: Path
) -> None:
    extra = [backbone.trace(f"e{n}", ["up"]) for n in range(7)]
    more = lines(*extra, *read_lines(five), name="more.jsonl")
    backbone.write(five, tmp_path / "out")
    with pytest.raises(SymboUQError, match="no signals of traces e0, e1, e2, e3, e4 and 2 more"):
        list(examples(more, tmp_path / "out"))
    audits = lines(audit("t1", "A is above B.", "above"), name="a.jsonl")
    with pytest.raises(SymboUQError, match="no audit of traces t2, t3, t4, t5"):
        list(examples(five, tmp_path / "out", audits))


def test_an_audit_of_another_response_is_refused(five: Path, lines: Lines) -> None:
    audits = lines(audit("t1", "A is below B.", "above"), name="a.jsonl")
    with pytest.raises(SymboUQError, match=r"trace t1.*its audit"):
        next(examples(five, None, audits))


def test_signals_of_another_response_are_refused(
    backbone: Backbone, five: Path, lines: Lines, tmp_path: Path
) -> None:
    backbone.write(five, tmp_path / "out")
    with pytest.raises(SymboUQError, match="signals of trace t1 are of another response"):
        next(examples(lines(backbone.trace("t1", ["x", "y"])), tmp_path / "out"))


def test_signals_with_other_claims_than_the_audit_are_refused(
    backbone: Backbone, lines: Lines, tmp_path: Path
) -> None:
    traces = lines(backbone.trace("t", None, response="no. way", status="invalid"))
    backbone.write(traces, tmp_path / "out")
    audits = lines(audit("t", "no.", "way"), name="a.jsonl")
    with pytest.raises(SymboUQError, match="with the same --audits"):
        next(examples(traces, tmp_path / "out", audits))


def test_a_missing_package_is_told(
    five: Path, backbone: Backbone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    for use in (lambda: SignalsCache(tmp_path), lambda: backbone.write(five, tmp_path / "out")):
        with pytest.raises(SymboUQError, match=re.escape(install_command("models"))):
            use()


def test_a_folder_that_is_no_cache_is_told(tmp_path: Path) -> None:
    with pytest.raises(SymboUQError, match="no signals cache"):
        SignalsCache(tmp_path)
    (tmp_path / "signals.json").write_text("{")
    with pytest.raises(SymboUQError, match="damaged"):
        SignalsCache(tmp_path)
    (tmp_path / "signals.json").write_text('{"version": 1}')
    with pytest.raises(SymboUQError, match=r"no index.parquet; run `symbouq signals`"):
        SignalsCache(tmp_path)
    (tmp_path / "index.parquet").write_text("x")
    with pytest.raises(SymboUQError, match=r"index.parquet is damaged"):
        SignalsCache(tmp_path)
    (tmp_path / "signals.json").write_text('{"version": 7}')
    with pytest.raises(SymboUQError, match="version 7"):
        SignalsCache(tmp_path)
