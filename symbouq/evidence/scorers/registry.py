"""Every scorer by its name: the classes that the modules of `methods` declare."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import get_args

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers import methods
from symbouq.evidence.scorers.base import Family, Scorer


def _declared() -> Iterator[type[Scorer]]:
    for module in iter_modules(methods.__path__, f"{methods.__name__}."):
        for kind in vars(import_module(module.name)).values():
            if isinstance(kind, type) and issubclass(kind, Scorer) and "name" in vars(kind):
                yield kind


SCORERS: dict[str, type[Scorer]] = {
    kind.name: kind
    for kind in sorted(_declared(), key=lambda kind: get_args(Family).index(kind.family))
}
"""Every scorer by its name in the paper, in the paper's order: by family, then as declared."""


def entry(name: str) -> type[Scorer]:
    """The scorer of a name; case does not matter.

    Raises:
        SymboUQError: If there is none of that name.
    """
    for scorer in SCORERS.values():
        if scorer.name.casefold() == name.strip().casefold():
            return scorer
    raise SymboUQError(f"unknown scorer {name!r}; there are: {', '.join(SCORERS)}")
