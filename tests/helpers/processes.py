"""Processes that tests start."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

PATIENCE = 900.0
"""Seconds after which what a test waits for is taken to come no more: no machine is so slow."""


def usual_signals() -> None:
    """Makes a new process take signals as one from a terminal does: where the tests run in the
    background of a shell, or under nohup, some are ignored.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def until(condition: Callable[[], bool]) -> None:
    """Waits until something holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it does not come to hold"
        time.sleep(0.05)
