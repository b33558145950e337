"""Choose the adapter for a file, and find the files of a command with their options."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from symbouq.errors import SymboUQError
from symbouq.io.adapters import FORMATS, PLAIN, SYMBOUQ, adapter
from symbouq.io.adapters.base import Adapter
from symbouq.io.adapters.documents import path_of
from symbouq.io.adapters.fields import PROMPT, SCENES, needs_folding
from symbouq.io.adapters.inputs import Input, ReadOptions, TraceFile, opened
from symbouq.io.adapters.unrecognised import Unrecognised
from symbouq.io.storage import is_uri, listed
from symbouq.records import Trace


def adapter_for(source: Input, options: ReadOptions) -> type[Adapter] | None:
    """Return the adapter for an input, or None if its lines already are traces."""
    if options.items is not None:
        source.within = path_of(options.items)
    name = options.format or _detected(source)
    if options.format is None and name in PLAIN and _names_texts(options):
        name = SYMBOUQ
    changed = bool(options.mapping) or options.prompt_split is not None
    folded = name == SYMBOUQ and needs_folding(source.first)
    if name not in (None, SYMBOUQ) or changed or folded:
        return adapter(name or SYMBOUQ)
    hinted = name is None and options.hints and Unrecognised.detects(source)
    return Unrecognised if hinted else None


def _names_texts(options: ReadOptions) -> bool:
    wanted = (*SCENES, PROMPT, "response", "reasoning", "conclusion", "claims")
    return any(field in wanted for field, _ in options.mapping)


def _detected(source: Input) -> str | None:
    return next((name for name in FORMATS if adapter(name).detects(source)), None)


def read_options(
    form: str | None = None,
    maps: Iterable[str] = (),
    prompt_split: str | None = None,
    batch_input: str | None = None,
    items: str | None = None,
) -> ReadOptions:
    """Check and return the reading options of a command.

    Args:
        form: Name of the format, or the file that declares it; None to recognise it.
        maps: Texts of the form `FIELD=SOURCE`.
        prompt_split: Regular expression with a group `scene`.
        batch_input: Input file of a batch.
        items: Path of the records in a document.

    Raises:
        SymboUQError: If an option cannot be used.
    """
    mapping = dict(map(_pair, maps))
    if prompt_split is not None:
        try:
            groups = re.compile(prompt_split).groupindex
        except re.error as error:
            raise SymboUQError(f"--prompt-split: not a regular expression: {error}") from error
        if "scene" not in groups:
            raise SymboUQError("--prompt-split: a group (?P<scene>...) is missing")
    if form is not None and batch_input is not None and not adapter(form).joins:
        raise SymboUQError(f"--batch-input belongs to formats of batches, not to {form}")
    if form is not None:
        adapter(form)  # an unusable declaration ends the command
    return ReadOptions(form, tuple(mapping.items()), prompt_split, batch_input, items, hints=True)


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


_LOG = re.compile(r".*\.(?:eval|json|jsonl)(?:\.gz)?", re.IGNORECASE)
"""Matches the files in a folder that are logs."""


def trace_files(paths: Sequence[str], options: ReadOptions) -> tuple[TraceFile, ...]:
    """Return the paths joined with their reading options, after checking those that can be read
    twice. The URI of a folder is replaced by the files in it. A folder that is not a dataset is
    replaced by the logs in it.

    Raises:
        SymboUQError: If a folder has no logs, a file has no traces, a URI refers to no file, or a
            package is missing.
    """
    files = (file for path in paths for file in _files(path, options))
    return tuple(TraceFile(file, options) for file in files)


def _files(path: str, options: ReadOptions) -> list[str]:
    if is_uri(path):
        return listed(path)
    if not Path(path).is_dir() or _detected(Input(path, None)) is not None:
        fault = _fault(path, options)
        if fault is not None:
            raise SymboUQError(fault, path)
        return [path]
    inside = (found for found in Path(path).rglob("*") if _is_log(found, Path(path)))
    # Other files next to a tool's traces are no reason to reject the traces.
    files = [file for file in sorted(map(str, inside)) if _fault(file, options) is None]
    if not files:
        raise SymboUQError(
            "is a folder; of folders, those are read that `datasets` saved to disk, or that hold "
            "logs (.eval, .json, .jsonl)",
            path,
        )
    return files


def _is_log(file: Path, folder: Path) -> bool:
    # Files for other tools' internal use are left out, as with URIs (`symbouq.io.storage.listed`).
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    return not hidden and _LOG.fullmatch(file.name) is not None and file.is_file()


def _fault(path: str, options: ReadOptions) -> str | None:
    """Explain why a file has no traces. None if it may have some, or if it cannot be inspected.

    Raises:
        SymboUQError: If a required package is missing.
    """
    # Do not touch a pipe. What cannot be read is reported when it is read.
    if path == "-" or not (Path(path).is_file() or Path(path).is_dir()):
        return None
    with suppress(OSError, EOFError, zlib.error), opened(path) as source:
        chosen = adapter_for(source, options)
        if chosen is None:
            return None
        try:
            chosen.prepare(source)
        except SymboUQError as error:
            raise SymboUQError(error.message, source.name) from error
        return chosen.lacks(source)
    return None
