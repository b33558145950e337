"""Read trace files written by other tools as traces.

A format is a file in `symbouq.io.adapters.formats`. Usually, this file declares the path of each
field in a record (`NAME.toml`, read by `symbouq.io.adapters.mapped`). If a declaration is not
sufficient, the format is a module with an adapter (`symbouq.io.adapters.base.Adapter`). No other
code refers to formats by name. This module lists them for the command line without loading any.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symbouq.io.adapters.base import Adapter

SYMBOUQ = "symbouq"
"""Our own JSON Lines, the format of a file that no other adapter recognises."""

PLAIN = ("chat", "prompt-completion")
"""Formats that are recognised only by names of fields, and are therefore tried last."""

_FILES = {
    file.stem.replace("_", "-"): file
    for file in Path(__file__).with_name("formats").iterdir()
    if file.suffix in (".py", ".toml") and file.stem != "__init__"
}

FORMATS = sorted(_FILES, key=lambda name: (name in PLAIN, name != SYMBOUQ, name))
"""The names that `--format` accepts, taken from the files, in the order in which they are tried."""


def adapter(name: str) -> "type[Adapter]":
    """Return the adapter of a format, loaded on first use. A name that ends in `.toml` is the path
    of a user's declaration.

    Raises:
        SymboUQError: If this file declares no format.
    """
    file = _FILES.get(name, Path(name))
    if file.suffix == ".toml":
        from symbouq.io.adapters.mapped import declared

        return declared(str(file))
    chosen: type[Adapter] = import_module(f"{__name__}.formats.{file.stem}").ADAPTER
    return chosen
