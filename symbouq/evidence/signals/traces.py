"""Reads generated traces with their claims but without labels."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic_core import from_json

from symbouq.errors import RecordError, SymboUQError
from symbouq.io.stream import read_lines
from symbouq.records.generated import SEGMENTED, Record, is_structured, meta_of, status_of

_INSTANCE = ("id", "dataset", "profile", "scene", "question", "answer_space", "model", "meta")
"""Fields that are copied from a trace to its sampled answers."""


class Numbered(NamedTuple):
    """A record with its line number."""

    line: int
    record: dict[str, Any]


def read_records(path: str | os.PathLike[str]) -> Iterator[Numbered | RecordError]:
    """Yield the JSON objects with an `id` in a JSON Lines file, and an error for each invalid
    line.
    """
    for line in read_lines(os.fspath(path)):
        if isinstance(line, RecordError):
            yield line
            continue
        try:
            record = from_json(line.content)
        except ValueError as error:
            yield RecordError(f"not valid JSON: {error}", line.file, line.number)
            continue
        if not isinstance(record, dict) or not isinstance(record.get("id"), str):
            yield RecordError("a record is an object with an `id`", line.file, line.number)
            continue
        yield Numbered(line.number, record)


def readable_records(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects with an `id` in a file.

    Raises:
        RecordError: At the first invalid line.
    """
    for item in read_records(path):
        if isinstance(item, RecordError):
            raise item
        yield item.record


def claim_texts(record: Record, audit: Record | None = None) -> tuple[str, ...]:
    """Return the texts of a trace's K claims, the conclusion last.

    A structured trace contains its claims; for other traces, they are taken from the audit. An
    invalid output without an audit has one empty claim.

    Raises:
        RecordError: If the claims of a free-form response are unknown.
    """
    if is_structured(record):
        return (*(record.get("reasoning") or ()), record["conclusion"])
    if audit is not None:
        return tuple(claim["text"] for claim in audit["claims"])
    if status_of(record) != "valid":
        return ("",)
    raise RecordError(f"trace {record['id']}: the audit says which claims a free response has")


def with_claims(record: Record, audit: Record | None = None) -> dict[str, Any]:
    """Return a trace with its claims as `reasoning` and `conclusion`. If the claims come from an
    audit, `segmented` is set.

    Raises:
        RecordError: If the claims of a free-form response are unknown.
    """
    *reasoning, conclusion = claim_texts(record, audit)
    segmented = {} if is_structured(record) else {SEGMENTED: True}
    return {**record, "reasoning": reasoning, "conclusion": conclusion, **segmented}


def without_labels(record: Record) -> dict[str, Any]:
    """Return a trace without fields that may reveal the right answer: `answer`, `correct`,
    `labels`, and everything in `meta` except `answer_kind`.
    """
    kept = {k: v for k, v in record.items() if k not in ("answer", "correct", "labels", "meta")}
    kind = meta_of(record).get("answer_kind")
    return {**kept, "meta": {"answer_kind": kind}} if kind is not None else kept


def samples_of(record: Record) -> tuple[dict[str, Any], ...]:
    """Return the sampled answers to a trace's question, as trace records without labels."""
    shared = {k: v for k, v in without_labels(record).items() if k in _INSTANCE}
    return tuple({**shared, **sample} for sample in record.get("samples") or ())


class ById:
    """Looks up the records in a file by id. The file is read only as far as needed. `what`
    describes the records in messages.

    If records are requested in file order, they are not kept in memory.
    """

    def __init__(self, path: str | os.PathLike[str], what: str) -> None:
        self.path = os.fspath(path)
        self.what = what
        self._rest = read_records(path)
        self._passed: dict[str, dict[str, Any]] = {}

    def find(self, identity: str) -> dict[str, Any] | None:
        """Return the record with the given id, or None. Each record can be found only once.

        Raises:
            SymboUQError: If a line of the file cannot be read.
        """
        if identity in self._passed:
            return self._passed.pop(identity)
        for item in self._rest:
            if isinstance(item, RecordError):
                raise SymboUQError(f"{self.what}: {item.message}", item.file, item.line)
            if item.record["id"] == identity:
                return item.record
            self._passed[item.record["id"]] = item.record
        return None
