"""`symbouq generate`: generate reasoning traces with a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from symbouq.evidence.generation.engine import ENGINES, Options
from symbouq_cli.options import (
    CONTINUED,
    ENDPOINT,
    TRACES,
    count_option,
    file_option,
    finish,
    option,
    reading_options,
    together,
    traced,
)
from symbouq_cli.terminal import bar, quiet_retries, tell, tell_faults

if TYPE_CHECKING:
    from symbouq.evidence.generation.run import Progress
    from symbouq.records import Instance


NETWORK = together(
    option(
        "--device",
        metavar="NAME",
        help="cpu, cuda, cuda:1, ...  [default: the GPU if there is one]",
    ),
    option(
        "--dtype",
        type=click.Choice(["float32", "bfloat16", "float16"]),
        help="Number format.  [default: float32 on a CPU, the model's own on a GPU]",
    ),
    file_option(
        "--chat-template",
        help="Jinja chat template that replaces the tokenizer's own. For signals, use the one "
        "of the generation.",
    ),
)
"""Options for loading and running a network."""

engine_options = together(
    option(
        "--model",
        metavar="DIR",
        required=True,
        help="Model: a folder, a Hugging Face id (pin a commit after @), or, with --endpoint, "
        "its name there.",
    ),
    ENDPOINT,
    option(
        "--engine",
        type=click.Choice(ENGINES),
        default="transformers",
        help="Library that runs a local model.",
    ),
    count_option(
        "--batch-size",
        help="Texts per batch, reduced if memory runs out. With --endpoint: parallel requests.",
    ),
    NETWORK,
    option(
        "--raw-logprobs",
        is_flag=True,
        help="Record log-probabilities before the grammar's mask instead of after it.",
    ),
)
"""Options for loading an engine; `loading` uses them."""


text_options = together(
    option(
        "--temperature",
        type=click.FloatRange(min=0, min_open=True),
        default=1.0,
        help="Sampling temperature. The first answer is greedy.",
    ),
    option("--seed", type=int, default=0, help="Seed of the samples."),
    option("--free-form", is_flag=True, help="Generate prose instead of a JSON list of steps."),
    count_option(
        "--max-tokens",
        help="Maximum tokens of a trace.  [default: enough for every structured trace]",
    ),
    count_option("--limit", help="Use only the first instances."),
)
"""Options for the generated text."""


def loading(options: dict[str, Any]) -> Callable[[], Any]:
    """Return a function that loads the engine of a command. The options in `engine_options` are
    removed from `options`.

    The function raises a SymboUQError if the engine cannot be loaded. It may be called in another
    process.
    """
    name, model, url = (options.pop(option) for option in ("engine", "model", "endpoint"))
    names = ("device", "dtype", "batch_size", "chat_template")
    chosen = {option: options.pop(option) for option in names}
    masked = not options.pop("raw_logprobs")
    return partial(_load, name, url, model, Options(**chosen, masked_logprobs=masked))


def _load(name: Any, url: str | None, model: str, options: Any) -> Any:
    if url is not None:
        from symbouq.evidence.generation.endpoint_engine import EndpointEngine

        quiet_retries()
        return EndpointEngine(url, model, options)
    from symbouq.evidence.generation.engines import load_engine

    return load_engine(name, model, options)


@click.command()
@TRACES
@CONTINUED
@engine_options
@option(
    "--samples",
    type=click.IntRange(min=0),
    default=10,
    metavar="N",
    help="Number of extra traces sampled per instance.",
)
@text_options
@option(
    "--ray",
    is_flag=True,
    help="Generate on a Ray cluster (RAY_ADDRESS, or a local one).",
)
@count_option(
    "--jobs",
    help="With --ray: number of workers, each with the model.  [default: as many as fit]",
)
@option(
    "--gpus",
    type=click.FloatRange(min=0),
    metavar="N",
    help="With --ray: GPUs per worker.  [default: one if the cluster has GPUs]",
)
@reading_options
def generate(
    files: tuple[str, ...],
    out: str,
    ray: bool,
    jobs: int | None,
    gpus: float | None,
    **options: Any,
) -> None:
    """Let a language model reason about every instance of FILES: one trace per line.

    Records have `scene`, `question` and, for restricted answers, `answer_space`. A grammar limits
    the model to one to six short steps and a conclusion; log-probabilities are recorded. Invalid
    output is kept with its status. A stopped run resumes if you repeat the command.

    Example: symbouq generate test.jsonl.gz --model models/small --out traces.jsonl
    """
    from symbouq.evidence.generation.run import Generator, Settings, generate_on_ray
    from symbouq.evidence.generation.run import generate as run

    if not ray and (jobs is not None or gpus is not None):
        raise click.UsageError("--jobs and --gpus need --ray")
    instances, failed = asked(files, options)
    load = loading(options)
    settings = Settings(**options)
    if ray:
        steps = generate_on_ray(instances, load, settings, out, jobs, gpus)
    else:
        steps = run(instances, Generator(load(), settings), out)
    finish(not generated(steps) or failed)


def asked(files: Sequence[str], options: dict[str, Any]) -> tuple[list[Instance], bool]:
    """Return the instances in the given files that have a prompt, and whether any have none.
    Instances without a prompt are reported. The options in `reading_options` and `limit` are
    removed from `options`.
    """
    from symbouq.evidence.generation.run import read_instances

    instances, failed = read_instances(traced(files, options), options.pop("limit"))
    tell_faults(failed)
    return instances, bool(failed)


def generated(steps: Iterator[Progress]) -> bool:
    """Run all steps and report the progress. Return whether no instance failed."""
    progress = None
    with _shown() as show:
        for progress in steps:
            show(progress)
    tell(_summary(progress))
    return not (progress and progress.statuses["failed"])


def _summary(progress: Progress | None) -> str:
    if progress is None or not progress.total:
        return "no instances"
    parts = [f"{count} {status}" for status, count in progress.statuses.most_common()]
    if progress.copied:
        parts.append(f"{progress.copied} of them with placeholders of the instruction")
    parts += [f"{progress.kept} already stored"] if progress.kept else []
    if progress.tokens:
        parts.append(f"{progress.tokens} tokens at {progress.speed:.0f}/s")
    return ", ".join(parts)


@contextmanager
def _shown() -> Iterator[Callable[[Progress], None]]:
    from rich.progress import BarColumn, TimeElapsedColumn, TimeRemainingColumn

    shown = "{task.completed}/{task.total} traces", BarColumn(), "{task.fields[speed]}"
    with bar(*shown, TimeElapsedColumn(), TimeRemainingColumn()) as line:
        task = line.add_task("", total=None, speed="")

        def show(progress: Progress) -> None:
            speed = f"{progress.speed:.0f} tokens/s" if progress.tokens else ""
            line.update(task, total=progress.total, completed=progress.done, speed=speed)

        yield show
