"""CSV with a header line. The separator is a comma, a semicolon or a tab.

Cells are strings, and an empty cell is an absent field. If a trace's field is a list or an object,
a cell with JSON of this type is decoded.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.base import Adapter, Record
from symbouq.io.adapters.fields import filled
from symbouq.io.adapters.inputs import Input, spelled
from symbouq.io.adapters.tables import check_columns, row_fields
from symbouq.io.values import decoded

_SEPARATORS = ",;\t"
_LONGEST = 1 << 24
"""Maximum number of characters in a cell, so that a quote that is never closed cannot fill the
memory.
"""

_TEXTS = ("scene", "reasoning", "answer", "answer_space")
"""Fields that may be a string or a list. The cell is decoded only if it is a JSON list."""

_VALUES = ("scene_relations", "claims", "tokens", "samples", "scores")
"""Fields that are never a string."""


class _Csv(Adapter):
    """Reader of the rows below the header."""

    @classmethod
    def detects(cls, source: Input) -> bool:
        return source.suffix in (".csv", ".tsv") and not source.first

    def records(self) -> Iterator[Record]:
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST))
        header = self.source.head.lstrip().split(b"\n", 1)[0].decode(errors="replace")
        rows = _rows(_Texts(self.source.lines()), max(_SEPARATORS, key=header.count))
        columns = next(rows, (1, []))[1]
        if isinstance(columns, RecordError):
            raise columns
        if columns:
            columns = [spelled(name) for name in columns]
            if twice := [name for name, times in Counter(columns).items() if times > 1]:
                raise RecordError(f"the header names the column {min(twice)!r} more than once")
            check_columns(columns, self.options)
        for number, cells in rows:
            yield number, _row(columns, cells)

    def trace(self, record: dict[str, Any], number: int) -> dict[str, Any]:
        fields = filled(record, row_fields(record, self.options), self.options, number)
        return {name: _value(name, value) for name, value in fields.items()}


class _Texts:
    """Decoded lines. A line that is too long becomes empty, and its error is kept.

    Attributes:
        fault: The error of the last such line. Code that reads row by row resets it.
    """

    def __init__(self, lines: Iterator[bytes | RecordError]) -> None:
        self._lines = lines
        self.fault: RecordError | None = None

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            if isinstance(line, RecordError):
                self.fault = line
                yield "\n"
            else:
                # Invalid UTF-8 makes its own row fail, not the whole file.
                yield line.decode(errors="surrogateescape")


def _rows(texts: _Texts, separator: str) -> Iterator[tuple[int, list[str] | RecordError]]:
    """Yield the rows that are not blank, with the number of the line on which each begins."""
    table = csv.reader(iter(texts), delimiter=separator, strict=True)
    while True:
        number = table.line_num + 1
        texts.fault = None
        cells: list[str] | RecordError | None
        try:
            cells = next(table, None)
        except csv.Error as error:
            cells = RecordError(f"not valid CSV: {error}")
        if texts.fault is not None:
            yield number, texts.fault
        elif cells is None:
            return
        elif cells != []:
            yield number, cells


def _row(columns: list[str], cells: list[str] | RecordError) -> dict[str, Any] | RecordError:
    """Map each column to its cell, or to None if the cell is empty. If the cells cannot be read,
    return the error instead.
    """
    if isinstance(cells, RecordError):
        return cells
    if len(cells) != len(columns):
        return RecordError(f"expected {len(columns)} cells, as the header has, found {len(cells)}")
    for cell in cells:
        if not cell.isascii() and any("\ud800" <= sign <= "\udfff" for sign in cell):
            return RecordError("not UTF-8")
    return {name: cell or None for name, cell in zip(columns, cells, strict=True)}


def _value(field: str, text: Any) -> Any:
    if not isinstance(text, str):
        return text
    if field in _VALUES or (field in _TEXTS and text.lstrip().startswith("[")):
        try:
            return decoded(text.encode())
        except RecordError as error:
            if field in _VALUES:
                raise RecordError(f"{field}: {error.message}") from error
    if field == "correct" and text.lower() in ("true", "false", "0", "1"):
        return text.lower() in ("true", "1")
    return text


ADAPTER = _Csv
