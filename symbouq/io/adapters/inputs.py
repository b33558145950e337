"""Open trace files: a path with its options; its bytes, lines and JSON values as they arrive."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import select
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from symbouq.errors import RecordError
from symbouq.io.adapters import limits
from symbouq.io.adapters.documents import EACH, items
from symbouq.io.storage import is_uri, located
from symbouq.io.values import described

_HEAD = 1 << 16
"""Number of bytes at the start of a file by which its format is recognised. It is also the size of
each read.
"""

_ARRAY = re.compile(rb"\s*\[\s*[{\]]")

_TRIED = 5
"""Number of lines tried for a first record, if those before it are not JSON."""


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading trace files.

    Attributes:
        format: Name of the format; None to recognise it file by file.
        mapping: Pairs of a trace's field and the dotted path that fills it. They take precedence
            over the format.
        prompt_split: Regular expression with groups `scene` and (optional) `question` that finds
            them in a prompt. It replaces the convention of `symbouq.io.adapters.prompts`.
        batch_input: The input file of the batch; the traces are read from the batch's output.
        items: Path of the records in a document: `runs.*.results`.
        hints: Whether to suggest names for the fields of an input in an unknown format.
    """

    format: str | None = None
    mapping: tuple[tuple[str, str], ...] = ()
    prompt_split: str | None = None
    batch_input: str | None = None
    items: str | None = None
    hints: bool = False


class TraceFile(str):
    """A path, a URI or `-`, with reading options. A plain string has no options, and its format is
    recognised.
    """

    options: ReadOptions

    def __new__(cls, path: str, options: ReadOptions) -> TraceFile:
        """Join a path and its options."""
        file = super().__new__(cls, path)
        file.options = options
        return file

    def __getnewargs__(self) -> tuple[str, ReadOptions]:  # type: ignore[override]
        return str(self), self.options


class Input:
    """An opened file, folder or standard input, with its first bytes.

    Args:
        path: The path; `-` is standard input.
        stream: The decompressed bytes; None for a folder.

    Attributes:
        name: Name of the input in messages.
        head: The first bytes: at least one line, unless it is longer than 64 KiB.
        within: Path to the records, if the input is a single document
            (`symbouq.io.adapters.documents.items`). Empty if it has lines or is a list.
    """

    def __init__(self, path: str, stream: io.BufferedReader | None) -> None:
        self.path = path
        self.name = input_name(path)
        self._stream = stream
        self._lines: _Lines | None = None
        self.within: tuple[str, ...] = ()
        self.head = _head(stream).removeprefix(codecs.BOM_UTF8) if stream is not None else b""

    @property
    def file(self) -> Path:
        """The path, for formats that need an actual file.

        Raises:
            RecordError: If the input is standard input or a URI.
        """
        if self.path == "-":
            raise RecordError("this format cannot be read from standard input; give a file")
        if is_uri(self.path):
            raise RecordError("this format cannot be read by URI; copy the file")
        return Path(self.path)

    @property
    def suffix(self) -> str:
        """The suffix of the name, in lower case and without `.gz`."""
        return Path(self.path.lower().removesuffix(".gz")).suffix

    @property
    def first(self) -> dict[str, Any]:
        """The first record, as far as the head contains it; empty if it is not a JSON object."""
        return self.at(self.within)

    def at(self, path: tuple[str, ...]) -> dict[str, Any]:
        """Return the first object at a path, as far as the head contains it; empty if there is
        none.
        """
        found = [self._document]
        for step in path:
            if step == EACH:
                found = [
                    each for value in found if isinstance(value, list) for each in value[:_TRIED]
                ]
            else:
                found = [
                    value[step] for value in found if isinstance(value, dict) and step in value
                ]
        if found and isinstance(found[0], list) and not path:
            found = found[0]
        return next((value for value in found if isinstance(value, dict)), {})

    @cached_property
    def _document(self) -> Any:
        """The first JSON value, as far as the head contains it; None if there is none."""
        rest = self._begun if self._is_spread else self.head.decode(errors="replace")
        for _ in range(_TRIED):
            try:
                return from_json(rest, allow_partial="trailing-strings")
            except ValueError:
                rest = rest.partition("\n")[2]
        return None

    @cached_property
    def _is_spread(self) -> bool:
        """Whether the input has objects that span several lines, as far as its head shows."""
        lines = [line for line in self.head.lstrip().split(b"\n", _TRIED)[:_TRIED] if line.strip()]
        if len(lines) < 2 or not lines[0].startswith(b"{") or any(map(_is_object, lines[:2])):
            return False
        try:
            return isinstance(from_json(self._begun, allow_partial="trailing-strings"), dict)
        except ValueError:
            return False

    @property
    def _begun(self) -> str:
        """The first of several consecutive objects, as far as the head contains it."""
        try:
            _, first = next(items([self.head]), (1, self.head))
        except RecordError:
            first = self.head
        return (first if isinstance(first, bytes) else self.head).decode(errors="replace")

    @cached_property
    def is_array(self) -> bool:
        """Whether the input is one JSON array of objects rather than one value per line (the first
        of which may be an array).
        """
        if not _ARRAY.match(self.head):
            return False
        first, _, rest = self.head.lstrip().partition(b"\n")
        try:
            from_json(first)
        except ValueError:
            return True
        return not rest.strip()

    def lines(self) -> Iterator[bytes | RecordError]:
        """Iterate over the lines. A line that is too long becomes an error."""
        self._lines = _Lines(self.head, self._bytes())
        return self._lines

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes, piece by piece."""
        stream = self._bytes()
        yield self.head
        while piece := stream.read1(_HEAD):
            yield piece

    def values(self) -> Iterator[tuple[int, bytes | RecordError]]:
        """Yield the encoded records with their line numbers: one per line, objects over several
        lines, the items of one list, or the records at the path `within`.

        Raises:
            RecordError: If there is no value at this path.
        """
        if self.within:
            return self._within()
        if self.is_array:
            return items(self.chunks(), (EACH,))
        if self._is_spread:
            return items(self.chunks())
        return (
            (number, line)
            for number, line in enumerate(self.lines(), start=1)
            if isinstance(line, RecordError) or line.strip()
        )

    def _within(self) -> Iterator[tuple[int, bytes | RecordError]]:
        number = 0
        for number, item in items(self.chunks(), self.within):
            yield number, item
        if not number:
            path = ".".join(self.within)
            there = described(self._document)
            raise RecordError(f"expected records at {path}, found none in it, but {there}")

    def idle(self) -> bool:
        """Whether the next record on a pipe or a terminal has not arrived yet."""
        if self._lines is not None:
            return self._lines.idle()
        return self._stream is not None and not _at_hand(self._stream)

    def _bytes(self) -> io.BufferedReader:
        if self._stream is None:
            raise RecordError("is a folder; this format is read from a file")
        return self._stream


class _Lines:
    """The lines of a stream, as they arrive.

    Args:
        head: The bytes that were already read.
        stream: The stream.
    """

    def __init__(self, head: bytes, stream: io.BufferedReader) -> None:
        self._stream = stream
        self._ready: deque[bytes | RecordError] = deque()
        self._unfinished = limits.Assembly()
        self._end: Exception | None = None
        self._split(head)

    def __iter__(self) -> Iterator[bytes | RecordError]:
        return self

    def __next__(self) -> bytes | RecordError:
        while not self._ready:
            if self._end is not None:
                raise self._end
            self._read()
        return self._ready.popleft()

    def idle(self) -> bool:
        while not self._ready and self._end is None:
            if not _at_hand(self._stream):
                return True
            self._read()
        return False

    def _read(self) -> None:
        """Read the bytes that have arrived, or wait for more. An error is raised only after all
        lines before it were returned.
        """
        try:
            piece = self._stream.read1(_HEAD)
            self._split(piece)
        except Exception as error:
            self._end = error
            return
        if not piece:
            if self._unfinished.length:
                self._ready.append(self._unfinished.take())
            self._end = StopIteration()

    def _split(self, piece: bytes) -> None:
        """Split a piece into lines.

        Raises:
            RecordError: If a line is longer than `ENDLESS`.
        """
        *ends, rest = piece.split(b"\n")
        for end in ends:
            self._unfinished.add(end + b"\n")
            self._ready.append(self._unfinished.take())
        self._unfinished.add(rest)


def _at_hand(stream: io.BufferedReader) -> bool:
    """Whether reading would not wait. Also True if this cannot be determined."""
    try:
        return bool(select.select([stream], [], [], 0)[0])
    except (OSError, ValueError, NotImplementedError):  # not a file of the system
        return True


@contextmanager
def opened(path: str) -> Iterator[Input]:
    """Open a path or URI for reading. Compressed content is decompressed transparently.

    Raises:
        OSError: If it cannot be opened.
    """
    with ExitStack() as stack:
        stream: Any
        if path == "-":
            stream = sys.stdin.buffer
        elif is_uri(path):
            system, place = located(path)
            stream = stack.enter_context(system.open_input_stream(place, None, _HEAD))
        elif Path(path).is_dir():
            yield Input(path, None)
            return
        else:
            stream = stack.enter_context(Path(path).open("rb"))
        yield Input(path, _decompressed(stream))


def input_name(path: str) -> str:
    """Return the name of an input for messages and records."""
    return "<stdin>" if path == "-" else spelled(path)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(from_json(line), dict)
    except ValueError:
        return False


def spelled(name: str) -> str:
    r"""Return the name of a column or file that was decoded with `surrogateescape`. Bytes that are
    not UTF-8 are spelled out (`\xe9`), so that the name can be written.
    """
    return name.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _decompressed(raw: Any) -> io.BufferedReader:
    buffered = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)
    zipped = buffered.peek(2)[:2] == b"\x1f\x8b"
    return io.BufferedReader(_Decompressed(buffered), _HEAD) if zipped else buffered


class _Decompressed(io.RawIOBase):
    """Decompressed content, up to the limits on compression.

    Args:
        raw: The compressed stream.
    """

    def __init__(self, raw: io.BufferedReader) -> None:
        self._raw = raw
        self._packed = self._unpacked = 0
        self._zipped = gzip.GzipFile(fileobj=self)

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._raw.fileno()

    def read(self, size: int = -1) -> bytes:
        """Return the next compressed bytes, for the decompressor."""
        piece = self._raw.read1(size)
        self._packed += len(piece)
        return piece

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes of the content.

        Raises:
            RecordError: If the content expands far more than text does.
        """
        piece = self._zipped.read1(len(buffer))
        self._unpacked += len(piece)
        limits.check_honest(self._packed, self._unpacked)
        buffer[: len(piece)] = piece
        return len(piece)


def _head(stream: io.BufferedReader) -> bytes:
    """Read the first bytes, without waiting for more than the first line that is not blank and not
    just a bracket.
    """
    head = b""
    while len(head) < _HEAD and b"\n" not in head.lstrip().lstrip(b"[{").lstrip():
        piece = stream.read1(_HEAD)
        if not piece:
            break
        head += piece
    return head
