"""`symbouq experiment`: whole runs from a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from symbouq.experiments.bank import Bank

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
def run(config: Path, out: Path | None, data: Path | None, dry_run: bool) -> None:
    """Run the experiment of CONFIG; what is made already is not made again.

    Example: symbouq experiment run experiments/bank.yaml --data benchmarks
    """
    bank = _bank(config, out, data)
    if dry_run:
        _plan(bank)
        return
    total = len(bank.stages)
    made = sum(state.done for state in bank.run.states())
    started = iter(range(made + 1, total + 1))
    bank.run.make(lambda stage: click.echo(f"[{next(started)}/{total}] {stage.name}", err=True))
    click.echo(f"{bank.run.folder}: {total} stages are made", err=True)


@experiment.command()
@CONFIG
@OUT
@DATA
def status(config: Path, out: Path | None, data: Path | None) -> None:
    """Say which stages of CONFIG are made, and how long they took.

    Example: symbouq experiment status experiments/bank.yaml
    """
    for state in _bank(config, out, data).run.states():
        told = f"made in {state.seconds:.1f} s" if state.done else "to do"
        click.echo(f"{state.stage.name}: {told}")


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
def table(name: str, config: Path, out: Path | None, data: Path | None, form: str) -> None:
    """Print the table NAME of the experiment of CONFIG.

    Example: symbouq experiment table scorers experiments/bank.yaml
    """
    from symbouq.experiments.tables import TABLES, rendered

    if name not in TABLES:
        raise click.UsageError(f"there is no table {name}; there are {', '.join(TABLES)}")
    click.echo(rendered(TABLES[name](_bank(config, out, data)), form))


def _bank(config: Path, out: Path | None, data: Path | None) -> Bank:
    from symbouq.experiments.bank import Bank
    from symbouq.experiments.config import read_config

    read = read_config(config)
    return Bank(read, out or Path("runs") / read.name, data)


def _plan(bank: Any) -> None:
    left = 0.0
    for state in bank.run.states():
        if state.done:
            told = "made"
        else:
            left += state.stage.cost
            told = f"about {state.stage.cost:.0f} s" if state.stage.cost >= 1 else "seconds"
        click.echo(f"{state.stage.name}: {told}")
    click.echo(f"about {left / 60:.0f} minutes on two CPU cores")
