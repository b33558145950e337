"""Output in shards: one compressed file for each input file, written once.

Beside a shard `NAME.jsonl.gz` stands its note `NAME.json`, written after it: a shard counts
only with a note. The note holds a key over everything that the shard depends on, so that a
later run finds what need not be done again; how many records there are; each failed one with
file, line and error; and what the job counted.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json

from symbouq.errors import RecordError
from symbouq.io.adapters.inputs import input_name
from symbouq.io.storage import located
from symbouq.io.stream import BATCH, Job, Line, Outcome, Worker, distinct, read_lines
from symbouq.ontology.source import data_folder, digest, lp_files
from symbouq.version import __version__


def stamp(job: Job) -> str:
    """SHA-256 over what decides a job's results beside its input: its name and arguments, the
    files that they name, the rules and the version.
    """
    files = [file for name in ("rules", "ontology") for file in lp_files(data_folder(name))]
    for argument in job.arguments:
        path = Path(argument) if isinstance(argument, str) else None
        if path is not None and path.is_dir():
            files += lp_files(path)
        elif path is not None and path.is_file():
            files.append(path)
    setup = f"{job.setup.__module__}.{job.setup.__qualname__}"
    decided = repr((__version__, setup, job.arguments, job.kind.__name__, digest(files)))
    return hashlib.sha256(decided.encode()).hexdigest()


def shard_name(file: str) -> str:
    """The name of a file's shard: that of the file, and a mark of where it lies."""
    name = Path(input_name(file).partition("?")[0]).name.removesuffix(".gz")
    mark = hashlib.sha256(os.fsencode(file)).hexdigest()[:8]
    return f"{Path(name).stem}-{mark}"


def write_shard(file: str, folder: str, job: Job, worker: Worker, stamped: str) -> dict[str, Any]:
    """Writes the shard of a file and its note, unless they are there.

    Args:
        file: Input; a `TraceFile` says how it is read.
        folder: Where to write, a path or a URI.
        job: What is done to each record.
        worker: The same, made ready.
        stamped: Its `stamp`.

    Returns:
        The note, and with it `kept`, whether it was there.

    Raises:
        OSError: If it cannot be written.
    """
    system, place = located(folder)
    place = f"{place.rstrip('/')}/{shard_name(file)}"
    note = _note(system, f"{place}.json")
    if note is not None and note["key"] == _key(file, stamped):
        return {**note, "kept": True}
    if note is not None:
        system.delete_file(f"{place}.json")  # it must not vouch for what is written now
    key = hashlib.sha256(stamped.encode())
    note = {"file": input_name(file), "records": 0, "failed": [], "faults": []}
    with (
        system.open_output_stream(f"{place}.jsonl.gz", None) as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=0) as stream,
    ):
        items = _hashed(file, key)
        batches = iter(lambda: list(islice(items, BATCH)), [])
        outcomes = distinct(chain.from_iterable(map(worker, batches)))
        note["total"] = job.total(_written(outcomes, stream.write, note))
    note["key"] = key.hexdigest()
    with system.open_output_stream(f"{place}.json") as stream:
        stream.write(to_json(note))
    return {**note, "kept": False}


def _note(system: Any, place: str) -> dict[str, Any] | None:
    """The note at a place, None where there is none or its writing was broken off."""
    try:
        with system.open_input_stream(place) as stream:
            note: dict[str, Any] = from_json(stream.read())
    except (FileNotFoundError, ValueError):
        return None
    return note


def _key(file: str, stamped: str) -> str:
    key = hashlib.sha256(stamped.encode())
    for _ in _hashed(file, key):
        pass
    return key.hexdigest()


def _hashed(file: str, key: Any) -> Iterator[Line | RecordError]:
    """The lines of a file; what a result depends on goes into the key."""
    for item in read_lines(file):
        place = item.number if isinstance(item, Line) else item.line
        content = item.content if isinstance(item, Line) else item.message.encode()
        key.update(f"{place}\0{len(content)}\0".encode() + content)
        yield item


def _written(
    outcomes: Iterable[Outcome], write: Callable[[bytes], object], note: dict[str, Any]
) -> Iterator[Any]:
    """The summaries of the outcomes, which are written or noted as they pass."""
    for outcome in outcomes:
        place = {"file": outcome.file, "line": outcome.number}
        if outcome.output is None:
            note["failed"].append({**place, "error": outcome.error})
        else:
            write(outcome.output + b"\n")
            note["records"] += 1
            note["faults"] += [{**place, "error": fault} for fault in outcome.faults]
            yield outcome.summary
