"""Our own JSON Lines where fields are renamed: `--map` and `--prompt-split`.

Without these options the lines are not touched at all (`symbouq.io.stream`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symbouq.io.adapters.base import Found, Input, Reading, converted


class _Own:
    def detects(self, given: Input) -> bool:
        return "scene" in given.first or "scene_relations" in given.first

    def prepare(self, given: Input) -> None:
        pass

    def read(self, given: Input, reading: Reading) -> Iterator[Found]:
        # This module is asked about every file; a plain audit has no use for the rest.
        from symbouq.io.adapters.fields import filled

        def convert(record: dict[str, Any], number: int) -> dict[str, Any]:
            return filled(record, record, reading, number)

        return converted(given, convert, "a trace, an object with scene and response")


ADAPTER = _Own()
