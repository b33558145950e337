"""JSON Schemas of the records that commands read and write."""

from __future__ import annotations

from typing import Any

from symbouq.records.answer import AnswerRecord
from symbouq.records.audit import Audit
from symbouq.records.base import Record
from symbouq.records.reading import StoredReading
from symbouq.records.reliability import Reliability
from symbouq.records.trace import Instance, Trace

RECORDS: dict[str, type[Record]] = {
    "trace": Trace,
    "question": Instance,
    "audit": Audit,
    "answer": AnswerRecord,
    "reliability": Reliability,
    "reading": StoredReading,
}
"""Records that commands read and write, by name."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of each input and output record, by name."""
    return {name: model.model_json_schema() for name, model in RECORDS.items()}
