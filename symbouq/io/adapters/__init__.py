"""Trace files as other tools write them, read as traces.

Each format is a small module with one adapter (`symbouq.io.adapters.base.Adapter`): it says
whether it recognises a file, and reads the file record by record into the fields of
`symbouq.records.Trace`. This module only names them, so that the command line can list
them without loading any.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symbouq.io.adapters.base import Adapter

SYMBOUQ = "symbouq"
"""Our own JSON Lines, the format of a file that no other adapter recognises."""

FORMATS = {
    SYMBOUQ: "own",
    "lm-eval": "lm_eval",
    "inspect": "inspect_log",
    "openai": "openai_chat",
    "vllm": "vllm_output",
    "csv": "csv_table",
    "parquet": "parquet_table",
    "hf": "hf_folder",
}
"""The formats by the name that `--format` takes, with the module of each."""


def adapter(name: str) -> "Adapter":
    """The adapter of a format, loaded when it is first asked for."""
    found: Adapter = import_module(f"{__name__}.{FORMATS[name]}").ADAPTER
    return found
