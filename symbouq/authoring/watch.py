"""Waiting for edits of an ontology: `symbouq rules check --watch`, `rules test --watch`."""

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
"""Seconds between two looks at the files."""


def edits(folder: str | None) -> Iterator[None]:
    """One item at once, and one whenever a rule, an ontology file or a test has changed,
    without end.

    Args:
        folder: The user's folder, if there is one; the built-in rules are looked at anyway.
    """
    roots = [data_folder("rules"), data_folder("ontology")]
    roots += [Path(folder)] if folder is not None else []
    before = None
    while True:
        now = _stamps(roots)
        if now != before:
            before = now
            source.forget()
            # Made of `rules/` once a process, too.
            for cached in (compilation.checks, compilation.compiling_rules, logic.rules_text):
                cached.cache_clear()
            yield
        time.sleep(_SECONDS)


def _stamps(roots: list[Path]) -> dict[str, tuple[int, int]]:
    """Files to time and size; a file that goes while they are listed is left out."""
    stamps = {}
    files = chain.from_iterable(root.rglob(f"*.{end}") for root in roots for end in ("lp", "test"))
    for file in files:
        with suppress(OSError):
            status = file.lstat()
            stamps[str(file)] = (status.st_mtime_ns, status.st_size)
    return stamps
