"""Scenes with sentences hidden, in scenes small enough to be solved by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers.commands import read_lines, run, write_lines

from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import RecordError
from symbouq.experiments.scenes.degraded import degraded
from symbouq.records import Instance

NINE = ["left", "right", "above", "below", "upper-left", "upper-right", "lower-left",
        "lower-right", "overlap"]  # fmt: skip
CHAIN: dict[str, Any] = {
    "id": "c",
    "dataset": "stepgame",
    "scene": ["A is above B.", "B is above C.", "D is to the left of E."],
    "question": "What is the relation of the agent A to the agent C?",
    "answer": "above",
    "answer_space": NINE,
    "reasoning": ["A is above B.", "So A is above C."],
    "conclusion": "left",
}


@pytest.fixture(scope="module")
def auditor() -> TraceAuditor:
    return TraceAuditor()


def steps(auditor: TraceAuditor, record: dict[str, Any], *levels: int) -> list[dict[str, Any]]:
    return [*degraded(auditor, Instance.model_validate(record), *levels)]


def test_what_the_answer_does_not_rest_on_goes_first_and_one_sentence_stays(
    auditor: TraceAuditor,
) -> None:
    whole, control, opened = steps(auditor, CHAIN, 0, 9)
    assert [whole["id"], control["id"], opened["id"]] == ["c/hidden-0", "c/hidden-1", "c/hidden-2"]
    assert [each["step"] for each in (whole, control, opened)] == [0, 1, 2]
    assert [each["decided"] for each in (whole, control, opened)] == [True, True, False]
    assert whole["hidden"] == [] and whole["scene"] == CHAIN["scene"]
    assert control["hidden"] == [3] and control["scene"] == CHAIN["scene"][:2]
    assert opened["hidden"] in ([3, 1], [3, 2])
    assert opened["scene"] == [CHAIN["scene"][2 - opened["hidden"][1]]]
    for each in (whole, control, opened):
        assert {name: each[name] for name in ("question", "reasoning", "conclusion", "answer")} == {
            name: CHAIN[name] for name in ("question", "reasoning", "conclusion", "answer")
        }


def test_gold_says_how_both_answers_stand_now(auditor: TraceAuditor) -> None:
    whole, control, opened = steps(auditor, CHAIN, 0, 9)
    assert whole["gold"] == {"answer": "entailed", "delivered": "contradicted"}
    assert control["gold"] == whole["gold"]
    assert opened["gold"] == {"answer": "open", "delivered": "open"}


def test_an_answer_that_is_no_label_stands_nowhere(auditor: TraceAuditor) -> None:
    (whole,) = steps(auditor, CHAIN | {"conclusion": "purple"}, 0, 0)
    assert whole["gold"] == {"answer": "entailed", "delivered": None}


def test_steps_end_where_the_question_opens_unless_told_otherwise(auditor: TraceAuditor) -> None:
    long = CHAIN | {"scene": ["C is above F.", *CHAIN["scene"]]}
    assert [each["decided"] for each in steps(auditor, long, 1)] == [True, False]
    assert [each["decided"] for each in steps(auditor, long, 1, 9)] == [True, False, False]


def test_a_claim_uses_what_its_verdict_rests_on(auditor: TraceAuditor) -> None:
    """Claim 1 rests on sentence 1 alone. Claim 2 says what the conclusion answers from both: that
    is no reading of either.
    """
    answered = CHAIN | {"conclusion": "A is above C."}
    *_, opened = steps(auditor, answered, 0, 9)
    uses = [1] if 1 in opened["hidden"] else []
    assert (opened["uses"], opened["used"]) == (uses, bool(uses))
    both = answered | {"reasoning": ["A is above B.", "B is above C.", "So A is above C."]}
    *_, opened = steps(auditor, both, 0, 9)
    assert (opened["uses"], opened["used"]) == ([opened["hidden"][1]], True)
    assert not steps(auditor, both, 1, 1)[0]["used"]


def test_a_question_that_needs_no_trace_says_nothing_of_its_use(auditor: TraceAuditor) -> None:
    question = {k: v for k, v in CHAIN.items() if k not in ("reasoning", "conclusion")}
    (step,) = steps(auditor, question, 1, 1)
    assert step["gold"] == {"answer": "entailed", "delivered": None}
    assert not {"uses", "used"} & step.keys()


def test_all_traces_about_a_question_lose_the_same_sentences(auditor: TraceAuditor) -> None:
    scene = [f"{u} is above {v}." for u, v in zip("ABCDEFG", "BCDEFGH", strict=True)]
    asked = CHAIN | {"scene": scene, "question": CHAIN["question"].replace("C?", "H?")}
    other = asked | {"id": "x", "conclusion": "above", "reasoning": [], "model": "m"}
    first, second = ([each["hidden"] for each in steps(auditor, r, 0, 5)] for r in (asked, other))
    assert first == second and first[5][:4] == first[4] and len({*first[5]}) == 5


def test_a_second_way_keeps_a_question_decided(auditor: TraceAuditor) -> None:
    """A is above C by two ways, of one sentence and of two; every sentence but the last that is
    left is a premise in its turn.
    """
    scene = ["A is above C.", "C is below A."]
    twice = steps(auditor, CHAIN | {"scene": scene}, 0, 9)
    assert [each["decided"] for each in twice] == [True, True]


def test_a_sentence_without_which_the_scene_says_something_else_stays(
    auditor: TraceAuditor,
) -> None:
    """The latest place counts: while the scene has her at the library before, it would
    have her there without sentence 4, the one premise.
    """
    moved = {
        "id": "m",
        "dataset": "babi",
        "profile": "story",
        "scene": [
            "Mia is at the library.",
            "Noah is at the museum.",
            "Mia is at the library.",
            "Mia is at the station.",
        ],
        "question": "Is Mia at the library?",
        "answer_space": ["yes", "no"],
    }
    found = steps(auditor, moved, 0, 2)
    assert [(each["decided"], 4 in each["hidden"]) for each in found] == [(True, False)] * 3


def test_relations_are_hidden_as_sentences_are(auditor: TraceAuditor) -> None:
    claims = [{"relations": [["A", "above", "B"]]}, {"relations": [["A", "left", "C"]]}]
    relations = [["A", "above", "B"], ["B", "above", "C"], ["D", "left", "E"]]
    given = {k: v for k, v in CHAIN.items() if k not in ("scene", "reasoning", "conclusion")}
    given |= {"scene_relations": relations, "claims": claims}
    _, control, opened = steps(auditor, given, 0, 9)
    assert control["hidden"] == [3] and control["decided"] and not opened["decided"]
    assert [r["subject"] for r in control["scene_relations"]] == ["A", "B"]
    assert opened["used"] is (1 in opened["hidden"])


def test_numbered_relations_go_with_their_sentence_and_are_counted_anew(
    auditor: TraceAuditor,
) -> None:
    numbers = (2, 2, 3, 1)
    pairs = (("A", "above", "B"), ("B", "below", "A"), ("B", "above", "C"), ("D", "left", "E"))
    relations = [
        {"subject": u, "relation": r, "object": v, "sentence": n}
        for n, (u, r, v) in zip(numbers, pairs, strict=True)
    ]
    given = {k: v for k, v in CHAIN.items() if k not in ("reasoning", "conclusion")}
    given |= {"scene": ["D is left of E.", "A, B.", "B, C."], "scene_relations": relations}
    control, opened = steps(auditor, given | {"claims": []}, 1, 2)
    assert control["hidden"] == [1] and control["scene"] == ["A, B.", "B, C."]
    assert [r["sentence"] for r in control["scene_relations"]] == [1, 1, 2]
    assert {r["sentence"] for r in opened["scene_relations"]} == {1}
    assert len(opened["scene_relations"]) == {2: 1, 3: 2}[opened["hidden"][1]]


def test_numbers_of_sentences_may_have_gaps(auditor: TraceAuditor) -> None:
    stated = ((7, "A", "B"), (9, "B", "C"), (3, "D", "E"))
    relations = [
        {"subject": u, "relation": "above", "object": v, "sentence": n} for n, u, v in stated
    ]
    given = {k: v for k, v in CHAIN.items() if k not in ("scene", "reasoning", "conclusion")}
    given |= {"scene_relations": relations, "claims": []}
    control, opened = steps(auditor, given, 1, 9)
    assert control["hidden"] == [3] and control["decided"]
    assert opened["hidden"][1] in (7, 9) and not opened["decided"]
    *_, vague = steps(auditor, given, 1, 3, True)
    assert vague["blurred"][0] == 3 and {*vague["blurred"]} == {3, 7, 9}


def test_what_is_blurred_denies_the_converse(auditor: TraceAuditor) -> None:
    """What is not below, and what is above something above C, may be anywhere but straight below."""
    whole, control, opened, rest = steps(auditor, CHAIN, 0, 9, True)
    assert [each["id"] for each in (whole, rest)] == ["c/blurred-0", "c/blurred-3"]
    assert control["scene"] == [*CHAIN["scene"][:2], "D is not to the right of E."]
    assert [each["decided"] for each in (control, opened, rest)] == [True, False, False]
    assert opened["blurred"][0] == 3 and {*rest["blurred"]} == {1, 2, 3}
    assert opened["gold"] == {"answer": "open", "delivered": "open"}
    assert rest["scene"] == ["A is not below B.", "B is not below C.", control["scene"][2]]
    lone = CHAIN | {"scene": ["A is above C."], "conclusion": "below"}
    _, vague = steps(auditor, lone, 0, 9, True)
    assert vague["gold"] == {"answer": "open", "delivered": "contradicted"}


def test_relations_are_blurred_and_what_has_no_direction_is_not(auditor: TraceAuditor) -> None:
    relations = [["A", "above", "C"], ["D", "near", "E"]]
    given = {k: v for k, v in CHAIN.items() if k not in ("scene", "reasoning", "conclusion")}
    given |= {"scene_relations": relations, "claims": []}
    (vague,) = steps(auditor, given, 1, 9, True)
    found = [(r["subject"], r["relation"], r["object"]) for r in vague["scene_relations"]]
    assert found == [("A", "not_below", "C"), ("D", "near", "E")]


def test_what_calls_its_things_by_other_words_is_not_blurred(auditor: TraceAuditor) -> None:
    scene = ["Box AAA is above box BBB.", "It is to the right of box CCC."]
    asked = "What is the position of box AAA relative to box BBB?"
    given = {"id": "b", "dataset": "spartun", "scene": scene, "question": asked}
    given |= {"answer_space": ["left", "right", "above", "below"]}
    *_, last = steps(auditor, given, 0, 9, True)
    assert (last["blurred"], last["scene"][1]) == ([1], scene[1])
    named = given | {"scene": [scene[0], "Box AAA is to the right of box CCC."]}
    (vague,) = steps(auditor, named, 1, 1, True)
    assert vague["blurred"] == [2]  # the answer does not rest on it


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"scene": ["A is above B.", "B is above A."]}, "contradicts itself"),
        ({"question": "Who is it?", "answer_space": None}, "`answer_space` is needed"),
        ({"question": "Who is it?"}, "was not read"),
    ],
)
def test_what_cannot_be_decided_cannot_be_degraded(
    auditor: TraceAuditor, change: dict[str, Any], fault: str
) -> None:
    with pytest.raises(RecordError, match=fault):
        steps(auditor, CHAIN | change, 0, 1)


def test_a_question_about_directions_needs_no_answer_space(auditor: TraceAuditor) -> None:
    given = {k: v for k, v in CHAIN.items() if k != "answer_space"}
    _, opened = steps(auditor, given, 1)
    assert opened["gold"] == {"answer": "open", "delivered": "open"}


# The command ---------------------------------------------------------------------------


def test_the_command_writes_the_steps_of_each_record_in_order(tmp_path: Path) -> None:
    single = CHAIN | {"id": "one", "scene": ["A is above C."]}
    clash = CHAIN | {"id": "clash", "scene": ["A is above B.", "B is above A."]}
    file = write_lines(tmp_path / "in.jsonl", CHAIN, single, clash, CHAIN | {"id": "d"})
    out = tmp_path / "out.jsonl"
    done = run("scenes", "degrade", file, "--hide", "1..9", "--jobs", 1, "--out", out)
    assert done.exit_code == 1
    assert "in.jsonl:3: the scene, or the question, contradicts itself" in done.output
    assert "4 scenes, 2 of which still decide their questions" in done.output
    written = read_lines(out)
    assert [row["id"] for row in written] == [f"{n}/hidden-{k}" for n in "cd" for k in (1, 2)]
    audited = run("audit", out, "--jobs", 1, "--out", tmp_path / "audits.jsonl")
    assert audited.exit_code == 0, audited.output


@pytest.mark.parametrize(
    ("steps", "written"), [("2", [2]), ("0..1", [0, 1]), ("1..", [1, 2]), (None, [1, 2])]
)
def test_steps_are_one_or_a_range(tmp_path: Path, steps: str | None, written: list[int]) -> None:
    file, out = write_lines(tmp_path / "in.jsonl", CHAIN), tmp_path / "out.jsonl"
    hide = ("--hide", steps) if steps else ()
    done = run("scenes", "degrade", file, *hide, "--jobs", 1, "--out", out)
    assert done.exit_code == 0, done.output
    assert [row["step"] for row in read_lines(out)] == written


def test_sentences_are_hidden_or_blurred(tmp_path: Path) -> None:
    file, out = write_lines(tmp_path / "in.jsonl", CHAIN), tmp_path / "out.jsonl"
    done = run("scenes", "degrade", file, "--blur", "1..2", "--jobs", 1, "--out", out)
    assert done.exit_code == 0, done.output
    assert [row["id"] for row in read_lines(out)] == ["c/blurred-1", "c/blurred-2"]
    both = run("scenes", "degrade", file, "--blur", "1", "--hide", "1")
    assert both.exit_code == 2 and "give either --hide or --blur" in both.output


@pytest.mark.parametrize("steps", ["k", "3..1", "-1", "1...2"])
def test_other_steps_are_refused(tmp_path: Path, steps: str) -> None:
    file = write_lines(tmp_path / "in.jsonl", CHAIN)
    done = run("scenes", "degrade", file, "--hide", steps)
    assert done.exit_code == 2
    assert "not a number of steps" in done.output or "ends before it begins" in done.output
