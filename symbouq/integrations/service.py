"""What servers offer: audits, answers, relations and explanations, by an ontology that is fixed
when they start, each within a time limit.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field

from symbouq.api import worlds_between
from symbouq.auditing.answers import answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.explain import explanation_of
from symbouq.errors import SymboUQError, internal
from symbouq.io.pool import Child, serve
from symbouq.limits import LimitError, time_limit
from symbouq.records import Instance, Trace, make_record

TIMEOUT = 10.0
"""Seconds that a request may take, unless told otherwise."""

_GRACE = 5.0
"""Seconds after that in which a worker should have noticed, before it is ended."""

_LOG = logging.getLogger(__name__)


class Relations(BaseModel):
    """The relations between two things of a scene."""

    feasible: Annotated[bool, Field(description="Whether the scene can be true.")]
    possible: Annotated[list[str], Field(description="The relations that it leaves possible.")]
    certain: Annotated[list[str], Field(description="Those that hold in every world of it.")]


class Words(BaseModel):
    """An explanation."""

    text: Annotated[str, Field(description="The trace in words.")]


class Service:
    """Records in, records out. Threads may share it: they take turns.

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


class ServiceError(SymboUQError):
    """A request fails, though nothing is wrong with it: the worker died, or has a fault."""


_Call = tuple[str, tuple[Any, ...]]
"""Name of a method of `Service`, and its arguments."""


def _serving(*arguments: Any) -> Callable[[Sequence[_Call]], list[Any]]:
    """A service with rules and parser loaded, as the work of a process."""
    service = Service(*arguments)
    with suppress(LimitError):
        service.audit({"scene": "A is above B.", "response": "B is below A."})
    return lambda calls: [_served(service, *call) for call in calls]


def _served(service: Service, name: str, arguments: tuple[Any, ...]) -> Any:
    """What a method gives, or raises."""
    try:
        return getattr(service, name)(*arguments)
    except SymboUQError as error:
        return error
    except Exception as error:
        _LOG.exception("a request to %s fails", name)
        return ServiceError(internal(error))


class _Worker:
    """A process with a `Service`, one request at a time.

    A process that dies, or does not answer in time, is ended, and another one started.

    Args:
        arguments: Those of the service.
        patience: Seconds after which an answer is not awaited any more; None for no limit.
    """

    def __init__(self, arguments: tuple[Any, ...], patience: float | None) -> None:
        self._make = partial(_serving, *arguments)
        self._patience = patience
        self._ready = False
        self._start()

    def ready(self) -> None:
        """Waits until the process can work.

        Raises:
            ServiceError: If it died.
            SymboUQError: If its service cannot be made.
        """
        if not self._ready:
            self._answers([], None)
            self._ready = True

    def call(self, call: _Call) -> Any:
        """What a method of the service gives.

        Raises:
            LimitError: If there is no answer in time.
            ServiceError: If the process died, or has a fault.
            SymboUQError: As the method.
        """
        self.ready()
        (found,) = self._answers([call], self._patience)
        if isinstance(found, Exception):
            raise found
        return found

    def end(self) -> None:
        """Ends the process."""
        self.child.process.kill()
        self.child.ended()

    def _start(self) -> None:
        self.child = Child("spawn", serve, self._make, os.getpid())
        self._ready = False

    def _answers(self, calls: list[_Call], patience: float | None) -> list[Any]:
        fault: Exception = LimitError()
        line = self.child.line
        try:
            line.send(calls)
            if line.poll(patience):
                found = line.recv()
                if not isinstance(found, Exception):
                    return list(found)
                fault = found
        except (EOFError, OSError):
            fault = ServiceError(f"the worker died ({self.child.ended()})")
        self.end()
        self._start()
        raise fault


class Workers:
    """Processes that each have a `Service`; a context manager.

    Args:
        jobs: How many.
        profile: As `Service`.
        ontology: As `Service`.
        timeout: As `Service`; a worker that is not done soon after is ended.
    """

    def __init__(
        self,
        jobs: int,
        profile: str | None = None,
        ontology: str | None = None,
        timeout: float | None = TIMEOUT,
    ) -> None:
        self._jobs = jobs
        self._arguments = profile, ontology, timeout
        self._patience = None if timeout is None else timeout + _GRACE
        self._workers: list[_Worker] = []
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._threads = ThreadPoolExecutor(jobs, "worker")

    def __enter__(self) -> Self:
        """Starts them, and waits until they are ready.

        Raises:
            OntologyError: If the ontology or the profile cannot be used.
        """
        try:
            for _ in range(self._jobs):
                self._workers.append(_Worker(self._arguments, self._patience))
            for worker in self._workers:
                worker.ready()
                self._idle.put(worker)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.child.process.kill()  # nobody waits for what is still at work
        self._threads.shutdown()
        for worker in self._workers:
            worker.end()

    async def call(self, name: str, *arguments: Any) -> Any:
        """What a method of a worker's service gives.

        Raises:
            LimitError: If there is no answer in time.
            ServiceError: If the worker died over it, or has a fault; the next call has another.
            SymboUQError: As the method.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._called, (name, arguments))

    def _called(self, call: _Call) -> Any:
        worker = self._idle.get()  # there is one for each thread
        try:
            return worker.call(call)
        finally:
            self._idle.put(worker)
