"""Files of readings. Every reply of a language model is stored at once."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Self

from pydantic_core import to_json

from symbouq.errors import RecordError, SymboUQError
from symbouq.io.output import lock
from symbouq.records import StoredReading, parse_record

Key = tuple[str, int]
"""Hash of the text that was read, and number of the reply."""


class ReadingsFile:
    """Context manager for readings on disk, one JSON object per line.

    An incomplete last line, from a killed run, is ignored, and is removed before a line is added.
    If a reading has several lines, the last one counts. You can therefore correct a reading by
    editing its line or by adding another.

    Args:
        path: The file. It is created if needed when a reading is added.
        grows: Whether readings may be added. The file is then locked.

    Raises:
        SymboUQError: On entering, if the file cannot be used, or another run has locked it.
    """

    def __init__(self, path: str | os.PathLike[str], grows: bool = True) -> None:
        self.path = Path(path)
        self._grows = grows
        self._of: dict[Key, list[StoredReading]] = {}
        self._lock = threading.Lock()
        self._file = -1

    def __enter__(self) -> Self:
        if self._grows:
            try:
                flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
                self._file = os.open(self.path, flags, 0o666)
            except OSError as error:
                raise SymboUQError(
                    f"cannot be written: {error.strerror}", str(self.path)
                ) from error
        try:
            if self._grows:
                lock(self._file, self.path)
            self._load()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    @property
    def models(self) -> list[str]:
        """Models that have readings in the file."""
        every = (reading.model for readings in self._of.values() for reading in readings)
        return list(dict.fromkeys(every))

    @property
    def latest(self) -> list[StoredReading]:
        """Current readings: the last one for each text, sample, model, prompt and ontology."""
        every = (reading for readings in self._of.values() for reading in readings)
        return list({(r.text, r.sample, r.model, r.prompt, r.ontology): r for r in every}.values())

    def find(
        self, text: str, sample: int, model: str, prompt: str | None, ontology: str | None
    ) -> StoredReading | None:
        """Return the reading of the text with the given hash, or None.

        Args:
            text: Hash of the text.
            sample: Number of the reply.
            model: The model.
            prompt: Version of the prompt, or its beginning; None for the latest reading with any
                version.
            ontology: Hash of the ontology; None for the latest reading with any ontology.
        """
        for reading in reversed(self._of.get((text, sample), ())):
            if (
                reading.model == model
                and reading.prompt.startswith(prompt or "")
                and ontology in (None, reading.ontology)
            ):
                return reading
        return None

    def add(self, reading: StoredReading) -> None:
        """Write a reading; thread-safe.

        Raises:
            SymboUQError: If it cannot be written. Earlier readings are kept.
        """
        line = to_json(reading) + b"\n"
        with self._lock:
            size = os.fstat(self._file).st_size
            try:
                left = memoryview(line)
                while left:
                    left = left[os.write(self._file, left) :]
                os.fsync(self._file)
            except OSError as error:
                os.ftruncate(self._file, size)
                raise SymboUQError(
                    f"cannot be written: {error.strerror}", str(self.path)
                ) from error
            self._keep(reading)

    def _keep(self, reading: StoredReading) -> None:
        self._of.setdefault((reading.text, reading.sample), []).append(reading)

    def _load(self) -> None:
        try:
            lines = self.path.read_bytes().splitlines(keepends=True)
        except OSError as error:
            raise SymboUQError(f"cannot be read: {error.strerror}", str(self.path)) from error
        size = 0
        for number, line in enumerate(lines, start=1):
            try:
                if line.strip():
                    self._keep(parse_record(StoredReading, line, str(self.path), number))
            except RecordError:
                if line.endswith(b"\n") or number < len(lines) or line.rstrip().endswith(b"}"):
                    raise
                if self._grows:
                    os.ftruncate(self._file, size)  # left by a killed run
                return
            size += len(line)
        if lines and not lines[-1].endswith(b"\n") and self._grows:
            os.write(self._file, b"\n")

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
