"""Limits on what a trace may cost, its time and the size of its programs, and on what an ontology
may cost that is compiled; turns of threads.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from time import monotonic
from typing import TypeVar, cast

import clingo
from clingo.backend import Observer

from symbouq.errors import SymboUQError

_GROUND_RULES = 10_000_000
"""Most rules that the program of a trace may have once it is grounded: some two gigabytes."""

_BETWEEN_LOOKS = 1_024
"""Ground rules between two looks at the clock."""

_PATIENCE = 0.05
"""Seconds in which an interrupted solver run should have ended, before it is told again."""

COMPILING = 60
"""Seconds of a processor that it may take to compile an ontology; most take one or two."""

_ROOM = 4 << 30
"""Bytes of memory that it may take beside what the process has already."""

_STUCK = 10 * COMPILING
"""Seconds after which a process counts as stuck that does what may take `COMPILING`."""

_PR_SET_PDEATHSIG = 1

_BEGIN = b"\0"

_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


_LATE = "the time limit was reached"


class LimitError(SymboUQError):
    """A computation takes longer, or grows larger, than its limit allows."""

    def __init__(self, message: object = _LATE) -> None:
        # What a callback raises comes out of clingo as an error of its type made of itself.
        super().__init__(str(message))


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Bounds what is done inside: once the time is over, `check_time`, `grounded` and
    `running` raise LimitError.

    Args:
        seconds: The limit; None for none but that of a surrounding `time_limit`.
    """
    end = monotonic() + (math.inf if seconds is None else seconds)
    token = _deadline.set(min(end, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(token)


@contextmanager
def untimed() -> Iterator[None]:
    """Takes work that is done once for many traces out of the time of one."""
    begin = monotonic()
    deadline = _deadline.get()
    _deadline.set(math.inf)
    try:
        yield
    finally:
        _deadline.set(deadline + monotonic() - begin)


_turns = threading.RLock()


def _new_turns() -> None:
    """Gives a forked process, in which nobody would release it, a lock of its own."""
    global _turns
    _turns = threading.RLock()


os.register_at_fork(after_in_child=_new_turns)


@contextmanager
def turn() -> Iterator[None]:
    """A thread's turn at what all threads of a process share: rules, parsers, and what they
    remember. Neither spaCy nor clingo's syntax trees bear two threads at a time. Turns nest, may
    decorate a function, and waiting for one costs nothing of the time of a trace.
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
    """Whether the time of a surrounding `time_limit` is over."""
    deadline = _deadline.get()
    return deadline < math.inf and monotonic() > deadline


def check_time() -> None:
    """Ends what is done inside a `time_limit` that is over.

    Raises:
        LimitError: If it is.
    """
    if late():
        raise LimitError


class _Meter(Observer):
    """Counts the rules of a program while it is grounded: clingo cannot be interrupted
    there, but what an observer raises ends it.

    Args:
        most: Most rules that it may have.
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
    """Lets the grounding of a program end at the limits. It doubles what grounding costs, so
    it is for programs that may become large.

    Args:
        control: Holds the program.
        most: Most rules that it may have, unless as many as the program of a trace.
    """
    control.register_observer(_Meter(_GROUND_RULES if most is None else most))


class _Watchdog:
    """Interrupts solver runs whose time is over, in a thread that ends when there is nothing
    to watch.
    """

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
    """Gives a forked process, which has no thread of its parent's, a watchdog of its own."""
    global _watchdog
    _watchdog = _Watchdog()


os.register_at_fork(after_in_child=_new_watchdog)


def check_result(result: clingo.SolveResult) -> None:
    """Ends what needs the result of a solver run that was interrupted.

    Raises:
        LimitError: If it was.
    """
    if result.interrupted:
        raise LimitError


@contextmanager
def running(control: clingo.Control) -> Iterator[None]:
    """Interrupts what a solver does inside when the time is over; `check_result` tells.

    Raises:
        LimitError: If the time is over before it begins.
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


def apart(work: Callable[[], R]) -> R:
    """Does work in a process of its own that ends at the limit `COMPILING`, where it takes 4 GB of
    memory, and with this one.

    The grounder can neither be interrupted while it joins atoms, nor does it let Python handle a
    signal; a process can be ended.

    Args:
        work: Gives what can be pickled.

    Raises:
        LimitError: If it takes more time or memory, or its process dies.
        Exception: What the work raises.
    """
    parent = os.getpid()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        child = os.fork()
        if child == 0:
            ours.close()
            _work_alone(work, theirs, parent)
        # Where a signal comes just here, nobody tells the child to begin, and it ends by itself.
        try:
            theirs.close()
            ours.send(_BEGIN)
            told = _all_of(ours)
        except ConnectionError:  # it died before it began
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
    """What a process writes until it ends; nothing if it is stuck."""
    end = monotonic() + _STUCK
    parts: list[bytes] = []
    while select.select([reader], [], [], max(0.0, end - monotonic()))[0]:
        part = reader.recv(1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
    return b""


def end_with(parent: int) -> None:
    """Has this process end when its parent does.

    Args:
        parent: The parent, which may have ended already.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _work_alone(work: Callable[[], R], to_parent: socket.socket, parent: int) -> None:
    """Does work, once told to, in a process forked for it, says what comes of it, and ends."""
    code = 1
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
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
