"""Chats with local or remote language models: requests and answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from symbouq.errors import SymboUQError

TEMPERATURE = 0.7
"""Temperature for samples. The first answer is the most probable one."""

Message = Mapping[str, str]
"""Message of a chat: its `role` and `content`."""


class UnansweredError(SymboUQError):
    """Error: a chat has no usable answer, but another chat may have one."""


class Answer(NamedTuple):
    """Answer of a model.

    Attributes:
        text: The text.
        prompt_tokens: Number of tokens read.
        reply_tokens: Number of tokens written.
        cut: Whether the text was cut off at the maximum number of tokens.
    """

    text: str
    prompt_tokens: int
    reply_tokens: int
    cut: bool = False


class Asker(Protocol):
    """Client of a language model; thread-safe.

    Attributes:
        model: Name of the model, as recorded in readings.
    """

    model: str

    def ask(
        self, messages: Sequence[Message], schema: Mapping[str, Any], most: int, sample: int
    ) -> Answer:
        """Ask the model.

        Args:
            messages: The chat so far; the last message is the user's.
            schema: JSON Schema of the answer, enforced if possible.
            most: Maximum number of tokens in the answer.
            sample: 0 for the most probable answer, otherwise the number of a random one.

        Raises:
            SymboUQError: If no chat can be answered.
            UnansweredError: If this chat has no answer.
        """


def after_thoughts(text: str) -> str:
    """Return the text that follows a model's visible thoughts; empty if the thoughts do not end."""
    _, end, after = text.rpartition("</think>")
    return "" if "<think>" in after or (not end and text.lstrip().startswith("<think>")) else after


def json_objects(text: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the top-level JSON objects in a model's text, each with its source text. Text around
    them is ignored.
    """
    text = after_thoughts(text)
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value, text[at:end]
        at = text.find("{", end)
