"""Tables of any origin: a row is a trace, a column is a field.

A column that bears the name of a trace's field fills it, `--map` names others, and the
rest is kept as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.base import PROMPT, Found, Reading
from symbouq.io.adapters.fields import filled
from symbouq.records import Trace

_SCENES = ("scene", "scene_relations", "prompt")


def check_columns(columns: Sequence[str], reading: Reading) -> None:
    """Makes sure that a table has what its rows are read from.

    Raises:
        RecordError: If a mapped column, or any scene, is missing.
    """
    listed = ", ".join(columns) or "none"
    for field, source in reading.mapping:
        parts = source.split(".")
        if not any(".".join(parts[:n]) in columns for n in range(1, len(parts) + 1)):
            raise RecordError(
                f"--map {field}={source}: there is no such column; the columns are {listed}"
            )
    if not any(name in columns or name in dict(reading.mapping) for name in _SCENES):
        raise RecordError(
            f"expected a column scene, scene_relations or prompt, or --map scene=COLUMN; the "
            f"columns are {listed}"
        )


def spelled(column: str) -> str:
    r"""A column's name that was decoded by `surrogateescape`, with what is no UTF-8 spelled out
    (`\xe9`), so that it costs no row.
    """
    return column.encode(errors="surrogateescape").decode(errors="backslashreplace")


def row_trace(row: dict[str, Any], reading: Reading, number: int) -> dict[str, Any]:
    """The fields of a row's trace.

    Raises:
        RecordError: If they are not all there.
    """
    return filled(row, row, reading, number)


Row = tuple[int, dict[str, Any] | RecordError]
"""A row's number, from 1, and its cells or why they are not there."""


def traces(
    file: str, columns: Sequence[str], rows: Iterable[Row], reading: Reading
) -> Iterator[Found]:
    """The traces of a typed table, where what a record lacks stands as null.

    Raises:
        RecordError: If a column is missing that all of them need.
    """
    check_columns(columns, reading)
    for number, row in rows:
        content: dict[str, Any] | RecordError
        try:
            if isinstance(row, RecordError):
                raise row
            content = row_trace(without_nulls(row), reading, number)
        except RecordError as error:
            content = error
        yield Found(file, number, content)


def is_read(column: str, reading: Reading) -> bool:
    """Whether a trace cannot do without a column that is there: a field, or what fills one."""
    sources = (source for _, source in reading.mapping)
    return (
        column in Trace.model_fields
        or column == PROMPT
        or any(f"{source}.".startswith(f"{column}.") for source in sources)
    )


def without_nulls(value: Any) -> Any:
    """A value whose objects lack what is null."""
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
