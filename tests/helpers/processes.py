"""Processes that tests start."""

from __future__ import annotations

import signal


def usual_signals() -> None:
    """Makes a new process take signals as one from a terminal does: where the tests run in the
    background of a shell, or under nohup, some are ignored.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
