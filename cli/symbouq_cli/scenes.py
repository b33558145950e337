"""`symbouq scenes`: questions about generated scenes, and scenes from data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from symbouq_cli.options import (
    JOBS,
    TIMEOUT,
    TRACES,
    count_option,
    finish,
    option,
    out_option,
    parsing_options,
    reading_options,
    traced,
)
from symbouq_cli.terminal import tell_faults

_FAMILIES = ("chains", "blocks", "regions", "distances", "inference")
_FORMATS = ("geojson", "wkt", "coco", "visual-genome", "gqa", "boxes", "kitti")


@click.group()
def scenes() -> None:
    """Generate questions about scenes, or make scenes from maps and images.

    Example: symbouq scenes blocks --count 100 --out blocks.jsonl
    """


@count_option("--count", default=300, help="Number of questions.")
@option("--seed", default=2026, help="Seed of the scenes.")
@option(
    "--hops",
    multiple=True,
    type=click.IntRange(1, 3),
    help="Facts needed for the answer; may be repeated.  [default: 1, 2 and 3 in turn]",
)
@option("--sound", is_flag=True, help="Add sound reasoning as `reasoning`.")
@out_option("-")
def _family(
    family: str, count: int, seed: int, hops: tuple[int, ...], sound: bool, out: str
) -> None:
    from symbouq.experiments.scenes.families import problems
    from symbouq.io.output import record_output

    with record_output(out) as stream:
        for number, problem in enumerate(problems(family, count, seed, hops or (1, 2, 3))):
            record = problem.record(f"{family}-{seed}-{number:05d}")
            if sound:
                record |= {"reasoning": problem.reasoning, "conclusion": problem.conclusion}
            stream.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")


def _command(family: str) -> click.Command:
    """Create the command for a family, with the options that all families share."""
    command = click.command(
        family,
        help=f"Make questions of the family {family}, with the facts from which claims can be "
        f"judged.\n\nExample: symbouq scenes {family} --count 100 --out {family}.jsonl",
    )
    made = partial(_family, family)
    made.__click_params__ = _family.__click_params__  # type: ignore[attr-defined]
    return command(made)


for _name in _FAMILIES:
    scenes.add_command(_command(_name))


@scenes.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    help="Format of the file.  [default: detected]",
)
@option(
    "--tolerance",
    metavar="SHARE",
    default=0.0,
    type=click.FloatRange(0, 1, max_open=True),
    help="Share of its size by which a thing may overlap another and still count as beside it.",
)
@option(
    "--about",
    metavar="NAME",
    multiple=True,
    help="Keep only pairs with the thing of this name; may be repeated.",
)
@out_option("-")
def import_scenes(
    file: Path, form: str | None, tolerance: float, about: tuple[str, ...], out: str
) -> None:
    """Turn the map, images or 3D boxes in FILE into scenes, one per image or file.

    Maps are GeoJSON, or lines of a name, a tab and WKT. Image boxes are COCO, Visual Genome or GQA.
    3D boxes are JSON or KITTI labels. Each scene is a record with `id`, `scene` and `profile`, to
    which you add questions and responses. Scenes made from image boxes contain only directions.

    Example: symbouq scenes import city.geojson --out city.jsonl
    """
    from symbouq.errors import RecordError, extra
    from symbouq.io.output import write_records

    with extra("geo"):
        from symbouq.integrations import geometry
    faults: list[RecordError] = []

    def records() -> Iterator[dict[str, Any]]:
        for found in geometry.scenes(file, form, tolerance, about):
            if isinstance(found, RecordError):
                faults.append(found)
            else:
                yield found

    write_records(out, records())
    tell_faults(faults)
    finish(bool(faults))


def _steps(
    _context: click.Context, _option: click.Parameter, said: str | None
) -> tuple[int, int | None] | None:
    """Convert `2`, `1..3` or `1..` to the first and the last step. `1..` has no last step."""
    if said is None:
        return None
    found = re.fullmatch(r"(\d+)(\.\.(\d*))?", said)
    if found is None:
        raise click.BadParameter(f"{said!r} is not a number of steps, such as 2, 1..3 or 1..")
    first, several, last = int(found[1]), found[2], found[3]
    if last and int(last) < first:
        raise click.BadParameter(f"{said!r} ends before it begins")
    return first, (int(last) if last else None) if several else first


@scenes.command("degrade")
@TRACES
@option(
    "--hide",
    metavar="STEPS",
    callback=_steps,
    help="Number of sentences to hide: 2, or 1..3 for one, two and three; 0 is the full scene; "
    "1.. continues until the question is open.  [default: 1..]",
)
@option(
    "--blur",
    metavar="STEPS",
    callback=_steps,
    help="Instead of --hide: number of sentences to make vague, so that `A is above B` becomes "
    "`A is not below B`.",
)
@out_option("-")
@parsing_options
@reading_options
@JOBS
@TIMEOUT
def degrade(
    files: tuple[str, ...],
    hide: tuple[int, int | None] | None,
    blur: tuple[int, int | None] | None,
    out: str,
    **options: Any,
) -> None:
    """Hide scene sentences of FILES, step by step, until the question is open.

    FILES hold traces, or questions with `answer_space`. Each step is a record with one sentence
    fewer. The record states whether the question is still decided, the status of each answer, and
    which steps of the trace depend on hidden sentences. The first hidden sentence is one that the
    answer does not need, if possible; premises of the answer follow.

    Example: symbouq scenes degrade traces.jsonl --hide 1..3 --out degraded.jsonl
    """
    from symbouq.experiments.scenes.degraded import degrading
    from symbouq.io.stream import Job, Outcome
    from symbouq.records import Instance
    from symbouq_cli.run import run
    from symbouq_cli.terminal import tell

    if hide and blur:
        raise click.UsageError("give either --hide or --blur")
    found: list[int] = [0, 0]
    arguments = (
        *(hide or blur or (1, None)),
        blur is not None,
        options["profile"],
        options["ontology"],
        options["pipeline"],
    )

    def count(outcome: Outcome) -> None:
        for decided in outcome.summary:
            found[decided] += 1

    job = Job(degrading, arguments, Instance)
    failed = run(traced(files, options), out, job, options, count)
    tell(f"{sum(found)} scenes, {found[1]} of which still decide their questions")
    finish(failed > 0)
