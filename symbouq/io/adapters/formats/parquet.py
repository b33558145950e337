"""Parquet files, read through pyarrow.

If a column cannot be read, the rows that need it fail. If no row needs it, the column is reported
once and left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from pydantic_core import from_json

from symbouq.errors import RecordError, one_line
from symbouq.io.adapters.base import Record
from symbouq.io.adapters.exchanges import CONVERSATIONS, PROMPTS, RESPONSES
from symbouq.io.adapters.inputs import Input
from symbouq.io.adapters.tables import TableAdapter, check_columns, without_nulls
from symbouq.io.storage import is_uri, located
from symbouq.io.tabular import holds_records, json_columns, need_pyarrow
from symbouq.records import Trace

_ROWS = 64
"""Number of rows decoded at a time."""


class _Parquet(TableAdapter):
    """Reader of the rows of a file. Rows of our own files already are records."""

    @classmethod
    def detects(cls, source: Input) -> bool:
        named = source.suffix == ".parquet" and not source.first
        return named or source.head.startswith(b"PAR1")

    @classmethod
    def prepare(cls, source: Input) -> None:
        need_pyarrow()

    def records(self) -> Iterator[Record]:
        path = self.source.path
        need_pyarrow()
        import pyarrow
        from pyarrow import parquet

        try:
            with ExitStack() as stack:
                if is_uri(path):
                    system, place = located(path)
                    file = system.open_input_file(place)
                else:
                    file = self.source.file.open("rb")  # pyarrow only accepts names in UTF-8
                opened = stack.enter_context(file)
                self._table = stack.enter_context(parquet.ParquetFile(opened))
                schema = self._table.schema_arrow
                self._columns = schema.names
                self._texts = json_columns(schema)
                self._reported: set[str] = set()
                self._is_ours = holds_records(schema) and not self.options.mapping
                if not self._is_ours:
                    check_columns(self._columns, self.options)
                number = 0
                for group in range(self._table.num_row_groups):
                    yield from self._group(group, number)
                    number += self._table.metadata.row_group(group).num_rows
        except pyarrow.ArrowException as error:
            raise RecordError(f"not readable as Parquet: {one_line(error)}") from error

    def trace(self, record: dict[str, Any], number: int) -> dict[str, Any] | None:
        if self._is_ours:
            return dict(without_nulls(record))
        return super().trace(record, number)

    def _is_needed(self, column: str) -> bool:
        """Whether a trace needs a column: the column is a field, or a field is filled from it."""
        return (
            column in Trace.model_fields
            or column in (*CONVERSATIONS, *PROMPTS, *RESPONSES)
            or any(f"{source}.".startswith(f"{column}.") for _, source in self.options.mapping)
        )

    def _group(self, group: int, before: int) -> Iterator[Record]:
        """Yield the rows of a row group; `before` is the number of rows that precede it."""
        number = before
        columns = None
        while True:
            try:
                done = before
                # Without threads of its own, because processes are started during the reading.
                for batch in self._table.iter_batches(
                    _ROWS, row_groups=[group], columns=columns, use_threads=False
                ):
                    if done + len(batch) > number:
                        yield from self._batch(batch.slice(number - done), number)
                        number = done + len(batch)
                    done += len(batch)
                return
            except Exception as error:  # any error caused by a damaged page
                if columns is not None:
                    raise RecordError(f"not readable as Parquet: {one_line(error)}") from error
            faults = self._faults(group)
            columns = [name for name in self._columns if name not in faults]
            for name, fault in faults.items():
                if self._is_needed(name):
                    last = before + self._table.metadata.row_group(group).num_rows
                    message = f"rows {number + 1} to {last}: column {name}: {fault}"
                    yield number + 1, RecordError(message)
                    return
                yield from self._left_out(number + 1, name, fault)

    def _faults(self, group: int) -> dict[str, str]:
        """Return the columns of a row group that cannot be read, with the reasons."""
        faults = {}
        for name in self._columns:
            try:
                self._table.read_row_group(group, columns=[name], use_threads=False)
            except Exception as error:
                faults[name] = one_line(error)
        return faults

    def _batch(self, batch: Any, before: int) -> Iterator[Record]:
        """Yield the rows of a batch. If a cell cannot be read, read the cells one by one."""
        try:
            rows = [self._decoded(row) for row in batch.to_pylist()]
        except Exception:
            for place in range(len(batch)):
                yield from self._row(batch, place, before + place + 1)
            return
        yield from enumerate(rows, start=before + 1)

    def _row(self, batch: Any, place: int, number: int) -> Iterator[Record]:
        row: dict[str, Any] = {}
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            try:
                row |= self._decoded({name: column[place].as_py()})
            except Exception as error:
                if self._is_needed(name):
                    yield number, RecordError(f"column {name}: {one_line(error)}")
                    return
                yield from self._left_out(number, name, one_line(error))
        yield number, row

    def _left_out(self, number: int, name: str, fault: str) -> Iterator[Record]:
        if name not in self._reported:
            self._reported.add(name)
            message = f"column {name}: {fault}; it is left out where it cannot be read"
            yield number, RecordError(message)

    def _decoded(self, row: dict[str, Any]) -> dict[str, Any]:
        texts = self._texts & row.keys()
        return row | {name: from_json(row[name]) for name in texts if row[name] is not None}


ADAPTER = _Parquet
