from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from symbouq_cli.main import main

from symbouq.auditing.compare_readings import compared_readings, readings_of
from symbouq.errors import SymboUQError
from symbouq.records import StoredReading


def written(
    path: Path, *relations: str, text: str = "a", model: str = "m", things: str = "cup jug"
) -> str:
    """A file with one reading, of the relations of t1 to t2."""
    names = things.split()
    sentence: dict[str, Any] = {
        "sentence": "S1",
        "things": [{"id": f"t{n}", "words": name} for n, name in enumerate(names, 1)],
        "relations": [
            {"words": "x", "subject": "t1", "relation": r, "object": "t2"} for r in relations
        ],
    }
    reading = StoredReading.model_validate(
        {"id": "one", "part": "scene", "text": text, "model": model, "prompt": "p", "ontology": "o"}
        | {"reply": {"sentences": [sentence]}}
    )
    path.write_text(reading.model_dump_json() + "\n")
    return str(path)


def test_sentences_that_are_read_otherwise_are_told(tmp_path: Path) -> None:
    first = written(tmp_path / "a", "left", "near")
    second = written(tmp_path / "b", "near", "above", model="n", things="Cup Jug")
    found = compared_readings(first, second)
    (difference,) = found.differences
    assert (difference.was, difference.now) == (("cup left jug",), ("cup above jug",))
    assert (found.replies, found.sentences, found.alike) == (1, 1, (1, 1, 1))
    result = CliRunner().invoke(main, ["compare", first, second])
    assert result.exit_code == 1
    assert "1 of 1 sentences of 1 replies differ" in result.output
    assert "was: cup left jug" in result.output and "now: cup above jug" in result.output
    as_json = json.loads(
        CliRunner().invoke(main, ["compare", first, second, "--format", "json"]).stdout
    )
    assert as_json["relations"] == {"both": 1, "only_first": 1, "only_second": 1}


def test_what_is_the_same_is_no_difference(tmp_path: Path) -> None:
    first, second = written(tmp_path / "a", "left"), written(tmp_path / "b", "left", model="n")
    assert not compared_readings(first, second).differ
    assert CliRunner().invoke(main, ["compare", first, second]).exit_code == 0


def test_readings_of_other_texts_belong_together_by_their_trace(tmp_path: Path) -> None:
    first, second = written(tmp_path / "a", "left"), written(tmp_path / "b", "left", text="b")
    assert not compared_readings(first, second).differ
    (tmp_path / "c").write_text("")
    assert compared_readings(first, str(tmp_path / "c")).only == (1, 0)


def test_a_file_of_audits_is_none_of_readings(tmp_path: Path) -> None:
    (tmp_path / "audits").write_text('{"id": "one"}\n')
    with pytest.raises(SymboUQError, match="holds no readings"):
        readings_of(written(tmp_path / "a", "left"), str(tmp_path / "audits"))
