"""Answers from the scene: every kind of answer space, and the benchmarks that it reads."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from helpers.audits import read_ahead

from symbouq.auditing.answers import answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.jobs import answering
from symbouq.errors import RecordError
from symbouq.records import AnswerRecord, Instance

AUDITOR = TraceAuditor()

SCENE = ["The cup is left of the jug.", "The jug is left of the bowl."]


def asked(question: str, space: list[str], scene: Any = SCENE, **fields: Any) -> Any:
    record = {"id": "q", "scene": scene, "question": question, "answer_space": space, **fields}
    return answer(AUDITOR, Instance.model_validate(record))


def test_relations_with_what_is_possible_and_the_premises() -> None:
    found = asked("Where is the cup relative to the bowl?", ["left", "right", "near"])
    assert (found.status, found.answer) == ("answered", ["left"])
    assert (found.certain, found.possible) == (["left"], ["left", "near"])
    assert found.impossible == ["right"]
    assert found.premises == ["scene:1", "scene:2"]


def test_nothing_follows() -> None:
    scene = ["The cup is left of the jug.", "The bowl is left of the jug."]
    question = "Where is the cup relative to the bowl?"
    found = asked(question, ["left", "right"], scene)
    assert (found.status, found.answer, found.possible) == ("open", [], ["left", "right"])
    assert asked(question, ["left", "right", "DK"], scene).answer == ["DK"]


@pytest.mark.parametrize(
    ("question", "space", "expected", "default"),
    [
        ("Is the bowl right of the cup?", ["Yes", "No"], "Yes", False),
        ("Is the bowl left of the cup?", ["Yes", "No"], "No", False),
        ("Is the bowl near the cup?", ["Yes", "No"], "No", True),
        ("Is the bowl near the cup?", ["Yes", "No", "DK"], "DK", False),
        (
            "The bowl is right of the cup.",
            ["entailment", "neutral", "contradiction"],
            "entailment",
            False,
        ),
        (
            "The cup is above the bowl.",
            ["entailment", "neutral", "contradiction"],
            "contradiction",
            False,
        ),
        ("The cup is near the bowl.", ["entailment", "neutral", "contradiction"], "neutral", False),
        ("Can this be?", ["satisfiable", "unsatisfiable"], "satisfiable", False),
    ],
)
def test_judgements(question: str, space: list[str], expected: str, default: bool) -> None:
    found = asked(question, space)
    assert (found.status, found.answer, found.default) == ("answered", [expected], default)


def test_a_scene_that_contradicts_itself() -> None:
    scene = [*SCENE, "The bowl is left of the cup."]
    found = asked("Where is the cup relative to the bowl?", ["left", "right"], scene)
    assert (found.status, found.answer) == ("inconsistent", [])
    assert found.premises == ["scene:1", "scene:2", "scene:3"]
    found = asked("Can this be?", ["satisfiable", "unsatisfiable"], scene)
    assert (found.status, found.answer) == ("answered", ["unsatisfiable"])


def test_what_cannot_be_read() -> None:
    assert asked("Well?", ["left", "right"]).status == "unread"
    assert asked("Is it nice?", ["yes", "no"]).status == "unread"
    assert asked("Is the cup left of the jug?", ["yes", "no"], ["Hello."]).status == "unread"


def test_a_space_that_means_nothing_is_an_error() -> None:
    with pytest.raises(RecordError, match="'purple' means nothing in profile nine-way"):
        asked("Where is the cup relative to the bowl?", ["left", "purple"])
    with pytest.raises(RecordError, match="`answer_space` is a list of labels"):
        asked("Where is the cup relative to the bowl?", [])


def test_relations_instead_of_text() -> None:
    scene = [["cup", "left", "jug"], ["jug", "left", "bowl"]]
    record = {
        "id": "q",
        "scene_relations": scene,
        "question": "Where is the cup relative to the bowl?",
        "answer_space": ["left", "right"],
    }
    assert answer(AUDITOR, Instance.model_validate(record)).answer == ["left"]


def test_the_record_has_the_documented_shape() -> None:
    record = {"id": "q", "scene": SCENE, "question": "Is the bowl right of the cup?"}
    work = answering(None, None)
    written, status = work.each(
        Instance.model_validate({**record, "answer_space": ["yes", "no"]}), "", 1
    )
    assert AnswerRecord.model_validate(written).answer == ["yes"]
    assert status == "answered"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "stepgame/test.jsonl.gz",
        "babi/babi17_test.jsonl.gz",
        "consistency2d/consistency2d.jsonl.gz",
    ],
)
def test_benchmarks_from_text(name: str, data: Path) -> None:
    """Every question of StepGame, bAbI 17 and the consistency problems."""
    with gzip.open(data / name, "rt", encoding="utf-8") as lines:
        rows = [*map(json.loads, lines)]
        for row, each in zip(
            rows, read_ahead(AUDITOR, map(Instance.model_validate, rows)), strict=True
        ):
            found = answer(AUDITOR, each)
            gold = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
            assert (found.status, found.answer) == ("answered", gold), row["id"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("spartun/spartun_validation.jsonl.gz", 0.95),
        ("spartqa/spartqa_auto_validation.jsonl.gz", 0.95),
        ("sparp/sparp_ps1_style_validation.jsonl.gz", 0.95),
    ],
)
def test_described_benchmarks_from_text(name: str, rate: float, data: Path) -> None:
    """Questions of each type about described things: the share answered right."""
    right: defaultdict[str, list[bool]] = defaultdict(list)
    with gzip.open(data / name, "rt", encoding="utf-8") as lines:
        rows = [*map(json.loads, lines)]
        for row, each in zip(
            rows, read_ahead(AUDITOR, map(Instance.model_validate, rows)), strict=True
        ):
            found = answer(AUDITOR, each)
            gold = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
            kind = row["meta"].get("qtype", "")
            right[kind].append(found.status == "answered" and set(found.answer) == set(gold))
    shares = {kind: sum(each) / len(each) for kind, each in right.items()}
    assert shares
    assert all(share >= rate for share in shares.values()), shares


@pytest.mark.parametrize("profile", ["everyday", "nine-way"])
@pytest.mark.parametrize("dataset", [None, "stepgame"])
@pytest.mark.parametrize(
    "question",
    [
        "Is the cup left of the jug or above it?",
        "Is the cup to the left of, or above, the jug?",
        "Is the cup or the bowl left of the jug?",
        "Is either the bowl or the cup left of the jug?",
        "Is the cup neither above nor right of the jug?",
        "Does the bowl or the cup lie left of the jug?",
        "Is the statement that the cup is right of the jug false?",
        "Is the claim that the cup is right of the jug wrong?",
        "Is it a lie that the cup is right of the jug?",
        "Would it be a mistake to say that the cup is right of the jug?",
        "Is the cup anywhere but right of the jug?",
    ],
)
def test_no_question_is_denied_that_is_to_be_affirmed(
    question: str, dataset: str | None, profile: str
) -> None:
    found = asked(question, ["yes", "no"], profile=profile, dataset=dataset)
    assert found.answer == ["yes"] or found.status == "unread"


def test_a_question_of_several_things_is_read_as_a_whole_or_not() -> None:
    found = asked("Are the bowl and the cup left of the jug?", ["yes", "no"], profile="everyday")
    assert found.answer == ["no"] or found.status == "unread"
