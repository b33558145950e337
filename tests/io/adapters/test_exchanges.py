"""Prompts and answers in the records of data sets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbouq.errors import RecordError
from symbouq.io.adapters.chat import answered
from symbouq.io.adapters.exchanges import exchange, holds_exchange
from symbouq.io.messages import unpacked

USER = {"role": "user", "content": "Where is it?"}
MODEL = {"role": "assistant", "content": "left"}


@pytest.mark.parametrize(
    ("record", "prompt", "response"),
    [
        ({"messages": [USER, MODEL]}, [USER], "left"),
        ({"messages": json.dumps([USER, MODEL])}, [USER], "left"),
        ({"messages": [USER, MODEL, USER]}, [USER], "left"),
        ({"messages": [USER], "completion": "left"}, [USER], "left"),
        ({"prompt": "Where?", "completion": "left"}, "Where?", "left"),
        ({"prompt": "Where?", "response": "left", "output": "x"}, "Where?", "left"),
        ({"prompt": [USER], "completion": [MODEL]}, [USER], "left"),
        ({"input": "Where?", "output": MODEL}, "Where?", "left"),
        ({"input": json.dumps({"messages": [USER]}), "output": "left"}, [USER], "left"),
        ({"instruction": "Where?", "output": "left"}, "Where?", "left"),
        (
            {"instruction": "Where is B?", "input": "A is above B.", "output": "below"},
            "Where is B?\n\nInput: A is above B.",
            "below",
        ),
        ({"prompt": None, "input": "Where?", "completion": None, "output": ""}, "Where?", ""),
    ],
)
def test_shapes(record: dict[str, Any], prompt: Any, response: str) -> None:
    assert exchange(record) == {"prompt": prompt, "response": response}
    assert holds_exchange(record)


def test_names_of_sharegpt() -> None:
    turns = [{"from": "human", "value": "Where is it?"}, {"from": "gpt", "value": "left"}]
    found = exchange({"system": "Be brief.", "conversations": turns})
    assert [(m["role"], m["content"]) for m in found["prompt"]] == [
        ("system", "Be brief."),
        ("user", "Where is it?"),
    ]
    assert found["response"] == "left"


def test_the_last_message_of_the_assistant_counts() -> None:
    first = {"role": "assistant", "content": "right"}
    found = exchange({"messages": [USER, first, USER, MODEL]})
    assert found == {"prompt": [USER, first, USER], "response": "left"}


@pytest.mark.parametrize("record", [{}, {"prompt": "Where?"}, {"output": "x"}, {"messages": 3}])
def test_no_exchange(record: dict[str, Any]) -> None:
    assert exchange(record) == {}


def test_a_question_without_an_answer() -> None:
    assert exchange({"messages": [USER]}) == {"prompt": [USER]}


def test_what_is_no_answer() -> None:
    with pytest.raises(RecordError, match="output: expected a text or a message, found a number"):
        exchange({"prompt": "Where?", "output": 3})
    with pytest.raises(RecordError, match="prompt: expected a text, messages or an object with"):
        exchange({"prompt": {"x": 1}, "output": "left"})
    assert answered([], "x") == {"response": ""}


@given(st.text())
def test_a_text_stands_unless_it_holds_messages(text: str) -> None:
    assert unpacked(text) == text
    assert unpacked(json.dumps([{"role": "user", "content": text}])) == [
        {"role": "user", "content": text}
    ]


TEXTS = st.text(max_size=20)
ROLES = st.sampled_from(["user", "system", "tool", "assistant"])


@given(st.lists(st.tuples(ROLES, TEXTS), min_size=1, max_size=6))
def test_prompt_and_response_are_the_messages_up_to_the_last_answer(
    turns: list[tuple[str, str]],
) -> None:
    messages = [{"role": role, "content": text} for role, text in turns]
    found = exchange({"messages": messages})
    if "response" in found:
        size = len(found["prompt"])
        assert messages[:size] == found["prompt"]
        assert messages[size] == {"role": "assistant", "content": found["response"]}
        messages = messages[size + 1 :]
    assert all(message["role"] != "assistant" for message in messages)
