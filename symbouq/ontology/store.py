"""Cache for compiled rules in the user's cache folder. Compiling an ontology takes most of a
second, but loading the result takes a few milliseconds.

An entry is keyed by its inputs, byte by byte: rules, code and solver. It is also signed with them.
An entry that was edited, or that others may write, is created again. A problem with the folder only
costs time.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import clingo
from pydantic_core import from_json, to_json

from symbouq.ontology.source import Rows, digest

VARIABLE = "SYMBOUQ_CACHE"
"""Environment variable that sets the cache folder, or disables the cache if empty."""

_MOST = 32
"""Maximum number of entries of each kind. The oldest are removed first."""


class Store:
    """Cache for results that depend on certain rules.

    Args:
        kind: Kind of result, used as the name of a folder.
        content: The rules, or their hash.
    """

    def __init__(self, kind: str, content: str) -> None:
        code = sorted(Path(__file__).parent.glob("*.py"))
        parts = content, digest(code), clingo.__version__
        self._key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        root = cache_folder()
        self._folder = None if root is None else root / kind / self._key

    def load(self, name: str) -> Any:
        """Return the JSON value saved under a name, or None."""
        if self._folder is None:
            return None
        return recalled(self._folder / name, f"{self._key} {name}")

    def save(self, name: str, value: Any) -> None:
        """Save a value as JSON, if possible."""
        if self._folder is None:
            return
        with suppress(OSError):
            new = not self._folder.exists()
            remember(self._folder / name, f"{self._key} {name}", value)
            if new:
                _tidy(self._folder.parent)


def remember(file: Path, made_from: str, value: Any) -> None:
    """Write a JSON value to a file in the cache folder, signed with the inputs it was made from.

    Raises:
        OSError: If the file cannot be written.
    """
    content = to_json(value)
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as part:
        part.write(_signature(made_from, content) + content)
    Path(part.name).replace(file)


def recalled(file: Path, made_from: str) -> Any:
    """Return the value written by `remember`. None if the file does not exist, was made from other
    inputs or edited, or may be written by others.
    """
    try:
        # Do not wait for a pipe or follow a link.
        opened = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(opened, "rb") as stream:
            status = os.fstat(opened)
            ours = status.st_uid in (os.geteuid(), 0) and not status.st_mode & _OTHERS_WRITE
            if not ours or not stat.S_ISREG(status.st_mode):
                return None
            signature, content = stream.readline(), stream.read()
        return from_json(content) if signature == _signature(made_from, content) else None
    except (OSError, ValueError):
        return None


_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def _signature(made_from: str, content: bytes) -> bytes:
    signed = hashlib.sha256(made_from.encode() + b"\0" + content)
    return signed.hexdigest().encode() + b"\n"


def listed(rows: Rows) -> list[Any]:
    """Return rows by predicate as JSON values."""
    return [[name, arity, found] for (name, arity), found in rows.items()]


def unlisted(value: Iterable[Any]) -> Rows:
    """Inverse of `listed`."""
    rows: Rows = defaultdict(list)
    rows.update(((name, arity), [*map(tuple, found)]) for name, arity, found in value)
    return rows


def cache_folder() -> Path | None:
    """Return the project's cache folder, or None if caching is disabled."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named) if named else None
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(base or Path.home() / ".cache") / "symbouq"
    except RuntimeError:  # no home folder
        return None


def _tidy(folder: Path) -> None:
    kept = sorted(folder.iterdir(), key=lambda entry: entry.stat().st_mtime, reverse=True)
    for entry in kept[_MOST:]:
        shutil.rmtree(entry, ignore_errors=True)
