"""Records the programs that are made, for rule coverage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Program = tuple[tuple[str, ...], str]
"""Names of rule files, and additional facts."""

_programs: ContextVar[list[Program] | None] = ContextVar("programs", default=None)


@contextmanager
def recorded() -> Iterator[list[Program]]:
    """Record every program that is made in the block."""
    programs: list[Program] = []
    token = _programs.set(programs)
    try:
        yield programs
    finally:
        _programs.reset(token)


def is_recording() -> bool:
    """Whether programs are recorded: results from earlier runs would hide what they fire."""
    return _programs.get() is not None


def add_program(program: Program) -> None:
    """Add a program to the record, if programs are recorded."""
    programs = _programs.get()
    if programs is not None:
        programs.append(program)
