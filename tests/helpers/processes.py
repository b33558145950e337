"""Processes that tests start."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

PATIENCE = 900.0
"""Seconds after which a test stops waiting. No machine is this slow."""


def usual_signals() -> None:
    """Make a new process handle signals as in a terminal. If the tests run in the background of a
    shell, or under nohup, some signals are ignored.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it does not come to hold"
        time.sleep(0.05)
