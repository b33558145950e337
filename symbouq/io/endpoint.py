"""Client for servers with OpenAI's chat completions API: vLLM, llama.cpp, hosted ones."""

from __future__ import annotations

import http.client
import io
import json
import logging
import os
import re
import socket
import threading
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError
from urllib3.util import Retry

from symbouq.errors import RecordError, SymboUQError, one_line
from symbouq.io.chat import TEMPERATURE, Answer, Message, UnansweredError
from symbouq.io.messages import written

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

KEYS = ("SYMBOUQ_API_KEY", "OPENAI_API_KEY")
"""Environment variables for the server's key, in order of precedence. The key comes from nowhere
else.
"""

_LOG = logging.getLogger(__name__)

_PATH = "/chat/completions"
_PASSING = (408, 409, 425, 429, 500, 502, 503, 504)
"""HTTP statuses of transient failures. These requests are retried with increasing delays, or at the
time that the server gives.
"""
_LONGEST_WAIT = 60
"""Maximum delay before a retry, in seconds, even if the server asks for more."""
_TOO_LONG = ("too large", "too long", "context length", "context window", "maximum context")
"""Phrases in server messages about a request that is too long. No change of settings would help."""
_OF_THE_USER = (401, 403, 429)
"""HTTP statuses about the user or the request rate."""
_OF_SCHEMA = ("schema", "grammar", "structured", "guided")
"""Words of server messages about unsupported schemas."""
_LARGEST = 1 << 26
"""Maximum size of a reply in bytes, both compressed and decompressed. The log-probabilities of a
long reply need much of it.
"""
_PACKED = ("gzip", "x-gzip")
"""Names of the compression methods that are requested and supported."""


class RefusedError(SymboUQError):
    """Error: a server rejects all requests, because of a wrong key, model or address."""


class UnreachableError(UnansweredError):
    """Error: a server does not answer, even after all retries. Further requests would also fail."""


class _Retry(Retry):
    """Retry policy with bounded delays, even if the server asks for longer ones."""

    def get_retry_after(self, response: Any) -> float | None:
        wait = super().get_retry_after(response)
        return None if wait is None else min(wait, _LONGEST_WAIT)


class _Bounded(io.RawIOBase):
    """Data from a server, with a limit on size and total time. A socket's own timeout would restart
    with each byte.

    Args:
        raw: The stream of the socket.
        connection: The socket. Its timeout is applied to the whole reply.
    """

    def __init__(self, raw: io.RawIOBase, connection: socket.socket) -> None:
        self._raw = raw
        self._socket = connection
        timeout = connection.gettimeout()
        self._end = None if timeout is None else monotonic() + timeout
        self._left = 2 * _LARGEST  # headers and framing of the content also count

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        if self._end is not None:
            left = self._end - monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            self._socket.settimeout(left)
        size = self._raw.readinto(buffer)
        self._left -= size or 0
        if self._left < 0:
            raise OSError(_TOO_LARGE)
        return size

    def close(self) -> None:
        self._raw.close()
        super().close()


_TOO_LARGE = f"the reply is larger than {_LARGEST >> 20} MiB"


class _BoundedResponse(http.client.HTTPResponse):
    """Response with limits on its headers and content."""

    def __init__(self, sock: socket.socket, *arguments: Any, **more: Any) -> None:
        super().__init__(sock, *arguments, **more)
        self.fp = io.BufferedReader(_Bounded(self.fp.detach(), sock))


class _Adapter(HTTPAdapter):
    """Adapter that limits reading from its connections to a server or a proxy."""

    def init_poolmanager(self, *arguments: Any, **more: Any) -> None:
        super().init_poolmanager(*arguments, **more)
        _bound(self.poolmanager)

    def proxy_manager_for(self, *arguments: Any, **more: Any) -> Any:
        return _bound(super().proxy_manager_for(*arguments, **more))


def _bound(manager: Any) -> Any:
    """Apply the limits on reading to the connections of a pool manager's pools."""
    pools = manager.pool_classes_by_scheme.items()
    manager.pool_classes_by_scheme = {scheme: _bounded(pool) for scheme, pool in pools}
    return manager


@cache
def _bounded(pool: Any) -> Any:
    if pool.ConnectionCls.response_class is _BoundedResponse:
        return pool
    own = {"response_class": _BoundedResponse}
    connection = type("_BoundedConnection", (pool.ConnectionCls,), own)
    return type("_BoundedPool", (pool,), {"ConnectionCls": connection})


class _Received(NamedTuple):
    """A response that has been read.

    Attributes:
        status: The HTTP status.
        content: The content.
        told: Status and server message, for error messages; does not contain the key.
    """

    status: int
    content: bytes
    told: str


class Reply(NamedTuple):
    """Reply of a server.

    Attributes:
        text: The model's text.
        finish: The server's finish reason.
        prompt_tokens: Number of tokens read; 0 if unknown.
        reply_tokens: Number of tokens written; 0 if unknown.
        choice: The server's whole choice object, including log-probabilities.
    """

    text: str
    finish: str
    prompt_tokens: int
    reply_tokens: int
    choice: dict[str, Any]


def held_to(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return request settings that make the text follow a JSON Schema."""
    described = {"name": "reply", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": described}}


def drawn(temperature: float, seed: int, most: int) -> dict[str, Any]:
    """Return request settings for sampling and length."""
    return {"temperature": temperature, "seed": seed, "max_tokens": most}


class Endpoint:
    """Client for a model on a server; thread-safe.

    If the server rejects a setting (a schema, a temperature, the name of the token limit), it is
    omitted from then on, with one warning in this module's log.

    Args:
        url: Address, such as `http://localhost:8000/v1`.
        model: Name of the model on the server.
        timeout: Time limit for a whole reply, in seconds.
        retries: Number of retries after transient failures.

    Raises:
        SymboUQError: If the address is not an HTTP one, or the key cannot be sent.
    """

    def __init__(self, url: str, model: str, timeout: float = 120, retries: int = 5) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise SymboUQError(f"{url!r} is no address of a server: give http://HOST:PORT/v1")
        if "@" in parts.netloc or parts.query:
            raise SymboUQError(
                "the address of a server has neither a password nor a query; a key is taken from "
                f"{' or '.join(KEYS)}"
            )
        path = parts.path.rstrip("/") or "/v1"
        path = path if path.endswith(_PATH) else path + _PATH
        self.url = f"{parts.scheme}://{parts.netloc}{path}"
        self.model = model
        self._timeout = timeout
        self._retries = retries
        self._key = _key()
        self._local = threading.local()
        self._refused: set[str] = set()
        self._learning = threading.Lock()

    def ask(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        most: int,
        sample: int,
    ) -> Answer:
        """Ask the model to answer a chat.

        Args:
            messages: The chat so far.
            schema: JSON Schema of the answer.
            most: Maximum number of tokens in the answer.
            sample: 0 for the most probable answer, otherwise the number of a random one.

        Raises:
            UnansweredError: If there is no answer, after all retries.
            RefusedError: If the server rejects such requests.
        """
        temperature = TEMPERATURE if sample else 0.0
        reply = self.reply(messages, held_to(schema) | drawn(temperature, sample, most))
        read = sum(len(message["content"]) for message in messages) // 4
        return Answer(
            reply.text,
            reply.prompt_tokens or read,
            reply.reply_tokens or len(reply.text) // 4,
            reply.finish == "length",
        )

    def reply(self, messages: Sequence[Message], settings: Mapping[str, Any]) -> Reply:
        """Return the server's reply to a chat.

        Args:
            messages: The chat so far.
            settings: Additional fields for the request. Those that the server rejects are omitted.

        Raises:
            UnansweredError: As for `ask`.
            RefusedError: As for `ask`.
        """
        while True:
            used = {name: value for name, value in settings.items() if name not in self._refused}
            if "max_tokens" in self._refused and "max_tokens" in settings:
                used["max_completion_tokens"] = settings["max_tokens"]
            received = self._posted({"model": self.model, "messages": list(messages), **used})
            fault = received.content.decode(errors="replace")
            if received.status < 400 or not self._learns(received.status, fault, used):
                return _reply(received)

    def _learns(self, status: int, fault: str, settings: Mapping[str, Any]) -> bool:
        """Whether a rejection names one of the settings, so that a retry without it may succeed.
        Rejections of a schema come with various statuses.
        """
        if any(text in fault.lower() for text in _TOO_LONG) or status in _OF_THE_USER:
            return False
        named = settings if status in (400, 422) else settings.keys() & {"response_format"}
        name = _named(fault, named)
        if name is None:
            return False
        with self._learning:
            if name not in self._refused:
                self._refused.add(name)
                if name == "max_tokens":
                    return True  # the server uses the other name for this setting
                _LOG.warning("%s takes no %s: requests are made without it", self.url, name)
        return True

    def _authorized(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request

    def _posted(self, body: Mapping[str, Any]) -> _Received:
        """Send a request and return the server's response.

        Raises:
            UnreachableError: If no response arrives in time.
            UnansweredError: If the response is too large.
        """
        try:
            with self._session.post(
                self.url, json=body, timeout=self._timeout, stream=True, allow_redirects=False
            ) as response:
                content = _content(response)
        except (requests.RequestException, HTTPError, OSError) as error:
            fault = f"{self.url} does not answer: {_brief(error)}"
            if _TOO_LARGE in fault:
                raise UnansweredError(f"{self.url}: {_TOO_LARGE}") from error
            raise UnreachableError(self._without_key(fault)) from error
        said = " ".join(content.decode(errors="replace").split())
        said = self._without_key(said)[:200] or response.reason or "nothing"
        moved = response.headers.get("Location")
        if response.is_redirect and moved:
            said = f"{said} (it has moved: {moved})"
        told = f"{self.url} answers with status {response.status_code}: {said}"
        return _Received(response.status_code, content, self._without_key(told))

    def _without_key(self, text: str) -> str:
        """Remove the key from a text for messages, because some servers echo it."""
        if not self._key:
            return text
        spelled = json.dumps(self._key)[1:-1]
        quoted = quote(self._key), quote(self._key, safe="")
        for key in (self._key, spelled, spelled.replace("/", r"\/"), *quoted):
            text = re.sub(re.escape(key), "[the key]", text, flags=re.IGNORECASE)
        return text

    @property
    def _session(self) -> requests.Session:
        if not hasattr(self._local, "session"):
            session = requests.Session()
            retry = _Retry(
                total=self._retries,
                backoff_factor=0.5,
                backoff_jitter=0.5,
                backoff_max=_LONGEST_WAIT,
                read=min(self._retries, 2),  # each timeout takes its full time
                status_forcelist=_PASSING,
                allowed_methods=None,
                raise_on_status=False,
            )
            for scheme in ("http://", "https://"):
                session.mount(scheme, _Adapter(max_retries=retry))
            session.headers["Accept-Encoding"] = _PACKED[0]
            session.trust_env = not _is_local(self.url)
            session.auth = self._authorized  # ignore credentials in .netrc
            self._local.session = session
        session = self._local.session
        assert isinstance(session, requests.Session)
        return session


def _named(fault: str, settings: Iterable[str]) -> str | None:
    """Return the setting that a rejection is about: the one in its `param`, as used by OpenAI,
    otherwise one that occurs anywhere in it.
    """
    names = [name for name in settings if name != "max_completion_tokens"]
    try:
        param = str(json.loads(fault)["error"]["param"])
    except (ValueError, KeyError, TypeError):
        param = ""
    found = [name for name in names if re.match(rf"{name}\b", param)]
    found += [name for name in names if name in fault]
    if "response_format" in names and any(text in fault.lower() for text in _OF_SCHEMA):
        found.append("response_format")
    return next(iter(found), None)


def _key() -> str | None:
    """Return the server's key from the environment.

    Raises:
        SymboUQError: If the key is not a valid header. The message does not show it.
    """
    for name in KEYS:
        key = os.environ.get(name, "").strip()
        if not key:
            continue
        if not (key.isascii() and key.isprintable()):
            raise SymboUQError(f"{name} has characters that no key has")
        return key
    return None


def _is_local(url: str) -> bool:
    """Whether a server runs on this machine, so that no proxy is needed."""
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


def _content(response: requests.Response) -> bytes:
    """Return the decompressed content of a response.

    Raises:
        OSError: If the content is too large or incomplete.
    """
    packed = response.headers.get("Content-Encoding", "").strip().lower() in _PACKED
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16) if packed else None
    content = bytearray()
    for piece in response.raw.stream(1 << 16, decode_content=False):
        try:
            left = _LARGEST + 1 - len(content)
            content += piece if unpacking is None else unpacking.decompress(piece, left)
        except zlib.error as error:
            raise OSError(f"the reply is compressed, and damaged: {error}") from error
        if len(content) > _LARGEST:
            raise OSError(_TOO_LARGE)
    return bytes(content)


def _reply(received: _Received) -> Reply:
    """Extract the reply from a response.

    Raises:
        RefusedError: If the server rejects all requests.
        UnansweredError: If the server has no answer to this request.
    """
    status, fault = received.status, received.told
    if status in (401, 403):
        raise RefusedError(f"{fault} (the key is taken from {' or '.join(KEYS)})")
    if status == 404 or 300 <= status < 400:
        raise RefusedError(f"{fault} (are address and model right?)")
    if status != 200:
        raise (UnreachableError if status in _PASSING else UnansweredError)(fault)
    try:
        # A lone surrogate, as from an emoji cut in two, cannot be written to a file.
        given = json.loads(received.content)
        said = json.dumps(given, ensure_ascii=False).encode(errors="replace")
        content = json.loads(said)
        (choice, *_) = content["choices"]
        usage = content.get("usage") or {}
        return Reply(
            written({"content": choice["message"]["content"]}).response,
            str(choice.get("finish_reason")),
            int(usage.get("prompt_tokens") or 0),
            int(usage.get("completion_tokens") or 0),
            choice,
        )
    except (
        RecordError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        OverflowError,
    ) as error:
        raise UnansweredError(
            f"this is no answer as OpenAI's chat completions have it: {fault}"
        ) from error


def _brief(error: Exception) -> str:
    while error.args and isinstance(error.args[0], Exception):
        error = error.args[0]
    reason = getattr(error, "reason", None)
    return _brief(reason) if isinstance(reason, Exception) else one_line(error)[:200]
