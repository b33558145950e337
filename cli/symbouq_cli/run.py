"""Runs a job over files: output in order, progress, and one line per failed record."""

from __future__ import annotations

import gzip
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from symbouq.adapters.base import TraceFile
from symbouq.stream import Job, Outcome, process


def run(
    files: Sequence[str],
    out: str,
    job: Job,
    jobs: int | None,
    keep: Callable[[Outcome], None],
) -> int:
    """Does a job on every record and writes the results as they come.

    Args:
        files: Input paths; a `TraceFile` says how it is read.
        out: Output path, `-` for standard output.
        job: What is done to each record.
        jobs: Number of processes.
        keep: Takes the outcome of every record that succeeded.

    Returns:
        How many records failed.
    """
    refuse_overwriting(files, out, "--out")
    job.setup(*job.arguments)  # wrong options or rules end the run before anything is written
    failed = 0
    with writing(out) as stream, progress() as advance:
        for outcome in process(files, job, jobs):
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
    if outcome.traceback and click.get_current_context().find_root().params["debug"]:
        click.echo(outcome.traceback, err=True)
    click.echo(f"{outcome.file}:{outcome.number}: {outcome.error}", err=True)


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
    else:
        with Path(out).open("wb") as stream:
            yield stream


@contextmanager
def progress() -> Iterator[Callable[[], None]]:
    """A counter on a terminal, nothing elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda: None
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

        def advance() -> None:
            progress.advance(task)
            speed = progress.tasks[0].speed
            if speed:
                progress.update(task, rate=f"{speed:.0f}/s")

        yield advance
