"""Observations of langfuse, as its tables, its traces, its API and its blob storage export them.

An observation of type `GENERATION` is a trace; those of other types, which no model wrote, are
left out. Fields are spelled `traceId` or, in blob storage, `trace_id`; input and output may be
texts that hold JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.base import JsonAdapter, Record
from symbouq.io.adapters.documents import array_items
from symbouq.io.adapters.exchanges import answer_of, asked_of
from symbouq.io.adapters.inputs import Input
from symbouq.io.adapters.values import posed

_TRACES = ("traceId", "trace_id")
_LISTS = ("observations", "data")
"""Where an exported trace, and a page of the API, have their observations."""

_GENERATION = "GENERATION"


class _Langfuse(JsonAdapter):
    """Observations."""

    expected = "an observation of langfuse (id, input, output)"

    @classmethod
    def detects(cls, source: Input) -> bool:
        return _is_observation(source.first) or _list(source.first) is not None

    def listed(self) -> Iterator[bytes | RecordError] | None:
        member = _list(self.source.first)
        return array_items(self.source.chunks(), member) if member else None

    def records(self) -> Iterator[Record]:
        number, self._generations = 0, 0
        for number, record in super().records():
            yield number, record
        if number and not self._generations:
            raise RecordError(f"expected observations of type {_GENERATION}, found none of them")

    def trace(self, record: dict[str, Any], number: int) -> dict[str, Any] | None:
        if record.get("type", _GENERATION) != _GENERATION:
            return None
        self._generations += 1
        return super().trace(record, number)

    def fields(self, record: dict[str, Any]) -> dict[str, Any]:
        if "input" not in record or "output" not in record:
            raise self.unexpected(record)
        if record.get("level") == "ERROR" and not record["output"]:
            fault = record.get("statusMessage") or record.get("status_message") or "no reason given"
            raise RecordError(f"the request failed: {' '.join(str(fault).split())}")
        return {
            "id": record.get("id"),
            "prompt": asked_of(record["input"], "input"),
            "response": answer_of(record["output"], "output"),
            "model": record.get("model") or record.get("provided_model_name"),
            **posed(record.get("metadata")),
        }


def _is_observation(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and {"input", "output"} <= record.keys()
        and (not record.keys().isdisjoint(_TRACES) or record.get("type") == _GENERATION)
    )


def _list(first: dict[str, Any]) -> str | None:
    """The field of a document that lists observations."""
    for name in _LISTS:
        listed = first.get(name)
        if isinstance(listed, list) and listed and isinstance(listed[0], dict):
            return name if not listed[0].keys().isdisjoint(_TRACES) else None
    return None


ADAPTER = _Langfuse
