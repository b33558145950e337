"""`symbouq refine` and `symbouq select`: better answers by logic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symbouq_cli.generate import asked, engine_options, generated, loading, text_options
from symbouq_cli.options import (
    CONTINUED,
    ONTOLOGY,
    PROFILE,
    TRACES,
    count_option,
    file_option,
    finish,
    option,
    out_option,
    parsing_options,
    reading_options,
    traced,
)
from symbouq_cli.options import engine_options as job_options
from symbouq_cli.terminal import tell

if TYPE_CHECKING:
    from symbouq.evidence.generation.refining import Comparison


@click.command()
@TRACES
@CONTINUED
@engine_options
@count_option("--rounds", default=3, help="Maximum number of times a question is asked.")
@option(
    "--control",
    is_flag=True,
    help="Also draw as many answers without feedback, for comparison.",
)
@text_options
@PROFILE
@ONTOLOGY
@reading_options
def refine(files: tuple[str, ...], out: str, ontology: str | None, **options: Any) -> None:
    """Let a language model answer FILES again if logic finds a conflict in its answer.

    Each answer is audited. If a step is contradicted, the model gets it back with the reason and
    the conflicting sentences, until no conflict is left or the --rounds are used up. The answer
    with the best grounded verdicts is kept; `rounds` contains the others. A stopped run resumes if
    you repeat the command.

    Example: symbouq refine test.jsonl.gz --model models/small --control --out refined.jsonl
    """
    from symbouq.evidence.generation.refining import Refinement, Refiner, compared
    from symbouq.evidence.generation.run import generate
    from symbouq.evidence.signals.traces import readable_records

    instances, failed = asked(files, options)
    load = loading(options)
    steps = generate(instances, Refiner(load(), Refinement(**options), ontology), out)
    whole = generated(steps)
    comparison = compared(readable_records(out))
    if comparison is not None:
        tell(_told(comparison))
    finish(not whole or failed)


def _told(found: Comparison) -> str:
    parts = [f"right: {found.first} of {found.known} first answers, {found.refined} refined"]
    against = "the first answers"
    if found.control is not None:
        parts.append(f"{found.control} with the control")
        against = "the draws"
    return f"{', '.join(parts)}; against {against} {found.gained} gained, {found.lost} lost"


@click.command()
@TRACES
@out_option("-")
@file_option(
    "--model",
    metavar="MODEL",
    help="Select by the reliability of this model from `symbouq fit`.  [default: by verdicts]",
)
@parsing_options
@reading_options
@job_options
def select(files: tuple[str, ...], model: str | None, out: str, **options: Any) -> None:
    """Select the best answer of each trace in FILES: its own or one of its `samples`.

    The best answer has the highest Constraint-Rule over the grounded verdicts, or the highest
    reliability (--model). On a tie, the most frequent answer wins. Labels are not read.

    Example: symbouq select traces.jsonl --out best.jsonl
    """
    from symbouq.errors import extra

    with extra("fit"):
        from symbouq.reliability.jobs import selecting
    from symbouq.io.stream import Job
    from symbouq.records import Trace
    from symbouq_cli.run import run

    reading = (options.pop("profile"), options.pop("ontology"), options.pop("pipeline"))
    job = Job(selecting, (model, *reading), Trace, _counted)
    counts: list[tuple[int, int]] = []
    failed = run(
        traced(files, options),
        out,
        job,
        options,
        lambda outcome: counts.append((1, int(outcome.summary > 0))),
        counts.append,
    )
    count, other = (sum(part) for part in zip(*counts, strict=True)) if counts else (0, 0)
    tell(f"{count} traces, of {other} a sample is selected")
    finish(bool(failed))


def _counted(chosen: Any) -> tuple[int, int]:
    numbers = list(chosen)
    return len(numbers), sum(number > 0 for number in numbers)
