from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from helpers.commands import write_lines

from symbouq.evidence.contract import LONGEST, SCHEMA, STRUCTURED
from symbouq.evidence.generation.engine import (
    Alternative,
    Completion,
    Options,
    Request,
    Token,
)
from symbouq.evidence.generation.engines import load_engine
from symbouq.evidence.generation.run import (
    Generator,
    Settings,
    generate,
    generate_on_ray,
    read_instances,
    requests_of,
    run_settings,
    status_of,
    trace_of,
)
from symbouq.io.stream import Line, read_lines
from symbouq.records import Instance, Trace, parse_record

DIRECTIONS = [
    "left", "right", "above", "below", "upper-left", "upper-right", "lower-left", "lower-right",
    "overlap",
]  # fmt: skip
TEXT = '{"reasoning": ["A is left of B"], "conclusion": "left"}'


def instance(name: str = "one", **fields: Any) -> Instance:
    given = {"scene": "A is left of B.", "question": "Where is A from B?", **fields}
    return Instance.model_validate({"id": name, "answer_space": DIRECTIONS, **given})


def completion(text: str, finish: Any = "stop", error: str = "") -> Completion:
    best = (Alternative(7, text, -0.25), Alternative(8, "b", -1.5))
    tokens = (Token(7, text, -0.25, best), Token(9, "", -1e-9, ()))
    return Completion(text, () if error else tokens, finish, 12, error)


def write(path: Path, count: int) -> Path:
    scene = ["A is left of B.", "B is above C."]
    lines = [
        {"id": f"q{n}", "scene": scene[: 1 + n % 2], "question": f"Where is A from {n}?"}
        for n in range(count)
    ]
    return write_lines(path, *lines)


@pytest.mark.parametrize(
    ("text", "finish", "free_form", "expected"),
    [
        (TEXT, "stop", False, "valid"),
        (TEXT, "length", False, "valid"),  # whole, though its end was not generated
        (TEXT[:-1], "length", False, "truncated"),
        (TEXT[:-1], "stop", False, "invalid"),
        ('{"reasoning": [], "conclusion": "left"}', "stop", False, "invalid"),
        ("", "failed", False, "failed"),
        ("A is left.", "stop", True, "valid"),
        ("A is", "length", True, "truncated"),
        (" \n", "stop", True, "invalid"),
        ("", "failed", True, "failed"),
    ],
)
def test_status(text: str, finish: Any, free_form: bool, expected: str) -> None:
    assert status_of(completion(text, finish), free_form) == expected


def test_a_trace_says_that_it_copied_the_instruction(engine: Any) -> None:
    placeholders = '{"reasoning": ["atomic spatial step", "..."], "conclusion": "final answer"}'
    decided = run_settings(engine, Settings(samples=0))
    for text, expected in ((placeholders, True), (TEXT, None)):
        written = trace_of(instance(), [completion(text, "stop")], engine, decided)["generation"]
        assert (written["status"], written.get("copied")) == ("valid", expected)


def test_requests(engine: Any) -> None:
    trace, *samples = requests_of(instance(), Settings(samples=3, temperature=0.7, seed=5))
    assert trace.message.endswith(STRUCTURED)
    assert "overlap" in trace.message
    assert (trace.temperature, trace.schema, trace.max_tokens) == (0.0, SCHEMA, LONGEST + 1)
    assert [sample.temperature for sample in samples] == [0.7] * 3
    other_run = requests_of(instance(), Settings(samples=3, seed=6))
    other_instance = requests_of(instance("two"), Settings(samples=3, seed=5))
    fewer = requests_of(instance(), Settings(samples=2, seed=5))
    seeds = [
        request.seed for made in (samples, other_run[1:], other_instance[1:]) for request in made
    ]
    assert len(set(seeds)) == 9
    assert [request.seed for request in fewer[1:]] == seeds[:2]
    assert all(0 <= seed < 1 << 63 for seed in seeds)
    free = requests_of(instance(), Settings(samples=0, free_form=True, max_tokens=9))
    assert [(request.schema, request.max_tokens) for request in free] == [(None, 9)]


def test_trace_record(engine: Any) -> None:
    given = instance(answer="left", dataset="stepgame", tokens="not ours", meta={"hops": 1})
    decided = run_settings(engine, Settings(samples=2))
    made = [completion(TEXT), completion(TEXT[:-1], "length"), completion("", "failed", "no room")]
    record = trace_of(given, made, engine, decided)
    assert next(iter(record)) == "id"
    shared = {name: record[name] for name in ("scene", "question", "answer", "dataset", "meta")}
    assert shared == {
        "scene": "A is left of B.",
        "question": "Where is A from B?",
        "answer": "left",
        "dataset": "stepgame",
        "meta": {"hops": 1},
    }
    assert record["answer_space"] == DIRECTIONS
    assert record["model"] == "tiny"
    assert record["reasoning"] == ["A is left of B"]
    assert record["conclusion"] == "left"
    assert record["response"] == TEXT
    assert record["tokens"] == [
        {
            "text": TEXT,
            "logprob": -0.25,
            "top": [{"text": TEXT, "logprob": -0.25}, {"text": "b", "logprob": -1.5}],
        },
        {"text": "", "logprob": 0.0},
    ]
    assert record["samples"] == [
        {"response": TEXT[:-1], "status": "truncated", "logprob": -0.25, "length": 2},
        {"response": "", "status": "failed", "logprob": 0.0, "length": 0},
    ]
    generation = record["generation"]
    assert {name: generation[name] for name in decided} == decided
    assert generation["token_ids"] == [7, 9]
    assert generation["prompt_tokens"] == 12
    assert generation["status"] == "valid"
    assert "error" not in generation
    trace = parse_record(Trace, json.dumps(record).encode(), "f", 1)
    assert trace.conclusion == "left"


@pytest.mark.parametrize(
    ("text", "finish", "error", "status"),
    [
        (TEXT[:30], "length", "", "truncated"),
        ("{}", "stop", "", "invalid"),
        ("", "failed", "out of memory", "failed"),
    ],
)
def test_what_is_no_trace_is_recorded(
    engine: Any, text: str, finish: Any, error: str, status: str
) -> None:
    decided = run_settings(engine, Settings(samples=0))
    record = trace_of(instance(), [completion(text, finish, error)], engine, decided)
    assert record["generation"]["status"] == status
    assert record["generation"].get("error", "") == error
    assert record["response"] == text
    assert "reasoning" not in record and "conclusion" not in record
    assert parse_record(Trace, json.dumps(record).encode(), "f", 1).response == text


def test_settings_say_everything_that_decides(tiny: Path, engine: Any, tmp_path: Path) -> None:
    from helpers.tiny_model import tiny_model

    base = run_settings(engine, Settings())
    hashes = {base["settings"]}
    for settings in (
        Settings(samples=1),
        Settings(temperature=0.5),
        Settings(seed=1),
        Settings(free_form=True, max_tokens=LONGEST + 1),
        Settings(max_tokens=9),
    ):
        hashes.add(run_settings(engine, settings)["settings"])
    template = tmp_path / "chat.jinja"
    template.write_text("{{ messages[0].content }}")
    for options in (
        Options("cpu", dtype="bfloat16"),
        Options("cpu", masked_logprobs=False),
        Options("cpu", chat_template=str(template)),
    ):
        other = load_engine("transformers", str(tiny), options)
        hashes.add(run_settings(other, Settings())["settings"])
    other = load_engine("transformers", str(tiny_model(tmp_path / "m", seed=1)), Options("cpu"))
    hashes.add(run_settings(other, Settings())["settings"])
    assert len(hashes) == 10
    # What only says how fast it goes decides nothing.
    same = load_engine("transformers", str(tiny), Options("cpu", batch_size=3))
    assert run_settings(same, Settings())["settings"] == base["settings"]


def test_instances(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(
        '{"id": "a", "scene": "A is left of B."}\n'
        '{"id": "b", "scene_relations": [["a", "left", "b"]]}\n'
        '{"id": "a", "scene": "C is left of B."}\n'
        "nonsense\n"
        '{"id": "c", "scene": "A is left of B."}\n'
    )
    instances, failed = read_instances([str(path)])
    assert [one.id for one in instances] == ["a", "c"]
    assert [error.line for error in failed] == [2, 3, 4]
    assert "needs `scene` in text" in failed[0].message
    assert "occurs before" in failed[1].message
    instances, failed = read_instances([str(path)], limit=1)
    assert [one.id for one in instances] == ["a"]
    assert not failed


SETTINGS = Settings(samples=1, max_tokens=60)


@pytest.fixture(scope="module")
def small(tiny: Path) -> Any:
    """An engine that takes two instances with a sample each at a time."""
    return load_engine("transformers", str(tiny), Options("cpu", batch_size=4))


@pytest.fixture(scope="module")
def whole(small: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Instance], bytes]:
    """Seven instances, and the file of a run that was not stopped."""
    folder = tmp_path_factory.mktemp("runs")
    instances, _ = read_instances([str(write(folder / "in.jsonl", 7))])
    out = folder / "whole.jsonl"
    *_, progress = generate(instances, Generator(small, SETTINGS), out)
    assert progress.done == progress.total == progress.statuses.total() == 7
    assert progress.speed > 0
    return instances, out.read_bytes()


def test_a_file_of_traces(whole: tuple[list[Instance], bytes], tmp_path: Path) -> None:
    instances, content = whole
    records = [json.loads(line) for line in content.splitlines()]
    assert [record["id"] for record in records] == [one.id for one in instances]
    path = tmp_path / "traces.jsonl"
    path.write_bytes(content)
    # Our own commands take the lines as they stand.
    lines = list(read_lines(str(path)))
    assert [line.content for line in lines if isinstance(line, Line)] == content.splitlines(True)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.35, 0.5, 0.77, 0.999, 1.0])
def test_a_killed_run_continues(
    whole: tuple[list[Instance], bytes], small: Any, tmp_path: Path, share: float
) -> None:
    instances, content = whole
    out = tmp_path / "out.jsonl"
    out.write_bytes(content[: int(share * len(content))])
    list(generate(instances, Generator(small, SETTINGS), out))
    assert out.read_bytes() == content


def test_a_run_continues_where_lines_end(
    whole: tuple[list[Instance], bytes], small: Any, tmp_path: Path
) -> None:
    instances, content = whole
    lines = content.splitlines(keepends=True)
    out = tmp_path / "out.jsonl"
    for count in (1, 2, 3, 6):
        out.write_bytes(b"".join(lines[:count]))
        first, *_ = generate(instances, Generator(small, SETTINGS), out)
        assert first.kept == count
        assert out.read_bytes() == content


def test_an_interrupted_run_keeps_what_is_finished(
    whole: tuple[list[Instance], bytes], tiny: Path, tmp_path: Path
) -> None:
    instances, content = whole
    engine = load_engine("transformers", str(tiny), Options("cpu", batch_size=4))
    calls: list[int] = []
    original = engine.generate

    def interrupted(requests: Sequence[Request]) -> list[Completion]:
        calls.append(len(requests))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(requests)

    engine.generate = interrupted  # type: ignore[method-assign]
    out = tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        list(generate(instances, Generator(engine, SETTINGS), out))
    assert out.read_bytes() == b"".join(content.splitlines(keepends=True)[:4])
    list(generate(instances, Generator(engine, SETTINGS), out))
    assert out.read_bytes() == content
    assert calls == [4, 4, 4, 4, 2]


def test_a_higher_limit_goes_on(
    whole: tuple[list[Instance], bytes], small: Any, tmp_path: Path
) -> None:
    instances, content = whole
    out = tmp_path / "out.jsonl"
    for limit in (2, 4, 7):
        list(generate(instances[:limit], Generator(small, SETTINGS), out))
    assert out.read_bytes() == content


MORTAL = """
import os, signal
from symbouq.evidence.generation.resumable import ResumableFile
append = ResumableFile.append
def mortal(*arguments):
    append(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
ResumableFile.append = mortal
"""
"""A run that is killed once it has written something."""


@pytest.mark.slow
def test_a_run_killed_by_the_system(tiny: Path, tmp_path: Path) -> None:
    given = write(tmp_path / "in.jsonl", 30)
    code = "from symbouq_cli.main import main; main()"
    options = ["--samples", "2", "--batch-size", "6", "--device", "cpu", "--out"]
    arguments = ["generate", str(given), "--model", str(tiny), *options]
    command = [sys.executable, "-c", code, *arguments]
    whole, killed = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    subprocess.run([*command, str(whole)], check=True, capture_output=True)
    died = subprocess.run([sys.executable, "-c", MORTAL + code, *arguments, str(killed)])
    assert died.returncode == -signal.SIGKILL
    assert 0 < len(killed.read_bytes()) < len(whole.read_bytes())
    subprocess.run([*command, str(killed)], check=True, capture_output=True)
    assert killed.read_bytes() == whole.read_bytes()


def _mortal(model: str, folder: str) -> Any:
    """An engine whose process is killed in its second part, once."""
    engine = load_engine("transformers", model, Options(device="cpu", batch_size=4))
    generated = engine.generate
    parts = 0

    def generate(requests: Sequence[Request]) -> list[Completion]:
        nonlocal parts
        parts += 1
        flag = Path(folder, "flag")
        if parts == 2 and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return generated(requests)

    engine.generate = generate  # type: ignore[method-assign]
    return engine


@pytest.mark.ray
@pytest.mark.slow
def test_a_killed_worker_of_a_cluster_loses_nothing(
    nodes: None, tiny: Path, tmp_path: Path
) -> None:
    instances, _ = read_instances([str(write(tmp_path / "in.jsonl", 14))])
    settings = Settings(samples=1)
    engine = load_engine("transformers", str(tiny), Options(device="cpu", batch_size=4))
    *_, alone = generate(instances, Generator(engine, settings), tmp_path / "alone.jsonl")

    out = tmp_path / "out.jsonl"
    list(generate(instances[:2], Generator(engine, settings), out))  # continued by the cluster
    load = partial(_mortal, str(tiny), str(tmp_path))
    done = [step.done for step in generate_on_ray(instances, load, settings, out, workers=2)]
    assert (tmp_path / "flag").exists()
    assert done == [2, 4, 6, 8, 10, 12, 14]
    assert alone.done == 14
    assert out.read_bytes() == (tmp_path / "alone.jsonl").read_bytes()
    *_, again = generate_on_ray(instances, load, settings, out, workers=2)
    assert (again.kept, again.tokens) == (14, 0)


def test_vllm_reads_once_more_what_is_scored_and_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of vLLM stands what says how many prompts it was given, and for what."""
    given: list[tuple[int, bool]] = []

    class Parameters(dict[str, Any]):
        def __init__(self, **settings: Any) -> None:
            super().__init__(settings)

    def made(prompts: list[Any], parameters: list[Parameters], **_: Any) -> list[Any]:
        place = SimpleNamespace(logprob=-0.5, rank=1)
        text = SimpleNamespace(token_ids=[3, 4], logprobs=[{3: place}, {4: place}])
        text.finish_reason = "length"
        again = "prompt_logprobs" in parameters[0]
        given.append((len(prompts), again))
        unmasked = [{token: SimpleNamespace(logprob=-2.5, rank=1)} for token in (1, 2, 3, 4)]
        return [SimpleNamespace(outputs=[text], prompt_logprobs=unmasked) for _ in prompts]

    constraint = ModuleType("vllm.sampling_params")
    vars(constraint)["StructuredOutputsParams"] = Parameters
    library = ModuleType("vllm")
    vars(library).update(LLM=None, SamplingParams=Parameters, TokensPrompt=dict)
    monkeypatch.setitem(sys.modules, "vllm", library)
    monkeypatch.setitem(sys.modules, "vllm.sampling_params", constraint)
    monkeypatch.delitem(sys.modules, "symbouq.evidence.generation.vllm_engine", raising=False)
    from symbouq.evidence.generation.vllm_engine import VllmEngine

    monkeypatch.delitem(sys.modules, "symbouq.evidence.generation.vllm_engine")
    engine: Any = VllmEngine.__new__(VllmEngine)
    engine.masked_logprobs, engine._context = False, 100
    engine.chat = SimpleNamespace(ids=lambda _: [1, 2])
    engine._llm = SimpleNamespace(generate=made)
    engine._reader = SimpleNamespace(
        tokens=lambda scored: tuple(Token(token, "x", value, ()) for token, value, _ in scored)
    )
    trace, *samples = engine.generate(requests_of(instance(), Settings(samples=10)))
    assert given == [(11, False), (1, True)]
    assert [token.logprob for token in trace.tokens] == [-2.5, -2.5]
    assert {token.logprob for sample in samples for token in sample.tokens} == {-0.5}
