"""Labels of traces: `correct` first, else the delivered answer against the right one."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.labelled_traces import trace

from symbouq.errors import RecordError
from symbouq.records import Trace
from symbouq.reliability.labels import answer_spaces, gold_of, label_of


def label(spaces: dict[str | None, list[str]] | None = None, **changes: Any) -> int:
    return label_of(gold_of(Trace.model_validate(trace(0, True) | changes)), spaces or {})


def test_answers_are_matched() -> None:
    assert label() == 1
    assert label(answer="left") == 0
    assert label(response="I cannot tell.") == 0


def test_correct_goes_first() -> None:
    assert label(correct=False) == 0
    assert label(correct=1, answer="left") == 1
    assert label(correct=True, answer=None, answer_space=None) == 1
    with pytest.raises(RecordError, match="correct"):
        label(correct="yes")


def test_a_conclusion_delivers_the_answer() -> None:
    structured = {"response": None, "reasoning": ["A is above B."]}
    assert label(**structured, conclusion="A is upper left of C.") == 1
    assert label(**structured, conclusion="right") == 0


def test_claims_in_relations_deliver_their_last_text() -> None:
    relations = {
        "response": None,
        "scene": None,
        "scene_relations": [["A", "above", "B"]],
        "claims": [{"relations": []}, {"text": "upper left", "relations": []}],
    }
    assert label(**relations) == 1
    assert label(**relations | {"claims": []}) == 0


def test_the_answers_of_the_file_stand_for_a_missing_space() -> None:
    rows = [trace(n, True) | {"answer_space": None, "dataset": "a"} for n in range(4)]
    golds = [gold_of(Trace.model_validate(row)) for row in rows]
    spaces = answer_spaces(golds)
    assert spaces == {"a": ["lower-left", "lower-right", "upper-left", "upper-right"]}
    assert label(spaces, answer_space=None, dataset="a") == 1
    with pytest.raises(RecordError, match="answer_space"):
        label(spaces, answer_space=None, dataset="b")


def test_lists_of_answers_give_their_labels() -> None:
    golds: list[dict[str, Any]] = [{"answer": ["B", "A"]}, {"answer": "C"}, {"correct": True}]
    assert answer_spaces(golds) == {None: ["A", "B", "C"]}


def test_a_trace_without_label_is_refused() -> None:
    with pytest.raises(RecordError, match="a label is needed"):
        label(answer=None)
