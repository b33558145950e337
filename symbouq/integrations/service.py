"""Functions that servers offer: audits, answers, relations and explanations. The ontology is fixed
when a server starts. Each request has a time limit.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field

from symbouq.api import worlds_between
from symbouq.auditing.answers import answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.explain import explanation_of
from symbouq.errors import SymboUQError, internal
from symbouq.io.pool import Child, serve
from symbouq.limits import LimitError, check_time, time_limit
from symbouq.logic.worlds import worlds
from symbouq.ontology.tables import Ontology
from symbouq.records import Instance, Trace, make_record

TIMEOUT = 10.0
"""Default time limit for a request, in seconds."""

_GRACE = 5.0
"""Seconds after this limit for which a worker may continue before it is ended."""

_ABANDONED = 1.0
"""Seconds for which a worker may continue a request after the client disconnects, before the worker
is ended.
"""

_TOLD = 12
"""Maximum number of relations reported to an agent. There may be a hundred."""

_TRIES = 2
"""Number of times to try a request on which a worker dies, because another request may be at fault.
"""

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
    """Service that turns records into results. Threads may share it; they take turns.

    Args:
        profile: Profile for all records. By default, each record's own profile, the profile for its
            dataset, or the default profile.
        ontology: Folder of a user's ontology.
        timeout: Time limit per record in seconds; None for no limit.

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
        self._profile = profile
        self._auditor = TraceAuditor(profile, ontology, partial=True)

    @property
    def profiles(self) -> list[str]:
        """Names of the profiles that a record may use."""
        names = [self._profile] if self._profile else self._auditor.library.profiles
        return [name.replace("_", "-") for name in names]

    def audit(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Audit a trace. Return the audit in its dictionary form.

        Raises:
            RecordError: If the record is not a trace, or cannot be audited.
            LimitError: If time runs out before the trace is read.
        """
        trace = make_record(Trace, {"id": "trace", **record})
        with time_limit(self._timeout):
            return self._auditor.audited(trace)

    def answer(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a question from its scene, as `symbouq.records.AnswerRecord`.

        Raises:
            RecordError: If the record is not a question, or has no answer space.
            LimitError: If time runs out.
        """
        question = make_record(Instance, {"id": "question", **record})
        with time_limit(self._timeout):
            return {"id": question.id, **vars(answer(self._auditor, question))}

    def relations_between(
        self, scene: str | list[str], subject: str, object: str, profile: str | None = None
    ) -> dict[str, Any]:
        """Return the relations that a scene leaves possible between two things, and the relations
        that are certain. `feasible` is False if the scene contradicts itself.

        Raises:
            RecordError: If the scene cannot be read, or lacks one of the things.
            LimitError: If time runs out.
        """
        with time_limit(self._timeout):
            found = worlds_between(self._auditor, scene, subject, object, profile=profile)
        if found is None:
            return {"feasible": False, "possible": [], "certain": []}
        return {"feasible": True, "possible": [*found.possible], "certain": [*found.certain]}

    def relations_told(
        self, scene: str | list[str], subject: str, object: str, profile: str | None = None
    ) -> dict[str, Any]:
        """Return a short form of `relations_between`: the certain relations that imply the others,
        and the other relations with the most phrases, at most a dozen in all. `text` contains the
        same information as a sentence.
        """
        found = self.relations_between(scene, subject, object, profile)
        if not found["feasible"]:
            return found | {"text": "the scene contradicts itself"}
        ontology = self._auditor.library.ontology(self._profile or profile)
        wording = ontology.lexicon.wording
        phrases = Counter(ontology.lexicon.phrase.values())

        def usual(names: Iterable[str]) -> list[str]:
            return sorted((r for r in names if r in wording), key=lambda r: (-phrases[r], r))

        def words(names: Iterable[str]) -> str:
            return ", ".join(dict.fromkeys(wording[r][0] for r in names)) or "nothing"

        with time_limit(self._timeout):
            # For each relation, the relations that follow from it alone, and those from which it
            # follows.
            follows = {r: self._follows(ontology, r, found["certain"]) for r in found["certain"]}
        certain: list[str] = []
        for r in usual(follows):
            if not any(r in follows[o] and (o in certain or o not in follows[r]) for o in follows):
                certain.append(r)
        denials = {*ontology.relations.negation.values(), *found["certain"]}
        others = usual(r for r in found["possible"] if r not in denials)
        some = others[: max(_TOLD - len(certain), 0)]
        more = f", and {len(others) - len(some)} more" if len(others) > len(some) else ""
        text = f"certain: {words(certain)}; possible: {words(some)}{more}"
        return {"feasible": True, "certain": certain, "possible": certain + some, "text": text}

    @staticmethod
    def _follows(ontology: Ontology, relation: str, others: Sequence[str]) -> frozenset[str]:
        check_time()
        found = worlds(ontology, [(0, relation, 1)], (0, 1), others)
        return frozenset(found.certain if found else ()) - {relation}

    def explain(self, record: Mapping[str, Any]) -> str:
        """Explain a trace in words, claim by claim, with a sketch of its scene.

        Raises:
            RecordError: As for `audit`.
            LimitError: As for `audit`.
        """
        trace = make_record(Trace, {"id": "trace", **record})
        with time_limit(self._timeout):
            return "\n".join(explanation_of(self._auditor, trace).lines)


class ServiceError(SymboUQError):
    """Error: a valid request fails, because the worker died or has an internal error."""


_Call = tuple[str, tuple[Any, ...]]
"""Name of a method of `Service`, and arguments for it."""


def _serving(*arguments: Any) -> Callable[[Sequence[_Call]], list[Any]]:
    """Set up a service with rules and parser loaded, for use in a worker process."""
    service = Service(*arguments)
    with suppress(LimitError):
        service.audit({"scene": "A is above B.", "response": "B is below A."})
    return lambda calls: [_served(service, *call) for call in calls]


def _served(service: Service, name: str, arguments: tuple[Any, ...]) -> Any:
    try:
        return getattr(service, name)(*arguments)
    except SymboUQError as error:
        return error
    except Exception as error:
        _LOG.exception("a request to %s fails", name)
        return ServiceError(internal(error))


class _DiedError(Exception):
    """Error: a worker died. The message describes how."""


class _Worker:
    """A process with a `Service` that handles one request at a time. If it dies or does not answer
    in time, it is ended and started again. `at_work` states whether the process can work;
    `restarts` counts how often it was started again.
    """

    def __init__(self, arguments: tuple[Any, ...], threads: ThreadPoolExecutor) -> None:
        self._make = partial(_serving, *arguments)
        self._threads = threads  # these threads wait for its answers
        self._ending: asyncio.TimerHandle | None = None
        self.restarts = -1
        self._start()

    def _start(self) -> None:
        self.child = Child("spawn", serve, self._make, os.getpid())
        self.at_work = self._late = False
        self.restarts += 1

    def ready(self) -> None:
        """Wait until the process can work.

        Raises:
            SymboUQError: If the process died, or its service cannot be created.
        """
        try:
            found = _exchange(self.child.line, [])
        except (EOFError, OSError) as error:
            raise ServiceError(f"the worker died ({self.child.ended()})") from error
        if isinstance(found, Exception):
            raise found
        self.at_work = True

    async def revive(self) -> None:
        if not self.at_work:
            with suppress(_DiedError):
                self.at_work = not isinstance(await self._answers([]), Exception)

    async def call(self, call: _Call, patience: float | None) -> Any:
        """Call a method of the service with a time limit in seconds. Return its result or error.

        Raises:
            LimitError: If there is no answer in time.
            ServiceError: If the process died repeatedly.
        """
        for _ in range(_TRIES):
            try:
                await self.revive()
                found = await self._answers([call], patience)
            except _DiedError as error:
                died = str(error)
                continue
            if isinstance(found, Exception):  # the ontology was edited since
                raise ServiceError(f"no worker can start: {found}")
            return found[0]
        raise ServiceError(f"the worker died ({died})")

    async def answers(self, patience: float) -> bool:
        with suppress(_DiedError, LimitError):
            return self.at_work and not isinstance(await self._answers([], patience), Exception)
        return False

    def end_in(self, seconds: float) -> None:
        if self._ending is not None:
            self._ending.cancel()
        self._ending = asyncio.get_running_loop().call_later(seconds, self._end)

    def _end(self) -> None:
        self._late = True
        self.child.process.kill()

    async def _answers(self, calls: list[_Call], patience: float | None = None) -> Any:
        """Return the answers, or the error that keeps the process from working.

        Raises:
            LimitError: If they do not arrive in time.
            _DiedError: If the process died.
        """
        loop = asyncio.get_running_loop()
        if patience is not None:
            self.end_in(patience)
        try:
            found = await loop.run_in_executor(self._threads, _exchange, self.child.line, calls)
        except (EOFError, OSError) as error:
            how, late = self.child.ended(), self._late
            self._start()
            raise LimitError() if late else _DiedError(how) from error
        finally:
            if self._ending is not None:
                self._ending.cancel()
        if isinstance(found, Exception):  # the process has then ended, too
            self.child.ended()
            self._start()
        return found


def _exchange(line: Connection, calls: list[_Call]) -> Any:
    line.send(calls)
    return line.recv()


class Workers:
    """Context manager for processes that each have a `Service`. They belong to one event loop.

    Args:
        jobs: Number of processes.
        profile: As for `Service`.
        ontology: As for `Service`.
        timeout: As for `Service`. A worker that is not done soon after this limit is ended.
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
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._threads = ThreadPoolExecutor(jobs, "worker")

    def __enter__(self) -> Self:
        """Start the processes, and wait until they are ready.

        Raises:
            OntologyError: If the ontology or the profile cannot be used.
        """
        try:
            for _ in range(self._jobs):
                self._workers.append(_Worker(self._arguments, self._threads))
            for worker in self._workers:
                worker.ready()
                self._idle.put_nowait(worker)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.child.process.kill()  # nobody waits for work that is still in progress
        self._threads.shutdown()
        for worker in self._workers:
            worker.child.ended()

    @property
    def restarts(self) -> int:
        """Number of times that a process was started again, because it died or was overdue."""
        return sum(worker.restarts for worker in self._workers)

    async def ready(self, patience: float) -> bool:
        """Whether a worker answers within the given number of seconds. If no worker is idle, return
        whether one is at work, because its work ends within a limited time.
        """
        if self._idle.empty():
            return any(worker.at_work for worker in self._workers)
        worker = self._idle.get_nowait()
        return bool(await self._with(worker, worker.answers(patience)))

    async def call(self, name: str, *arguments: Any) -> Any:
        """Call a method of a worker's service. Waiting for a worker does not count towards the time
        limit. A cancelled call stops waiting, and does not occupy a worker for long.

        Raises:
            LimitError: If there is no answer in time.
            ServiceError: If two workers died during the call, or if the call has an internal error.
            SymboUQError: As raised by the method.
        """
        worker = await self._idle.get()
        found = await self._with(worker, worker.call((name, arguments), self._patience))
        if isinstance(found, Exception):
            raise found
        return found

    async def _with(self, worker: _Worker, work: Coroutine[Any, Any, Any]) -> Any:
        """Run work on a worker, and return the worker to the queue once it can work again."""
        task = asyncio.create_task(work)
        self._tasks.add(giving := asyncio.create_task(self._given_back(worker, task)))
        giving.add_done_callback(self._tasks.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if worker.at_work and not task.done():
                worker.end_in(_ABANDONED)
            raise

    async def _given_back(self, worker: _Worker, task: asyncio.Task[Any]) -> None:
        await asyncio.wait([task])
        try:
            await worker.revive()
        finally:
            self._idle.put_nowait(worker)
