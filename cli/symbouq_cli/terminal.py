"""Print text without anything that a terminal would interpret as a command."""

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
"""Control characters, line ends, direction marks, and lone surrogates."""
_PLACED = re.compile(r"(.*?):(\d+): (.*)", re.DOTALL)
_OWN = re.compile(r"\d+|'[^']*'|\"[^\"]*\"")
"""Matches the parts (numbers and quotations) that may differ between messages about the same fault.
"""
_FEW = 3
"""Minimum number of further records with the same fault for which one line reports them all."""


def printable(text: object) -> str:
    r"""Return the given text in one line, with all terminal control characters spelled out
    (`\x1b`).
    """
    return _UNFIT.sub(lambda found: ascii(found.group())[1:-1], str(text))


def tell(text: object) -> None:
    """Print a line to standard error."""
    click.echo(printable(text), err=True)


def say(text: object) -> None:
    """Print a line to standard output."""
    click.echo(printable(text))


class Faults:
    """Context manager that reports faults of records.

    A fault is printed when it first occurs. On exit, the other records with the same fault are
    listed.
    """

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str], list[str]] = {}
        self._messages: dict[tuple[str, str], str] = {}

    def add(self, fault: object) -> None:
        """Add a fault, `FILE:LINE: MESSAGE`."""
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
    """Report faults of records, each kind once."""
    with Faults() as told:
        for fault in faults:
            told.add(fault)


def quiet_retries() -> None:
    """Hide messages about retried requests. A request that finally fails still raises an error."""
    logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)


def bar(*columns: str | ProgressColumn, shown: bool = True) -> Progress:
    """Show progress on a terminal, and nothing elsewhere.

    Args:
        columns: Columns for rich, or strings.
        shown: Whether progress is shown. A terminal can show one bar at a time.
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    hidden = not (shown and console.is_terminal)
    return Progress(*columns, console=console, transient=True, disable=hidden)
