"""`symbouq answer`: questions answered from their scenes."""

from __future__ import annotations

from collections import Counter

import click

from symbouq_cli.options import FILES, JOBS, ONTOLOGY, PROFILE, out_option

FAILED_RECORDS = 1


@click.command()
@FILES
@out_option("-")
@PROFILE
@ONTOLOGY
@JOBS
def answer(
    files: tuple[str, ...],
    out: str,
    profile: str | None,
    ontology: str | None,
    jobs: int | None,
) -> None:
    """Answer the question of every record of FILES from its scene, without any model.

    Records have `scene`, `question` and `answer_space`. One JSON line each says which of
    the answers are certain, possible and impossible, and what that rests on.

    Example: symbouq answer questions.jsonl.gz --out answers.jsonl
    """
    from symbouq.answering import answering
    from symbouq.records import Instance
    from symbouq.stream import Job
    from symbouq_cli.run import run

    statuses: Counter[str] = Counter()
    job = Job(answering, (profile, ontology), Instance)
    failed = run(files, out, job, jobs, lambda outcome: statuses.update([outcome.summary]))
    told = ", ".join(f"{count} {status}" for status, count in statuses.most_common())
    click.echo(told or "no questions", err=True)
    click.get_current_context().exit(FAILED_RECORDS if failed else 0)
