"""Audit many traces, reading their sentences in the same batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from symbouq.api import TraceAuditor
from symbouq.records import Trace

_AT_ONCE = 100


def audits(auditor: TraceAuditor, traces: Iterable[Trace]) -> Iterator[dict[str, Any]]:
    remaining = iter(traces)
    while batch := list(islice(remaining, _AT_ONCE)):
        auditor.ahead(batch)
        yield from map(auditor.audited, batch)
