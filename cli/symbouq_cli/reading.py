"""The options by which a language model reads the texts, and what they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symbouq_cli.options import ENDPOINT, together
from symbouq_cli.terminal import quiet_retries, tell

if TYPE_CHECKING:
    from symbouq.auditing.collecting import Tally
    from symbouq.io.chat import Asker
    from symbouq.io.stream import Batch
    from symbouq.records import Instance

_NAMES = (
    "reader", "endpoint", "reader_model", "model_engine", "readings", "samples", "alone",
    "reply_tokens", "token_budget", "concurrency", "reply_timeout", "retries", "price",
)  # fmt: skip


def _price(_context: click.Context, _option: click.Parameter, given: str | None) -> Any:
    if given is None:
        return None
    try:
        read, written = (float(part) for part in given.split("/"))
    except ValueError as error:
        raise click.BadParameter("give READ/WRITTEN, two numbers: 0.5/1.5") from error
    return read, written


def model_options(*names: str) -> Callable[[Any], Any]:
    """The options of a language model as reader.

    Args:
        names: What the option that names the model is called.
    """
    return together(
        click.option(
            "--reader",
            type=click.Choice(["parser", "model", "both"]),
            default="parser",
            show_default=True,
            help="Who reads the texts: the parser and its rules; a language model (--endpoint, or "
            "a local one); or the model, with the parser as second opinion.",
        ),
        ENDPOINT,
        click.option(
            *names,
            "reader_model",
            metavar="NAME",
            help="The model that reads: its name at the endpoint; without one a local model's "
            "folder, or the one whose --readings are used.",
        ),
        click.option(
            "--model-engine",
            type=click.Choice(["transformers", "vllm"]),
            default="transformers",
            show_default=True,
            help="What runs a local model.",
        ),
        click.option(
            "--readings",
            metavar="FILE",
            default="readings.jsonl",
            show_default=True,
            type=click.Path(dir_okay=False),
            help="Where the model's replies are kept, and taken from where they are there.",
        ),
        click.option(
            "--samples",
            type=click.IntRange(min=1),
            default=2,
            show_default=True,
            metavar="N",
            help="How often the model is asked the same; what it does not repeat is uncertain.",
        ),
        click.option(
            "--alone",
            is_flag=True,
            help="Show the model each sentence alone: no other can tell how it is read, and "
            "pronouns refer to nothing. For small models, and texts that are not trusted.",
        ),
        click.option(
            "--reply-tokens",
            type=click.IntRange(min=1),
            default=8192,
            show_default=True,
            metavar="N",
            help="Most tokens of one reply.",
        ),
        click.option(
            "--token-budget",
            type=click.IntRange(min=1),
            metavar="N",
            help="Most tokens of the run, read and written; then no more is asked.",
        ),
        click.option(
            "--concurrency",
            type=click.IntRange(min=1),
            default=8,
            show_default=True,
            metavar="N",
            help="Requests at a time.",
        ),
        click.option(
            "--reply-timeout",
            type=click.FloatRange(min=0, min_open=True),
            default=120,
            show_default=True,
            metavar="SECONDS",
            help="Time that a reply of the endpoint may take.",
        ),
        click.option(
            "--retries",
            type=click.IntRange(min=0),
            default=5,
            show_default=True,
            metavar="N",
            help="How often a request is made again where its fault may pass.",
        ),
        click.option(
            "--price",
            metavar="READ/WRITTEN",
            callback=_price,
            help="What a million tokens cost, to show what the run costs: 0.5/1.5.",
        ),
    )


@contextmanager
def readings(
    options: dict[str, Any], kind: type[Instance], files: Sequence[str], *outputs: str | None
) -> Iterator[Callable[[Batch], Batch]]:
    """What adds a language model's readings to the lines of a run; takes the options of
    `model_options` out of the rest.

    Args:
        options: The options of the command, with `profile`, `ontology` and `pipeline`.
        kind: The kind of records.
        files: The input files.
        outputs: What the command writes.

    Raises:
        click.UsageError: If the options do not go together.
        SymboUQError: If the file of readings, the ontology or the endpoint cannot be used.
    """
    from symbouq.io.stream import as_it_is

    given = {name: options.pop(name) for name in _NAMES}
    if given["reader"] == "parser":
        if given["endpoint"] or given["reader_model"]:
            raise click.UsageError("a model reads with --reader model, or --reader both")
        yield as_it_is
        return
    from symbouq_cli.run import refuse_overwriting, same_file

    kept = given["readings"]
    refuse_overwriting(files, kept, "--readings")
    if any(out not in (None, "-") and same_file(kept, out) for out in outputs):
        raise click.UsageError(f"--readings {kept} is another output of the command as well")
    from symbouq.auditing.auditor import TraceAuditor
    from symbouq.auditing.collecting import Collecting, Collector
    from symbouq.io.readings import ReadingsFile

    asker = _asker(given)
    how = Collecting(
        second_opinion=given["reader"] == "both",
        samples=given["samples"],
        most=given["reply_tokens"],
        budget=given["token_budget"],
        concurrency=given["concurrency"],
        alone=given["alone"],
    )
    auditor = TraceAuditor(options["profile"], options["ontology"], pipeline=options["pipeline"])
    with ExitStack() as stack:
        file = stack.enter_context(ReadingsFile(kept, asker is not None))
        model = asker.model if asker is not None else _only(given, file.models)
        show = stack.enter_context(_progress(given["price"]))
        collector = Collector(auditor, file, model, asker, how, kind, show)
        with collector:
            try:
                yield collector.batch
            except KeyboardInterrupt:
                tell("interrupted; replies that are under way are waited for and kept")
                raise
    tell(_summary(model, collector.tally, given["price"]))


def _asker(given: dict[str, Any]) -> Asker | None:
    """What asks the model; None where readings are taken from the file alone."""
    name = given["reader_model"]
    if given["endpoint"]:
        if not name:
            raise click.UsageError(f"--endpoint needs the model's name there: {_named()} NAME")
        from symbouq.io.endpoint import Endpoint

        quiet_retries()
        return Endpoint(given["endpoint"], name, given["reply_timeout"], given["retries"])
    if name and Path(name).is_dir():
        from symbouq.errors import missing_extra

        try:
            from symbouq.evidence.generation.asking import EngineAsker
            from symbouq.evidence.generation.models import find_model
        except ImportError as error:
            raise missing_extra("models", error) from error
        model = find_model(name)
        load = partial(_engine, given["model_engine"], name)
        return EngineAsker(f"{model.name}-{model.hash[:8]}", load)
    return None


def _engine(engine: Any, model: str) -> Any:
    from symbouq.evidence.generation.engines import load_engine

    return load_engine(engine, model)


def _only(given: dict[str, Any], models: list[str]) -> str:
    """The model whose readings of a file are used.

    Raises:
        click.UsageError: If it is not clear which.
    """
    name, file = given["reader_model"], given["readings"]
    if name is None and len(models) == 1:
        return models[0]
    if name in models:
        return str(name)
    has = f"{file} has readings by {', '.join(models)}" if models else f"{file} has no readings"
    if name is None:
        raise click.UsageError(f"--reader model needs {_named()} NAME: {has}")
    raise click.UsageError(f"{has}, none by {name}: who is to be asked, --endpoint URL?")


def _named() -> str:
    """What the option that names the model is called in this command."""
    options = click.get_current_context().command.params
    return next(option.opts[0] for option in options if option.name == "reader_model")


def _summary(model: str, tally: Tally, price: tuple[float, float] | None) -> str:
    parts = [f"read by {model}: {tally.traces} traces"]
    parts += [f"{tally.failed} not read"] if tally.failed else []
    parts.append(f"{tally.asked} replies asked for, {tally.kept} there before")
    if tally.other:
        parts.append(f"{tally.other} of these by another version of prompt or ontology")
    parts.append(f"{tally.prompt_tokens:,} tokens read, {tally.reply_tokens:,} written")
    if price is not None:
        parts.append(f"cost {_cost(tally, price):.2f}")
    return "; ".join(parts)


def _cost(tally: Tally, price: tuple[float, float]) -> float:
    return (tally.prompt_tokens * price[0] + tally.reply_tokens * price[1]) / 1_000_000


@contextmanager
def _progress(price: tuple[float, float] | None) -> Iterator[Callable[[Tally], None]]:
    """Shows the tally on a terminal as it changes, nothing elsewhere."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda tally: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None, state="reading")

        def show(tally: Tally) -> None:
            state = f"{tally.traces} traces read, {tally.asked} replies, {tally.tokens:,} tokens"
            state += f", {tally.failed} failed" if tally.failed else ""
            state += f", cost {_cost(tally, price):.2f}" if price is not None else ""
            progress.update(task, state=state)

        yield show
