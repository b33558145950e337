"""Files by URI are read as files by path are."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet")

from symbouq.errors import RecordError, SymboUQError  # noqa: E402
from symbouq.io.adapters.choice import trace_files  # noqa: E402
from symbouq.io.adapters.inputs import ReadOptions  # noqa: E402
from symbouq.io.storage import listed  # noqa: E402
from symbouq.io.stream import Line, read_lines  # noqa: E402

TRACES = [
    {"id": str(n), "scene": ["A is above B."], "question": "", "response": "Answer: above"}
    for n in range(3)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = "".join(json.dumps(trace) + "\n" for trace in TRACES).encode()
    (tmp_path / "b.jsonl").write_bytes(lines)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "deep").mkdir()
    pq.write_table(pa.Table.from_pylist(TRACES), tmp_path / "deep" / "c.parquet")
    (tmp_path / "_SUCCESS").touch()
    return tmp_path


def read(path: str) -> list[dict[str, object]]:
    found = list(read_lines(path))
    assert all(isinstance(line, Line) for line in found), found
    return [json.loads(line.content) for line in found]


@pytest.mark.parametrize("name", ["b.jsonl", "a.jsonl.gz", "deep/c.parquet"])
def test_a_file_is_read_by_uri(name: str, folder: Path) -> None:
    assert read(f"file://{folder}/{name}") == TRACES


def test_a_folder_stands_for_its_files(folder: Path) -> None:
    names = [str(file) for file in trace_files([f"file://{folder}/"], ReadOptions())]
    assert names == [
        f"file://{folder}/{name}" for name in ("a.jsonl.gz", "b.jsonl", "deep/c.parquet")
    ]


def test_what_is_not_there(folder: Path) -> None:
    with pytest.raises(SymboUQError, match="does not exist"):
        listed(f"file://{folder}/none")
    with pytest.raises(SymboUQError, match="nosuch"):
        listed("nosuch://bucket/file")
    (error,) = read_lines(f"file://{folder}/none.jsonl")
    assert isinstance(error, RecordError)
    assert error.message.startswith("cannot be read")
