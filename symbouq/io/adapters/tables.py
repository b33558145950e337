"""Tables of any origin: a row is a trace, a column is a field.

A column that bears the name of a trace's field fills it, `--map` names others, and the
rest is kept as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.base import Adapter
from symbouq.io.adapters.fields import PROMPT, SCENES
from symbouq.io.adapters.inputs import ReadOptions


class TableAdapter(Adapter):
    """A typed table, where null stands for what a record lacks."""

    def trace(self, record: dict[str, Any], number: int) -> dict[str, Any] | None:
        """The fields of a row's trace (`Adapter.trace`)."""
        return super().trace(without_nulls(record), number)


def check_columns(columns: Sequence[str], options: ReadOptions) -> None:
    """Makes sure that a table has what its rows are read from.

    Raises:
        RecordError: If a mapped column, or any scene, is missing.
    """
    listed = ", ".join(columns) or "none"
    for field, source in options.mapping:
        parts = source.split(".")
        if not any(".".join(parts[:n]) in columns for n in range(1, len(parts) + 1)):
            raise RecordError(
                f"--map {field}={source}: there is no such column; the columns are {listed}"
            )
    if not any(name in columns or name in dict(options.mapping) for name in (*SCENES, PROMPT)):
        raise RecordError(
            f"expected a column scene, scene_relations or prompt, or --map scene=COLUMN; the "
            f"columns are {listed}"
        )


def spelled(column: str) -> str:
    r"""A column's name that was decoded by `surrogateescape`, with what is no UTF-8 spelled out
    (`\xe9`), so that it costs no row.
    """
    return column.encode(errors="surrogateescape").decode(errors="backslashreplace")


def without_nulls(value: Any) -> Any:
    """A value whose objects lack what is null."""
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
