"""Every scorer by its name: the classes that the modules of `methods` declare, and those that other
packages bring (entry points of the group `symbouq.scorers`).
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
    """Every scorer by its name, by family, then as declared.

    Raises:
        SymboUQError: If what a package brings is no scorer, or has the name of another.
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
"""Every scorer by its name in the paper, in the paper's order: by family, then as declared."""


def brought_by(name: str) -> dict[str, str]:
    """The package that brings a scorer, with its version, as a setting that decides what it gives;
    empty of our own.
    """
    kind = entry(name)
    if kind.__module__.startswith(f"{methods.__name__}."):
        return {}
    for point in plugins.brought(plugins.SCORERS):
        if plugins.loaded(point) is kind:
            return {"brought_by": plugins.origin(point)}
    return {}


def entry(name: str) -> type[Scorer]:
    """The scorer of a name; case does not matter.

    Raises:
        SymboUQError: If there is none of that name.
    """
    for scorer in SCORERS.values():
        if scorer.name.casefold() == name.strip().casefold():
            return scorer
    raise SymboUQError(f"unknown scorer {name!r}; there are: {', '.join(SCORERS)}")
