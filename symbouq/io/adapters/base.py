"""Adapters: what the modules of all trace formats have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from symbouq.errors import RecordError
from symbouq.io.adapters.fields import filled
from symbouq.io.adapters.inputs import Input, ReadOptions
from symbouq.io.values import decoded, described

Record = tuple[int, dict[str, Any] | RecordError]
"""The number of a record in its file, from 1, and its content or why it cannot be read. An error
may name another file than the one that is read.
"""


class Adapter(ABC):
    """An opened input of one format; iterating over it gives the fields of its traces, in order.

    A module of `symbouq.io.adapters.formats` calls its subclass `ADAPTER`; the format bears the
    module's name. Formats of JSON objects start from `JsonAdapter`, tables from
    `symbouq.io.adapters.tables.TableAdapter`.

    Args:
        source: The input.
        options: How it is read.
    """

    joins: ClassVar[bool] = False
    """Whether its records may lack the prompts, which `--batch-input` has."""

    def __init__(self, source: Input, options: ReadOptions) -> None:
        self.source = source
        self.options = options

    @classmethod
    @abstractmethod
    def detects(cls, source: Input) -> bool:
        """Whether an input looks like this format, by its name or its first record."""

    @classmethod  # noqa: B027 (most formats need nothing)
    def prepare(cls, source: Input) -> None:
        """Makes sure that the input can be read.

        Raises:
            SymboUQError: If a package that it needs is not installed.
        """

    @classmethod
    def lacks(cls, source: Input) -> str | None:
        """Why an input has no traces though it belongs to the format; None where it may have."""
        return None

    @abstractmethod
    def records(self) -> Iterator[Record]:
        """The records as the format has them, one at a time.

        Raises:
            SymboUQError: If nothing further can be read from the input.
        """

    def fields(self, record: dict[str, Any]) -> dict[str, Any]:
        """The fields of `symbouq.records.Trace` that a record gives, and maybe a `prompt`, from
        which scene and question are taken; by default all that it has.

        Raises:
            RecordError: If it is no record of the format.
        """
        return record

    def trace(self, record: dict[str, Any], number: int) -> dict[str, Any] | None:
        """The fields of a record's trace, also those of `--map`; None to leave the record out.

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
    """A format of JSON objects, one a line or all in one array."""

    expected: ClassVar[str]
    """An object of the format, for messages."""

    def records(self) -> Iterator[Record]:
        """The objects of the input, numbered."""
        for number, encoded in self.source.values():
            yield number, self.object(encoded)

    def object(self, encoded: bytes | RecordError) -> dict[str, Any] | RecordError:
        """A JSON object, or why there is none."""
        try:
            value = decoded(encoded)
        except RecordError as error:
            return error
        return value if isinstance(value, dict) else self.unexpected(value)

    def unexpected(self, value: Any) -> RecordError:
        """The error of a value that is none of the format."""
        return RecordError(f"expected {self.expected}, found {described(value)}")
