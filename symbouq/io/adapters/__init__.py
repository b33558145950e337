"""Trace files as other tools write them, read as traces.

A format is a file of `symbouq.io.adapters.formats`: a declaration of which path of a record is
which field (`NAME.toml`, read by `symbouq.io.adapters.mapped`), or, where that does not do, a
module with an adapter (`symbouq.io.adapters.base.Adapter`); nothing else names it. This module
lists them without loading any, for the command line.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symbouq.io.adapters.base import Adapter

SYMBOUQ = "symbouq"
"""Our own JSON Lines, the format of a file that no other adapter recognises."""

PLAIN = ("chat", "prompt-completion")
"""Formats that go by nothing but names of fields, and are tried last."""

_FILES = {
    file.stem.replace("_", "-"): file
    for file in Path(__file__).with_name("formats").iterdir()
    if file.suffix in (".py", ".toml") and file.stem != "__init__"
}

FORMATS = sorted(_FILES, key=lambda name: (name in PLAIN, name != SYMBOUQ, name))
"""The names that `--format` takes, those of the files, in the order in which they are tried."""


def adapter(name: str) -> "type[Adapter]":
    """The adapter of a format, loaded when it is first asked for; a name in `.toml` is the path of
    a user's declaration.

    Raises:
        SymboUQError: If that declares none.
    """
    file = _FILES.get(name, Path(name))
    if file.suffix == ".toml":
        from symbouq.io.adapters.mapped import declared

        return declared(str(file))
    chosen: type[Adapter] = import_module(f"{__name__}.formats.{file.stem}").ADAPTER
    return chosen
