"""The text and the reasoning of messages, as servers and logs have them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbouq.errors import RecordError
from symbouq.io.messages import Written, alternatives, is_truncated, role_of, unpacked, written
from symbouq.reading.segments import segmented

THINKING = {"type": "thinking", "thinking": "R", "signature": "x"}
TEXT = {"type": "text", "text": "A"}
SAID = {"role": "assistant", "content": "A"}
MESSAGES: dict[str, Any] = {
    "text": "A",
    "chat completions": {**SAID, "reasoning_content": "R"},
    "a router": {**SAID, "reasoning": "R", "reasoning_details": [{"text": "R"}]},
    "Anthropic": {"role": "assistant", "content": [THINKING, {"type": "redacted_thinking"}, TEXT]},
    "blocks": [THINKING, TEXT],
    "Mistral": {"content": [{"type": "thinking", "thinking": [{"text": "R"}]}, TEXT]},
    "Gemini": {"role": "model", "parts": [{"text": "R", "thought": True}, {"text": "A"}]},
    "responses": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "R"}]},
        {"type": "function_call", "name": "f", "arguments": "{}"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A"}]},
    ],
    "open responses": [
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "R"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A"}]},
    ],
    "Bedrock": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [{"reasoningContent": {"reasoningText": {"text": "R"}}}, {"text": "A"}],
            }
        }
    },
    "Ollama": {"message": {**SAID, "thinking": "R"}, "done": True},
    "Ollama, a completion": {"response": "A", "thinking": "R", "done": True},
    "OpenTelemetry": [
        {
            "role": "assistant",
            "parts": [{"type": "reasoning", "content": "R"}, {"type": "text", "content": "A"}],
        }
    ],
    "LangChain": {
        "lc": 1,
        "id": ["langchain", "schema", "AIMessage"],
        "kwargs": {"content": "A", "additional_kwargs": {"reasoning_content": "R"}},
    },
    "HELM": {"completions": [{"text": "A", "thinking": {"text": "R"}}]},
    "inspect": {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "R"}, TEXT]},
    "a chat": [{"role": "user", "content": "Q"}, {**SAID, "reasoning": "R"}],
    "an agent": {"messages": [{"role": "assistant", "content": "x"}, {"role": "tool"}, SAID]},
}


@pytest.mark.parametrize("name", MESSAGES)
def test_text_and_reasoning(name: str) -> None:
    found = written(MESSAGES[name])
    assert found.text == "A"
    assert found.reasoning in ("R", "")
    assert bool(found.reasoning) == ('"R"' in json.dumps(MESSAGES[name]))
    assert not found.truncated


@pytest.mark.parametrize("name", MESSAGES)
def test_reasoning_is_thinking_in_a_trace(name: str) -> None:
    found = written(MESSAGES[name])
    response = segmented(found.response)
    assert response.said.strip() == "A"
    assert response.thought.strip() == found.reasoning


@given(st.text(), st.text())
def test_reasoning_is_never_said(text: str, reasoning: str) -> None:
    said = segmented(Written("answer", reasoning + "</think> Answer: left").response).said
    assert said.strip() == "answer"
    assert Written(text).response == text


@pytest.mark.parametrize(
    "value",
    [
        {"choices": [{"message": SAID, "finish_reason": "length"}]},
        {**SAID, "stop_reason": "max_tokens"},
        {"candidates": [{"content": {"parts": [{"text": "A"}]}, "finishReason": "MAX_TOKENS"}]},
        {"candidates": [{"content": {"parts": [TEXT]}, "finishReason": "FinishReason.MAX_TOKENS"}]},
        {"output": "A", "incomplete_details": {"reason": "max_output_tokens"}},
        {"results": [{"outputText": "A", "completionReason": "LENGTH"}]},
        {"message": SAID, "done_reason": "length"},
        [{**SAID, "finish_reason": "length"}],
        {"kwargs": {"content": "A", "response_metadata": {"finish_reason": "length"}}},
        {"generations": [[{"text": "A", "generation_info": {"finish_reason": "length"}}]]},
        {"completions": [{"text": "A", "finish_reason": {"reason": "length"}}]},
    ],
)
def test_a_message_that_was_cut_off(value: Any) -> None:
    assert written(value) == Written("A", "", truncated=True)
    whole = json.loads(json.dumps(value).replace("length", "stop").replace("LENGTH", "stop"))
    for name in ("max_tokens", "MAX_TOKENS", "max_output_tokens"):
        whole = json.loads(json.dumps(whole).replace(name, "stop"))
    assert not is_truncated(whole)


@pytest.mark.parametrize("value", [None, "", {}, [], {"role": "assistant", "content": None}])
def test_nothing_is_no_fault(value: Any) -> None:
    assert written(value) == Written("")


@pytest.mark.parametrize("value", [7, {"answer": "left"}, {"text": 7}])
def test_what_is_no_message(value: Any) -> None:
    with pytest.raises(RecordError, match="expected a text or a message"):
        written(value)


def test_a_refusal_stands_for_the_text() -> None:
    assert written({"choices": [{"message": {"content": None, "refusal": "No."}}]}).text == "No."


def test_json_of_a_server_is_unpacked_and_that_of_a_model_is_not() -> None:
    assert unpacked(json.dumps(MESSAGES["chat completions"])) == MESSAGES["chat completions"]
    own = json.dumps({"reasoning": ["A is above B."], "answer": "above"})
    assert unpacked(own) == own
    assert unpacked("[left") == "[left"


def test_roles() -> None:
    named = [{"type": "human"}, {"from": "gpt"}, {"role": "model"}, {"id": ["x", "SystemMessage"]}]
    assert [*map(role_of, named)] == ["user", "assistant", "assistant", "system"]


def test_alternatives() -> None:
    assert alternatives({"choices": [SAID, TEXT]}) == [SAID, TEXT]
    assert alternatives({"generations": [[TEXT]]}) == [TEXT]
    assert alternatives(SAID) == [SAID]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "text", "choices", "message", "thinking"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(JSON)
def test_any_value_is_read_or_refused(value: Any) -> None:
    try:
        assert isinstance(written(value).response, str)
    except RecordError as error:
        assert "expected a text or a message" in error.message
