"""`symbouq answer`: answer questions from their scenes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from symbouq_cli.options import finish, traced
from symbouq_cli.reading import readings, records_command
from symbouq_cli.terminal import tell


@click.command()
@records_command
def answer(files: tuple[str, ...], out: str, **options: Any) -> None:
    """Answer the question of every record in FILES from its scene, without a model.

    Records have `scene`, `question` and `answer_space`. Each output line lists the certain,
    possible and impossible answers, with their premises.

    Example: symbouq answer questions.jsonl.gz --out answers.jsonl
    """
    from symbouq.auditing.jobs import answering
    from symbouq.io.stream import Job, Outcome
    from symbouq.records import Instance
    from symbouq_cli.run import run

    statuses: Counter[str] = Counter()
    arguments = (options["profile"], options["ontology"], options["pipeline"])
    job = Job(answering, arguments, Instance, Counter)

    def count(outcome: Outcome) -> None:
        statuses[outcome.summary] += 1

    sources = traced(files, options)
    with readings(options, Instance, sources, out) as prepare:
        failed = run(sources, out, job, options, count, statuses.update, prepare)
    counts = ", ".join(f"{count} {status}" for status, count in statuses.most_common())
    if counts:
        tell(counts)
    finish(failed > 0)
