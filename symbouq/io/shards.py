"""Output in shards: one compressed file for each input file, written once.

Each shard `NAME.jsonl.gz` has a note `NAME.json` next to it, which is written after it. A shard
counts only if it has a note. The note has a key computed from everything that the shard depends on,
so that later runs can skip finished shards. It also has the number of records, each failed record
with file, line and error, and the job's counts.
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
    """Return the SHA-256 of everything that affects a job's results except the input: its name, its
    arguments and any files in them, the rules and the version.
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
    """Return the name of a file's shard: the file's name with a mark for its folder."""
    name = Path(input_name(file).partition("?")[0]).name.removesuffix(".gz")
    mark = hashlib.sha256(os.fsencode(file)).hexdigest()[:8]
    return f"{Path(name).stem}-{mark}"


def write_shard(file: str, folder: str, job: Job, worker: Worker, stamped: str) -> dict[str, Any]:
    """Write the shard and note of a file, unless they exist.

    Args:
        file: The input. A `TraceFile` has reading options.
        folder: Output folder, a path or a URI.
        job: The job for each record.
        worker: The job after its setup.
        stamped: The job's `stamp`.

    Returns:
        The note. The field `kept` is true if the shard already existed.

    Raises:
        OSError: If shard or note cannot be written.
    """
    system, place = located(folder)
    place = f"{place.rstrip('/')}/{shard_name(file)}"
    note = _note(system, f"{place}.json")
    if note is not None and note["key"] == _key(file, stamped):
        return {**note, "kept": True}
    if note is not None:
        system.delete_file(f"{place}.json")  # the old note must not vouch for the new content
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
    """Yield the lines of a file, and update the key with them."""
    for item in read_lines(file):
        place = item.number if isinstance(item, Line) else item.line
        content = item.content if isinstance(item, Line) else item.message.encode()
        key.update(f"{place}\0{len(content)}\0".encode() + content)
        yield item


def _written(
    outcomes: Iterable[Outcome], write: Callable[[bytes], object], note: dict[str, Any]
) -> Iterator[Any]:
    """Write or note the outcomes, and yield their summaries."""
    for outcome in outcomes:
        place = {"file": outcome.file, "line": outcome.number}
        if outcome.output is None:
            note["failed"].append({**place, "error": outcome.error})
        else:
            write(outcome.output + b"\n")
            note["records"] += 1
            note["faults"] += [{**place, "error": fault} for fault in outcome.faults]
            yield outcome.summary
