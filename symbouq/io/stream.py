"""Trace files in, records out: reading, spreading over processes, writing in order.

A record that cannot be read is reported and skipped, never the rest of its file. Work
goes to the processes in small batches, only a few of them ahead of the writer, so memory
does not grow with the input, and everything finished is written when a run is stopped.
"""

from __future__ import annotations

import gzip
import os
import traceback
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple

from pydantic_core import to_json

from symbouq.errors import RecordError, SymboUQError, internal
from symbouq.io.adapters.choice import adapter_for
from symbouq.io.adapters.inputs import Input, ReadOptions, TraceFile, input_name, opened
from symbouq.io.pool import Pool
from symbouq.limits import LimitError, time_limit
from symbouq.records import Instance, parse_record

BATCH = 32
"""Records in one unit of work."""

_BYTES = 1 << 20
"""Bytes of lines after which a unit is full as well."""


class Line(NamedTuple):
    """One record of an input file, encoded as a line of our own format."""

    file: str
    number: int
    content: bytes


Batch = list[Line | RecordError]
"""One unit of work: lines, and what is wrong where one could not be read."""


class Outcome(NamedTuple):
    """The result of the work on one line.

    Attributes:
        file: The line's file.
        number: Its number there, from 1.
        id: The record's id, empty if it could not be read.
        output: The encoded result, or several with line breaks between them; None on failure.
        error: The message of a failure, None on success.
        summary: The part of the result that the job keeps for a summary.
        traceback: The traceback of an internal error.
        faults: Messages, one for each thing that the result lacks.
    """

    file: str
    number: int
    id: str
    output: bytes | None
    error: str | None
    summary: Any = None
    traceback: str | None = None
    faults: tuple[str, ...] = ()


def _failed(
    item: Line | RecordError, error: str, identity: str = "", trace: str | None = None
) -> Outcome:
    """The outcome of a line that gives no result."""
    number = item.number if isinstance(item, Line) else item.line
    return Outcome(item.file or "", number or 0, identity, None, error, traceback=trace)


class Lines:
    """The records of a file that are not blank, an iterator; `-` is standard input.

    The lines of our own format go on as they are; a record of another one
    (`symbouq.io.adapters`), or of an array, becomes a line of ours, under its own number.
    Compressed content is read transparently. A file that breaks off, or cannot be read, is
    reported as one error after what could be read.

    Args:
        path: A path, or a `TraceFile` that says how it is read.
    """

    def __init__(self, path: str) -> None:
        self._source: Input | None = None
        self._items = self._read(path)

    def __iter__(self) -> Iterator[Line | RecordError]:
        return self

    def __next__(self) -> Line | RecordError:
        return next(self._items)

    def idle(self) -> bool:
        """Whether the next record is still to come, on a pipe or a terminal."""
        return self._source is not None and self._source.idle()

    def _read(self, path: str) -> Iterator[Line | RecordError]:
        options = path.options if isinstance(path, TraceFile) else ReadOptions()
        name = input_name(path)
        number = 0
        try:
            with opened(path) as source:
                self._source = source
                adapter = adapter_for(source, options)
                records = source.values() if adapter is None else adapter(source, options)
                for number, record in records:
                    yield _line(name, number, record)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            yield RecordError(f"compressed file is damaged: {error}", name, number + 1)
        except OSError as error:
            yield RecordError(f"cannot be read: {error.strerror or error}", name, number + 1)
        except SymboUQError as error:
            yield RecordError(error.message, name, number + 1)
        except Exception as error:
            # A fault of ours must not cost the other files; it is reported like any other.
            yield RecordError(internal(error), name, number + 1)


def read_lines(path: str) -> Lines:
    """The records of a file (`Lines`)."""
    return Lines(path)


def _line(
    file: str, number: int, record: bytes | dict[str, Any] | RecordError
) -> Line | RecordError:
    """A record, if of another format, as a line of ours."""
    if isinstance(record, RecordError):
        return RecordError(record.message, record.file or file, number)
    if isinstance(record, bytes):
        return Line(file, number, record)
    try:
        encoded = to_json(record, inf_nan_mode="null", bytes_mode="base64", fallback=str)
    except ValueError as error:
        return RecordError(f"cannot be written as JSON: {error}", file, number)
    return Line(file, number, encoded)


def _alone(_records: Sequence[Any]) -> None:
    """Makes nothing ready."""


class Work(NamedTuple):
    """The work on records.

    Attributes:
        each: Takes a record with its file and line; gives the result to write, or several, and the
            part of it to keep for a summary.
        ahead: Takes the records of a batch before the first of them is worked on, for what costs
            less when it is done for all of them at once. What fails in it fails again with the
            record that is to blame.
    """

    each: Callable[[Any, str, int], tuple[dict[str, Any] | list[dict[str, Any]], Any]]
    ahead: Callable[[Sequence[Any]], None] = _alone


def no_total(summaries: Iterable[Any]) -> None:
    """Keeps nothing of a shard's summaries."""
    deque(summaries, maxlen=0)


@dataclass(frozen=True)
class Job:
    """The work on each record of some files; it travels to the processes, so it is picklable.

    Attributes:
        setup: Makes a worker from the arguments; called once in each process.
        arguments: Its arguments.
        kind: The kind of record that the worker takes.
        total: Sums the summaries of a shard's records up to a JSON value
            (`symbouq.io.shards`).
        timeout: Seconds that one record may take; None for no limit.
    """

    setup: Callable[..., Work]
    arguments: tuple[Any, ...]
    kind: type[Instance]
    total: Callable[[Iterable[Any]], Any] = no_total
    timeout: float | None = None


class Worker:
    """A job made ready in one process: gives the outcomes of batches of lines, one by one."""

    def __init__(self, job: Job) -> None:
        self._work = job.setup(*job.arguments)
        self._kind = job.kind
        self._timeout = job.timeout

    def __call__(self, batch: Sequence[Line | RecordError]) -> Iterator[Outcome]:
        """Does the job on some lines; what could not be read is an outcome as well."""
        read = [self._read(item) for item in batch]
        with suppress(Exception), time_limit(self._timeout):  # it comes again where it belongs
            self._work.ahead([given[1] for given in read if not isinstance(given, Outcome)])
        for given in read:
            yield given if isinstance(given, Outcome) else self._done(*given)

    def _read(self, item: Line | RecordError) -> tuple[Line, Instance] | Outcome:
        """A line with its record, or the outcome where there is none."""
        if isinstance(item, RecordError):
            return _failed(item, item.message)
        try:
            return item, parse_record(self._kind, item.content, item.file, item.number)
        except Exception as error:
            return _faulty(item, error)

    def _done(self, line: Line, record: Instance) -> Outcome:
        try:
            with time_limit(self._timeout):
                result, summary = self._work.each(record, line.file, line.number)
            if isinstance(result, list):
                output, faults = b"\n".join(map(to_json, result)), ()
            else:
                output, faults = to_json(result), tuple(result.get("faults", ()))
            return Outcome(line.file, line.number, record.id, output, None, summary, faults=faults)
        except Exception as error:
            return _faulty(line, error, record.id)


def _faulty(line: Line, error: Exception, identity: str = "") -> Outcome:
    """The outcome of a line whose work raised an error.

    Raises:
        SymboUQError: If it is what every record needs that is missing.
    """
    if isinstance(error, RecordError):
        return _failed(line, error.message, identity)
    if isinstance(error, LimitError):
        return _failed(line, f"not finished: {error}", identity)
    if isinstance(error, SymboUQError):
        raise error
    # A fault of ours must not cost the other records; it is reported like any other.
    trace = "".join(traceback.format_exception(error))
    return _failed(line, internal(error), identity, trace)


def as_it_is(batch: Batch) -> Batch:
    """The batch itself."""
    return batch


def process(
    files: Iterable[str],
    job: Job,
    processes: int | None = None,
    prepare: Callable[[Batch], Batch] = as_it_is,
) -> Generator[Outcome, None, None]:
    """Does a job on every line of some files and gives the outcomes in order.

    Args:
        files: Paths; `-` is standard input.
        job: What to do.
        processes: How many processes; all cores by default.
        prepare: What is done to each batch of lines before the job, in this process.
    """
    yield from distinct(_in_order(files, job, processes or os.cpu_count() or 1, prepare))


def distinct(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Outcomes in the order of the lines, where an id that a file has twice fails the
    second time.
    """
    seen: set[int] = set()
    current, last = "", 0
    for outcome in outcomes:
        if outcome.file != current:
            seen.clear()
            current, last = outcome.file, 0
        if outcome.error is not None:  # it may be of a part of a row, which is still to come
            yield outcome
            continue
        if outcome.number <= last:  # the same file comes again
            seen.clear()
        last = outcome.number
        key = hash(outcome.id)
        if key in seen:
            error = f"id {outcome.id!r} occurs before in this file"
            yield outcome._replace(output=None, error=error, summary=None)
        else:
            seen.add(key)
            yield outcome


def _in_order(
    files: Iterable[str], job: Job, processes: int, prepare: Callable[[Batch], Batch]
) -> Iterator[Outcome]:
    """Outcomes in the order of the lines, ids not yet compared."""
    rest = map(prepare, batches(files))
    first = list(islice(rest, 2))
    every = chain(first, rest)
    if processes == 1 or len(first) < 2:
        yield from chain.from_iterable(map(Worker(job), every))
        return
    job.setup(*job.arguments)  # what is loaded here, every process has that is forked
    with Pool(processes, partial(Worker, job), _lost) as pool:
        yield from chain.from_iterable(pool.map(every))


def _lost(item: Line | RecordError, how: str) -> Outcome:
    """The outcome of a line over which a process died."""
    return _failed(item, f"the process that worked on it died ({how}; is there enough memory?)")


def batches(files: Iterable[str]) -> Iterator[Batch]:
    """The lines of some files in order, up to `BATCH` of them at a time; what is still to come on a
    pipe is not waited for. An empty batch says that the next line is.
    """
    batch: Batch = []
    size = 0
    for file in files:
        reader = read_lines(file)
        for item in reader:
            batch.append(item)
            size += len(item.content) if isinstance(item, Line) else 0
            idle = reader.idle()
            if idle or len(batch) == BATCH or size >= _BYTES:
                yield batch
                batch, size = [], 0
            if idle:
                yield []
    if batch:
        yield batch
