"""Hashes of files. The hash of a large file, such as model weights, is cached."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from symbouq.ontology.store import cache_folder, recalled, remember

_LARGE = 1 << 24
"""Minimum size in bytes for which a hash is cached."""


def file_hash(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal.

    The hash of a large file is kept in the user's cache folder as long as the file's size and time
    stay the same.

    Raises:
        OSError: If the file cannot be read.
    """
    file = Path(path)
    status = file.stat()
    root = cache_folder()
    if status.st_size < _LARGE or root is None:
        return _hashed(file)
    place = str(file.resolve())
    state = f"{place!r} {status.st_size} {status.st_mtime_ns}"
    note = root / "hashes" / hashlib.sha256(os.fsencode(place)).hexdigest()
    known = recalled(note, state)
    if known is not None:
        return str(known)
    digest = _hashed(file)
    with suppress(OSError):
        remember(note, state, digest)
    return digest


def _hashed(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
