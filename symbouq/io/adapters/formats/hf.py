"""Datasets saved to disk by Hugging Face `datasets`: one folder per split."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from symbouq.errors import RecordError, extra, one_line
from symbouq.io.adapters.base import Record
from symbouq.io.adapters.inputs import Input
from symbouq.io.adapters.tables import TableAdapter, check_columns

_SPLITS = "dataset_dict.json"
_ONE = "state.json"


class _HuggingFace(TableAdapter):
    """Reader of the rows of one split."""

    @classmethod
    def detects(cls, source: Input) -> bool:
        folder = Path(source.path)
        return folder.is_dir() and any((folder / name).is_file() for name in (_SPLITS, _ONE))

    @classmethod
    def prepare(cls, source: Input) -> None:
        _check_split(source)
        _package()

    def records(self) -> Iterator[Record]:
        _check_split(self.source)
        package = _package()
        try:
            dataset = package.load_from_disk(str(self.source.file)).with_format(None)
        except Exception as error:  # any error of the reader
            raise RecordError(f"not readable as a data set: {one_line(error)}") from error
        check_columns(dataset.column_names, self.options)
        for number in range(len(dataset)):
            row: dict[str, Any] | RecordError
            try:
                row = dataset[number]
            except Exception as error:
                row = RecordError(one_line(error))
            yield number + 1, row


def _check_split(source: Input) -> None:
    """Refuse a folder that contains several splits instead of being one."""
    listed = source.file / _SPLITS
    if listed.is_file():
        try:
            splits = list(map(str, json.loads(listed.read_text(encoding="utf-8"))["splits"]))
            example = source.file / splits[0]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise RecordError(f"{_SPLITS} names no splits: {one_line(error)}") from error
        names = ", ".join(splits)
        raise RecordError(f"holds the splits {names}: name one of them, such as {example}")


def _package() -> Any:
    with extra("formats"):
        import datasets  # type: ignore[import-not-found, import-untyped, unused-ignore]
    return datasets


ADAPTER = _HuggingFace
