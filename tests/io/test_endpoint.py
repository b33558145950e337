from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from helpers.chat_server import chat_server, completion

from symbouq.errors import SymboUQError
from symbouq.io import endpoint
from symbouq.io.chat import Answer, UnansweredError
from symbouq.io.endpoint import Endpoint, RefusedError, UnreachableError

ASKED = [{"role": "user", "content": "Hello?"}]
SCHEMA = {"type": "object"}


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SYMBOUQ_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_a_question_is_asked_as_openai_has_it() -> None:
    with chat_server(lambda body: "Hi.") as server:
        assert Endpoint(server.url, "small").ask(ASKED, SCHEMA, 50, 0) == Answer("Hi.", 100, 10)
    (body,) = server.bodies
    assert (body["model"], body["messages"], body["max_tokens"]) == ("small", ASKED, 50)
    assert (body["temperature"], body["seed"]) == (0, 0)
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert server.keys == [None]


def test_samples_are_drawn() -> None:
    with chat_server(lambda body: "Hi.") as server:
        Endpoint(server.url, "small").ask(ASKED, SCHEMA, 50, 2)
    assert server.bodies[0]["temperature"] > 0 and server.bodies[0]["seed"] == 2


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ({"SYMBOUQ_API_KEY": "s", "OPENAI_API_KEY": "o"}, "Bearer s"),
        ({"OPENAI_API_KEY": "o"}, "Bearer o"),
        ({"SYMBOUQ_API_KEY": ""}, None),
    ],
)
def test_the_key_is_of_the_environment(
    given: dict[str, str], used: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with chat_server(lambda body: "Hi.") as server:
        Endpoint(server.url, "small").ask(ASKED, SCHEMA, 50, 0)
    assert server.keys == [used]


def test_a_key_that_cannot_be_sent_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMBOUQ_API_KEY", "sk-secret\n")
    with chat_server(lambda body: "Hi.") as server:
        Endpoint(server.url, "small").ask(ASKED, SCHEMA, 50, 0)
    assert server.keys == ["Bearer sk-secret"]
    monkeypatch.setenv("SYMBOUQ_API_KEY", "sk-\u201csecret")
    with pytest.raises(SymboUQError, match="SYMBOUQ_API_KEY") as error:
        Endpoint(server.url, "small")
    assert "secret" not in str(error.value)


def test_a_netrc_file_has_no_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password mine\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("SYMBOUQ_API_KEY", "s")
    with chat_server(lambda body: "Hi.") as server:
        Endpoint(server.url, "small").ask(ASKED, SCHEMA, 50, 0)
    assert server.keys == ["Bearer s"]


@pytest.mark.parametrize("fault", [(429, "slow down"), (500, "oops"), (503, "busy"), None])
def test_what_may_pass_is_asked_again(fault: Any) -> None:
    answers = [fault, fault, "Hi."]
    with chat_server(lambda body: answers.pop(0)) as server:
        assert Endpoint(server.url, "small").ask(ASKED, SCHEMA, 50, 0).text == "Hi."
    assert len(server.bodies) == 3


def test_and_not_for_ever() -> None:
    with (
        chat_server(lambda body: (500, "oops")) as server,
        pytest.raises(UnansweredError, match=r"500.*oops"),
    ):
        Endpoint(server.url, "small", retries=1).ask(ASKED, SCHEMA, 50, 0)
    assert len(server.bodies) == 2


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_is_none_that_may_pass(status: int) -> None:
    with (
        chat_server(lambda body: (status, "no such key")) as server,
        pytest.raises(RefusedError, match="no such key"),
    ):
        Endpoint(server.url, "small").ask(ASKED, SCHEMA, 50, 0)
    assert len(server.bodies) == 1


@pytest.mark.parametrize("name", ["response_format", "temperature", "seed", "max_tokens"])
def test_a_setting_that_a_server_does_not_have_is_left_out(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    def answering(body: dict[str, Any]) -> Any:
        return (400, f"unsupported parameter: {name}") if name in body else "Hi."

    with chat_server(answering) as server:
        endpoint = Endpoint(server.url, "small")
        for _ in range(2):
            assert endpoint.ask(ASKED, SCHEMA, 50, 0).text == "Hi."
    assert [name in body for body in server.bodies] == [True, False, False]
    told = [f"{endpoint.url} takes no {name}: requests are made without it"]
    if name == "max_tokens":
        assert server.bodies[-1]["max_completion_tokens"] == 50
        told = []
    assert caplog.messages == told


@pytest.mark.parametrize("status", [404, 409, 415, 500, 501, 503])
@pytest.mark.parametrize("fault", ["cannot compile the grammar", "no structured outputs here"])
def test_without_a_schema_is_tried_whatever_the_status(status: int, fault: str) -> None:
    def answering(body: dict[str, Any]) -> Any:
        return (status, fault) if "response_format" in body else "Hi."

    with chat_server(answering) as server:
        assert Endpoint(server.url, "small", retries=0).ask(ASKED, SCHEMA, 50, 0).text == "Hi."
    assert ["response_format" in body for body in server.bodies] == [True, False]


def test_a_wrong_key_is_no_fault_of_the_schema() -> None:
    with (
        chat_server(lambda body: (401, "no key for this schema")) as server,
        pytest.raises(RefusedError),
    ):
        Endpoint(server.url, "small").ask(ASKED, SCHEMA, 50, 0)
    assert len(server.bodies) == 1


def test_a_refusal_says_itself_which_setting_it_means() -> None:
    error = {"message": "response_format or seed?", "param": "seed"}

    def answering(body: dict[str, Any]) -> Any:
        return (400, error) if "seed" in body else "Hi."

    with chat_server(answering) as server:
        assert Endpoint(server.url, "small").ask(ASKED, SCHEMA, 50, 0).text == "Hi."
    assert ["response_format" in body for body in server.bodies] == [True, True]


def test_a_request_that_is_too_long_is_the_request_s_fault() -> None:
    fault = "max_tokens is too large: 50; the maximum context length is 40"
    with chat_server(lambda body: (400, fault)) as server:
        endpoint = Endpoint(server.url, "small")
        for _ in range(2):
            with pytest.raises(UnansweredError, match="too large"):
                endpoint.ask(ASKED, SCHEMA, 50, 0)
    assert [body["max_tokens"] for body in server.bodies] == [50, 50]


def test_servers_that_check_what_they_are_given_answer_otherwise() -> None:
    def answering(body: dict[str, Any]) -> Any:
        return (422, "seed: extra inputs are not permitted") if "seed" in body else "Hi."

    with chat_server(answering) as server:
        assert Endpoint(server.url, "small").ask(ASKED, SCHEMA, 50, 0).text == "Hi."


def test_tokens_that_nobody_counts_are_estimated() -> None:
    body = completion("x" * 40) | {"usage": None}
    with chat_server(lambda _: body) as server:
        answer = Endpoint(server.url, "small").ask(ASKED, SCHEMA, 50, 0)
    assert (answer.prompt_tokens, answer.reply_tokens) == (len("Hello?") // 4, 10)


def test_an_answer_that_was_cut_says_so() -> None:
    with chat_server(lambda body: completion("Hi", "length")) as server:
        assert Endpoint(server.url, "small").ask(ASKED, SCHEMA, 50, 0).cut


@pytest.mark.parametrize("content", [{}, {"choices": []}, {"choices": [{"message": None}]}])
def test_other_servers_are_told(content: dict[str, Any]) -> None:
    with (
        chat_server(lambda body: content) as server,
        pytest.raises(UnansweredError, match="OpenAI"),
    ):
        Endpoint(server.url, "small").ask(ASKED, SCHEMA, 50, 0)


def test_a_server_that_is_not_there() -> None:
    with chat_server(lambda body: "Hi.") as server:
        pass
    with pytest.raises(UnansweredError, match="does not answer"):
        Endpoint(server.url, "small", retries=0).ask(ASKED, SCHEMA, 50, 0)


def test_a_server_that_takes_too_long() -> None:
    with (
        chat_server(lambda body: "Hi.", delay=1) as server,
        pytest.raises(UnansweredError, match=r"[Tt]imed out"),
    ):
        Endpoint(server.url, "small", timeout=0.1, retries=0).ask(ASKED, SCHEMA, 50, 0)


def read_request(connection: socket.socket) -> None:
    """Reads a request to its end: what is left unread breaks the connection off."""
    with connection.makefile("rb") as stream:
        length = 0
        while (line := stream.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        stream.read(length)


@contextmanager
def raw_server(*pieces: bytes, pause: float = 0) -> Iterator[str]:
    """A server that answers any request with some bytes, one after the other."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection, suppress(OSError):
                    read_request(connection)
                    for piece in pieces:
                        connection.sendall(piece)
                        time.sleep(pause)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


def response(content: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    length = b"Content-Length: %d" % len(content)
    return b"\r\n".join([b"HTTP/1.1 " + status, length, *headers, b"", content])


def single(whole: bytes) -> list[bytes]:
    return [bytes([byte]) for byte in whole]


HI = json.dumps(completion("Hi.")).encode()


@pytest.mark.parametrize("part", ["headers", "content", "chunks"])
def test_a_reply_that_drips_takes_too_long(part: str) -> None:
    headers, content = response(HI).split(b"\r\n\r\n")
    pieces = {
        "headers": [*single(headers), b"\r\n\r\n" + content],
        "content": [headers + b"\r\n\r\n", *single(content)],
        "chunks": [
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            *(b"1\r\n%s\r\n" % byte for byte in single(content)),
            b"0\r\n\r\n",
        ],
    }[part]
    with raw_server(*pieces) as url:  # each piece in time, and all of them
        assert Endpoint(url, "small", retries=0).ask(ASKED, SCHEMA, 50, 0).text == "Hi."
    with (
        raw_server(*pieces, pause=0.02) as url,
        pytest.raises(UnreachableError, match=r"[Tt]imed out"),
    ):
        Endpoint(url, "small", timeout=0.3, retries=0).ask(ASKED, SCHEMA, 50, 0)


def test_a_packed_reply_is_read() -> None:
    packed = response(gzip.compress(HI), b"Content-Encoding: gzip")
    with raw_server(packed) as url:
        assert Endpoint(url, "small", retries=0).ask(ASKED, SCHEMA, 50, 0).text == "Hi."


@pytest.mark.parametrize("status", [b"200 OK", b"400 Bad Request", b"503 Busy", b"302 Found"])
@pytest.mark.parametrize("how", ["bomb", "long", "without end"])
def test_a_reply_that_is_too_large_is_read_no_further(
    how: str, status: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "_LARGEST", 1 << 16)
    many = HI[:-1] + b" " * (1 << 22) + b"}"
    pieces = {
        "bomb": [response(gzip.compress(many), b"Content-Encoding: gzip", status=status)],
        "long": [response(many, status=status)],
        "without end": [b"HTTP/1.1 " + status + b"\r\n\r\n", *[b" " * (1 << 16)] * 1000],
    }[how]
    with raw_server(*pieces) as url, pytest.raises(UnansweredError, match="larger than 64 MiB"):
        Endpoint(url, "small", retries=0).ask(ASKED, SCHEMA, 50, 0)


def test_damaged_compression_is_told() -> None:
    with (
        raw_server(response(b"\x1f\x8bHi." + HI, b"Content-Encoding: gzip")) as url,
        pytest.raises(UnansweredError, match="compressed, and damaged"),
    ):
        Endpoint(url, "small", retries=0).ask(ASKED, SCHEMA, 50, 0)


KEY = 'sk-"secret"/of+me'


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 422, 429, 500])
@pytest.mark.parametrize(
    "echo",
    [
        f"wrong key: Bearer {KEY}",
        json.dumps({"headers": {"authorization": f"Bearer {KEY}"}}),
        json.dumps({"key": KEY}).replace("/", r"\/"),
        f"GET /?key={quote(KEY, safe='')}",
        KEY.upper(),
        "x" * 190 + KEY,
    ],
)
def test_a_key_that_comes_back_is_not_told(
    echo: str, status: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SYMBOUQ_API_KEY", KEY)
    reply = response(echo.encode(), status=b"%d No %s" % (status, KEY.encode()))
    with raw_server(reply) as url, pytest.raises(SymboUQError) as caught:
        Endpoint(url, "small", retries=0).ask(ASKED, SCHEMA, 50, 0)
    assert "secret" not in str(caught.value).lower() + caplog.text.lower()
    assert "[the k" in str(caught.value)


def test_a_key_goes_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMBOUQ_API_KEY", KEY)
    with chat_server(lambda body: "Hi.") as other:
        moved = f"Location: {other.url}/chat/completions?key={quote(KEY)}".encode()
        reply = response(b"", moved, status=b"307 Temporary Redirect")
        with raw_server(reply) as url, pytest.raises(RefusedError) as caught:
            Endpoint(url, "small", retries=0).ask(ASKED, SCHEMA, 50, 0)
    assert other.bodies == []
    assert f"it has moved: {other.url}" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://h:8000", "http://h:8000/v1/chat/completions"),
        ("http://h/v1/", "http://h/v1/chat/completions"),
        ("https://h/x/chat/completions", "https://h/x/chat/completions"),
    ],
)
def test_addresses(url: str, address: str) -> None:
    assert Endpoint(url, "m").url == address


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://h/v1", "here", "http://me:secret@h/v1", "http://h/v1?a=b"]
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(SymboUQError, match="address") as error:
        Endpoint(url, "m")
    assert "secret" not in str(error.value)


def test_a_reply_in_parts_is_joined() -> None:
    body = completion("")
    body["choices"][0]["message"]["content"] = [{"type": "text", "text": "Hi."}]
    with chat_server(lambda asked: body) as server:
        assert Endpoint(server.url, "small").ask(ASKED, SCHEMA, 50, 0).text == "Hi."
