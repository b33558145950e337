"""Access files by path or URI (`s3://`, `gs://`, `hdfs://`, `file://` ...), through pyarrow."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from symbouq.errors import SymboUQError, extra


def is_uri(path: str) -> bool:
    """Whether a path is a URI."""
    return "://" in path


def located(path: str) -> tuple[Any, str]:
    """Return the `pyarrow.fs.FileSystem` for a path or URI, and the path within it.

    Raises:
        SymboUQError: If the file system is unknown, or pyarrow is missing.
    """
    with extra("formats"):
        from pyarrow import fs
    if not is_uri(path):
        return fs.LocalFileSystem(), str(Path(path).absolute())
    try:
        system, place = fs.FileSystem.from_uri(path)
    except (OSError, ValueError) as error:
        raise SymboUQError(_first_line(error), path) from error
    return system, place


def listed(uri: str) -> list[str]:
    """Return the files that a URI refers to: a single file, or the files in a folder, sorted by
    name.

    Raises:
        SymboUQError: If there is no file, or the folder cannot be read.
    """
    system, place = located(uri)
    from pyarrow import fs

    base, mark, query = uri.partition("?")
    try:
        if system.get_file_info(place).type == fs.FileType.File:
            return [uri]
        inside = system.get_file_info(fs.FileSelector(place, recursive=True, allow_not_found=True))
    except OSError as error:
        raise SymboUQError(f"cannot be read: {_first_line(error)}", uri) from error
    start = place.rstrip("/") + "/"
    names = (info.path.removeprefix(start) for info in inside if info.type == fs.FileType.File)
    # Skip internal files of other tools: `_SUCCESS`, `.part`.
    files = sorted(name for name in names if not re.search(r"(^|/)[_.]", name))
    if not files:
        raise SymboUQError("does not exist, or is an empty folder", uri)
    return [f"{base.rstrip('/')}/{file}{mark}{query}" for file in files]


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
