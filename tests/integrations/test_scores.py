from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from helpers.commands import run, write_lines

pytest.importorskip("opentelemetry.sdk", reason="OpenTelemetry is not installed (extra `otel`)")

import symbouq
from symbouq.integrations import scores
from symbouq.integrations.scores import Scores

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the hosts' own


class Host:
    """A host on this machine that keeps what is posted to it, and answers with a status."""

    def __init__(self) -> None:
        self.status, self.answer = 200, {}  # type: tuple[int, dict[str, Any]]
        received = self.received = []  # type: list[tuple[str, Any]]
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                received.append((self.path, body))
                told = json.dumps(host.answer).encode()
                self.send_response(host.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(told)))
                self.end_headers()
                self.wfile.write(told)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def host() -> Iterator[Host]:
    made = Host()
    thread = Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def audit(identity: str, *claims: str) -> dict[str, Any]:
    made = symbouq.audit("A is above B. B is above C.", list(claims)).model_dump()
    return made | {"id": identity}


def langfuse(host: Host) -> Scores:
    pytest.importorskip("langfuse", reason="langfuse is not installed (extra `langfuse`)")
    from langfuse import Langfuse

    return scores.langfuse(
        Langfuse(
            public_key=host.address,  # clients with the same key share an address
            secret_key="s",
            base_url=host.address,
            tracing_enabled=False,
        )
    )


def phoenix(host: Host) -> Scores:
    pytest.importorskip(
        "phoenix.client", reason="Phoenix's client is not installed (extra `phoenix`)"
    )
    from phoenix.client import Client

    return scores.phoenix(Client(base_url=host.address))


def test_langfuse_gets_a_number_and_a_verdict_by_trace_id(host: Host) -> None:
    host.answer = {"message": "Accepted"}
    wrong = audit("trace-1", "C is above A.")
    with langfuse(host) as written:
        written.add(wrong)
        written.add(audit("trace-2", "A is near D."))
    ((path, sent),) = host.received
    assert path == "/api/public/scores"
    assert [(each["traceId"], each["name"], each["value"]) for each in sent] == [
        ("trace-1", "symbouq.audit", wrong["constraint_rule"]),
        ("trace-1", "symbouq.audit.verdict", "contradicted"),
        ("trace-2", "symbouq.audit.verdict", "unknown"),
    ]
    assert sent[0]["dataType"] == "NUMERIC" and sent[1]["dataType"] == "CATEGORICAL"
    assert sent[1]["comment"].startswith("C is above A. (C is above A: ")
    assert sent[1]["metadata"]["symbouq.ontology.hash"] == wrong["ontology"]["hash"]
    assert (written.added, written.lost) == (2, 0)


def test_phoenix_gets_an_annotation_by_trace_id(host: Host) -> None:
    wrong = audit("trace-1", "C is above A.")
    with phoenix(host) as written:
        written.add(wrong)
        written.add(audit("trace-2", "A is near D."))
    ((path, sent),) = host.received
    assert path == "/v1/trace_annotations"
    first, second = sent["data"]
    assert (first["trace_id"], first["name"], first["annotator_kind"]) == (
        "trace-1", "symbouq.audit", "CODE",
    )  # fmt: skip
    assert first["result"]["label"] == "contradicted"
    assert first["result"]["score"] == wrong["constraint_rule"]
    assert second["result"]["label"] == "unknown" and "score" not in second["result"]
    assert (written.added, written.lost) == (2, 0)


@pytest.mark.parametrize("kind", [langfuse, phoenix])
def test_what_the_host_does_not_take_is_counted(
    host: Host, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scores, "_BATCH", 2)
    host.status = 403
    with kind(host) as written:
        for n in range(3):
            written.add(audit(f"trace-{n}", "A is above C."))
        assert len(host.received) == 1  # the rest waits for the end
    assert (written.added, written.lost) == (3, 3)


def test_scores_that_are_rejected_are_counted(host: Host) -> None:
    host.answer = {"accepted": 1, "rejected": 1, "errors": []}
    with langfuse(host) as written:
        written.add(audit("trace-1", "A is above C."))
    assert written.lost == 1


@pytest.mark.parametrize("name", ["langfuse", "phoenix"])
def test_the_command_writes_back(
    host: Host, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("langfuse" if name == "langfuse" else "phoenix.client")
    monkeypatch.setenv("LANGFUSE_BASE_URL", host.address)
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", f"own {host.address}")
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", "s")
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", host.address)
    host.answer = {"message": "Accepted"}
    file = write_lines(
        tmp_path / "in.jsonl",
        {"id": "trace-1", "scene": "A is above B.", "response": "B is above A."},
    )
    out = str(tmp_path / "out.jsonl")
    done = run("audit", str(file), "--out", out, f"--{name}")
    assert done.exit_code == 0, done.output
    assert "trace-1" in json.dumps(host.received)
    host.status = 401
    done = run("audit", str(file), "--out", out, f"--{name}")
    assert done.exit_code == 2
    assert f"1 of 1 audits were rejected by {name.title()}: " in done.output
