"""Workers for the records of a file, as used by the commands. Each worker is set up once per
process.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from symbouq.auditing.answers import answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.summary import Summaries, Summary
from symbouq.io.stream import Work
from symbouq.records import Answers, Context, Instance, Trace


def auditing(
    profile: str | None,
    ontology: str | None,
    context: Context,
    pipeline: str | None = None,
    answers: Answers = "answer",
) -> Work:
    """Return a worker that audits and returns a `Summary`."""
    auditor = TraceAuditor(
        profile, ontology, context, partial=True, pipeline=pipeline, answers=answers
    )
    summaries = Summaries()

    def work(trace: Trace, file: str, line: int) -> tuple[dict[str, Any], Summary]:
        record = auditor.audited(trace, file, line)
        return record, summaries.of(record, trace)

    return Work(work, auditor.ahead)


def keeping(profile: str | None, ontology: str | None, pipeline: str | None = None) -> Work:
    """Return a worker that audits and returns the trace with its audit."""
    auditor = TraceAuditor(profile, ontology, partial=True, pipeline=pipeline)

    def work(trace: Trace, file: str, line: int) -> tuple[dict[str, Any], tuple[Trace, Any]]:
        record = auditor.audited(trace, file, line)
        return record, (trace, record)

    return Work(work, auditor.ahead)


def auditing_in(
    profile: str | None,
    contexts: Sequence[Context],
    pipeline: str | None = None,
    answers: Answers = "answer",
) -> Work:
    """Return a worker that audits in several contexts. The returned record is the audit in the
    first context, but has the features of all contexts side by side.
    """
    auditor = TraceAuditor(profile, pipeline=pipeline, answers=answers)

    def work(trace: Trace, file: str, line: int) -> tuple[dict[str, Any], None]:
        audits = list(auditor.audited_under(trace, contexts, file, line).values())
        given = [audit["features"] for audit in audits]
        rows = zip(*(features["claims"] for features in given), strict=True)
        features = {
            "claims": [list(chain.from_iterable(row)) for row in rows],
            "trace": list(chain.from_iterable(features["trace"] for features in given)),
        }
        return audits[0] | {"features": features}, None

    return Work(work, auditor.ahead)


def parsing(profile: str | None, ontology: str | None, pipeline: str | None = None) -> Work:
    """Return a worker that parses a record and counts all claims and those that were read."""
    auditor = TraceAuditor(profile, ontology, pipeline=pipeline)

    def work(trace: Trace, _file: str, _line: int) -> tuple[dict[str, Any], tuple[int, int]]:
        record = auditor.parser_for(trace).record(trace, auditor.parsed(trace))
        claims = record["claims"]
        return record, (len(claims), sum(bool(claim["relations"]) for claim in claims))

    return Work(work, auditor.ahead)


def answering(profile: str | None, ontology: str | None, pipeline: str | None = None) -> Work:
    """Return a worker that answers, in the shape of `symbouq.records.AnswerRecord`, and returns the
    status.
    """
    auditor = TraceAuditor(profile, ontology, pipeline=pipeline)

    def work(instance: Instance, _file: str, _line: int) -> tuple[dict[str, Any], str]:
        found = answer(auditor, instance)
        return {"id": instance.id, **vars(found)}, found.status

    return Work(work, auditor.ahead)
