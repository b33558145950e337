"""Hashes of files: those of large ones are remembered as long as the file is the same."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from symbouq.io import hashes
from symbouq.io.hashes import file_hash

pytestmark = pytest.mark.usefixtures("remembered")


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder for caches; every file is large."""
    monkeypatch.setattr(hashes, "_LARGE", 1)
    monkeypatch.setenv("SYMBOUQ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    file = tmp_path / "weights"
    file.write_bytes(b"abc")
    return file


ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, B.1


def test_the_hash_is_that_of_the_content(weights: Path) -> None:
    assert file_hash(weights) == ABC


def test_a_large_file_is_read_once(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file_hash(weights)
    monkeypatch.setattr(hashes, "_hashed", lambda _: pytest.fail("it is read again"))
    assert file_hash(weights) == ABC


def test_a_small_file_is_read_each_time(
    weights: Path, remembered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hashes, "_LARGE", 4)
    file_hash(weights)
    assert not remembered.exists()


@pytest.mark.parametrize("content", [b"xyz", b"longer"])
def test_what_has_changed_is_read_again(weights: Path, content: bytes) -> None:
    file_hash(weights)
    before = weights.stat()
    weights.write_bytes(content)
    os.utime(weights, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert file_hash(weights) == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("note", ["", "[]", "null", '["elsewhere", 3, 0, "00"]'])
def test_notes_that_say_something_else_are_written_anew(
    weights: Path, remembered: Path, note: str
) -> None:
    file_hash(weights)
    (file,) = (remembered / "hashes").iterdir()
    file.write_text(note)
    assert file_hash(weights) == ABC
    assert ABC in file.read_text()


def test_without_a_folder_nothing_is_remembered(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYMBOUQ_CACHE", "")
    assert file_hash(weights) == ABC


def test_a_folder_that_cannot_be_written_costs_time_and_nothing_else(
    weights: Path, remembered: Path
) -> None:
    remembered.write_text("a file stands where the folder would")
    assert file_hash(weights) == ABC
