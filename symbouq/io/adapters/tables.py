"""Tables of any origin: a row is a trace, a column is a field.

A column that bears the name of a trace's field fills it, `--map` names others, and the
rest is kept as it is. Where no column is the scene, one may hold chat messages, or two a prompt and
its completion (`symbouq.io.adapters.exchanges`).
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
"""Fields that hold what an exchange does."""

_SHOWN = 50
"""Columns that a message lists."""


class TableAdapter(Adapter):
    """A typed table, where null stands for what a record lacks."""

    def fields(self, record: dict[str, Any]) -> dict[str, Any]:
        """The columns that a row's trace is made from (`row_fields`)."""
        return row_fields(record, self.options)

    def trace(self, record: dict[str, Any], number: int) -> dict[str, Any] | None:
        """The fields of a row's trace (`Adapter.trace`)."""
        return super().trace(without_nulls(record), number)


def row_fields(row: dict[str, Any], options: ReadOptions) -> dict[str, Any]:
    """The fields that a row gives: its columns, and the prompt and the response that it holds,
    unless a column or `--map` says where they are.

    Raises:
        RecordError: If what should be the answer is none.
    """
    named = any(field in _NAMED for field, _ in options.mapping)
    if named or any(row.get(name) for name in SCENES):
        return row
    own = {name: row[name] for name in _ANSWERS if isinstance(row.get(name), str)}
    return {**row, **exchange(row), **own}


_ANSWERS = ("response", "reasoning", "conclusion")


def check_columns(columns: Sequence[str], options: ReadOptions) -> None:
    """Makes sure that a table has what its rows are read from.

    Raises:
        RecordError: If a mapped column, or any scene, is missing.
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
    """A value whose objects lack what is null."""
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
