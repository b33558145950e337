"""What all trace formats share: the options, an opened input, the adapters' protocol."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import select
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import IO, Any, NamedTuple, Protocol, TypeVar

from pydantic_core import from_json

from symbouq.errors import RecordError, SymboUQError
from symbouq.io.adapters import limits
from symbouq.io.adapters.documents import array_items
from symbouq.io.storage import is_uri, located

PROMPT = "prompt"
"""A field beside those of a trace: the text in which scene and question are found."""

_HEAD = 1 << 16
"""Bytes from the start of a file that its format is recognised by."""

_ARRAY = re.compile(rb"\s*\[\s*[{\]]")

_TRIED = 5
"""Lines tried for a first record, where those before are no JSON."""

_SHOWN = 8
"""Fields named when a record is described."""


@dataclass(frozen=True)
class Reading:
    """How trace files are read.

    Attributes:
        format: Name of the format; None to recognise it file by file.
        mapping: Pairs of a trace's field and the dotted path that fills it, which go
            before what the format says.
        prompt_split: Regular expression with groups `scene` and (optional) `question`
            that finds them in a prompt, in place of the convention of
            `symbouq.io.adapters.prompts`.
        batch_input: The input file of an OpenAI batch, whose output is read.
    """

    format: str | None = None
    mapping: tuple[tuple[str, str], ...] = ()
    prompt_split: str | None = None
    batch_input: str | None = None


class TraceFile(str):
    """A path, a URI or `-`, with how it is to be read; a plain string is read as its content
    suggests.
    """

    reading: Reading

    def __new__(cls, path: str, reading: Reading) -> TraceFile:
        """Joins a path and its options."""
        file = super().__new__(cls, path)
        file.reading = reading
        return file

    def __getnewargs__(self) -> tuple[str, Reading]:  # type: ignore[override]
        return str(self), self.reading


class Found(NamedTuple):
    """One record of a file: its place, and a trace's fields or why there are none."""

    file: str
    number: int
    content: dict[str, Any] | RecordError


class Adapter(Protocol):
    """Reads one format."""

    def detects(self, given: Input) -> bool:
        """Whether an input looks like this format, by its name or its first record."""

    def prepare(self, given: Input) -> None:
        """Makes sure that the input can be read.

        Raises:
            SymboUQError: If a package that it needs is not installed.
        """

    def read(self, given: Input, reading: Reading) -> Iterator[Found]:
        """The records of an input, in order, one at a time.

        Raises:
            SymboUQError: If nothing further can be read from it.
        """


class Input:
    """A file, a folder or standard input, opened, its first bytes known.

    Args:
        path: The path; `-` is standard input.
        stream: Its bytes, decompressed; None for a folder.

    Attributes:
        name: What messages call it.
        head: The first bytes: a line at least, where it is not longer than 64 KiB.
    """

    def __init__(self, path: str, stream: IO[bytes] | None) -> None:
        self.path = path
        self.name = input_name(path)
        self._stream = stream
        self._splitter: _Lines | None = None
        self.head = _head(stream).removeprefix(codecs.BOM_UTF8) if stream is not None else b""

    @property
    def file(self) -> Path:
        """The path, where the format needs a file of its own.

        Raises:
            RecordError: If it is standard input, or named by URI.
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

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first JSON object, as far as the head has it; empty where there is none."""
        rest = self.head.decode(errors="replace")
        for _ in range(_TRIED):
            try:
                value = from_json(rest, allow_partial="trailing-strings")
            except ValueError:
                rest = rest.partition("\n")[2]
                continue
            if isinstance(value, list):
                value = next(iter(value), None)
            return value if isinstance(value, dict) else {}
        return {}

    @cached_property
    def is_array(self) -> bool:
        """Whether it is one JSON array of objects, not values a line (the first of which may be an
        array).
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
        """The lines; one that is too long is an error."""
        self._splitter = _Lines(self.head, self._bytes())
        return self._splitter

    def chunks(self) -> Iterator[bytes]:
        """The bytes, piece by piece."""
        stream = self._bytes()
        yield self.head
        while piece := stream.read1(_HEAD):  # type: ignore[attr-defined]
            yield piece

    def values(self) -> Iterator[tuple[int, bytes | RecordError]]:
        """The encoded JSON values, numbered: one a line, or the items of one array."""
        if self.is_array:
            return enumerate(array_items(self.chunks()), start=1)
        return (
            (number, line)
            for number, line in enumerate(self.lines(), start=1)
            if isinstance(line, RecordError) or line.strip()
        )

    def idle(self) -> bool:
        """Whether what comes next is still to come, on a pipe or a terminal."""
        if self._splitter is not None:
            return self._splitter.idle()
        return self._stream is not None and not _at_hand(self._stream)

    def _bytes(self) -> IO[bytes]:
        if self._stream is None:
            raise RecordError("is a folder; this format is read from a file")
        return self._stream


class _Lines:
    """The lines of a stream, as they come.

    Args:
        first: What was read of it before.
        stream: The stream.
    """

    def __init__(self, first: bytes, stream: IO[bytes]) -> None:
        self._stream = stream
        self._ready: deque[bytes | RecordError] = deque()
        self._begun: list[bytes] = []  # of a line that is not ended
        self._length = 0
        self._end: Exception | None = None
        self._take(first)

    def __iter__(self) -> Iterator[bytes | RecordError]:
        return self

    def __next__(self) -> bytes | RecordError:
        while not self._ready:
            if self._end is not None:
                raise self._end
            self._read()
        return self._ready.popleft()

    def idle(self) -> bool:
        """Whether the next line is still to come."""
        while not self._ready and self._end is None:
            if not _at_hand(self._stream):
                return True
            self._read()
        return False

    def _read(self) -> None:
        """Reads what is there, or waits for more; what goes wrong does so after the lines."""
        try:
            piece = self._stream.read1(_HEAD)  # type: ignore[attr-defined]
            self._take(piece)
        except Exception as error:
            self._end = error
            return
        if not piece:
            if self._length:
                self._ready.append(self._line())
            self._end = StopIteration()

    def _take(self, piece: bytes) -> None:
        """Cuts a piece into lines.

        Raises:
            RecordError: If a line does not end.
        """
        first, *others = piece.split(b"\n")
        if not others:
            self._add(first)
            return
        rest = others.pop()
        self._add(first + b"\n")
        self._ready.append(self._line())
        self._ready.extend([line + b"\n" for line in others])
        self._add(rest)

    def _add(self, part: bytes) -> None:
        self._length += len(part)
        limits.check_ends(self._length)
        if self._length > limits.LONGEST:
            self._begun.clear()
        else:
            self._begun.append(part)

    def _line(self) -> bytes | RecordError:
        length, self._length = self._length, 0
        if length > limits.LONGEST:
            return limits.too_long()
        line = b"".join(self._begun)
        self._begun.clear()
        return line


def _at_hand(stream: IO[bytes]) -> bool:
    """Whether reading would not wait; also where there is no telling."""
    try:
        return bool(select.select([stream], [], [], 0)[0])
    except (OSError, ValueError, NotImplementedError):  # no file of the system
        return True


@contextmanager
def opened(path: str) -> Iterator[Input]:
    """Opens a path or URI for reading; compressed content is read transparently.

    Raises:
        OSError: If it cannot be opened.
    """
    with ExitStack() as stack:
        if path == "-":
            yield Input(path, _unzipped(sys.stdin.buffer))
        elif is_uri(path):
            system, place = located(path)
            yield Input(
                path, _unzipped(stack.enter_context(system.open_input_stream(place, None, _HEAD)))
            )
        elif Path(path).is_dir():
            yield Input(path, None)
        else:
            yield Input(path, _unzipped(stack.enter_context(Path(path).open("rb"))))


def input_name(path: str) -> str:
    """What messages call an input."""
    return "<stdin>" if path == "-" else str(path)


def _unzipped(raw: IO[bytes]) -> IO[bytes]:
    buffered: Any = raw
    if not isinstance(buffered, io.BufferedReader):
        buffered = io.BufferedReader(buffered)
    zipped = buffered.peek(2)[:2] == b"\x1f\x8b"
    return io.BufferedReader(_Unzipped(buffered), _HEAD) if zipped else buffered


class _Unzipped(io.RawIOBase):
    """Compressed content, as far as it is honest.

    Args:
        raw: What is compressed.
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
        """The next compressed bytes, for the decompression."""
        piece = self._raw.read1(size)
        self._packed += len(piece)
        return piece

    def readinto(self, buffer: Any) -> int:
        """The next bytes of the content.

        Raises:
            RecordError: If there is more of it than of any text.
        """
        piece = self._zipped.read1(len(buffer))
        self._unpacked += len(piece)
        limits.check_honest(self._packed, self._unpacked)
        buffer[: len(piece)] = piece
        return len(piece)


def _head(stream: IO[bytes]) -> bytes:
    """The first bytes: no more is awaited than the first line that is not blank."""
    head = b""
    while len(head) < _HEAD and b"\n" not in head.lstrip():
        piece = stream.read1(_HEAD)  # type: ignore[attr-defined]
        if not piece:
            break
        head += piece
    return head


def converted(
    given: Input, convert: Callable[[dict[str, Any], int], dict[str, Any] | None], expected: str
) -> Iterator[Found]:
    """The JSON objects of an input, each turned into a trace's fields.

    Args:
        given: The input.
        convert: Takes an object and its number; gives the fields, or None to leave the
            object out; raises `RecordError` where it cannot.
        expected: What an object of the format is, for messages.
    """
    for number, encoded in given.values():
        try:
            value = decoded(encoded)
            if not isinstance(value, dict):
                raise RecordError(f"expected {expected}, found {described(value)}")
            fields = convert(value, number)
        except RecordError as error:
            yield Found(given.name, number, error)
            continue
        if fields is not None:
            yield Found(given.name, number, fields)


def decoded(encoded: bytes | RecordError) -> Any:
    """A JSON value; NaN and the infinities, which other tools write, are let through.

    Raises:
        RecordError: If it is not JSON; what is an error already.
    """
    if isinstance(encoded, RecordError):
        raise encoded
    try:
        return from_json(encoded.strip())
    except ValueError as error:
        raise RecordError(f"not valid JSON: {error}") from error


Kind = TypeVar("Kind")


def expect(value: Any, kind: type[Kind], place: str, what: str) -> Kind:
    """A value that has to be of a kind.

    Raises:
        RecordError: If it is not; says what was expected and what was found where.
    """
    if isinstance(value, kind):
        return value
    raise RecordError(f"{place}: expected {what}, found {described(value)}")


def described(value: Any) -> str:
    """What a value is, in a few words."""
    if isinstance(value, dict):
        names = ", ".join(map(str, islice(value, _SHOWN)))
        more = ", ..." if len(value) > _SHOWN else ""
        return f"an object with {names}{more}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list that starts with {described(value[0])}" if value else "an empty list"
    if isinstance(value, str):
        return "a text" if value else "an empty text"
    if value is None:
        return "nothing"
    return "a truth value" if isinstance(value, bool) else "a number"


def imported(module: str, purpose: str, install: str) -> ModuleType:
    """A package that is no part of the core install.

    Raises:
        SymboUQError: If it is not installed; says how to install it.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == package
        fault = "which is not installed" if missing else f"which cannot be loaded ({error})"
        raise SymboUQError(
            f"{purpose} needs the package {package}, {fault}: pip install {install}"
        ) from error
