"""`symbouq experiment`: run experiments from a configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from symbouq_cli.options import ENGINE, JOBS, option, together
from symbouq_cli.terminal import bar, say, tell

if TYPE_CHECKING:
    from symbouq.experiments.experiment import Experiment
    from symbouq.experiments.results import Results
    from symbouq.experiments.runner import Stage

_FOLDER = click.Path(file_okay=False, path_type=Path)
_configured = together(
    click.argument(
        "config", metavar="CONFIG", type=click.Path(exists=True, dir_okay=False, path_type=Path)
    ),
    option(
        "--out",
        metavar="DIR",
        type=_FOLDER,
        help="Folder of the run.  [default: runs/ plus the experiment's name]",
    ),
    option(
        "--data",
        metavar="DIR",
        envvar="SYMBOUQ_DATA",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Folder of the benchmarks.  [env: SYMBOUQ_DATA]",
    ),
    option(
        "--allow-smaller",
        is_flag=True,
        help="If a file has fewer questions than the configuration asks for, use all of them.",
    ),
)
"""Arguments for the configuration and the folders of a run, which `_experiment` takes."""

_ENDINGS = {"markdown": "md", "csv": "csv", "latex": "tex"}


@click.group()
def experiment() -> None:
    """Run experiments: generate, audit, label, fit, score, and make tables and figures.

    Example: symbouq experiment run experiments/smoke.yaml
    """


@experiment.command()
@_configured
@option("--dry-run", is_flag=True, help="Show the plan and its estimated cost, then stop.")
@ENGINE
@JOBS
def run(dry_run: bool, engine: str, jobs: int | None, **options: Any) -> None:
    """Run the experiment of CONFIG; finished stages are skipped.

    All tables and figures are written to the folders `tables` and `figures` of the run.

    On a Ray cluster, as many stages run side by side as there are workers, in a folder that all
    machines share.

    Example: symbouq experiment run experiments/laptop.yaml --data benchmarks
    """
    on_ray = engine == "ray"
    configured = _experiment(**options, processes=1 if on_ray else jobs)
    if dry_run:
        _show_plan(configured)
        return
    configured.check_packages()
    from symbouq.errors import install_command

    drawn = find_spec("matplotlib") is not None
    if not drawn:
        tell(f"no figures will be drawn: they need matplotlib ({install_command('notebook')})")
    run = configured.run
    total = len(run.stages)
    left = [state.stage for state in run.states() if not state.done]
    workers = (jobs or 1) if on_ray else configured.config.workers
    progress = _progress(left, total, workers, run.seconds, inner=not on_ray)
    with progress as (begun, advance):
        if on_ray:
            configured.run.make_on_ray(begun, jobs)
        else:
            configured.make(begun, advance)
    tell(f"{run.folder}: {total} stages are finished")
    results = _results(configured)
    _write_tables(results, _chosen("tables", "all"), run.folder / "tables", "markdown")
    if drawn:
        _draw(results, _chosen("figures", "all"), run.folder / "figures", "png")


_UNMEASURED = 120.0
"""Seconds of estimated work after which the measured pace counts as much as the estimates."""


@contextmanager
def _progress(
    left: Sequence[Stage],
    total: int,
    workers: int,
    took: Callable[[Stage], float | None],
    inner: bool,
) -> Iterator[tuple[Callable[[Stage], None], Callable[[int], None]]]:
    """Report which stage has begun, and the remaining time based on the estimates and the measured
    pace. If `inner`, also report the progress within a stage. On a terminal, bars are shown;
    elsewhere, a line for each stage.

    Args:
        left: The stages that are still to be run.
        total: Number of all stages.
        workers: Number of stages that run in parallel.
        took: Returns the duration of a stage in seconds; None for an unfinished stage.
        inner: Whether stages report their own progress.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn, TimeRemainingColumn

    number, to_do = total - len(left), sum(stage.cost for stage in left)
    waiting = dict.fromkeys(left)
    at_work: dict[Stage, float] = {}
    estimated = measured = 0.0
    start = monotonic()

    def counted(stage: Stage) -> str:
        """Count a stage. Return the stage's name and the amount of work left when it began."""
        nonlocal number, to_do, estimated, measured
        now = monotonic()
        for other in [other for other in waiting if took(other) is not None]:
            del waiting[other]
            if at_work.pop(other, None) is None:  # it turned out to be finished already
                number, to_do = number + 1, to_do - other.cost
            else:
                estimated, measured = estimated + other.cost, measured + (took(other) or 0.0)
        pace = (measured + _UNMEASURED) / (estimated + _UNMEASURED)
        # The number of parallel stages may be smaller, as on a GPU, or larger, as on a cluster.
        busy = measured + sum(now - begun for begun in at_work.values())
        side = (busy + _UNMEASURED) / (now - start + _UNMEASURED / workers)
        minutes = pace * (to_do - estimated) / 60 / side
        number, at_work[stage] = number + 1, now
        return f"[{number}/{total}, about {minutes:.0f} min left] {stage.name}"

    times = TimeElapsedColumn(), TimeRemainingColumn()
    with bar("{task.description}", BarColumn(), MofNCompleteColumn(), *times) as progress:
        if progress.disable:
            yield lambda stage: tell(counted(stage)), lambda count: None
            return
        inside = progress.add_task("", visible=False)

        def begun(stage: Stage) -> None:
            nonlocal inside
            progress.remove_task(inside)
            inside = progress.add_task(
                counted(stage), total=stage.size or None, visible=inner and workers == 1
            )

        yield begun, lambda count: progress.advance(inside, count)


def _show_plan(configured: Experiment) -> None:
    from symbouq.experiments.experiment import MACHINES

    left = 0.0
    for state in configured.run.states():
        estimate = "made"
        if not state.done:
            left += state.stage.cost
            estimate = f"about {state.stage.cost:.0f} s" if state.stage.cost >= 1 else "seconds"
        say(f"{state.stage.name}: {estimate}")
    for shortage in configured.shortages():
        say(f"{shortage}; --allow-smaller accepts this")
    machine = MACHINES[configured.config.generation.engine]
    minutes = round(left / 60 / configured.config.workers)
    say(f"about {minutes:,} minute{'' if minutes == 1 else 's'} on {machine}")


@experiment.command()
@_configured
@option("--gpus", metavar="N", type=click.IntRange(1), help="GPUs of the machine that will run it.")
@option(
    "--gpu-memory",
    metavar="GB",
    type=click.FloatRange(0, min_open=True),
    help="Memory of each GPU.  [default: this machine's, or 80 GB]",
)
@option(
    "--rates",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Rates measured by experiments/gpu_check.py.",
)
def check(
    config: Path,
    out: Path | None,
    data: Path | None,
    gpus: int | None,
    gpu_memory: float | None,
    rates: Path | None,
    **_: Any,
) -> None:
    """Predict what would fail in a run of CONFIG: access, tokenizers, context, memory, disk, hours.

    Also finds work whose results are never used. Needs no GPU and loads no model. Each failure
    names the setting to change. Exit code 1 if something would fail, otherwise 0.

    Example: symbouq experiment check experiments/paper.yaml --gpus 4 --gpu-memory 80
    """
    from symbouq.experiments import check as checking
    from symbouq.experiments.config import read_config

    configured = read_config(config)
    measured = checking.read_rates(rates) if rates else None
    folder = out or Path("runs") / configured.name
    where = checking.machine(configured, folder, gpus, gpu_memory)
    counts: Counter[str] = Counter()
    found = checking.check(configured, where, data, measured)
    for finding in sorted(found, key=lambda finding: checking.KINDS.index(finding.kind)):
        say(finding)
        counts[finding.kind] += 1
    tell(f"{counts['failure']} failures, {counts['warning']} warnings")
    if counts["failure"]:
        raise click.exceptions.Exit(1)


@experiment.command()
@_configured
def status(**options: Any) -> None:
    """List the finished stages of CONFIG and how long they took.

    Example: symbouq experiment status experiments/smoke.yaml
    """
    for state in _experiment(**options).run.states():
        progress = f"made in {state.seconds:.1f} s" if state.done else "to do"
        say(f"{state.stage.name}: {progress}")


@experiment.command("list")
def list_views() -> None:
    """List the tables and figures.

    Example: symbouq experiment list
    """
    for kind, views in _views().items():
        say(f"{kind}:")
        for name, make in views.items():
            summary = " ".join((make.__doc__ or "").split()).partition(". ")[0].rstrip(".")
            say(f"  {name:<16} {summary}")


def _views() -> dict[str, dict[str, Callable[[Results], Any]]]:
    from symbouq.experiments.figures import FIGURES
    from symbouq.experiments.tables import TABLES

    return {"tables": TABLES, "figures": FIGURES}


def _chosen(kind: str, name: str) -> list[str]:
    """Return the tables or figures with the given name, or all of them for `all`.

    Raises:
        click.UsageError: If no table or figure has this name.
    """
    views = _views()[kind]
    if name != "all" and name not in views:
        raise click.UsageError(f"there is no {kind[:-1]} {name}; there are {', '.join(views)}")
    return [*views] if name == "all" else [name]


def _name(kind: str) -> Callable[..., Any]:
    """Create the argument NAME, with shell completion for names of tables or figures."""

    def complete(_context: click.Context, _argument: click.Parameter, begun: str) -> list[str]:
        return [name for name in _views()[kind] if name.startswith(begun)]

    return click.argument("name", shell_complete=complete)


@experiment.command()
@_name("tables")
@_configured
@option("--form", type=click.Choice([*_ENDINGS]), default="markdown", help="Format of the table.")
@option(
    "--to", metavar="DIR", type=_FOLDER, help="Write files into this folder instead of printing."
)
def table(name: str, form: str, to: Path | None, **options: Any) -> None:
    """Print the table NAME of the experiment of CONFIG, or every table with `all`.

    Example: symbouq experiment table result experiments/smoke.yaml --form latex
    """
    names = _chosen("tables", name)
    results = _results(_experiment(**options))
    if to is not None:
        _write_tables(results, names, to, form)
        return
    for text in _tables(results, names, form):
        click.echo(text + ("\n" if name == "all" else ""))


@experiment.command()
@_name("figures")
@_configured
@option("--form", type=click.Choice(["png", "svg"]), default="png", help="File format.")
@option(
    "--to",
    metavar="DIR",
    type=_FOLDER,
    default=Path(),
    show_default="the current one",
    help="Output folder.",
)
def figure(name: str, form: str, to: Path, **options: Any) -> None:
    """Draw the figure NAME of the experiment of CONFIG, or every figure with `all`.

    Example: symbouq experiment figure risk-coverage experiments/smoke.yaml --form svg
    """
    names = _chosen("figures", name)
    _draw(_results(_experiment(**options)), names, to, form)


def _results(configured: Experiment) -> Results:
    from symbouq.experiments.results import Results

    return Results(configured)


def _tables(results: Results, names: Sequence[str], form: str) -> Iterator[str]:
    from symbouq.experiments.rendering import rendered
    from symbouq.experiments.tables import TABLES

    for name in names:
        yield rendered(TABLES[name](results), form, results.footer)


def _write_tables(results: Results, names: Sequence[str], folder: Path, form: str) -> None:
    from symbouq.io.output import replacing

    folder.mkdir(parents=True, exist_ok=True)
    for name, text in zip(names, _tables(results, names, form), strict=True):
        file = folder / f"{name}.{_ENDINGS[form]}"
        with replacing(file) as stream:
            stream.write(text.encode() + b"\n")
        tell(file)


def _draw(results: Results, names: Sequence[str], folder: Path, form: str) -> None:
    from symbouq.experiments.figures import FIGURES

    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        drawn = FIGURES[name](results)
        drawn.supxlabel(results.footer, fontsize=6, color="gray", wrap=True)
        file = folder / f"{name}.{form}"
        drawn.savefig(file, dpi=150)
        tell(file)


def _experiment(
    config: Path,
    out: Path | None,
    data: Path | None,
    allow_smaller: bool,
    processes: int | None = None,
) -> Experiment:
    from symbouq.experiments.config import read_config
    from symbouq.experiments.experiment import Experiment

    configured = read_config(config)
    folder = out or Path("runs") / configured.name
    return Experiment(configured, folder, data, processes, allow_smaller)
