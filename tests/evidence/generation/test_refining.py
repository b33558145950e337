from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers.chat_server import chat_server
from helpers.commands import read_lines, run, write_lines

from symbouq.evidence.generation.engine import Completion, Request
from symbouq.evidence.generation.refining import Comparison, Refinement, Refiner, compared
from symbouq.evidence.generation.run import generate
from symbouq.records import Instance

SPACE = ["left", "right", "above", "below", "upper-left", "upper-right", "overlap"]


def said(*reasoning: str, conclusion: str) -> str:
    return json.dumps({"reasoning": list(reasoning), "conclusion": conclusion})


WRONG = said("A is right of B", conclusion="right")
RIGHT = said("A is left of B", conclusion="left")
OPEN = said("A is near B", conclusion="above D")


class Scripted:
    """An engine that gives the texts of a script, and keeps what it was asked."""

    version, device, batch_size, model_name = "script 1", "cpu", 4, "script"

    def __init__(self, *texts: str | None, length: int = 0) -> None:
        self.identity = {"engine": "script"}
        self.texts = list(texts)
        self.length = length
        self.asked: list[Request] = []

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        self.asked += requests
        texts = [self.texts.pop(0) for _ in requests]
        return [
            Completion("", (), "failed", 0, "no room")
            if text is None
            else Completion(text, (), "stop", 5, written=self.length)
            for text in texts
        ]


def instance(name: str = "q", **fields: Any) -> Instance:
    given = {"scene": ["A is left of B.", "C is above B."], "question": "Where is A from B?"}
    return Instance.model_validate({"id": name, **given, "answer_space": SPACE, **fields})


def refined(engine: Scripted, *instances: Instance, **settings: Any) -> list[dict[str, Any]]:
    return Refiner(engine, Refinement(**settings))(list(instances) or [instance()]).records


def test_an_answer_without_a_conflict_stands() -> None:
    engine = Scripted(RIGHT)
    (record,) = refined(engine, control=True)
    assert (record["conclusion"], record["chosen"], len(record["rounds"])) == ("left", 0, 1)
    assert record["rounds"][0]["verdicts"] == ["entailed", "entailed"]
    assert record["rounds"][0]["conflict"] == ""
    assert len(record["control"]["rounds"]) == 1
    (request,) = engine.asked
    assert request.temperature == 0


def test_a_conflict_is_handed_back_with_its_premises() -> None:
    engine = Scripted(WRONG, RIGHT)
    (record,) = refined(engine)
    assert (record["conclusion"], record["chosen"]) == ("left", 1)
    first, second = engine.asked
    assert second.message.startswith(first.message)
    added = second.message.removeprefix(first.message)
    assert WRONG in added
    assert "1. A is right of B (" in added
    assert "scene 1: A is left of B." in added
    assert "scene 2" not in added  # which has no part in it
    assert (first.temperature, second.temperature) == (0.0, 1.0)


def test_what_contradicts_itself_is_handed_back() -> None:
    torn = said("D is left of A and A is left of D", conclusion="left")
    engine = Scripted(torn, RIGHT)
    refined(engine)
    assert "1. D is left of A and A is left of D (" in engine.asked[1].message


def test_rounds_are_bounded_and_the_best_answer_is_kept() -> None:
    half = said("A is left of B", conclusion="right")
    engine = Scripted(WRONG, half, WRONG)
    (record,) = refined(engine, rounds=3)
    assert len(engine.asked) == 3
    # The step of the second is right: 0.7 * 0 + 0.3 * 1, plus nothing for its conclusion.
    scores = [each["constraint_rule"] for each in record["rounds"]]
    assert record["chosen"] == 1 and scores[1] > scores[0] == scores[2]
    assert record["reasoning"] == ["A is left of B"]


def test_what_logic_cannot_decide_is_not_asked_again() -> None:
    engine = Scripted(OPEN)
    (record,) = refined(engine)
    assert "contradicted" not in record["rounds"][0]["verdicts"]
    assert len(engine.asked) == 1


def test_a_text_that_is_no_trace_is_asked_again_and_a_failure_is_not() -> None:
    engine = Scripted("left, I think", None, RIGHT)
    one, other = refined(engine, instance("one"), instance("other"))
    assert [each["status"] for each in one["rounds"]] == ["invalid", "valid"]
    assert "not have the form" in engine.asked[2].message
    assert (other["generation"]["status"], len(other["rounds"])) == ("failed", 1)


def test_the_control_draws_as_many_answers_without_the_finding() -> None:
    engine = Scripted(WRONG, RIGHT, WRONG, WRONG, WRONG)
    one, other = refined(engine, instance("one"), instance("other"), control=True, rounds=2)
    # Two first answers, the second one of one; the other has a conflict no more.
    assert [len(each["rounds"]) for each in (one, other)] == [2, 1]
    draws = [
        request for request in engine.asked if request.temperature and WRONG not in request.message
    ]
    assert [draw.message for draw in draws] == [engine.asked[0].message]
    assert [len(each["control"]["rounds"]) for each in (one, other)] == [2, 1]
    assert one["control"]["rounds"][0] == one["rounds"][0]


def test_no_two_rounds_or_questions_share_a_seed() -> None:
    engine = Scripted(*[WRONG] * 8)
    refined(engine, instance("one"), instance("other"), rounds=3)
    drawn = [request.seed for request in engine.asked if request.temperature]
    assert len(drawn) == len(set(drawn)) == 4


def test_tokens_are_counted_over_all_answers_once() -> None:
    engine = Scripted(*[WRONG] * 3, length=7)
    made = Refiner(engine, Refinement(rounds=2, control=True))([instance()])
    assert (len(engine.asked), made.tokens) == (3, 21)


def test_a_scene_in_relations_beside_its_words_is_left_to_them() -> None:
    relations = [{"subject": "A", "relation": "left", "object": "B"}]
    asked = instance(scene_relations=relations, correct=False)
    (record,) = refined(Scripted(WRONG, RIGHT), asked)
    assert record["chosen"] == 1
    assert not {"scene_relations", "claims", "correct"} & record.keys()


def test_answers_are_compared(tmp_path: Path) -> None:
    engine = Scripted(WRONG, RIGHT, RIGHT, WRONG)
    asked = [instance("one", answer="left"), instance("other", answer="left")]
    out = tmp_path / "out.jsonl"
    list(generate(asked, Refiner(engine, Refinement(rounds=2, control=True)), out))
    assert compared(read_lines(out)) == Comparison(2, 1, 2, 1, 1, 0)
    unknown = [{**record, "answer": None} for record in read_lines(out)]
    assert compared(unknown) is None
    first = [{k: v for k, v in record.items() if k != "control"} for record in read_lines(out)]
    assert compared(first) == Comparison(2, 1, 2, None, 1, 0)


def test_a_run_goes_on_and_other_rules_do_not_mix(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    list(generate([instance("one")], Refiner(Scripted(RIGHT), Refinement()), out))
    engine = Scripted(RIGHT, RIGHT)  # a part that is half written is made again whole
    list(generate([instance("one"), instance("two")], Refiner(engine, Refinement()), out))
    assert [record["id"] for record in read_lines(out)] == ["one", "two"]
    list(generate([instance("one"), instance("two")], Refiner(engine, Refinement()), out))
    assert len(engine.asked) == 2
    with pytest.raises(Exception, match="profile"):
        list(generate([instance("three")], Refiner(engine, Refinement(profile="unit-grid")), out))


def test_the_command(tmp_path: Path) -> None:
    given = write_lines(tmp_path / "in.jsonl", instance(answer="left").model_dump())

    def answer(body: dict[str, Any]) -> str:
        return RIGHT if "Logic shows" in body["messages"][0]["content"] else WRONG

    with chat_server(answer) as server:
        out = tmp_path / "out.jsonl"
        arguments = (given, "--endpoint", server.url, "--model", "m", "--out", out, "--control")
        result = run("refine", *arguments)
    assert result.exit_code == 0, result.stderr
    assert result.stderr.splitlines()[-1] == (
        "right: 0 of 1 first answers, 1 refined, 0 with the control; against the draws 1 gained, "
        "0 lost"
    )
    (record,) = read_lines(out)
    assert record["conclusion"] == "left"
    # What it writes is a trace, which an audit reads.
    audited = run("audit", out, "--out", tmp_path / "audits.jsonl")
    assert audited.exit_code == 0, audited.stderr
