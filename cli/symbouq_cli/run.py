"""Runs a job over files: output in order, progress, and one line per failed record."""

from __future__ import annotations

import gzip
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from symbouq import stream as builtin
from symbouq.adapters.base import TraceFile
from symbouq.stream import Job, Outcome
from symbouq.tabular import parquet_lines


def run(
    files: Sequence[str],
    out: str,
    job: Job,
    options: Mapping[str, Any],
    keep: Callable[[Outcome], None],
    take: Callable[[Any], None] = lambda total: None,
) -> int:
    """Does a job on every record and writes the results as they come.

    Args:
        files: Input paths; a `TraceFile` says how it is read.
        out: Output path, `-` for standard output.
        job: What is done to each record.
        options: `jobs`, and where the command has them, `engine` and `shards`.
        keep: Takes the outcome of every record that succeeded; not called for shards.
        take: Takes `job.total` of every shard.

    Returns:
        How many records failed.

    Raises:
        click.UsageError: If the options do not go together.
    """
    process = _engine(files, out, options)
    refuse_overwriting(files, out, "--out")
    job.setup(*job.arguments)  # wrong options or rules end the run before anything is written
    if options.get("shards"):
        return _run_shards(files, job, options["shards"], options["jobs"], take)
    failed = 0
    with writing(out) as stream, progress() as advance:
        for outcome in process(files, job, options["jobs"]):
            if outcome.output is None:
                failed += 1
                tell_failure(outcome)
            else:
                with _uninterrupted():
                    stream.write(outcome.output + b"\n")
                keep(outcome)
            advance()
    return failed


def tell_failure(outcome: Outcome) -> None:
    """Prints why a record failed; under `--debug`, where a fault of ours came from as well."""
    if outcome.traceback and click.get_current_context().find_root().params.get("debug"):
        click.echo(outcome.traceback, err=True)
    click.echo(f"{outcome.file}:{outcome.number}: {outcome.error}", err=True)


def _engine(files: Sequence[str], out: str, options: Mapping[str, Any]) -> Any:
    """The function that spreads the work, where the options go together."""
    shards = options.get("shards")
    if options.get("engine", "builtin") == "builtin":
        if shards:
            raise click.UsageError("--shards needs --engine ray")
        return builtin.process
    if "-" in files:
        raise click.UsageError("--engine ray reads files, not standard input")
    if shards and out != "-":
        raise click.UsageError("--shards and --out are two ways to write; name one of them")
    from symbouq import cluster

    return cluster.process


def _run_shards(
    files: Sequence[str],
    job: Job,
    folder: str,
    jobs: int | None,
    take: Callable[[Any], None],
) -> int:
    from symbouq import cluster

    records = failed = kept = count = 0
    with progress() as advance:
        for note in cluster.shards(files, job, folder, jobs):
            for fault in note["failed"]:
                click.echo(f"{fault['file']}:{fault['line']}: {fault['error']}", err=True)
            take(note["total"])
            count += 1
            kept += note["kept"]
            records += note["records"]
            failed += len(note["failed"])
            advance(note["records"] + len(note["failed"]))
    click.echo(f"{records} records in {count} shards, {kept} of which were there", err=True)
    return failed


def refuse_overwriting(files: Sequence[str], out: str, option: str) -> None:
    """Ends the command where an output is one of the files that are read (or written).

    Raises:
        click.UsageError: If it is.
    """
    read = set(files)
    read.update(f.reading.batch_input or "-" for f in files if isinstance(f, TraceFile))
    if out != "-" and any(Path(file).resolve() == Path(out).resolve() for file in read - {"-"}):
        raise click.UsageError(f"{option} {out} is one of the input files")


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Holds back Ctrl-C, so that a compressed stream is not cut inside a write."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def writing(out: str) -> Iterator[IO[bytes]]:
    """The output, complete on disk whatever ends the run."""
    if out == "-":
        stream = sys.stdout.buffer
        try:
            yield stream
        finally:
            stream.flush()
    elif out.endswith(".gz"):
        with gzip.open(out, "wb", compresslevel=6) as stream:
            yield stream  # type: ignore[misc]
    elif out.endswith(".parquet"):
        with parquet_lines(out) as stream:
            yield stream
    else:
        with Path(out).open("wb") as stream:
            yield stream


@contextmanager
def progress() -> Iterator[Callable[..., None]]:
    """A counter on a terminal, nothing elsewhere; it takes by how many it goes on, or one."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda count=1: None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed} traces"),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None, rate="")

        def advance(count: int = 1) -> None:
            progress.advance(task, count)
            speed = progress.tasks[0].speed
            if speed:
                progress.update(task, rate=f"{speed:.0f}/s")

        yield advance
