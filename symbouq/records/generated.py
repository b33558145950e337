"""Generated traces as they are written: dictionaries with more than an audit reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Record = Mapping[str, Any]

SEGMENTED = "segmented"
"""Field that says that the claims of a trace are those of its audit, not its own."""

ANSWER = (
    "response",
    "reasoning",
    "conclusion",
    "truncated",
    "claims",
    "tokens",
    "samples",
    "scores",
    "generation",
    "correct",
    "readings",
    "faults",
    "reader",
)
"""Fields of a trace that are of its answer, and of no other answer to the question."""
RELATIONAL = ("scene_relations", "scene_events", "complete")
"""Fields that come with claims in relations, so that an answer in words has none of them."""


def is_structured(record: Record) -> bool:
    """Whether a trace brings its claims one by one; otherwise the audit cuts its response."""
    return record.get("conclusion") is not None


def status_of(record: Record) -> str:
    """The outcome of a generation: `valid`, `invalid`, `truncated` or `failed`."""
    return str((record.get("generation") or {}).get("status", "valid"))


def meta_of(record: Record) -> dict[str, Any]:
    """The `meta` of a record; empty, where that is no object."""
    meta = record.get("meta")
    return meta if isinstance(meta, dict) else {}
