"""Workers that process each record for the composer's commands and for experiments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import from_json

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.selection import answer_key, best_of
from symbouq.errors import RecordError
from symbouq.io.stream import Work
from symbouq.records import Trace, make_record
from symbouq.records.generated import ANSWER, RELATIONAL, status_of
from symbouq.reliability.labels import Gold, gold_of
from symbouq.reliability.model import Model
from symbouq.reliability.reading import Composition, Reader, Reading
from symbouq.reliability.worlds import WORLDS, worlds

Labelled = tuple[Reading, Gold | None]
"""A reading of a trace and, if requested, the fields that determine the trace's label."""


def reading(
    composition: Composition,
    profile: str | None,
    ontology: str | None,
    pipeline: str | None,
    labelled: bool,
) -> Work:
    """Make a worker that writes nothing and collects the reading of each trace and, if `labelled`,
    the fields that determine its label.
    """
    reader = Reader(composition, profile, ontology, pipeline)

    def work(
        trace: Trace, _file: str, _line: int
    ) -> tuple[dict[str, Any], tuple[Reading, Gold | None]]:
        gold = gold_of(trace) if labelled else None
        return {}, (reader.read(trace), gold)

    return Work(work, reader.auditor.ahead)


def selecting(
    model: str | None, profile: str | None, ontology: str | None, pipeline: str | None = None
) -> Work:
    """Make a worker that writes each trace with the best of its own answer and the sampled answers
    (`symbouq.auditing.selection`).

    The worker collects the number of the chosen answer, 0 for the trace's own. `selected` in the
    output holds the replaced answer. Answers are scored from their text, by Constraint-Rule over
    the grounded verdicts or by the given reliability model.
    """
    fitted = Model.load(model) if model is not None else None
    reader = fitted.reader(profile, ontology, pipeline) if fitted is not None else None
    auditor = TraceAuditor(profile, ontology, "grounded", pipeline=pipeline)

    def score(record: Mapping[str, Any], trace: Trace) -> float:
        said = "claims" in record or answer_key(record)
        if status_of(record) != "valid" or trace.truncated or not said:
            return 0.0  # otherwise, an empty answer would have no conflict
        if fitted is None or reader is None:
            return float(auditor.audited(trace)["constraint_rule"])
        return float(fitted.predict([reader.read(trace)])[0]["reliability"])

    def work(trace: Trace, _file: str, _line: int) -> tuple[dict[str, Any], int]:
        record = from_json(trace.model_dump_json(exclude_unset=True))
        others = [*_samples(trace)]
        if not others:
            return {**record, "selected": {"sample": 0, "scores": []}}, 0
        own = {name: value for name, value in record.items() if name not in _NOT_OF_TEXT}
        own["generation"] = {"status": status_of(record)}
        shared = {k: v for k, v in record.items() if k not in (*ANSWER, *RELATIONAL)}
        answers = [own, *({**shared, **each} for each in others)]
        traces = [make_record(Trace, answer) for answer in answers]
        (auditor if reader is None else reader.auditor).ahead(traces)
        scores = [*map(score, answers, traces)]
        chosen = best_of(answers, scores)
        selected: dict[str, Any] = {"sample": chosen, "scores": scores}
        if chosen:
            selected["own"] = {k: record[k] for k in (*_TEXT, "claims") if k in record}
            record = {**answers[chosen], "samples": record["samples"]}
        return {**record, "selected": selected}, chosen

    return Work(work)


_TEXT = ("response", "reasoning", "conclusion")
_NOT_OF_TEXT = {*ANSWER} - {*_TEXT, "claims"}
"""Fields that belong to an answer, except its text and claims."""


def _samples(trace: Trace) -> Iterator[dict[str, Any]]:
    """Yield each sample of a trace as a record with the text fields of a trace."""
    samples = trace.samples or []
    if not isinstance(samples, list):
        raise RecordError("`samples` is a list of texts, or of objects with `response`")
    for number, sample in enumerate(samples, start=1):
        if isinstance(sample, str):
            yield {"response": sample}
        elif isinstance(sample, dict) and sample.keys() & {*_TEXT}:
            text = {name: sample[name] for name in _TEXT if sample.get(name) is not None}
            yield {**text, "generation": {"status": sample.get("status", "valid")}}
        else:
            raise RecordError(f"sample {number} is neither a text nor an object with `response`")


def checking_worlds(profile: str | None, ontology: str | None, pipeline: str | None = None) -> Work:
    """Make a worker that writes each trace's score `symbouq.reliability.worlds.WORLDS`."""
    auditor = TraceAuditor(profile, ontology, pipeline=pipeline)

    def work(trace: Trace, _file: str, _line: int) -> tuple[dict[str, Any], None]:
        return {"id": trace.id, WORLDS: worlds(auditor, trace)[0]}, None

    return Work(work, auditor.ahead)


def predicting(
    model: str, profile: str | None, ontology: str | None, pipeline: str | None = None
) -> Work:
    """Make a worker that writes each trace's reliability, and collects the reliability and whether
    the trace is accepted.
    """
    fitted = Model.load(model)
    reader = fitted.reader(profile, ontology, pipeline)

    def work(trace: Trace, _file: str, _line: int) -> tuple[dict[str, Any], tuple[float, bool]]:
        (record,) = fitted.predict([reader.read(trace)])
        return record, (record["reliability"], record.get("accepted", False))

    return Work(work, reader.auditor.ahead)
