"""The page that compares two files of audits, or two ontologies on the same corpus."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from symbouq.auditing.compare import Flip, Flips
from symbouq.auditing.overview import Overview, Point
from symbouq.io.output import replacing
from symbouq.report.page import page

FLIPS = 2_000
"""Maximum number of flips listed on a page. The counts on the page include all flips."""


class ComparedSides:
    """Collects comparisons, trace by trace, for a page that lists at most `limit` flips."""

    def __init__(self, limit: int = FLIPS) -> None:
        self._sides = (Overview(), Overview())
        self._flips: list[Flip] = []
        self._limit = limit

    def add(self, first: Point | None, second: Point | None, here: Sequence[Flip]) -> None:
        """Add one trace: the points for its two audits, and its flips."""
        for side, point in zip(self._sides, (first, second), strict=True):
            if point is not None:
                side.add(point)
        self._flips += here[: self._limit - len(self._flips)]

    def write(
        self,
        path: str | os.PathLike[str],
        names: tuple[str, str],
        flips: Flips,
        changes: Sequence[str] = (),
        notes: Sequence[str] = (),
        title: str = "SymboUQ comparison",
    ) -> None:
        """Write the page: the names of the two sides, counts, changed statements and notes on the
        comparison.
        """
        data: dict[str, Any] = {
            "title": title,
            "names": names,
            "sides": [side.as_json() for side in self._sides],
            **flips.described({}),
            "listed": [asdict(flip) for flip in self._flips],
            "changes": list(changes),
            "notes": list(notes),
        }
        with replacing(path) as stream:
            for piece in page(title, "compare", data):
                stream.write(piece)
