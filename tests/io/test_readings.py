from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from symbouq.errors import SymboUQError
from symbouq.io.readings import ReadingsFile
from symbouq.records import Reply, StoredReading


def reading(text: str = "a", **more: object) -> StoredReading:
    fields = {
        "id": "one",
        "part": "scene",
        "text": text,
        "model": "m",
        "prompt": "p",
        "ontology": "o",
    }
    return StoredReading.model_validate({**fields, "reply": Reply(sentences=[]), **more})


def test_what_is_added_is_found_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "readings.jsonl"
    with ReadingsFile(path) as file:
        file.add(reading())
        file.add(reading(sample=1, model="n"))
        assert file.find("a", 0, "m", "p", "o") == reading()
    with ReadingsFile(path, grows=False) as file:
        assert file.find("a", 0, "m", "p", "o") == reading()
        assert file.find("a", 1, "m", "p", "o") is None
        assert file.find("b", 0, "m", "p", "o") is None
        assert file.models == ["m", "n"]


def test_another_version_is_found_where_any_will_do(tmp_path: Path) -> None:
    with ReadingsFile(tmp_path / "r.jsonl") as file:
        file.add(reading(prompt="old"))
        file.add(reading(ontology="older"))
        assert file.find("a", 0, "m", "p", "o") is None
        found = file.find("a", 0, "m", None, None)
        assert found is not None and found.ontology == "older"


def test_of_several_lines_the_last_counts(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    edited = reading(reply={"sentences": [], "answer": "C1"})
    path.write_text(f"{reading().model_dump_json()}\n\n{edited.model_dump_json()}")
    with ReadingsFile(path) as file:
        assert file.find("a", 0, "m", "p", "o") == edited
        file.add(reading("b"))
    assert len(path.read_text().splitlines()) == 4


def test_what_a_killed_run_left_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    whole = reading().model_dump_json() + "\n"
    path.write_text(whole + whole[:40])
    with ReadingsFile(path) as file:
        file.add(reading("b"))
    lines = path.read_text().splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["a", "b"]


def test_what_a_killed_run_left_is_passed_over_where_nothing_is_added(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    whole = reading().model_dump_json() + "\n"
    path.write_text(whole + whole[:40])
    with ReadingsFile(path, grows=False) as file:
        assert file.find("a", 0, "m", "p", "o") == reading()
    assert path.read_text() == whole + whole[:40]


def test_a_mistake_in_the_last_line_is_not_taken_for_that(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(reading().model_dump_json().replace('"text"', '"txt"'))
    with pytest.raises(SymboUQError, match=r"r\.jsonl:1: "), ReadingsFile(path):
        pass


def test_a_line_that_is_no_reading_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"id": "one"}\n')
    with pytest.raises(SymboUQError, match=r"r\.jsonl:1: "), ReadingsFile(path):
        pass


def test_one_run_writes_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with ReadingsFile(path), pytest.raises(SymboUQError, match="another run"), ReadingsFile(path):
        pass


def test_a_file_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    with (
        pytest.raises(SymboUQError, match="cannot be read"),
        ReadingsFile(tmp_path / "none", grows=False),
    ):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(SymboUQError, match="cannot be written"), ReadingsFile(tmp_path / "r.jsonl"):
        pass
