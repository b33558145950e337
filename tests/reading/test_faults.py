"""What is read of a trace in which internal errors are."""

from __future__ import annotations

from functools import partial

import pytest

from symbouq.auditing import auditor as auditing
from symbouq.auditing.answers import answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.limits import LimitError, time_limit
from symbouq.reading.faults import InternalError, ReadingError, readable, reading
from symbouq.reading.syntax.discourse import Discourse
from symbouq.reading.syntax.extraction import Extraction
from symbouq.reading.syntax.preparation import Preparation
from symbouq.records import Trace

SCENE = ["The lamp is left of the desk.", "The zork is above the desk.", "The desk is left of C."]
STEPS = ["The lamp is left of C.", "The zork is left of C.", "The desk is right of the lamp."]


def failing(scene: tuple[str, ...], question: str, parts: dict[str, str]) -> str:
    """Reads texts; one that has a word of some parts is an internal error there."""
    for n, text in enumerate((*scene, question), start=1):
        part = "the question" if n > len(scene) else f"scene sentence {n}"
        with reading(parts.get(text, part), text):
            assert "zork" not in text
    return " ".join((*scene, question)).strip()


def test_scene_and_question_are_read_without_what_fails() -> None:
    read = partial(failing, parts={})
    found = readable(read, ["one", "a zork", "two"], "zork?")
    assert found[:3] == ("one  two", ["one", "", "two"], "")
    assert [fault.split(",")[0] for fault in found[3]] == [
        *("scene sentence 2 is not read", "the question is not read")
    ]


def test_a_fault_of_the_whole_scene_leaves_none_of_it() -> None:
    read = partial(failing, parts={"a zork": "the scene"})
    assert readable(read, ["one", "a zork"], "why?")[:3] == ("why?", ["", ""], "why?")


def test_what_fails_even_without_its_part_is_an_error() -> None:
    def read(_scene: tuple[str, ...], _question: str) -> None:
        raise InternalError("scene sentence 1", "for it fails", "zork")

    with pytest.raises(ReadingError, match="scene sentence 1 is not read, for it fails: zork"):
        readable(read, ["zork"], "")
    with time_limit(0), pytest.raises(LimitError):
        readable(read, ["zork"], "")


BROKEN = [(Preparation, "words"), (Extraction, "extracted"), (Discourse, "take")]


@pytest.mark.parametrize(("where", "method"), BROKEN)
@pytest.mark.parametrize("given", ["steps", "response"])
def test_wherever_an_internal_error_is_it_costs_a_sentence(
    monkeypatch: pytest.MonkeyPatch, where: type, method: str, given: str
) -> None:
    sound = getattr(where, method)

    def broken(self: object, said: object, *rest: object, **named: object) -> object:
        if "zork" in str(getattr(said, "text", said)):
            raise KeyError("zork")
        return sound(self, said, *rest, **named)

    monkeypatch.setattr(where, method, broken)
    auditor = TraceAuditor("everyday")
    told = {"response": " ".join(STEPS)} if given == "response" else {"reasoning": STEPS}
    record = {"id": "t", "scene": SCENE, "conclusion": "Hm.", **told}
    record |= {"conclusion": None} if given == "response" else {}
    audit = auditor.audited(Trace.model_validate(record))
    assert [claim["verdict"] for claim in audit["claims"]][:3] == [
        "entailed",
        "unknown",
        "entailed",
    ]
    assert audit["claims"][1]["reason"] == "unread"
    assert [fault.split(" is not")[0] for fault in audit["faults"]] == [
        "scene sentence 2",
        "claim 2",
    ]
    asked = record | {"question": "Is the lamp left of C?", "answer_space": ["yes", "no"]}
    found = answer(auditor, Trace.model_validate(asked))
    assert (found.status, found.answer, len(found.faults)) == ("unread", [], 1)


def test_an_internal_error_in_judging_the_answer_costs_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> None:
        raise IndexError("zork")

    monkeypatch.setattr(auditing, "judge_answer", broken)
    record = {"id": "t", "scene": SCENE[:1], "reasoning": SCENE[:1], "conclusion": "Yes."}
    audit = TraceAuditor("everyday").audited(Trace.model_validate(record))
    assert audit["claims"][0]["verdict"] == "entailed"
    assert audit["faults"][0].startswith("the answer is not read, because of an internal error")


MENDED = [
    ("everyday", "The ball is on the far left of"),
    ("everyday", "The ball is at the far right of."),
    ("nine-way", "In the far left of there is a ball."),
    ("everyday", "The cup is next to the row above and next to the other."),
    ("nine-way", "Every row above is far away from A while B must be third from the right end."),
    ("everyday", "The fork is beside the row below and beside the other one."),
    ("rcc8", "Across from x_1 is the left."),
    ("cdc", "The columns run from the left."),
    ("event", "Across from the box is the right."),
    ("nine-way", "The cup is at the back and Box 14 is at the front."),
]


@pytest.mark.parametrize(("profile", "text"), MENDED)
def test_texts_that_once_were_internal_errors(profile: str, text: str) -> None:
    record = {
        "id": "t",
        "profile": profile,
        "scene": [text],
        "reasoning": [text],
        "conclusion": text,
    }
    audit = TraceAuditor().audited(Trace.model_validate(record))
    assert not any("internal error" in fault for fault in audit["faults"])
    assert len(audit["claims"]) == 2
