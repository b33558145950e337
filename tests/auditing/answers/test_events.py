"""Judgements of statements about events."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from helpers.audits import read_ahead

import symbouq
from symbouq.auditing.answers import Answer, answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.records import Instance

AUDITOR = TraceAuditor()
SPACE = ["entailment", "neutral", "contradiction"]


def asked(scene: list[Any], question: str, space: list[str] = SPACE, **fields: Any) -> Answer:
    record = {"id": "q", "scene": scene, "question": question, "answer_space": space}
    return answer(AUDITOR, Instance.model_validate({**record, "profile": "event", **fields}))


@pytest.mark.parametrize(
    ("scene", "question", "expected"),
    [
        (["Ann walked out of the barn."], "Ann was in the barn.", "entailment"),
        (["Ann saw Bob from the barn."], "Bob was in the barn.", "contradiction"),
        (["Ann is walking to the barn."], "Ann is in the barn.", "neutral"),
        (["The oak is in front of the barn."], "The barn is behind the oak.", "neutral"),
        (["The jug is on top of the shelf."], "The shelf is under the jug.", "entailment"),
    ],
)
def test_judgements(scene: list[str], question: str, expected: str) -> None:
    found = asked(scene, question)
    assert (found.status, found.answer) == ("answered", [expected])


def test_premises_are_those_that_it_needs() -> None:
    scene = ["The jug is in the tin.", "Ann is in Oslo.", "The tin is in the barn."]
    found = asked(scene, "The jug is in the barn.")
    assert found.premises == ["scene:1", "scene:3"]
    assert found.impossible == ["neutral", "contradiction"]
    found = asked(scene, "Ann is in the barn.")
    assert (found.premises, found.possible) == ([], ["entailment", "contradiction"])


def test_what_cannot_be_read_is_not_judged() -> None:
    scene = ["Ann is in the barn."]
    assert asked(scene, "Must Ann be so?").status == "unread"
    assert asked([*scene, "Well, well!"], "Ann is in the barn.").status == "unread"
    assert asked([], "Ann is in the barn.").status == "unread"
    assert asked(scene, "Where is Ann?", ["inside", "near"]).status == "unread"


@pytest.mark.parametrize(
    ("scene", "question", "expected"),
    [
        # A verb that is not known may go, put or meet, in the scene or in the statement ...
        (["Ann moseyed into the barn."], "Ann was near the oak.", ["neutral"]),
        (["Ann moseyed through the barn."], "Ann was in the barn.", []),
        (["Ann schlepped Bob into the barn."], "Ann is in the barn.", []),
        (["Ann walked into the barn."], "Ann sauntered into the barn.", []),
        # ... but none of that bears on other things, nor on what is known in any case.
        (["Ann juggled in the barn."], "The jug is in the tin.", ["neutral"]),
        (["The jug is in the tin.", "Ann juggled."], "The jug is in the tin.", ["entailment"]),
        (["The jug is in the tin.", "Ann juggled."], "The tin is in the jug.", ["contradiction"]),
        # Nothing is said of "across" and "on", but that "past" leaves "in" open.
        (["Ann walked across the stage."], "Ann was on the stage.", []),
        (["Ann walked past the barn."], "Ann was in the barn.", ["neutral"]),
    ],
)
def test_open_for_want_of_words_is_not_neutral(
    scene: list[str], question: str, expected: list[str]
) -> None:
    found = asked(scene, question)
    assert (found.status, found.answer) == ("answered" if expected else "unread", expected)


def test_premises_that_contradict_each_other() -> None:
    scene = ["The jug is in the tin.", "The tin is in the jug."]
    found = asked(scene, "The jug is red.", ["satisfiable", "unsatisfiable"])
    assert found.answer == ["unsatisfiable"]
    assert asked(scene[:1], "", ["satisfiable", "unsatisfiable"]).answer == ["satisfiable"]
    found = asked(scene, "The jug is near the tin.")
    assert (found.status, found.premises) == ("inconsistent", ["scene:1", "scene:2"])


def test_relations_instead_of_text() -> None:
    given = [["jug", "inside", "tin"], ["tin", "inside", "barn"]]
    record = {"id": "q", "scene_relations": given, "profile": "event", "answer_space": SPACE}
    found = answer(
        AUDITOR, Instance.model_validate({**record, "question": "The jug is in the barn."})
    )
    assert found.answer == ["entailment"]


def test_a_trace_is_audited_by_its_phrases() -> None:
    scene = ["The jug is in the tin.", "The tin is in the barn."]
    audit = symbouq.audit(scene, ["The jug is in the barn."], dataset="spacenli")
    assert (audit.claims[-1].verdict, audit.claims[-1].premises) == (
        "entailed",
        ["scene:1", "scene:2"],
    )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "every"), [("validation", 1), ("test", 4)])
def test_spacenli(name: str, every: int, data: Path) -> None:
    """Most problems are answered right; what is called entailed or contradicted is."""
    found: Counter[tuple[str, str]] = Counter()
    with gzip.open(data / f"spacenli/spacenli_{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, None, None, every)]
    read = read_ahead(AUDITOR, map(Instance.model_validate, rows))
    for row, given in zip(rows, (answer(AUDITOR, each) for each in read), strict=True):
        found["".join(given.answer), row["answer"]] += 1
    right = sum(count for (given, gold), count in found.items() if given == gold)
    assert right / found.total() >= 0.97
    for label in ("entailment", "contradiction"):
        called = sum(count for (given, _), count in found.items() if given == label)
        assert found[label, label] / called >= 0.99
