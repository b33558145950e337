"""`symbouq experiment`: whole runs from a configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symbouq_cli.options import ENGINE, JOBS
from symbouq_cli.terminal import say, tell

if TYPE_CHECKING:
    from concurrent.futures import Future

    from symbouq.experiments.experiment import Experiment
    from symbouq.experiments.stages import Stage

CONFIG = click.argument(
    "config", metavar="CONFIG", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
OUT = click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="The run's folder.  [default: runs/ and the experiment's name]",
)
DATA = click.option(
    "--data",
    metavar="DIR",
    envvar="SYMBOUQ_DATA",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the benchmarks; also from SYMBOUQ_DATA.",
)


@click.group()
def experiment() -> None:
    """Run whole experiments: generate, audit, label, fit, score, and tell how it went.

    Example: symbouq experiment run experiments/smoke.yaml
    """


@experiment.command()
@CONFIG
@OUT
@DATA
@click.option("--dry-run", is_flag=True, help="Show the plan with its estimated cost, and stop.")
@ENGINE
@JOBS
def run(
    config: Path,
    out: Path | None,
    data: Path | None,
    dry_run: bool,
    engine: str,
    jobs: int | None,
) -> None:
    """Run the experiment of CONFIG; what is made already is not made again.

    On a Ray cluster, as many stages as there are workers run side by side, in a folder that
    all machines share.

    Example: symbouq experiment run experiments/bank.yaml --data benchmarks
    """
    on_ray = engine == "ray"
    bank = _experiment(config, out, data, 1 if on_ray else jobs)
    if dry_run:
        _plan(bank)
        return
    total = len(bank.stages)
    made = sum(state.done for state in bank.run.states())
    with _announcing(made, total, not on_ray) as (begun, advance):
        if on_ray:
            _make_on_ray(bank, begun, jobs)
        else:
            bank.advance = advance
            bank.run.make(begun)
    tell(f"{bank.run.folder}: {total} stages are made")


def _make_on_ray(bank: Experiment, begun: Callable[[Stage], None], jobs: int | None) -> None:
    from symbouq.experiments.stages import work_on
    from symbouq.io import cluster

    with cluster.crew(jobs) as crew:

        def submit(stage: Stage, folder: Path) -> Future[float]:
            gpus = min(1, crew.on_cluster) if stage.on_gpu else 0
            return crew.submit(partial(work_on, stage, folder), gpus)

        bank.run.make(begun, submit, crew.size, crew.on_cluster)


@contextmanager
def _announcing(
    made: int, total: int, inner: bool
) -> Iterator[tuple[Callable[[Stage], None], Callable[[int], None]]]:
    """Tells which stage is begun and, where `inner`, how far it is: bars on a terminal, elsewhere a
    line for each stage.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    started = iter(range(made, total))
    if not console.is_terminal:
        yield (
            lambda stage: tell(f"[{next(started) + 1}/{total}] {stage.name}"),
            lambda count: None,
        )
        return
    columns = (
        MofNCompleteColumn(),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        stages = progress.add_task("stages", total=total, completed=made)
        inside = progress.add_task("", visible=False)

        def begun(stage: Stage) -> None:
            nonlocal inside
            progress.update(stages, completed=next(started))
            progress.remove_task(inside)
            inside = progress.add_task(stage.name, total=stage.size or None, visible=inner)

        yield begun, lambda count: progress.advance(inside, count)


@experiment.command()
@CONFIG
@OUT
@DATA
def status(config: Path, out: Path | None, data: Path | None) -> None:
    """Say which stages of CONFIG are made, and how long they took.

    Example: symbouq experiment status experiments/bank.yaml
    """
    for state in _experiment(config, out, data).run.states():
        told = f"made in {state.seconds:.1f} s" if state.done else "to do"
        say(f"{state.stage.name}: {told}")


@experiment.command("list")
def listed() -> None:
    """List the tables and figures.

    Example: symbouq experiment list
    """
    from symbouq.experiments.figures import FIGURES
    from symbouq.experiments.tables import TABLES

    for kind, known in (("tables", TABLES), ("figures", FIGURES)):
        say(f"{kind}:")
        for name, make in known.items():
            told = " ".join((make.__doc__ or "").split()).partition(". ")[0].rstrip(".")
            say(f"  {name:<16} {told}")


def _tables(_context: click.Context, _argument: click.Parameter, begun: str) -> list[str]:
    """Tables that the shell may complete to."""
    from symbouq.experiments.tables import TABLES

    return [name for name in TABLES if name.startswith(begun)]


@experiment.command()
@click.argument("name", shell_complete=_tables)
@CONFIG
@OUT
@DATA
@click.option(
    "--form",
    type=click.Choice(["markdown", "csv", "latex"]),
    default="markdown",
    show_default=True,
    help="How to print the table.",
)
@click.option(
    "--to",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write a file into this folder in place of printing.",
)
def table(
    name: str, config: Path, out: Path | None, data: Path | None, form: str, to: Path | None
) -> None:
    """Print the table NAME of the experiment of CONFIG; `all` is every table.

    Example: symbouq experiment table result experiments/tiny.yaml --form latex
    """
    from symbouq.experiments.rendering import rendered
    from symbouq.experiments.results import Results
    from symbouq.experiments.tables import TABLES
    from symbouq.io.output import replacing

    if name != "all" and name not in TABLES:
        raise click.UsageError(f"there is no table {name}; there are {', '.join(TABLES)}")
    results = Results(_experiment(config, out, data))
    for one in TABLES if name == "all" else (name,):
        text = rendered(TABLES[one](results), form, results.footer)
        if to is None:
            click.echo(text + ("\n" if name == "all" else ""))
        else:
            to.mkdir(parents=True, exist_ok=True)
            file = to / f"{one}.{_ENDINGS[form]}"
            with replacing(file) as stream:
                stream.write(text.encode() + b"\n")
            tell(file)


_ENDINGS = {"markdown": "md", "csv": "csv", "latex": "tex"}


def _figures(_context: click.Context, _argument: click.Parameter, begun: str) -> list[str]:
    """Figures that the shell may complete to."""
    from symbouq.experiments.figures import FIGURES

    return [name for name in FIGURES if name.startswith(begun)]


@experiment.command()
@click.argument("name", shell_complete=_figures)
@CONFIG
@OUT
@DATA
@click.option(
    "--form",
    type=click.Choice(["png", "svg"]),
    default="png",
    show_default=True,
    help="Kind of the file.",
)
@click.option(
    "--to",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="The folder to write into.  [default: the current one]",
)
def figure(
    name: str, config: Path, out: Path | None, data: Path | None, form: str, to: Path
) -> None:
    """Draw the figure NAME of the experiment of CONFIG; `all` is every figure.

    Example: symbouq experiment figure risk-coverage experiments/tiny.yaml --form svg
    """
    from symbouq.experiments.figures import FIGURES
    from symbouq.experiments.results import Results

    if name != "all" and name not in FIGURES:
        raise click.UsageError(f"there is no figure {name}; there are {', '.join(FIGURES)}")
    results = Results(_experiment(config, out, data))
    to.mkdir(parents=True, exist_ok=True)
    for one in FIGURES if name == "all" else (name,):
        drawn = FIGURES[one](results)
        drawn.supxlabel(results.footer, fontsize=6, color="gray")
        file = to / f"{one}.{form}"
        drawn.savefig(file, dpi=150)
        tell(file)


def _experiment(
    config: Path, out: Path | None, data: Path | None, processes: int | None = None
) -> Experiment:
    from symbouq.experiments.config import read_config
    from symbouq.experiments.experiment import Experiment

    read = read_config(config)
    return Experiment(read, out or Path("runs") / read.name, data, processes)


def _plan(bank: Any) -> None:
    from symbouq.experiments.experiment import MACHINES

    left = 0.0
    for state in bank.run.states():
        if state.done:
            told = "made"
        else:
            left += state.stage.cost
            told = f"about {state.stage.cost:.0f} s" if state.stage.cost >= 1 else "seconds"
        say(f"{state.stage.name}: {told}")
    machine = MACHINES[bank.config.generation.engine]
    say(f"about {left / 60:.0f} minutes on {machine}")
