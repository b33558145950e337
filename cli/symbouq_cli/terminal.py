"""Text that is printed: nothing in it that a terminal would take for a command."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

_UNFIT = re.compile(
    r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Controls, ends of lines, marks of direction, halves of characters."""


def printable(text: object) -> str:
    r"""A text in one line, with what moves, colours or hides on a terminal spelled out (`\x1b`)."""
    return _UNFIT.sub(lambda found: ascii(found.group())[1:-1], str(text))


def tell(text: object) -> None:
    """Prints a line to standard error."""
    click.echo(printable(text), err=True)


def say(text: object) -> None:
    """Prints a line to standard output."""
    click.echo(printable(text))


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
