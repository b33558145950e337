"""The HTTP service of `symbouq serve`: records in, records out, described by OpenAPI at `/docs`."""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.security import HTTPBearer
from fastapi_offline import FastAPIOffline
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import from_json
from starlette.exceptions import HTTPException
from uvicorn.protocols.http.h11_impl import H11Protocol

from symbouq.errors import SymboUQError
from symbouq.integrations.service import Relations, ServiceError, Words, Workers
from symbouq.limits import LimitError
from symbouq.records import AnswerRecord, Audit, Instance, Trace
from symbouq.version import __version__

MAX_BODY = 1 << 20
"""Default maximum number of bytes in the body of a request."""

PATIENCE = 10.0
"""Time limit in seconds for a request to begin, and again for its body to arrive."""

_READY = 2.0
"""Time limit in seconds for the answer of a worker that counts as ready."""

_UNFINISHED = 256
"""Maximum number of request bodies awaited at a time. When another request arrives, the oldest one
is abandoned.
"""


class Pair(BaseModel):
    """Two things of a scene."""

    model_config = ConfigDict(extra="forbid")

    scene: Annotated[str | list[str], Field(description="The scene, in sentences.")]
    subject: Annotated[str, Field(description="A thing, as the scene names it.")]
    object: Annotated[str, Field(description="Another thing.")]
    profile: Annotated[str | None, Field(description="Profile of the rules.")] = None


class Fault(BaseModel):
    """The reason why there is no result."""

    error: Annotated[str, Field(description="What is wrong, and with what.")]


class TraceBody(Trace):
    """A trace; the id may be omitted."""

    id: Annotated[str, Field(min_length=1, description="Names it in the audit.")] = "trace"


class QuestionBody(Instance):
    """A question; the id may be omitted."""

    id: Annotated[str, Field(min_length=1, description="Names it in the answer.")] = "question"


class _Metrics:
    """What `/metrics` reports about requests and workers."""

    def __init__(self, workers: Workers) -> None:
        self.registry = CollectorRegistry()
        count = partial(Counter, registry=self.registry)
        self.served = count("symbouq_requests", "Requests.", ["path", "status"])
        self.claims = count("symbouq_claims", "Claims audited.", ["verdict"])
        self.timeouts = count("symbouq_timeouts", "Requests that reached their time limit.")
        self.abandoned = count("symbouq_abandoned", "Requests whose client hung up.")
        self.seconds = Histogram(
            "symbouq_seconds", "Seconds a request.", ["path"], registry=self.registry
        )
        self.at_work = Gauge(
            "symbouq_at_work", "Requests at work or waiting.", registry=self.registry
        )
        self._workers = workers
        self.registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield the counts kept elsewhere. `prometheus_client` calls this method."""
        text = "Workers that died or were overdue, and were started again."
        yield CounterMetricFamily("symbouq_restarts", text, value=self._workers.restarts)


class _Gate:
    """Gate for all requests that need a worker. A request must carry the token, if there is one.
    Its body must arrive in time (`patience`) and must not be too large (`max_body`). At most `most`
    requests are admitted at a time. If a client disconnects, its request is cancelled.
    """

    def __init__(
        self,
        app: Any,
        metrics: _Metrics,
        token: str | None,
        max_body: int,
        most: int,
        patience: float,
        root_path: str,
    ) -> None:
        self._app, self._metrics, self._most_bytes, self._most = app, metrics, max_body, most
        self._bearer = f"Bearer {token}".encode() if token else None
        self._patience, self._root_path = patience, root_path
        self._busy = 0
        self._unfinished: dict[asyncio.Timeout, None] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path, root = scope.get("path", ""), self._root_path
        if path.startswith(f"{root}/"):  # a proxy may remove the root or keep it
            path = path.removeprefix(root)
        scope |= {"root_path": root, "path": root + path}
        if path != "/metrics" and path not in _WORK:
            await self._app(scope, receive, send)
            return
        begin = time.monotonic()

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start" and path in _WORK:
                self._metrics.served.labels(path, message["status"]).inc()
                self._metrics.seconds.labels(path).observe(time.monotonic() - begin)
                if message["status"] == 504:
                    self._metrics.timeouts.inc()
            await send(message)

        given = dict(scope["headers"]).get(b"authorization", b"")
        if self._bearer is not None and not hmac.compare_digest(given, self._bearer):
            headers = {"WWW-Authenticate": "Bearer", "Connection": "close"}
            response = _refusal(401, "this needs the service's token as a bearer token", headers)
            await response(scope, receive, sending)
        elif path == "/metrics":
            await self._app(scope, receive, send)
        elif isinstance(body := await self._body(receive), Response):
            await body(scope, receive, sending)
        elif fault := _fault(body or b""):
            await _refusal(422, fault)(scope, receive, sending)
        elif self._busy >= self._most:
            response = _refusal(503, "busy; try again", {"Retry-After": "1"})
            await response(scope, receive, sending)
        elif body is not None:
            await self._worked(scope, body, receive, sending)

    async def _body(self, receive: Any) -> bytes | Response | None:
        """Return the body of a request, or a response that refuses the body; None if the client
        hung up.
        """
        body = bytearray()
        try:
            async with asyncio.timeout(self._patience) as limit:
                if len(self._unfinished) >= _UNFINISHED:  # a new request is more likely to complete
                    oldest = next(iter(self._unfinished))
                    del self._unfinished[oldest]
                    oldest.reschedule(0)
                self._unfinished[limit] = None
                try:
                    while (message := await receive())["type"] == "http.request":
                        body += message.get("body", b"")
                        if len(body) > self._most_bytes:
                            text = f"the body is larger than {self._most_bytes:,} bytes"
                            return _refusal(413, text, {"Connection": "close"})
                        if not message.get("more_body"):
                            return bytes(body)
                    return None
                finally:
                    self._unfinished.pop(limit, None)
        except TimeoutError:
            return _refusal(408, "the body is not there in time", {"Connection": "close"})

    async def _worked(self, scope: Any, body: bytes, receive: Any, send: Any) -> None:
        """Run the application as long as the client is connected."""
        self._busy += 1
        self._metrics.at_work.inc()
        messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def again() -> Any:
            return next(messages, None) or await asyncio.shield(gone)

        gone = asyncio.ensure_future(receive())
        work = asyncio.ensure_future(self._app(scope, again, send))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
            else:
                self._metrics.abandoned.inc()
        finally:
            self._busy -= 1
            self._metrics.at_work.dec()
            work.cancel()
            gone.cancel()


def _fault(body: bytes) -> str:
    """Explain why a body is unusable JSON: lone surrogates, deep nesting. Empty if it is usable."""
    try:  # writing it detects 1e400, which is read as infinite
        json.dumps(from_json(body, allow_inf_nan=False) if body else None, allow_nan=False)
    except ValueError as error:
        return f"the body is no JSON that can be used: {error}"
    return ""


def _refusal(status: int, text: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": text}, status, headers)


def application(
    workers: Workers,
    max_body: int = MAX_BODY,
    most: int = 64,
    token: str | None = None,
    root_path: str = "",
    patience: float = PATIENCE,
) -> FastAPI:
    """Create the application.

    Args:
        workers: The workers.
        max_body: Maximum number of bytes in the body of a request. A larger body is refused with
            413.
        most: Maximum number of requests that are being processed or waiting. Further requests are
            refused with 503.
        token: Token that requests for work and `/metrics` have to carry, if any.
        root_path: Path under which a proxy serves the application.
        patience: Time limit in seconds for the body of a request to arrive.
    """
    app: FastAPI = FastAPIOffline(
        redoc_url=None,
        title="SymboUQ",
        version=__version__,
        description=__doc__ or "",
    )
    metrics = _Metrics(workers)
    bearer = [Depends(HTTPBearer(auto_error=False))] if token else None  # for `/docs`
    work = APIRouter(responses=_FAULTS, dependencies=bearer)

    @app.exception_handler(SymboUQError)
    async def told(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, SymboUQError)
        status = next((code for kind, code in _STATUS if isinstance(error, kind)), 422)
        return JSONResponse({"error": error.message}, status)

    @app.exception_handler(HTTPException)
    async def refused(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)

    @app.exception_handler(RequestValidationError)
    async def explained(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        faults = (
            f"{'.'.join(map(str, fault['loc'][1:])) or 'body'}: {fault['msg']}"
            for fault in error.errors()
        )
        return JSONResponse({"error": "; ".join(faults)}, 422)

    @work.post("/audit")
    async def audit(trace: TraceBody) -> Audit:
        """Audit a trace."""
        found = await workers.call("audit", trace.model_dump(exclude_none=True))
        for claim in found["claims"]:
            metrics.claims.labels(claim["verdict"]).inc()
        if found["timed_out"]:
            metrics.timeouts.inc()
        return Audit.model_validate(found)

    @work.post("/answer")
    async def answer(question: QuestionBody) -> AnswerRecord:
        """Answer a question, over its `answer_space`, from its scene."""
        found = await workers.call("answer", question.model_dump(exclude_none=True))
        return AnswerRecord.model_validate(found)

    @work.post("/relations")
    async def relations(pair: Pair) -> Relations:
        """List the relations that a scene leaves possible between two things."""
        given = pair.scene, pair.subject, pair.object, pair.profile
        return Relations.model_validate(await workers.call("relations_between", *given))

    @work.post("/explain")
    async def explain(trace: TraceBody) -> Words:
        """Explain a trace in words."""
        return Words(text=await workers.call("explain", trace.model_dump(exclude_none=True)))

    app.include_router(work)

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the service is up."""
        return {"status": "ok", "version": __version__}

    @app.get("/ready", responses={503: {"model": Fault, "description": "No worker answers."}})
    async def ready() -> dict[str, str]:
        """Whether a worker answers."""
        if not await workers.ready(_READY):
            raise HTTPException(503, "no worker answers", {"Retry-After": "1"})
        return {"status": "ok"}

    @app.get("/metrics", response_class=PlainTextResponse)
    async def told_metrics() -> str:
        """Counts for Prometheus."""
        return generate_latest(metrics.registry).decode()

    app.add_middleware(
        _Gate,
        metrics=metrics,
        token=token,
        max_body=max_body,
        most=most,
        patience=patience,
        root_path=root_path,
    )
    return app


class Connection(H11Protocol):
    """Connection that is closed if the client takes too long to begin a request. uvicorn itself
    only limits the time between requests, up to the first byte.
    """

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Handle a new client, which has to begin a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Handle a part of a request, possibly the first part."""
        super().data_received(data)
        if self._waiting and self.cycle is not None and not self.cycle.response_complete:
            self._waiting.cancel()

    def on_response_complete(self) -> None:
        """Handle the end of a response, after which another request is awaited."""
        self._wait()
        super().on_response_complete()

    def _wait(self) -> None:
        if self._waiting:
            self._waiting.cancel()
        self._waiting = self.loop.call_later(PATIENCE, self.transport.abort)


_WORK = ("/audit", "/answer", "/relations", "/explain")
_STATUS = ((LimitError, 504), (ServiceError, 500))
_FAULTS: dict[int | str, dict[str, Any]] = {
    401: {"model": Fault, "description": "The request does not bear the service's token."},
    408: {"model": Fault, "description": "The body was not there in time."},
    413: {"model": Fault, "description": "The body is too large."},
    422: {"model": Fault, "description": "The record cannot be used."},
    500: {"model": Fault, "description": "The service has a fault."},
    503: {"model": Fault, "description": "Too many requests are at work."},
    504: {"model": Fault, "description": "The time limit was reached."},
}
