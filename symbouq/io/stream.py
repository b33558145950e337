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
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple

from pydantic_core import to_json

from symbouq.errors import RecordError, SymboUQError, internal
from symbouq.io.adapters.base import Found, Input, Reading, TraceFile, input_name, opened
from symbouq.io.adapters.choice import adapter_for
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
    """What became of one line.

    Attributes:
        file: The line's file.
        number: Its number there, from 1.
        id: The record's id, empty if it could not be read.
        output: The encoded result, without line break; None on failure.
        error: What was wrong, None on success.
        summary: What the job keeps of the result for a summary.
        traceback: Where a fault of ours came from.
        faults: What the result lacks, a message each.
    """

    file: str
    number: int
    id: str
    output: bytes | None
    error: str | None
    summary: Any = None
    traceback: str | None = None
    faults: tuple[str, ...] = ()


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
        self._given: Input | None = None
        self._items = self._read(path)

    def __iter__(self) -> Iterator[Line | RecordError]:
        return self

    def __next__(self) -> Line | RecordError:
        return next(self._items)

    def idle(self) -> bool:
        """Whether the next record is still to come, on a pipe or a terminal."""
        return self._given is not None and self._given.idle()

    def _read(self, path: str) -> Iterator[Line | RecordError]:
        reading = path.reading if isinstance(path, TraceFile) else Reading()
        name = input_name(path)
        number = 0
        try:
            with opened(path) as given:
                self._given = given
                adapter = adapter_for(given, reading)
                if adapter is None:
                    for number, content in given.values():
                        if isinstance(content, RecordError):
                            yield RecordError(content.message, name, number)
                        else:
                            yield Line(name, number, content)
                else:
                    for found in adapter.read(given, reading):
                        number = found.number
                        yield _as_line(found)
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


def _as_line(found: Found) -> Line | RecordError:
    """A record of another format as a line of ours."""
    if isinstance(found.content, RecordError):
        return RecordError(found.content.message, found.file, found.number)
    try:
        encoded = to_json(found.content, inf_nan_mode="null", bytes_mode="base64", fallback=str)
    except ValueError as error:
        return RecordError(f"cannot be written as JSON: {error}", found.file, found.number)
    return Line(found.file, found.number, encoded)


Work = Callable[[Any, str, int], tuple[dict[str, Any], Any]]
"""Takes a record with its file and line; gives what is written and what is kept."""


def no_total(summaries: Iterable[Any]) -> None:
    """Keeps nothing of a shard's summaries."""
    deque(summaries, maxlen=0)


@dataclass(frozen=True)
class Job:
    """What is done to each record; it travels to the processes, so it is picklable.

    Attributes:
        setup: Makes a worker from the arguments; called once in each process.
        arguments: Its arguments.
        kind: The kind of record that the worker takes.
        total: Makes of the summaries of a shard's records what is noted of them all, a
            JSON value (`symbouq.io.shards`).
        timeout: Seconds that one record may take; None for no limit.
    """

    setup: Callable[..., Work]
    arguments: tuple[Any, ...]
    kind: type[Instance]
    total: Callable[[Iterable[Any]], Any] = no_total
    timeout: float | None = None


class Worker:
    """A job made ready in one process: gives the outcome of each line."""

    def __init__(self, job: Job) -> None:
        self._work = job.setup(*job.arguments)
        self._kind = job.kind
        self._timeout = job.timeout

    def __call__(self, item: Line | RecordError) -> Outcome:
        """Does the job on one line; what could not be read is an outcome as well."""
        if isinstance(item, RecordError):
            return Outcome(item.file or "", item.line or 0, "", None, item.message)
        identity = ""
        where = None
        try:
            given = parse_record(self._kind, item.content, item.file, item.number)
            identity = given.id
            with time_limit(self._timeout):
                record, summary = self._work(given, item.file, item.number)
            output, faults = to_json(record), tuple(record.get("faults", ()))
            return Outcome(item.file, item.number, identity, output, None, summary, faults=faults)
        except RecordError as error:
            message = error.message
        except LimitError as error:
            message = f"not finished: {error}"
        except Exception as error:
            # A fault of ours must not cost the other records; it is reported like any other.
            message = internal(error)
            where = traceback.format_exc()
        return Outcome(item.file, item.number, identity, None, message, traceback=where)


def process(
    files: Iterable[str], job: Job, processes: int | None = None
) -> Generator[Outcome, None, None]:
    """Does a job on every line of some files and gives the outcomes in order.

    Args:
        files: Paths; `-` is standard input.
        job: What to do.
        processes: How many processes; all cores by default.
    """
    yield from distinct(_in_order(files, job, processes or os.cpu_count() or 1))


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


def _in_order(files: Iterable[str], job: Job, processes: int) -> Iterator[Outcome]:
    """Outcomes in the order of the lines, ids not yet compared."""
    every = batches(files)
    opening = list(islice(every, 2))
    rest = chain(opening, every)
    if processes == 1 or len(opening) < 2:
        worker = Worker(job)
        for batch in rest:
            yield from map(worker, batch)
        return
    job.setup(*job.arguments)  # what is loaded here, every process has that is forked
    with Pool(processes, partial(Worker, job), _lost) as pool:
        for outcomes in pool.map(rest):
            yield from outcomes


def _lost(item: Line | RecordError, how: str) -> Outcome:
    """The outcome of a line over which a process died."""
    file, number = (
        (item.file or "", item.line or 0)
        if isinstance(item, RecordError)
        else (item.file, item.number)
    )
    error = f"the process that worked on it died ({how}; is there enough memory?)"
    return Outcome(file, number, "", None, error)


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
