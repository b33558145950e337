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


class Child:
    """A process with a line to it.

    Args:
        method: How it starts: `fork` or `spawn`.
        work: Called in it with its end of the line and the arguments.
        arguments: Further arguments of `work`.
        daemon: Whether it ends with this process, and may have no processes itself.

    Attributes:
        line: The connection to it.
        process: The process.
    """

    def __init__(
        self, method: str, work: Callable[..., None], *arguments: Any, daemon: bool = True
    ) -> None:
        context: Any = multiprocessing.get_context(method)
        self.line: Connection
        self.line, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(
            target=work, args=(theirs, *arguments), daemon=daemon
        )
        self.process.start()
        theirs.close()  # the process has it alone, so its end shows when it dies

    def ended(self) -> str:
        """How it ended, which is waited for."""
        self.process.join()
        self.line.close()
        code = self.process.exitcode
        if code is not None and code < 0:
            return f"killed by {signal.Signals(-code).name}"
        return f"exit code {code}"


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
        self._method = "fork" if "fork" in methods else "spawn"
        self._children: dict[Child, _Task[_Item, _Result] | None] = {}
        self._waiting: deque[_Task[_Item, _Result]] = deque()
        self._pending: deque[_Task[_Item, _Result]] = deque()

    def __enter__(self) -> Self:
        for _ in range(self._size):
            self._started()
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._children:
            child.process.kill()
        for child in self._children:
            child.ended()

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
        busy = {child.line: (child, task) for child, task in self._children.items() if task}
        for line in wait(list(busy), timeout) if busy else ():
            child, task = busy[line]  # type: ignore[index]
            try:
                results = child.line.recv()
            except (EOFError, OSError):
                self._died(child, task)
                continue
            if isinstance(results, Exception):
                raise results
            task.results = results
            self._children[child] = None
        self._hand_out()

    def _hand_out(self) -> None:
        for child, task in list(self._children.items()):
            if not self._waiting:
                return
            if task is None:
                task = self._waiting.popleft()
                try:
                    child.line.send(task.batch)
                except OSError:  # it died before, which is no fault of the batch
                    self._ended(child)
                    child = self._started()
                    with suppress(OSError):  # if this one is dead too, it shows as no answer
                        child.line.send(task.batch)
                self._children[child] = task

    def _died(self, child: Child, task: _Task[_Item, _Result]) -> None:
        """Starts a process again and has its batch done in single items."""
        how = self._ended(child)
        self._started()
        if len(task.batch) == 1:
            task.results = [self._lost(task.batch[0], how)]
            return
        singles = [_Task[_Item, _Result]([item]) for item in task.batch]
        pending = list(self._pending)
        place = pending.index(task)
        self._pending = deque([*pending[:place], *singles, *pending[place + 1 :]])
        self._waiting.extendleft(reversed(singles))

    def _ended(self, child: Child) -> str:
        del self._children[child]
        return child.ended()

    def _started(self) -> Child:
        child = Child(self._method, serve, self._make, os.getpid())
        self._children[child] = None
        return child


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
