"""Records the programs that are made, for rule coverage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import clingo

Record = Callable[[Sequence[str], str, clingo.Control | None], bool]
"""Function of the names of rule files, additional facts, and the program that they make, if it is
ground. It returns whether the program has something new to show.
"""

_record: ContextVar[Record | None] = ContextVar("record", default=None)


@contextmanager
def recorded(record: Record) -> Iterator[None]:
    """Record every program that is made in the block."""
    token = _record.set(record)
    try:
        yield
    finally:
        _record.reset(token)


def is_recording() -> bool:
    """Whether programs are recorded: results from earlier runs would hide what they fire."""
    return _record.get() is not None


def add_program(parts: Sequence[str], facts: str, control: clingo.Control | None = None) -> bool:
    """Record a program, if programs are recorded. Return whether it has something new to show."""
    record = _record.get()
    return record is not None and record(parts, facts, control)
