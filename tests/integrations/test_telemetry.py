from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers.commands import run, write_lines

pytest.importorskip("opentelemetry.sdk", reason="OpenTelemetry is not installed (extra `otel`)")

from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter

import symbouq
from symbouq.integrations.telemetry import AuditEvents, attributes_of

SPAN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def audit(*claims: str, **fields: Any) -> dict[str, Any]:
    made = symbouq.audit("A is above B. B is above C.", list(claims)).model_dump()
    return made | fields


def test_an_audit_says_what_is_contradicted_and_under_which_rules() -> None:
    given = audit("A is above B.", "C is above A.", "A is above C.")
    told = attributes_of(given)
    assert told["gen_ai.evaluation.name"] == "symbouq.audit"
    assert told["gen_ai.evaluation.score.label"] == "contradicted"
    assert told["gen_ai.evaluation.explanation"].startswith("C is above A. (C is above A: ")
    assert told["gen_ai.evaluation.score.value"] == given["constraint_rule"]
    assert told["gen_ai.response.id"] == "trace"
    assert told["symbouq.ontology.hash"] == given["ontology"]["hash"]
    assert told["symbouq.ontology.version"] == given["ontology"]["version"]
    assert told["symbouq.claims.contradicted"] == 1
    grounded = attributes_of(given | {"context": "grounded"})
    assert grounded["symbouq.claims.entailed"] == 2


def test_what_decides_nothing_has_no_value() -> None:
    told = attributes_of(audit("A is near D."))
    assert "gen_ai.evaluation.score.value" not in told
    assert told["gen_ai.evaluation.score.label"] == "unknown"
    assert "gen_ai.evaluation.score.label" not in attributes_of(audit() | {"claims": []})


def test_events_belong_to_the_span_that_the_id_names() -> None:
    kept = InMemoryLogRecordExporter()
    with AuditEvents(kept) as events:
        events.add(audit("A is above C.", id=SPAN))
        events.add(audit("A is above C."))
    of_span, alone = (each.log_record for each in kept.get_finished_logs())
    assert of_span.event_name == "gen_ai.evaluation.result"
    assert f"{of_span.trace_id:032x}-{of_span.span_id:016x}" in SPAN
    assert not alone.trace_id


class Collector:
    """A collector on this machine, which answers with a status."""

    def __init__(self, status: int) -> None:
        received = self.received = []  # type: list[ExportLogsServiceRequest]

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.append(ExportLogsServiceRequest.FromString(body))
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> Collector:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    trace = {"scene": "A is above B.", "conclusion": "B is above A.", "reasoning": []}
    return write_lines(tmp_path / "in.jsonl", *({"id": n, **trace} for n in "ab"))


def test_the_command_sends_to_a_collector(traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Collector(200) as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "nightly")
        out = traces.with_name("out.jsonl")
        result = run("audit", traces, "--otel", "--out", out, "--jobs", 1)
    assert result.exit_code == 0, result.stderr
    (request,) = collector.received
    (resource,) = request.resource_logs
    names = {item.key: item.value.string_value for item in resource.resource.attributes}
    assert names["service.name"] == "nightly"
    (scope,) = resource.scope_logs
    assert [record.event_name for record in scope.log_records] == ["gen_ai.evaluation.result"] * 2


def test_what_is_not_taken_is_told_and_costs_nothing_else(
    traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = traces.with_name("checks.xml")
    arguments = (traces, "--otel", "--junit", checks, "--out", traces.with_name("out.jsonl"))
    with Collector(400) as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        result = run("audit", *arguments, "--jobs", 1)
        gated = run("audit", *arguments, "--jobs", 1, "--fail-on", "contradicted")
    assert "2 of 2 events were rejected by the collector" in result.stderr
    assert (result.exit_code, gated.exit_code) == (2, 3)
    assert checks.exists()


def test_no_event_is_dropped_for_want_of_room() -> None:
    kept, given = InMemoryLogRecordExporter(), audit("A is above C.")
    with AuditEvents(kept) as events:
        for _ in range(3000):
            events.add(given)
    assert (len(kept.get_finished_logs()), events.lost) == (3000, 0)
