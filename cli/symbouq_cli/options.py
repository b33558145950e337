"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

FILES = click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="FILES...",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
)
FILE = click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
PROFILE = click.option(
    "--profile", metavar="NAME", help="Profile, in place of the trace's own or the default one."
)
ONTOLOGY = click.option(
    "--ontology",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Folder of .lp files that extends or replaces the built-in ontology.",
)
CONTEXT = click.option(
    "--context",
    type=click.Choice(["assumed", "grounded"]),
    default="assumed",
    show_default=True,
    help="Which verdicts feed profile, features and Constraint-Rule.",
)
JOBS = click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes; all cores by default."
)


def out_option(default: str) -> Callable[[Any], Any]:
    """`--out` with a default."""
    return click.option(
        "--out",
        metavar="FILE",
        default=default,
        show_default=True,
        type=click.Path(dir_okay=False, allow_dash=True),
        help="Where to write; - is standard output, a name in .gz is compressed.",
    )
