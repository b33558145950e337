"""Tables of any origin: a row is a trace, and a column is a field.

A column with the name of a trace's field fills this field, `--map` names other columns, and the
rest is kept unchanged. If no column contains the scene, one column may contain chat messages, or
two columns may contain a prompt and its completion (`symbouq.io.adapters.exchanges`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.base import Adapter
from symbouq.io.adapters.exchanges import exchange, holds_exchange
from symbouq.io.adapters.fields import PROMPT, SCENES
from symbouq.io.adapters.inputs import ReadOptions
from symbouq.io.adapters.unrecognised import mapping_for

_NAMED = (*SCENES, PROMPT, "response", "reasoning", "conclusion", "claims")
"""Fields with the same information as an exchange."""

_SHOWN = 50
"""Maximum number of columns listed in a message."""


class TableAdapter(Adapter):
    """Adapter for typed tables, in which null stands for a missing value."""

    def fields(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return the columns from which a row's trace is made (`row_fields`)."""
        return row_fields(record, self.options)

    def trace(self, record: dict[str, Any], number: int) -> dict[str, Any] | None:
        """Return the fields of a row's trace (`Adapter.trace`)."""
        return super().trace(without_nulls(record), number)


def row_fields(row: dict[str, Any], options: ReadOptions) -> dict[str, Any]:
    """Return the fields of a row: its columns, and the prompt and response that it contains, unless
    these have their own column or are given by `--map`.

    Raises:
        RecordError: If the answer has the wrong type.
    """
    named = any(field in _NAMED for field, _ in options.mapping)
    if named or any(row.get(name) for name in SCENES):
        return row
    own = {name: row[name] for name in _ANSWERS if isinstance(row.get(name), str)}
    return {**row, **exchange(row), **own}


_ANSWERS = ("response", "reasoning", "conclusion")


def check_columns(columns: Sequence[str], options: ReadOptions) -> None:
    """Check that a table has the columns that its rows are read from.

    Raises:
        RecordError: If a mapped column is missing, or there is no scene.
    """
    listed = ", ".join(columns[:_SHOWN]) or "none"
    if len(columns) > _SHOWN:
        listed += f" and {len(columns) - _SHOWN:,} more"
    for field, source in options.mapping:
        parts = source.split(".")
        if not any(".".join(parts[:n]) in columns for n in range(1, len(parts) + 1)):
            raise RecordError(
                f"--map {field}={source}: there is no such column; the columns are {listed}"
            )
    named = any(name in columns or name in dict(options.mapping) for name in (*SCENES, PROMPT))
    if not named and not holds_exchange(columns):
        raise RecordError(
            "expected a column scene, scene_relations, prompt or messages, or "
            f"{mapping_for(dict.fromkeys(columns, ''))}; the columns are {listed}"
        )


def without_nulls(value: Any) -> Any:
    """Return a value without the fields that are null."""
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
