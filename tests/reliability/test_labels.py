"""Labels of traces: `correct` first, else the delivered answer against the right one."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.labelled_traces import trace

from symbouq.errors import RecordError, SymboUQError
from symbouq.records import Trace
from symbouq.reliability.labels import (
    Gold,
    Labels,
    answer_spaces,
    gold_of,
    label_of,
    labelled,
)


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


# Labels looked at together ---------------------------------------------------------------


def golds(count: int, **changes: Any) -> list[Gold]:
    rows = [trace(n, n % 2 == 0) | changes for n in range(count)]
    return [gold_of(Trace.model_validate(row)) for row in rows]


def test_labels_that_fit_say_nothing() -> None:
    assert labelled(golds(20)) == Labels((1, 0) * 10, (), ())


def test_few_labels_are_said() -> None:
    (warning,) = labelled(golds(19)).warnings
    assert "19 labels are few" in warning


@pytest.mark.parametrize("answer", ["Upper-Left", "upper left", "the upper left"])
def test_a_right_answer_may_be_spelled_otherwise(answer: str) -> None:
    assert label(answer=answer) == 1
    assert label(answer=answer, response="Answer: right") == 0


def test_numbers_are_labels() -> None:
    assert label(answer=3, answer_space=[2, 3], response="Answer: 3", question="How many?") == 1


@pytest.mark.parametrize("answer", ["nowhere", 3, ["upper-left", "inside"]])
def test_a_right_answer_outside_its_space_is_no_label(answer: Any) -> None:
    with pytest.raises(RecordError, match="is no label of the answer space: left, right"):
        label(answer=answer)
    found = labelled([*golds(2), *golds(1, answer=answer)])
    assert found.of == (1, 0, None) and len(found.faults) == 1


def test_answers_of_which_none_is_in_its_space_are_refused() -> None:
    with pytest.raises(SymboUQError, match="40 of 40 delivered answers are no label"):
        labelled(golds(40, response="Answer: Q"))
    mixed = golds(5) + golds(20, response="I cannot tell.")
    assert "20 of 25 delivered answers" in labelled(mixed).warnings[0]
    assert labelled(golds(20, response="I cannot tell.", correct=True)).of == (1,) * 20


def test_correct_at_odds_with_answer_is_refused_or_said() -> None:
    turned = [gold | {"correct": n % 2 == 1} for n, gold in enumerate(golds(40))]
    with pytest.raises(SymboUQError, match="`correct` is at odds with `answer` in 40 of 40"):
        labelled(turned)
    some = [gold | {"correct": n % 2 == 0 or n < 4} for n, gold in enumerate(golds(40))]
    assert labelled(some).warnings == (
        "`correct` is at odds with `answer` in 2 of 40 traces; `correct` counts",
    )
    right = [gold | {"correct": n % 2 == 0} for n, gold in enumerate(golds(40))]
    assert labelled(right).warnings == ()


def test_an_answer_that_cannot_be_compared_is_at_odds_with_nothing() -> None:
    for changes in ({"answer": "nowhere"}, {"answer": None}, {"response": "I cannot tell."}):
        assert labelled(golds(20, correct=True, **changes)).warnings == ()
