"""Conversations, one a record: chat messages of which the assistant's last one is the response.

The messages stand in `messages` or `conversations`, as `role` and `content`, or as ShareGPT's
`from` and `value`.
"""

from __future__ import annotations

from typing import Any

from symbouq.io.adapters.base import JsonAdapter
from symbouq.io.adapters.exchanges import CONVERSATIONS, exchanged
from symbouq.io.adapters.inputs import Input


class _Chat(JsonAdapter):
    """Conversations."""

    expected = "a conversation (messages or conversations)"

    @classmethod
    def detects(cls, source: Input) -> bool:
        first = source.first
        completed = not first.keys().isdisjoint(("choices", "custom_id", "request"))
        if completed or isinstance(first.get("response"), dict):
            return False  # a chat completion
        return any(_are_messages(first.get(name)) for name in CONVERSATIONS)

    def fields(self, record: dict[str, Any]) -> dict[str, Any]:
        if fields := exchanged(record):
            return fields
        raise self.unexpected(record)


def _are_messages(value: Any) -> bool:
    opening = value[0] if isinstance(value, list) and value else None
    return isinstance(opening, dict) and not opening.keys().isdisjoint(("role", "from"))


ADAPTER = _Chat
