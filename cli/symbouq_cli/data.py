"""`symbouq data`: import benchmarks from their releases.

Exit codes: 0 everything was read, 1 some rows failed, 2 nothing could be imported.
"""

from __future__ import annotations

from typing import Any

import click

from symbouq_cli.options import finish, option
from symbouq_cli.terminal import say, tell

SHOWN = 20
"""Number of failures that are printed. Their total is always given."""


@click.group()
def data() -> None:
    """Import the paper's benchmarks, and list them.

    Example: symbouq data import stepgame StepGame/Dataset/TrainVersion --out stepgame
    """


def _benchmarks(_context: click.Context, _argument: click.Parameter, begun: str) -> list[str]:
    from symbouq.experiments.benchmarks.catalog import BENCHMARKS

    return [name for name in BENCHMARKS if name.startswith(begun)]


@data.command("import")
@click.argument("name", shell_complete=_benchmarks)
@click.argument("path")
@option(
    "--out", metavar="DIR", required=True, type=click.Path(file_okay=False), help="Where to write."
)
@option(
    "--split",
    metavar="HOW",
    default="paper",
    help="paper (the paper's sizes), source (as released), none, or sizes such as "
    "validation=100,test=500.",
)
@option("--reduce", metavar="NAME", help="Reduced answer space; see `symbouq data list`.")
@option("--seed", default=0, help="Seed of the selection of scenes.")
@option("--pool", is_flag=True, help="Draw from all rows and ignore the release's splits.")
@option(
    "--overlap",
    type=click.Choice(["refuse", "drop"]),
    default="refuse",
    help="If a scene is in two splits of the release: refuse, or drop it from the earlier split.",
)
@option(
    "--suffix",
    type=click.Choice([".jsonl", ".jsonl.gz"]),
    default=".jsonl.gz",
    help="Suffix of the files.",
)
def import_(name: str, path: str, out: str, **options: Any) -> None:
    """Import benchmark NAME from PATH: a file, a folder or a Hugging Face dataset.

    PATH contains the benchmark's official release, or records in SymboUQ's own format. Writes one
    file of records per split and manifest.json with counts and hashes, and removes splits of an
    earlier import. All questions of a scene are in one split.

    Example: symbouq data import stepgame StepGame/Dataset/TrainVersion --out stepgame
    """
    from symbouq.experiments.benchmarks import import_benchmark

    imported = import_benchmark(name, path, out, **options)
    manifest, failed = imported.manifest, imported.failed
    for failure in failed[:SHOWN]:
        tell(failure)
    if len(failed) > SHOWN:
        tell(f"and {len(failed) - SHOWN} more rows that failed")
    for file in imported.skipped:
        tell(f"not read: {file}")
    for note in manifest["notes"]:
        tell(f"note: {note}")
    rows = manifest["rows"]
    say(f"{rows['read']} rows read, {rows['failed']} failed")
    if manifest["reduction"]:
        say(f"{rows['reduced_away']} rows have no answer in {manifest['reduction']}")
    for split, entry in manifest["splits"].items():
        say(f"{split}: {entry['rows']} rows, {entry['scenes']} scenes -> {entry['file']}")
    finish(len(failed) > 0)


@data.command("list")
def list_() -> None:
    """List the known benchmarks with their answer spaces, reductions and sizes.

    Example: symbouq data list
    """
    from symbouq.experiments.benchmarks.catalog import BENCHMARKS, LAYOUTS

    for benchmark in BENCHMARKS.values():
        say(f"{benchmark.name}: {benchmark.title}")
        for kind, labels in benchmark.spaces.items():
            say(f"  answers ({kind}): {', '.join(labels)}")
        for reduction in benchmark.reductions:
            say(f"  --reduce {reduction.name}: {reduction.says}")
        if benchmark.sizes:
            sizes = ", ".join(f"{split} {size}" for split, size in benchmark.sizes.items())
            say(f"  paper: {sizes}")
        for layout in benchmark.layouts:
            say(f"  reads: {LAYOUTS[layout].expected}")
        if benchmark.hub:
            say(f"  Hugging Face: {', '.join(benchmark.hub)}")
        if benchmark.note:
            say(f"  note: {benchmark.note}")
