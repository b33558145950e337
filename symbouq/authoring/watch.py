"""Wait for edits to an ontology: `symbouq rules check --watch`, `rules test --watch`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

from symbouq.logic import programs as logic
from symbouq.ontology import compilation, source
from symbouq.ontology.source import data_folder

_SECONDS = 0.3
"""Number of seconds between two checks of the files."""


def edits(folder: str | None) -> Iterator[None]:
    """Yield at once, and then after every change to a built-in or user rule, ontology file or test,
    endlessly.
    """
    roots = [data_folder("rules"), data_folder("ontology")]
    roots += [Path(folder)] if folder is not None else []
    before = None
    while True:
        now = _stamps(roots)
        if now != before:
            before = now
            source.forget()
            # These results from `rules/` are cached, too.
            for cached in (compilation.checks, compilation.compiling_rules, logic.rules_text):
                cached.cache_clear()
            yield
        time.sleep(_SECONDS)


def _stamps(roots: list[Path]) -> dict[str, tuple[int, int]]:
    stamps = {}
    files = chain.from_iterable(root.rglob(f"*.{end}") for root in roots for end in ("lp", "test"))
    for file in files:
        with suppress(OSError):
            status = file.lstat()
            stamps[str(file)] = (status.st_mtime_ns, status.st_size)
    return stamps
