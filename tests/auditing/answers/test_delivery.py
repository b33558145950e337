"""Answers that state no relation, judged by the answer that the scene gives."""

from __future__ import annotations

from typing import Any

import pytest

from symbouq.api import TraceAuditor
from symbouq.auditing import auditor as auditing
from symbouq.auditing.verdicts import Verdict
from symbouq.records import Trace

AUDITOR = TraceAuditor()

RCC8 = {
    "dataset": "qsr_rcc8_composition",
    "scene": ["NTPP(x,y).", "DC(y,z)."],
    "question": "Which relations are possible between x and z?",
    "answer_space": ["DC", "EC", "PO", "TPP", "NTPP", "TPPi", "NTPPi", "EQ"],
}  # x is inside y, which is apart from z: DC alone
OPEN = RCC8 | {"scene": ["TPP(x,y).", "EC(y,z)."]}  # x may reach the border or not: DC or EC
POINTS = {
    "dataset": "consistency2d",
    "scene": ["A is to the north of B.", "B is to the north of C.", "C is to the north of A."],
    "question": "Can all of these statements be true together?",
    "answer_space": ["satisfiable", "unsatisfiable"],
}
NAMED = {
    "scene": ["The lamp is above the desk.", "The desk is above the rug."],
    "question": "Is the lamp above the rug?",
    "answer_space": ["yes", "no", "unknown"],
}
ROW = {
    "scene": [
        "The cross is to the right of the oval.",
        "The oval is to the lower left of the bin.",
    ],
    "question": "Where is the cross in relation to the bin?",
}  # below it, and left, right or neither
MAY_BE = ROW | {"question": "Could the cross be directly below the bin?"}
HAS_TO_BE = ROW | {"question": "Must the cross be directly below the bin?"}
BESIDE = NAMED | {"question": "Is the lamp near the rug?"}


GRID = {
    "dataset": "stepgame",
    "scene": ["J is above K.", "K is to the left of M."],
    "question": "What is the relation of the agent J to the agent M?",
}
APART = GRID | {"scene": ["J is above K.", "L is to the left of M."]}
SHAPES = {
    "dataset": "spartun",
    "scene": ["A red star is above a blue circle. The blue circle is above a green square."],
    "question": "Where is the red star relative to the green square?",
}


def conclusion(of: dict[str, Any], response: str) -> Any:
    trace = Trace.model_validate({"id": "t", **of, "response": response})
    return AUDITOR.audit(trace).claims[-1]


@pytest.mark.parametrize(
    ("of", "response", "verdict"),
    [
        (RCC8, "### Answer: DC", Verdict.ENTAILED),
        (RCC8, "The possible relations are DC and EC.", Verdict.CONTRADICTED),
        (OPEN, "So the possible relations are:\n- DC(x,z): apart\n- EC(x,z)", Verdict.ENTAILED),
        (OPEN, "\\boxed{DC} \\quad \\boxed{EC}", Verdict.ENTAILED),
        (OPEN, "Thus the relations are DC(x,z) and EC(x,z).", Verdict.ENTAILED),
        (OPEN, "They touch (EC) or are apart (DC).", Verdict.ENTAILED),
        (OPEN, "Answer: DC", Verdict.CONTRADICTED),
        (OPEN, "I do not know.", Verdict.UNKNOWN),
        (POINTS, "No, they cannot all be true.", Verdict.ENTAILED),
        (POINTS, "Yes.", Verdict.CONTRADICTED),
        (POINTS | {"scene": POINTS["scene"][:2]}, "Yes", Verdict.ENTAILED),
        (NAMED, "Yes.", Verdict.ENTAILED),
        (NAMED, "The answer is no.", Verdict.CONTRADICTED),
        (BESIDE, "It cannot be determined.", Verdict.ENTAILED),
        (NAMED, "It cannot be determined.", Verdict.CONTRADICTED),
        (NAMED, "I do not know.", Verdict.CONTRADICTED),  # which is one of its labels
        (NAMED | {"answer_space": None}, "It cannot be determined.", Verdict.CONTRADICTED),
        (NAMED | {"answer_space": None}, "I do not know.", Verdict.UNKNOWN),
        (ROW | {"answer_space": None}, "I am not sure.", Verdict.UNKNOWN),
        (BESIDE, "No.", Verdict.UNKNOWN),  # the scene leaves it open
        (ROW, "The possible relations are lower left, below and lower right.", Verdict.ENTAILED),
        (ROW, "It could be any of lower left, below or lower right.", Verdict.ENTAILED),
        (ROW, "Possible relations are below and lower right, so I stop.", Verdict.CONTRADICTED),
        (MAY_BE, "The cross is in some column. Yes, it could.", Verdict.ENTAILED),
        (MAY_BE, "The cross is to the right of the oval. No, it cannot.", Verdict.CONTRADICTED),
        (MAY_BE | {"question": "Can the cross be above the bin?"}, "No.", Verdict.ENTAILED),
        (HAS_TO_BE, "No.", Verdict.ENTAILED),
        (HAS_TO_BE | {"answer_space": ["yes", "no"]}, "Yes.", Verdict.CONTRADICTED),
        (ROW, "Left is one of three possible relations. That is all.", Verdict.UNKNOWN),
        # However a text is read, that nothing is settled is judged.
        (GRID, "So I cannot determine the relation of J to M.", Verdict.CONTRADICTED),
        (GRID, "Answer: unknown.", Verdict.CONTRADICTED),
        (APART, "Answer: unknown.", Verdict.ENTAILED),
        (SHAPES, "It cannot be determined.", Verdict.CONTRADICTED),
    ],
)
def test_answers(of: dict[str, Any], response: str, verdict: Verdict) -> None:
    judged = conclusion(of, response)
    assert (judged.verdict, judged.grounded_verdict) == (verdict, verdict), judged.message


def test_the_message_names_the_answer_of_the_scene() -> None:
    assert conclusion(OPEN, "Answer: DC").message == (
        "The answer given is DC, and the scene gives another: DC, EC."
    )
    assert conclusion(OPEN, "Answer: DC, EC").message == "As the scene has it: DC, EC."


def test_a_closed_world_is_not_what_the_scene_settles() -> None:
    """Without a label for what is open, "no" is said for want of proof: it decides nothing."""
    open_as_no = BESIDE | {"answer_space": ["yes", "no"]}
    assert conclusion(open_as_no, "No.").verdict == Verdict.UNKNOWN
    assert conclusion(open_as_no, "Yes.").verdict == Verdict.UNKNOWN


def test_an_answer_after_a_conflict_is_judged_by_the_scene_alone() -> None:
    response = "A is to the north of B. B is to the north of A. Answer: yes"
    judged = conclusion(POINTS | {"scene": POINTS["scene"][:2]}, response)
    assert judged.verdict == "not-evaluable"
    assert judged.grounded_verdict == "entailed"


def test_an_answer_of_relations_stays_a_claim_of_relations() -> None:
    of = NAMED | {"question": "Where is the lamp relative to the rug?"}
    of |= {"answer_space": ["above", "below", "left", "right"]}
    judged = conclusion(of, "Answer: above")
    assert [r.relation for r in judged.relations] == ["above"]
    assert judged.verdict == "entailed"
    assert judged.premises == ["scene:1", "scene:2"]


def test_an_answer_that_was_decided_counts_as_symbolizable() -> None:
    trace = Trace.model_validate({"id": "t", **POINTS, "response": "No."})
    assert AUDITOR.audit(trace).profile.symbolizability == 1.0


def test_without_an_answer_space_nothing_is_judged() -> None:
    assert conclusion(POINTS | {"answer_space": None}, "No.").verdict == "unknown"


def test_claims_of_cases_neither_contradict_nor_build_on_each_other() -> None:
    """Who asks what is possible is answered case by case; what is said of the scene's own pairs
    is said of the scene.
    """
    response = "x is disconnected from z.\nx touches z.\nx is part of z.\ny is disconnected from x.\nAnswer: DC"
    claims = AUDITOR.audit(Trace.model_validate({"id": "t", **OPEN, "response": response})).claims
    assert [(claim.verdict, claim.reason) for claim in claims[:4]] == [
        (Verdict.UNKNOWN, "open"),
        (Verdict.UNKNOWN, "open"),  # of another case: no conflict with the first
        (Verdict.UNKNOWN, "uncertain"),
        (Verdict.CONTRADICTED, ""),
    ]


@pytest.mark.parametrize(
    ("step", "verdict"),
    [
        ("So the possible relations between x and z are DC and EC.", "entailed"),
        ("Thus, the only possible relations are **EC(x,z)** and **DC(x,z)**.", "entailed"),
        ("The possible relations are DC, EC and PO.", "contradicted"),
        # of other things, the other way round, of a part of the matter, a task, a heading, a case
        ("The possible relations between x and y are DC and EC.", None),
        ("The possible relations between z and x are DC and EC.", None),
        ("Since y touches z, the possible relations are DC, EC and PO.", None),
        ("I need to determine which of the possible relations are DC, EC and PO.", None),
        ("The possible relations are:", None),
        ("Are the possible relations DC, EC and PO?", None),
    ],
)
def test_alternatives_in_the_reasoning(step: str, verdict: str | None) -> None:
    trace = Trace.model_validate({"id": "t", **OPEN, "reasoning": [step], "conclusion": "DC, EC"})
    claim, last = AUDITOR.audit(trace).claims
    assert (claim.stance == "alternatives") == (verdict is not None)
    assert verdict in (None, claim.verdict)
    assert (last.stance, last.verdict) == ("alternatives", "entailed")


def test_alternatives_without_an_answer_space() -> None:
    trace = Trace.model_validate(
        {
            "id": "t",
            **ROW,
            "reasoning": ["So the possible directions are left and right."],
            "conclusion": "The cross is below the bin.",
        }
    )
    claim = AUDITOR.audit(trace).claims[0]
    assert (claim.stance, claim.verdict) == ("alternatives", "contradicted")
    assert [r.relation for r in claim.relations] == ["left", "right"]


def test_alternatives_are_kept_where_a_trace_is_parsed_first() -> None:
    step = "So the possible relations between x and z are DC and EC."
    trace = Trace.model_validate({"id": "t", **OPEN, "reasoning": [step], "conclusion": "DC, EC"})
    inner = auditing.TraceAuditor()
    record = inner.parser_for(trace).record(trace, inner.parsed(trace))
    direct, again = (inner.audited(t)["claims"] for t in (trace, Trace.model_validate(record)))
    assert [c["stance"] for c in again] == ["alternatives", "alternatives"]
    for before, after in zip(direct, again, strict=True):
        for field in ("text", "stance", "verdict", "grounded_verdict", "reason", "message"):
            assert before[field] == after[field]


LAMPS = ["The lamp is above the desk.", "The desk is right of the chair."]
WHERE = "Where is the lamp relative to the chair?"
PLACES = ["upper left", "lower right", "upper right", "lower left"]
STATED = "\nA. The lamp is below the desk.\nB. The chair is left of the desk.\nC. It is far."


def last_claim(response: str, question: str, **more: Any) -> dict[str, Any]:
    trace = Trace(id="1", scene=LAMPS, question=question, response=response, **more)
    claim: dict[str, Any] = TraceAuditor().audited(trace)["claims"][-1]
    return claim


@pytest.mark.parametrize(
    "answer", ["ANSWER: %s", "\\boxed{%s}", "(%s)", "%s", "**%s**", "Option %s is correct."]
)
@pytest.mark.parametrize("listed", ["lines", "brackets", "answer space"])
def test_the_letter_of_an_option_is_judged_by_its_text(answer: str, listed: str) -> None:
    options = [f"{letter}. {text}" for letter, text in zip("ABCD", PLACES, strict=True)]
    question, space = WHERE, None
    if listed == "lines":
        question = "\n".join([WHERE, *options])
    elif listed == "brackets":
        question = " ".join([WHERE, *(f"({o[0]}) {o[3:]}" for o in options)])
    else:
        space = PLACES
    right = last_claim(answer % "C", question, answer_space=space)
    wrong = last_claim(answer % "B", question, answer_space=space)
    assert (right["verdict"], wrong["verdict"]) == ("entailed", "contradicted")


@pytest.mark.parametrize("answer", ["(C) upper right", "C. upper right", "C: upper right"])
def test_a_letter_with_its_text(answer: str) -> None:
    assert last_claim(answer, WHERE, answer_space=PLACES)["verdict"] == "entailed"


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        ("ANSWER: A", "contradicted"),
        ("\\boxed{B}", "entailed"),
        ("B. The chair is left of the desk.", "entailed"),
        ("ANSWER: C", "unknown"),
    ],
)
def test_an_option_may_be_a_statement(response: str, verdict: str) -> None:
    assert last_claim(response, f"Which is true?{STATED}")["verdict"] == verdict


HALL = [
    "The lamp is north of the desk. The chair is south of the desk.",
    "The red cup is west of the desk. The blue cup is east of the desk.",
]
NORTH = "Which thing is north of the desk?"
TWO = f"{NORTH} A. the chair B. the lamp"


@pytest.mark.parametrize(
    ("question", "response", "verdict"),
    [
        (TWO, "B", "entailed"),
        (TWO, "(B)", "entailed"),
        (TWO, "So (B).", "entailed"),
        (TWO, "The chair is no match. \\boxed{B}", "entailed"),
        (TWO, "B. the lamp", "entailed"),
        (TWO, "The answer is A.", "contradicted"),
        (TWO, "<think>The lamp is.</think>\n\n**B**", "entailed"),
        (TWO, "It must be up there. Answer: chair", "contradicted"),
        (TWO, "D", "unknown"),
        ("Which of the following is west of the desk?\n(a) the red cup\n(b) the lamp", "(a)", "entailed"),
        ("Which object is not north of the desk?\nA) the lamp\nB) the chair", "A", "contradicted"),
        ("What is the desk south of? (A) the chair (B) the lamp", "B", "entailed"),
        ("What stands west of the desk? A. the cup B. the lamp", "A", "unknown"),
        (f"{NORTH} A. the vase B. something", "A", "unknown"),
        (f"{NORTH} A. the vase B. something", "B", "unknown"),
        ("Where is the key? A. the lamp B. the desk", "A", "unknown"),
    ],
)  # fmt: skip
def test_an_option_may_be_a_thing(question: str, response: str, verdict: str) -> None:
    trace = Trace(id="1", scene=HALL, question=question, response=response)
    assert TraceAuditor("everyday").audited(trace)["claims"][-1]["verdict"] == verdict


@pytest.mark.parametrize(
    ("response", "verdict"), [("ANSWER: B", "entailed"), ("the chair", "contradicted")]
)
def test_a_thing_may_be_of_the_answer_space(response: str, verdict: str) -> None:
    space = ["the chair", "the lamp"]
    trace = Trace(id="1", scene=HALL, question=NORTH, answer_space=space, response=response)
    assert TraceAuditor("everyday").audited(trace)["claims"][-1]["verdict"] == verdict


def test_options_of_yes_and_no() -> None:
    space = ["Yes", "No", "Cannot be determined"]
    claim = last_claim("ANSWER: B", "Is the lamp above the desk?", answer_space=space)
    assert claim["verdict"] == "contradicted"


@pytest.mark.parametrize(
    ("response", "claims"),
    [
        ("The lamp is above the desk. So the lamp is lower ri", ["entailed", "unknown"]),
        ("The lamp is above the desk.\nAnswer: upper right.", ["entailed", "unknown", "unknown"]),
        ("", ["unknown"]),
        ("<think>\nThe lamp is above the desk. So it i", ["entailed", "unknown"]),
    ],
)
def test_output_that_was_cut_off_has_no_answer_and_no_score(
    response: str, claims: list[str]
) -> None:
    trace = Trace(id="1", scene=LAMPS, question=WHERE, response=response, truncated=True)
    audit = TraceAuditor().audited(trace)
    assert audit["truncated"] and audit["constraint_rule"] is None
    assert [claim["verdict"] for claim in audit["claims"]] == claims
    assert audit["claims"][-1]["text"] == audit["conclusion"]["text"] == ""
    whole = TraceAuditor().audited(trace.model_copy(update={"truncated": False, "response": "x."}))
    assert not whole["truncated"] and whole["constraint_rule"] is not None


def test_an_empty_output_is_one_that_was_cut_off() -> None:
    assert Trace(id="1", scene=LAMPS, response=" \n").truncated
    assert not Trace(id="1", scene=LAMPS, response="left").truncated
    assert not Trace(id="1", scene=LAMPS, reasoning=["x"], conclusion="").truncated
