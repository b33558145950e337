"""Text that is printed: nothing in it that a terminal would take for a command."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

import click

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

_UNFIT = re.compile(
    r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Controls, ends of lines, marks of direction, halves of characters."""
_PLACED = re.compile(r"(.*?):(\d+): (.*)", re.DOTALL)
_OWN = re.compile(r"\d+|'[^']*'|\"[^\"]*\"")
"""What tells messages about one fault apart."""
_FEW = 3
"""From so many more records on, a fault is said of all of them at once."""


def printable(text: object) -> str:
    r"""A text in one line, with what moves, colours or hides on a terminal spelled out (`\x1b`)."""
    return _UNFIT.sub(lambda found: ascii(found.group())[1:-1], str(text))


def tell(text: object) -> None:
    """Prints a line to standard error."""
    click.echo(printable(text), err=True)


def say(text: object) -> None:
    """Prints a line to standard output."""
    click.echo(printable(text))


class Faults:
    """Faults of records, each said once: where it first occurs at once, and in the end where else.

    As a context manager it says the latter.
    """

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str], list[str]] = {}
        self._messages: dict[tuple[str, str], str] = {}

    def add(self, fault: object) -> None:
        """Takes a fault, `FILE:LINE: MESSAGE`."""
        placed = _PLACED.fullmatch(str(fault))
        file, line, message = placed.groups() if placed else ("", "", str(fault))
        kind = file, _OWN.sub("", message)
        lines = self._lines.setdefault(kind, [])
        lines.append(line)
        if len(lines) == 1 or not placed:
            self._messages[kind] = message
            tell(fault)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exit: object) -> None:
        for (file, kind), (_first, *lines) in self._lines.items():
            message = self._messages[file, kind]
            if len(lines) >= _FEW:
                where = f"from line {lines[0]} to line {lines[-1]}"
                tell(f"{file}: {len(lines)} more records, {where}: {message}")
            else:
                for line in filter(None, lines):
                    tell(f"{file}:{line}: {message}")


def tell_faults(faults: Iterable[object]) -> None:
    """Says some faults of records, each once."""
    with Faults() as told:
        for fault in faults:
            told.add(fault)


def quiet_retries() -> None:
    """Keeps silent of requests that are made again: what fails in the end is told by its error."""
    logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)


def bar(*columns: str | ProgressColumn, shown: bool = True) -> Progress:
    """Progress on a terminal, nothing elsewhere.

    Args:
        columns: Columns of rich, or texts.
        shown: Whether it is shown; a terminal has one at a time.
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    hidden = not (shown and console.is_terminal)
    return Progress(*columns, console=console, transient=True, disable=hidden)
