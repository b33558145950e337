"""A reading from the cache folder is the one that the rules derive."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from symbouq.ontology import store
from symbouq.ontology.library import builtin
from symbouq.ontology.store import VARIABLE, Shelf
from symbouq.reading.syntax.extraction import Extraction
from symbouq.reading.syntax.pipeline import Pipeline, pipeline
from symbouq.reading.syntax.sentences import Sentence, Sentences

WORDINGS = Path(__file__).parents[1] / "wordings" / "sentences_developed.jsonl"


@pytest.fixture
def readings_are_derived() -> None:
    """Not here: each test has a cache of its own."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path / "readings.sqlite"


def sentences(profile: str = "everyday") -> Sentences:
    return Sentences(builtin().ontology(profile), pipeline())


def fail(*_: object) -> None:
    raise AssertionError("nothing is derived again")


@pytest.mark.parametrize("profile", ["everyday", "nine-way", "rcc8"])
def test_a_kept_reading_is_the_derived_one(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = [json.loads(line)["sentence"] for line in WORDINGS.read_text().splitlines()[::8]]
    told += [sentence.removesuffix(".") + "?" for sentence in told[::9]]
    with monkeypatch.context() as patch:
        patch.setenv(VARIABLE, "")
        derived = sentences(profile).read(told)
    assert sentences(profile).read(told) == derived
    monkeypatch.setattr(Extraction, "extracted", fail)
    monkeypatch.setattr(Pipeline, "parsed", fail)
    backwards = sentences(profile).read(told[::-1])[::-1]
    assert backwards == derived
    assert sum(len(s.says.triplets) for read in backwards for s in read) > len(told) / 2


def read(profile: str = "everyday") -> tuple[Sentence, int]:
    """Read a sentence, and count how often the rules are asked."""
    asked = 0
    with pytest.MonkeyPatch.context() as patch:

        def counted(self: Extraction, batch: object) -> object:
            nonlocal asked
            asked += 1
            return extracted(self, batch)

        extracted = Extraction.extracted
        patch.setattr(Extraction, "extracted", counted)
        ((sentence,),) = sentences(profile).read(["The owl sits right above the fox."])
    return sentence, asked


def test_readings_under_other_tables_differ() -> None:
    assert [read()[1], read()[1], read("nine-way")[1], read("nine-way")[1]] == [1, 0, 1, 0]


@pytest.mark.parametrize("content", [b"", b"no database", None])
def test_a_damaged_file_costs_time_only(cache: Path, content: bytes | None) -> None:
    sound, _ = read()
    if content is None:
        with sqlite3.connect(cache) as base:
            base.execute("UPDATE kept SET value = replace(value, 'above', 'below')")
            base.execute("UPDATE kept SET value = CAST(value AS BLOB)")
        base.close()
    else:
        cache.write_bytes(content)
    assert [read() for _ in range(3)][::2] == [(sound, 1), (sound, 0)]


def test_a_file_that_others_may_write_is_not_used(cache: Path) -> None:
    read()
    assert cache.stat().st_mode & 0o777 == 0o600
    cache.chmod(0o622)
    assert read()[1] == 1
    cache.unlink()
    cache.symlink_to(cache.with_name("elsewhere"))
    assert [read()[1], read()[1]] == [1, 1]
    assert not cache.exists()


def test_the_file_does_not_grow_without_end(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_RESULTS", 10)
    shelf = Shelf("readings", "")
    for n in range(40):
        shelf.save({str(n): b"1"})
    found = shelf.load(map(str, range(40)))
    assert "39" in found and len(found) <= 11


SAVES = """
import sys
from symbouq.ontology.store import Shelf
shelf = Shelf("readings", "")
for n in range(200):
    shelf.save({f"{n}": b"%d" % n, f"{n} {sys.argv[1]}": sys.argv[1].encode()})
"""


def test_processes_share_the_file(cache: Path) -> None:
    command = [sys.executable, "-c", SAVES]
    running = [subprocess.Popen([*command, who], env=os.environ) for who in "abc"]
    assert [process.wait() for process in running] == [0, 0, 0]
    names = [f"{n}" for n in range(200)]
    want = {name: name.encode() for name in names}
    want |= {f"{name} {who}": who.encode() for name in names for who in "abc"}
    assert Shelf("readings", "").load(want) == want
