"""Extensions from other installed packages, found by their entry points."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from symbouq.errors import SymboUQError

SCORERS = "symbouq.scorers"
"""Group of entry points that are subclasses of `symbouq.evidence.scorers.base.Scorer`."""

DATASETS = "symbouq.datasets"
"""Group of entry points that provide the questions in a split
(`symbouq.experiments.questions.Provider`).
"""


def brought(group: str) -> Iterator[EntryPoint]:
    """Yield the entry points of a group, in alphabetical order.

    Args:
        group: The group.

    Raises:
        SymboUQError: If two packages provide the same name.
    """
    last: EntryPoint | None = None
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        if last is not None and last.name == entry.name:
            packages = f"{origin(last)} and {origin(entry)}"
            raise SymboUQError(f"{packages} both bring {entry.name} ({group}); uninstall one")
        yield entry
        last = entry


def loaded(entry: EntryPoint) -> Any:
    """Load the object of an entry point.

    Raises:
        SymboUQError: If the object cannot be imported.
    """
    try:
        return entry.load()
    except Exception as error:
        raise SymboUQError(
            f"{entry.name} of {origin(entry)} cannot be loaded ({entry.value}): "
            f"{type(error).__name__}: {error}"
        ) from error


def origin(entry: EntryPoint) -> str:
    """Return the package and version that provide an entry point."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
