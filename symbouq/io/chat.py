"""Chats with a language model, wherever it runs: what is asked, and what it answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from symbouq.errors import SymboUQError

TEMPERATURE = 0.7
"""Of samples; the first answer is the most probable one."""

Message = Mapping[str, str]
"""A message of a chat: its `role` and its `content`."""


class UnansweredError(SymboUQError):
    """A chat has no answer that can be used; another one may have."""


class Answer(NamedTuple):
    """What a model answers.

    Attributes:
        text: What it wrote.
        prompt_tokens: Length of what it read.
        reply_tokens: Length of what it wrote.
        cut: Whether it was cut at the most tokens.
    """

    text: str
    prompt_tokens: int
    reply_tokens: int
    cut: bool = False


class Asker(Protocol):
    """Asks a language model; safe from several threads.

    Attributes:
        model: What it is called in readings.
    """

    model: str

    def ask(
        self, messages: Sequence[Message], schema: Mapping[str, Any], most: int, sample: int
    ) -> Answer:
        """The model's answer.

        Args:
            messages: The chat so far; the last message is the user's.
            schema: JSON Schema of the answer, to which it is held where that can be done.
            most: Most tokens of the answer.
            sample: 0 for the most probable answer, else the number of a random one.

        Raises:
            SymboUQError: If nothing can be asked, of whatever kind.
            UnansweredError: If this has no answer.
        """


def after_thoughts(text: str) -> str:
    """What a model writes once it has thought, for those that think in the open; nothing where it
    has not come to an end.
    """
    _, end, after = text.rpartition("</think>")
    return "" if "<think>" in after or (not end and text.lstrip().startswith("<think>")) else after


def json_objects(text: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The JSON objects in what a model wrote, outside of each other, whatever stands around them;
    each with its text.
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
