"""From trace files to records: read, distribute over processes, and write in order.

An unreadable record is reported and skipped; the rest of its file is not affected. Batches are
small, and only a few are ahead of the writer. Memory therefore does not grow with the input, and
all finished results are written when a run is stopped.
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
"""Number of records per batch."""

_BYTES = 1 << 20
"""Number of bytes of lines after which a batch counts as full."""


class Line(NamedTuple):
    """Record of an input file, encoded as a line of the `symbouq` format."""

    file: str
    number: int
    content: bytes


Batch = list[Line | RecordError]
"""Lines of a batch, with errors in place of those that cannot be read."""


class Outcome(NamedTuple):
    """Result of the work on one line.

    Attributes:
        file: File of the line.
        number: Number of the line, from 1.
        id: Id of the record; empty if it cannot be read.
        output: The encoded result, or several results separated by line breaks; None on failure.
        error: The message of a failure, None on success.
        summary: Part of the result that goes into the job's summary.
        traceback: The traceback of an internal error.
        faults: Messages about parts missing from the result.
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
    number = item.number if isinstance(item, Line) else item.line
    return Outcome(item.file or "", number or 0, identity, None, error, traceback=trace)


class Lines:
    """Iterator over the records of a file that are not blank; `-` is standard input.

    Lines in the `symbouq` format stay unchanged. Records in other formats (`symbouq.io.adapters`),
    or in an array, become lines in this format and keep their number. Compressed content is
    decompressed transparently. If a file is cut off or becomes unreadable, one error follows its
    readable records.

    Args:
        path: A path, or a `TraceFile` with reading options.
    """

    def __init__(self, path: str) -> None:
        self._source: Input | None = None
        self._items = self._read(path)

    def __iter__(self) -> Iterator[Line | RecordError]:
        return self

    def __next__(self) -> Line | RecordError:
        return next(self._items)

    def idle(self) -> bool:
        """Whether the next record on a pipe or a terminal has not arrived yet."""
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
            # An internal error must not affect other files, so report it like any other.
            yield RecordError(internal(error), name, number + 1)


def read_lines(path: str) -> Lines:
    """Return the records of a file (`Lines`)."""
    return Lines(path)


def _line(
    file: str, number: int, record: bytes | dict[str, Any] | RecordError
) -> Line | RecordError:
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
    """Setup without effect."""


class Work(NamedTuple):
    """The functions of a job that process records.

    Attributes:
        each: Takes a record, its file and its line. Returns the result (or several) to write, and
            the part to keep for a summary.
        ahead: Called in advance with the records of a batch, for work that is cheaper in batches.
            Its errors are ignored, because they occur again for the record at fault.
    """

    each: Callable[[Any, str, int], tuple[dict[str, Any] | list[dict[str, Any]], Any]]
    ahead: Callable[[Sequence[Any]], None] = _alone


def no_total(summaries: Iterable[Any]) -> None:
    """Discard the summaries of a shard."""
    deque(summaries, maxlen=0)


@dataclass(frozen=True)
class Job:
    """Work to be done on each record of files. It is picklable, because processes receive it.

    Attributes:
        setup: Makes a worker from the arguments. Called once per process.
        arguments: Arguments of `setup`.
        kind: Type of the records.
        total: Combines the summaries of a shard's records into a JSON value (`symbouq.io.shards`).
        timeout: Time limit per record in seconds; None for no limit.
    """

    setup: Callable[..., Work]
    arguments: tuple[Any, ...]
    kind: type[Instance]
    total: Callable[[Iterable[Any]], Any] = no_total
    timeout: float | None = None


class Worker:
    """A job, set up in one process. It yields the outcomes for batches of lines."""

    def __init__(self, job: Job) -> None:
        self._work = job.setup(*job.arguments)
        self._kind = job.kind
        self._timeout = job.timeout

    def __call__(self, batch: Sequence[Line | RecordError]) -> Iterator[Outcome]:
        """Process lines. Those that cannot be read also get an outcome."""
        read = [self._read(item) for item in batch]
        with suppress(Exception), time_limit(self._timeout):  # raised again with its record
            self._work.ahead([given[1] for given in read if not isinstance(given, Outcome)])
        for given in read:
            yield given if isinstance(given, Outcome) else self._done(*given)

    def _read(self, item: Line | RecordError) -> tuple[Line, Instance] | Outcome:
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
    """Return the outcome for a line that caused an error.

    Raises:
        SymboUQError: If the error affects every record, such as a missing package.
    """
    if isinstance(error, RecordError):
        return _failed(line, error.message, identity)
    if isinstance(error, LimitError):
        return _failed(line, f"not finished: {error}", identity)
    if isinstance(error, SymboUQError):
        raise error
    # An internal error must not affect other records, so report it like any other.
    trace = "".join(traceback.format_exception(error))
    return _failed(line, internal(error), identity, trace)


def as_it_is(batch: Batch) -> Batch:
    """Return the batch unchanged."""
    return batch


def process(
    files: Iterable[str],
    job: Job,
    processes: int | None = None,
    prepare: Callable[[Batch], Batch] = as_it_is,
) -> Generator[Outcome, None, None]:
    """Process every line of the given files with a job, and yield the outcomes in order.

    Args:
        files: Paths; `-` is standard input.
        job: The job.
        processes: Number of processes; by default, one per core.
        prepare: Applied in this process to each batch of lines before the job.
    """
    yield from distinct(_in_order(files, job, processes or os.cpu_count() or 1, prepare))


def distinct(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Yield the outcomes in the order of the lines. If two ids in a file are equal, the second
    fails.
    """
    seen: set[int] = set()
    current, last = "", 0
    for outcome in outcomes:
        if outcome.file != current:
            seen.clear()
            current, last = outcome.file, 0
        if outcome.error is not None:  # it may belong to a row that is still incomplete
            yield outcome
            continue
        if outcome.number <= last:  # the same file starts again
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
    """Yield the outcomes in the order of the lines, before ids are compared."""
    rest = map(prepare, batches(files))
    first = list(islice(rest, 2))
    every = chain(first, rest)
    if processes == 1 or len(first) < 2:
        yield from chain.from_iterable(map(Worker(job), every))
        return
    job.setup(*job.arguments)  # forked processes share everything loaded here
    with Pool(processes, partial(Worker, job), _lost) as pool:
        yield from chain.from_iterable(pool.map(every))


def _lost(item: Line | RecordError, how: str) -> Outcome:
    return _failed(item, f"the process that worked on it died ({how}; is there enough memory?)")


def batches(files: Iterable[str]) -> Iterator[Batch]:
    """Yield the lines of files in order, in batches of up to `BATCH`, without waiting for records
    on a pipe. An empty batch means that the next line has not arrived yet.
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
