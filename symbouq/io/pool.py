"""Work spread over processes of this machine: results in order, none lost with a process that dies,
and no process left behind.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from symbouq.errors import SymboUQError
from symbouq.limits import end_with

_AHEAD = 4
"""Batches for each process that may be begun before the first of them is fetched."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(eq=False)
class _Task(Generic[_Item, _Result]):
    """A batch, and its results once they are there."""

    batch: Sequence[_Item]
    results: list[_Result] | None = None


@dataclass(eq=False)
class _Process(Generic[_Item, _Result]):
    """A process, the connection to it, and the task that it has."""

    process: BaseProcess
    line: Connection
    task: _Task[_Item, _Result] | None = None


class Pool(Generic[_Item, _Result]):
    """Processes that are each made ready once; a context manager, at whose end there are none left.

    A process that dies is started again. A batch over which it died is done again item by item, so
    that only the item that kills it is lost.

    Args:
        processes: How many.
        make: Called once by each process; gives the function that is called with each batch. It
            can be pickled.
        lost: Gives the result of an item over which a process died, and how it died.
    """

    def __init__(
        self,
        processes: int,
        make: Callable[[], Callable[[Sequence[_Item]], Iterable[_Result]]],
        lost: Callable[[_Item, str], _Result],
    ) -> None:
        self._size = processes
        self._make = make
        self._lost = lost
        methods = multiprocessing.get_all_start_methods()
        self._context: Any = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
        self._processes: list[_Process[_Item, _Result]] = []
        self._waiting: deque[_Task[_Item, _Result]] = deque()
        self._pending: deque[_Task[_Item, _Result]] = deque()

    def __enter__(self) -> Self:
        self._processes = [self._started() for _ in range(self._size)]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for one in self._processes:
            one.process.kill()
        for one in self._processes:
            one.process.join()
            one.line.close()

    def map(self, batches: Iterator[Sequence[_Item]]) -> Iterator[list[_Result]]:
        """The results of some batches, in order.

        Args:
            batches: They are fetched a few ahead. Before one that is empty, nothing is held back:
                what was fetched is given before another batch is asked for.

        Raises:
            Exception: What `make` raised in a process.
        """
        more, empty = True, False
        while more or self._pending:
            self._collect(0)
            while self._pending and self._pending[0].results is not None:
                yield self._pending.popleft().results or []
            empty = empty and bool(self._pending)
            if more and not empty and len(self._pending) < self._size * _AHEAD:
                batch = next(batches, None)
                more, empty = batch is not None, batch is not None and not batch
                if batch:
                    task = _Task[_Item, _Result](batch)
                    self._pending.append(task)
                    self._waiting.append(task)
            elif self._pending:
                self._collect(None)

    def _collect(self, timeout: float | None) -> None:
        """Hands out what waits and takes what is done, after some seconds at most."""
        self._hand_out()
        busy = {one.line: one for one in self._processes if one.task is not None}
        for line in wait(list(busy), timeout) if busy else ():
            one = busy[line]  # type: ignore[index]
            assert one.task is not None  # it is busy
            try:
                results = one.line.recv()
            except (EOFError, OSError):
                self._died(one, one.task)
                continue
            if isinstance(results, Exception):
                raise results
            one.task.results = results
            one.task = None
        self._hand_out()

    def _hand_out(self) -> None:
        for one in list(self._processes):
            if not self._waiting:
                return
            if one.task is None:
                task = self._waiting.popleft()
                try:
                    one.line.send(task.batch)
                except OSError:  # it died before, which is no fault of the batch
                    one = self._restarted(one)
                    with suppress(OSError):  # if this one is dead too, it shows as no answer
                        one.line.send(task.batch)
                one.task = task

    def _died(self, one: _Process[_Item, _Result], task: _Task[_Item, _Result]) -> None:
        """Starts a process again and has its batch done in single items."""
        self._restarted(one)
        how = ending(one.process.exitcode)
        if len(task.batch) == 1:
            task.results = [self._lost(task.batch[0], how)]
            return
        singles = [_Task[_Item, _Result]([item]) for item in task.batch]
        pending = list(self._pending)
        place = pending.index(task)
        self._pending = deque([*pending[:place], *singles, *pending[place + 1 :]])
        self._waiting.extendleft(reversed(singles))

    def _restarted(self, one: _Process[_Item, _Result]) -> _Process[_Item, _Result]:
        """Another process in the place of one that died."""
        one.process.join()
        one.line.close()
        new = self._processes[self._processes.index(one)] = self._started()
        return new

    def _started(self) -> _Process[_Item, _Result]:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=serve, args=(theirs, self._make, os.getpid()), daemon=True
        )
        process.start()
        theirs.close()  # the process has it alone, so its end shows when it dies
        return _Process(process, ours)


def ending(code: int | None) -> str:
    """How a process ended, in words, by its exit code."""
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"


def serve(line: Connection, make: Callable[[], Callable[[Any], Any]], parent: int) -> None:
    """The work of a process: batch after batch, until the parent has no more, or is no more.

    Args:
        line: The connection to the parent: batches come, lists of results go; an error goes if
            the process cannot work on.
        make: As `Pool`.
        parent: The parent's process id.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the interrupt key is the parent's to handle
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    end_with(parent)
    try:
        function = make()
    except Exception as error:
        line.recv()
        line.send(error)
        return
    gc.freeze()  # what is set up stays: the collector need not look at it again
    while True:
        batch = line.recv()
        try:
            line.send(list(function(batch)))
        except SymboUQError as error:
            line.send(error)
            return
