"""What was asked and what a model answered, in the shapes in which data sets have them: chat
messages that end in the assistant's, or a field for each.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.chat import response_of
from symbouq.io.adapters.fields import SCENES
from symbouq.io.adapters.values import decoded, described, expect, posed

CONVERSATIONS = ("messages", "conversations", "conversation")
"""Fields of chat messages."""

PROMPTS = ("prompt", "instruction", "input")
"""Fields of what was asked, the first that is there; an `instruction` may have an `input`."""

RESPONSES = ("response", "completion", "output")
"""Fields of what was answered, the first that is there."""

_ANSWERS = ("response", "reasoning", "conclusion", "claims", "scene_relations")
"""Fields of a trace that hold what was answered, or come with that."""

_ROLES = {
    "human": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bard": "assistant",
    "bing": "assistant",
    "model": "assistant",
}
"""Roles as ShareGPT names them, to those of chat APIs."""

_INPUT = "\n\nInput: "
"""What stands between an instruction and its input: a label of scenes
(`symbouq.io.adapters.prompts`).
"""


def holds_exchange(fields: Container[str]) -> bool:
    """Whether records with these fields may hold an exchange."""
    return any(name in fields for name in CONVERSATIONS) or (
        any(name in fields for name in PROMPTS) and any(name in fields for name in RESPONSES)
    )


def is_own(fields: Container[str]) -> bool:
    """Whether records with these fields are traces or questions of our own: with a scene, and no
    answer beside it but in a field of ours.
    """
    answered = any(name in fields for name in _ANSWERS)
    elsewhere = any(name in fields for name in (*CONVERSATIONS, *RESPONSES))
    return any(name in fields for name in SCENES) and (answered or not elsewhere)


def exchange(record: Mapping[str, Any]) -> dict[str, Any]:
    """The `prompt` and the `response` of a record, as far as it holds them.

    Raises:
        RecordError: If what should be the question or the answer is none.
    """
    there = {name: value for name, value in record.items() if value is not None}
    answer = next((name for name in RESPONSES if name in there), None)
    for name in CONVERSATIONS:
        messages = _messages(there.get(name))
        if not messages:
            continue
        if isinstance(there.get("system"), str):
            messages.insert(0, {"role": "system", "content": there["system"]})
        last = max((n for n, m in enumerate(messages) if m["role"] == "assistant"), default=None)
        if last is not None:
            return {"prompt": messages[:last], "response": response_of(messages[last])}
        given = {} if answer is None else {"response": answer_of(there[answer], answer)}
        return {"prompt": messages, **given}
    asked = next((name for name in PROMPTS if name in there), None)
    if answer is None or (asked is None and "scene" not in there):
        return {}
    if asked is None:
        return {"response": answer_of(there[answer], answer)}
    prompt = asked_of(there[asked], asked)
    if asked == "instruction" and there.get("input"):
        prompt = f"{prompt}{_INPUT}{there['input']}"
    return {"prompt": prompt, "response": answer_of(there[answer], answer)}


def exchanged(record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a trace that a record with an exchange gives; none where it has none.

    Raises:
        RecordError: As `exchange`.
    """
    pair = exchange(record)
    own = {name: record.get(name) for name in ("id", "answer")}
    return {**own, **pair, **posed(record)} if pair else {}


def asked_of(value: Any, place: str) -> str | list[Any]:
    """What was asked: a text, messages, or an object with these.

    Raises:
        RecordError: If it is none of these.
    """
    asked = unpacked(value)
    if isinstance(asked, dict):
        asked = asked.get("messages", asked.get("prompt"))
    if isinstance(asked, str | list):
        return asked
    raise RecordError(
        f"{place}: expected a text, messages or an object with messages, found {described(value)}"
    )


def answer_of(value: Any, place: str) -> str:
    """The text of an answer: a text, a message, or messages, of which the last one counts.

    Raises:
        RecordError: If it is none of these.
    """
    value = unpacked(value)
    if isinstance(value, list) and value:
        value = value[-1]
    if isinstance(value, dict) and "role" in value:
        return response_of(value)
    return expect(value, str, place, "a text or a message")


def unpacked(value: Any) -> Any:
    """A value; where it is a text that holds messages as JSON, these."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            inner = decoded(value.encode(errors="replace"))
        except RecordError:
            return value
        first = inner[0] if isinstance(inner, list) and inner else inner
        if isinstance(first, dict) and not first.keys().isdisjoint(("role", "from", "messages")):
            return inner
    return value


def _messages(listed: Any) -> list[dict[str, Any]]:
    """Messages as chat APIs have them; empty where there are none."""
    listed = unpacked(listed)
    if not isinstance(listed, list) or not all(isinstance(message, dict) for message in listed):
        return []
    return [_message(message) for message in listed]


def _message(message: dict[str, Any]) -> dict[str, Any]:
    role = message.get("role", message.get("from"))
    content = message.get("content", message.get("value"))
    return {**message, "role": _ROLES.get(str(role), role), "content": content}
