"""CSV with a header line; the separator is a comma, a semicolon or a tab.

Cells are texts, and an empty one is an absent field. Where a trace's field is a list or
an object, a cell that holds one as JSON is taken as such.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.base import Found, Input, Reading, decoded
from symbouq.io.adapters.tables import check_columns, row_trace, spelled

_SEPARATORS = ",;\t"
_LONGEST = 1 << 24
"""Characters that a cell may have: a quote that is never closed must not fill the memory."""

_TEXTS = ("scene", "reasoning", "answer", "answer_space")
"""Fields that may be a text or a list; the text is taken as JSON only where it is a list."""

_VALUES = ("scene_relations", "claims", "tokens", "samples", "scores")
"""Fields that are no text."""


class _Csv:
    def detects(self, given: Input) -> bool:
        return given.suffix in (".csv", ".tsv")

    def prepare(self, given: Input) -> None:
        pass

    def read(self, given: Input, reading: Reading) -> Iterator[Found]:
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST))
        header = given.head.lstrip().split(b"\n", 1)[0].decode(errors="replace")
        rows = _rows(_Texts(given.lines()), max(_SEPARATORS, key=header.count))
        columns = next(rows, (1, []))[1]
        if isinstance(columns, RecordError):
            raise columns
        if columns:
            columns = [spelled(name) for name in columns]
            _check_names(columns)
            check_columns(columns, reading)
        for number, cells in rows:
            content: dict[str, Any] | RecordError
            try:
                content = _trace(columns, cells, reading, number)
            except RecordError as error:
                content = error
            yield Found(given.name, number, content)


class _Texts:
    """Lines as texts; a line that is too long is empty, and its error is kept.

    Attributes:
        fault: The error of the last such line; whoever reads row by row takes it away.
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
                # What is no UTF-8 fails with its own row, not with the file.
                yield line.decode(errors="surrogateescape")


def _rows(texts: _Texts, separator: str) -> Iterator[tuple[int, list[str] | RecordError]]:
    """The rows that are not blank, with the number of the line on which each begins."""
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


def _check_names(columns: list[str]) -> None:
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise RecordError(f"the header names the column {twice[0]!r} more than once")


def _trace(
    columns: list[str], cells: list[str] | RecordError, reading: Reading, number: int
) -> dict[str, Any]:
    if isinstance(cells, RecordError):
        raise cells
    if len(cells) != len(columns):
        raise RecordError(f"expected {len(columns)} cells, as the header has, found {len(cells)}")
    for cell in cells:
        if not cell.isascii() and any("\ud800" <= sign <= "\udfff" for sign in cell):
            raise RecordError("not UTF-8")
    row = dict(zip(columns, cells, strict=True))
    fields = row_trace({name: cell or None for name, cell in row.items()}, reading, number)
    return {name: _value(name, value) for name, value in fields.items()}


def _value(field: str, text: Any) -> Any:
    """A cell as the value of a field."""
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


ADAPTER = _Csv()
