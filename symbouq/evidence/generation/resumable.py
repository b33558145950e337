"""Generated records on disk, appended as JSON lines so that an interrupted run can continue."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from pydantic_core import from_json, to_json

from symbouq.errors import SymboUQError
from symbouq.io.output import lock

HASH = "settings"
"""Key of the hash over all settings. The other keys show which setting differs."""
_ABSENT = object()
_START = b'{"id":'
"""Beginning of every line."""


class ResumableFile:
    """A file of generated records that later runs can continue. Use it as a context manager, which
    locks the file.

    A line is complete once its line break is written. An incomplete last line is removed. All runs
    that write to a file must have the same settings, stored as `generation` in each line.

    Attributes:
        done: Ids of the written records.

    Raises:
        SymboUQError: On entry, if the file cannot be used, another run is writing to it, or its
            lines have a different origin or different settings.
    """

    def __init__(self, path: str | os.PathLike[str], settings: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.done: set[str] = set()
        self._settings = dict(settings)
        self._size = 0

    def __enter__(self) -> Self:
        if self.path.suffix in (".gz", ".parquet"):
            raise SymboUQError(
                f"traces are appended as they come, which no {self.path.suffix} file allows; give "
                "a name in .jsonl and convert it at the end",
                str(self.path),
            )
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise self._unusable(f"cannot be written: {error.strerror}") from error
        try:
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                raise self._unusable("is no regular file, which a run could continue")
            lock(self._file, self.path)
            self._resume()
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def append(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Append records (`id` first, settings in `generation`), skipping those already written.

        Raises:
            SymboUQError: If the disk is full or fails. Then none of the given records is written;
                earlier records are kept.
        """
        new = {str(record["id"]): record for record in records if record["id"] not in self.done}
        lines = b"".join(to_json(record) + b"\n" for record in new.values())
        try:
            left = memoryview(lines)
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, self._size)
            kept = f"{len(self.done)} traces are written and kept"
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                again = "make room and run the same command again, it continues there"
                raise self._unusable(f"the disk is full; {kept}; {again}") from error
            raise self._unusable(f"cannot be written: {error.strerror}; {kept}") from error
        self._size += len(lines)
        self.done.update(new)

    def _resume(self) -> None:
        with self.path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if line.endswith(b"\n"):
                    self._check(line, number)
                    self._size += len(line)
                elif self._size or _torn(line):
                    os.ftruncate(self._file, self._size)
                else:
                    raise self._foreign(number)

    def _check(self, line: bytes, number: int) -> None:
        try:
            record = from_json(line)
            there = dict(record["generation"])
            self.done.add(record["id"])
        except (ValueError, KeyError, TypeError) as error:
            raise self._foreign(number) from error
        if there.keys().isdisjoint(self._settings):
            raise self._foreign(number)
        differing = [
            f"{name} is {shown(there[name]) if name in there else 'not'} there and "
            f"{shown(value)} here"
            for name, value in self._settings.items()
            if there.get(name, _ABSENT) != value and name != HASH
        ]
        if not differing and there.get(HASH) != self._settings.get(HASH):
            differing = ["those of another command"]
        if differing:
            raise SymboUQError(
                f"was begun with other settings: {'; '.join(differing)}; continue with those "
                "or give another file",
                str(self.path),
                number,
            )

    def _foreign(self, number: int) -> SymboUQError:
        return SymboUQError(
            "is no generated trace, so nothing is added to this file; give another one",
            str(self.path),
            number,
        )

    def _unusable(self, message: str) -> SymboUQError:
        return SymboUQError(message, str(self.path))


def _torn(line: bytes) -> bool:
    if not (line.startswith(_START) or _START.startswith(line)):
        return False
    try:
        from_json(line)
    except ValueError:
        return True
    return False


def shown(value: Any) -> str:
    """Format a setting for a message, shortening hashes."""
    text = str(value)
    return f"{text[:12]}..." if re.fullmatch("[0-9a-f]{40,}", text) else text
