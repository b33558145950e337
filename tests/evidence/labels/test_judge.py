"""The judge: what it is told, what it may write, what becomes of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers.commands import write_lines

from symbouq.errors import RecordError, SymboUQError
from symbouq.evidence.generation.engine import Completion, Engine, Request, Token
from symbouq.evidence.labels.judge import Judge, judge_message, judge_schema, judging
from symbouq.evidence.labels.records import read_labels

TRACE = {
    "id": "t",
    "dataset": "d",
    "scene": ["The lamp is above the desk.", "The desk is left of the rug."],
    "question": "Where is the lamp from the rug?",
    "reasoning": ["The lamp is above the desk.", "The lamp is left of the rug."],
    "conclusion": "ZEBRA",
    "answer": "QUAGGA",
    "answer_space": ["QUAGGA", "ZEBRA"],
    "correct": "OKAPI",
    "labels": ["OKAPI"],
    "response": '{"conclusion": "ZEBRA"}',
    "meta": {"path": "QUAGGA", "facts": "QUAGGA"},
    "tokens": [{"text": "ZEBRA"}],
    "samples": [{"conclusion": "ZEBRA"}],
    "scores": {"OKAPI": 1},
}


class Scripted:
    """An engine that says what it is told to, and keeps what it was asked."""

    model_name = "tiny"
    batch_size = 2

    def __init__(self, *texts: str, finish: str = "stop", model_hash: str = "h") -> None:
        self.identity = {"engine": "transformers", "model_hash": model_hash}
        self.texts = list(texts)
        self.finish = finish
        self.asked: list[Request] = []

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        self.asked += requests
        texts, self.texts = self.texts[: len(requests)], self.texts[len(requests) :]
        return [
            Completion(text, (Token(1, text, 0.0, ()),), self.finish, 9, "no room")  # type: ignore[arg-type]
            for text in texts
        ]


def said(*labels: Any, analysis: str = "1: stated. 2: wrong.") -> str:
    return json.dumps({"analysis": analysis, "reasoning_verified": list(labels)})


def judge(*texts: str, **more: Any) -> tuple[Judge, Scripted]:
    engine = Scripted(*texts, **more)
    return Judge(engine), engine  # type: ignore[arg-type]


def test_the_message() -> None:
    assert judge_message(TRACE).splitlines()[1:-2] == [
        "Scene: The lamp is above the desk. The desk is left of the rug.",
        "Question: Where is the lamp from the rug?",
        "Steps:",
        "1. The lamp is above the desk.",
        "2. The lamp is left of the rug.",
    ]


def test_no_answer_and_no_label_reaches_the_judge() -> None:
    told, engine = judge(said(1, 0))
    list(told.labels([TRACE]))
    (request,) = engine.asked
    everything = json.dumps([request.message, request.schema])
    for secret in ("ZEBRA", "QUAGGA", "OKAPI"):
        assert secret not in everything
    # Nor does the request depend on them in any other way.
    other, second = judge(said(1, 0))
    kept = ("id", "scene", "question", "reasoning")
    list(other.labels([{name: TRACE[name] for name in kept}]))
    assert second.asked == engine.asked


def test_the_schema_bounds_everything() -> None:
    schema = judge_schema(3)
    assert list(schema["properties"]) == ["analysis", "reasoning_verified"]
    assert schema["required"] == ["analysis", "reasoning_verified"]
    assert schema["properties"]["analysis"]["maxLength"] == 800
    verified = schema["properties"]["reasoning_verified"]
    assert (verified["minItems"], verified["maxItems"]) == (3, 3)
    assert verified["items"]["enum"] == [0, 1]


def test_labels_of_the_steps_and_none_of_the_conclusion() -> None:
    told, engine = judge(said(1, 0), said(1))
    free = {"id": "f", "scene": "A.", "reasoning": [], "conclusion": "c"}
    short = {"id": "s", "scene": "A.", "reasoning": ["x"], "conclusion": "c"}
    first, second, third = told.labels([TRACE, free, short])
    assert not any(isinstance(one, RecordError) for one in (first, second, third))
    assert first.record() == {  # type: ignore[union-attr]
        "id": "t",
        "source": "judge:tiny",
        "labels": [1, 0, None],
        "dataset": "d",
        "judge": {"status": "valid", "analysis": "1: stated. 2: wrong."},
    }
    assert second.labels == (None,)  # type: ignore[union-attr]
    assert third.labels == (1, None)  # type: ignore[union-attr]
    assert len(engine.asked) == 2  # nothing is asked about a trace without steps
    assert [r.schema == judge_schema(n) for r, n in zip(engine.asked, (2, 1), strict=True)] == [
        True
    ] * 2
    assert all(request.temperature == 0 for request in engine.asked)


@pytest.mark.parametrize(
    ("text", "finish", "status"),
    [
        (said(1), "stop", "invalid"),
        (said(1, 0, 1), "stop", "invalid"),
        (said(1, 2), "stop", "invalid"),
        (said(True, False), "stop", "invalid"),
        ("[]", "stop", "invalid"),
        ('{"analysis": "hm', "length", "truncated"),
        ("", "failed", "failed"),
    ],
)
def test_a_text_that_is_no_verdict_labels_nothing(text: str, finish: str, status: str) -> None:
    told, _ = judge(text, finish=finish)
    (found,) = told.labels([TRACE])
    assert found.labels == (None, None, None)  # type: ignore[union-attr]
    assert found.extra["judge"]["status"] == status  # type: ignore[union-attr]


def test_a_scene_in_relations_is_an_error_of_its_trace_alone() -> None:
    told, _ = judge(said(1, 0))
    first, second = told.labels([{**TRACE, "id": "r", "scene": None}, TRACE])
    assert isinstance(first, RecordError)
    assert "trace r" in str(first)
    assert second.labels == (1, 0, None)  # type: ignore[union-attr]


def test_a_stopped_run_is_continued(tmp_path: Path) -> None:
    traces = write_lines(tmp_path / "t.jsonl", *({**TRACE, "id": f"t{n}"} for n in range(5)))
    out = tmp_path / "labels.jsonl"
    told, _ = judge(*[said(1, 0)] * 5)
    run = judging(traces, told, out)
    assert next(run).id == "t0"  # type: ignore[union-attr]
    run.close()  # stopped after the first two, which were judged side by side
    again, engine = judge(*[said(0, 1)] * 5)
    assert [one.id for one in judging(traces, again, out)] == ["t2", "t3", "t4"]  # type: ignore[union-attr]
    assert len(engine.asked) == 3
    assert [one.labels[0] for one in read_labels(out).values()] == [1, 1, 0, 0, 0]
    other, _ = judge(said(1, 0), model_hash="other")
    with pytest.raises(SymboUQError, match="model_hash"):
        list(judging(traces, other, out))


@pytest.mark.parametrize("steps", [1, 6])
def test_a_real_model_is_held_to_the_verdicts_form(engine: Engine, steps: int) -> None:
    traces = [{**TRACE, "id": f"t{n}", "reasoning": ["x"] * steps} for n in range(3)]
    for found in Judge(engine).labels(traces):
        assert not isinstance(found, RecordError)
        assert found.extra["judge"]["status"] == "valid", found
        assert len(found.labels) == steps + 1
        assert 1 <= len(found.extra["judge"]["analysis"]) <= 800
        assert found.labels[-1] is None
