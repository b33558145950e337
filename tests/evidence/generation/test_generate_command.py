from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from helpers.commands import read_lines, run, write_lines

from symbouq.errors import install_command


@pytest.fixture
def given(tmp_path: Path) -> Path:
    question = {"scene": "A is left of B.", "answer_space": ["yes", "no"]}
    lines = [{"id": f"q{n}", **question, "question": f"Is {n} left?"} for n in range(3)]
    return write_lines(tmp_path / "in.jsonl", *lines)


def generate(given: Path, model: Path, *options: str, out: str = "out.jsonl") -> Result:
    arguments = (given, "--model", model, "--out", given.parent / out)
    return run("generate", *arguments, "--device", "cpu", "--samples", 1, *options)


def records(given: Path) -> list[dict[str, Any]]:
    return read_lines(given.parent / "out.jsonl")


def test_generates_and_continues(given: Path, tiny: Path) -> None:
    result = generate(given, tiny, "--limit", "2")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert result.stderr.startswith("2 valid, ")
    assert "tokens at" in result.stderr
    assert [record["id"] for record in records(given)] == ["q0", "q1"]
    result = generate(given, tiny)
    assert result.exit_code == 0, result.stderr
    assert result.stderr.startswith("1 valid, 2 already stored, ")
    made = records(given)
    assert [record["id"] for record in made] == ["q0", "q1", "q2"]
    assert all(record["generation"]["status"] == "valid" for record in made)
    assert all(len(record["samples"]) == 1 for record in made)
    result = generate(given, tiny)
    assert result.stderr == "3 already stored\n"


def test_options_reach_the_engine(given: Path, tiny: Path, tmp_path: Path) -> None:
    template = tmp_path / "chat.jinja"
    template.write_text("{{ messages[0].content }}")
    options = {
        "--dtype": "bfloat16", "--seed": "7", "--temperature": "0.5", "--max-tokens": "9",
        "--chat-template": str(template), "--batch-size": "2",
    }  # fmt: skip
    result = generate(
        given, tiny, *(part for pair in options.items() for part in pair), "--raw-logprobs"
    )
    assert result.exit_code == 0, result.stderr
    assert result.stderr.startswith("3 truncated, ")
    generation = records(given)[0]["generation"]
    expected = {
        "engine": "transformers", "device": "cpu", "dtype": "bfloat16", "seed": 7, "samples": 1,
        "temperature": 0.5, "max_tokens": 9, "masked_logprobs": False, "free_form": False,
        "status": "truncated",
    }  # fmt: skip
    assert {name: generation[name] for name in expected} == expected
    assert len(generation["token_ids"]) == 9


def test_free_form(given: Path, tiny: Path) -> None:
    result = generate(given, tiny, "--free-form", "--max-tokens", "20")
    assert result.exit_code == 0, result.stderr
    record = records(given)[0]
    assert record["generation"]["free_form"] is True
    assert "reasoning" not in record
    assert record["response"] == "".join(token["text"] for token in record["tokens"])


def test_records_without_a_prompt(given: Path, tiny: Path) -> None:
    with given.open("a") as stream:
        stream.write('{"id": "bad", "scene_relations": [["a", "left", "b"]]}\n')
    result = generate(given, tiny)
    assert result.exit_code == 1
    assert "in.jsonl:4: record bad: a prompt needs `scene` in text" in result.stderr
    assert len(records(given)) == 3


def refused(result: Result, *messages: str) -> None:
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.splitlines()) == 1
    for message in messages:
        assert message in result.stderr


class TestRefusals:
    """One message, no traceback."""

    def test_other_settings(self, given: Path, tiny: Path) -> None:
        generate(given, tiny)
        before = (given.parent / "out.jsonl").read_bytes()
        refused(generate(given, tiny, "--seed", "1"), "other settings: seed is 0 there and 1 here;")
        assert (given.parent / "out.jsonl").read_bytes() == before

    def test_out_is_an_input(self, given: Path, tiny: Path) -> None:
        before = given.read_bytes()
        refused(generate(given, tiny, out="in.jsonl"), "in.jsonl:1: is no generated trace")
        assert given.read_bytes() == before

    def test_no_model(self, given: Path, tmp_path: Path) -> None:
        refused(generate(given, tmp_path / "missing"), "there is no model at", "missing")
        assert not (tmp_path / "out.jsonl").exists()

    def test_no_chat_template(self, given: Path, tmp_path: Path) -> None:
        from helpers.tiny_model import tiny_model

        bare = tiny_model(tmp_path / "bare", template=None)
        refused(generate(given, bare), "no chat template", "--chat-template FILE")

    def test_no_folder_to_write_to(self, given: Path, tiny: Path) -> None:
        refused(generate(given, tiny, out="missing/out.jsonl"), "cannot be written: No such file")

    @pytest.mark.parametrize(("engine", "extra"), [("transformers", "models"), ("vllm", "vllm")])
    def test_missing_extra(
        self, given: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch, engine: str, extra: str
    ) -> None:
        for package in ("llguidance", "vllm"):
            monkeypatch.setitem(sys.modules, package, None)
        for module in ("grammar", "transformers_engine", "vllm_engine"):
            monkeypatch.delitem(sys.modules, f"symbouq.evidence.generation.{module}", raising=False)
        refused(generate(given, tiny, "--engine", engine), install_command(extra))


def test_interrupted(given: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from symbouq.evidence.generation.transformers_engine import TransformersEngine

    def interrupt(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TransformersEngine, "generate", interrupt)
    result = generate(given, tiny)
    assert result.exit_code == 130
    assert "finished records are written" in result.stderr


def test_workers_are_of_a_cluster(given: Path, tiny: Path) -> None:
    for option in (("--jobs", "2"), ("--gpus", "1")):
        result = generate(given, tiny, *option)
        assert result.exit_code == 2
        assert "Error: --jobs and --gpus need --ray" in result.stderr


@pytest.mark.ray
@pytest.mark.slow
def test_on_a_cluster(given: Path, tiny: Path, nodes: None) -> None:
    refused(
        generate(given, tiny, "--ray", "--gpus", "1"), "a worker is to have 1 GPUs, and no node has"
    )
    refused(generate(given, given.parent / "missing", "--ray"), "there is no model at", "missing")
    assert not (given.parent / "out.jsonl").exists()
    options = ("--batch-size", "2")
    result = generate(given, tiny, "--ray", *options)
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("3 valid, ")
    generate(given, tiny, *options, out="alone.jsonl")
    assert (given.parent / "out.jsonl").read_bytes() == (given.parent / "alone.jsonl").read_bytes()
    refused(
        generate(given, tiny, "--ray", "--seed", "1"), "other settings: seed is 0 there and 1 here;"
    )
