"""Chat completions, alone and joined with the requests of their batch."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from helpers.writers import (
    TRACES,
    array,
    batch_output,
    batch_request,
    completion,
    faults,
    good,
    lines,
    messages,
)

from symbouq.io.adapters.inputs import ReadOptions


def joined(
    folder: Path, *outputs: object, requests: list[object] | None = None
) -> tuple[str, ReadOptions]:
    given = list(map(batch_request, TRACES)) if requests is None else requests
    path = lines(folder / "requests.jsonl", *given)
    return lines(folder / "output.jsonl", *outputs), ReadOptions(batch_input=path)


def test_joined_in_any_order(tmp_path: Path) -> None:
    order = [TRACES[2], TRACES[0], TRACES[1]]
    records = good(*joined(tmp_path, *map(batch_output, order)))
    assert [(r["id"], r["scene"], r["response"]) for r in records] == [
        (t["id"], t["scene"], t["response"]) for t in order
    ]


def test_requests_may_be_compressed_or_an_array(tmp_path: Path) -> None:
    path, reading = joined(tmp_path, *map(batch_output, TRACES))
    zipped = tmp_path / "requests.jsonl.gz"
    zipped.write_bytes(gzip.compress(Path(str(reading.batch_input)).read_bytes()))
    listed = array(tmp_path / "requests.json", *map(batch_request, TRACES))
    for requests in (str(zipped), listed):
        assert good(path, ReadOptions(batch_input=requests)) == good(path, reading)


def test_mapping_looks_into_the_request_too(tmp_path: Path) -> None:
    path, reading = joined(tmp_path, batch_output(TRACES[0]))
    mapping = (("scene", "request.body.metadata.story"), ("model", "response.body.model"))
    (record,) = good(path, ReadOptions(mapping=mapping, batch_input=reading.batch_input))
    assert (record["scene"], record["model"]) == (TRACES[0]["scene"], "gpt")


@pytest.mark.parametrize("place", ["line", "request", "body"])
def test_a_line_may_bring_its_own_messages(place: str, tmp_path: Path) -> None:
    given = messages(TRACES[0])
    row = {
        "line": {**completion(TRACES[0]), "messages": given},
        "request": {"request": {"messages": given}, "response": completion(TRACES[0])},
        "body": {"request": {"body": {"messages": given}}, "response": completion(TRACES[0])},
    }[place]
    (record,) = good(lines(tmp_path / "chat.jsonl", row))
    assert (record["id"], record["scene"]) == ("chatcmpl-1", TRACES[0]["scene"])
    assert record["model"] == "gpt"


def test_further_choices_are_samples(tmp_path: Path) -> None:
    (record,) = good(*joined(tmp_path, batch_output(TRACES[0], "left", "below")))
    assert record["samples"] == ["left", "below"]


def test_reasoning_and_refusals(tmp_path: Path) -> None:
    thought, refused = batch_output(TRACES[0]), batch_output(TRACES[1])
    message = thought["response"]["body"]["choices"][0]["message"]
    message.update(reasoning_content="The oven is above the sink.", content="Answer: above")
    refused["response"]["body"]["choices"][0]["message"].update(content=None, refusal="I cannot.")
    first, second = good(*joined(tmp_path, thought, refused))
    assert first["response"] == "<think>\nThe oven is above the sink.\n</think>\nAnswer: above"
    assert second["response"] == "I cannot."


def test_requests_that_failed(tmp_path: Path) -> None:
    expired = {**batch_output(TRACES[0]), "response": None}
    expired["error"] = {"code": "batch_expired", "message": "This request\nexpired."}
    refused = batch_output(TRACES[1])
    refused["response"] = {"status_code": 400, "body": {"error": {"message": "Bad request."}}}
    assert faults(*joined(tmp_path, expired, refused)) == [
        "output.jsonl:1: the request failed: This request expired.",
        "output.jsonl:2: the request failed: Bad request.",
    ]


def test_faults_of_the_join(tmp_path: Path) -> None:
    requests = [batch_request(TRACES[0]), batch_request(TRACES[0]), b"{", {"body": {}}]
    path, reading = joined(tmp_path, *map(batch_output, TRACES[:2]), requests=requests)
    assert faults(path, reading) == [
        "requests.jsonl:2: custom_id '1' occurs before",
        "requests.jsonl:3: not valid JSON: EOF while parsing an object at line 1 column 1",
        "requests.jsonl:4: expected a request of a batch (custom_id), found an object with body",
        f"output.jsonl:2: no request '2' in {reading.batch_input}",
    ]


def test_a_completion_without_its_prompt(tmp_path: Path) -> None:
    path = lines(tmp_path / "out.jsonl", batch_output(TRACES[0]))
    assert faults(path) == [
        "out.jsonl:1: no prompt: a completion does not hold the messages that it answers; give the "
        "batch's input by --batch-input, or --map scene=FIELD: there is an object with id, "
        "custom_id, response, error"
    ]


def test_the_input_in_place_of_the_output(tmp_path: Path) -> None:
    (fault,) = faults(lines(tmp_path / "in.jsonl", batch_request(TRACES[0])))
    assert fault.endswith("give the batch's output, and this file by --batch-input")


def test_odd_log_probabilities(tmp_path: Path) -> None:
    row = {**completion(TRACES[0]), "messages": messages(TRACES[0])}
    row["choices"][0]["logprobs"] = {"content": [7]}
    (fault,) = faults(lines(tmp_path / "chat.jsonl", row))
    assert fault == (
        "chat.jsonl:1: choices.0.logprobs.content.0: expected an object with token and logprob, "
        "found a number"
    )
    row["choices"][0]["logprobs"] = {"content": None, "refusal": None}
    assert "tokens" not in good(lines(tmp_path / "chat.jsonl", row))[0]
