"""Adapters: the common part of the modules for all trace formats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from symbouq.errors import RecordError
from symbouq.io.adapters.fields import filled
from symbouq.io.adapters.inputs import Input, ReadOptions
from symbouq.io.values import decoded, described

Record = tuple[int, dict[str, Any] | RecordError]
"""The number of a record in its file, from 1, and its content or the error that prevents reading
it. The error may name a file other than the one being read.
"""


class Adapter(ABC):
    """An opened input in one format. Iterating over it yields the fields of its traces, in order.

    A module in `symbouq.io.adapters.formats` calls its subclass `ADAPTER`; the format has the
    module's name. Formats of JSON objects derive from `JsonAdapter`, tables from
    `symbouq.io.adapters.tables.TableAdapter`.

    Args:
        source: The input.
        options: How to read it.
    """

    joins: ClassVar[bool] = False
    """Whether the prompts may be in `--batch-input` instead of in the records."""

    def __init__(self, source: Input, options: ReadOptions) -> None:
        self.source = source
        self.options = options

    @classmethod
    @abstractmethod
    def detects(cls, source: Input) -> bool:
        """Whether an input looks like this format, judging by its name or its first record."""

    @classmethod  # noqa: B027 (most formats need nothing)
    def prepare(cls, source: Input) -> None:
        """Check that the input can be read.

        Raises:
            SymboUQError: If a required package is not installed.
        """

    @classmethod
    def lacks(cls, source: Input) -> str | None:
        """Explain why an input has no traces although it belongs to the format. None if it may have
        some.
        """
        return None

    @abstractmethod
    def records(self) -> Iterator[Record]:
        """Yield the records in the format's own form, one at a time.

        Raises:
            SymboUQError: If no further record can be read from the input.
        """

    def fields(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of `symbouq.records.Trace` that a record gives, by default all its
        fields. There may also be a `prompt`, from which scene and question are taken.

        Raises:
            RecordError: If it is not a record of the format.
        """
        return record

    def trace(self, record: dict[str, Any], number: int) -> dict[str, Any] | None:
        """Return the fields of a record's trace, including those of `--map`. None to leave the
        record out.

        Raises:
            RecordError: If the record cannot be read.
        """
        return filled(record, self.fields(record), self.options, number)

    def __iter__(self) -> Iterator[Record]:
        for number, record in self.records():
            try:
                if isinstance(record, RecordError):
                    raise record
                trace = self.trace(record, number)
            except RecordError as error:
                yield number, error
                continue
            if trace is not None:
                yield number, trace


class JsonAdapter(Adapter):
    """A format with JSON objects, one per line or all in one array."""

    expected: ClassVar[str]
    """Description of an object of the format, for messages."""

    def records(self) -> Iterator[Record]:
        """Yield the objects of the input, numbered."""
        for number, encoded in self.source.values():
            yield number, self.object(encoded)

    def object(self, encoded: bytes | RecordError) -> dict[str, Any] | RecordError:
        """Return a JSON object, or the error if there is none."""
        try:
            value = decoded(encoded)
        except RecordError as error:
            return error
        return value if isinstance(value, dict) else self.unexpected(value)

    def unexpected(self, value: Any) -> RecordError:
        """Return the error for a value that does not belong to the format."""
        return RecordError(f"expected {self.expected}, found {described(value)}")
