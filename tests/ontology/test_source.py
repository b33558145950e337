"""Ontology folders from strangers: what is no plain file of facts and rules is refused, at once,
and `rules check` finds what loading refuses.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from symbouq import limits
from symbouq.authoring.check import check
from symbouq.errors import OntologyError
from symbouq.limits import LimitError
from symbouq.logic.programs import TraceSolver
from symbouq.ontology import source
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.source import data_folder, files_stamp, lp_files
from symbouq.ontology.wellformed import read_source

HEADER = "extends(nine_way).\n"
AXES = ";".join(f"a{n}" for n in range(50))


def loaded(folder: Path) -> OntologyError | None:
    """What loading an ontology and all of its profiles fails with."""
    try:
        library = OntologyLibrary(folder)
        library.profile_of(None)
        for profile in library.profiles:
            library.ontology(profile)
    except OntologyError as error:
        return error
    return None


def agreed(folder: Path) -> OntologyError | None:
    """The same, where `rules check` has an error just where loading has one."""
    wrong = loaded(folder)
    errors = [finding for finding in check(str(folder)) if finding.severity == "error"]
    assert bool(errors) == (wrong is not None), (errors, wrong)
    if wrong is not None:
        assert (wrong.code, wrong.line or 1) in {(e.code, e.line) for e in errors}
    return wrong


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('axis(q). #include "other.lp".', 2, "#include does not belong"),
        ('%* a comment *% #include "other.lp".', 2, "#include does not belong"),
        ('%* one %* within *%\n% *% and a line\n*% #include "other.lp".', 4, "#include"),
        ('axis(q).#include"/dev/zero".', 2, "#include does not belong"),
        ("axis(q).\n#include <incmode>.", 3, "#include does not belong"),
        # No string of clingo's: the quote after the backslash is not hidden by it.
        ('phrase(near, "\\x #include "/dev/zero".', 2, "#include does not belong"),
        ("phrase(near, @words()).", 2, "@words calls a function of a program"),
        ("phrase(near, T) :- axis(x), T = @words().", 2, "calls a function of a program"),
        ("clash(odd, U, V) :- holds(near, U, V), U != @f(V).", 2, "calls a function"),
        ("#script (python)\nprint(1)\n#end.", 2, "only facts and rules belong"),
        ("#external axis(q).", 2, "only facts and rules belong"),
        ("#const near = far.", 2, "only facts and rules belong"),
        ("#show.", 2, "only facts and rules belong"),
        ("#program other.", 2, "only facts and rules belong"),
        ("#program base(near).", 2, "only facts and rules belong"),
        ("#defined axis/1.", 2, "only facts and rules belong"),
        ("#theory t { }.", 2, "only facts and rules belong"),
        ("#minimize { 1 : axis(x) }.", 2, "only facts and rules belong"),
        ("clock(1..1000000000, near).", 2, "has over 1,000 values, or no end"),
        (f"axis({'f(' * 30000}a{')' * 30000}).", 2, "more than 250 operators"),
        (f"axis({'1..' * 30000}2).", 2, "more than 250 operators"),
        (f"axis({'-' * 30000}2).", 2, "more than 250 operators"),
        (f'%* %* *% % " *%\n*% axis({"f(" * 30000}a{")" * 30000}).', 3, "more than 250"),
        ("holds(near, U, V) :- holdz(far, U, V; near, U, V).", 2, "undefined predicate holdz/3"),
        ("axis(a\0).", 2, "NUL character"),
        ('phrase(near, "nigh\0 or so").', 2, "NUL character"),
        # A comment opens neither in a script, nor after #!, nor in what is grounded already.
        ('#script (python) %* #end.\n#include "other.lp".', 2, "#script does not belong"),
        ('axis(q). #! %*\n#include "other.lp".', 2, "#! does not belong"),
        # No line ends at a carriage return.
        ('% \r%*\n#include "other.lp".', 3, "#include does not belong"),
        # What the parser cannot even complain of.
        ("phrase(near, \u201cnigh\u201d).", 2, "\u201c belongs in texts"),
        ('% \u00e9 "\nphrase(near, "\u00e9"). phrase(near, \u00e9).', 3, "\u00e9 belongs in texts"),
        # Products.
        ("component(1..1000, 1..1000, 1..1000).", 2, "stands for 1,000,000,000"),
        (f"component({', '.join([f'({AXES})'] * 3)}).", 2, "stands for 125,000"),
        (f"axis((({AXES}), ({AXES}), ({AXES}))) :- axis(x).", 2, "stands for 125,000"),
        ("clash(odd, U, V) :- holds(near, U, V), U = (1..1000) + (1..1000).", 2, "1,000,000"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, line: int, words: str) -> None:
    (tmp_path / "other.lp").write_text("axis(q).\n", encoding="utf-8")
    (tmp_path / "mine.lp").write_text(HEADER + text, encoding="utf-8")
    wrong = agreed(tmp_path)
    assert wrong is not None
    assert (wrong.file, wrong.line) == (str(tmp_path / "mine.lp"), line)
    assert words in wrong.message


READ = (
    HEADER,
    'phrase(near, "#include"). % #include "x".\n%* #include "y". %* nested *% *%',
    'phrase(near, "a \\"quoted\\" %* word").',
    "clock((1; 2), near). clock(3..4, near).",
    'number(0) :- axis(x).\nnumber(N + 1) :- number(N), N < 5.\nphrase(near, "by") :- number(5).',
)


@pytest.mark.slow
def test_what_is_read(tmp_path: Path) -> None:
    for number, text in enumerate(READ):
        (tmp_path / f"{number}.lp").write_text(text, encoding="utf-8")
    assert agreed(tmp_path) is None
    phrases = OntologyLibrary(tmp_path).ontology().lexicon.phrase
    assert {"#include", 'a "quoted" %* word', "by"} <= phrases.keys()


def test_a_grounded_program_is_no_ontology(tmp_path: Path) -> None:
    text = 'asp 1 0 0\n10 %*\n0\n#include "other.lp".\n'
    (tmp_path / "mine.lp").write_text(text, encoding="utf-8")
    wrong = agreed(tmp_path)
    assert wrong is not None
    assert "begins like the output of a grounder" in wrong.message


NEAR = "holds(near, U, V)"
CLASH = f"clash(odd, U, V) :- {NEAR}, steps(U, V, 3).\nsteps(U, V, 0) :- {NEAR}.\n"
"""A helper of the audit that counts, and what it is for; its next step is line 4."""
COUNT = 'phrase(near, "nigh") :- count(3).\ncount(1) :- axis(x).\n'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{COUNT}count(Y) :- count(X), Y = X + 1.", 4),
        (f"{COUNT}count(Y) :- count(X), X + 1 = Y.", 4),
        (f"{COUNT}count(Y) :- count(X), Y = Z, Z = X + 1.", 4),
        (f"{COUNT}count(X) :- count(X + 1).", 4),
        (f"{COUNT}count(X) :- more(X). more(Y) :- count(X), Y = X + 1.", 4),
        (f"{COUNT}count(f(X)) :- count(X), X > 1.", 4),
        (f"{COUNT}count((X, X)) :- count(X), X < 5.", 4),
        # Bounded, but not where it grows; or not by a number.
        (f"{COUNT}count(X + 1) :- count(X), X > 0.", 4),
        (f"{COUNT}count(X - 1) :- count(X), X < 9.", 4),
        (f"{COUNT}count(5 - X) :- count(X), X < 9.", 4),
        (f"{COUNT}count(X * 2) :- count(X), X < 9.", 4),
        (f"{COUNT}count(X + Y) :- count(X), count(Y), X < 9.", 4),
        (f"{COUNT}count(X + 1) :- count(X), X != 9.", 4),
        (f"{COUNT}count(X + 1) :- count(X), X < nine.", 4),
        (f"{COUNT}count(X + 1) :- count(X), X < Y, count(Y).", 4),
        (f"{COUNT}count(X + 1) :- count(X), not X < 9.", 4),
        # What depends on the trace.
        (f"{CLASH}steps(U, W, N) :- steps(U, V, M), holds(near, V, W), N = M + 1.", 4),
        (f"{CLASH}steps(U, W, N + 1) :- steps(U, V, N), holds(near, V, W), 0 <= N.", 4),
        (f"{CLASH}steps(U, W, 0) :- steps(U, V, N), W = V + 1.", 4),
        ("holds(near, U, W) :- holds(far, U, V), W = V + 1.", 2),
    ],
)
def test_what_would_grow_without_end(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / "mine.lp").write_text(HEADER + text, encoding="utf-8")
    with pytest.raises(OntologyError) as wrong:
        read_source(lp_files(data_folder("ontology")), tmp_path)
    assert (wrong.value.line, wrong.value.code) == (line, "growth")


ENDING = (
    f"{COUNT}count(X + 1) :- count(X), X < 9.",
    f"{COUNT}count(1 + X) :- count(X), 9 >= X.",
    f"{COUNT}count(Y) :- count(X), Y = X + 1, Y <= 9.",
    f"{COUNT}count(Y) :- count(X), Y = X + 1, Y = 1..9.",
    f"{COUNT}count(X - 1) :- count(X), X > -1 - 3.",
    f"{COUNT}count(X + X + 1) :- count(X), 0 < X < 9.",
    f"{COUNT}count(X + Y) :- count(X), count(Y), 0 < X < 9, 0 < Y < 9.",
    f"{COUNT}count(Y) :- count(X), count(Z), Y = X + Z, -9 < Y < 9.",
    f"{COUNT}count(Y) :- count(X), Y = X.",
    f"{COUNT}count(N + 1) :- count(_), clock(N, above).",
    f"{COUNT}count(Y) :- count(_), clock(N, above), Y = N + 1.",
    f"{CLASH}steps(U, W, N) :- steps(U, V, M), holds(near, V, W), N = M + 1, N < 9.",
    f"{CLASH}steps(U, W, N + 1) :- steps(U, V, N), holds(near, V, W), N < 9.",
)
"""Helpers that count, each to its end."""


def test_what_comes_to_an_end(tmp_path: Path) -> None:
    """All of them in one ontology, each with helpers of its own."""
    for number, text in enumerate(ENDING):
        own = re.sub(r"(count|steps)\(", rf"\1_{number}(", text)
        (tmp_path / f"{number}.lp").write_text(own, encoding="utf-8")
    (tmp_path / "mine.lp").write_text(f'{HEADER}reason(odd, "odd").\n', encoding="utf-8")
    rules = OntologyLibrary(tmp_path).ontology().encoding.rules
    for number, text in enumerate(ENDING):
        assert (f"steps_{number}(" in rules) == ("steps" in text), text


def test_what_grows_is_found_as_it_is_refused(tmp_path: Path) -> None:
    text = f"{HEADER}{COUNT}count(X + 1) :- count(X), X > 0."
    (tmp_path / "mine.lp").write_text(text, encoding="utf-8")
    wrong = agreed(tmp_path)
    assert wrong is not None
    assert "bound it by a number on the side where it grows" in wrong.message


def test_rules_of_an_ontology_are_watched_in_each_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A product of what holds: 20 things at six places."""
    body = ", ".join(f"holds(near, {name}, _)" for name in "ABCDEF")
    text = (
        f'{HEADER}reason(odd, "odd").\nmany(A, B, C, D, E, F) :- {body}.\n'
        "clash(odd, U, V) :- many(U, V, _, _, _, _), holds(inside, U, V).\n"
    )
    (tmp_path / "mine.lp").write_text(text, encoding="utf-8")
    ontology = OntologyLibrary(tmp_path).ontology()
    monkeypatch.setattr(limits, "_GROUND_RULES", 50_000)
    near = ontology.encoding.readings["asserted", "near"]
    few = [(near, 0, 1), (near, 1, 2)]
    assert TraceSolver(ontology, few).feasible(few)
    with pytest.raises(LimitError):
        TraceSolver(ontology, [(near, thing, thing + 1) for thing in range(19)])


def test_tables_have_a_largest_size(tmp_path: Path) -> None:
    """A product of what the ontology states: five relations of the hundred, at every place."""
    body = ", ".join(f"family({name}, _)" for name in "ABCDE")
    text = f'{HEADER}phrase(near, "nigh") :- many(A, A, A, A, A).\nmany(A, B, C, D, E) :- {body}.'
    (tmp_path / "mine.lp").write_text(text, encoding="utf-8")
    wrong = agreed(tmp_path)
    assert wrong is not None
    assert (wrong.line, wrong.code) == (3, "growth")
    assert "most of them conclude many/5" in wrong.message


def _outside(folder: Path) -> None:
    elsewhere = folder.parent / f"{folder.name}-elsewhere.lp"
    elsewhere.write_text("axis(q).\n", encoding="utf-8")
    (folder / "a.lp").symlink_to(elsewhere)


def _socket(folder: Path) -> None:
    before = Path.cwd()
    os.chdir(folder)  # the path of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("a.lp")
    finally:
        os.chdir(before)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: os.mkfifo(folder / "a.lp"), "no regular file"),
        (_socket, "no regular file"),
        (_outside, "a link out of the folder"),
        (lambda folder: (folder / "a.lp").symlink_to("/dev/zero"), "a link out of the folder"),
        (lambda folder: (folder / "a.lp").symlink_to("nowhere.lp"), "a link to nothing"),
        (lambda folder: (folder / "a.lp").symlink_to("a.lp"), "a link to nothing"),
        (
            lambda folder: (os.mkfifo(folder / "fifo"), (folder / "a.lp").symlink_to("fifo")),
            "no regular file",
        ),
        (
            lambda folder: (folder / "a.lp").write_bytes(b"%" * (source.MOST_BYTES + 1)),
            "has at most 4,000,000",
        ),
        (lambda folder: (folder / "a.lp").write_bytes(b"axis(q). % \xff"), "cannot be read"),
        (lambda folder: (folder / "a.lp").write_text("\ufeffaxis(q)."), "byte order mark"),
    ],
)
def test_what_is_no_file_of_the_folder(
    tmp_path: Path, make: Callable[[Path], object], words: str
) -> None:
    """Nothing waits for what never comes, and nothing is read that lies elsewhere."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "b.lp").write_text(HEADER, encoding="utf-8")
    make(folder)
    wrong = agreed(folder)
    assert wrong is not None
    assert wrong.file == str(folder / "a.lp")
    assert words in wrong.message


@pytest.mark.slow
def test_folders_and_links_within(tmp_path: Path) -> None:
    """A folder may be called `x.lp`; a link within the folder is a file like any other."""
    deep = tmp_path / "x.lp"
    deep.mkdir()
    (deep / "rules.lp").write_text('extends(nine_way).\nphrase(near, "nigh").\n', encoding="utf-8")
    assert OntologyLibrary(tmp_path).ontology().lexicon.phrase["nigh"] == "near"
    (tmp_path / "again.lp").symlink_to(deep / "rules.lp")
    assert agreed(tmp_path) is None


def test_an_own_mistake_is_told_at_its_own_place(tmp_path: Path) -> None:
    """Where a fact of the folder makes built-in ones wrong, the folder's is named."""
    (tmp_path / "mine.lp").write_text(f"{HEADER}component(near, x, 1).\n", encoding="utf-8")
    wrong = agreed(tmp_path)
    assert wrong is not None
    assert (wrong.file, wrong.line) == (str(tmp_path / "mine.lp"), 2)


def test_files_are_looked_at_once_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "own.lp"
    file.write_text("% one\n")
    seconds = iter([1e9, 1e9 + 0.9, 1e9 + 1])
    monkeypatch.setattr(time, "monotonic", lambda: next(seconds))
    first = files_stamp(str(tmp_path))
    file.write_text("% another\n")
    assert files_stamp(str(tmp_path)) == first
    assert files_stamp(str(tmp_path)) != first
