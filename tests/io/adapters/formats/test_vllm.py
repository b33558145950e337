"""Dumps of vLLM's RequestOutput."""

from __future__ import annotations

from pathlib import Path

from helpers.writers import TOKENS, TRACES, faults, good, lines, vllm_output

from symbouq.io.adapters.inputs import ReadOptions


def test_further_outputs_are_samples(tmp_path: Path) -> None:
    (record,) = good(lines(tmp_path / "dump.jsonl", vllm_output(TRACES[0], "left", "below")))
    assert record["response"] == TRACES[0]["response"]
    assert record["samples"] == ["left", "below"]
    assert record["tokens"] == TOKENS


def test_without_log_probabilities(tmp_path: Path) -> None:
    row = vllm_output(TRACES[0])
    row["outputs"][0]["logprobs"] = None
    assert "tokens" not in good(lines(tmp_path / "dump.jsonl", row))[0]


def test_alternatives_that_were_not_asked_for(tmp_path: Path) -> None:
    row = vllm_output(TRACES[0])
    row["outputs"][0]["logprobs"] = [
        {"11": {"logprob": -0.25, "rank": 1, "decoded_token": "Up"}},
        {"22": {"logprob": -2.0, "rank": 2, "decoded_token": "per"}},
    ]
    (record,) = good(lines(tmp_path / "dump.jsonl", row))
    first, second = record["tokens"]
    assert first == {"text": "Up", "logprob": -0.25, "top": [{"text": "Up", "logprob": -0.25}]}
    assert second == {"text": "per", "logprob": -2.0}


def test_infinity_is_no_number(tmp_path: Path) -> None:
    row = vllm_output(TRACES[0])
    row["outputs"][0]["logprobs"][0]["12"]["logprob"] = float("-inf")
    (record,) = good(lines(tmp_path / "dump.jsonl", row))
    assert record["tokens"][0]["top"][1] == {"text": "Low", "logprob": None}


def test_faults(tmp_path: Path) -> None:
    rows = [vllm_output({**TRACES[0], "id": str(n)}) for n in range(6)]
    rows[0]["prompt"] = None
    rows[1]["outputs"][0]["text"] = 7
    rows[2]["outputs"] = 7
    rows[3]["outputs"][0]["token_ids"] = [11]
    rows[4]["outputs"][0]["token_ids"] = [11, 23]
    rows[5]["outputs"][0]["logprobs"] = {"start_indices": [0]}
    where = "dump.jsonl"
    assert faults(lines(tmp_path / where, *rows)) == [
        f"{where}:1: no scene: the record has no prompt; name its field by --map scene=FIELD: there "
        "is an object with request_id, prompt, prompt_token_ids, prompt_logprobs, outputs, finished",
        f"{where}:2: outputs: expected a text or a message, found an object with index, text, "
        "token_ids, cumulative_logprob, logprobs, finish_reason",
        f"{where}:3: outputs: expected a text or a message, found a number",
        f"{where}:4: outputs.0.logprobs: 2 positions, but 1 token_ids",
        f"{where}:5: outputs.0.logprobs.1: the chosen token 23 is not in it",
        f"{where}:6: outputs.0.logprobs: expected a list with an object from token ids to "
        "log-probabilities per token, found an object with start_indices",
    ]


def test_a_prompt_without_a_scene(tmp_path: Path) -> None:
    row = {**vllm_output(TRACES[0]), "prompt": "Where is A?"}
    path = lines(tmp_path / "dump.jsonl", row)
    assert faults(path) == [
        "dump.jsonl:1: no scene: none is found in the prompt; name its field by --map scene=FIELD "
        "or its place by --prompt-split"
    ]
    row["prompt"] = "[A is above B.] Where is A?"
    path = lines(tmp_path / "dump.jsonl", row)
    (record,) = good(path, ReadOptions(prompt_split=r"\[(?P<scene>.*)\] (?P<question>.*)"))
    assert (record["scene"], record["question"]) == ("A is above B.", "Where is A?")
