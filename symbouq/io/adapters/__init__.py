"""Trace files as other tools write them, read as traces.

Each format is one module of `symbouq.io.adapters.formats` with an adapter
(`symbouq.io.adapters.base.Adapter`), and nothing else names it. This module lists them without
loading any, for the command line.
"""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symbouq.io.adapters.base import Adapter

SYMBOUQ = "symbouq"
"""Our own JSON Lines, the format of a file that no other adapter recognises."""

_MODULES = {
    module.name.replace("_", "-"): f"{__name__}.formats.{module.name}"
    for module in iter_modules([str(Path(__file__).with_name("formats"))])
}

FORMATS = sorted(_MODULES, key=lambda name: (name != SYMBOUQ, name))
"""The names that `--format` takes, those of the modules, in the order in which they are tried."""


def adapter(name: str) -> "type[Adapter]":
    """The adapter of a format, loaded when it is first asked for."""
    chosen: type[Adapter] = import_module(_MODULES[name]).ADAPTER
    return chosen
