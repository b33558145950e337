"""Spread work over local processes. Results stay in order, and no other result is lost when a
process dies.
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
"""Number of batches to start per process before the first result is fetched."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(eq=False)
class _Task(Generic[_Item, _Result]):
    """A batch, with its results once they are available."""

    batch: Sequence[_Item]
    results: list[_Result] | None = None


class Child:
    """A process and the connection to it.

    Args:
        method: Start method: `fork` or `spawn`.
        work: Function to call in the process, with its end of the connection and the arguments.
        arguments: Further arguments of `work`.
        daemon: Whether the process ends with this one and may not start processes itself.

    Attributes:
        line: The connection.
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
        theirs.close()  # Only the process holds its end, so the connection closes when it dies

    def ended(self) -> str:
        """Wait for the process to end, and describe how it ended."""
        self.process.join()
        self.line.close()
        code = self.process.exitcode
        if code is not None and code < 0:
            return f"killed by {signal.Signals(-code).name}"
        return f"exit code {code}"


class Pool(Generic[_Item, _Result]):
    """Context manager for processes that are set up once each. It ends them on exit.

    A process that dies is restarted. Its batch is repeated item by item, so that only the fatal
    item is lost.

    Args:
        processes: Number of processes.
        make: Picklable function that each process calls once. Returns the function for batches.
        lost: Returns the result for an item on which a process died, given the item and how it
            died.
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
        """Yield the results for batches, in order.

        Args:
            batches: Batches, which are fetched a few ahead. After an empty batch, all pending
                results are yielded before another batch is fetched.

        Raises:
            Exception: Any exception from `make` in a process.
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
        """Send pending batches and receive results, waiting at most the given number of seconds."""
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
                except OSError:  # the process died earlier; the batch is not at fault
                    self._ended(child)
                    child = self._started()
                    with suppress(OSError):  # if this process is dead as well, it will not answer
                        child.line.send(task.batch)
                self._children[child] = task

    def _died(self, child: Child, task: _Task[_Item, _Result]) -> None:
        """Restart a process and split its batch into single items."""
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
    """Run the main loop of a process: handle batches until the parent has no more or ends.

    Args:
        line: Connection to the parent. Batches come in; lists of results go out, or an error if the
            process must stop.
        make: As in `Pool`.
        parent: The parent's process id.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles interrupts
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    end_with(parent)
    try:
        function = make()
    except Exception as error:
        line.recv()
        line.send(error)
        return
    gc.freeze()  # permanent objects need no garbage collection
    while True:
        batch = line.recv()
        try:
            line.send(list(function(batch)))
        except SymboUQError as error:
            line.send(error)
            return
