from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from symbouq.errors import OntologyError
from symbouq.ontology import library as module
from symbouq.ontology import store
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.store import VARIABLE, Store
from symbouq.ontology.tables import Ontology


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def entries(cache: Path, kind: str = "ontologies") -> list[Path]:
    return sorted((cache / kind).iterdir())


def parts(ontology: Ontology) -> tuple[Any, ...]:
    """What an ontology is made of; the rest follows from it."""
    tables = [*ontology.tables.items()]
    return ontology.profile, ontology.name, ontology.hash, tables, ontology.encoding.rules


def test_what_is_kept_is_what_was_compiled(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = OntologyLibrary()
    made = {(name, literal): first.ontology(name, literal)
            for name in first.profiles for literal in (False, True)}  # fmt: skip
    with monkeypatch.context() as patched:
        patched.setattr(module, "read_source", None)
        patched.setattr(module, "tables_of", None)
        second = OntologyLibrary()
        kept = {key: second.ontology(*key) for key in made}
    assert [*map(parts, kept.values())] == [*map(parts, made.values())]
    assert (second.rows, second.profiles) == (first.rows, first.profiles)
    assert second.source.facts == first.source.facts  # read after all


def test_a_folder_of_ones_own_is_kept_until_it_changes(cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "own.lp").write_text("extends(nine_way).\n")
    first = OntologyLibrary(folder).ontology()
    assert parts(OntologyLibrary(folder).ontology()) == parts(first)
    assert len(entries(cache)) == 1
    (folder / "own.lp").write_text('extends(nine_way).\nphrase(left, "portside of").\n')
    changed = OntologyLibrary(folder).ontology()
    assert len(entries(cache)) == 2
    assert "portside of" in str(changed.tables) and "portside of" not in str(first.tables)


def test_rules_that_join_the_audits_are_kept(cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    rule = "holds(near, X, Y) :- holds(inside, X, Y)."
    (folder / "own.lp").write_text(f"extends(nine_way).\n{rule}\n")
    rules = OntologyLibrary(folder).ontology().encoding.rules
    assert "holds(near,X,Y)" in rules
    assert OntologyLibrary(folder).ontology().encoding.rules == rules


def test_faults_are_told_each_time(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "own.lp").write_text("extends(nine_way).\ninverse(left, lefty).\n")
    for _ in range(2):
        with pytest.raises(OntologyError, match="lefty"):
            OntologyLibrary(tmp_path)


def test_a_damaged_entry_is_made_again(cache: Path) -> None:
    first = OntologyLibrary().ontology()
    for file in entries(cache)[0].iterdir():
        file.write_bytes(file.read_bytes()[:100])
    for _ in range(2):
        assert parts(OntologyLibrary().ontology()) == parts(first)


def test_a_folder_that_cannot_be_used_costs_nothing_but_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file"))
    assert OntologyLibrary().ontology().profile == "nine-way"


def test_nothing_is_kept_where_the_variable_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept = Store("kind", "")
    kept.save("some", 1)
    assert kept.load("some") is None and not any(tmp_path.iterdir())
    monkeypatch.delenv(VARIABLE)
    kept = Store("kind", "")
    kept.save("some", 1)
    assert kept.load("some") == 1 and (tmp_path / "symbouq/kind").is_dir()


def test_what_was_made_longest_ago_goes(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_MOST", 2)
    files = [tmp_path / f"{n}.lp" for n in range(3)]
    for age, file in enumerate(files):
        Store("kind", file.name).save("some", file.name)
        for entry in entries(cache, "kind"):
            status = entry.stat()
            os.utime(entry, (status.st_atime, status.st_mtime - 10 * age))
    assert [Store("kind", file.name).load("some") for file in files] == [None, "1.lp", "2.lp"]


def test_other_code_has_entries_of_its_own(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store("kind", "").save("some", 1)
    monkeypatch.setattr(store.clingo, "__version__", "0")
    assert Store("kind", "").load("some") is None
