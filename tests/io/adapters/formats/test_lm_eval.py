"""Samples of lm-evaluation-harness: one trace per document, whatever filters there are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from helpers.writers import TRACES, faults, good, lines, lm_eval_row, messages, prompt
from symbouq_cli.main import main


def test_one_trace_per_document(tmp_path: Path) -> None:
    rows = [lm_eval_row(t, rule) for rule in ("strict-match", "flexible") for t in TRACES]
    records = good(lines(tmp_path / "samples.jsonl", *rows))
    assert [record["id"] for record in records] == ["1", "2", "3"]
    assert [record["response"] for record in records] == [t["response"] for t in TRACES]
    assert records[0]["answer"] == "above"


def test_interleaved_filters(tmp_path: Path) -> None:
    rows = [lm_eval_row(t, rule) for t in TRACES for rule in ("strict-match", "flexible")]
    assert len(good(lines(tmp_path / "samples.jsonl", *rows))) == 3


def test_the_same_row_twice_is_no_other_filter(tmp_path: Path) -> None:
    records = good(lines(tmp_path / "samples.jsonl", *[lm_eval_row(TRACES[0])] * 2))
    assert [record["id"] for record in records] == ["1", "1"]  # the stream reports the second


def test_a_bad_row_is_made_good_by_another_filter(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "samples.jsonl",
        lm_eval_row(TRACES[0], "strict", arguments={}),
        lm_eval_row(TRACES[0], "loose"),
    )
    (fault,) = faults(path)
    assert fault.startswith("samples.jsonl:1: no scene: the record has no prompt")


def test_repeats_are_samples(tmp_path: Path) -> None:
    row = lm_eval_row(TRACES[0], resps=[["one", "two", "three"]])
    (record,) = good(lines(tmp_path / "samples.jsonl", row))
    assert (record["response"], record["samples"]) == ("one", ["two", "three"])


def test_rows_without_a_generated_text(tmp_path: Path) -> None:
    rows = [
        lm_eval_row(TRACES[0], resps=[[[-1.5, False]], [[-0.5, True]]]),
        lm_eval_row(TRACES[1], resps=[]),
        lm_eval_row(TRACES[2], resps=[[]]),
    ]
    what = "resps: expected a generated text"
    assert faults(lines(tmp_path / "samples.jsonl", *rows)) == [
        f"samples.jsonl:1: {what} (rows of multiple-choice tasks have none), found a list that "
        "starts with a number",
        f"samples.jsonl:2: {what}, found an empty list",
        f"samples.jsonl:3: {what}, found an empty list",
    ]


def test_prompts_of_older_versions_and_of_chats(tmp_path: Path) -> None:
    chat = json.dumps(messages(TRACES[0]))
    rows = [
        lm_eval_row({**TRACES[0], "id": str(n)}, arguments=arguments)
        for n, arguments in enumerate(
            [
                [[prompt(TRACES[0]), {"until": []}]],
                {"gen_args_0": {"arg_0": [chat], "arg_1": {}}},
                {"gen_args_0": {"arg_0": chat}},
                {"gen_args_0": {"arg_0": messages(TRACES[0])}},
            ]
        )
    ]
    records = good(lines(tmp_path / "samples.jsonl", *rows))
    assert [(r["scene"], r["question"]) for r in records] == [
        (TRACES[0]["scene"], TRACES[0]["question"])
    ] * 4


def test_scene_and_question_may_stand_in_the_document(tmp_path: Path) -> None:
    doc = {
        "scene": ["A is left of B."],
        "question": "Where is A?",
        "profile": "half-plane",
        "hops": 1,
    }
    rows = [lm_eval_row(TRACES[0], "none") | {"doc": doc}]
    (record,) = good(lines(tmp_path / "samples.jsonl", *rows))
    assert (record["scene"], record["question"]) == (["A is left of B."], "Where is A?")
    assert record["profile"] == "half-plane"
    assert "hops" not in record


SCORES = {"results": {"where": {"exact_match,none": 0.5}}, "configs": {}, "n-shot": {"where": 0}}


@pytest.mark.parametrize("there", [True, False])
def test_the_scores_of_a_run_name_its_samples(there: bool, tmp_path: Path) -> None:
    path = tmp_path / "results_2026-01-01T00-00-00.5.json"
    path.write_text(json.dumps(SCORES, indent=2))
    lines(tmp_path / "samples_where_2025-12-31T00-00-00.1.jsonl", lm_eval_row(TRACES[0]))
    beside = "these are samples_*.jsonl beside it, which --log_samples writes"
    if there:
        lines(tmp_path / "samples_where_2026-01-01T00-00-00.5.jsonl", lm_eval_row(TRACES[0]))
        beside = "give samples_where_2026-01-01T00-00-00.5.jsonl beside it"
    message = f"holds the scores of lm-evaluation-harness, not its samples; {beside}"
    assert faults(str(path)) == [f"{path.name}:1: {message}"]
    result = CliRunner().invoke(main, ["audit", str(path)])
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
