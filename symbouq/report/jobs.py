"""Entries of a report, made in the processes that audit."""

from __future__ import annotations

from typing import Any

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.summary import Summaries, Summary
from symbouq.io.stream import Work
from symbouq.records import Answers, Context, Trace
from symbouq.report.entries import Entry, entry


def reporting(
    profile: str | None,
    ontology: str | None,
    context: Context,
    pipeline: str | None = None,
    answers: Answers = "answer",
) -> Work:
    """A worker that audits for a report; it keeps a `Summary` and an `Entry`."""
    auditor = TraceAuditor(
        profile, ontology, context, partial=True, pipeline=pipeline, answers=answers
    )
    summaries = Summaries()

    def work(trace: Trace, file: str, line: int) -> tuple[dict[str, Any], tuple[Summary, Entry]]:
        record = auditor.audited(trace, file, line)
        return record, (summaries.of(record, trace), entry(auditor, trace, record))

    return Work(work, auditor.ahead)
