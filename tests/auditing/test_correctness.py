"""The label of a conclusion by matching."""

from __future__ import annotations

from typing import Any

import pytest

from symbouq.auditing.correctness import answer_labels
from symbouq.errors import RecordError

NINE = ["left", "right", "above", "below", "upper-left", "lower-right", "overlap"]


def trace(conclusion: str, answer: Any, space: list[str] = NINE, **more: Any) -> dict[str, Any]:
    fields = {"id": "t", "reasoning": ["A is left of B."], "conclusion": conclusion}
    return {**fields, "answer": answer, "answer_space": space, **more}


@pytest.mark.parametrize(
    ("conclusion", "right"),
    [
        ("upper-left", 1),
        ("Upper left.", 1),
        ("A is north-west of B", 1),
        ("left", 0),
        ("left or upper-left", 0),
        ("cannot be determined", 0),
        ("", 0),
    ],
)
def test_one_label(conclusion: str, right: int) -> None:
    assert answer_labels(trace(conclusion, "upper-left")) == [None, right]


def test_a_set_has_to_be_complete() -> None:
    space = ["left", "above", "near", "DC"]
    assert answer_labels(trace("above and left", ["left", "above"], space)) == [None, 1]
    assert answer_labels(trace("left", ["left", "above"], space)) == [None, 0]


def test_the_kind_of_the_answer_is_the_benchmarks() -> None:
    space = ["left", "above", "near", "far"]
    single = {"meta": {"answer_kind": "single"}}
    # two labels are no answer where one is asked for
    assert answer_labels(trace("above, left", ["above", "left"], space)) == [None, 1]
    assert answer_labels(trace("above, left", ["above", "left"], space, **single)) == [None, 0]


def test_the_answer_of_free_text_is_found_in_all_of_it() -> None:
    free = trace("", "right", response="It is left, no.\nAnswer: right", segmented=True)
    assert answer_labels(free) == [None, 1]


@pytest.mark.parametrize("status", ["invalid", "truncated", "failed"])
def test_an_output_that_is_not_valid_delivers_no_answer(status: str) -> None:
    told = trace("left", "left", generation={"status": status})
    assert answer_labels(told) == [None, 0]


@pytest.mark.parametrize("missing", ["answer", "answer_space"])
def test_nothing_to_compare_with_is_an_error(missing: str) -> None:
    record = trace("left", "left")
    del record[missing]
    with pytest.raises(RecordError, match="trace t"):
        answer_labels(record)
