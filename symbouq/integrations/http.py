"""The HTTP service of `symbouq serve`: records in, records out, described by OpenAPI at `/docs`."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from symbouq.errors import SymboUQError
from symbouq.integrations.service import Relations, ServiceError, Words, Workers
from symbouq.limits import LimitError
from symbouq.records import AnswerRecord, Audit, Instance, Trace
from symbouq.version import __version__

MAX_BODY = 1 << 20
"""Bytes of a request's body, unless told otherwise."""


class Pair(BaseModel):
    """Two things of a scene."""

    model_config = ConfigDict(extra="forbid")

    scene: Annotated[str | list[str], Field(description="The scene, in sentences.")]
    subject: Annotated[str, Field(description="A thing, as the scene names it.")]
    object: Annotated[str, Field(description="Another thing.")]
    profile: Annotated[str | None, Field(description="Profile of the rules.")] = None


class Fault(BaseModel):
    """Why there is no result."""

    error: Annotated[str, Field(description="What is wrong, and with what.")]


class _Bounded:
    """Refuses bodies beyond a size, whether they tell it or not.

    Args:
        app: What is behind.
        most: Bytes of a body.
    """

    def __init__(self, app: Any, most: int) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        messages, size = [], 0
        while True:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            if size > self._most:
                text = f"the body is larger than {self._most:,} bytes"
                await JSONResponse({"error": text}, 413)(scope, receive, send)
                return
            if not message.get("more_body"):
                break
        read = iter(messages)

        async def again() -> Any:
            return next(read, None) or await receive()

        await self._app(scope, again, send)


def application(workers: Workers, max_body: int = MAX_BODY, most: int = 64) -> FastAPI:
    """The application.

    Args:
        workers: What does the work.
        max_body: Bytes of a request's body; a larger one is refused with 413.
        most: Requests at work or waiting; further ones are refused with 503.
    """
    app = FastAPI(title="SymboUQ", version=__version__, description=(__doc__ or ""))
    registry = CollectorRegistry()
    served = Counter("symbouq_requests", "Requests.", ["path", "status"], registry=registry)
    seconds = Histogram("symbouq_seconds", "Seconds a request.", ["path"], registry=registry)
    claims = Counter("symbouq_claims", "Claims audited.", ["verdict"], registry=registry)
    at_work = Gauge("symbouq_at_work", "Requests at work or waiting.", registry=registry)
    busy = 0

    @app.middleware("http")
    async def counted(
        request: Request, following: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        nonlocal busy
        path = request.scope["path"]
        if path not in _WORK:
            return await following(request)
        if busy >= most:
            served.labels(path, 503).inc()
            return JSONResponse({"error": "busy; try again"}, 503, {"Retry-After": "1"})
        busy += 1
        at_work.set(busy)
        begin = time.monotonic()
        try:
            response = await following(request)
        finally:
            busy -= 1
            at_work.set(busy)
        seconds.labels(path).observe(time.monotonic() - begin)
        served.labels(path, response.status_code).inc()
        return response

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

    @app.post("/audit", responses=_FAULTS)
    async def audit(trace: Trace) -> Audit:
        """Audit a trace."""
        found = await workers.call("audit", trace.model_dump(exclude_none=True))
        for claim in found["claims"]:
            claims.labels(claim["verdict"]).inc()
        return Audit.model_validate(found)

    @app.post("/answer", responses=_FAULTS)
    async def answer(question: Instance) -> AnswerRecord:
        """Answer a question, over its `answer_space`, from its scene."""
        found = await workers.call("answer", question.model_dump(exclude_none=True))
        return AnswerRecord.model_validate(found)

    @app.post("/relations", responses=_FAULTS)
    async def relations(pair: Pair) -> Relations:
        """List the relations that a scene leaves possible between two things."""
        given = pair.scene, pair.subject, pair.object, pair.profile
        return Relations.model_validate(await workers.call("relations_between", *given))

    @app.post("/explain", responses=_FAULTS)
    async def explain(trace: Trace) -> Words:
        """Explain a trace in words."""
        return Words(text=await workers.call("explain", trace.model_dump(exclude_none=True)))

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the service is up."""
        return {"status": "ok", "version": __version__}

    @app.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> str:
        """Counts for Prometheus."""
        return generate_latest(registry).decode()

    app.add_middleware(_Bounded, most=max_body)
    return app


_WORK = ("/audit", "/answer", "/relations", "/explain")
_STATUS = ((LimitError, 504), (ServiceError, 500))
_FAULTS: dict[int | str, dict[str, Any]] = {
    413: {"model": Fault, "description": "The body is too large."},
    422: {"model": Fault, "description": "The record cannot be used."},
    500: {"model": Fault, "description": "The service has a fault."},
    503: {"model": Fault, "description": "Too many requests are at work."},
    504: {"model": Fault, "description": "The time limit was reached."},
}
