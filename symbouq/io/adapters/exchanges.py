"""What was asked and what a model answered, in the shapes in which data sets have them: chat
messages that end in the assistant's, or a field for each.
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
"""Fields of what was asked, the first that is there; an `instruction` may have an `input`."""

RESPONSES = ("response", "completion", "output")
"""Fields of what was answered, the first that is there."""

_ANSWERS = ("response", "reasoning", "conclusion", "claims", "scene_relations")
"""Fields of a trace that hold what was answered, or come with that."""

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
    """What was asked: a text, messages, or an object with these.

    Raises:
        RecordError: If it is none of these.
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
"""Fields of an object that holds what was asked, the likeliest first."""


def _messages(listed: Any) -> list[dict[str, Any]]:
    """Messages as chat APIs have them; empty where there are none."""
    listed = unpacked(listed)
    if not isinstance(listed, list) or not all(isinstance(message, dict) for message in listed):
        return []
    return [_message(message) for message in listed]


def _message(message: dict[str, Any]) -> dict[str, Any]:
    """A message with the names of chat APIs; its content stays as it is, where it has one."""
    while isinstance(message.get("message"), dict):
        message = message["message"]
    role = role_of(message)
    content = message.get("content", message.get("value"))
    return {
        **message,
        "role": role,
        "content": written(message).text if content is None else content,
    }
