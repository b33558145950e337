from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from symbouq.io.chat import Answer, Message, UnansweredError
from symbouq.ontology.library import OntologyLibrary
from symbouq.reading.model.asking import asked, reply_in
from symbouq.reading.model.dialogue import ModelRequest

REQUEST = ModelRequest("scene", {"S1": "The cup.", "S2": "The jug."})
GOOD = json.dumps({"sentences": [{"sentence": "S1"}, {"sentence": "S2"}]})


class Scripted:
    model = "scripted"

    def __init__(self, *texts: str, cut: bool = False) -> None:
        self.texts = list(texts)
        self.cut = cut
        self.chats: list[list[Message]] = []

    def ask(
        self, messages: Sequence[Message], schema: Mapping[str, Any], most: int, sample: int
    ) -> Answer:
        self.chats.append(list(messages))
        return Answer(self.texts.pop(0), 7, 3, self.cut)


def ask(asker: Scripted, spent: list[Answer] | None = None) -> Any:
    ontology = OntologyLibrary().ontology()
    take = (spent if spent is not None else []).append
    return asked(asker, "instructions", REQUEST, ontology, 100, 0, take)


def test_a_reply_is_asked_for_with_instructions_and_text() -> None:
    asker = Scripted(GOOD)
    assert [s.sentence for s in ask(asker).sentences] == ["S1", "S2"]
    (chat,) = asker.chats
    assert [(m["role"], m["content"]) for m in chat] == [
        ("system", "instructions"),
        ("user", REQUEST.message),
    ]


def test_what_is_no_reply_is_asked_for_once_more_with_the_reason() -> None:
    asker = Scripted("I cannot.", GOOD)
    spent: list[Answer] = []
    ask(asker, spent)
    assert [m["role"] for m in asker.chats[1]] == ["system", "user", "assistant", "user"]
    assert "no JSON object" in asker.chats[1][-1]["content"]
    assert sum(answer.prompt_tokens for answer in spent) == 14


def test_and_not_a_third_time() -> None:
    with pytest.raises(UnansweredError, match="cannot be used"):
        ask(Scripted("I cannot.", "I can not."))


def test_a_reply_that_was_cut_would_be_cut_again() -> None:
    asker = Scripted('{"sentences": [', cut=True)
    with pytest.raises(UnansweredError, match="cut after 100 tokens"):
        ask(asker)


@pytest.mark.parametrize(
    "text",
    [f"```json\n{GOOD}\n```", f"<think>a {{ brace</think>{GOOD}", f"Here {{it}} is: {GOOD} {{so}}"],
)
def test_what_stands_around_the_object_is_left_aside(text: str) -> None:
    assert len(reply_in(text, REQUEST).sentences) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nothing", "no JSON object"),
        ('{"sentences": [{"sentence": "S7"}]}', "no entry that was asked for"),
        ('{"sentences": {"S1": []}}', "no entry that was asked for"),
        ('{"sentences": [{"sentence": "S1", "count": "two"}]}', "sentences.0.count"),
    ],
)
def test_other_texts_hold_none(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        reply_in(text, REQUEST)


SAID = {"words": "on", "subject": "t1", "relation": "above", "object": "t2"}


@pytest.mark.parametrize(
    ("entry", "read"),
    [
        ({"sentence": "S1", "relations": [SAID]}, ["S1", "S2"]),
        ({"sentence": "S1", "colour": "red", "relations": [{**SAID, "sure": 1}]}, ["S1", "S2"]),
        ({"sentence": "S1", "relations": [{**SAID, "stance": "shouted"}]}, ["S2"]),
        ({"sentence": "S1", "relations": [{"words": "on"}]}, ["S2"]),
        ({"sentence": "S1", "places": [{"words": "row", "thing": "t1", "scale": "row"}]}, ["S2"]),
        ({"sentence": "S9"}, ["S2"]),
        ("S1", ["S2"]),
    ],
)
def test_a_sentence_that_is_amiss_costs_that_sentence(entry: Any, read: list[str]) -> None:
    whole = {"sentences": [{"sentence": "S2"}, entry], "note": "!", "asks": "t1", "answer": 7}
    reply = reply_in(json.dumps(whole), REQUEST)
    assert [sentence.sentence for sentence in reply.sentences] == read
    assert (reply.asks, reply.answer) == ([], "")
    assert all(r.relation == "above" for s in reply.sentences for r in s.relations)
