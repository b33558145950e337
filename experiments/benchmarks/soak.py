"""Soak test of `symbouq serve`: many requests, one in fifty of them hostile.

    python experiments/benchmarks/soak.py --requests 10000

Every 500 requests, it prints how long the good ones took (median, 99th percentile, longest) and the
memory of the service and its workers. At the end, it prints the number of responses of each kind
and how often a worker was replaced.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import Any
from urllib.request import urlopen

ROUND = 500
LAMP = {"scene": "The lamp is above the desk.", "question": "Where is the lamp?"}
LONG = LAMP | {"response": "The lamp is " + "very " * 400 + "near the door."}
HARD = {"scene": "A is above B. " * 20_000, "response": "B is below A."}
SCENE = b'{"scene": "A is above B.", "response": '
BODIES = {
    "deep": SCENE + b"[" * 900 + b"]" * 900 + b"}",
    "half a character": SCENE + b'"\\ud800"}',
    "infinite": SCENE + b'"B is below A.", "meta": {"x": 1e400}}',
    "unfinished": b"{",
}
KINDS = ("killed worker", "long", "late", "hung up", *BODIES)


class Service:
    """The service, run in its own process.

    Args:
        jobs: Number of workers.
        limit: Time limit for a request in seconds.
    """

    def __init__(self, jobs: int, limit: float) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        code = "from symbouq_cli.main import main; main()"
        numbers = "--port", str(self._port), "--jobs", str(jobs), "--timeout", str(limit)
        command = [sys.executable, "-c", code, "serve", *numbers]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        self._turns = count()

    def get(self, path: str) -> str:
        """Get the response at a path."""
        with urlopen(f"http://127.0.0.1:{self._port}{path}") as answer:
            return str(answer.read().decode())

    def metric(self, name: str) -> int:
        """Get the value of a metric."""
        told = re.search(rf"^{name} (\S+)$", self.get("/metrics"), re.MULTILINE)
        return int(float(told[1])) if told else 0

    def idle(self) -> bool:
        """Whether the service is running and idle."""
        with suppress(OSError):
            return bool(self.get("/ready")) and not self.metric("symbouq_at_work")
        return False

    def workers(self) -> list[int]:
        """Processes of the service's workers."""
        found = []
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            with suppress(OSError):
                found += map(int, (task / "children").read_text().split())
        return [pid for pid in found if b"spawn_main" in _read(f"/proc/{pid}/cmdline")]

    def memory(self) -> int:
        """Memory of all the service's processes in MiB."""
        sizes = (_read(f"/proc/{p}/statm").split() for p in (self.process.pid, *self.workers()))
        pages = sum(int(size[1]) for size in sizes if size)
        return pages * os.sysconf("SC_PAGE_SIZE") >> 20

    def post(self, record: dict[str, Any]) -> int:
        """Post a trace and return the status of the response."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=900)
        try:
            kind = {"Content-Type": "application/json"}
            connection.request("POST", "/audit", json.dumps(record), kind)
            return connection.getresponse().status
        finally:
            connection.close()

    def send(self, body: bytes, length: int, patience: float) -> int:
        """Send the bytes of a body and return the response's status; 0 without one in `patience`
        seconds.
        """
        head = f"POST /audit HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n"
        kind = "Content-Type: application/json\r\nConnection: close\r\n\r\n"
        with socket.create_connection(("127.0.0.1", self._port), timeout=60) as client:
            client.sendall(f"{head}{kind}".encode() + body)
            client.settimeout(patience)
            with suppress(OSError, IndexError):
                return int(client.recv(64).split()[1])
        return 0

    def hostile(self, kind: str) -> int:
        """Send a hostile request of the given kind and return the status of the response."""
        if kind == "killed worker":
            workers = self.workers()
            with suppress(OSError):
                os.kill(workers[next(self._turns) % len(workers)], signal.SIGKILL)
            return 0
        if kind in BODIES:
            more = 900 if kind == "unfinished" else 0
            return self.send(BODIES[kind], len(BODIES[kind]) + more, 60)
        if kind == "hung up":
            body = json.dumps(HARD).encode()
            return self.send(body, len(body), 0.3)
        return self.post(LONG if kind == "long" else HARD)

    def request(self, number: int) -> tuple[str, int, float]:
        """Make the request with the given number; return its kind, status and duration."""
        if number % 50 == 0:
            kind = KINDS[number // 50 % len(KINDS)]
            return kind, self.hostile(kind), 0.0
        lamp, desk = f"lamp{number % 97}", f"desk{number % 101}"
        scene = f"The {lamp} is above the {desk}."
        response = f"The {desk} is below the {lamp}. Answer: below"
        begin = time.perf_counter()
        return (
            "good",
            self.post({"scene": scene, "response": response}),
            time.perf_counter() - begin,
        )


def _read(path: str) -> bytes:
    with suppress(OSError):
        return Path(path).read_bytes()
    return b""


@contextmanager
def served(jobs: int, limit: float) -> Iterator[Service]:
    """Run a service until the block ends."""
    service = Service(jobs, limit)
    try:
        yield service
    finally:
        service.process.terminate()
        service.process.wait(60)


def settle(service: Service) -> None:
    """Wait until a service is idle."""
    while not service.idle():
        time.sleep(0.5)


def main() -> None:
    """Soak the service."""
    given = argparse.ArgumentParser(description=__doc__)
    whole = partial(given.add_argument, type=int)
    whole("--requests", default=10_000)
    whole("--callers", default=8)
    whole("--jobs", default=2)
    given.add_argument("--timeout", type=float, default=10)
    options = given.parse_args()
    answers: Counter[tuple[str, int]] = Counter()
    times: list[float] = []
    with served(options.jobs, options.timeout) as service:
        settle(service)
        print(f"at the start: {service.memory()} MiB", flush=True)
        with ThreadPoolExecutor(options.callers) as threads:
            for first in range(0, options.requests, ROUND):
                for kind, status, took in threads.map(service.request, range(first, first + ROUND)):
                    answers[kind, status] += 1
                    times += [took] if kind == "good" else []
                settle(service)
                times.sort()
                median, late = times[len(times) // 2], times[len(times) * 99 // 100]
                print(
                    f"{first + ROUND} requests: median {median:.2f} s, 99% {late:.2f} s, longest "
                    f"{times[-1]:.2f} s; {service.memory()} MiB",
                    flush=True,
                )
        print(*(f"{kind}: {n} x {status}" for (kind, status), n in answers.items()), sep="\n")
        print(f"{service.metric('symbouq_restarts_total')} workers replaced")


if __name__ == "__main__":
    main()
