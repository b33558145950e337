"""Reads the files of a benchmark's release as rows: JSON, JSON Lines, CSV, TSV and hub datasets."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from symbouq.errors import RecordError, install_command
from symbouq.experiments.benchmarks.items import BenchmarkError
from symbouq.io.adapters import limits
from symbouq.io.adapters.inputs import opened, spelled

EXTRA = "formats"
"""The extra that installs the `datasets` library."""

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_ENDINGS = (".json", ".jsonl", ".txt", *_DELIMITERS)
_SPLITS = {
    "train": {"train", "training"},
    "validation": {"valid", "validation", "val", "dev"},
    "test": {"test"},
}
_OTHER = re.compile(
    r"(llm_traces_|label_audit|relation_phrasings|gold_tables|manifest|readme|word2id"
    r"|annotation|sprl|licen[cs]e|config)|.*(_annotation|_sprl|problem_patterns)"
)
"""Names of files that come with a benchmark but contain no questions."""


class Placed(NamedTuple):
    """A row with its line number (from 1), and its key if the rows are in a JSON object, or else
    its number.
    """

    row: Any
    line: int
    key: str


def files_of(path: Path) -> tuple[list[Path], list[Path]]:
    """Return the files to read, and the files to skip: traces (`llm_traces_*`), annotations and
    files in other formats.

    Raises:
        BenchmarkError: If there is nothing to read.
    """
    if path.is_file():
        return [path], []
    every = sorted(p for p in path.rglob("*") if p.is_file())
    read = [p for p in every if suffix(p) in _ENDINGS and not _OTHER.match(p.name.casefold())]
    if not read:
        endings = ", ".join(_ENDINGS)
        raise BenchmarkError(
            f"no file of a benchmark in it (expected {endings}, also with .gz; found "
            f"{', '.join(p.name for p in every[:5]) or 'nothing'})",
            str(path),
        )
    return read, [p for p in every if p not in read]


def suffix(path: Path) -> str:
    """Return the extension of a file's name in lower case, ignoring a compression suffix."""
    return Path(path.name.removesuffix(".gz")).suffix.casefold()


def split_named(name: str) -> str | None:
    """Return the split mentioned in the name of a file or field, or None."""
    words = set(re.findall(r"[a-z]+", name.casefold()))
    return next((split for split, names in _SPLITS.items() if names & words), None)


def text_of(path: Path) -> tuple[str, str | None]:
    """Return the readable text of a file. If this is not the whole text, also return the reason.

    Invalid UTF-8 is replaced by surrogate characters, so that only the row with these characters
    fails.
    """
    pieces: list[bytes] = []
    fault = None
    try:
        with opened(str(path.absolute())) as given:
            size = 0
            for piece in given.chunks():
                size += len(piece)
                limits.check_ends(size)  # each file is read as a whole
                pieces.append(piece)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        fault = f"compressed file is damaged: {error}; what stands before is read"
    except OSError as error:
        fault = f"cannot be read: {error.strerror or error}"
    except RecordError as error:
        fault = error.message
    text = b"".join(pieces).decode("utf-8", "surrogateescape")
    # Drop the last, incomplete line, unless it is the only line.
    return (text[: text.rfind("\n") + 1] or text) if fault else text, fault


def rows_of(
    text: str, path: Path, is_row: Callable[[dict[str, Any]], bool]
) -> Iterator[Placed | RecordError]:
    """Yield the rows in a file's text. The format depends on the file extension.

    If a file contains a single object, `is_row` decides whether it is a row or contains rows.
    """
    if suffix(path) in _DELIMITERS:
        yield from _table(text, str(path), _DELIMITERS[suffix(path)])
        return
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        value = None
    by_line = isinstance(value, dict) and (len(lines) > 1 or is_row(value))
    if by_line or suffix(path) == ".jsonl":
        yield from _lines(lines, str(path))
    else:
        yield from _document(text, str(path))


def hub_rows(name: str) -> Iterator[tuple[str, Placed]]:
    """Yield the rows of a Hugging Face dataset (`owner/name` or `owner/name:configuration`,
    optionally after `hf:`), each with the name of its split.

    Raises:
        BenchmarkError: If the `datasets` library is missing or the dataset cannot be loaded.
    """
    try:
        import datasets  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as error:
        raise BenchmarkError(
            f"{name} is no file or folder here; to load it from the Hugging Face hub, install the "
            f"`datasets` library: {install_command(EXTRA)}"
        ) from error
    dataset, _, configuration = name.removeprefix("hf:").partition(":")
    try:
        loaded = datasets.load_dataset(dataset, configuration or None)
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BenchmarkError(
            f"the Hugging Face dataset {dataset} cannot be loaded: {reason}"
        ) from error
    for split, rows in loaded.items():
        for number, row in enumerate(rows, start=1):
            yield str(split), Placed(dict(row), number, str(number))


def _lines(lines: list[str], file: str) -> Iterator[Placed | RecordError]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield Placed(json.loads(line), number, str(number))
            except (ValueError, RecursionError) as error:
                yield RecordError(f"not valid JSON: {error}", file, number)


def _document(text: str, file: str) -> Iterator[Placed | RecordError]:
    """Yield the rows of a JSON document, up to the first invalid part."""
    line = 1
    try:
        for placed in _Scanner(text).rows():
            line = placed.line
            yield placed
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg}; what stands before it was read"
        yield RecordError(message, file, error.lineno)
    except (ValueError, RecursionError) as error:
        message = f"not readable JSON: {error}; what stands before it was read"
        yield RecordError(message, file, line)


class _Scanner:
    """Reads a JSON document row by row, so that the rows before an error are still found."""

    _BLANK = re.compile(r"\s*")
    _DECODER = json.JSONDecoder()

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = self._counted = 0
        self._line = 1
        self._skip()

    def rows(self) -> Iterator[Placed]:
        """Yield the rows in a list, in an object that contains rows, or in the list in `data`."""
        if self._takes("["):
            yield from self._array()
            return
        self._needs("{", "an object or a list is expected")
        while not self._takes("}"):
            key = self._value()
            self._needs(":", "':' is expected")
            if key == "data" and self._takes("["):
                yield from self._array()
                return
            line, value = self._at(), self._value()
            if isinstance(value, dict):
                yield Placed(value, line, str(key))
            self._separated("}")

    def _array(self) -> Iterator[Placed]:
        number = 0
        while not self._takes("]"):
            line = self._at()
            yield Placed(self._value(), line, str(number))
            number += 1
            self._separated("]")

    def _separated(self, end: str) -> None:
        """Skip a comma. If the closing character `end` follows instead, stop before it."""
        if not self._takes(",") and not self._text.startswith(end, self._place):
            message = f"',' or '{end}' is expected"
            raise json.JSONDecodeError(message, self._text, self._place)

    def _takes(self, mark: str) -> bool:
        if not self._text.startswith(mark, self._place):
            return False
        self._place += 1
        self._skip()
        return True

    def _needs(self, mark: str, message: str) -> None:
        if not self._takes(mark):
            raise json.JSONDecodeError(message, self._text, self._place)

    def _value(self) -> Any:
        value, self._place = self._DECODER.raw_decode(self._text, self._place)
        self._skip()
        return value

    def _skip(self) -> None:
        match = self._BLANK.match(self._text, self._place)
        assert match is not None  # the pattern also matches an empty string
        self._place = match.end()

    def _at(self) -> int:
        self._line += self._text.count("\n", self._counted, self._place)
        self._counted = self._place
        return self._line


def _table(text: str, file: str, delimiter: str) -> Iterator[Placed | RecordError]:
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            yield RecordError(f"not a valid table: {error}", file, reader.line_num)
            continue
        if row is None:
            return
        if None in row or None in row.values():
            message = f"the row does not have the header's {len(reader.fieldnames or ())} columns"
            yield RecordError(message, file, reader.line_num)
            continue
        cells = {spelled(str(k)): v for k, v in row.items()}
        yield Placed(cells, reader.line_num, str(reader.line_num))
