from __future__ import annotations

import contextlib
import os
import shutil
import socket
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


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the default profile, to be copied."""
    folder = tmp_path_factory.mktemp("compiled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder))
        OntologyLibrary().ontology()
    return folder


@pytest.fixture
def kept(cache: Path, compiled: Path) -> Ontology:
    """The default profile, as the cache has it."""
    shutil.copytree(compiled, cache)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "read_source", None)  # nothing is compiled
        return OntologyLibrary().ontology()


def entries(cache: Path, kind: str = "ontologies") -> list[Path]:
    return sorted((cache / kind).iterdir())


def parts(ontology: Ontology) -> tuple[Any, ...]:
    """What an ontology is made of; the rest follows from it."""
    tables = [*ontology.tables.items()]
    return ontology.profile, ontology.name, ontology.hash, tables, ontology.encoding.rules


@pytest.mark.slow
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


def test_a_damaged_entry_is_made_again(cache: Path, kept: Ontology) -> None:
    for file in entries(cache)[0].iterdir():
        file.write_bytes(file.read_bytes()[:100])
    for _ in range(2):
        assert parts(OntologyLibrary().ontology()) == parts(kept)


@pytest.mark.parametrize("content", [b"{}", b"null", b"[]", b'{"rows": [], "tables": []}', b""])
def test_an_entry_that_says_something_else_is_made_again(
    cache: Path, kept: Ontology, content: bytes
) -> None:
    for file in entries(cache)[0].iterdir():
        file.write_bytes(content)
    assert parts(OntologyLibrary().ontology()) == parts(kept)


@pytest.mark.parametrize("old, new", [(b"left", b"righ"), (b'"up', b'"do'), (b"\n", b"\n ")])
def test_an_edited_entry_is_made_again(cache: Path, kept: Ontology, old: bytes, new: bytes) -> None:
    files = list(entries(cache)[0].iterdir())
    before = [file.read_bytes() for file in files]
    for file, content in zip(files, before, strict=True):
        assert old in content
        file.write_bytes(content.replace(old, new))
    assert parts(OntologyLibrary().ontology()) == parts(kept)
    assert [file.read_bytes() for file in files] == before


def test_an_entry_in_the_place_of_another_is_made_again(cache: Path) -> None:
    library = OntologyLibrary()
    own, other = library.ontology("nine_way"), library.ontology("half_plane")
    (folder,) = entries(cache)
    shutil.copyfile(folder / "half_plane", folder / "nine_way")
    assert parts(OntologyLibrary().ontology("nine_way")) == parts(own) != parts(other)
    Store("kind", "one").save("some", 1)
    (one,) = entries(cache, "kind")
    Store("kind", "two").save("some", 2)
    (two,) = set(entries(cache, "kind")) - {one}
    shutil.copyfile(one / "some", two / "some")
    assert (Store("kind", "one").load("some"), Store("kind", "two").load("some")) == (1, None)


@pytest.mark.parametrize("planted", ["pipe", "link", "link to nothing", "folder", "socket"])
def test_what_is_no_file_is_not_read(cache: Path, tmp_path: Path, planted: str) -> None:
    kept = Store("kind", "")
    kept.save("some", 1)
    file = entries(cache, "kind")[0] / "some"
    file.rename(tmp_path / "elsewhere")
    match planted:
        case "pipe":
            os.mkfifo(file)
        case "link":
            file.symlink_to(tmp_path / "elsewhere")
        case "link to nothing":
            file.symlink_to(tmp_path / "nothing")
        case "folder":
            file.mkdir()
        case "socket":
            with contextlib.chdir(file.parent), socket.socket(socket.AF_UNIX) as made:
                made.bind("some")
    assert kept.load("some") is None
    kept.save("some", 2)
    assert kept.load("some") == (None if planted == "folder" else 2)
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_what_others_may_write_is_not_read(cache: Path, mode: int) -> None:
    kept = Store("kind", "")
    kept.save("some", 1)
    (entries(cache, "kind")[0] / "some").chmod(mode)
    assert kept.load("some") is None


def test_what_others_wrote_is_not_read(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Store("kind", "")
    kept.save("some", 1)
    mine = os.geteuid()
    if mine == 0:
        os.chown(entries(cache, "kind")[0] / "some", 1, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    assert kept.load("some") is None


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
