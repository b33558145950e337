"""What the composer's commands and experiments do to each record, made once in every process."""

from __future__ import annotations

from typing import Any

from symbouq.auditing.auditor import TraceAuditor
from symbouq.io.stream import Work
from symbouq.records import Trace
from symbouq.reliability.labels import Gold, gold_of
from symbouq.reliability.model import Model
from symbouq.reliability.reading import WORLDS, Composition, Reader, Reading, worlds


def reading(
    composition: Composition, profile: str | None, ontology: str | None, labelled: bool
) -> Work:
    """A worker that keeps what the composer reads of a trace and, if wanted, what its label depends
    on; it writes nothing.
    """
    reader = Reader(composition, profile, ontology)

    def work(trace: Trace, _file: str, _line: int) -> tuple[dict[str, Any], Any]:
        gold: Gold | None = gold_of(trace) if labelled else None
        found: tuple[Reading, Gold | None] = reader.read(trace), gold
        return {}, found

    return work


def checking_worlds(profile: str | None, ontology: str | None) -> Work:
    """A worker that writes the score `symbouq.reliability.reading.WORLDS` of a trace."""
    auditor = TraceAuditor(profile, ontology)

    def work(trace: Trace, _file: str, _line: int) -> tuple[dict[str, Any], None]:
        return {"id": trace.id, WORLDS: worlds(auditor, trace)[0]}, None

    return work


def predicting(model: str, profile: str | None, ontology: str | None) -> Work:
    """A worker that writes the reliability of a trace, and keeps it."""
    fitted = Model.load(model)
    reader = fitted.reader(profile, ontology)

    def work(trace: Trace, _file: str, _line: int) -> tuple[dict[str, Any], float]:
        (record,) = fitted.predict([reader.read(trace)])
        return record, record["reliability"]

    return work
