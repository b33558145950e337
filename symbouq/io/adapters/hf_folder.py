"""Datasets that Hugging Face `datasets` has saved to disk: one folder per split."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from symbouq.errors import RecordError, one_line
from symbouq.io.adapters.base import Found, Input, Reading, imported
from symbouq.io.adapters.tables import Row, traces

_SPLITS = "dataset_dict.json"
_ONE = "state.json"


class _HfFolder:
    def detects(self, given: Input) -> bool:
        folder = Path(given.path)
        return folder.is_dir() and any((folder / name).is_file() for name in (_SPLITS, _ONE))

    def prepare(self, given: Input) -> None:
        _check_split(given)
        _package()

    def read(self, given: Input, reading: Reading) -> Iterator[Found]:
        _check_split(given)
        package = _package()
        try:
            dataset = package.load_from_disk(str(given.file)).with_format(None)
        except Exception as error:  # whatever it is that the reader trips over
            raise RecordError(f"not readable as a data set: {one_line(error)}") from error
        yield from traces(given.name, dataset.column_names, _rows(dataset), reading)


def _rows(dataset: Any) -> Iterator[Row]:
    for number in range(len(dataset)):
        try:
            yield number + 1, dataset[number]
        except Exception as error:
            yield number + 1, RecordError(one_line(error))


def _check_split(given: Input) -> None:
    """A folder of several splits is none of them."""
    listed = given.file / _SPLITS
    if listed.is_file():
        try:
            splits = list(map(str, json.loads(listed.read_text(encoding="utf-8"))["splits"]))
            example = given.file / splits[0]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise RecordError(f"{_SPLITS} names no splits: {one_line(error)}") from error
        names = ", ".join(splits)
        raise RecordError(f"holds the splits {names}: name one of them, such as {example}")


def _package() -> Any:
    return imported("datasets", "a Hugging Face dataset", "'symbouq[formats]'")


ADAPTER = _HfFolder()
