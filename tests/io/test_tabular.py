"""Records in Parquet files come back as they were, but for what is null."""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json
from symbouq_cli.main import main

pytest.importorskip("pyarrow", reason="the extra `formats` is not installed")

import pyarrow.parquet as pq

from symbouq.errors import install_command
from symbouq.io import tabular
from symbouq.io.output import RecordFile
from symbouq.io.stream import Line, read_lines
from symbouq.io.tabular import json_columns

EXAMPLES = str(Path(__file__).parents[2] / "examples/traces.jsonl")


def written(path: Path, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records as they are read from a file of them."""
    with RecordFile(str(path)) as stream:
        for record in records:
            stream.write(json.dumps(record).encode() + b"\n")
    found = []
    for line in read_lines(str(path)):
        assert isinstance(line, Line), line
        found.append(from_json(line.content))
    return found


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("ab é", max_size=3)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3)
    ),
    max_leaves=6,
)


def cleaned(value: Any) -> Any:
    """A value without what a table has no place for: nulls in objects, and empty objects."""
    if isinstance(value, dict):
        kept = {name: cleaned(part) for name, part in value.items()}
        return {name: part for name, part in kept.items() if part is not None} or None
    if isinstance(value, list):
        return [cleaned(part) for part in value]
    return value


@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), values, max_size=3), max_size=5),
    st.integers(1, 3),
)
def test_records_come_back(rows: list[dict[str, Any]], size: int) -> None:
    records = [{"id": str(n)} | row for n, row in enumerate(rows)]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tabular, "_ROWS", size)
        found = written(Path(folder, "f.parquet"), records)
    assert [cleaned(row) for row in found] == [cleaned(record) for record in records]


def test_types_that_show_late(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [{"id": str(n), "scene": "s", "n": n} for n in range(2000)]
    records[1500] |= {"n": 0.5, "late": {"a": 1}, "kind": "text"}
    records[1999] |= {"late": {"b": [None, "x"]}, "kind": ["a", "list"]}
    found = written(tmp_path / "f.parquet", records)
    assert found[1500] == records[1500]
    assert found[1999] == records[1999]
    assert found[3] == {"id": "3", "scene": "s", "n": 3.0}
    schema = pq.read_schema(tmp_path / "f.parquet")
    assert json_columns(schema) == {"kind"}
    assert pq.read_table(tmp_path / "f.parquet")["kind"][1999].as_py() == '["a","list"]'


def test_what_is_nested_too_deeply_is_text(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(150):
        deep = [deep]
    records: list[dict[str, Any]] = [{"id": "a", "deep": deep}, {"id": "b"}, {}]
    found = written(tmp_path / "f.parquet", records)
    assert found == records
    assert json_columns(pq.read_schema(tmp_path / "f.parquet")) == {"deep"}


def test_an_audit_of_parsed_traces_goes_through_a_table(tmp_path: Path) -> None:
    parsed, audits, plain = (str(tmp_path / name) for name in ("p.parquet", "a.parquet", "a.jsonl"))
    r = run("--debug", "parse", EXAMPLES, "--out", parsed)
    assert r.exit_code == 0, r.stderr
    assert run("audit", parsed, "--out", audits).exit_code == 0
    assert run("audit", EXAMPLES, "--out", plain).exit_code == 0
    rows = pq.read_table(audits).to_pylist()
    expected = [json.loads(line) for line in Path(plain).read_text().splitlines()]
    for row, record in zip(rows, expected, strict=True):
        del row["source"], record["source"]
        assert cleaned(row) == cleaned(record)
    compared = run("compare", plain, audits)
    assert compared.exit_code == 0, compared.output
    assert "0 verdicts flip in 0 of 10 traces" in compared.output


def test_nothing_and_an_interrupted_run(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").touch()
    out = tmp_path / "empty.parquet"
    assert run("audit", str(tmp_path / "in.jsonl"), "--out", str(out)).exit_code == 0
    assert pq.read_table(out).num_rows == 0
    assert run("parse", str(out)).exit_code == 0
    with pytest.raises(KeyboardInterrupt), RecordFile(str(out)) as stream:
        stream.write(b'{"id":"a"}\n')
        raise KeyboardInterrupt
    assert not (tmp_path / "empty.parquet.part").exists()
    assert pq.read_table(out).to_pylist() == [{"id": "a"}]


def test_without_pyarrow_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run("audit", EXAMPLES, "--out", str(tmp_path / "a.parquet"))
    assert result.exit_code == 2
    assert install_command("formats") in result.stderr
    assert not (tmp_path / "a.parquet").exists()


def test_every_output_follows_its_name(tmp_path: Path) -> None:
    plain, packed, table = (str(tmp_path / name) for name in ("s.jsonl", "s.jsonl.gz", "s.parquet"))
    for out in (plain, packed, table):
        assert run("scenes", "blocks", "--count", "6", "--out", out).exit_code == 0
    assert gzip.decompress(Path(packed).read_bytes()) == Path(plain).read_bytes()
    expected = [json.loads(line) for line in Path(plain).read_text().splitlines()]
    found = [from_json(line.content) for line in read_lines(table) if isinstance(line, Line)]
    assert [cleaned(row) for row in found] == [cleaned(row) for row in expected]


def test_labels_are_records_too(tmp_path: Path) -> None:
    from symbouq.evidence.labels.records import read_labels

    label = {"id": "a", "labels": [1, None], "source": "truth"}
    with RecordFile(str(tmp_path / "l.parquet")) as stream:
        stream.write(json.dumps(label).encode() + b"\n")
    (tmp_path / "l.jsonl").write_text(json.dumps(label) + "\n")
    assert read_labels(tmp_path / "l.parquet") == read_labels(tmp_path / "l.jsonl")
