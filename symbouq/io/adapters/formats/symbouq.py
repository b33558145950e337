"""Our own JSON Lines with renamed fields: `--map` and `--prompt-split`.

Without these options, the lines are passed on unchanged (`symbouq.io.stream`).
"""

from __future__ import annotations

from symbouq.io.adapters.base import JsonAdapter
from symbouq.io.adapters.exchanges import is_own
from symbouq.io.adapters.inputs import Input


class _SymboUQ(JsonAdapter):
    """Reader of our own traces, or of records with fields that are given by `--map`."""

    expected = "a trace, an object with scene and response"

    @classmethod
    def detects(cls, source: Input) -> bool:
        return is_own(source.first)


ADAPTER = _SymboUQ
