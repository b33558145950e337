"""Workers of the composer's commands and experiments: what each does to every record."""

from __future__ import annotations

from typing import Any

from symbouq.auditing.auditor import TraceAuditor
from symbouq.io.stream import Work
from symbouq.records import Trace
from symbouq.reliability.labels import Gold, gold_of
from symbouq.reliability.model import Model
from symbouq.reliability.reading import Composition, Reader, Reading
from symbouq.reliability.worlds import WORLDS, worlds

Labelled = tuple[Reading, Gold | None]
"""A reading with what the trace's label depends on, where that is wanted."""


def reading(
    composition: Composition,
    profile: str | None,
    ontology: str | None,
    pipeline: str | None,
    labelled: bool,
) -> Work:
    """A worker that writes nothing and keeps the reading of a trace, if wanted with the fields that
    its label depends on.
    """
    reader = Reader(composition, profile, ontology, pipeline)

    def work(
        trace: Trace, _file: str, _line: int
    ) -> tuple[dict[str, Any], tuple[Reading, Gold | None]]:
        gold = gold_of(trace) if labelled else None
        return {}, (reader.read(trace), gold)

    return Work(work, reader.auditor.ahead)


def checking_worlds(profile: str | None, ontology: str | None, pipeline: str | None = None) -> Work:
    """A worker that writes the score `symbouq.reliability.worlds.WORLDS` of a trace."""
    auditor = TraceAuditor(profile, ontology, pipeline=pipeline)

    def work(trace: Trace, _file: str, _line: int) -> tuple[dict[str, Any], None]:
        return {"id": trace.id, WORLDS: worlds(auditor, trace)[0]}, None

    return Work(work, auditor.ahead)


def predicting(
    model: str, profile: str | None, ontology: str | None, pipeline: str | None = None
) -> Work:
    """A worker that writes the reliability of a trace, and keeps it."""
    fitted = Model.load(model)
    reader = fitted.reader(profile, ontology, pipeline)

    def work(trace: Trace, _file: str, _line: int) -> tuple[dict[str, Any], float]:
        (record,) = fitted.predict([reader.read(trace)])
        return record, record["reliability"]

    return Work(work, reader.auditor.ahead)
