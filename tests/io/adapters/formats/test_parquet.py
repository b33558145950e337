"""Parquet files of which some cells or columns cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra `formats` is not installed")

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic_core import from_json

from symbouq.auditing.jobs import auditing
from symbouq.errors import RecordError
from symbouq.io.adapters.inputs import ReadOptions, TraceFile
from symbouq.io.stream import Job, process, read_lines
from symbouq.records import Trace

IDS = [str(n) for n in range(150)]
BAD = 100
"""The row, from 0, that has the bad cell; it is in the second batch of 64."""


def texts(values: list[bytes]) -> Any:
    """A column of texts, which nobody looks at."""
    return pa.array(values, pa.binary()).view(pa.string())


def broken(good: str) -> Any:
    return texts([b"caf\xe9" if n == BAD else good.encode() for n in range(len(IDS))])


def table(path: Path, groups: int = 1000, **columns: Any) -> str:
    every = {
        "id": pa.array(IDS),
        "scene": pa.array(["A is above B."] * len(IDS)),
        "response": pa.array(["Answer: above"] * len(IDS)),
    }
    pq.write_table(pa.table(every | columns), path, row_group_size=groups, compression=None)
    return str(path)


def read(path: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The records of a file and what is said of the others."""
    found: list[dict[str, Any]] = []
    failed: list[str] = []
    for item in read_lines(path):
        if isinstance(item, RecordError):
            failed.append(str(item))
        else:
            found.append(from_json(item.content))
    return found, failed


def test_a_bad_cell_of_an_unused_column_is_left_out(tmp_path: Path) -> None:
    path = table(tmp_path / "t.parquet", notes=broken("fine"))
    found, (told,) = read(path)
    assert [record["id"] for record in found] == IDS
    assert [record.get("notes") for record in found] == [
        None if n == BAD else "fine" for n in range(len(IDS))
    ]
    assert told.startswith(f"{path}:{BAD + 1}: column notes: 'utf-8' codec can't decode")


def test_duplicate_ids_are_noticed_beside_a_bad_cell(tmp_path: Path) -> None:
    twice = pa.array([*IDS[:-1], IDS[0]])
    path = table(tmp_path / "t.parquet", id=twice, notes=broken("fine"))
    found = list(process([path], Job(auditing, (None, None, "assumed"), Trace), 1))
    told, duplicate = [one for one in found if one.error]
    assert told.number == BAD + 1
    assert (duplicate.number, duplicate.error) == (
        len(IDS),
        f"id {IDS[0]!r} occurs before in this file",
    )


def test_a_bad_cell_of_a_used_column_costs_its_row(tmp_path: Path) -> None:
    path = table(tmp_path / "t.parquet", question=broken("Where?"))
    found, (told,) = read(path)
    assert [record["id"] for record in found] == [*IDS[:BAD], *IDS[BAD + 1 :]]
    assert told.startswith(f"{path}:{BAD + 1}: column question: ")
    mapped = table(tmp_path / "m.parquet", asked=broken("Where?"))
    found, (told,) = read(TraceFile(mapped, ReadOptions(mapping=(("question", "asked"),))))
    assert [record["id"] for record in found] == [*IDS[:BAD], *IDS[BAD + 1 :]]


def test_a_value_that_no_python_has(tmp_path: Path) -> None:
    stamps = pa.array([1 << 58] * len(IDS)).view(pa.timestamp("ms"))
    found, (told,) = read(table(tmp_path / "t.parquet", made=stamps))
    assert [record["id"] for record in found] == IDS
    assert "column made" in told


def damaged(path: str, column: str, group: int) -> None:
    """Overwrites the pages of a column in a group of rows."""
    meta = pq.ParquetFile(path).metadata.row_group(group)
    (chunk,) = (
        meta.column(n) for n in range(meta.num_columns) if meta.column(n).path_in_schema == column
    )
    content = bytearray(Path(path).read_bytes())
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    content[start : start + 12] = b"\xff" * 12
    Path(path).write_bytes(content)


def test_a_damaged_column_costs_itself(tmp_path: Path) -> None:
    path = table(tmp_path / "t.parquet", 60, notes=pa.array(["fine"] * len(IDS)))
    damaged(path, "notes", 1)
    found, (told,) = read(path)
    assert [record["id"] for record in found] == IDS
    assert ["notes" in record for record in found] == [n // 60 != 1 for n in range(len(IDS))]
    assert told.startswith(f"{path}:61: column notes: ")


def test_a_damaged_column_that_is_needed_costs_its_rows(tmp_path: Path) -> None:
    path = table(tmp_path / "t.parquet", 60)
    damaged(path, "scene", 1)
    found, (told,) = read(path)
    assert [record["id"] for record in found] == [*IDS[:60], *IDS[120:]]
    assert told.startswith(f"{path}:61: rows 61 to 120: column scene: ")


def test_what_is_no_parquet_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 or not")
    found, (told,) = read(str(path))
    assert not found
    assert told.startswith(f"{path}:1: not readable as Parquet: ")
    assert "\n" not in told
