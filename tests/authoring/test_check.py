"""`rules check`: every kind of finding at its place, and a clean built-in ontology."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from symbouq_cli.main import main

from symbouq import limits
from symbouq.authoring.check import as_sarif, check
from symbouq.errors import OntologyError
from symbouq.ontology.compilation import checks
from symbouq.ontology.library import OntologyLibrary

NEAR = "holds(near, U, V)"


def findings(
    tmp_path: Path, text: str, header: str = "extends(nine_way).\n"
) -> list[tuple[int, str]]:
    """Line and code of what is found in a file, lines counted after the header."""
    (tmp_path / "mine.lp").write_text(header + text, encoding="utf-8")
    return [(f.line - header.count("\n"), f.code) for f in check(str(tmp_path))]


def test_the_builtin_ontology_is_clean() -> None:
    assert check() == []


MISTAKES: list[tuple[str, list[tuple[int, str]]]] = [
    ("family(far direction).", [(1, "syntax")]),
    ("near_to(A, B) :- axis(A), axis(B).", [(1, "unused-predicate")]),
    ("phrase(above).", [(1, "arity")]),
    ("holdz(near, U, V) :- holds(far, U, V).", [(1, "unused-predicate")]),
    ("holds(near, U, V) :- holdz(far, U, V).", [(1, "undefined-predicate")]),
    ("symmetric(abov).", [(1, "relation-without-family")]),
    ("component(above, w, 1).", [(1, "unknown-value")]),
    ("{ axis(w) }.", [(1, "form")]),
    ("axis(W).", [(1, "unsafe")]),
    ('#include "other.lp".', [(1, "form")]),
    ("holds(near, U, V + 1) :- holds(far, U, V).", [(1, "form")]),
    ("holds(near, f(U), V) :- holds(near, U, V).", [(1, "form")]),
    ("clash(X, U, V) :- holds(near, U, V), X = 1.", [(1, "form")]),
    ("clash(foo, U, V) :- holds(inside, U, W).", [(1, "clash-without-reason"), (1, "unsafe")]),
    ("transitive(above).", [(1, "direction")]),
    ("interval(odd, 1, 2, 1).", [(1, "interval")]),
    ("symmetric(near).", [(1, "stated-twice")]),
    ("clash(odd, U, V) :- holds(near, U, V), holds(at, U, V).", [(1, "clash-without-reason")]),
    (
        "inverse(near, contains).",
        [(1, "inverse-not-involution"), (1, "symmetric-with-inverse")],
    ),
    ("symmetric(inside).", [(1, "strict-against"), (1, "symmetric-with-inverse")]),
    ('phrase(near, "touching").', [(1, "phrase-claimed-twice")]),
    ("component(left, x, 1).", [(1, "two-signs")]),
    ('dataset("stepgame", babi).', [(1, "two-profiles")]),
    ("implies(touching, near).\nimplies(touching, far).", [(1, "one-premise-clash")]),
    ("incompatible(near, near).", [(1, "one-premise-clash")]),
    # What is not told from what follows: the closure stays definite.
    (f"clash(odd, U, V) :- {NEAR}, not holds(touching, U, V).", [(1, "not-definite")]),
    (f"clash(odd, U, V) :- {NEAR}, not not holds(at, U, V).", [(1, "not-definite")]),
    (f"clash(odd, U, V) :- {NEAR}, 2 {{ holds(at, U, W) }}.", [(1, "not-definite")]),
    (f"clash(odd, U, V) :- {NEAR}, holds(at, U, V) : holds(far, U, V).", [(1, "not-definite")]),
    (
        f"seen(U, V) :- {NEAR}.\nclash(odd, U, V) :- holds(at, U, V), not seen(U, V).",
        [(2, "not-definite")],
    ),
    ("holds(near, U, V) :- holds(at, U, V), -holds(far, U, V).", [(1, "form")]),
    # Directions are decided by the layout.
    ("holds(near, U, V) :- holds(above, U, V).", [(1, "direction-in-body")]),
    ("means_not(touching, above).", [(1, "direction")]),
    ("means(touching, above).", [(1, "direction")]),
    ("nested(above, 0).", [(1, "direction")]),
    ("component(near, x, 1).", [(1, "direction")]),
    ("strict(touching).", [(1, "strict-against")]),
    ("reflexive(inside).", [(1, "strict-against")]),
    ("symmetric(above).", [(1, "inverse-signs"), (1, "symmetric-with-inverse")]),
    # A predicate of the vocabulary, taken for a helper.
    (
        "short(R) :- family(R, distance), not symmetric(R).\n"
        f'clash(odd, U, V) :- {NEAR}, holds(R, U, V), short(R).\nreason(odd, "odd").',
        [(1, "vocabulary-helper")],
    ),
    (f"opposed(U, V) :- {NEAR}.", [(1, "vocabulary")]),
    ("family(R, distance) :- family(R, topology).", [(1, "vocabulary")]),
    ("place(A) :- axis(A).", [(1, "unknown-value")]),
    # Words of delivered answers.
    ('cue(denial, "hardly").', [(1, "of-answers")]),
    ('synonym(yes, "aye").', [(1, "of-answers")]),
    ('synonym(half_plane, left, "to port").', [(1, "of-answers")]),
    # Directions that imply more than places tell.
    ("implies(above, near).", [(1, "direction-implies")]),
    # What the rules leave open, or never end to derive.
    (
        'a(x) :- not b(x).\nb(x) :- not a(x).\nphrase(near, "nigh") :- a(x).',
        [(1, "unusable")],
    ),
    ('a(0) :- axis(x).\na(N + 1) :- a(N).\nphrase(near, "nigh") :- a(3).', [(2, "growth")]),
    ("clock(R + 1, R) :- family(R, distance).", [(1, "arithmetic")]),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    # Each compiles an ontology: most of them with the slow tests.
    [pytest.param(*row, marks=pytest.mark.slow if n % 6 else ()) for n, row in enumerate(MISTAKES)],
)
def test_findings(tmp_path: Path, text: str, expected: list[tuple[int, str]]) -> None:
    """What is found, and that loading refuses just what has an error; what has none is loaded for
    the default profile.
    """
    (tmp_path / "mine.lp").write_text(f"extends(nine_way).\n{text}", encoding="utf-8")
    found = check(str(tmp_path))
    assert sorted({(finding.line - 1, finding.code) for finding in found}) == expected
    errors = {finding.code for finding in found if finding.severity == "error"}
    try:
        library = OntologyLibrary(tmp_path)
        for profile in library.profiles if errors else library.profiles[:1]:
            library.ontology(profile)
        refused = None
    except OntologyError as error:
        refused = error.code
    assert refused in errors if errors else refused is None


@pytest.mark.slow
def test_an_inverse_has_the_opposite_signs(tmp_path: Path) -> None:
    text = """\
axis(depth).
family(rear, direction). phrase(rear, "aft of"). wording(rear, 1, "aft of").
family(bow, direction). phrase(bow, "bow of"). wording(bow, 1, "bow of").
component(rear, depth, -1).
component(bow, depth, -1).
inverse(rear, bow).
"""
    assert findings(tmp_path, text) == [(4, "inverse-signs"), (6, "inverse-signs")]
    assert findings(tmp_path, text.replace("bow, depth, -1", "bow, depth, 1")) == []
    # A component that only one of them has says something that the other does not.
    lacking = text.replace("component(bow, depth, -1).", "")
    assert findings(tmp_path, lacking) == [(4, "inverse-signs"), (6, "inverse-signs")]


def test_an_ontology_that_reads_nothing(tmp_path: Path) -> None:
    """Without words no sentence is read, and without profile nothing at all."""
    alone = 'family(after, order). phrase(after, "after"). wording(after, 1, "after").\n'
    codes = [code for _, code in findings(tmp_path, alone, header="")]
    assert codes == ["no-profile", "unknown-value"]
    flat = "profile(flat). default_profile(flat). uses(flat, order).\n"
    assert findings(tmp_path, flat + alone, header="") == [(1, "reads-nothing")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("component(above, x, 2).", "it is -1, 0 or 1"),
        ("clock(13, above).", "it is an integer from 0 to 12"),
        ("reading(nine_way, scene, strict).", "it is asserted or queried"),
        ("interval(strict, 1, low, 2).", "it is an integer, #inf or #sup"),
        ("phrase(near, nigh).", 'a text stands in quotes: "nigh"'),
        ('symmetric("near").', "a relation stands without quotes: near"),
        ('family("Next To", topology).', "a relation stands without quotes: next_to"),
        ("family(next-to, topology).", 'write next_to or "next-to"'),
        ("phrase(near, Nigh).", 'write nigh or "Nigh"'),
        ("symmetric(nearr).", "did you mean near?"),
        ("uses(nine_way, topolgy).", "no relation is of the family topolgy"),
        ('label(maybe, "perhaps").', "it is one of both, contradiction"),
    ],
)
def test_the_remedy_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "mine.lp").write_text(f"extends(nine_way).\n{text}\n", encoding="utf-8")
    assert any(words in f.message for f in check(str(tmp_path)))


def test_a_helper_s_name_is_its_author_s(tmp_path: Path) -> None:
    """In messages and coverage a helper goes by the name that its author gave it."""
    text = "extends(nine_way).\nclosed(U, W) :- holds(near, U, V).\nclash(odd, U, V) :- closed(U, V).\n"
    (tmp_path / "mine.lp").write_text(text, encoding="utf-8")
    message = next(f.message for f in check(str(tmp_path)) if f.code == "unsafe")
    assert "closed(U,W)" in message.replace(" ", "")
    assert "_own_" not in message


@pytest.mark.slow
def test_a_relation_wants_phrase_and_wording(tmp_path: Path) -> None:
    assert findings(tmp_path, "family(adjoining, topology).") == [
        (1, "no-phrase"),
        (1, "no-wording"),
    ]


def test_profiles_on_a_circle(tmp_path: Path) -> None:
    text = "profile(p). profile(q).\nextends(p, q).\nextends(q, p)."
    assert findings(tmp_path, text) == [(2, "profile-cycle"), (3, "profile-cycle")]


def test_a_direction_without_interval(tmp_path: Path) -> None:
    text = """\
profile(flat). default_profile(flat). uses(flat, order).
reading(flat, (asserted; queried), odd). interval(odd, -1, #inf, -1).
axis(t).
family(after, order). phrase(after, "after"). wording(after, 1, "after").
component(after, t, 1).
"""
    found = findings(tmp_path, text, header="")
    assert found == [(1, "reads-nothing"), (5, "no-reading")]


def test_a_byte_order_mark_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "a.lp").write_text("\ufeffextends(nine_way).\n", encoding="utf-8")
    (found,) = check(str(tmp_path))
    assert (found.line, found.code) == (1, "syntax")
    assert "byte order mark" in found.message


def test_a_profile_of_one_s_own_may_be_the_default(tmp_path: Path) -> None:
    text = "profile(mine). extends(mine, spartun). default_profile(mine)."
    assert findings(tmp_path, text, header="") == []


def test_a_syntax_error_hides_what_follows_from_it(tmp_path: Path) -> None:
    """The folder is not known to extend anything where its first file cannot be read."""
    (tmp_path / "a.lp").write_text("extends(nine_way).\nfamily(x y).\n", encoding="utf-8")
    (tmp_path / "b.lp").write_text('phrase(above, "atop").\n', encoding="utf-8")
    assert [f.code for f in check(str(tmp_path))] == ["syntax"]


@pytest.mark.slow
def test_profiles_are_named_where_not_all_have_it(tmp_path: Path) -> None:
    (tmp_path / "a.lp").write_text("extends(nine_way).\nincompatible(n, n).\n", encoding="utf-8")
    only = [f.message for f in check(str(tmp_path)) if f.code == "direction"]
    assert len(only) == 1
    text = "extends(nine_way).\nimplies(tpp, dc).\n"
    (tmp_path / "a.lp").write_text(text, encoding="utf-8")
    messages = [f.message for f in check(str(tmp_path))]
    assert any("`a tpp b` alone contradicts itself" in m and "rcc8" in m for m in messages)
    assert not any("nine-way" in m for m in messages)


def test_every_code_has_severity_and_remedy() -> None:
    for code, found in checks().items():
        assert found.severity in ("error", "warning", "note"), code
        assert found.mend.endswith("."), code


def test_sarif_names_rule_and_place(tmp_path: Path) -> None:
    (tmp_path / "a.lp").write_text("extends(nine_way).\nsymmetric(abov).\n", encoding="utf-8")
    log = as_sarif(check(str(tmp_path)))
    assert log["version"] == "2.1.0"
    run = log["runs"][0]  # type: ignore[index]
    result = run["results"][0]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "relation-without-family"
    region = result["locations"][0]["physicalLocation"]
    assert region["region"]["startLine"] == 2
    assert region["artifactLocation"]["uri"].endswith("a.lp")


@pytest.mark.slow
def test_exit_codes_and_formats(tmp_path: Path) -> None:
    run = CliRunner().invoke
    assert run(main, ["rules", "check"]).exit_code == 0
    (tmp_path / "a.lp").write_text("extends(nine_way).\nsymmetric(abov).\n", encoding="utf-8")
    told = run(main, ["rules", "check", str(tmp_path)])
    assert told.exit_code == 1
    assert "a.lp:2: error: unknown relation abov" in told.output
    assert "did you mean above?" in told.output
    found = run(main, ["rules", "check", str(tmp_path), "--format", "json"])
    assert json.loads(found.output)[0]["code"] == "relation-without-family"
    assert json.loads(run(main, ["rules", "check", str(tmp_path), "--format", "sarif"]).output)
    assert run(main, ["rules", "check", str(tmp_path / "nowhere")]).exit_code == 2


JOINED = ", ".join(f"family({name}, _)" for name in "ABCDEF")
ENDLESS = [
    # Nothing comes of the join, so that nothing grows.
    f'many(x) :- {JOINED}, A < B, B < C, C < D, D < E, E < F, F < A.\nphrase(near, "nigh") :- many(x).',
    # Each of the sums counts.
    "few(1..26) :- axis(x).\nopen(X) :- few(X), not shut(X).\nshut(X) :- few(X), not open(X).\n"
    'phrase(near, "nigh") :- #sum { 2 ** X : open(X) } = Y, Y > 5.',
]


@pytest.mark.parametrize(("text", "line"), [(ENDLESS[0], 2), (ENDLESS[1], 3)])
def test_rules_that_join_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, line: int
) -> None:
    monkeypatch.setattr(limits, "COMPILING", 1)
    monkeypatch.setattr(limits, "_ROOM", 1 << 28)
    (tmp_path / "mine.lp").write_text(f"extends(nine_way).\n{text}\n", encoding="utf-8")
    (finding,) = check(str(tmp_path))
    assert (finding.code, finding.severity, finding.line) == ("growth", "error", line)
    assert "this one joins the most atoms" in finding.message
    with pytest.raises(OntologyError) as refused:
        OntologyLibrary(tmp_path).ontology()
    assert (refused.value.code, refused.value.line) == ("growth", line)


@pytest.mark.parametrize(
    "command", [["rules", "check"], ["audit", "examples/traces.jsonl", "--ontology"]]
)
def test_a_signal_ends_a_command_that_compiles(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "mine.lp").write_text(f"extends(nine_way).\n{ENDLESS[0]}\n", encoding="utf-8")
    script = "import symbouq_cli.main as cli; cli.main()"
    done = subprocess.Popen(
        [sys.executable, "-c", script, *command, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"SYMBOUQ_CACHE": ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    threads = Path(f"/proc/{done.pid}/task")
    while done.poll() is None and not any(file.read_text() for file in threads.glob("*/children")):
        time.sleep(0.01)
    done.send_signal(signal.SIGTERM)
    assert done.wait() == 128 + signal.SIGTERM


REMEDIES = [
    ("family(near, topology).", 1, "facts of the built-in ontology about it are set aside", "name of its own"),
    ('phrase(near, "On The Shelf Of!").', 1, 'write "On The Shelf Of"', "single spaces"),
    ('phrase(near, " hard  by").', 1, 'write "hard by"', "single spaces"),
    ('phrase(near, "e.g. by").', 0, "", ""),
    ('reason(never, "x").', 1, "no rule derives the clash never", "Derive the clash"),
    ('clash(odd, U, V) :- holds(near, U, V), holds(at, U, V).\nreason(ood, "x").', 2, "did you mean odd?",
     "Derive the clash"),
    ("clock(1..10000000, near).", 1, "stands for 10,000,000", "an interval of at most"),
    ('phrase(near, "x") :- N = 1..10000000, N = 3.', 1, "has over 1,000 values", "an interval of at most"),
    ("family(pr\u00e8s, topology).", 1, "names are ASCII", "ASCII letters"),
    ("phrase(near, \u201enahe\u201d).", 1, "names are ASCII", "straight quotes"),
    ('phrase(near, "").', 1, "it says nothing", "Write a text"),
    ('wording(near, 1, " ").', 1, "it says nothing", "Write a text"),
    ("phrase(near, close).", 1, "stands in quotes", "Put it in quotes"),
    ("family(reachable, topology).\nimplies(reechable, near).", 2, "did you mean reachable?",
     "Write reachable, or declare reechable with family."),
    ("famly(adj, topology).", 1, "did you mean family/2?", "Write family"),
    ("extends(nine-way).", 1, "write nine_way", "underscore"),
    ("clash(c, U, V) :- holds(near, U, W).", 1, "binds V: clash(c,U,V):-holds(near,U,W).", "Bind every"),
    ("symmetric(near)\nsymmetric(far).", 1, "a full stop is missing", "with a full stop"),
    ("symmetric(near)\n\n% far\nsymmetric(far).", 1, "a full stop is missing", "with a full stop"),
    ("symmetric(near).\nsymmetric(far)", 2, "a full stop is missing", "with a full stop"),
    ('phrase(near, "x")\nsymmetric(far).', 1, "a full stop is missing", "with a full stop"),
    ("symmetric(near,\n  far far).", 2, "unexpected <IDENTIFIER>", "Correct the statement"),
    ("# near\nsymmetric(far).", 1, "no statement", "with %"),
    ("// near\nsymmetric(far).", 1, "no statement", "with %"),
    ('phrase(near, "x).', 1, "a text does not end", "Close the text"),
    ("num(0) :- family(near, _).\nnum(N + 1) :- num(N), N < 100000.\nphrase(near, \"x\") :- num(99999).", 2,
     "50,000 rules", "Bound the recursion"),
]  # fmt: skip
"""Each fault, its line after the header, what is said of it, and what to do."""


@pytest.mark.parametrize(("text", "line", "said", "mend"), REMEDIES)
def test_each_fault_has_a_fitting_remedy(
    tmp_path: Path, text: str, line: int, said: str, mend: str
) -> None:
    (tmp_path / "mine.lp").write_text(f"extends(nine_way).\n{text}\n", encoding="utf-8")
    found = [f for f in check(str(tmp_path)) if said in f.message and f.line == line + 1]
    assert bool(found) == bool(said)
    assert all(mend in each.mend and "inc_base" not in each.message for each in found)


def test_a_relation_needs_a_wording_of_its_own_or_is_withheld(tmp_path: Path) -> None:
    told = 'family((snug; cosy), cosiness). uses(nine_way, cosiness). phrase(snug, "snug in"). phrase(cosy, "cosy in").\n'
    same = 'wording(snug, 1, "tucked into").\nwording(cosy, 1, "tucked into").\n'
    code = "no-wording-of-its-own"
    assert findings(tmp_path, told + same) == [(2, code), (3, code)]
    assert findings(tmp_path, told + same + 'wording(cosy, 2, "cosy in").\n') == [(2, code)]
    assert findings(tmp_path, told + same + "withheld(nine_way, cosy).\n") == []
