"""Generated traces as written to files: dictionaries with more fields than the audit needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Record = Mapping[str, Any]

SEGMENTED = "segmented"
"""Field that marks traces with claims that were taken from their audit."""

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
"""Fields of a trace that belong to its own answer, not to other answers to the same question."""
RELATIONAL = ("scene_relations", "scene_events", "complete")
"""Fields for claims given as relations. Plain-text answers do not have these fields."""


def is_structured(record: Record) -> bool:
    """Whether a trace lists its claims. Otherwise the audit splits its response into claims."""
    return record.get("conclusion") is not None


def status_of(record: Record) -> str:
    """Return the outcome of a generation: `valid`, `invalid`, `truncated` or `failed`."""
    return str((record.get("generation") or {}).get("status", "valid"))


def meta_of(record: Record) -> dict[str, Any]:
    """Return the `meta` of a record; empty if it is not an object."""
    meta = record.get("meta")
    return meta if isinstance(meta, dict) else {}
