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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clingo
from pydantic_core import from_json, to_json

from symbouq.ontology.source import Rows, digest

if TYPE_CHECKING:
    from sqlite3 import Connection

VARIABLE = "SYMBOUQ_CACHE"
"""Environment variable that sets the cache folder, or disables the cache if empty."""

_MOST = 32
"""Maximum number of entries of each kind. The oldest are removed first."""
_RESULTS = 50_000
"""Number of results in a `Shelf` at which it is emptied."""


class Store:
    """Cache for results that depend on certain rules.

    Args:
        kind: Kind of result, used as the name of a folder.
        content: The rules, or their hash.
    """

    def __init__(self, kind: str, content: str) -> None:
        self._key = _key(content)
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


class Shelf:
    """Cache for many small results that depend on certain rules. They are kept in an SQLite file,
    which processes may share.

    Args:
        kind: Kind of result, used as the name of the file.
        content: The rules, or their hash.
    """

    def __init__(self, kind: str, content: str) -> None:
        self._key = _key(content)
        root = cache_folder()
        self._file = None if root is None else root / f"{kind}.sqlite"

    def load(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the results that are saved under some of the names."""
        found = {}
        with suppress(Exception), self._opened() as base:
            for name in names:
                asked = (self._made_from(name).digest(),)
                for (value,) in base.execute("SELECT value FROM kept WHERE name = ?", asked):
                    signature, _, content = value.partition(b"\n")
                    if signature + b"\n" == _signature(self._key + name, content):
                        found[name] = content
        return found

    def save(self, results: Mapping[str, bytes]) -> None:
        """Save results under their names, if possible."""
        rows = [
            (self._made_from(name).digest(), _signature(self._key + name, content) + content)
            for name, content in results.items()
        ]
        with suppress(Exception), self._opened() as base, base:
            if base.execute("SELECT count(*) FROM kept").fetchone()[0] > _RESULTS:
                base.execute("DELETE FROM kept")
            base.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", rows)

    def _made_from(self, name: str) -> hashlib._Hash:
        return hashlib.sha256(f"{self._key} {name}".encode())

    @contextmanager
    def _opened(self) -> Iterator[Connection]:
        """Open the file for one use, because a connection must not pass to another process."""
        import sqlite3

        if self._file is None:
            raise OSError("caching is disabled")
        if not self._file.is_symlink():
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                os.close(os.open(self._file, os.O_CREAT | os.O_EXCL, 0o600))
        if not _is_ours(self._file.lstat()):
            raise OSError("others may have written it")
        with closing(sqlite3.connect(self._file, timeout=1)) as base:
            try:
                base.execute("PRAGMA synchronous = OFF")
                base.execute("CREATE TABLE IF NOT EXISTS kept (name BLOB PRIMARY KEY, value BLOB)")
                yield base
            except sqlite3.OperationalError:  # the file is locked, or there is no space
                raise
            except sqlite3.DatabaseError:
                self._file.unlink()
                raise


@cache
def _code() -> str:
    """The hash of the code that makes what is cached."""
    return digest(sorted(Path(__file__).parent.glob("*.py")))


def _key(content: str) -> str:
    parts = content, _code(), clingo.__version__
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


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
            if not _is_ours(os.fstat(opened)):
                return None
            signature, content = stream.readline(), stream.read()
        return from_json(content) if signature == _signature(made_from, content) else None
    except (OSError, ValueError):
        return None


_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def _is_ours(status: os.stat_result) -> bool:
    """Whether a file is a plain file that only this user and the administrator may write."""
    ours = status.st_uid in (os.geteuid(), 0) and not status.st_mode & _OTHERS_WRITE
    return ours and stat.S_ISREG(status.st_mode)


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
