"""The HTTP service: what it answers, what it refuses, and that its description holds."""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

pytest.importorskip("fastapi", reason="FastAPI is not installed (extra `serve`)")
pytest.importorskip("fastapi_offline", reason="not installed (extra `serve`)")
pytest.importorskip(
    "prometheus_client", reason="prometheus-client is not installed (extra `serve`)"
)

from click.testing import CliRunner
from fastapi.testclient import TestClient
from helpers.processes import PATIENCE, until
from symbouq_cli.main import main
from uvicorn import Config, Server

from symbouq.errors import OntologyError
from symbouq.integrations import http, service
from symbouq.integrations.http import Connection, application
from symbouq.integrations.service import ServiceError, Workers

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the host's own

TRACE = {
    "id": "hall",
    "scene": "The lamp is above the desk. The desk is left of the door.",
    "question": "Where is the lamp relative to the door?",
    "response": "The lamp is right of the door. Answer: right",
}
HARD = {"scene": "A is above B. " * 20_000, "response": "B is below A."}
"""Takes far longer than any limit of these tests."""
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
    assert "contradicted, first contradiction" in explained["text"]


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


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"scene": "A is above B.", "response": "\\ud800"}', "hex escape"),
        (b'{"scene": "A is above B.", "response": "C", "\\udc00": 1}', "hex escape"),
        (b'{"scene": "A is above B.", "response": "C", "own": 1e400}', "Out of range"),
        (b'{"scene": "A is above B.", "response": "C", "own": [-1e999]}', "Out of range"),
        (b'{"scene": "A is above B.", "response": "C", "own": NaN}', "expected value"),
        (b'{"scene": "A is above B.", "response": "C", "own": %s1%s}' % (b"[" * 900, b"]" * 900), "recursion"),
        (b'{"scene": "A is above B.", "own": ' + b'{"a":' * 3_000, "recursion"),
        (b'{"scene": "A is above B.", "response": "\xed\xa0\x80"}', "code point"),
        (b"\xff\xfe", "JSON"),
        (b"", "required"),
        (b"[]", "object"),
        (b"{", "EOF"),
    ],
)  # fmt: skip
def test_what_is_no_record_is_refused(client: TestClient, body: bytes, message: str) -> None:
    kind = {"Content-Type": "application/json"}
    for path in ("/audit", "/explain"):
        refused = client.post(path, content=body, headers=kind)
        assert (refused.status_code, message in refused.json()["error"]) == (422, True)


def test_a_deep_value_that_is_not_read_does_no_harm(client: TestClient) -> None:
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    assert client.post("/audit", json=TRACE | {"own": deep, "answer": deep}).status_code == 200


def test_an_id_may_be_left_out(client: TestClient) -> None:
    bare = {name: value for name, value in TRACE.items() if name != "id"}
    assert client.post("/audit", json=bare).json()["id"] == "trace"
    asked = {name: value for name, value in ASKED.items() if name != "id"}
    assert client.post("/answer", json=asked).json()["id"] == "question"
    assert client.post("/audit", json=TRACE | {"id": ""}).status_code == 422


def test_health_and_metrics(client: TestClient) -> None:
    client.post("/audit", json=TRACE)
    assert client.get("/health").json()["status"] == "ok"
    assert client.get("/ready").json()["status"] == "ok"
    told = client.get("/metrics").text
    assert 'symbouq_requests_total{path="/audit",status="200"}' in told
    assert 'symbouq_claims_total{verdict="contradicted"}' in told


def metric(client: Any, name: str) -> float:
    told = re.search(rf"^{name} (\S+)$", client.get("/metrics").text, re.MULTILINE)
    assert told is not None
    return float(told[1])


def test_the_description_is_read_without_a_network(client: TestClient) -> None:
    page = client.get("/docs").text
    links = re.findall(r"""(?:src|href)=["']([^"']+)""", page)
    assert links and all(link.startswith("/static-offline-docs/") for link in links)
    assert all(client.get(link).status_code == 200 for link in links)
    assert "://" not in page.replace("http://www.w3.org", "")
    assert client.get("/redoc").status_code == 404


def test_a_token_is_asked_for(workers: Workers) -> None:
    with TestClient(application(workers, token="se cret")) as client:
        refused = client.post("/audit", json=TRACE)
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert "token" in refused.json()["error"]
        for given in ("se cre", "se crets", "", "Bearer", "\xe9"):
            headers = [(b"Authorization", f"Bearer {given}".encode())]
            assert client.post("/audit", json=TRACE, headers=headers).status_code == 401
        assert client.get("/metrics").status_code == 401
        assert client.get("/health").status_code == client.get("/ready").status_code == 200
        client.headers["Authorization"] = "Bearer se cret"
        assert client.post("/audit", json=TRACE).status_code == 200
        assert 'path="/audit",status="401"} 6.0' in client.get("/metrics").text
        assert "HTTPBearer" in client.get("/openapi.json").text


def test_a_proxy_may_serve_it_under_a_path(workers: Workers) -> None:
    with TestClient(application(workers, root_path="/spatial", token="x")) as client:
        for base in ("", "/spatial"):  # whether the proxy takes it away or not
            assert client.post(f"{base}/audit", json=TRACE).status_code == 401
            given = {"Authorization": "Bearer x"}
            assert client.post(f"{base}/audit", json=TRACE, headers=given).status_code == 200
            assert "'/spatial/openapi.json'" in client.get(f"{base}/docs").text
            assert client.get(f"{base}/openapi.json").json()["servers"] == [{"url": "/spatial"}]
            assert client.get(f"{base}/static-offline-docs/swagger-ui.css").status_code == 200
            assert client.get(f"{base}/health").status_code == 200


def test_too_many_requests_are_refused(workers: Workers) -> None:
    with TestClient(application(workers, most=0)) as full:
        refused = full.post("/audit", json=TRACE)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")


def test_a_request_that_takes_too_long_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_GRACE", 0.2)
    with Workers(1, timeout=1e-9) as late, TestClient(application(late)) as client:
        for _ in range(3):  # the limit itself, which the worker survives
            assert client.post("/answer", json=ASKED).status_code == 504
        assert (metric(client, "symbouq_timeouts_total"), late.restarts) == (3, 0)
        process = late._workers[0].child.process
        assert process.pid is not None
        os.kill(process.pid, signal.SIGSTOP)  # no limit is looked at any more
        refused = client.post("/answer", json=ASKED)
        assert (refused.status_code, refused.json()["error"]) == (504, "the time limit was reached")
        assert process.exitcode == -signal.SIGKILL
        assert late._workers[0].child.process.pid != process.pid
        assert metric(client, "symbouq_timeouts_total") == 4
        assert metric(client, "symbouq_restarts_total") == 1


def test_an_audit_that_is_late_is_counted_whatever_was_decided() -> None:
    with Workers(1, timeout=1) as late, TestClient(application(late)) as client:
        response = "".join(f"A{n} is left of C{n}. C{n} is above B{n}. " for n in range(2_000))
        found = client.post("/audit", json={"scene": "A1 is above B1.", "response": response})
        assert found.status_code == 504 or found.json()["timed_out"]
        assert metric(client, "symbouq_timeouts_total") == 1


@pytest.mark.parametrize("when", ["between requests", "over a request"])
def test_a_worker_that_dies_costs_no_request(
    client: TestClient, workers: Workers, when: str
) -> None:
    process, before = workers._workers[0].child.process, workers.restarts
    assert process.pid is not None
    if when == "between requests":
        process.kill()
        process.join()
        found = client.post("/audit", json=TRACE)
    else:
        os.kill(process.pid, signal.SIGSTOP)  # so that it is at the request when it dies
        with ThreadPoolExecutor(1) as thread:
            begun = thread.submit(client.post, "/audit", json=TRACE)
            process.kill()
            found = begun.result()
    assert found.status_code == 200
    assert workers.restarts == before + 1


def test_a_request_that_kills_workers_is_tried_twice(
    client: TestClient, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    (worker,), before = workers._workers, workers.restarts

    def deadly(line: Any, calls: Any) -> Any:
        if calls:
            worker.child.process.kill()
        return exchange(line, calls)

    exchange = service._exchange
    monkeypatch.setattr(service, "_exchange", deadly)
    failed = client.post("/audit", json=TRACE)
    monkeypatch.undo()
    assert failed.status_code == 500
    assert failed.json()["error"] == "the worker died (killed by SIGKILL)"
    assert client.post("/audit", json=TRACE).status_code == 200
    assert workers.restarts == before + 2


def test_no_worker_is_ready_until_one_answers(client: TestClient, workers: Workers) -> None:
    process = workers._workers[0].child.process
    process.kill()
    process.join()
    refused = client.get("/ready")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert client.get("/health").status_code == 200
    until(lambda: client.get("/ready").status_code == 200)


def test_an_ontology_that_is_spoilt_later_is_a_fault_of_the_service(tmp_path: Path) -> None:
    own = tmp_path / "own.lp"
    own.write_text("extends(nine_way).\n")
    with Workers(1, ontology=str(tmp_path)) as workers, TestClient(application(workers)) as client:
        own.write_text("extends(nine_way).\ninverse(left, lefty).\n")
        assert client.post("/audit", json=TRACE).status_code == 200  # that of the start
        workers._workers[0].child.process.kill()
        failed = client.post("/audit", json=TRACE)
        assert (failed.status_code, "lefty" in failed.json()["error"]) == (500, True)
        own.write_text("extends(nine_way).\n")
        until(lambda: client.post("/audit", json=TRACE).status_code == 200)


def test_a_fault_of_ours_costs_one_request(client: TestClient, workers: Workers) -> None:
    process = workers._workers[0].child.process
    with pytest.raises(ServiceError, match="internal error, please report it: AttributeError"):
        asyncio.run(workers.call("unheard_of"))
    assert workers._workers[0].child.process is process
    assert client.post("/audit", json=TRACE).status_code == 200


@contextmanager
def served(workers: Workers, **options: Any) -> Iterator[int]:
    """A server of this process, at a port."""
    listening = socket.create_server(("127.0.0.1", 0))
    app = application(workers, **options)
    server = Server(Config(app, http=Connection, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def posted(port: int, path: str, record: dict[str, Any]) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        body, kind = json.dumps(record), {"Content-Type": "application/json"}
        connection.request("POST", path, body, kind)
        return connection.getresponse().status
    finally:
        connection.close()


class Remote:
    """The metrics of a server, as `metric` reads them."""

    def __init__(self, port: int) -> None:
        self._address = f"http://127.0.0.1:{port}"

    def get(self, path: str) -> Any:
        with urlopen(self._address + path) as answer:
            return type("Page", (), {"text": answer.read().decode()})


def begun(port: int, *parts: bytes) -> socket.socket:
    """A connection over which a part of a request has gone."""
    client = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    client.sendall(b"".join(parts))
    return client


HEAD = b"POST /audit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    ("parts", "answer"),
    [
        ([], b""),
        ([b"POST /aud"], b""),
        ([HEAD], b""),
        ([HEAD, b"Content-Length: 100\r\n\r\n"], b"HTTP/1.1 408 "),
        ([HEAD, b"Content-Length: 100\r\n\r\n{"], b"HTTP/1.1 408 "),
        ([HEAD, b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"], b"HTTP/1.1 408 "),
        ([b"GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /hea"], b"HTTP/1.1 200 "),
    ],
)
def test_what_is_not_sent_to_its_end_is_not_awaited(
    workers: Workers, monkeypatch: pytest.MonkeyPatch, parts: list[bytes], answer: bytes
) -> None:
    monkeypatch.setattr(http, "PATIENCE", 0.5)
    with served(workers, patience=0.5) as port, begun(port, *parts) as client:
        told = b""
        try:
            while part := client.recv(1 << 16):
                told += part
        except ConnectionResetError:
            pass
        assert told[: len(answer)] == answer and bool(told) == bool(answer)
        assert posted(port, "/audit", TRACE) == 200


def test_a_connection_may_be_used_again(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "PATIENCE", 1.0)
    with served(workers) as port:
        connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        for _ in range(5):
            connection.request("GET", "/health")
            assert connection.getresponse().read()
            threading.Event().wait(0.4)
        connection.close()


def test_unfinished_bodies_keep_no_request_out(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "_UNFINISHED", 3)
    with served(workers, most=2) as port:
        clients = [begun(port, HEAD, b"Content-Length: 100\r\n\r\n") for _ in range(8)]
        assert clients[0].recv(100).startswith(b"HTTP/1.1 408 ")
        assert posted(port, "/audit", TRACE) == 200
        for client in clients:
            client.close()


def test_who_hangs_up_leaves_the_queue() -> None:
    body = json.dumps(TRACE).encode()
    request = [HEAD, b"Content-Length: %d\r\n\r\n" % len(body), body]
    with Workers(1) as workers, served(workers, most=4) as port:
        remote, process = Remote(port), workers._workers[0].child.process
        assert process.pid is not None
        os.kill(process.pid, signal.SIGSTOP)
        clients = [begun(port, *request) for _ in range(4)]
        until(lambda: metric(remote, "symbouq_at_work") == 4)
        assert posted(port, "/audit", TRACE) == 503
        for client in clients[1:]:
            client.close()
        until(lambda: metric(remote, "symbouq_at_work") == 1)
        assert metric(remote, "symbouq_abandoned_total") == 3
        os.kill(process.pid, signal.SIGCONT)
        assert clients[0].recv(100).startswith(b"HTTP/1.1 200 ")
        assert posted(port, "/audit", TRACE) == 200
        clients[0].close()
        assert workers._workers[0].child.process is process


def test_who_hangs_up_keeps_no_worker() -> None:
    body = json.dumps(TRACE).encode()
    with Workers(1) as workers, served(workers) as port:
        process = workers._workers[0].child.process
        assert process.pid is not None
        os.kill(process.pid, signal.SIGSTOP)  # it would take as long as it may
        client = begun(port, HEAD, b"Content-Length: %d\r\n\r\n" % len(body), body)
        until(lambda: metric(Remote(port), "symbouq_at_work") == 1)
        client.close()
        assert posted(port, "/audit", TRACE) == 200
    assert process.exitcode == -signal.SIGKILL


def test_waiting_costs_nothing_of_the_time() -> None:
    with (
        Workers(1, timeout=2) as workers,
        served(workers) as port,
        ThreadPoolExecutor(12) as threads,
    ):
        tasks = [threads.submit(posted, port, "/audit", HARD) for _ in range(3)]
        tasks += [threads.submit(posted, port, "/audit", TRACE) for _ in range(9)]
        statuses = [task.result() for task in tasks]
    assert statuses[3:] == [200] * 9
    assert set(statuses[:3]) <= {200, 504}


def resident(*pids: int | None) -> int:
    """Memory of processes in bytes."""
    pages = (int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return sum(pages) * resource.getpagesize()


def test_it_bears_what_is_hostile_for_long() -> None:
    """Thousands of requests, one in fifty of them hostile: the others are all answered."""
    rounds, each = 4, 500
    long = TRACE | {"response": "The lamp is " + "very " * 400 + "near the door."}

    with Workers(2, timeout=3) as workers, served(workers) as port:

        def one(n: int) -> tuple[str, int]:
            if n % 50:
                names = f"lamp{n % 7}", f"desk{n % 11}"
                scene = f"The {names[0]} is above the {names[1]}."
                response = f"The {names[1]} is below the {names[0]}. Answer: below"
                return "good", posted(port, "/audit", {"scene": scene, "response": response})
            if n % 150 == 0:
                workers._workers[n // 150 % 2].child.process.kill()
                return "kill", 0
            kind, record = ("long", long) if n % 150 == 50 else ("late", HARD)
            return kind, posted(port, "/audit", record)

        found: Counter[tuple[str, int]] = Counter()
        memory = []
        with ThreadPoolExecutor(8) as threads:
            for round in range(rounds):
                found += Counter(threads.map(one, range(round * each, (round + 1) * each)))
                until(lambda: workers._idle.qsize() == 2)
                memory.append(
                    resident(os.getpid(), *(w.child.process.pid for w in workers._workers))
                )
        told = Remote(port)
        assert {key[1] for key in found if key[0] == "good"} == {200}, found
        assert {key[1] for key in found if key[0] == "long"} == {200}, found
        assert {key[1] for key in found if key[0] == "late"} <= {200, 504}, found
        late = sum(number for (kind, _), number in found.items() if kind == "late")
        assert late == sum(n % 150 == 100 for n in range(rounds * each))
        assert metric(told, "symbouq_timeouts_total") >= late
        # A kill may find a process that is being started again anyway.
        assert metric(told, "symbouq_restarts_total") > rounds * each / 300
        assert metric(told, "symbouq_at_work") == 0
    assert memory[-1] < 1.1 * memory[1], memory


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
    assert f"127.0.0.1, port {port}: Address already in use; choose another" in done.output
