"""Hashes of files; of a large one, such as a model's weights, once for each state of the file."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from symbouq.ontology.store import cache_folder

_LARGE = 1 << 24
"""Bytes from which on a hash is worth remembering."""


def file_hash(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's content, as hexadecimal digits.

    That of a large file is kept in the user's folder for caches, and holds as long as the file's
    size and time are the same.

    Raises:
        OSError: If the file cannot be read.
    """
    file = Path(path)
    status = file.stat()
    root = cache_folder()
    if status.st_size < _LARGE or root is None:
        return _hashed(file)
    place = str(file.resolve())
    state = [place, status.st_size, status.st_mtime_ns]
    note = root / "hashes" / f"{hashlib.sha256(place.encode()).hexdigest()}.json"
    with suppress(OSError, ValueError):
        known = json.loads(note.read_bytes())
        if isinstance(known, list) and known[:-1] == state:
            return str(known[-1])
    digest = _hashed(file)
    with suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=note.parent, delete=False) as part:
            json.dump([*state, digest], part)
        Path(part.name).replace(note)
    return digest


def _hashed(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
