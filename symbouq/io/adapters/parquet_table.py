"""Parquet files, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json

from symbouq.errors import RecordError, one_line
from symbouq.io.adapters.base import Found, Input, Reading, imported
from symbouq.io.adapters.tables import Row, is_read, traces, without_nulls
from symbouq.io.storage import is_uri, located
from symbouq.io.tabular import holds_records, json_columns

_ROWS = 64
"""Rows decoded at a time."""


class _Parquet:
    def detects(self, given: Input) -> bool:
        return given.suffix == ".parquet" or given.head.startswith(b"PAR1")

    def prepare(self, given: Input) -> None:
        _package()

    def read(self, given: Input, reading: Reading) -> Iterator[Found]:
        system, place = located(given.path) if is_uri(given.path) else (None, str(given.file))
        pyarrow = imported("pyarrow", "Parquet", _INSTALL)
        try:
            with _package().ParquetFile(place, filesystem=system) as table:
                rows = _Rows(table, reading)
                if holds_records(table.schema_arrow) and not reading.mapping:
                    for number, row in rows:
                        found = row if isinstance(row, RecordError) else without_nulls(row)
                        yield Found(given.name, number, found)
                    return
                yield from traces(given.name, table.schema_arrow.names, rows, reading)
        except pyarrow.ArrowException as error:
            raise RecordError(f"not readable as Parquet: {one_line(error)}") from error


class _Rows:
    """The rows of a file, numbered from 1. What cannot be read costs the rows that need it; where
    none does, the column is told of once, and left out.

    Args:
        table: The `pyarrow.parquet.ParquetFile`.
        reading: Says which columns are needed.
    """

    def __init__(self, table: Any, reading: Reading) -> None:
        self._table = table
        self._texts = json_columns(table.schema_arrow)
        names = table.schema_arrow.names
        self._needed = {name for name in names if is_read(name, reading)}
        self._left_out: dict[str, None] = {}

    def __iter__(self) -> Iterator[Row]:
        number = 0
        for group in range(self._table.num_row_groups):
            for row in self._group(group, number):
                number, _ = row
                yield row
            number = sum(self._table.metadata.row_group(n).num_rows for n in range(group + 1))

    def _group(self, group: int, before: int) -> Iterator[Row]:
        """The rows of a group of rows, before which there are some."""
        number = before
        columns = None
        while True:
            try:
                done = before
                # No threads of its own: processes are started beside the reading.
                for batch in self._table.iter_batches(
                    _ROWS, row_groups=[group], columns=columns, use_threads=False
                ):
                    if done + len(batch) > number:
                        yield from self._batch(batch.slice(number - done), number)
                        number = done + len(batch)
                    done += len(batch)
                return
            except Exception as error:  # whatever a damaged page makes of it
                if columns is not None:
                    raise RecordError(f"not readable as Parquet: {one_line(error)}") from error
            faults = self._faults(group)
            columns = [name for name in self._table.schema_arrow.names if name not in faults]
            for name, fault in faults.items():
                if name in self._needed:
                    last = before + self._table.metadata.row_group(group).num_rows
                    message = f"rows {number + 1} to {last}: column {name}: {fault}"
                    yield number + 1, RecordError(message)
                    return
                yield from self._told(number + 1, name, fault)

    def _faults(self, group: int) -> dict[str, str]:
        """The columns of a group of rows that cannot be read, with the reason."""
        found = {}
        for name in self._table.schema_arrow.names:
            try:
                self._table.read_row_group(group, columns=[name], use_threads=False)
            except Exception as error:
                found[name] = one_line(error)
        return found

    def _batch(self, batch: Any, before: int) -> Iterator[Row]:
        """The rows of a batch, cell by cell where one of them is bad."""
        try:
            rows = [self._decoded(row) for row in batch.to_pylist()]
        except Exception:
            for place in range(len(batch)):
                yield from self._row(batch, place, before + place + 1)
            return
        yield from enumerate(rows, start=before + 1)

    def _row(self, batch: Any, place: int, number: int) -> Iterator[Row]:
        row: dict[str, Any] = {}
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            try:
                row |= self._decoded({name: column[place].as_py()})
            except Exception as error:
                if name in self._needed:
                    yield number, RecordError(f"column {name}: {one_line(error)}")
                    return
                yield from self._told(number, name, one_line(error))
        yield number, row

    def _told(self, number: int, name: str, fault: str) -> Iterator[Row]:
        if name not in self._left_out:
            self._left_out[name] = None
            message = f"column {name}: {fault}; it is left out where it cannot be read"
            yield number, RecordError(message)

    def _decoded(self, row: dict[str, Any]) -> dict[str, Any]:
        texts = self._texts & row.keys()
        return row | {name: from_json(row[name]) for name in texts if row[name] is not None}


_INSTALL = "'symbouq[formats]'"


def _package() -> Any:
    return imported("pyarrow.parquet", "Parquet", _INSTALL)


ADAPTER = _Parquet()
