"""Records as a Parquet file: other tools can read its columns, and SymboUQ can read it as records
again.

Fields become columns, objects become structs, and lists stay lists. Missing fields become null, and
null fields are absent when the file is read. If no single type fits a field, such as a scene that
is sometimes a list and sometimes a text, its values become JSON text, and the column's metadata
record this.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import IO, Any

from pydantic_core import from_json, to_json

from symbouq.errors import extra

_ROWS = 1024
"""Number of records in a row group."""
_MIXED = {b"symbouq": b"json"}
"""Marks a column of JSON text."""
_RECORDS = {b"symbouq": b"records"}
"""Marks a file of records."""
_DEEPEST = 32
"""Maximum nesting of lists and objects within a column."""
_EXACT = 1 << 53
"""Integers up to this one are exact as doubles."""


def need_pyarrow() -> None:
    """Check that tables can be written.

    Raises:
        SymboUQError: If pyarrow is missing.
    """
    with extra("formats"):
        import pyarrow.parquet  # noqa: F401


def write_table(lines: IO[bytes], out: IO[bytes]) -> None:
    """Convert JSON lines to a Parquet file.

    The columns depend on all records, so the lines are read twice.

    Args:
        lines: File of records, one per line.
        out: File for the table.

    Raises:
        OSError: If the table cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(lines)
    mixed = json_columns(schema)
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for rows in _chunks(lines):
            for row in rows:
                row.update((name, to_json(row[name])) for name in mixed & row.keys())
            writer.write_table(pa.Table.from_pylist(rows, schema))


def holds_records(schema: Any) -> bool:
    """Whether `write_table` wrote the file that has the given `pyarrow.Schema`."""
    return _RECORDS.items() <= (schema.metadata or {}).items()


def json_columns(schema: Any) -> set[str]:
    """Return the columns of a `pyarrow.Schema` that contain JSON text because the values have
    several types.
    """
    return {field.name for field in schema if _MIXED.items() <= (field.metadata or {}).items()}


def _schema(lines: IO[bytes]) -> Any:
    import pyarrow as pa

    types: dict[str, Any] = {}
    mixed: set[str] = set()
    for rows in _chunks(lines):
        for name in dict.fromkeys(name for row in rows for name in row if name not in mixed):
            values = [row.get(name) for row in rows]
            try:
                if _is_unfit(values, _DEEPEST):
                    raise pa.ArrowInvalid("a number that no double has, or too many levels")
                kind = pa.array(values).type
                both = (pa.schema({name: one}) for one in (types.get(name, kind), kind))
                types[name] = pa.unify_schemas(both, promote_options="permissive").field(0).type
            except pa.ArrowException:
                types[name] = pa.string()
                mixed.add(name)
    fields = (
        pa.field(name, kind, metadata=_MIXED if name in mixed else None)
        for name, kind in types.items()
    )
    return pa.schema(fields, metadata=_RECORDS)


def _is_unfit(value: Any, levels: int) -> bool:
    """Whether a value contains an integer that a column of fractions might round, or is nested too
    deeply.
    """
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return not levels or any(_is_unfit(part, levels - 1) for part in parts)
    return isinstance(value, int) and abs(value) > _EXACT


def _chunks(lines: IO[bytes]) -> Iterator[list[dict[str, Any]]]:
    lines.seek(0)
    while chunk := list(islice(lines, _ROWS)):
        yield [_columnar(from_json(line)) or {} for line in chunk]


def _columnar(value: Any) -> Any:
    """Return a value without its empty objects, for which there can be no columns."""
    if isinstance(value, dict):
        return {name: _columnar(part) for name, part in value.items()} or None
    if isinstance(value, list):
        return [_columnar(part) for part in value]
    return value
