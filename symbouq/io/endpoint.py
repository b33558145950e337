"""Servers that speak OpenAI's chat completions: vLLM, llama.cpp, hosted ones."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from symbouq.errors import SymboUQError, one_line
from symbouq.io.chat import Answer, Message, UnansweredError

KEYS = ("SYMBOUQ_API_KEY", "OPENAI_API_KEY")
"""Variables of the environment that may hold the server's key, in the order in which they are
looked at. A key is taken from nowhere else."""

_PATH = "/chat/completions"
_PASSING = (408, 409, 425, 429, 500, 502, 503, 504)
"""Statuses that may pass: asked again, later and later, or when the server says."""
_TEMPERATURE = 0.7
"""Of samples."""


class RefusedError(SymboUQError):
    """A server answers no request: a wrong key, model or address."""


class Endpoint:
    """A server with a model; safe from several threads.

    What a server refuses of a request's settings (a schema, a temperature, the name of the most
    tokens) is left out from then on.

    Args:
        url: Its address, such as `http://localhost:8000/v1`.
        model: The model's name there.
        timeout: Seconds that an answer may take.
        retries: How often a request is made again where a fault may pass.

    Raises:
        SymboUQError: If the address is none of HTTP.
    """

    def __init__(self, url: str, model: str, timeout: float = 120, retries: int = 5) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise SymboUQError(f"{url!r} is no address of a server: give http://HOST:PORT/v1")
        address = url.rstrip("/") if parts.path.strip("/") else f"{url.rstrip('/')}/v1"
        self.url = address if address.endswith(_PATH) else address + _PATH
        self.model = model
        self._timeout = timeout
        self._retries = retries
        self._key = next((os.environ[name] for name in KEYS if os.environ.get(name)), None)
        self._local = threading.local()
        # What is tried again is nobody's concern; what fails in the end is told by its error.
        logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)
        self._refused: set[str] = set()

    def ask(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        most: int,
        sample: int,
    ) -> Answer:
        """The model's answer to a chat.

        Args:
            messages: The chat so far.
            schema: JSON Schema of the answer.
            most: Most tokens of the answer.
            sample: 0 for the most probable answer, else the number of a random one.

        Raises:
            UnansweredError: If there is none, after all retries.
            RefusedError: If the server answers no such request.
        """
        while True:
            settings = self._settings(schema, most, sample)
            response = self._posted({"model": self.model, "messages": list(messages), **settings})
            if response.status_code != 400 or not self._learns(response.text, settings):
                return _answer(response)

    def _settings(self, schema: Mapping[str, Any], most: int, sample: int) -> dict[str, Any]:
        wanted: dict[str, Any] = {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "reading", "strict": True, "schema": schema},
            },
            "temperature": _TEMPERATURE if sample else 0.0,
            "seed": sample,
            "max_tokens": most,
        }
        if "max_tokens" in self._refused:
            wanted["max_completion_tokens"] = most
        return {name: value for name, value in wanted.items() if name not in self._refused}

    def _learns(self, fault: str, settings: Mapping[str, Any]) -> bool:
        """Whether a refusal names one of the settings, without which it may be tried again."""
        named = [name for name in settings if name in fault]
        if not named and "response_format" in settings and "schema" in fault:
            named = ["response_format"]
        self._refused.update(named[:1])
        return bool(named)

    def _posted(self, body: Mapping[str, Any]) -> requests.Response:
        try:
            return self._session.post(self.url, json=body, timeout=self._timeout)
        except requests.RequestException as error:
            raise UnansweredError(f"{self.url} does not answer: {_brief(error)}") from error

    @property
    def _session(self) -> requests.Session:
        """The thread's own connections."""
        if not hasattr(self._local, "session"):
            session = requests.Session()
            retry = Retry(
                total=self._retries,
                backoff_factor=0.5,
                backoff_jitter=0.5,
                backoff_max=30,
                status_forcelist=_PASSING,
                allowed_methods=None,
                raise_on_status=False,
            )
            for scheme in ("http://", "https://"):
                session.mount(scheme, HTTPAdapter(max_retries=retry))
            session.trust_env = not _is_local(self.url)
            if self._key:
                session.headers["Authorization"] = f"Bearer {self._key}"
            self._local.session = session
        session = self._local.session
        assert isinstance(session, requests.Session)
        return session


def _is_local(url: str) -> bool:
    """Whether a server is this machine's own, which no proxy leads to."""
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


def _answer(response: requests.Response) -> Answer:
    """What a response says.

    Raises:
        RefusedError: If the server answers none.
        UnansweredError: If it has no answer to this.
    """
    status = response.status_code
    fault = f"{response.url} answers with status {status}: {_said(response)}"
    if status in (401, 403):
        raise RefusedError(f"{fault} (the key is taken from {' or '.join(KEYS)})")
    if status == 404:
        raise RefusedError(f"{fault} (are address and model right?)")
    if status != 200:
        raise UnansweredError(fault)
    try:
        content = response.json()
        (choice, *_) = content["choices"]
        text = choice["message"]["content"] or ""
        usage = content.get("usage") or {}
        return Answer(
            str(text),
            int(usage.get("prompt_tokens") or 0),
            int(usage.get("completion_tokens") or 0),
            choice.get("finish_reason") == "length",
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnansweredError(
            f"{response.url} does not answer as OpenAI's chat completions do: {_said(response)}"
        ) from error


def _said(response: requests.Response) -> str:
    return " ".join(response.text.split())[:200] or response.reason or "nothing"


def _brief(error: Exception) -> str:
    """The innermost reason of a fault of the connection."""
    while error.args and isinstance(error.args[0], Exception):
        error = error.args[0]
    reason = getattr(error, "reason", None)
    return _brief(reason) if isinstance(reason, Exception) else one_line(error)[:200]
