"""Output files that are either complete or absent, however the run ends.

A file is written next to its final name as `NAME.part` and renamed at the end. Until then, an
existing file is kept. The unfinished file is locked, so that a second run cannot write the same
file. Devices, pipes and descriptors are written directly.
"""

from __future__ import annotations

import errno
import fcntl
import gzip
import io
import json
import os
import re
import signal
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from symbouq.errors import SymboUQError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

PART = ".part"
"""Suffix for the name of an unfinished file."""

_PACKED = 1 << 20
"""Number of bytes of records that are compressed together, so that a gzip file always contains
whole records.
"""

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end a run from outside."""

_DESCRIPTOR = re.compile(r"/dev/(stdout|stderr)|(?:/dev|/proc/self)/fd/(\d+)")
_STANDARD = {"stdout": 1, "stderr": 2}


def part_of(path: str | os.PathLike[str]) -> Path | None:
    """Return the path of the unfinished file; None if the output is written directly.

    Args:
        path: Name of the final file; symbolic links are followed.
    """
    if _descriptor(path) is not None:
        return None
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        return None
    return target.with_name(target.name + PART)


def lock(file: int, path: str | os.PathLike[str]) -> None:
    """Lock an open file until it is closed, if its file system has locks.

    Args:
        file: The descriptor.
        path: Its name, for messages.

    Raises:
        SymboUQError: If another run has locked the file.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise SymboUQError("another run is writing to it", os.fspath(path)) from error
    except OSError:
        pass  # a file system without locks, or a device


class Replacement:
    """A file in progress that will replace an existing one.

    Args:
        path: Name of the file.

    Attributes:
        part: Path of the unfinished file; None for a device or pipe, which is written directly.
        size: Number of bytes that were completely written.

    Raises:
        OSError: If the file cannot be written.
        SymboUQError: If another run is writing the file, or the unfinished file is not ours.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.part = part_of(path)
        self.size = 0
        if self.part is None:
            self._file = _opened_as_it_is(path)
        else:
            self._target = Path(os.path.realpath(path))
            self._file = self._claimed(self.part)

    def write(self, content: bytes) -> None:
        """Append bytes. In a file, either all or none are written.

        Raises:
            OSError: If they cannot be written.
        """
        left = memoryview(content)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            if self.part is not None:
                os.ftruncate(self._file, self.size)
                os.lseek(self._file, self.size, os.SEEK_SET)
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        self.size += len(content)

    def buffered(self) -> io.BufferedWriter:
        """Return a buffered stream for writing."""
        return io.BufferedWriter(_Raw(self))

    def commit(self) -> None:
        """Rename the file to its final name.

        Raises:
            OSError: If this fails. The existing file is kept.
        """
        if self.part is not None:
            os.fsync(self._file)
            self.part.replace(self._target)
        self.leave()

    def convert(self, make: Callable[[IO[bytes], IO[bytes]], None]) -> None:
        """Convert the file, and give the result the final name.

        Args:
            make: Function that reads the first stream and writes the second stream.

        Raises:
            OSError: If this fails. The existing and the unfinished file are kept.
        """
        assert self.part is not None  # a device or pipe cannot be read again
        made = self.part.with_name(f".{self.part.name}")
        try:
            made.unlink(missing_ok=True)  # from a killed run; links are removed, too
            with self.part.open("rb") as given, os.fdopen(os.open(made, _NEW), "wb") as out:
                make(given, out)
                out.flush()
                os.fchmod(out.fileno(), stat.S_IMODE(os.fstat(self._file).st_mode))
                os.fsync(out.fileno())
            made.replace(self._target)
        finally:
            made.unlink(missing_ok=True)
        self.discard()

    def discard(self) -> None:
        """Delete the unfinished file. The existing file is kept."""
        if self.part is not None and self._file >= 0:
            self.part.unlink(missing_ok=True)
        self.leave()

    def leave(self) -> None:
        """Close the file. The unfinished and the existing file are kept."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _claimed(self, part: Path) -> int:
        there = self._target.exists()
        if there and not os.access(self._target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self.path))
        while True:
            try:
                file = _part_file(part, self.path)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(self.path)) from error
            try:
                lock(file, self.path)
                # Another run may have renamed it in the meantime.
                if part.exists() and os.path.samestat(os.fstat(file), part.stat()):
                    os.ftruncate(file, 0)
                    if there:
                        os.fchmod(file, stat.S_IMODE(self._target.stat().st_mode))
                    return file
            except BaseException:
                os.close(file)
                raise
            os.close(file)


_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
"""Flags for creating a file that must not exist yet."""


def _part_file(part: Path, path: Path) -> int:
    """Create or open the unfinished file, which may exist from a killed or an active run.

    Raises:
        OSError: If it cannot be opened.
        SymboUQError: If its name is taken, for example by a link to a file that would be
            overwritten.
    """
    try:
        return os.open(part, _NEW, 0o666)
    except FileExistsError:
        pass
    try:
        file = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:  # another run has renamed it in the meantime
        return _part_file(part, path)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _in_the_way(part, path) from error
        raise
    status = os.fstat(file)
    own = status.st_uid == os.geteuid() and status.st_nlink <= 1
    if not (stat.S_ISREG(status.st_mode) and own):
        os.close(file)
        raise _in_the_way(part, path)
    return file


def _in_the_way(part: Path, path: Path) -> SymboUQError:
    return SymboUQError(f"{part} is no file that a run of yours left: take it away", str(path))


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a stream for new content, which replaces the file if the block ends without an error.

    Raises:
        OSError: If the file cannot be written.
        SymboUQError: If another run is writing the file.
    """
    made = Replacement(path)
    try:
        with made.buffered() as stream:
            yield stream
        made.commit()
    finally:
        made.discard()


class _Raw(io.RawIOBase):
    """Raw stream over a replacement."""

    def __init__(self, made: Replacement) -> None:
        self._made = made

    def writable(self) -> bool:
        return True

    def write(self, content: Buffer, /) -> int:
        self._made.write(bytes(content))
        return memoryview(content).nbytes


class RecordFile:
    """File for records: JSON Lines, compressed for names in `.gz`, a table for names in `.parquet`.

    This is a context manager. The file gets its name when the block ends normally, or is
    interrupted after at least one record; it then contains the finished records. After an error, a
    kill or a crash, an existing file is kept, and `NAME.part` contains the finished records. These
    records are complete, and are JSON Lines even if the output is a table.

    Args:
        path: Name of the file.

    Raises:
        OSError: On entering, if the file cannot be written.
        SymboUQError: On entering, if another run is writing the file, or pyarrow is missing.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._packed = path.endswith(".gz")
        self._table = path.endswith(".parquet")

    def __enter__(self) -> Self:
        if self._table:
            from symbouq.io.tabular import need_pyarrow

            need_pyarrow()
        self._made = Replacement(self._path)
        if self._table and self._made.part is None:
            self._made.discard()
            raise SymboUQError("a table cannot be written to a device or a pipe", self._path)
        self._waiting = bytearray()
        self._count = self._written = 0
        return self

    def write(self, line: bytes) -> None:
        """Write one encoded record that ends with its line break.

        Raises:
            SymboUQError: If it cannot be written. Earlier records are kept.
        """
        with uninterrupted():
            self._waiting += line
            self._count += 1
            if not self._packed or len(self._waiting) >= _PACKED:
                self._flush()

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        try:
            with uninterrupted():
                self._flush()
            if error is None or (isinstance(error, KeyboardInterrupt) and self._written):
                self._finish()
            else:
                self._leave(error)
        except BaseException as fault:
            self._leave(fault)
            raise

    def _flush(self) -> None:
        content = bytes(self._waiting)
        self._waiting.clear()
        if not content:
            return
        with self._faults():
            self._made.write(gzip.compress(content, 6, mtime=0) if self._packed else content)
        self._written = self._count

    def _finish(self) -> None:
        with self._faults():
            if self._table:
                from symbouq.io.tabular import write_table

                self._made.convert(write_table)
            else:
                if self._packed and not self._written:
                    self._made.write(gzip.compress(b"", mtime=0))
                self._made.commit()

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise SymboUQError(error.strerror or str(error), self._path) from error

    def _leave(self, error: BaseException) -> None:
        """Close without making the final file, and report where the records are."""
        if not self._written or self._made.part is None:
            self._made.discard()
            return
        self._made.leave()
        error.add_note(f"{_counted(self._written)} finished: see {self._made.part}")


class RecordStream:
    """Standard output for records. Each one is flushed at once."""

    def __init__(self) -> None:
        self._count = 0
        # Libraries such as Ray may redirect `sys.stdout` in the meantime.
        self._stream = sys.stdout.buffer

    def __enter__(self) -> Self:
        return self

    def write(self, line: bytes) -> None:
        """Write one encoded record that ends with its line break.

        Raises:
            SymboUQError: If it cannot be written.
        """
        try:
            with uninterrupted():
                self._stream.write(line)
                self._stream.flush()
        except OSError as error:
            abandon_stdout()
            raise SymboUQError(
                f"{stdout_fault(error)}; {_counted(self._count)} written, the others were not"
            ) from error
        self._count += 1

    def __exit__(self, *_: object) -> None:
        pass


def record_output(path: str) -> RecordFile | RecordStream:
    """Return the output of records for a path; `-` is standard output."""
    return RecordStream() if path == "-" else RecordFile(path)


def write_records(path: str, records: Iterable[Any]) -> None:
    """Write JSON values, one per line, to a file or, for `-`, to standard output.

    Raises:
        SymboUQError: If they cannot be written.
    """
    with record_output(path) as stream:
        for record in records:
            stream.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")


def stdout_fault(error: OSError) -> str:
    """Explain why standard output cannot be written."""
    if isinstance(error, BrokenPipeError):
        return "standard output was closed by its reader"
    return f"standard output cannot be written to: {error.strerror or error}"


def abandon_stdout() -> None:
    """Discard pending data of standard output, which the process would try to write again when it
    ends.
    """
    with suppress(OSError):  # closed, or not a file of the system
        number = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back the signals that end a run, so that no record is cut during a write."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _counted(records: int) -> str:
    return "1 record was" if records == 1 else f"{records} records were"


def _descriptor(path: str | os.PathLike[str]) -> int | None:
    match = _DESCRIPTOR.fullmatch(os.fspath(path))
    if match is None:
        return None
    name, number = match.groups()
    return _STANDARD[name] if name else int(number)


def _opened_as_it_is(path: str | os.PathLike[str]) -> int:
    number = _descriptor(path)
    return os.open(path, os.O_WRONLY) if number is None else os.dup(number)
