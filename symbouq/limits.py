"""Limits on the time and program size for a trace, and on compiling an ontology; taking turns
between threads.
"""

from __future__ import annotations

import ctypes
import math
import os
import pickle
import resource
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from time import monotonic
from typing import TypeVar, cast

import clingo
from clingo.backend import Observer

from symbouq.errors import SymboUQError

_GROUND_RULES = 10_000_000
"""Maximum number of ground rules in the program of a trace, about two gigabytes."""

_BETWEEN_LOOKS = 1_024
"""Number of ground rules between two checks of the clock."""

_PATIENCE = 0.05
"""Seconds to wait for an interrupted solver run to end before interrupting it again."""

COMPILING = 60
"""Processor seconds allowed for compiling an ontology. Most ontologies take one or two."""

_ROOM = 4 << 30
"""Bytes of memory allowed in addition to the process's current use."""

_STUCK = 10 * COMPILING
"""Number of seconds after which a process with the limit `COMPILING` counts as stuck."""

_PR_SET_PDEATHSIG = 1

_BEGIN = b"\0"

_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


_LATE = "the time limit was reached"


class LimitError(SymboUQError):
    """A computation takes longer, or becomes larger, than its limit allows."""

    def __init__(self, message: object = _LATE) -> None:
        # clingo turns an exception raised in a callback into one of its own types.
        super().__init__(str(message))


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Limit the time for a block. When the time is over, `check_time`, `grounded` and `running`
    raise LimitError.

    Args:
        seconds: The limit; None keeps the limit of a surrounding `time_limit`.
    """
    end = monotonic() + (math.inf if seconds is None else seconds)
    token = _deadline.set(min(end, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(token)


@contextmanager
def untimed() -> Iterator[None]:
    """Exclude work that many traces share from the time of one trace."""
    begin = monotonic()
    deadline = _deadline.get()
    _deadline.set(math.inf)
    try:
        yield
    finally:
        _deadline.set(deadline + monotonic() - begin)


_turns = threading.RLock()


def _new_turns() -> None:
    """Give a forked process a new lock, because no thread there would release the inherited one."""
    global _turns
    _turns = threading.RLock()


os.register_at_fork(after_in_child=_new_turns)


@contextmanager
def turn() -> Iterator[None]:
    """Let a thread take its turn at using the state that all threads share: rules, parsers and
    caches. Neither spaCy nor clingo's syntax trees support concurrent use. Turns can be nested and
    used as a decorator. Waiting for one does not count towards the time of a trace.
    """
    turns = _turns
    if not turns.acquire(blocking=False):
        with untimed():
            turns.acquire()
    try:
        yield
    finally:
        turns.release()


def late() -> bool:
    """Whether the time limit set by a surrounding `time_limit` has passed."""
    deadline = _deadline.get()
    return deadline < math.inf and monotonic() > deadline


def check_time() -> None:
    """Check the time limit.

    Raises:
        LimitError: If the time limit set by a surrounding `time_limit` has passed.
    """
    if late():
        raise LimitError


class _Meter(Observer):
    """Counter of ground rules during grounding. clingo cannot be interrupted there, but an
    exception in an observer ends it.

    Args:
        most: Maximum number of rules.
    """

    def __init__(self, most: int) -> None:
        self._rules = 0
        self._most = most

    def rule(self, choice: bool, head: object, body: object) -> None:
        self._rules += 1
        if self._rules % _BETWEEN_LOOKS == 0:
            check_time()
            if self._rules > self._most:
                raise LimitError(f"a program grew beyond {self._most:,} rules")


def meter(control: clingo.Control, most: int | None = None) -> None:
    """Apply the limits to the grounding of a program. This doubles the cost of grounding, so use it
    only for programs that may become large.

    Args:
        control: Control object of the program.
        most: Maximum number of rules; by default, that for the program of a trace.
    """
    control.register_observer(_Meter(_GROUND_RULES if most is None else most))


class _Watchdog:
    """Thread that interrupts overdue solver runs. It ends when none is left to watch."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._runs: dict[int, tuple[float, clingo.Control]] = {}
        self._wakes = math.inf

    def watch(self, deadline: float, control: clingo.Control) -> None:
        with self._changed:
            self._runs[id(control)] = deadline, control
            if self._wakes == math.inf:
                self._wakes = deadline
                threading.Thread(target=self._work, name="time limit", daemon=True).start()
            elif deadline < self._wakes:
                self._changed.notify()

    def release(self, control: clingo.Control) -> None:
        with self._changed:
            del self._runs[id(control)]

    def _work(self) -> None:
        with self._changed:
            while self._runs:
                self._wakes = min(deadline for deadline, _ in self._runs.values())
                pause = max(_PATIENCE, self._wakes - monotonic())
                self._changed.wait(min(pause, threading.TIMEOUT_MAX))
                for deadline, control in self._runs.values():
                    if deadline <= monotonic():
                        control.interrupt()
            self._wakes = math.inf


_watchdog = _Watchdog()


def _new_watchdog() -> None:
    """Give a forked process, which does not inherit threads, a new watchdog."""
    global _watchdog
    _watchdog = _Watchdog()


os.register_at_fork(after_in_child=_new_watchdog)


def check_result(result: clingo.SolveResult) -> None:
    """Check whether a solver run was interrupted.

    Raises:
        LimitError: If the run was interrupted.
    """
    if result.interrupted:
        raise LimitError


@contextmanager
def running(control: clingo.Control) -> Iterator[None]:
    """Interrupt solver runs in the block when time is over. `check_result` then raises an error.

    Raises:
        LimitError: If time is over before the block begins.
    """
    deadline = _deadline.get()
    if deadline == math.inf:
        yield
        return
    check_time()
    _watchdog.watch(deadline, control)
    try:
        yield
    finally:
        _watchdog.release(control)


R = TypeVar("R")


_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end a command."""


def apart(work: Callable[[], R]) -> R:
    """Run work in a separate process, which ends when it exceeds the time `COMPILING` or 4 GB of
    memory, or when this process ends.

    While the grounder joins atoms, it cannot be interrupted and blocks Python's signal handling. A
    separate process can be ended.

    Args:
        work: Function with a picklable result.

    Raises:
        LimitError: If the work takes more time or memory, or its process dies.
        Exception: Any exception from the work.
    """
    parent = os.getpid()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        # What a signal raises while hooks of the fork run would be lost.
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        try:
            child = os.fork()
        except OSError:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
            raise
        if child == 0:
            ours.close()
            _work_alone(work, theirs, parent, unblocked)
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
            theirs.close()
            ours.send(_BEGIN)
            told = _all_of(ours)
        except ConnectionError:  # the process died before it began
            told = b""
        finally:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    if not told:
        raise LimitError(f"it takes more than {COMPILING} seconds, or 4 GB of memory")
    done, value = pickle.loads(told)
    if not done:
        raise value
    return cast("R", value)


def _all_of(reader: socket.socket) -> bytes:
    """Return everything that a process writes until it ends; empty if it is stuck."""
    end = monotonic() + _STUCK
    parts: list[bytes] = []
    while select.select([reader], [], [], max(0.0, end - monotonic()))[0]:
        part = reader.recv(1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
    return b""


def end_with(parent: int) -> None:
    """End this process when its parent ends.

    Args:
        parent: The parent, which may have ended already.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _work_alone(
    work: Callable[[], R], to_parent: socket.socket, parent: int, unblocked: Collection[int]
) -> None:
    """Run work in a forked process once told to begin, send its result, and exit."""
    code = 1
    try:
        for number in _ENDING:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        end_with(parent)
        if not to_parent.recv(len(_BEGIN)):
            return
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (COMPILING, COMPILING + 1))
        if sys.platform == "linux":
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            most = pages * resource.getpagesize() + _ROOM
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        try:
            told = pickle.dumps((True, work()))
        except MemoryError:
            return
        except Exception as error:
            told = pickle.dumps((False, error))
        to_parent.sendall(told)
        code = 0
    finally:
        os._exit(code)
