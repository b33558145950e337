from __future__ import annotations

from pathlib import Path
from typing import Any

from helpers.commands import read_lines, run, write_lines

from symbouq.records import Trace, make_record
from symbouq.reliability.jobs import selecting

ASKED = {
    "scene": ["A is left of B.", "B is left of C."],
    "question": "Where is A from C?",
    "answer_space": ["left", "right", "above", "below"],
}
RIGHT = {"reasoning": ["A is left of B"], "conclusion": "left"}
WRONG = {"reasoning": ["A is left of B"], "conclusion": "right"}


def selected(trace: dict[str, Any]) -> dict[str, Any]:
    work = selecting(None, None, None)
    record, chosen = work.each(make_record(Trace, {"id": "t", **ASKED, **trace}), "f", 1)
    assert record["selected"]["sample"] == chosen
    return record


def test_a_sample_that_follows_is_selected() -> None:
    tokens = [{"text": "right", "logprob": -0.1}]
    record = selected({**WRONG, "tokens": tokens, "samples": [WRONG, RIGHT]})
    assert record["selected"]["sample"] == 2
    assert (record["conclusion"], record["generation"]) == ("left", {"status": "valid"})
    assert "tokens" not in record and record["samples"] == [WRONG, RIGHT]
    assert record["selected"]["own"] == WRONG  # nothing is lost


def test_a_trace_that_is_as_good_stays_as_it_is() -> None:
    tokens = [{"text": "left", "logprob": -0.1}]
    record = selected({**RIGHT, "tokens": tokens, "samples": [RIGHT, WRONG]})
    assert (record["selected"]["sample"], record["tokens"]) == (0, tokens)


def test_texts_are_samples_and_broken_ones_are_worth_nothing() -> None:
    texts = ["A is left of C. Answer: left", "A is right of C. Answer: right"]
    assert selected({"response": texts[1], "samples": texts})["selected"]["sample"] == 1
    broken = {**RIGHT, "status": "truncated"}
    assert selected({**WRONG, "samples": [broken]})["selected"]["scores"][1] == 0.0
    silent = [{"response": ""}, {"reasoning": [], "conclusion": ""}]
    record = selected({**WRONG, "samples": silent})
    assert record["selected"]["scores"][1:] == [0.0, 0.0] and record["selected"]["sample"] == 0


def test_a_trace_in_relations_has_samples_in_words() -> None:
    relation = {"subject": "A", "relation": "left", "object": "B"}
    claims = [{"relations": [{"subject": "A", "relation": "right", "object": "B"}]}]
    given = {"scene_relations": [relation], "claims": claims, "correct": False}
    record = selected({**given, "samples": [RIGHT]})
    assert record["selected"]["sample"] == 1
    assert not given.keys() & record.keys()
    assert record["selected"]["own"] == {"claims": claims}
    right = selected({**given, "claims": [{"relations": [relation]}], "samples": [WRONG]})
    assert right["selected"]["sample"] == 0
    assert right["scene_relations"] == [relation] and right["correct"] is False


def test_the_command(tmp_path: Path) -> None:
    lines = [
        {"id": "one", **ASKED, **WRONG, "samples": [RIGHT]},
        {"id": "two", **ASKED, **RIGHT, "samples": [RIGHT]},
        {"id": "alone", "scene_relations": [["A", "left", "B"]], "claims": []},
        {"id": "broken", **ASKED, **RIGHT, "samples": "left"},
        {"id": "odd", **ASKED, **RIGHT, "samples": [["left"]]},
    ]
    given = write_lines(tmp_path / "in.jsonl", *lines)
    result = run("select", given, "--out", tmp_path / "out.jsonl", "--jobs", 1)
    assert result.exit_code == 1
    broken, odd, told = result.stderr.splitlines()
    assert broken.endswith(
        "in.jsonl:4: `samples` is a list of texts, or of objects with `response`"
    )
    assert odd.endswith("in.jsonl:5: sample 1 is neither a text nor an object with `response`")
    assert told == "3 traces, of 1 a sample is selected"
    one, two, alone = read_lines(tmp_path / "out.jsonl")
    assert one["conclusion"] == two["conclusion"] == "left"
    assert alone["selected"] == {"sample": 0, "scores": []}
