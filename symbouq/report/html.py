"""Writes audits into one page, one after the other."""

from __future__ import annotations

import os
import tempfile
from itertools import islice
from pathlib import Path
from typing import IO, Any, Self

from symbouq.auditing.overview import Overview
from symbouq.io.output import Replacement
from symbouq.report.entries import Entry
from symbouq.report.page import page

LIMIT = 5_000
"""Maximum number of traces listed on a page. The overview includes all traces."""

BATCH = 50
"""Number of sheets that are decoded at once in the browser."""


class Report:
    """A context manager that collects a report and writes the page on exit.

    Sheets are stored in a temporary file. So memory holds only about 1 kB per listed trace and, for
    traces beyond `limit`, a score and a label each. After an interruption, the finished traces are
    written. After an error, the previous page is kept.

    Raises:
        OSError: On entry, if the page cannot be written.
    """

    def __init__(
        self, path: str | os.PathLike[str], title: str = "SymboUQ audit", limit: int = LIMIT
    ) -> None:
        self._path = Path(path)
        self._title = title
        self._limit = limit
        self._rows: list[dict[str, Any]] = []
        self._overall = Overview()
        self._models: dict[str, Overview] = {}
        self._about: dict[str, dict[str, None]] = {}

    def __enter__(self) -> Self:
        self._page = Replacement(self._path)
        self._sheets: IO[bytes] = tempfile.TemporaryFile()
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        try:
            with self._sheets:
                if error is None or isinstance(error, KeyboardInterrupt):
                    self._write()
                    self._page.commit()
        finally:
            self._page.discard()

    def add(self, entry: Entry) -> None:
        """Add one trace."""
        self._overall.add(entry.point)
        for name, value in entry.about.items():
            if value is not None:
                self._about.setdefault(name, {})[value] = None
        model = entry.row["model"]
        if model is not None:
            self._models.setdefault(model, Overview()).add(entry.point)
        if len(self._rows) < self._limit:
            self._rows.append(entry.row)
            self._sheets.write(entry.sheet + b"\n")

    def _write(self) -> None:
        self._sheets.seek(0)
        models = {name: overview.as_json() for name, overview in self._models.items()}
        data = {
            "title": self._title,
            "about": {name: list(values) for name, values in self._about.items()},
            "overview": self._overall.as_json(),
            "models": models if len(models) > 1 else {},
            "rows": self._rows,
            "batch": BATCH,
        }
        with self._page.buffered() as stream:
            batches = iter(lambda: list(islice(self._sheets, BATCH)), [])
            for piece in page(self._title, "audit", data, batches):
                stream.write(piece)
