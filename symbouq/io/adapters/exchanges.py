"""Find the prompt and the model's answer in records with the shapes used by datasets: chat messages
that end with the assistant's, or separate fields.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from contextlib import suppress
from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.chat import answered
from symbouq.io.adapters.fields import SCENES
from symbouq.io.messages import role_of, unpacked, written
from symbouq.io.values import decoded, described

CONVERSATIONS = ("messages", "conversations", "conversation")
"""Fields of chat messages."""

PROMPTS = ("prompt", "instruction", "input")
"""Fields for the prompt; the first one present counts. An `instruction` may have an `input`."""

RESPONSES = ("response", "completion", "output")
"""Fields with the answer; the first one present counts."""

_ANSWERS = ("response", "reasoning", "conclusion", "claims", "scene_relations")
"""Fields of a trace that contain the answer or belong to it."""

_INPUT = "\n\nInput: "
"""Text between an instruction and its input: a label for scenes (`symbouq.io.adapters.prompts`)."""


def holds_exchange(fields: Container[str]) -> bool:
    """Whether records with the given fields may hold an exchange."""
    return any(name in fields for name in CONVERSATIONS) or (
        any(name in fields for name in PROMPTS) and any(name in fields for name in RESPONSES)
    )


def is_own(fields: Container[str]) -> bool:
    """Whether records with the given fields are our own traces or questions: they have a scene, and
    any answer is in one of our fields.
    """
    answered = any(name in fields for name in _ANSWERS)
    elsewhere = any(name in fields for name in (*CONVERSATIONS, *RESPONSES))
    return any(name in fields for name in SCENES) and (answered or not elsewhere)


def exchange(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `prompt` and the `response` of a record, if it has them.

    Raises:
        RecordError: If the question or answer has the wrong type.
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
            return {"prompt": messages[:last], **answered(messages[last], name)}
        given = {} if answer is None else answered(there[answer], answer)
        return {"prompt": messages, **given}
    asked = next((name for name in PROMPTS if name in there), None)
    if answer is None or (asked is None and "scene" not in there):
        return {}
    if asked is None:
        return answered(there[answer], answer)
    prompt = asked_of(there[asked], asked)
    if asked == "instruction" and there.get("input"):
        prompt = f"{prompt}{_INPUT}{there['input']}"
    return {"prompt": prompt, **answered(there[answer], answer)}


def asked_of(value: Any, place: str) -> str | list[Any]:
    """Return the prompt in the given value, which may be a string, messages, or an object that
    contains these.

    Raises:
        RecordError: If the value is none of these.
    """
    asked = unpacked(value)
    if isinstance(asked, str) and asked.lstrip()[:1] == "{":
        with suppress(RecordError):
            held = decoded(asked.encode(errors="replace"))
            asked = held if isinstance(held, dict) and any(map(held.get, _ASKED)) else asked
    while isinstance(asked, dict) and (name := next(filter(asked.get, _ASKED), None)):
        asked = unpacked(asked[name])
    while isinstance(asked, list) and asked and isinstance(asked[0], list):
        asked = asked[0]
    if isinstance(asked, list) and asked and all(isinstance(each, str) for each in asked):
        asked = "\n".join(asked)
    if isinstance(asked, list) and all(isinstance(each, dict) for each in asked):
        return list(map(_message, asked))
    if isinstance(asked, str):
        return asked
    raise RecordError(
        f"{place}: expected a text, messages or an object with messages, found {described(value)}"
    )


_ASKED = ("messages", "contents", "prompt", "prompts", "input", "inputText", "question", "text")
"""Fields of an object that contain the prompt, the likeliest first."""


def _messages(listed: Any) -> list[dict[str, Any]]:
    listed = unpacked(listed)
    if not isinstance(listed, list) or not all(isinstance(message, dict) for message in listed):
        return []
    return [_message(message) for message in listed]


def _message(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message with the field names of chat APIs. Its content, if any, stays unchanged."""
    while isinstance(message.get("message"), dict):
        message = message["message"]
    role = role_of(message)
    content = message.get("content", message.get("value"))
    return {
        **message,
        "role": role,
        "content": written(message).text if content is None else content,
    }
