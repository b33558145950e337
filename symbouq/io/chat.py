"""Chats with a language model, wherever it runs: what is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
