"""Parquet files, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json

from symbouq.adapters.base import Found, Input, Reading, imported
from symbouq.adapters.tables import traces, without_nulls
from symbouq.errors import RecordError
from symbouq.storage import is_uri, located
from symbouq.tabular import holds_records, json_columns

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
                # No threads of its own: processes are started beside the reading.
                batches = table.iter_batches(batch_size=_ROWS, use_threads=False)
                texts = json_columns(table.schema_arrow)
                rows = (_decoded(row, texts) for batch in batches for row in batch.to_pylist())
                if holds_records(table.schema_arrow) and not reading.mapping:
                    for number, row in enumerate(rows, start=1):
                        yield Found(given.name, number, without_nulls(row))
                    return
                yield from traces(given.name, table.schema_arrow.names, rows, reading)
        except pyarrow.ArrowException as error:
            raise RecordError(f"not readable as Parquet: {error}") from error


def _decoded(row: dict[str, Any], texts: set[str]) -> dict[str, Any]:
    return row | {name: from_json(row[name]) for name in texts if row[name] is not None}


_INSTALL = "'symbouq[formats]'"


def _package() -> Any:
    return imported("pyarrow.parquet", "Parquet", _INSTALL)


ADAPTER = _Parquet()
