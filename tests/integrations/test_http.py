"""The HTTP service: what it answers, what it refuses, and that its description holds."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

pytest.importorskip("fastapi", reason="FastAPI is not installed (extra `serve`)")
pytest.importorskip(
    "prometheus_client", reason="prometheus-client is not installed (extra `serve`)"
)

from click.testing import CliRunner
from fastapi.testclient import TestClient
from helpers.processes import PATIENCE, until
from symbouq_cli.main import main

from symbouq.errors import OntologyError
from symbouq.integrations import service
from symbouq.integrations.http import application
from symbouq.integrations.service import ServiceError, Workers

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the host's own

TRACE = {
    "id": "hall",
    "scene": "The lamp is above the desk. The desk is left of the door.",
    "question": "Where is the lamp relative to the door?",
    "response": "The lamp is right of the door. Answer: right",
}
ASKED = {"id": "q", "scene": "A is above B.", "question": "Is A above B?", "answer_space": ["yes"]}


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(1, timeout=PATIENCE) as made:
        yield made


@pytest.fixture(scope="module")
def client(workers: Workers) -> Iterator[TestClient]:
    with TestClient(application(workers, max_body=20_000)) as made:
        yield made


def test_records_in_records_out(client: TestClient) -> None:
    audit = client.post("/audit", json=TRACE).json()
    assert [claim["verdict"] for claim in audit["claims"]] == ["contradicted", "not-evaluable"]
    asked = {"id": "q", "scene": TRACE["scene"], "question": "Is the desk below the lamp?"}
    answer = client.post("/answer", json=asked | {"answer_space": ["yes", "no"]}).json()
    assert answer["answer"] == ["yes"]
    pair = {"scene": TRACE["scene"], "subject": "lamp", "object": "door"}
    assert client.post("/relations", json=pair).json()["certain"] == ["upper_left"]
    explained = client.post("/explain", json=TRACE).json()
    assert "contradicted, the first conflict" in explained["text"]


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/audit", {"id": "x"}, 422, "a record needs `scene`"),
        ("/audit", TRACE | {"profile": "odd"}, 422, "odd"),
        ("/answer", {"id": "q", "scene": "A is above B."}, 422, "answer_space"),
        (
            "/relations",
            {"scene": "A is above B.", "subject": "A", "object": "C"},
            422,
            "'C' is not in",
        ),
        ("/audits", TRACE, 404, "Not Found"),
        ("/audit", TRACE | {"response": "x" * 30_000}, 413, "larger than 20,000 bytes"),
    ],
)
def test_faults_are_told(
    client: TestClient, path: str, body: dict[str, Any], status: int, message: str
) -> None:
    refused = client.post(path, json=body)
    assert refused.status_code == status
    assert message in refused.text


def test_health_and_metrics(client: TestClient) -> None:
    client.post("/audit", json=TRACE)
    assert client.get("/health").json()["status"] == "ok"
    told = client.get("/metrics").text
    assert 'symbouq_requests_total{path="/audit",status="200"}' in told
    assert 'symbouq_claims_total{verdict="contradicted"}' in told


def test_too_many_requests_are_refused(workers: Workers) -> None:
    with TestClient(application(workers, most=0)) as full:
        refused = full.post("/audit", json=TRACE)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")


def test_a_request_that_takes_too_long_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_GRACE", 0.2)
    with Workers(1, timeout=1e-9) as late, TestClient(application(late)) as client:
        for _ in range(3):  # the limit itself, which the worker survives
            assert client.post("/answer", json=ASKED).status_code == 504
        process = late._workers[0].child.process
        assert process.pid is not None
        os.kill(process.pid, signal.SIGSTOP)  # no limit is looked at any more
        refused = client.post("/answer", json=ASKED)
        assert (refused.status_code, refused.json()["error"]) == (504, "the time limit was reached")
        assert process.exitcode == -signal.SIGKILL
        assert late._workers[0].child.process.pid != process.pid


@pytest.mark.parametrize("when", ["between requests", "over a request"])
def test_the_request_after_a_worker_died_gets_an_answer(
    client: TestClient, workers: Workers, when: str
) -> None:
    process = workers._workers[0].child.process
    assert process.pid is not None
    if when == "between requests":
        process.kill()
        process.join()
        failed = client.post("/audit", json=TRACE)
    else:
        os.kill(process.pid, signal.SIGSTOP)  # so that it is at the request when it dies
        with ThreadPoolExecutor(1) as thread:
            begun = thread.submit(client.post, "/audit", json=TRACE)
            process.kill()
            failed = begun.result()
    assert failed.status_code == 500
    assert failed.json()["error"] == "the worker died (killed by SIGKILL)"
    for _ in range(2):
        assert client.post("/audit", json=TRACE).status_code == 200


def test_a_fault_of_ours_costs_one_request(client: TestClient, workers: Workers) -> None:
    process = workers._workers[0].child.process
    with pytest.raises(ServiceError, match="internal error, please report it: AttributeError"):
        asyncio.run(workers.call("unheard_of"))
    assert workers._workers[0].child.process is process
    assert client.post("/audit", json=TRACE).status_code == 200


def test_an_ontology_that_cannot_be_used_ends_the_start(tmp_path: Path) -> None:
    (tmp_path / "own.lp").write_text("extends(nine_way).\ninverse(left, lefty).\n")
    with pytest.raises(OntologyError, match="lefty"), Workers(1, ontology=str(tmp_path)):
        pass


def test_the_description_holds(client: TestClient) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    schema = schemathesis.openapi.from_asgi("/openapi.json", client.app)
    phases = (Phase.explicit, Phase.generate)
    for result in schema.get_all_operations():
        operation = result.ok()

        @given(case=operation.as_strategy())
        @settings(max_examples=8, phases=phases, suppress_health_check=list(HealthCheck))
        def holds(case: Any) -> None:
            # What a record must be beyond its schema, such as naming its scene, is refused.
            case.call_and_validate(excluded_checks=[positive_data_acceptance])

        holds()


def status_of(port: int) -> str | None:
    try:
        with urlopen(f"http://127.0.0.1:{port}/health") as answer:
            return str(json.load(answer)["status"])
    except URLError:
        return None


def test_the_command_serves_this_machine(tmp_path: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "from symbouq_cli.main import main; main()"
    command = [sys.executable, "-c", code, "serve", "--port", str(port), "--jobs", "1"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: status_of(port) == "ok")
        finally:
            process.terminate()
    assert process.returncode in (0, 143, -15)


def test_an_address_that_is_taken_ends_the_command() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = CliRunner().invoke(main, ["serve", "--port", str(port)])
    assert done.exit_code == 2
    assert f"127.0.0.1, port {port}: Address already in use; --host and --port" in done.output
