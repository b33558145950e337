from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from symbouq.errors import SymboUQError
from symbouq.evidence.generation.resumable import HASH, ResumableFile

SETTINGS = {"seed": 0, "model_hash": "0" * 64, HASH: "a"}
ONE = b'{"id":"one","generation":{"seed":0,"model_hash":"' + b"0" * 64 + b'","settings":"a"}}\n'


def record(name: str, **settings: Any) -> dict[str, Any]:
    return {"id": name, "generation": {**SETTINGS, **settings}}


def store(path: Path, **settings: Any) -> ResumableFile:
    return ResumableFile(path, {**SETTINGS, **settings})


def test_appends_what_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    with store(path) as first:
        assert first.done == set()
        first.append([record("one")])
        assert path.read_bytes() == ONE
    with store(path) as second:
        assert second.done == {"one"}
        second.append([record("one"), record("two")])
    assert path.read_bytes() == ONE + ONE.replace(b"one", b"two")


@pytest.mark.parametrize("cut", [1, 5, 6, 40, len(ONE) - 2])
@pytest.mark.parametrize("before", [b"", ONE])
def test_a_torn_end_is_taken_away(tmp_path: Path, before: bytes, cut: int) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(before + ONE.replace(b"one", b"two")[:cut])
    with store(path) as opened:
        assert path.read_bytes() == before
        opened.append([record("two")])
    assert path.read_bytes() == before + ONE.replace(b"one", b"two")


def test_a_line_without_its_break_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(ONE + ONE.replace(b"one", b"two")[:-1])
    with store(path) as opened:
        assert opened.done == {"one"}
    assert path.read_bytes() == ONE


@pytest.mark.parametrize(
    "content",
    [
        b'{"id":"one","scene":"A is left of B."}',  # somebody's record, without a line break
        b'{"id":"one","scene":"A is left of B."}\n',
        b"notes",
        b"notes\n",
        b"[1]\n",
        ONE + b'{"id":"two"}\n',
    ],
)
def test_what_something_else_wrote_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(content)
    with pytest.raises(SymboUQError, match="is no generated trace"), store(path):
        pass
    assert path.read_bytes() == content


def test_other_settings_are_refused_with_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(ONE)
    other = {"seed": 1, "model_hash": "1" * 64, HASH: "b"}
    with pytest.raises(SymboUQError) as caught, store(path, **other):
        pass
    assert str(caught.value) == (
        f"{path}:1: was begun with other settings: seed is 0 there and 1 here; model_hash is "
        "000000000000... there and 111111111111... here; continue with those or give another file"
    )
    assert path.read_bytes() == ONE


def test_what_only_one_of_two_has_is_told(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(ONE)
    endpoint = "http://localhost:8000/v1/chat/completions"
    with (
        pytest.raises(SymboUQError, match=f"endpoint is not there and {endpoint} here;"),
        store(path, endpoint=endpoint, **{HASH: "b"}),
    ):
        pass
    with (
        pytest.raises(SymboUQError, match="other settings: those of another command;"),
        store(path, **{HASH: "b"}),
    ):
        pass
    assert path.read_bytes() == ONE


def test_two_runs_at_once(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    expected = pytest.raises(SymboUQError, match="another run is writing to it")
    with store(path), expected, store(path):
        pass
    with store(path):
        pass


class TestDisk:
    def test_full(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "traces.jsonl"
        write = os.write

        def full(file: int, content: bytes) -> int:
            if b"two" in bytes(content):
                return write(file, bytes(content)[:20])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with store(path) as opened:
            opened.append([record("one")])
            with monkeypatch.context() as patched:
                patched.setattr(os, "write", full)
                expected = "the disk is full; 1 traces are written and kept; make room"
                with pytest.raises(SymboUQError, match=expected):
                    opened.append([record("two")])
            assert path.read_bytes() == ONE
            opened.append([record("two")])
        assert path.read_bytes() == ONE + ONE.replace(b"one", b"two")

    def test_failing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(file: int, content: bytes) -> int:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        with store(tmp_path / "traces.jsonl") as opened:
            monkeypatch.setattr(os, "write", fail)
            with pytest.raises(SymboUQError, match="cannot be written: Input/output error"):
                opened.append([record("one")])

    def test_no_such_folder(self, tmp_path: Path) -> None:
        path = tmp_path / "missing" / "traces.jsonl"
        with pytest.raises(SymboUQError, match="cannot be written: No such file"), store(path):
            pass

    def test_no_file(self) -> None:
        with pytest.raises(SymboUQError, match="no regular file"), store(Path("/dev/null")):
            pass

    def test_compressed(self, tmp_path: Path) -> None:
        path = tmp_path / "traces.jsonl.gz"
        with pytest.raises(SymboUQError, match=r"give a name in \.jsonl"), store(path):
            pass
        assert not path.exists()
