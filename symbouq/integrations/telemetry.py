"""Audits as OpenTelemetry events, `gen_ai.evaluation.result` in its semantic conventions.

Each audit is one event, sent to a collector by OTLP over HTTP. OpenTelemetry's environment
variables give the collector's address and headers (`OTEL_EXPORTER_OTLP_ENDPOINT`,
`OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME`).
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Self

from opentelemetry import trace
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord
from opentelemetry.sdk._logs.export import (
    BatchLogRecordProcessor,
    LogRecordExporter,
    LogRecordExportResult,
)

from symbouq.auditing.verdicts import Verdict, verdict_in
from symbouq.version import __version__

EVENT = "gen_ai.evaluation.result"
NAME = "symbouq.audit"
"""Name of the evaluation."""

_BATCH = 512
"""Number of events that are sent together."""

_TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")


class AuditEvents:
    """Context manager that sends audits as events. When it exits, all of them have been sent.

    Args:
        exporter: The exporter that sends them; by default, OTLP over HTTP.

    Attributes:
        added: Number of audits.
    """

    def __init__(self, exporter: LogRecordExporter | None = None) -> None:
        self.added = 0
        self._sending = _Counting(exporter or OTLPLogExporter())
        self._provider = LoggerProvider(shutdown_on_exit=False)
        self._provider.add_log_record_processor(BatchLogRecordProcessor(self._sending))
        self._logger = self._provider.get_logger("symbouq", __version__)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._provider.shutdown()

    @property
    def lost(self) -> int:
        """Number of audits that the collector has not accepted; known at the end."""
        return self.added - self._sending.taken

    def add(self, audit: Mapping[str, Any]) -> None:
        """Send an audit in its dictionary form.

        If its id is a W3C `traceparent`, the event belongs to that span.
        """
        self.added += 1
        if self.added % _BATCH == 0:
            self._provider.force_flush()  # the queue drops events that do not fit
        now = time.time_ns()
        self._logger.emit(
            LogRecord(
                timestamp=now,
                observed_timestamp=now,
                context=_span_of(audit["id"]),
                severity_number=SeverityNumber.INFO,
                event_name=EVENT,
                attributes=attributes_of(audit),
            )
        )


def attributes_of(audit: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an audit's event.

    The label is the verdict on the first contradicted claim, otherwise on the conclusion; the
    explanation gives the reason. The value is Constraint-Rule; an audit that decides nothing has no
    value.

    Args:
        audit: The audit in its dictionary form.
    """
    claims, rules = audit["claims"], audit["ontology"]
    verdicts = [verdict_in(claim, audit["context"]) for claim in claims]
    contradicted = (n for n, verdict in enumerate(verdicts) if verdict == Verdict.CONTRADICTED)
    told = next(contradicted, len(claims) - 1)
    attributes: dict[str, Any] = {
        "gen_ai.evaluation.name": NAME,
        "gen_ai.response.id": audit["id"],
        "symbouq.ontology.name": rules["name"],
        "symbouq.ontology.profile": rules["profile"],
        "symbouq.ontology.version": rules["version"],
        "symbouq.ontology.hash": rules["hash"],
        "symbouq.determinacy": audit["profile"]["determinacy"],
    }
    if claims:
        claim = claims[told]
        attributes["gen_ai.evaluation.score.label"] = verdicts[told]
        attributes["gen_ai.evaluation.explanation"] = f"{claim['text']} ({claim['message']})"
    if audit["profile"]["determinacy"] > 0 and audit["constraint_rule"] is not None:
        attributes["gen_ai.evaluation.score.value"] = audit["constraint_rule"]
    for verdict, count in Counter(verdicts).items():
        attributes[f"symbouq.claims.{verdict.replace('-', '_')}"] = count
    return attributes


def _span_of(identity: str) -> Context | None:
    named = _TRACEPARENT.fullmatch(identity)
    if named is None:
        return None
    trace_id, span_id, flags = (int(part, 16) for part in named.groups())
    span = trace.SpanContext(trace_id, span_id, is_remote=True, trace_flags=trace.TraceFlags(flags))
    return trace.set_span_in_context(trace.NonRecordingSpan(span))


class _Counting(LogRecordExporter):
    """Exporter that counts the events that another exporter has sent."""

    def __init__(self, exporter: LogRecordExporter) -> None:
        self._exporter = exporter
        self.taken = 0

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        result = self._exporter.export(batch)
        self.taken += len(batch) if result is LogRecordExportResult.SUCCESS else 0
        return result

    def force_flush(self, timeout_millis: int = 10_000) -> bool:
        return self._exporter.force_flush(timeout_millis)

    def shutdown(self) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]
