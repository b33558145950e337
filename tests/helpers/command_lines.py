"""Check command lines quoted in documents without running them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click
from symbouq_cli.main import main


def commands(
    command: click.Command = main, path: tuple[str, ...] = ("symbouq",)
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command and group, with the words that call it."""
    yield path, command
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from commands(inner, (*path, name))


def check(arguments: Sequence[str]) -> None:
    """Parse the words after `symbouq` as the command would, without looking for any file.

    Raises:
        click.UsageError: If the command or option does not exist, an argument is missing or
            superfluous, or an option does not accept the given value.
    """
    command: click.Command = main
    context = click.Context(main, info_name="symbouq")
    rest = list(arguments)
    while isinstance(command, click.Group):
        _, rest, _ = command.make_parser(context).parse_args(rest)
        if not rest:
            raise click.UsageError(f"{context.command_path} is no whole command")
        name, found, rest = command.resolve_command(context, rest)
        assert name and found
        context, command = click.Context(found, context, name), found
    values, extra, _ = command.make_parser(context).parse_args(rest)
    if extra:
        raise click.UsageError(f"{context.command_path}: too much: {' '.join(extra)}")
    for parameter in command.get_params(context):
        value = values.get(parameter.name)
        given = isinstance(value, str | list | tuple | bool | int) and value != ()
        if parameter.required and not given:
            raise click.MissingParameter(ctx=context, param=parameter)
        if given and not isinstance(parameter.type, click.Path):
            _convert(parameter, value, context)


def _convert(parameter: click.Parameter, value: Any, context: click.Context) -> None:
    for one in value if isinstance(value, list | tuple) else [value]:
        parameter.type.convert(one, parameter, context)
