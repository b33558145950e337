"""The choice of a file's adapter, and the files of a command with their options."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from symbouq.errors import SymboUQError
from symbouq.io.adapters import FORMATS, SYMBOUQ, adapter
from symbouq.io.adapters.base import Adapter
from symbouq.io.adapters.fields import PROMPT
from symbouq.io.adapters.inputs import Input, ReadOptions, TraceFile, opened
from symbouq.io.storage import is_uri, listed
from symbouq.records import Trace


def adapter_for(source: Input, options: ReadOptions) -> type[Adapter] | None:
    """The adapter of an input; None where its lines are traces as they stand."""
    detected = (name for name in FORMATS if adapter(name).detects(source))
    name = options.format or next(detected, SYMBOUQ)
    if name == SYMBOUQ and not options.mapping and options.prompt_split is None:
        return None
    return adapter(name)


def read_options(
    form: str | None = None,
    maps: Iterable[str] = (),
    prompt_split: str | None = None,
    batch_input: str | None = None,
) -> ReadOptions:
    """The options of a command, checked.

    Args:
        form: Name of the format; None to recognise it.
        maps: Texts `FIELD=SOURCE`.
        prompt_split: Regular expression with a group `scene`.
        batch_input: Input file of an OpenAI batch.

    Raises:
        SymboUQError: If one of them cannot be used.
    """
    mapping = dict(map(_pair, maps))
    if prompt_split is not None:
        try:
            groups = re.compile(prompt_split).groupindex
        except re.error as error:
            raise SymboUQError(f"--prompt-split: not a regular expression: {error}") from error
        if "scene" not in groups:
            raise SymboUQError("--prompt-split: a group (?P<scene>...) is missing")
    if batch_input is not None and form not in (None, "openai"):
        raise SymboUQError(f"--batch-input belongs to the format openai, not to {form}")
    return ReadOptions(form, tuple(mapping.items()), prompt_split, batch_input)


def _pair(text: str) -> tuple[str, str]:
    field, sign, source = (part.strip() for part in text.partition("="))
    if not (field and sign and source):
        raise SymboUQError(f"--map {text}: expected FIELD=SOURCE, such as scene=context")
    fields = (*Trace.model_fields, PROMPT)
    if field not in fields:
        near = get_close_matches(field, fields, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(fields)}"
        raise SymboUQError(f"--map {text}: a trace has no field {field}; {hint}")
    return field, source


def trace_files(paths: Sequence[str], options: ReadOptions) -> tuple[TraceFile, ...]:
    """Paths joined with how they are read, after a look at those that can be read twice.
    A URI of a folder stands for the files in it.

    Raises:
        SymboUQError: If a folder is no data set, a URI names nothing, or a package is missing.
    """
    paths = [file for path in paths for file in (listed(path) if is_uri(path) else [path])]
    for path in paths:
        # A pipe is left alone; what cannot be read is reported when it is read.
        if path == "-" or not (Path(path).is_file() or Path(path).is_dir()):
            continue
        with suppress(OSError, EOFError, zlib.error), opened(path) as source:
            chosen = adapter_for(source, options)
            if chosen is not None:
                try:
                    chosen.prepare(source)
                except SymboUQError as error:
                    raise SymboUQError(error.message, source.name) from error
            elif Path(path).is_dir():
                raise SymboUQError(
                    "is a folder; of folders, those are read that `datasets` saved to disk", path
                )
    return tuple(TraceFile(path, options) for path in paths)
