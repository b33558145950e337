"""Run a job over files: write results in order, show progress, and print one line for each failed
record.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import click
from rich.progress import BarColumn, SpinnerColumn, TimeElapsedColumn, TimeRemainingColumn

from symbouq.io import stream as builtin
from symbouq.io.adapters.inputs import TraceFile
from symbouq.io.output import part_of, record_output
from symbouq.io.storage import located
from symbouq.io.stream import Job, Outcome
from symbouq_cli.terminal import Faults, bar, tell

SECONDS = 30
"""Seconds between two progress lines if there is no terminal."""


def run(
    files: Sequence[str],
    out: str,
    job: Job,
    options: Mapping[str, Any],
    keep: Callable[[Outcome], None] = lambda outcome: None,
    take: Callable[[Any], None] = lambda total: None,
    prepare: Callable[[builtin.Batch], builtin.Batch] = builtin.as_it_is,
    lose: Callable[[Outcome], None] = lambda outcome: None,
) -> int:
    """Run a job on every record, and write the results as they arrive.

    Args:
        files: Input paths. A `TraceFile` has reading options.
        out: Output path, `-` for standard output.
        job: The job for each record.
        options: `jobs` and `timeout` and, if the command has them, `engine` and `shards`.
        keep: Called with the outcome of every record that succeeded, but not for shards.
        take: Called with the `job.total` of every shard.
        prepare: Applied in this process to each batch of lines before the job.
        lose: Called with the outcome of every record that failed, but not for shards.

    Returns:
        Number of records that failed.

    Raises:
        click.UsageError: If the options cannot be combined.
    """
    process = _process(files, out, options)
    if prepare is not builtin.as_it_is:
        if options.get("engine", "builtin") != "builtin":
            raise click.UsageError("--engine ray audits what is read: read with --engine builtin")
        process = partial(process, prepare=prepare)
    job = replace(job, timeout=options["timeout"] or None)
    refuse_overwriting(files, out, "--out")
    job.setup(*job.arguments)  # wrong options or rules end the run before anything is written
    if options.get("shards"):
        return _run_shards(files, job, options["shards"], options["jobs"], take)
    done = failed = 0
    with (
        record_output(out) as stream,
        progress(prepare is builtin.as_it_is, _records(files)) as advance,
        closing(process(files, job, options["jobs"])) as outcomes,
        Faults() as faults,
    ):
        for outcome in outcomes:
            done += 1
            if outcome.output is None:
                failed += 1
                tell_failure(outcome, faults)
                lose(outcome)
            else:
                if outcome.output:
                    stream.write(outcome.output + b"\n")
                for fault in outcome.faults:
                    faults.add(f"{outcome.file}:{outcome.number}: {fault}")
                keep(outcome)
            advance()
    if not done:
        tell("The input has no records: nothing was judged.")
    return failed


def tell_failure(outcome: Outcome, faults: Faults) -> None:
    """Print why a record failed. With `--debug`, also print the traceback of an internal error."""
    if outcome.traceback and click.get_current_context().find_root().params.get("debug"):
        for line in outcome.traceback.splitlines():
            tell(line)
    faults.add(f"{outcome.file}:{outcome.number}: {outcome.error}")


def _process(files: Sequence[str], out: str, options: Mapping[str, Any]) -> Any:
    """Return the function that distributes the work (`stream.process` or `cluster.process`).

    Raises:
        click.UsageError: If the options cannot be combined.
    """
    shards = options.get("shards")
    if options.get("engine", "builtin") == "builtin":
        if shards:
            raise click.UsageError("--shards needs --engine ray")
        return builtin.process
    if "-" in files:
        raise click.UsageError("--engine ray reads files, not standard input")
    if shards and out != "-":
        raise click.UsageError("give either --shards or --out")
    from symbouq.io import cluster

    return cluster.process


def _run_shards(
    files: Sequence[str], job: Job, folder: str, jobs: int | None, take: Callable[[Any], None]
) -> int:
    from symbouq.io import cluster

    counts: Counter[str] = Counter()
    with progress() as advance, Faults() as faults:
        for note in cluster.shards(files, job, folder, jobs):
            for fault in (*note["failed"], *note["faults"]):
                faults.add(f"{fault['file']}:{fault['line']}: {fault['error']}")
            take(note["total"])
            failed = len(note["failed"])
            counts.update(shards=1, kept=note["kept"], records=note["records"], failed=failed)
            advance(note["records"] + failed)
    tell(
        f"{counts['records']} records in {counts['shards']} shards, {counts['kept']} of which "
        "were there"
    )
    return counts["failed"]


def refuse_overwriting(files: Sequence[str], out: str, option: str) -> None:
    """Refuse an output file that is also one of the command's input (or other output) files, even
    under another name.

    Raises:
        click.UsageError: If there is such a file.
    """
    requests = [f.options.batch_input for f in files if isinstance(f, TraceFile)]
    part = part_of(out) if out != "-" else None
    for file in sorted({str(file) for file in [*files, *requests] if file}):
        if same_file(file, out):
            raise click.UsageError(f"{option} {out} is one of the input files")
        if part is not None and same_file(file, str(part)):
            raise click.UsageError(f"{option} {out} is made in {part}, one of the input files")


def same_file(file: str, out: str) -> bool:
    """Whether writing to the output path would change the given input file; `-` is a standard
    stream.
    """
    read, written = _place(file, 0), _place(out, 1)
    try:
        there = _state(read), _state(written)
    except OSError:  # one of them does not exist yet
        return str(read) == str(written)
    if isinstance(read, Path) and stat.S_ISDIR(there[0].st_mode):
        # A dataset saved to disk consists of files of these kinds.
        return (
            isinstance(written, Path)
            and written.suffix in (".arrow", ".json")
            and written.is_relative_to(read)
        )
    # For a terminal, a pipe or a device, input and output are separate.
    return stat.S_ISREG(there[0].st_mode) and os.path.samestat(*there)


@contextmanager
def standing(path: str) -> Iterator[str]:
    """Yield the path of a file that can be read repeatedly: the given file or, for `-`, a copy of
    standard input.
    """
    if path != "-":
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "standard-input")
        with copy.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        yield str(copy)


def _place(path: str, standard: int) -> Path | int:
    """Return the file descriptor behind `-`, or the given path with symbolic links resolved."""
    if path == "-":
        return standard
    if path.startswith("file://"):
        path = located(path)[1]
    return Path(os.path.realpath(path))


def _state(place: Path | int) -> os.stat_result:
    return place.stat() if isinstance(place, Path) else os.fstat(place)


def _records(files: Sequence[str]) -> int | None:
    """Return the number of records in the given files, if counting is fast: JSON Lines files have
    one record per line.
    """
    total = 0
    for file in files:
        if not file.endswith((".jsonl", ".ndjson")) or not Path(file).is_file():
            return None
        with Path(file).open("rb") as stream:
            total += sum(1 for line in stream if line.strip())
    return total


@contextmanager
def progress(shown: bool = True, total: int | None = None) -> Iterator[Callable[..., None]]:
    """Show a bar on a terminal, and elsewhere a line every `SECONDS`. Yield a function that
    advances it by a number of records, by default one.

    Args:
        shown: Whether progress is shown. A terminal can show one bar at a time.
        total: Total number of records, if known.
    """
    of = "" if total is None else f" of {total}"
    columns = f"{{task.completed}}{of} traces", BarColumn(), "{task.fields[rate]}"
    times = TimeElapsedColumn(), TimeRemainingColumn()
    with bar(SpinnerColumn(), *columns, *times, shown=shown) as progress:
        task = progress.add_task("", total=total, rate="")
        begun = said = monotonic()

        def advance(count: int = 1) -> None:
            nonlocal said
            progress.advance(task, count)
            now, done = monotonic(), int(progress.tasks[0].completed)
            rate = done / max(now - begun, 0.001)
            progress.update(task, rate=f"{rate:.0f}/s")
            if shown and progress.disable and now - said >= SECONDS:
                said = now
                left = "" if total is None else f", about {(total - done) / rate:.0f} s left"
                tell(f"{done}{of} traces, {rate:.1f} a second{left}")

        yield advance
