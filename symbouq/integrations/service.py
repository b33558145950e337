"""What servers offer: audits, answers, relations and explanations, by an ontology that is fixed
when they start, each within a time limit.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field

from symbouq.api import worlds_between
from symbouq.auditing.answering.questions import answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.explain import explanation_of
from symbouq.limits import time_limit
from symbouq.records import Instance, Trace, make_record

TIMEOUT = 10.0
"""Seconds that a request may take, unless told otherwise."""


class Relations(BaseModel):
    """The relations between two things of a scene."""

    feasible: Annotated[bool, Field(description="Whether the scene can be true.")]
    possible: Annotated[list[str], Field(description="The relations that it leaves possible.")]
    certain: Annotated[list[str], Field(description="Those that hold in every world of it.")]


class Words(BaseModel):
    """An explanation."""

    text: Annotated[str, Field(description="The trace in words.")]


class Service:
    """Records in, records out, one at a time.

    Args:
        profile: Profile of all records; else each one's own, its dataset's, or the default one.
        ontology: Folder of a user's ontology.
        timeout: Seconds that a record may take; None for no limit.

    Raises:
        OntologyError: If the ontology or the profile cannot be used.
    """

    def __init__(
        self,
        profile: str | None = None,
        ontology: str | None = None,
        timeout: float | None = TIMEOUT,
    ) -> None:
        self._timeout = timeout
        self._auditor = TraceAuditor(profile, ontology, partial=True)

    def audit(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The audit of a trace, in its dictionary form.

        Raises:
            RecordError: If the record is no trace, or cannot be audited as it is.
            LimitError: If the time is over before the trace is read.
        """
        trace = make_record(Trace, {"id": "trace", **record})
        with time_limit(self._timeout):
            return self._auditor.audited(trace)

    def answer(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a question from its scene, as `symbouq.records.AnswerRecord`.

        Raises:
            RecordError: If the record is no question, or has no answer space.
            LimitError: If the time is over.
        """
        question = make_record(Instance, {"id": "question", **record})
        with time_limit(self._timeout):
            return {"id": question.id, **vars(answer(self._auditor, question))}

    def relations_between(
        self, scene: str | list[str], subject: str, object: str, profile: str | None = None
    ) -> dict[str, Any]:
        """The relations that a scene leaves possible between two things, and those that are
        certain; `feasible` says whether it contradicts itself.

        Raises:
            RecordError: If the scene cannot be read, or has no such thing.
            LimitError: If the time is over.
        """
        with time_limit(self._timeout):
            found = worlds_between(self._auditor, scene, subject, object, profile=profile)
        if found is None:
            return {"feasible": False, "possible": [], "certain": []}
        return {"feasible": True, "possible": [*found.possible], "certain": [*found.certain]}

    def explain(self, record: Mapping[str, Any]) -> str:
        """A trace in words, claim by claim, with a sketch of its scene.

        Raises:
            RecordError: As `audit`.
            LimitError: As `audit`.
        """
        trace = make_record(Trace, {"id": "trace", **record})
        with time_limit(self._timeout):
            return "\n".join(explanation_of(self._auditor, trace).lines)


_service: Service


def _start(*arguments: Any) -> None:
    """Gives a worker process its service, with rules and parser loaded."""
    global _service
    _service = Service(*arguments)
    _service.audit({"scene": "A is above B.", "response": "B is below A."})


def _serve(name: str, *arguments: Any) -> Any:
    return getattr(_service, name)(*arguments)


class Workers:
    """Processes that each have a `Service`; a context manager.

    Args:
        jobs: How many.
        profile: As `Service`.
        ontology: As `Service`.
        timeout: As `Service`.
    """

    def __init__(
        self,
        jobs: int,
        profile: str | None = None,
        ontology: str | None = None,
        timeout: float | None = TIMEOUT,
    ) -> None:
        self._jobs = jobs
        self._pool = ProcessPoolExecutor(
            jobs, get_context("spawn"), _start, (profile, ontology, timeout)
        )

    def __enter__(self) -> Self:
        """Starts them, and waits for the first that is ready."""
        for begun in [self._pool.submit(os.getpid) for _ in range(self._jobs)]:
            begun.result()
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    async def call(self, name: str, *arguments: Any) -> Any:
        """What a method of a worker's service gives.

        Raises:
            SymboUQError: As the method.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, partial(_serve, name, *arguments))
