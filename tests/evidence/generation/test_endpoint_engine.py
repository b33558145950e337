from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.chat_server import chat_server, completion
from helpers.commands import read_lines, run, write_lines

from symbouq.errors import SymboUQError
from symbouq.evidence.contract import SCHEMA
from symbouq.evidence.generation.endpoint_engine import EndpointEngine
from symbouq.evidence.generation.engine import Alternative, Completion, Options, Request, Token

TEXT = '{"reasoning": ["A is left of B"], "conclusion": "left"}'


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SYMBOUQ_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def generated(answer: Callable[[dict[str, Any]], Any], *requests: Request) -> list[Completion]:
    with chat_server(answer) as server:
        return EndpointEngine(server.url, "m", Options(batch_size=1)).generate(requests)


def with_tokens(text: str, *tokens: tuple[str, float]) -> dict[str, Any]:
    body = completion(text)
    body["choices"][0]["logprobs"] = {
        "content": [
            {"token": token, "logprob": value, "top_logprobs": [{"token": "x", "logprob": -3.0}]}
            for token, value in tokens
        ]
    }
    return body


def test_a_request_is_sent_with_its_settings() -> None:
    asked = []

    def answer(body: dict[str, Any]) -> str:
        asked.append(body)
        return TEXT

    (made,) = generated(answer, Request("Where?", 9, SCHEMA, 0.5, 7))
    assert (made.text, made.finish, made.prompt_tokens, made.length) == (TEXT, "stop", 100, 10)
    (body,) = asked
    assert body["messages"] == [{"role": "user", "content": "Where?"}]
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.5, 7, 9)
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert (body["logprobs"], body["top_logprobs"]) == (True, 4)


@pytest.mark.parametrize("ending", [(), (("<|end|>", -0.1),)])
def test_log_probabilities_of_the_text_are_kept(ending: tuple[tuple[str, float], ...]) -> None:
    told = with_tokens("left", ("le", -0.5), ("ft", -0.25), *ending)
    (made,) = generated(lambda body: told, Request("Where?", 9))
    best = (Alternative(None, "x", -3.0),)
    assert made.tokens == (Token(None, "le", -0.5, best), Token(None, "ft", -0.25, best))
    assert (made.logprob, made.length, made.token_ids) == (-0.75, 2, [])


@pytest.mark.parametrize(
    "told",
    [
        completion("left"),
        with_tokens("left", ("le", -0.5)),
        with_tokens("left", ("le", "much"), ("ft", -0.25)),  # type: ignore[arg-type]
        with_tokens("left", (None, -0.5), ("ft", -0.25)),  # type: ignore[arg-type]
    ],
)
def test_without_the_tokens_of_the_text_its_probability_is_not_told(told: dict[str, Any]) -> None:
    (made,) = generated(lambda body: told, Request("Where?", 9))
    assert (made.tokens, made.logprob, made.length) == ((), None, 10)


@pytest.mark.parametrize(
    "said",
    [f"```json\n{TEXT}\n```", f"Sure! {TEXT} Anything else?", f"<think>{{hm</think>\n{TEXT}"],
)
def test_the_object_counts_whatever_stands_around_it(said: str) -> None:
    (made,) = generated(lambda body: with_tokens(said, (said, -1.0)), Request("Where?", 9, SCHEMA))
    assert (made.text, made.tokens) == (TEXT, ())


def test_an_object_that_is_no_trace_comes_before_one() -> None:
    said = f'The form is {{"reasoning": []}}, so: {TEXT}'
    (made,) = generated(lambda body: said, Request("Where?", 9, SCHEMA))
    assert made.text == TEXT
    (none,) = generated(lambda body: '{"a": 1}', Request("Where?", 9, SCHEMA))
    assert none.text == '{"a": 1}'


def test_half_an_emoji_ends_no_run(tmp_path: Path) -> None:
    given = write_lines(tmp_path / "in.jsonl", {"id": "a", "scene": "A is left of B."})
    cut = with_tokens("left \ud83d", ("left \ud83d", -1.0))
    with chat_server(lambda body: cut) as server:
        arguments = ("--endpoint", server.url, "--model", "m", "--free-form", "--samples", 0)
        done = run("generate", given, *arguments, "--out", tmp_path / "out.jsonl")
    assert done.exit_code == 0, done.stderr
    (record,) = read_lines(tmp_path / "out.jsonl")
    assert record["response"] == record["tokens"][0]["text"] == "left ?"
    assert "10 tokens" not in done.stderr and "1 tokens" in done.stderr


def test_thoughts_that_were_cut_are_no_answer() -> None:
    cut = completion(f"<think>I might say {TEXT}", "length")
    (made,) = generated(lambda body: cut, Request("Where?", 9, SCHEMA))
    assert (made.text, made.finish) == ("", "length")


def test_what_a_server_refuses_is_left_out() -> None:
    asked = []

    def answer(body: dict[str, Any]) -> Any:
        asked.append(body)
        for name in ("top_logprobs", "response_format", "logprobs"):
            if name in body:
                return (400, f"{name} is not supported")
        return TEXT

    first, second = generated(answer, *[Request("Where?", 9, SCHEMA)] * 2)
    assert first.text == second.text == TEXT
    assert len(asked) == 5  # three refusals, which are learnt, and two answers


def test_what_is_not_answered_fails_alone() -> None:
    said = ["left", (422, "this prompt is too long"), completion("righ", "length")]
    first, second, third = generated(
        lambda body: said.pop(0), *[Request(text, 9) for text in ("a", "b", "c")]
    )
    assert (first.text, third.text, third.finish) == ("left", "righ", "length")
    assert second.finish == "failed" and "too long" in second.error


def test_what_may_pass_ends_the_run_and_is_asked_again_later(tmp_path: Path) -> None:
    question = {"id": "a", "scene": "A is left of B.", "question": "Where is A?"}
    given = write_lines(tmp_path / "in.jsonl", question)
    answers: list[Any] = [(500, "oops")] * 9
    with chat_server(lambda body: answers.pop(0) if answers else TEXT) as server:
        arguments = (given, "--endpoint", server.url, "--model", "m", "--samples", 0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("symbouq.io.endpoint._Retry.sleep", lambda *_: None)
            first = run("generate", *arguments, "--out", tmp_path / "out.jsonl")
            answers.clear()
            second = run("generate", *arguments, "--out", tmp_path / "out.jsonl")
    assert (first.exit_code, second.exit_code) == (2, 0)
    assert second.stderr.startswith("1 valid")


def test_a_wrong_key_ends_the_run() -> None:
    with pytest.raises(SymboUQError, match="SYMBOUQ_API_KEY"):
        generated(lambda body: (401, "who are you?"), Request("Where?", 9))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (Options(device="cpu", dtype="float32"), "--device, --dtype"),
        (Options(masked_logprobs=False), "--raw-logprobs"),
    ],
)
def test_settings_of_local_models_are_refused(options: Options, named: str) -> None:
    with pytest.raises(SymboUQError, match=f"{named}: a setting of local models"):
        EndpointEngine("http://localhost:1/v1", "m", options)


def test_traces_are_generated_by_a_server(tmp_path: Path) -> None:
    question = {"scene": "A is left of B.", "question": "Where is A?", "answer_space": ["left"]}
    given = write_lines(tmp_path / "in.jsonl", *({"id": n, **question} for n in "ab"))
    with chat_server(lambda body: with_tokens(TEXT, (TEXT, -0.5))) as server:
        out = tmp_path / "out.jsonl"
        arguments = (given, "--endpoint", server.url, "--model", "m", "--out", out)
        result = run("generate", *arguments, "--samples", 1)
    assert result.exit_code == 0, result.stderr
    assert result.stderr.startswith("2 valid, ")
    first, second = read_lines(out)
    assert (first["id"], second["id"]) == ("a", "b")
    assert first["conclusion"] == "left" and first["tokens"][0]["logprob"] == -0.5
    assert first["samples"][0]["logprob"] == -0.5
    generation = first["generation"]
    assert (generation["engine"], generation["endpoint"], generation["model"]) == (
        "endpoint",
        f"{server.url}/chat/completions",
        "m",
    )
    assert json.dumps(generation["token_ids"]) == "[]"
