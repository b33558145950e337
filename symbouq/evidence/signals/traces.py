"""Generated traces as the evidence reads them: with their claims, and without labels."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic_core import from_json

from symbouq.errors import RecordError, SymboUQError
from symbouq.io.stream import read_lines
from symbouq.records.generated import SEGMENTED, Record, is_structured, meta_of, status_of

_INSTANCE = ("id", "dataset", "profile", "scene", "question", "answer_space", "model", "meta")
"""Fields that a further answer shares with the trace that it stands beside."""


class Numbered(NamedTuple):
    """A record with its line."""

    line: int
    record: dict[str, Any]


def read_records(path: str | os.PathLike[str]) -> Iterator[Numbered | RecordError]:
    """The JSON objects of a file that have an `id`; what is none is given as its error.

    Args:
        path: A file of JSON Lines, compressed or not.
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
    """The JSON objects of a file that have an `id`.

    Raises:
        RecordError: At the first line that is none.
    """
    for item in read_records(path):
        if isinstance(item, RecordError):
            raise item
        yield item.record


def claim_texts(record: Record, audit: Record | None = None) -> tuple[str, ...]:
    """The texts of a trace's K claims; the last one is the conclusion.

    A structured trace brings them. Any other response is cut by the audit. An output that
    is not valid and was not audited has one claim, the empty conclusion.

    Args:
        record: The trace.
        audit: Its audit record.

    Raises:
        RecordError: If the claims of a free-form response are not known.
    """
    if is_structured(record):
        return (*(record.get("reasoning") or ()), record["conclusion"])
    if audit is not None:
        return tuple(claim["text"] for claim in audit["claims"])
    if status_of(record) != "valid":
        return ("",)
    raise RecordError(f"trace {record['id']}: the audit says which claims a free response has")


def with_claims(record: Record, audit: Record | None = None) -> dict[str, Any]:
    """A trace with its claims as `reasoning` and `conclusion`, whatever form it has; one
    that did not bring them says so in `segmented`.

    Args:
        record: The trace.
        audit: Its audit record.

    Raises:
        RecordError: If the claims of a free-form response are not known.
    """
    *reasoning, conclusion = claim_texts(record, audit)
    segmented = {} if is_structured(record) else {SEGMENTED: True}
    return {**record, "reasoning": reasoning, "conclusion": conclusion, **segmented}


def without_labels(record: Record) -> dict[str, Any]:
    """A trace without the fields that tell, or may tell, the right answer: `answer`, `correct`,
    `labels`, and of `meta` all but `answer_kind`.
    """
    kept = {k: v for k, v in record.items() if k not in ("answer", "correct", "labels", "meta")}
    kind = meta_of(record).get("answer_kind")
    return {**kept, "meta": {"answer_kind": kind}} if kind is not None else kept


def samples_of(record: Record) -> tuple[dict[str, Any], ...]:
    """The further answers to a trace's question, each as a trace record without labels."""
    shared = {k: v for k, v in without_labels(record).items() if k in _INSTANCE}
    return tuple({**shared, **sample} for sample in record.get("samples") or ())


class ById:
    """The records of a file by id, read no further than needed.

    What is asked for in the file's own order is not kept, so memory stays small then.

    Args:
        path: A file of JSON Lines.
        what: What its records are, for messages.
    """

    def __init__(self, path: str | os.PathLike[str], what: str) -> None:
        self.path = os.fspath(path)
        self.what = what
        self._rest = read_records(path)
        self._passed: dict[str, dict[str, Any]] = {}

    def find(self, identity: str) -> dict[str, Any] | None:
        """The record with an id, once; None where there is none.

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
