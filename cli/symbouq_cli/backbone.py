"""`symbouq backbone`: small language models, trained from nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symbouq_cli.terminal import tell

if TYPE_CHECKING:
    from symbouq.records import Instance


@click.group()
def backbone() -> None:
    """Train small language models that reason, rightly and wrongly, about generated scenes.

    Example: symbouq backbone train --size tiny --out backbones/tiny
    """


@backbone.command()
@click.option(
    "--out",
    metavar="DIR",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to write the model.",
)
@click.option(
    "--size",
    type=click.Choice(["small", "tiny"]),
    default="small",
    show_default=True,
    help="Width and depth of the model.",
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    default=3000,
    show_default=True,
    help="Steps of training.",
)
@click.option("--rate", default=2e-2, show_default=True, help="Peak learning rate.")
@click.option(
    "--seed", default=2026, show_default=True, help="Decides weights, scenes and their order."
)
@click.option(
    "--hops",
    multiple=True,
    type=click.IntRange(1, 3),
    help="Facts that an answer takes; may be repeated.  [default: 1, 2 and 3]",
)
@click.option(
    "--wordings",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Training split of a benchmark, whose sentences word half of the directions.",
)
@click.option(
    "--threads", type=click.IntRange(min=1), help="Threads of one process.  [default: all cores]"
)
def train(
    out: Path,
    size: str,
    steps: int,
    rate: float,
    seed: int,
    hops: tuple[int, ...],
    wordings: str | None,
    threads: int | None,
) -> None:
    """Train a model and write it as a folder that transformers and vLLM load.

    3,000 steps take about ten minutes on one core for `tiny`, half an hour for `small`.

    Example: symbouq backbone train --out backbones/small
    """
    from symbouq.errors import missing_extra

    try:
        import torch

        from symbouq.experiments.backbones.corpus import wordings_of
        from symbouq.experiments.backbones.training import SIZES, Plan
        from symbouq.experiments.backbones.training import train as trained
    except ImportError as error:
        raise missing_extra("models", error) from error

    if threads:
        torch.set_num_threads(threads)
    texts = wordings_of(_instances(wordings)) if wordings else None

    def watch(step: int, loss: float) -> None:
        if step % 50 == 0 or step == steps:
            tell(f"step {step} of {steps}: loss {loss:.3f}")

    model = trained(
        Plan(SIZES[size], steps, rate=rate, seed=seed, hops=hops or (1, 2, 3)), out, texts, watch
    )
    tell(f"{out}: {model.num_parameters():,} parameters")


def _instances(path: str) -> Iterator[Instance]:
    """The records of a file.

    Raises:
        RecordError: At the first that cannot be read.
    """
    from symbouq.errors import RecordError
    from symbouq.io.stream import read_lines
    from symbouq.records import Instance, parse_record

    for line in read_lines(path):
        if isinstance(line, RecordError):
            raise line
        yield parse_record(Instance, line.content, line.file, line.number)
