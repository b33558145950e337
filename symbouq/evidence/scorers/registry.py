"""Finds scorers by name: the classes in the modules of `methods`, and scorers from other packages
(entry points in the group `symbouq.scorers`).
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import get_args

from symbouq import plugins
from symbouq.errors import SymboUQError
from symbouq.evidence.scorers import methods
from symbouq.evidence.scorers.base import Family, Scorer


def _declared() -> Iterator[type[Scorer]]:
    for module in iter_modules(methods.__path__, f"{methods.__name__}."):
        for kind in vars(import_module(module.name)).values():
            if isinstance(kind, type) and issubclass(kind, Scorer) and "name" in vars(kind):
                yield kind


def registered() -> dict[str, type[Scorer]]:
    """Collect scorers by name, ordered by family, then in the order of declaration.

    Raises:
        SymboUQError: If an entry point is not a scorer, or its name is already taken.
    """
    scorers = {kind.name.casefold(): kind for kind in _declared()}
    for point in plugins.brought(plugins.SCORERS):
        kind = plugins.loaded(point)
        family = getattr(kind, "family", None)
        if not (isinstance(kind, type) and issubclass(kind, Scorer) and family in _FAMILIES):
            message = f"{point.value} of {plugins.origin(point)} is no scorer with a family"
            raise SymboUQError(f"{message} ({', '.join(_FAMILIES)})")
        if scorers.setdefault(kind.name.casefold(), kind) is not kind:
            raise SymboUQError(f"{plugins.origin(point)} brings a scorer {kind.name}; there is one")
    return {
        kind.name: kind
        for kind in sorted(scorers.values(), key=lambda kind: _FAMILIES.index(kind.family))
    }


_FAMILIES = get_args(Family)

SCORERS = registered()
"""All scorers by their names in the paper, in the paper's order: by family, then in the order of
declaration."""


def brought_by(name: str) -> dict[str, str]:
    """Return the package that provides a scorer, with its version, as a setting for stages; empty
    for built-in scorers.
    """
    kind = entry(name)
    if kind.__module__.startswith(f"{methods.__name__}."):
        return {}
    for point in plugins.brought(plugins.SCORERS):
        if plugins.loaded(point) is kind:
            return {"brought_by": plugins.origin(point)}
    return {}


def entry(name: str) -> type[Scorer]:
    """Find a scorer by its name, ignoring case.

    Raises:
        SymboUQError: If there is no such scorer.
    """
    for scorer in SCORERS.values():
        if scorer.name.casefold() == name.strip().casefold():
            return scorer
    raise SymboUQError(f"unknown scorer {name!r}; there are: {', '.join(SCORERS)}")
