"""The command as a process: its standard streams, and the signals that end it."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING

from symbouq.errors import reduced

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

_ENDING = {signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}

_AT_ONCE = 1.0
"""Number of seconds within which a second signal counts as a repetition of the first. `timeout`
sends its signal twice, and two signals are sent when a terminal session ends. A later signal means
that the sender does not want to wait for unfinished work.
"""


class Ended(KeyboardInterrupt):
    """A signal that ends the run in the same way as the interrupt key.

    Args:
        cause: The signal, or the exception that was raised for it. If a callback raises an
            exception, clingo creates a new exception from it.

    Attributes:
        event: How the run ended, in words.
        code: The exit code.
    """

    event: str
    code: int

    def __init__(self, cause: int | Ended) -> None:
        if isinstance(cause, Ended):
            self.event, self.code = cause.event, cause.code
        else:
            self.event, self.code = _ENDING[signal.Signals(cause)], 128 + cause
        super().__init__(self.event)

    __reduce__ = reduced


@contextmanager
def ending_signals() -> Iterator[None]:
    """Raise `Ended` on signals that end a process, unless they are already handled differently."""
    ours = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        ours = []  # only the main thread handles signals
    for number in ours:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> None:
    begin = monotonic()

    def end_again(number: int, _frame: FrameType | None) -> None:
        if monotonic() - begin > _AT_ONCE:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    for one in _ENDING:
        if signal.getsignal(one) is _end:
            signal.signal(one, end_again)
    raise Ended(number)


def open_streams() -> None:
    """Open the standard streams that are missing when the process starts.

    Nothing can be read from them or written to them, but no other opened file can take their place.
    Text that cannot be written to standard error is dropped, because a lost message must not stop
    the run.
    """
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDWR)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    if sys.stderr is sys.__stderr__:
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(_Messages()),
            encoding=getattr(sys.stderr, "encoding", None),
            errors="backslashreplace",
            line_buffering=True,
        )


class _Messages(io.RawIOBase):
    """Standard error that ignores write errors."""

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2

    def isatty(self) -> bool:
        return os.isatty(2)

    def write(self, content: Buffer, /) -> int:
        left = bytes(content)
        size = len(left)
        with suppress(OSError):
            while left:
                left = left[os.write(2, left) :]
        return size
