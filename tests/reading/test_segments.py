"""Where a response has its answer, what of it is a claim, and what is taken back: every reader."""

from __future__ import annotations

from functools import cache

import pytest

from symbouq.auditing.answers import delivered
from symbouq.auditing.auditor import TraceAuditor
from symbouq.reading.segments import (
    announced,
    broken,
    clauses,
    retracts,
    segmented,
    structured,
    unretracted,
    upheld,
)
from symbouq.records import Trace

SCENE = ["P is left of Q.", "Q is left of R."]
QUESTION = "What is the relation of P to R?"
LABELS = ["left", "right", "above", "below", "upper-left", "upper-right", "lower-left"]
READERS = {"described": {"dataset": "spartun"}, "parsed": {}}

MIRRORED = {"left": "right", "right": "left"}

Stated = list[tuple[str, str, str]]


@cache
def auditor() -> TraceAuditor:
    return TraceAuditor("nine-way")


def claims(
    reader: str, text: str | list[str], question: str = QUESTION
) -> list[tuple[str, Stated]]:
    """The type or, where it is not asserted, the stance of each claim, and what it states."""
    given = (
        {"response": text}
        if isinstance(text, str)
        else {"reasoning": text[:-1], "conclusion": text[-1]}
    )
    record = {"id": "t", "scene": SCENE, "question": question, **given, **READERS[reader]}
    audit = auditor().audited(Trace.model_validate(record))
    return [
        (
            claim["type"] if claim["stance"] == "asserted" else claim["stance"],
            [(r["subject"], r["relation"], r["object"]) for r in claim["relations"]],
        )
        for claim in audit["claims"]
    ]


# What the conclusion says of P and R; None where nothing is delivered.
DRESSES = {
    "<think>The answer is right. No, wait.</think>P is left of R.": "left",
    "The answer is right. No, wait.</think>P is left of R.": "left",
    "<think>The answer is right.</think>\n\nAnswer: left": "left",
    "<thinking>The answer is right.</thinking>Answer: left": "left",
    "<THINK>Answer: right</THINK>Answer: left": "left",
    "<reasoning>\nThe answer is right.\n</reasoning>\n<answer>\nleft\n</answer>": "left",
    "<think>I put it in <answer> tags. right</think><answer>left</answer>": "left",
    "<think>Answer: right</think>": None,
    "<think>P is left of Q, so the answer is left": None,
    "[THINK]The answer is right.[/THINK]P is left of R.": "left",
    "[THINK]The answer is right.[/THINK]The answer is left.": "left",
    "◁think▷The answer is right.◁/think▷Left.": "left",
    "<|begin_of_thought|>Answer: right<|end_of_thought|>"
    "<|begin_of_solution|>left<|end_of_solution|>": "left",
    "<|START_THINKING|>Answer: right<|END_THINKING|><|START_RESPONSE|>left<|END_RESPONSE|>": "left",
    "<|channel|>analysis<|message|>The answer is right.<|end|><|start|>assistant"
    "<|channel|>final<|message|>P is left of R.<|return|>": "left",
    "<|channel|>analysis<|message|>The answer is right.<|end|>": None,
    "<|channel|>final<|message|>Answer: left<|im_end|>": "left",
    "analysisThe answer is right.assistantfinalThe answer is left.": "left",
    "P is left of Q.\nAnswer: left<|im_end|>": "left",
    "P is left of Q.\nAnswer: left</s>": "left",
    "<|im_start|>assistant\nAnswer: left<|im_end|>\n": "left",
    "Answer: left<|eot_id|>": "left",
    "Answer: left<end_of_turn>": "left",
    "<answer>left</answer>": "left",
    "P is left of Q.\n<answer>P is left of R.</answer>": "left",
    "<answer>left</answer>\nAnswer: right is wrong here.": "left",
    "<final_answer>left</final_answer>": "left",
    "<solution>The answer is left.</solution>": "left",
    "<step>P is left of Q.</step><step>Q is left of R.</step>Answer: left": "left",
    '{"steps": ["P is left of Q."], "answer": "left"}': "left",
    '```json\n{"reasoning": "P is left of Q.", "final_answer": "left"}\n```': "left",
    '<think>The answer is right.</think>{"answer": "left"}': "left",
    "{'answer': 'left'}": "left",
    "**Final answer:** left": "left",
    "### Answer\n\nleft": "left",
    "$\\boxed{\\text{left}}$": "left",
    "Answer:\nleft": "left",
    "The correct answer is left.": "left",
    "The answer to the question is left.": "left",
    "P is left of Q.\n\nLeft": "left",
}

DRESSES |= {
    "<p>The chain is clear.</p><p>The answer is <b>left</b>.</p>": "left",
    "<div>P is left of Q.</div>\n<strong>Answer:</strong> left<br/>": "left",
    "<result><answer>left</answer></result>": "left",
    '<reply lang="en">\nThe answer is left.\n</reply>': "left",
    '{"thought": "P is left of Q.", "relation": "left"}': "left",
}

ENDINGS = {
    "The answer, as far as I can see, is left.": "left",
    "The best answer is still 'left'.": "left",
    'It is not stated, but the best answer is still "left".': "left",
    "Left? No. Above? No. I'd go with left.": "left",
    "Right? Is that so?": None,
    "Right. Hold on, P is left of the": None,
    "I am changing my answer to left.": "left",
    "The answer is left. This answer is correct.": "left",
    "The answer is left. The answer is confirmed by both facts.": "left",
    "The answer is right. No, wait. The answer is left.": "left",
    "The answer is right. Actually, no, the answer is left.": "left",
    "Answer: right\nNo, wait.\nAnswer: left": "left",
    "The answer is right — no wait, left.": "left",
    "The answer is right. Wait, no: left.": "left",
    "The answer is right? No. Left.": "left",
    "The answer is left. Hmm, let me see. Yes, the answer stands.": "left",
    "The answer is left.\nThank you for your question.": "left",
    "The answer is left. This follows from the two facts.": "left",
    "If P is above Q, the answer is right. But P is left of Q. The answer is left.": "left",
    "P is left of R.": "left",
    "P is to the left of R": "left",
    "left": "left",
    "P is left of Q. P is right of R... no wait, left.": "left",
    "Perhaps the answer is right. Hmm, but the shelf is above": None,
    "Maybe the answer is right.": None,
    "The answer might be right.": None,
    "Could the answer be right?": None,
    "Is the answer: right?": None,
    "The answer is right. Hmm.": None,
    "The answer is right. Wait, that is wrong.": None,
    "The answer is right. Scratch that.": None,
    "The answer is right — oops, scratch that.": None,
    "If so, the answer is right.": None,
    "I am not sure that the answer is right.": None,
    "P is left of Q.\nI could be very confident that left is the correct answer.\nleft": "left",
    "Q is left of R, so P is right of R. No.": None,
    "P is right of R. Hold on, I made a mistake.": None,
    "Suppose the answer is right. Then P is right of R.": None,
    "": None,
    "I have no idea.": None,
    "Therefore, left.": "left",
    "P is left of Q. Therefore, left.": "left",
    "I selected left.": "left",
    "I choose left.": "left",
    "My answer is left.": "left",
    "So the answer would be left.": "left",
    "It's left.": "left",
    "P is on the left of R.": "left",
    "Final answer: left.": "left",
    "FINAL ANSWER: LEFT": "left",
    "The final answer is: left": "left",
    "Answer - left": "left",
    "answer = left": "left",
    "Ans: left": "left",
    "A: left": "left",
    "Conclusion: left": "left",
    "Result: left": "left",
    '{"result": "left"}': "left",
    '{"prediction": "left"}': "left",
    '{"label": "left"}': "left",
    '{"relation": "left"}': "left",
    "The relation is left.": "left",
    "The relation of P to R is left.": "left",
    "The relation between P and R is: left.": "left",
    "R is to the right of P.": "left",
    "P is left of Q and Q is left of R, so P is left of R.": "left",
    "Hence P is left of R.": "left",
    "Thus: left": "left",
    "Overall, P is left of R.": "left",
    "In conclusion, P is to the left of R.": "left",
    "In short, left.": "left",
    "To sum up, P is left of R.": "left",
    "So, P -> left -> R. Answer: left": "left",
    "Left, because Q is between them.": "left",
    "The answer is left, because Q is left of R.": "left",
    "Since Q is left of R, the answer is left.": "left",
    'The answer is "left".': "left",
    "The answer is 'left'.": "left",
    "The answer is **left**.": "left",
    "The answer is (left).": "left",
    "The answer is: **Left**": "left",
    "Answer: left (P is left of R)": "left",
    "Answer: left, not right.": "left",
    "Answer: not right but left.": "left",
    "It is not right. It is left.": "left",
    "The correct option is left.": "left",
    "The correct relation is left.": "left",
    "Correct answer: left": "left",
    "We conclude that P is left of R.": "left",
    "I conclude: left.": "left",
    "We get left.": "left",
    "P must be left of R.": "left",
    "This means P is left of R.": "left",
    "Which gives us left.": "left",
    "✅ Answer: left": "left",
    "> Answer: left": "left",
    "- Answer: left": "left",
    "1. Answer: left": "left",
    "**Answer:** **left**": "left",
    "__Answer__: left": "left",
    "Answer: `left`": "left",
    "Answer: left\n\nConfidence: 90%": "left",
    "Answer: left\nExplanation: Q is left of R.": "left",
    "left\n\nExplanation: Q is left of R.": "left",
    "The answer is left. Let me know if you need more help!": "left",
    "I cannot determine the answer.": None,
    "The answer cannot be determined.": None,
    "Answer: unknown": None,
    "Answer:": None,
    "N/A": None,
    "The answer is either left or right.": None,
    "It could be left or right.": None,
    "Answer: left or right": None,
    "Not left.": None,
    "The answer is not right.": None,
    "Answer: I don't know.": None,
    "The answer is left. No, right. No, left.": "left",
    "Right. Wait, left.": "left",
    "Right! Just kidding, left.": "left",
    "First I thought right, but the answer is left.": "left",
}

PARSED = {
    "Q is left of R. So P is left of R.": "left",
    "P is left of R. That is all.": "left",
    "P is right of R. Hmm, wait. P is left of R.": "left",
    "Q is left of R. P is right of R — hmm, scratch that. P is left of R.": "left",
    "P is left of Q. P is to the right of R — oops, I mean left.": "left",
    "Q is left of R. So P is right of R. That is not right.": None,
    "Q is left of R. So P is right of R": None,  # it breaks off
    "Q is left of R.\nSo P is left of R": "left",
    "<think>So P is right of R.</think>Sorry, I cannot say. I give up.": None,
}


def answered(reader: str, text: str) -> str | None:
    """What the conclusion says of P and R."""
    *_, (kind, stated) = claims(reader, text)
    assert kind == "conclusion"
    found = [
        r if (s, o) == ("P", "R") else MIRRORED[r] for s, r, o in stated if {s, o} == {"P", "R"}
    ]
    return found[0] if found else None


MISREAD = ("The relation of P to R is left.", "I have no idea.")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", [*DRESSES, *ENDINGS])
def test_the_answer_of_a_response(reader: str, text: str) -> None:
    if reader == "described" and text in MISREAD:
        pytest.xfail("read wrongly so far")
    assert answered(reader, text) == {**DRESSES, **ENDINGS}[text]


@pytest.mark.parametrize("text", PARSED)
def test_the_last_claim_about_the_pair_is_the_answer(text: str) -> None:
    assert answered("parsed", text) == PARSED[text]


OPTIONS = "A) left B) right C) above"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("B", "right"),
        ("(b)", "right"),
        ("The answer is B.", "right"),
        ("Answer: (A)", "left"),
        ("So the correct choice is C.", "above"),
        ("Therefore, option B.", "right"),
        ("The answer is D.", None),
    ],
)
def test_an_option_is_what_its_letter_stands_for(text: str, wanted: str | None) -> None:
    question = f"{QUESTION} {OPTIONS}"
    *_, (kind, stated) = claims("parsed", text, question)
    assert (kind, [r for _, r, _ in stated]) == ("conclusion", [wanted] if wanted else [])
    assert delivered(text, LABELS, question) == ((wanted,) if wanted else None)
    listed = "Options:\n(a) left\n(b) right\n(c) above\n\n"
    assert delivered(listed + text, LABELS, QUESTION) == ((wanted,) if wanted else None)


SUPPOSED = "Suppose the answer is right. Then P is right of R."  # for a reader to see


@pytest.mark.parametrize("text", [text for text in (*DRESSES, *ENDINGS) if text != SUPPOSED])
def test_the_label_that_a_response_delivers(text: str) -> None:
    wanted = {**DRESSES, **ENDINGS}[text]
    assert delivered(text, LABELS, QUESTION) == ((wanted,) if wanted else None)


# The kinds of all claims but the conclusion, the relations of those that state something.
CLAIMS = {
    "P is right of Q — hmm, scratch that. P is left of Q. Answer: left": [
        ("retracted", []),
        ("reasoning", []),
        ("reasoning", [("P", "left", "Q")]),
    ],
    "P is left of Q. Q is right of R — oops, I mean left. Answer: left": [
        ("reasoning", [("P", "left", "Q")]),
        ("retracted", []),
        ("reasoning", []),
        ("reasoning", [("Q", "left", "R")]),
    ],
    "P is left of Q. Q is right of R, no wait, left of R. Answer: left": [
        ("reasoning", [("P", "left", "Q")]),
        ("retracted", []),
        ("reasoning", []),
        ("reasoning", [("Q", "left", "R")]),
    ],
    "P is left of Q. Q is right of R, but that is wrong. Answer: left": [
        ("reasoning", [("P", "left", "Q")]),
        ("retracted", []),
        ("reasoning", []),
    ],
    "P is left of Q. Q is right of R. Scratch that. Q is left of R. Answer: left": [
        ("reasoning", [("P", "left", "Q")]),
        ("retracted", []),
        ("reasoning", []),
        ("reasoning", [("Q", "left", "R")]),
    ],
    "P is left of Q. Q is right of R. No. Answer: left": [
        ("reasoning", [("P", "left", "Q")]),
        ("retracted", []),
        ("reasoning", []),
    ],
    "1.\nP is left of Q.\n2.\nQ is left of R.\n\n3\n\nAnswer: left": [
        ("reasoning", [("P", "left", "Q")]),
        ("reasoning", [("Q", "left", "R")]),
    ],
    "1. P is left of Q.\n2) Q is left of R.\nAnswer: left": [
        ("reasoning", [("P", "left", "Q")]),
        ("reasoning", [("Q", "left", "R")]),
    ],
    "<think>P is left of Q.</think>Q is left of R. Answer: left": [
        ("reasoning", [("P", "left", "Q")]),
        ("reasoning", [("Q", "left", "R")]),
    ],
    "P is left of Q. That is not right of R. Answer: left": [
        ("reasoning", [("P", "left", "Q")]),
        ("reasoning", []),
    ],
    "P is left of Q. My previous answer was wrong. Answer: left": [
        ("reasoning", [("P", "left", "Q")]),
        ("reasoning", []),
    ],
    "P is left of Q. Q is right of R. The last step was wrong. Answer: left": [
        ("reasoning", [("P", "left", "Q")]),
        ("retracted", []),
        ("reasoning", []),
    ],
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", CLAIMS)
def test_claims(reader: str, text: str) -> None:
    *found, last = claims(reader, text)
    assert last == ("conclusion", [("P", "left", "R")])
    assert found == CLAIMS[text]


@pytest.mark.parametrize("reader", READERS)
def test_no_to_a_question_takes_nothing_back(reader: str) -> None:
    first, *_ = claims(reader, "P is left of Q. Is Q right of R? No. Answer: left")
    assert first == ("reasoning", [("P", "left", "Q")])


STEPS = {
    ("P is left of Q.", "Q is right of R — scratch that.", "left"): [[("P", "left", "Q")], []],
    ("P is left of Q.", "Q is right of R, no wait, left of R.", "left"): [
        [("P", "left", "Q")],
        [("Q", "left", "R")],
    ],
    ("P is left of Q.", "Q is right of R — oops, I mean left.", "left"): [
        [("P", "left", "Q")],
        [("Q", "left", "R")],
    ],
    ("P is left of Q.", "Q is right of R.", "Wait, no.", "left"): [[("P", "left", "Q")], [], []],
    ("P is left of Q.", "Q is right of R.", "No.", "left"): [[("P", "left", "Q")], [], []],
    ("P is left of Q.", "right, no, wait, left"): [[("P", "left", "Q")]],
    ("P is left of Q.", "The answer is right. Scratch that. The answer is left."): [
        [("P", "left", "Q")]
    ],
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("steps", STEPS)
def test_claims_given_one_by_one(reader: str, steps: tuple[str, ...]) -> None:
    *found, (_, conclusion) = claims(reader, [*steps])
    assert [stated for _, stated in found] == STEPS[steps]
    assert conclusion == [("P", "left", "R")]


def test_a_question_that_asks_whether_is_answered_no() -> None:
    asked = "Is P right of R?"
    *found, (kind, stated) = claims("parsed", "P is left of R. No.", asked)
    assert found == [("reasoning", [("P", "left", "R")])]
    assert (kind, stated) == ("conclusion", [])


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("north-east", ("northeast", "northwest"), "northeast"),
        ("North East", ("northeast", "northwest"), "northeast"),
        ("the Northeast", ("north-east", "north-west"), "north-east"),
        ("It is north east of it.", ("North-East", "North-West"), "North-East"),
        ("upperleft", ("upper left", "left", "above"), "upper left"),
        ("as stated above, left", LABELS, "left"),
        ("Given the facts above, the answer is right.", LABELS, "right"),
        ("As shown below, left.", LABELS, "left"),
        ("To sum up, P is left of R.", LABELS, "left"),
        ("It all boils down to this: left.", LABELS, "left"),
        ("P ends up above R.", LABELS, "above"),
        ("yes? no.", ("yes", "no"), "no"),
        ("Yes? No.", ("yes", "no"), "no"),
        ("Is it? Yes.", ("yes", "no"), "yes"),
        ("Yes... no.", ("yes", "no"), "no"),
        ("No - yes!", ("yes", "no"), "yes"),
    ],
)
def test_spellings(text: str, labels: tuple[str, ...], expected: str) -> None:
    assert delivered(text, labels) == (expected,)


TILES = ("N", "NE", "E", "SE", "S", "SW", "W", "NW", "B")


@pytest.mark.parametrize(
    "text",
    [
        "- SW (if x is left of z) - S (if ...)",
        "- SW (if x is left of z)\n- S (if x is below z)",
        "The possible relations are:\n- SW (if x is left of z)\n- S (if x is below z)",
        "The answer is: - SW (if x is west) - S (if it is not)",
        "The possible relations are SW (if x is west of y) and S (otherwise).",
        "1. SW (if x is left of z)\n2. S (if x is below z)",
        "So they are:\n* SW (when it is wide);\n* S (else).",
        "SW (if N of it is free), S (else)",
    ],
)
def test_a_list_with_conditions_is_a_set(text: str) -> None:
    assert set(delivered(text, TILES) or ()) == {"SW", "S"}


def test_a_text_keeps_its_length() -> None:
    for text in (*DRESSES, *ENDINGS):
        assert len(segmented(text).text) == len(broken(text)) == len(text)


def test_roles() -> None:
    response = segmented("ab<think>cd</think>ef<answer>gh</answer>")
    assert [response.role(n) for n in (0, 9, 19, 29)] == ["step", "thinking", "step", "answer"]
    assert (response.thought, response.marked) == ("cd", "gh")
    assert response.said.split() == ["ab", "ef", "gh"]


def test_clauses_of_a_text() -> None:
    text = "P is left of Q. Q is above R, no wait, below R."
    found = clauses(text)
    assert [text[a:b].strip(" ,") for a, b in found.standing] == ["P is left of Q.", "below R."]
    assert found.taken is not None and text[slice(*found.taken)].strip(" ,") == "Q is above R"
    assert upheld("Left. Scratch that. Right.").strip() == "Right."
    assert clauses("Wait, no. Below.").before


RETRACTED = {
    ("The cup is left of B.", "No."): ["", ""],
    ("The cup is left of B.", "Actually, it is not.", "D is on E."): ["", "", "D is on E."],
    ("The cup is left of B; rather, it is above B.",): ["it is above B."],
    ("The cup is left of B;", "rather, it is above B."): ["", "it is above B."],
    ("The cup is left of B, sorry, above it.",): ["above it."],
    ("Sorry, the cup is left of B, sorry.",): ["Sorry, the cup is left of B, sorry."],
    ("The cup is not left of B; rather, it is above B.",): [
        "The cup is not left of B; rather, it is above B."
    ],
    ("D is on E. The cup is left of B (correction: above it).",): ["D is on E.", "above it)."],
    ("D is on E.", "Is it? No.", "The cup is left of B."): [
        "D is on E.", "Is it? No.", "The cup is left of B."
    ],
}  # fmt: skip
"""Sentences of a scene to what they leave of themselves."""


@pytest.mark.parametrize("texts", RETRACTED)
def test_what_a_scene_takes_back(texts: tuple[str, ...]) -> None:
    left = unretracted(texts)
    assert [*map(len, left)] == [*map(len, texts)]
    words = " ".join(" ".join(left).split())
    assert words == " ".join(text for text in RETRACTED[texts] if text)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("scene", ["P is left of Q. No.", "P is left of Q. No, right of Q."])
def test_a_scene_without_what_it_takes_back(reader: str, scene: str) -> None:
    record = {"id": "t", "scene": scene, "question": "", **READERS[reader]}
    record |= {"reasoning": [], "conclusion": "P is left of Q."}
    verdict = auditor().audited(Trace.model_validate(record))["claims"][-1]["verdict"]
    right = "contradicted" if "right" in scene and reader == "parsed" else "unknown"
    assert verdict == right


@pytest.mark.parametrize(
    "text",
    [
        "The box that is wrong is left.",
        "That is not right of it.",
        "No lamp.",
        "A mistake is easy.",
    ],
)
def test_what_takes_back_nothing(text: str) -> None:
    assert broken(text) == text and not retracts(text)


def test_what_is_announced() -> None:
    text = "So the final answer is: **left**."
    assert text[slice(*announced(text))] == "left"
    assert announced("left") == (0, 4)
    text = "\\boxed{\\text{E}} \\quad \\boxed{\\text{SE}}"
    assert text[slice(*announced(text))] == "SE"


def test_json() -> None:
    assert structured('{"a": "x", "answer": ["l", "r"]}') == (["x"], "l, r")
    assert structured('{"answer": []}') == ([], "none")
    assert structured('{"label": 1, "final_answer": true}') == ([], "True")
    assert structured("Answer: {left}") is None
    assert structured("[" * 1000 + "]" * 1000) is None


def test_marks_that_close_what_was_not_opened() -> None:
    response = segmented("Answer: right</think>" * 2000 + "left")
    assert [segment.role for segment in response.segments] == ["thinking", "step"]
    assert response.said == "left"
