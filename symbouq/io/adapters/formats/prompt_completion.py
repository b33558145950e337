"""Pairs of a prompt and its completion, one a record, as data sets of instructions have them."""

from __future__ import annotations

from typing import Any

from symbouq.io.adapters.base import JsonAdapter
from symbouq.io.adapters.exchanges import PROMPTS, RESPONSES, exchanged, is_own
from symbouq.io.adapters.inputs import Input


class _PromptCompletion(JsonAdapter):
    """Pairs of texts, or of messages."""

    expected = "a pair of prompt and completion (or instruction, input and output)"

    @classmethod
    def detects(cls, source: Input) -> bool:
        first = source.first
        if is_own(first):
            return False
        asked = any(isinstance(first.get(name), str | list) for name in ("scene", *PROMPTS))
        return asked and any(isinstance(first.get(name), str | list) for name in RESPONSES)

    def fields(self, record: dict[str, Any]) -> dict[str, Any]:
        if is_own(record):  # of a long line no more than the head was seen
            return record
        if fields := exchanged(record):
            return fields
        raise self.unexpected(record)


ADAPTER = _PromptCompletion
