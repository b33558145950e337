"""Messages written by models: text and reasoning, in the shapes of servers, logs and datasets.

Supported are chat completions, Anthropic's and Bedrock's blocks, Gemini's parts, OpenAI's
responses, Ollama, OpenTelemetry's parts, LangChain's messages and vLLM's outputs. All are reduced
to text, text marked as thinking, and a stop reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from symbouq.errors import RecordError
from symbouq.io.values import decoded, described

_REASONING = (
    "reasoning_content",
    "reasoning",
    "thinking",
    "reasoningContent",
    "thoughts",
    "thinking_blocks",
)
"""Message fields for thinking that servers separate from the content."""

_THOUGHT = ("reasoning", "thinking", "thought", "reasoning_text", "summary_text")
"""Types of parts that contain thinking."""

_TEXTS = (
    "text",
    "content",
    "value",
    "response",
    "completion",
    "generation",
    "output_text",
    "outputText",
)
"""Fields for the text of a part, a message or an output, the most likely first."""

_HOLDERS = (
    "message",
    "messages",
    "parts",
    "contents",
    "message_content",
    "output",
    "outputs",
    "kwargs",
    "data",
)
"""Fields for messages or parts within an object, the most likely first."""

_CHOICES = ("choices", "candidates", "generations", "completions", "outputs", "results")
"""Fields that list the alternatives in a completion."""

_MESSAGE = {*_TEXTS, *_HOLDERS, *_CHOICES, "role", "type", "refusal"}
"""Fields by which a message is recognised: it has at least one of them."""

_STOPS = ("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "reason")
_STOPPED = ("completionReason", "incomplete_details", "finish_details", *_STOPS)
"""Fields for the stop reason, including those of a reason that is an object."""

_CUT = {"length", "max_tokens", "max_output_tokens", "max_length", "model_length", "token_limit"}
_MARKS = re.compile(r"</?think(?:ing)?>", re.IGNORECASE)
_DEEPEST = 12
"""Maximum nesting of objects that are searched for a text."""


class Written(NamedTuple):
    """Output of a model.

    Attributes:
        text: The text, with the answer; may be empty.
        reasoning: The thinking, if the record separates it.
        truncated: Whether the model stopped at its length limit.
    """

    text: str
    reasoning: str = ""
    truncated: bool = False

    @property
    def response(self) -> str:
        """Text for a trace: the reasoning between marks, then the text."""
        thought = _MARKS.sub("", self.reasoning).strip("\n")
        thought = f"<think>\n{thought}\n</think>" if thought.strip() else ""
        return "\n".join(filter(None, (thought, self.text)))


def written(value: Any) -> Written:
    """Return the text and reasoning of a message, of a list of parts, or of an object that contains
    them. If there are several messages, the model's last one counts. If a message has no text, its
    refusal is used instead.

    Raises:
        RecordError: If there is no message.
    """
    pieces = [*_pieces(value, 0)]
    foreign = isinstance(value, dict) and value.keys().isdisjoint(_MESSAGE)
    if (foreign or not pieces) and value != {} and not _is_empty(value):
        raise RecordError(f"expected a text or a message, found {described(value)}")
    said, thought = (
        "\n".join(text for text, thinks in pieces if thinks is kind and text)
        for kind in (False, True)
    )
    return Written(said, thought, is_truncated(value))


def alternatives(value: Any) -> list[Any]:
    """Return the choices of a completion. Return any other value as the only item of a list."""
    if isinstance(value, dict) and "role" not in value:
        for name in _CHOICES:
            listed = value.get(name)
            while isinstance(listed, list) and listed and isinstance(listed[0], list):
                listed = listed[0]
            if isinstance(listed, list) and listed and isinstance(listed[0], dict):
                return listed
    return [value]


def is_truncated(value: Any) -> bool:
    """Whether a message, choice, completion or stop reason shows that the length limit was hit."""
    if isinstance(value, str):
        return value.strip().lower().rpartition(".")[2] in _CUT
    if isinstance(value, list):
        return bool(value) and is_truncated(value[-1]) and not isinstance(value[-1], str)
    if not isinstance(value, dict):
        return False
    for name in _STOPPED:
        reason = value.get(name)
        if isinstance(reason, str | dict) and is_truncated(reason):
            return True
    inner = ("response_metadata", "generation_info", "kwargs", "data", "message", *_CHOICES)
    return any(isinstance(value.get(n), dict | list) and is_truncated(value[n]) for n in inner)


def unpacked(value: Any) -> Any:
    """Decode a string that contains messages as JSON, or an object with messages. JSON written by a
    model is not decoded.
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{", '"'):
        try:
            inner = decoded(value.encode(errors="replace"))
        except RecordError:
            return value
        if isinstance(inner, str):  # a string that was encoded twice
            return inner
        first = inner
        while isinstance(first, list) and first:
            first = first[0]
        if isinstance(first, dict) and not first.keys().isdisjoint(_WIRED):
            return inner
    return value


_WIRED = {"role", "from", "kwargs", "parts", "message", "messages", "contents", *_CHOICES}
"""Fields that only servers and logs write, not models."""


def _pieces(value: Any, depth: int, thinks: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield each text in a value, and whether the text is thinking."""
    if depth > _DEEPEST or value is None:
        return
    if isinstance(value, str):
        yield value, thinks
    elif isinstance(value, list):
        wrote = [each for each in value if isinstance(each, dict) and role_of(each) == "assistant"]
        roles = any(isinstance(each, dict) and role_of(each) for each in value)
        for each in (wrote[-1:] if roles else value) if not _is_output(value) else value:
            yield from _pieces(each, depth + 1, thinks)
    elif isinstance(value, dict):
        yield from _of_object(value, depth, thinks)


def _of_object(given: dict[str, Any], depth: int, thinks: bool) -> Iterator[tuple[str, bool]]:
    kind = str(given.get("type"))
    if kind == "redacted_thinking" or given.get("redacted") is True:
        return
    thinks = thinks or kind in _THOUGHT or given.get("thought") is True
    for name in ("additional_kwargs", *_REASONING):
        if isinstance(given.get(name), str | dict | list):
            inner = given[name]
            if name == "additional_kwargs":
                inner = inner.get("reasoning_content") if isinstance(inner, dict) else None
            yield from _pieces(_thoughts(inner), depth + 1, True)
            if name != "additional_kwargs" and inner:
                break
    if kind in ("reasoning", "thinking") and isinstance(given.get("summary"), list):
        yield from _pieces(given["summary"], depth + 1, True)
    listed = alternatives(given)
    if listed[0] is not given:
        yield from _pieces(listed[0], depth + 1, thinks)
        return
    for name in (*_TEXTS, *_HOLDERS, "refusal"):
        inner = given.get(name)
        if isinstance(inner, str | list | dict) and inner:
            yield from _pieces(inner, depth + 1, thinks)
            return


def _thoughts(value: Any) -> Any:
    """Return nested thinking: Bedrock's `reasoningText`, or text parts without a type."""
    if isinstance(value, dict):
        return value.get("reasoningText", value.get("text", value.get("content")))
    return value


def _is_output(listed: list[Any]) -> bool:
    """Whether a list has the items of an OpenAI response: reasoning, calls and a message."""
    return any(isinstance(each, dict) and each.get("type") == "message" for each in listed)


def role_of(message: dict[str, Any]) -> str:
    """Return the role of a message, as chat APIs name it; empty if there is none."""
    kind = next((name for name in ROLES if message.get("type") == name), None)
    role = message.get("role", message.get("from", kind))
    named = message.get("id")
    if role is None and isinstance(named, list) and named:  # LangChain's `HumanMessage`
        role = str(named[-1]).removesuffix("Chunk").removesuffix("Message")
    role = str(role or "").lower()
    return ROLES.get(role, role)


def is_choice(value: Any) -> bool:
    """Whether a value is a choice in a completion rather than a message or part."""
    if not isinstance(value, dict) or "role" in value:
        return False
    return "message" in value or ("type" not in value and not _CHOSEN.isdisjoint(value))


_CHOSEN = {"index", "token_ids", *_STOPS}


ROLES = {
    "human": "user",
    "gpt": "assistant",
    "ai": "assistant",
    "chatgpt": "assistant",
    "bard": "assistant",
    "bing": "assistant",
    "model": "assistant",
    "system": "system",
}
"""Maps a role in other formats to the role in chat APIs."""


def _is_empty(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_empty, value))
    if not isinstance(value, dict):
        return value in (None, "")
    held = (value.get(name) for name in (*_TEXTS, *_HOLDERS, *_CHOICES))
    return not value.keys().isdisjoint(_MESSAGE) and all(map(_is_empty, held))
