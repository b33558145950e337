"""`symbouq generate`: reasoning traces from a language model."""

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
    option("--device", metavar="NAME", help="cpu, cuda, cuda:1; the GPU where there is one."),
    option(
        "--dtype",
        type=click.Choice(["float32", "bfloat16", "float16"]),
        help="Numbers to compute with; float32 on a CPU, the model's own on a GPU.",
    ),
    file_option(
        "--chat-template",
        help="Jinja chat template in place of the tokenizer's own; for signals that of generation.",
    ),
)
"""The options that say how a network is loaded and asked."""

engine_options = together(
    option(
        "--model",
        metavar="DIR",
        required=True,
        help="Folder of a model in the Hugging Face layout, or its id on the hub, with a commit "
        "after @ where it is pinned; with --endpoint its name there.",
    ),
    ENDPOINT,
    option(
        "--engine",
        type=click.Choice(ENGINES),
        default="transformers",
        help="What runs a local model.",
    ),
    count_option(
        "--batch-size",
        help="Texts generated side by side; fewer where memory does not suffice. Of an endpoint, "
        "requests at a time.",
    ),
    NETWORK,
    option(
        "--raw-logprobs",
        is_flag=True,
        help="Record log-probabilities before the grammar's mask, not after it.",
    ),
)
"""The options that say how an engine is loaded; `loading` takes them."""


text_options = together(
    option(
        "--temperature",
        type=click.FloatRange(min=0, min_open=True),
        default=1.0,
        help="Temperature of what is drawn; the first answer is the most probable one.",
    ),
    option("--seed", type=int, default=0, help="Decides what is drawn."),
    option("--free-form", is_flag=True, help="Prose, in place of a list of steps as JSON."),
    count_option(
        "--max-tokens", help="Most tokens of a trace; by default enough for every structured one."
    ),
    count_option("--limit", help="Only the first instances."),
)
"""The options that say what is generated."""


def loading(options: dict[str, Any]) -> Callable[[], Any]:
    """A function that loads the engine of a command; takes the options of `engine_options` out of
    the rest.

    It raises a SymboUQError where the engine cannot be loaded, and may be called in another
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
    help="Further traces of each instance, drawn at random.",
)
@text_options
@option(
    "--ray",
    is_flag=True,
    help="Generate on a Ray cluster (RAY_ADDRESS; without it, one on this machine).",
)
@count_option(
    "--jobs",
    help="With --ray: workers, each with the model; as many as there is room for by default.",
)
@option(
    "--gpus",
    type=click.FloatRange(min=0),
    metavar="N",
    help="With --ray: GPUs of each worker; by default one where the cluster has any.",
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
    """Let a language model reason about every instance of FILES: one trace a line.

    Records have `scene`, `question` and, where answers are restricted, `answer_space`. The
    model writes one to six short steps and a conclusion, held to that by a grammar, with
    the log-probabilities of its tokens. Texts that are no trace after all are written with
    their status. A run that was stopped continues when the same command is given again.

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
    """The instances of some files, and whether others have no prompt, which is told; takes the
    options of `reading_options` and `limit` out of the rest.
    """
    from symbouq.evidence.generation.run import read_instances

    instances, failed = read_instances(traced(files, options), options.pop("limit"))
    tell_faults(failed)
    return instances, bool(failed)


def generated(steps: Iterator[Progress]) -> bool:
    """Goes through a run and tells its progress; gives whether no instance failed."""
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
    parts += [f"{progress.kept} there before"] if progress.kept else []
    if progress.tokens:
        parts.append(f"{progress.tokens} tokens at {progress.speed:.0f}/s")
    return ", ".join(parts)


@contextmanager
def _shown() -> Iterator[Callable[[Progress], None]]:
    """A bar on a terminal, nothing elsewhere."""
    from rich.progress import BarColumn, TimeElapsedColumn, TimeRemainingColumn

    shown = "{task.completed}/{task.total} traces", BarColumn(), "{task.fields[speed]}"
    with bar(*shown, TimeElapsedColumn(), TimeRemainingColumn()) as line:
        task = line.add_task("", total=None, speed="")

        def show(progress: Progress) -> None:
            speed = f"{progress.speed:.0f} tokens/s" if progress.tokens else ""
            line.update(task, total=progress.total, completed=progress.done, speed=speed)

        yield show
