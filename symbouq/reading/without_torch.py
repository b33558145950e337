"""Import spaCy without its commands, and without PyTorch unless a pipeline needs it.

If PyTorch is installed, spaCy's numerical library, thinc, imports it. For a few sentences, this
import takes more than half of a command's time, and spaCy's own commands take a fifth of the rest.
Both can still be imported later.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

__all__ = ("spacy",)

_NEED_TORCH = ("spacy_transformers", "spacy_curated_transformers")
"""Packages with pipelines that run on PyTorch through thinc."""


def _info(*args: Any, **named: Any) -> Any:
    """A replacement for `spacy.info`, the only one of its commands that spaCy imports."""
    return import_module("spacy.cli.info").info(*args, **named)


def _import_spacy() -> None:
    absent: dict[str, ModuleType | None] = {}
    if "spacy" not in sys.modules:
        commands = ModuleType("spacy.cli.info")
        commands.info = _info  # type: ignore[attr-defined]
        absent = {"spacy.cli": ModuleType("spacy.cli"), "spacy.cli.info": commands}
    if not ({"torch", "thinc"} & sys.modules.keys() or any(map(find_spec, _NEED_TORCH))):
        absent["torch"] = None  # its import fails meanwhile
    sys.modules.update(absent)  # type: ignore[arg-type]
    try:
        import spacy  # noqa: F401
    finally:
        for name in absent:
            sys.modules.pop(name, None)


_import_spacy()
import spacy  # noqa: E402
