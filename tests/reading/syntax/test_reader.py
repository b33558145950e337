"""Whole traces of open text, and the wordings that people who had not seen the rules wrote.

The rows of `wordings/*_developed.jsonl` were looked at while the rules were made, of those in
`wordings/*_held.jsonl` the totals alone: what is below their floors reads worse than it did.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from symbouq.api import TraceAuditor
from symbouq.errors import RecordError
from symbouq.records import Instance, Trace

FOLDER = Path(__file__).parents[1] / "wordings"
AUDITORS = {name: TraceAuditor(name) for name in ("nine-way", "half-plane")}
SCENE = ["The lamp is above the desk.", "The chair is to the left of the desk."]
QUESTION = "Where is the lamp relative to the chair?"

Claims = list[tuple[str, str, list[tuple[str, str, str]]]]


def audited(profile: str = "nine-way", **fields: Any) -> list[Any]:
    trace = Trace.model_validate({"id": "t", "question": QUESTION, "scene": SCENE} | fields)
    return AUDITORS[profile].audit(trace).claims


def read(response: str) -> Claims:
    """Type, stance and relations of each claim."""
    return [
        (c.type, c.stance, [(r.subject, r.relation, r.object) for r in c.relations])
        for c in audited(response=response)
    ]


ABOVE, LEFT = ("lamp", "above", "desk"), ("chair", "left", "desk")
ANSWER = ("lamp", "upper_right", "chair")


def test_claims_of_a_response() -> None:
    assert read("The lamp is above the desk, so it is upper right of the chair. Answer: left") == [
        ("reasoning", "asserted", [ABOVE]),
        ("reasoning", "asserted", [ANSWER]),
        ("conclusion", "asserted", [("lamp", "left", "chair")]),
    ]


DRESSES = [
    "Answer: upper right",
    "**Final answer:** upper-right",
    "\\boxed{\\text{upper right}}",
    "The answer is that the lamp is to the upper right of the chair.",
    "Conclusion\n\nThe lamp is to the upper right of the chair.",
    "Reasoning is fun.\nUpper right",
    "I chose upper right.",
]


@pytest.mark.parametrize("response", DRESSES)
def test_answers_in_usual_dress(response: str) -> None:
    assert read(response)[-1] == ("conclusion", "asserted", [ANSWER])


def test_without_an_announcement_the_last_claim_about_the_pair_is_the_answer() -> None:
    claims = read("The lamp is above the desk. So the lamp is to the upper right of the chair.")
    assert claims == [("reasoning", "asserted", [ABOVE]), ("conclusion", "asserted", [ANSWER])]


@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```"])
def test_an_object_has_steps_and_answer(fence: str) -> None:
    steps = ["The lamp is above the desk.", "The chair is left of the desk."]
    response = fence.replace("{}", json.dumps({"steps": steps, "answer": "upper right"}))
    assert [relations for _, _, relations in read(response)] == [[ABOVE], [LEFT], [ANSWER]]


STANCES = {
    "Suppose the lamp is below the desk. Then it is below the chair.": ["supposed", "supposed"],
    "If the lamp is below the desk, it is broken.": ["supposed"],
    "I think that the lamp is below the desk.": ["quoted"],
    "Is the lamp below the desk?": ["supposed"],
    "The lamp is below the desk. Wait, that is wrong.": ["retracted", "asserted"],
    "<think>The lamp is above the desk.</think>": ["asserted"],
}


@pytest.mark.parametrize("text", STANCES)
def test_stances(text: str) -> None:
    claims = read(f"{text} Answer: left")
    assert [stance for _, stance, _ in claims[:-1]] == STANCES[text]
    stated = [relations for _, stance, relations in claims[:-1] if stance != "asserted"]
    assert not any(stated)


def test_yes_and_no_take_over_what_was_asked() -> None:
    claims = audited(response="Is the lamp above the desk? Yes. Answer: left")
    assert [c.verdict for c in claims][1] == "entailed"


def test_claims_one_by_one() -> None:
    steps = ["The lamp is above the desk.", "Hm.", "The chair is right of the desk."]
    claims = audited(reasoning=steps, conclusion="upper right")
    assert [c.verdict for c in claims] == ["entailed", "unknown", "contradicted", "not-evaluable"]
    assert [c.grounded_verdict for c in claims][-1] == "entailed"


def test_spans_are_offsets_in_the_claim() -> None:
    claims = audited(response="Hm. So, the lamp is above the desk. Answer: left")
    (relation,) = claims[1].relations
    assert claims[1].text[slice(*relation.span)] == "lamp is above the desk"


def test_a_sentence_without_end_costs_its_claim_alone_and_is_an_error_in_the_scene() -> None:
    endless = "the lamp is above the desk and " * 200
    trace = {"id": "t", "question": QUESTION, "reasoning": [endless], "conclusion": "upper right"}
    audit = AUDITORS["nine-way"].audit(Trace.model_validate(trace | {"scene": SCENE}))
    assert [c.verdict for c in audit.claims] == ["unknown", "entailed"]
    assert "longer than any that is read" in audit.faults[0]
    with pytest.raises(RecordError, match="scene sentence 1 is not read"):
        AUDITORS["nine-way"].audit(Trace.model_validate(trace | {"scene": [endless]}))


def test_the_audit_says_which_pipeline_parsed() -> None:
    trace = {"id": "t", "question": "", "scene": SCENE, "reasoning": [], "conclusion": "Hm."}
    audit = AUDITORS["nine-way"].audit(Trace.model_validate(trace))
    assert audit.reader is not None
    assert audit.reader.pipeline.startswith("en_")
    structured = trace | {"scene": None, "scene_relations": [["A", "above", "B"]], "claims": []}
    del structured["reasoning"], structured["conclusion"], structured["scene"]
    assert AUDITORS["nine-way"].audit(Trace.model_validate(structured)).reader is None


def test_questions_about_the_pair() -> None:
    reader = AUDITORS["nine-way"].parser_for(Instance(id="q", question="", scene=SCENE)).reader
    asked = {
        "Where is the lamp relative to the chair?": ("lamp", "chair"),
        "Relative to the chair, where is the lamp?": ("lamp", "chair"),
        "What is the relation of the lamp to the chair?": ("lamp", "chair"),
        "Is the lamp left of the chair?": ("lamp", "chair"),
    }
    for question, pair in asked.items():
        assert reader.question(SCENE, question).pair == pair, question  # type: ignore[union-attr]


# Wordings ------------------------------------------------------------------------------


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


def verdict(row: dict[str, Any], claim: str) -> str:
    profile = "half-plane" if row["kind"] == "topology" else "nine-way"
    fields = {"scene": [row["sentence"]], "question": "", "reasoning": [], "conclusion": claim}
    return audited(profile, **fields)[-1].grounded_verdict


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "right", "misread"),
    [("sentences_developed", 0.63, 0.012), ("sentences_held", 0.61, 0.04)],
)
def test_reworded_sentences(name: str, right: float, misread: float) -> None:
    """Shares of sentences of which a plain restatement is entailed and its opposite contradicted,
    and of those of which the opposite is entailed or the restatement contradicted.
    """
    count: Counter[str] = Counter()
    for row in rows(name):
        pair = verdict(row, row["plain"]), verdict(row, row["wrong"])
        count["all"] += 1
        count["right"] += pair == ("entailed", "contradicted")
        count["misread"] += pair[0] == "contradicted" or pair[1] == "entailed"
    assert count["right"] / count["all"] >= right, count
    assert count["misread"] / count["all"] <= misread, count


@pytest.mark.parametrize(("name", "right", "wrong"), [("developed", 24, 3), ("held", 23, 2)])
def test_answers_of_reworded_traces(name: str, right: int, wrong: int) -> None:
    """How many of 35 final verdicts are right, and determinate and wrong."""
    count: Counter[str] = Counter()
    for row in rows(f"traces_{name}"):
        fields = {key: row[key] for key in ("scene", "question", "response")}
        final = audited(**fields)[-1].grounded_verdict
        count["right"] += final == row["final"]
        count["wrong"] += final != row["final"] and final in ("entailed", "contradicted")
    assert count["right"] >= right, count
    assert count["wrong"] <= wrong, count
