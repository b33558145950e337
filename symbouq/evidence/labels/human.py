"""Human labels, imported from a table.

A table is a CSV file with a header, or JSON Lines, with one row per label: `id` of the trace,
`claim` (its number from 1, or `conclusion`) and `label` (1, 0, or empty if undecided). Other
columns are ignored.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from symbouq.errors import RecordError
from symbouq.evidence.labels.records import Label

SOURCE = "human"
"""Name of this source."""

CONCLUSION = "conclusion"
_COLUMNS = ("id", "claim", "label")


class _Row(NamedTuple):
    line: int
    claim: int | str
    label: Label


class HumanLabels:
    """Looks up labels in a table: a CSV file if its name ends in `.csv`, otherwise JSON Lines.

    Raises:
        RecordError: If a row cannot be read, or if a claim has two rows.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.file = os.fspath(path)
        self._rows: dict[str, list[_Row]] = {}
        lines: dict[tuple[str, int | str], int] = {}
        for line, fields in _rows(Path(path)):
            identity, row = self._row(line, fields)
            self._check_first(lines, (identity, row.claim), line)
            self._rows.setdefault(identity, []).append(row)
        self._unused = dict.fromkeys(self._rows)

    def __call__(self, record: dict[str, Any]) -> list[Label]:
        """Look up the labels for a trace's claims; None for a claim without a row.

        Raises:
            RecordError: If a row refers to a claim that the trace does not have.
        """
        count = len(record["reasoning"]) + 1
        labels: list[Label] = [None] * count
        lines: dict[tuple[str, int | str], int] = {}
        self._unused.pop(record["id"], None)
        for row in self._rows.get(record["id"], ()):
            number = count if row.claim == CONCLUSION else int(row.claim)
            if not 1 <= number <= count:
                raise self._error(row.line, f"{record['id']} has {count} claims, none is {number}")
            self._check_first(lines, (record["id"], number), row.line)
            labels[number - 1] = row.label
        return labels

    def unused(self) -> list[RecordError]:
        """Errors for rows about unknown traces."""
        return [
            self._error(self._rows[identity][0].line, f"there is no trace {identity}")
            for identity in self._unused
        ]

    def _check_first(
        self, lines: dict[tuple[str, int | str], int], claim: tuple[str, int | str], line: int
    ) -> None:
        before = lines.setdefault(claim, line)
        if before != line:
            identity, number = claim
            raise self._error(line, f"claim {number} of {identity} has a label in line {before}")

    def _row(self, line: int, fields: Any) -> tuple[str, _Row]:
        missing = [n for n in _COLUMNS if not isinstance(fields, dict) or n not in fields]
        if missing:
            raise self._error(line, f"a row has id, claim and label; {missing[0]} is missing")
        identity, claim, label = (fields[name] for name in _COLUMNS)
        number = str(claim).strip().casefold()
        if not isinstance(identity, str) or not identity:
            raise self._error(line, "`id` is the id of a trace")
        if number != CONCLUSION and not (number.isdecimal() and int(number) > 0):
            raise self._error(line, f"`claim` is a number from 1 or `{CONCLUSION}`, not {claim!r}")
        text = "" if label is None else str(label).strip()
        if text not in ("", "0", "1"):
            raise self._error(line, f"`label` is 0, 1 or empty, not {label!r}")
        return identity, _Row(
            line, number if number == CONCLUSION else int(number), int(text) if text else None
        )

    def _error(self, line: int, message: str) -> RecordError:
        return RecordError(message, self.file, line)


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        lines = StringIO(path.read_text(encoding="utf-8-sig"))  # Excel writes a byte order mark
    except UnicodeDecodeError as error:
        raise RecordError(f"not UTF-8: {error.reason}", str(path)) from error
    if path.suffix.lower() == ".csv":
        table = csv.DictReader(lines)
        for fields in table:
            yield table.line_num, {k: v for k, v in fields.items() if v is not None}
        return
    for line, text in enumerate(lines, start=1):
        if text.strip():
            try:
                yield line, from_json(text)
            except ValueError as error:
                raise RecordError(f"not valid JSON: {error}", str(path), line) from error
