"""Waiting for edits of an ontology: `symbouq rules check --watch`, `rules test --watch`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from symbouq.logic import programs as logic
from symbouq.ontology import library as ontology
from symbouq.ontology.source import data_folder, vocabulary

_SECONDS = 0.3
"""How often the files are looked at."""


def edits(folder: str | None) -> Iterator[None]:
    """One item at once, and one whenever a rule, an ontology file or a test has changed,
    without end.

    Args:
        folder: The user's folder, if there is one; the built-in rules are looked at anyway.
    """
    roots = [data_folder("rules"), data_folder("ontology")]
    roots += [Path(folder)] if folder is not None else []
    seen = None
    while True:
        found = _stamps(roots)
        if found != seen:
            seen = found
            _forget()
            yield
        time.sleep(_SECONDS)


def _stamps(roots: list[Path]) -> dict[str, tuple[int, int]]:
    """Files to time and size; a file that goes while they are listed is left out."""
    found = {}
    for root in roots:
        for file in (file for suffix in ("lp", "test") for file in root.rglob(f"*.{suffix}")):
            try:
                status = file.lstat()
            except OSError:
                continue
            found[str(file)] = (status.st_mtime_ns, status.st_size)
    return found


def _forget() -> None:
    """Forgets what is read once a process of `rules/`."""
    for remembered in (vocabulary, ontology.checks, ontology.compiling_rules, logic.rules_text):
        remembered.cache_clear()
