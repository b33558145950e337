"""Errors made by users, with the place where they occurred."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

_PACKAGE = "symbouq"


def reduced(error: BaseException) -> tuple[Any, ...]:
    """Return the pickling data (`__reduce__`) for an error, independently of its constructor.

    By default, Python recreates an error by calling its constructor with `args`, which may not
    match the constructor's parameters.
    """
    return _remade, (type(error), error.args), vars(error)


def _remade(kind: type[BaseException], arguments: tuple[Any, ...]) -> BaseException:
    return kind.__new__(kind, *arguments)


class SymboUQError(Exception):
    """Base class of errors that are reported as one message, without a traceback.

    Args:
        message: What is wrong and what to do about it, in one line.
        file: File with the error, if any.
        line: Line of the error, from 1.
    """

    def __init__(self, message: str, file: str | None = None, line: int | None = None) -> None:
        message = " ".join(message.splitlines())
        super().__init__(message, file, line)
        self.message = message
        self.file = file
        self.line = line

    __reduce__ = reduced

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        return f"{place}: {self.message}" if place else self.message


class OntologyError(SymboUQError):
    """Invalid rules or an invalid ontology, such as a syntax error or an unknown relation or
    profile.

    Args:
        message: What is wrong and what to do about it.
        file: File with the error, if any.
        line: Line of the error, from 1.
        code: Name of the check that failed (`rules/check.lp`).
        mend: Remedy for this error, if it differs from the general remedy of the check.
    """

    def __init__(
        self,
        message: str,
        file: str | None = None,
        line: int | None = None,
        code: str = "unusable",
        mend: str = "",
    ) -> None:
        super().__init__(message, file, line)
        self.code = code
        self.mend = mend


class RecordError(SymboUQError):
    """An input record that cannot be read. Other records are not affected."""


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Context manager for a block that imports packages of an extra.

    Args:
        name: The extra.

    Raises:
        SymboUQError: If a package cannot be imported. The message explains how to install the
            extra.
    """
    try:
        yield
    except ImportError as error:
        package = f" ({error.name})" if error.name else ""
        raise SymboUQError(
            f"this needs the extra `{name}`{package}: {install_command(name)}; {error}"
        ) from error


def install_command(extra: str) -> str:
    """Return the command that installs an extra, or the package itself if `extra` is empty. The
    command installs from the package's own source.
    """
    from importlib import metadata  # takes longer to load than a command's help

    try:
        text = metadata.distribution(_PACKAGE).read_text("direct_url.json")
        origin = json.loads(text) if text else {}
    except metadata.PackageNotFoundError:  # run from a checkout
        origin = {"url": Path(__file__).parents[1].as_uri(), "dir_info": {"editable": True}}
    wanted = f"[{extra}]" if extra else ""
    arguments = [f"{_PACKAGE}{wanted}"]
    if origin.get("dir_info", {}).get("editable"):
        arguments = ["-e", f"{unquote(urlsplit(origin['url']).path)}{wanted}"]
    elif origin:
        arguments = [f"{_PACKAGE}{wanted} @ {origin['url']}"]
    return shlex.join([sys.executable, "-m", "pip", "install", *arguments])


def internal(error: Exception) -> str:
    """Return a one-line message about an internal error that affects one record."""
    return f"internal error, please report it: {type(error).__name__}: {one_line(error)}"


def one_line(error: Exception) -> str:
    """Return the reason for an error in one line."""
    return " ".join(str(error).split()) or "no reason given"
