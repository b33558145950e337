"""Audit many traces, reading their sentences in the same batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from symbouq.api import TraceAuditor
from symbouq.records import Instance, Trace

_AT_ONCE = 100
Given = TypeVar("Given", bound=Instance)


def read_ahead(auditor: TraceAuditor, instances: Iterable[Given]) -> Iterator[Given]:
    """Yield instances whose sentences the auditor has read in batches, which is much faster."""
    remaining = iter(instances)
    while batch := list(islice(remaining, _AT_ONCE)):
        auditor.ahead(batch)
        yield from batch


def audits(auditor: TraceAuditor, traces: Iterable[Trace]) -> Iterator[dict[str, Any]]:
    return map(auditor.audited, read_ahead(auditor, traces))
