"""Chat completions of the OpenAI API: lines of them, and the output of a batch.

A batch's output has no prompts; they are joined from its input by `custom_id`, in
whatever order. A line may also bring its own request, as `messages` or as `request`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO, Any

from symbouq.errors import RecordError
from symbouq.io.adapters.base import Found, Input, Reading, converted, decoded, described, opened
from symbouq.io.adapters.chat import answered
from symbouq.io.adapters.fields import filled

_LINE = "a chat completion (choices) or a line of batch output (custom_id, response)"
_REQUEST = "a line of batch input (custom_id, body)"
_IN_MEMORY = 1 << 26
"""Bytes of a batch's input that are kept in memory; what is more goes to a file."""


class _OpenAI:
    def detects(self, given: Input) -> bool:
        first = given.first
        if "custom_id" in first:
            return not first.keys().isdisjoint(("response", "error", "body"))
        response = first.get("response")
        return isinstance(first.get("choices"), list) or (
            isinstance(response, dict) and "choices" in response
        )

    def prepare(self, given: Input) -> None:
        pass

    def read(self, given: Input, reading: Reading) -> Iterator[Found]:
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as store:
            places: dict[str, tuple[int, int]] = {}
            if reading.batch_input is not None:
                yield from _stored(reading.batch_input, store, places)

            def convert(row: dict[str, Any], number: int) -> dict[str, Any]:
                fields = _completed(row)
                identity = row.get("custom_id")
                if reading.batch_input is not None:
                    if identity not in places:
                        raise RecordError(f"no request {identity!r} in {reading.batch_input}")
                    place, length = places[identity]
                    store.seek(place)
                    row = {**row, "request": decoded(store.read(length))}
                fields["prompt"] = _messages(row)
                fields["id"] = identity or fields["id"]
                if fields["prompt"] is None and not _told(reading):
                    raise RecordError(
                        "no prompt: a completion does not hold the messages that it answers; give "
                        "the batch's input by --batch-input, or --map scene=FIELD"
                    )
                return filled(row, fields, reading, number)

            yield from converted(given, convert, _LINE)


def _stored(path: str, store: IO[bytes], places: dict[str, tuple[int, int]]) -> Iterator[Found]:
    """Puts the requests of a batch into a store and notes where each one lies; gives what
    is wrong with them.
    """
    with opened(path) as given:
        for number, encoded in given.values():
            try:
                request = decoded(encoded)
                if not isinstance(request, dict) or not isinstance(request.get("custom_id"), str):
                    raise RecordError(f"expected {_REQUEST}, found {described(request)}")
                if request["custom_id"] in places:
                    raise RecordError(f"custom_id {request['custom_id']!r} occurs before")
            except RecordError as error:
                yield Found(given.name, number, error)
                continue
            assert isinstance(encoded, bytes)  # it was decoded
            places[request["custom_id"]] = (store.tell(), len(encoded))
            store.write(encoded)


def _completed(row: dict[str, Any]) -> dict[str, Any]:
    """What the completion in a line says."""
    if "body" in row and "response" not in row:
        raise RecordError(
            f"expected {_LINE}, found {_REQUEST}: give the batch's output, and this file by "
            "--batch-input"
        )
    body: Any = row.get("response", row)
    if isinstance(body, dict) and "body" in body:
        body = body["body"]
    for fault in (row.get("error"), body.get("error") if isinstance(body, dict) else None):
        if fault:
            said = fault.get("message") if isinstance(fault, dict) else fault
            raise RecordError(f"the request failed: {' '.join(str(said).split())}")
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list) or not choices:
        raise RecordError(f"expected {_LINE}, found {described(body)}")
    return {"id": body.get("id"), "model": body.get("model"), **answered(choices)}


def _messages(row: dict[str, Any]) -> Any:
    """The messages that a line answers, wherever it has them."""
    request = row.get("request")
    request = request if isinstance(request, dict) else {}
    body = request.get("body")
    for holder in (row, request, body if isinstance(body, dict) else {}):
        if holder.get("messages") is not None:
            return holder["messages"]
    return None


def _told(reading: Reading) -> bool:
    """Whether `--map` says where the scene is."""
    return any(f in ("scene", "scene_relations", "prompt") for f, _ in reading.mapping)


ADAPTER = _OpenAI()
