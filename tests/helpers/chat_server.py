"""A local server for chat completions, answered by a function of the test."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answering = Callable[
    [dict[str, Any]], "str | tuple[int, str | dict[str, Any]] | dict[str, Any] | None"
]
"""Takes the body of a request. Returns the text of the answer, a status with its message or error,
a whole body, or None to close the connection.
"""


@dataclass
class ChatServer:
    """Record of what a server was asked.

    Attributes:
        url: Address of the server.
        bodies: The bodies of the requests, in order.
        keys: The headers that contain a key.
        most: Maximum number of requests in progress at the same time.
    """

    url: str
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    most: int = 0
    now: int = 0


@contextmanager
def chat_server(answering: Answering, delay: float = 0) -> Iterator[ChatServer]:
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                server.bodies.append(body)
                server.keys.append(self.headers.get("Authorization"))
                server.now += 1
                server.most = max(server.most, server.now)
            time.sleep(delay)
            given = answering(body)
            with lock:
                server.now -= 1
            if given is None:
                self.close_connection = True
                self.connection.close()
                return
            status, content = 200, given
            if isinstance(given, tuple):
                status, said = given
                content = {"error": {"message": said} if isinstance(said, str) else said}
            elif isinstance(given, str):
                content = completion(given)
            self._send(status, content)

        def _send(self, status: int, content: Any) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass  # the client or the test closed the connection

    listening = Server(("127.0.0.1", 0), Handler)
    server = ChatServer(f"http://127.0.0.1:{listening.server_address[1]}/v1")
    thread = threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def completion(text: str, finish: str = "stop") -> dict[str, Any]:
    return {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }


def asked_sentences(body: dict[str, Any]) -> dict[str, str]:
    """Return the sentences that a request asks to read, by their labels."""
    user = next(m for m in body["messages"] if m["role"] == "user")
    sentences: dict[str, str] = json.loads(user["content"])["sentences"]
    return sentences
