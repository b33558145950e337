"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from symbouq.io.adapters import FORMATS

if TYPE_CHECKING:
    from symbouq.io.adapters.inputs import TraceFile

UNUSABLE = 2
FAILED_CHECKS = 3
"""Exit codes for unusable rules, options or output, and for a gate that does not hold."""


option = partial(click.option, show_default=True)
"""An option whose help shows its default."""

count_option = partial(option, metavar="N", type=click.IntRange(min=1))
file_option = partial(option, metavar="FILE", type=click.Path(exists=True, dir_okay=False))
output_option = partial(option, metavar="FILE", type=click.Path(dir_okay=False))
"""Options for a number from 1 up, for an existing file, and for an output file."""


class _Source(click.Path):
    """An existing path, `-`, or a URI. A URI is checked only when the files are read."""

    def convert(self, value: Any, param: Any, context: Any) -> Any:
        return value if "://" in value else super().convert(value, param, context)


TRACES = click.argument(
    "files", nargs=-1, required=True, metavar="FILES...", type=_Source(exists=True, allow_dash=True)
)
"""Trace files in any format, with `reading_options`. Each may also be a folder or a URI."""
TRACE = click.argument("file", type=click.Path(exists=True, allow_dash=True))
"""One trace file in any format, with `reading_options`."""


def _profiles(context: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """Complete profile names in the shell. If `--ontology` was already given, use its profiles."""
    from symbouq.ontology.library import OntologyLibrary

    library = OntologyLibrary(context.params.get("ontology"))
    names = (profile.replace("_", "-") for profile in library.profiles)
    return [name for name in names if name.startswith(begun)]


PROFILE = option(
    "--profile",
    metavar="NAME",
    help="Profile; overrides the trace's own and the default.",
    shell_complete=_profiles,
)
ONTOLOGY = option(
    "--ontology",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Folder of .lp files that extends or replaces the built-in ontology.",
)
PIPELINE = option(
    "--pipeline",
    metavar="NAME",
    help="English spaCy pipeline that parses open text. `symbouq doctor` shows the default.",
)
CONTEXT = option(
    "--context",
    type=click.Choice(["assumed", "grounded", "non-committal"]),
    default="assumed",
    help="Context whose verdicts the profile, features and Constraint-Rule use.",
)
ANSWERS = option(
    "--answers",
    type=click.Choice(["answer", "relation"]),
    default="answer",
    help="How to judge a conclusion: as an answer to the question if it states no relation, or, "
    "like the paper, only by its relations. In the latter case, every claim with relations "
    "is a premise of later ones.",
)
CONTINUED = output_option(
    "--out",
    required=True,
    help="Output file. A stopped run resumes from it.",
)
JOBS = count_option("--jobs", help="Number of processes.  [default: all cores]")
TIMEOUT = option(
    "--timeout",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    default=10,
    help="Time limit per record; 0 for none. An audit keeps what it decided by then.",
)
ENGINE = option(
    "--engine",
    type=click.Choice(["builtin", "ray"]),
    default="builtin",
    help="Run on processes of this machine, or on a Ray cluster (RAY_ADDRESS, or a local one) "
    "with --jobs workers.",
)
_SHARDS = option(
    "--shards",
    metavar="DIR",
    help="With --engine ray, instead of --out: write one compressed file per input file into "
    "this folder or URI; finished ones are skipped.",
)
REPORT = output_option(
    "--report",
    help="Also write a self-contained HTML report.",
)
ENDPOINT = option(
    "--endpoint",
    metavar="URL",
    help="Server with OpenAI's chat completions API, such as http://localhost:8000/v1. The key "
    "comes from SYMBOUQ_API_KEY or OPENAI_API_KEY.",
)
EXAMPLES = option(
    "--examples",
    default=3,
    type=click.IntRange(min=0),
    help="Number of flips to print per kind.",
)
_Command = Callable[..., Any]


def together(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Combine several options into one decorator, in the order of the help."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


class _Format(click.Choice[str]):
    """The name of a format, or a file that declares one."""

    def convert(self, value: Any, param: Any, context: Any) -> Any:
        if str(value).endswith(".toml"):
            return click.Path(exists=True, dir_okay=False).convert(value, param, context)
        return super().convert(value, param, context)


reading_options = together(
    option(
        "--format",
        "form",
        type=_Format(FORMATS),
        help="Format of the files, or a .toml file that declares it.  [default: detected per file]",
    ),
    option(
        "--map",
        "maps",
        multiple=True,
        metavar="FIELD=SOURCE",
        help="Fill a trace field (or `prompt`) from a field of the file; use a dotted path for "
        "nested fields; may be repeated.",
    ),
    option(
        "--prompt-split",
        metavar="REGEX",
        help="Regular expression that splits a prompt, with the groups (?P<scene>...) and "
        "(?P<question>...).  [default: the last question and the text before it]",
    ),
    file_option("--batch-input", help="Input file of the batch."),
    option(
        "--items",
        metavar="PATH",
        help="Path to the records in a file that is one JSON object, such as `results.rows`; `*` "
        "stands for each item of a list.",
    ),
)
"""Options for how trace files are read; `traced` uses them."""

parsing_options = together(PROFILE, ONTOLOGY, PIPELINE)
"""Options that determine how text is parsed."""

engine_options = together(JOBS, TIMEOUT, ENGINE, _SHARDS)
"""Options for where a job runs; `symbouq_cli.run.run` uses them."""


def printing_option(things: str, *forms: str) -> Callable[[_Command], _Command]:
    """Create the option `--format` for a command that prints the given things. The first form is
    the default.
    """
    return option(
        "--format",
        "form",
        type=click.Choice(forms),
        default=forms[0],
        help=f"How to print the {things}.",
    )


def out_option(default: str) -> Callable[[Any], Any]:
    """Create the option `--out` with the given default. `symbouq.io.output.record_output` accepts
    its value.
    """
    return option(
        "--out",
        metavar="FILE",
        default=default,
        type=click.Path(dir_okay=False, allow_dash=True),
        help="Output file; - is standard output, a name in .gz is compressed, one in .parquet "
        "is a table.",
    )


def finish(code: int | bool) -> None:
    """End the command with an exit code. True stands for 1: some records failed, faults were found,
    or the compared items differ.
    """
    click.get_current_context().exit(int(code))


def traced(files: Sequence[str], options: dict[str, Any]) -> tuple[TraceFile, ...]:
    """Return the files with their reading options. The options in `reading_options` are removed
    from `options`.

    Raises:
        SymboUQError: If an option or a file cannot be used.
    """
    from symbouq.io.adapters.choice import read_options, trace_files

    names = ("form", "maps", "prompt_split", "batch_input", "items")
    return trace_files(files, read_options(*(options.pop(name) for name in names)))
