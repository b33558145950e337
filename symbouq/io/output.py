"""Files as commands write them: whole, whatever ends the run.

A file is made beside its name, as `NAME.part`, and takes the name at the end, so that what the
name stands for is there until the new one is. The part is locked: a second run that would
write the same file is refused. Devices, pipes and descriptors are written to as they are.
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
"""The ending of an unfinished file's name."""

_PACKED = 1 << 20
"""Bytes of records that are compressed together: a gzip file of whole records at any time."""

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals by which a run is ended from outside."""

_DESCRIPTOR = re.compile(r"/dev/(stdout|stderr)|(?:/dev|/proc/self)/fd/(\d+)")
_STANDARD = {"stdout": 1, "stderr": 2}


def part_of(path: str | os.PathLike[str]) -> Path | None:
    """The place of a file until it is whole; None where it is written to as it is.

    Args:
        path: The file's name; a symbolic link stands for the file that it leads to.
    """
    if _descriptor(path) is not None:
        return None
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        return None
    return target.with_name(target.name + PART)


def lock(file: int, path: str | os.PathLike[str]) -> None:
    """Locks an open file until it is closed, where its file system has locks.

    Args:
        file: The descriptor.
        path: What messages call it.

    Raises:
        SymboUQError: If another run has it.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise SymboUQError("another run is writing to it", os.fspath(path)) from error
    except OSError:
        pass  # a file system without locks, or a device


class Replacement:
    """A file in the making that takes the place of another.

    Args:
        path: The name.

    Attributes:
        part: Where it lies until then; None where the name's own device or pipe is written to.
        size: Bytes that were written whole.

    Raises:
        OSError: If it cannot be written.
        SymboUQError: If another run is writing it, or what it is written to first is not ours.
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
        """Adds some bytes, all or, to a file, none of them.

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
        """A stream that writes to it."""
        return io.BufferedWriter(_Raw(self))

    def commit(self) -> None:
        """Gives the file its name.

        Raises:
            OSError: If it cannot be done; what was there stays.
        """
        if self.part is not None:
            os.fsync(self._file)
            self.part.replace(self._target)
        self.leave()

    def convert(self, make: Callable[[IO[bytes], IO[bytes]], None]) -> None:
        """Gives the name to another file, made of this one.

        Args:
            make: Reads the first stream and writes the second one.

        Raises:
            OSError: If it cannot be done; what was there stays, and the unfinished file too.
        """
        assert self.part is not None  # what is no file cannot be read again
        made = self.part.with_name(f".{self.part.name}")
        try:
            made.unlink(missing_ok=True)  # of a run that was killed; what leads elsewhere goes too
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
        """Takes the unfinished file away; what was there stays."""
        if self.part is not None and self._file >= 0:
            self.part.unlink(missing_ok=True)
        self.leave()

    def leave(self) -> None:
        """Closes it: an unfinished file stays where it is, and what was there too."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _claimed(self, part: Path) -> int:
        """The unfinished file, empty and ours."""
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
                # Whoever had it before may have given it its name meanwhile.
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
"""Opens a file that was not there."""


def _part_file(part: Path, path: Path) -> int:
    """The unfinished file, which is made, or is there from a run that was killed or is at work.

    Raises:
        OSError: If it cannot be opened.
        SymboUQError: If something else has its name, such as a link that would have another file
            overwritten.
    """
    try:
        return os.open(part, _NEW, 0o666)
    except FileExistsError:
        pass
    try:
        file = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:  # another run gave it its name meanwhile
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
    """A stream whose content takes the place of a file when the block ends, and not if by an error.

    Raises:
        OSError: If it cannot be written.
        SymboUQError: If another run is writing it.
    """
    made = Replacement(path)
    try:
        with made.buffered() as stream:
            yield stream
        made.commit()
    finally:
        made.discard()


class _Raw(io.RawIOBase):
    """A replacement as a raw stream."""

    def __init__(self, made: Replacement) -> None:
        self._made = made

    def writable(self) -> bool:
        return True

    def write(self, content: Buffer, /) -> int:
        self._made.write(bytes(content))
        return memoryview(content).nbytes


class RecordFile:
    """A file of records: JSON Lines, compressed where its name ends in `.gz`, a table where it
    ends in `.parquet`.

    A context manager. The file takes its name when the block ends by itself, and, if there is a
    record, when it ends by an interrupt: then it holds what was finished. After an error, a kill or
    a crash, what was there stays, and what was finished is in `NAME.part`: whole records, for a
    table as JSON Lines.

    Args:
        path: Its name.

    Raises:
        OSError: On entering, if it cannot be written.
        SymboUQError: On entering, if another run is writing it, or pyarrow is missing.
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
        """Writes one encoded record, with its line break.

        Raises:
            SymboUQError: If it cannot be written; those before are kept.
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
        """Writes the records that wait, all or none of them."""
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
        """Reports what the system cannot do under the file's name."""
        try:
            yield
        except OSError as error:
            raise SymboUQError(error.strerror or str(error), self._path) from error

    def _leave(self, error: BaseException) -> None:
        """Ends without the file, and says where the records are."""
        if not self._written or self._made.part is None:
            self._made.discard()
            return
        self._made.leave()
        error.add_note(f"{_counted(self._written)} finished: see {self._made.part}")


class RecordStream:
    """Standard output as an output of records, each of which is there at once."""

    def __init__(self) -> None:
        self._count = 0
        # What works for it may turn `sys.stdout` elsewhere meanwhile, as a cluster does.
        self._stream = sys.stdout.buffer

    def __enter__(self) -> Self:
        return self

    def write(self, line: bytes) -> None:
        """Writes one encoded record, with its line break.

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
    """The output of records that a path names; `-` is standard output."""
    return RecordStream() if path == "-" else RecordFile(path)


def write_records(path: str, records: Iterable[Any]) -> None:
    """Writes JSON values, one a line, to a file or, for `-`, to standard output.

    Raises:
        SymboUQError: If they cannot be written.
    """
    with record_output(path) as stream:
        for record in records:
            stream.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")


def stdout_fault(error: OSError) -> str:
    """The reason that standard output cannot be written to, in words."""
    if isinstance(error, BrokenPipeError):
        return "standard output was closed by its reader"
    return f"standard output cannot be written to: {error.strerror or error}"


def abandon_stdout() -> None:
    """Lets what waits in standard output go; it would be tried again when the process ends."""
    with suppress(OSError):  # it is no file of the system, or closed
        number = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Holds back the signals that end a run, so that no record is cut inside a write."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _counted(records: int) -> str:
    return "1 record was" if records == 1 else f"{records} records were"


def _descriptor(path: str | os.PathLike[str]) -> int | None:
    """The open file that a path such as `/dev/stdout` stands for."""
    match = _DESCRIPTOR.fullmatch(os.fspath(path))
    if match is None:
        return None
    name, number = match.groups()
    return _STANDARD[name] if name else int(number)


def _opened_as_it_is(path: str | os.PathLike[str]) -> int:
    number = _descriptor(path)
    return os.open(path, os.O_WRONLY) if number is None else os.dup(number)
