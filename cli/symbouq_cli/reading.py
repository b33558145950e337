"""Options for reading text with a language model, and the objects that are created from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from symbouq_cli.options import (
    ENDPOINT,
    TRACES,
    engine_options,
    option,
    out_option,
    parsing_options,
    reading_options,
    together,
)
from symbouq_cli.terminal import bar, quiet_retries, tell

_EVERY = 30
"""Seconds between two progress lines if there is no terminal."""

if TYPE_CHECKING:
    from symbouq.auditing.collecting import Tally
    from symbouq.io.chat import Asker
    from symbouq.io.settings import ReaderSettings
    from symbouq.io.stream import Batch
    from symbouq.records import Instance


def model_options(*names: str) -> Callable[[Any], Any]:
    """Create the options for a language model as reader.

    Args:
        names: Names of the option for the model.
    """
    return together(
        option(
            "--reader",
            type=click.Choice(["parser", "model", "both"]),
            default="parser",
            help="Read text with the parser, with a language model (local or --endpoint), or "
            "with the model and the parser as second opinion.",
        ),
        ENDPOINT,
        option(
            *names,
            "reader_model",
            metavar="NAME",
            help="Model that reads: its name at the endpoint, a local folder, or the model "
            "whose stored readings to use.",
        ),
        option(
            "--reader-settings",
            metavar="FILE",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="Settings of the model reader, a YAML file with `readings`, `samples`, `price` "
            "and others.",
        ),
    )


records_command = together(
    TRACES,
    out_option("-"),
    parsing_options,
    model_options("--model"),
    reading_options,
    engine_options,
)
"""Argument and options of a command that makes one record from each trace."""


@contextmanager
def readings(
    options: dict[str, Any], kind: type[Instance], files: Sequence[str], *outputs: str | None
) -> Iterator[Callable[[Batch], Batch]]:
    """Yield a function that adds a language model's readings to the lines of a run. The options in
    `model_options` are removed from `options`.

    Args:
        options: The options of the command, with `profile`, `ontology` and `pipeline`.
        kind: Type of the records.
        files: The input files.
        outputs: Output files of the command.

    Raises:
        click.UsageError: If the options cannot be combined.
        SymboUQError: If the file of readings, the ontology or the endpoint cannot be used.
    """
    from symbouq.io.stream import as_it_is

    reader, endpoint, name, file = (
        options.pop(key) for key in ("reader", "endpoint", "reader_model", "reader_settings")
    )
    if reader == "parser":
        if endpoint or name or file:
            raise click.UsageError("a model reads with --reader model, or --reader both")
        yield as_it_is
        return
    from symbouq.io.settings import ReaderSettings, read_settings
    from symbouq_cli.run import refuse_overwriting, same_file

    settings = read_settings(file, ReaderSettings) if file else ReaderSettings()
    if settings.ask == "undecided" and reader != "both":
        raise click.UsageError("`ask: undecided` needs --reader both: the parser decides the rest")
    kept = settings.readings
    refuse_overwriting([*files, *([str(file)] if file else [])], kept, "the file of readings")
    if any(out not in (None, "-") and same_file(kept, out) for out in outputs):
        raise click.UsageError(f"the file of readings, {kept}, is another output of the command")
    from symbouq.auditing.auditor import TraceAuditor
    from symbouq.auditing.collecting import Collector
    from symbouq.io.readings import ReadingsFile

    asker = _asker(endpoint, name, settings)
    auditor = TraceAuditor(options["profile"], options["ontology"], pipeline=options["pipeline"])
    with ExitStack() as stack:
        there = stack.enter_context(ReadingsFile(kept, asker is not None))
        model = asker.model if asker is not None else _only(name, kept, there.models)
        show = stack.enter_context(_progress(settings.price))
        collector = Collector(auditor, there, model, asker, settings, reader == "both", kind, show)
        with collector:
            try:
                yield collector.batch
            except KeyboardInterrupt:
                tell("interrupted; waiting for running replies, which are kept")
                raise
    tell(_summary(model, collector.tally, settings.price))


def _asker(endpoint: str | None, name: str | None, settings: ReaderSettings) -> Asker | None:
    """Return the client for the model; None if readings come from the file only."""
    if endpoint:
        if not name:
            raise click.UsageError(f"--endpoint needs the model's name there: {_named()} NAME")
        from symbouq.io.endpoint import Endpoint

        quiet_retries()
        return Endpoint(endpoint, name, settings.reply_timeout, settings.retries)
    if name and Path(name).is_dir():
        from symbouq.errors import extra

        with extra("models"):
            from symbouq.evidence.generation.asking import EngineAsker
            from symbouq.evidence.generation.engines import load_engine
            from symbouq.evidence.generation.models import find_model
        model = find_model(name)
        load = partial(load_engine, settings.engine, name)
        return EngineAsker(f"{model.name}-{model.hash[:8]}", load)
    return None


def _only(name: str | None, file: str, models: list[str]) -> str:
    """Return the name of the model to take readings from.

    Raises:
        click.UsageError: If the model is not given and cannot be determined, or has no readings in
            the file.
    """
    if name is None and len(models) == 1:
        return models[0]
    if name in models:
        return str(name)
    has = f"{file} has readings by {', '.join(models)}" if models else f"{file} has no readings"
    if name is None:
        raise click.UsageError(f"--reader model needs {_named()} NAME: {has}")
    raise click.UsageError(f"{has}, none by {name}; to ask a model, give --endpoint URL")


def _named() -> str:
    """Return the name of this command's option for the model."""
    options = click.get_current_context().command.params
    return next(option.opts[0] for option in options if option.name == "reader_model")


def _summary(model: str, tally: Tally, price: tuple[float, float] | None) -> str:
    parts = [f"read by {model}: {tally.traces} traces"]
    parts += [f"{tally.failed} not read"] if tally.failed else []
    parts.append(f"{tally.asked} replies requested, {tally.kept} already stored")
    if tally.left:
        parts.append(f"{tally.left} claims decided by the parser")
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
    """Show the tally: on a terminal, whenever it changes; elsewhere, in an occasional line."""
    from rich.progress import SpinnerColumn, TimeElapsedColumn

    with bar(SpinnerColumn(), "{task.fields[state]}", TimeElapsedColumn()) as progress:
        task = progress.add_task("", total=None, state="reading")
        told = monotonic()

        def show(tally: Tally) -> None:
            state = f"{tally.traces} traces read, {tally.asked} replies, {tally.tokens:,} tokens"
            state += f", {tally.failed} failed" if tally.failed else ""
            state += f", cost {_cost(tally, price):.2f}" if price is not None else ""
            progress.update(task, state=state)
            nonlocal told
            if progress.disable and monotonic() - told >= _EVERY:
                tell(state)
                told = monotonic()

        yield show
