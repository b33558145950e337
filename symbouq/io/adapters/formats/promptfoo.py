"""Results of promptfoo: the JSON of `promptfoo eval -o out.json`, or JSON Lines of its results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.base import JsonAdapter
from symbouq.io.adapters.documents import array_items
from symbouq.io.adapters.exchanges import answer_of
from symbouq.io.adapters.inputs import Input
from symbouq.io.adapters.values import expect, posed


class _Promptfoo(JsonAdapter):
    """The results of an evaluation, one for each test, prompt and provider."""

    expected = "a result of promptfoo (prompt, vars, response)"

    @classmethod
    def detects(cls, source: Input) -> bool:
        first = source.first
        prompt = first.get("prompt")
        result = isinstance(prompt, dict) and "raw" in prompt
        return result or _depth(first) > 0

    def listed(self) -> Iterator[bytes | RecordError] | None:
        depth = _depth(self.source.first)
        return array_items(self.source.chunks(), "results", depth) if depth else None

    def fields(self, record: dict[str, Any]) -> dict[str, Any]:
        prompt, response = record.get("prompt"), record.get("response")
        if not isinstance(prompt, dict) or "raw" not in prompt:
            raise self.unexpected(record)
        answer = response.get("output") if isinstance(response, dict) else None
        if answer is None:
            fault = response.get("error") if isinstance(response, dict) else None
            fault = fault or record.get("error") or "no reason given"
            raise RecordError(f"the request failed: {' '.join(str(fault).split())}")
        test, provider = record.get("testCase"), record.get("provider")
        return {
            "id": record.get("id"),
            "prompt": expect(prompt["raw"], str, "prompt.raw", "a text"),
            "response": answer_of(answer, "response.output"),
            "model": provider.get("id") if isinstance(provider, dict) else None,
            **posed(test.get("vars") if isinstance(test, dict) else None),
            **posed(record.get("vars")),
        }


def _depth(first: dict[str, Any]) -> int:
    """In how many objects the list of results lies; 0 where each line, or item, is a result."""
    results = first.get("results")
    if isinstance(results, dict) and _is_summary(results):
        return 2
    return 1 if _is_summary(first) else 0


def _is_summary(value: dict[str, Any]) -> bool:
    listed = any(isinstance(value.get(name), list) for name in ("prompts", "results"))
    return listed and isinstance(value.get("version"), int)


ADAPTER = _Promptfoo
