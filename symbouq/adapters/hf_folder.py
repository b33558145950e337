"""Datasets that Hugging Face `datasets` has saved to disk: one folder per split."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from symbouq.adapters.base import Found, Input, Reading, imported
from symbouq.adapters.tables import traces
from symbouq.errors import RecordError

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
        dataset = _package().load_from_disk(str(given.file)).with_format(None)
        yield from traces(given.name, dataset.column_names, dataset, reading)


def _check_split(given: Input) -> None:
    """A folder of several splits is none of them."""
    listed = given.file / _SPLITS
    if listed.is_file():
        splits = json.loads(listed.read_text(encoding="utf-8"))["splits"]
        raise RecordError(
            f"holds the splits {', '.join(splits)}: name one of them, such as "
            f"{given.file / splits[0]}"
        )


def _package() -> Any:
    return imported("datasets", "a Hugging Face dataset", "'symbouq[formats]'")


ADAPTER = _HfFolder()
