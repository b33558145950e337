"""Chat completions of the OpenAI API: lines of them, and the output of a batch.

A batch's output has no prompts; they are joined from its input by `custom_id`, in
whatever order. A line may also bring its own request, as `messages` or as `request`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO, Any

from symbouq.errors import RecordError
from symbouq.io.adapters.base import JsonAdapter, Record
from symbouq.io.adapters.chat import answered
from symbouq.io.adapters.fields import filled
from symbouq.io.adapters.inputs import Input, opened
from symbouq.io.adapters.values import decoded, described

_REQUEST = "a line of batch input (custom_id, body)"
_IN_MEMORY = 1 << 26
"""Bytes of a batch's input that are kept in memory; what is more goes to a file."""


class _OpenAI(JsonAdapter):
    """Chat completions, with the requests of a batch in a temporary file."""

    expected = "a chat completion (choices) or a line of batch output (custom_id, response)"

    @classmethod
    def detects(cls, source: Input) -> bool:
        first = source.first
        if "custom_id" in first:
            return not first.keys().isdisjoint(("response", "error", "body"))
        response = first.get("response")
        return isinstance(first.get("choices"), list) or (
            isinstance(response, dict) and "choices" in response
        )

    def records(self) -> Iterator[Record]:
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as self._requests:
            self._places: dict[str, tuple[int, int]] = {}  # by custom_id: start and length
            if self.options.batch_input is not None:
                yield from _stored(self.options.batch_input, self._requests, self._places)
            yield from super().records()

    def trace(self, record: dict[str, Any], number: int) -> dict[str, Any]:
        fields = self._completed(record)
        identity, batch_input = record.get("custom_id"), self.options.batch_input
        if batch_input is not None:
            if identity not in self._places:
                raise RecordError(f"no request {identity!r} in {batch_input}")
            place, length = self._places[identity]
            self._requests.seek(place)
            record = {**record, "request": decoded(self._requests.read(length))}
        fields["prompt"] = _messages(record)
        fields["id"] = identity or fields["id"]
        mapped = {field for field, _ in self.options.mapping}
        if fields["prompt"] is None and mapped.isdisjoint(("scene", "scene_relations", "prompt")):
            raise RecordError(
                "no prompt: a completion does not hold the messages that it answers; give "
                "the batch's input by --batch-input, or --map scene=FIELD"
            )
        return filled(record, fields, self.options, number)

    def _completed(self, row: dict[str, Any]) -> dict[str, Any]:
        """The fields that the completion in a line gives."""
        if "body" in row and "response" not in row:
            raise RecordError(
                f"expected {self.expected}, found {_REQUEST}: give the batch's output, and this "
                "file by --batch-input"
            )
        body: Any = row.get("response", row)
        if isinstance(body, dict) and "body" in body:
            body = body["body"]
        for fault in (row.get("error"), body.get("error") if isinstance(body, dict) else None):
            if fault:
                message = fault.get("message") if isinstance(fault, dict) else fault
                raise RecordError(f"the request failed: {' '.join(str(message).split())}")
        choices = body.get("choices") if isinstance(body, dict) else None
        if not isinstance(choices, list) or not choices:
            raise self.unexpected(body)
        return {"id": body.get("id"), "model": body.get("model"), **answered(choices)}


def _stored(path: str, store: IO[bytes], places: dict[str, tuple[int, int]]) -> Iterator[Record]:
    """Puts the requests of a batch into a store and notes where each one lies; gives what
    is wrong with them.
    """
    with opened(path) as source:
        for number, encoded in source.values():
            try:
                request = decoded(encoded)
                if not isinstance(request, dict) or not isinstance(request.get("custom_id"), str):
                    raise RecordError(f"expected {_REQUEST}, found {described(request)}")
                if request["custom_id"] in places:
                    raise RecordError(f"custom_id {request['custom_id']!r} occurs before")
            except RecordError as error:
                yield number, RecordError(error.message, source.name)
                continue
            assert isinstance(encoded, bytes)  # it was decoded
            places[request["custom_id"]] = (store.tell(), len(encoded))
            store.write(encoded)


def _messages(row: dict[str, Any]) -> Any:
    """The messages that a line answers, wherever it has them."""
    request = row.get("request")
    request = request if isinstance(request, dict) else {}
    body = request.get("body")
    for holder in (row, request, body if isinstance(body, dict) else {}):
        if holder.get("messages") is not None:
            return holder["messages"]
    return None


ADAPTER = _OpenAI
