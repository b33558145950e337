"""`rules test`: the text format, what passes and fails, and the built-in tests."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from symbouq_cli.main import main

from symbouq.auditing.auditor import TraceAuditor
from symbouq.authoring.specs import Outcome, as_junit, run
from symbouq.ontology.specs import SpecError, discovered, parsed


def outcomes(tmp_path: Path, text: str) -> list[Outcome]:
    file = tmp_path / "some.test"
    file.write_text(text, encoding="utf-8")
    return list(run(parsed(file), TraceAuditor()))


PASSING = """\
# a comment

test: in relations
scene:
  A above B
  B right C; "big D" near B
steps:
  entailed: A upper_right C by scene 1, scene 2
  unknown: A near C
  entailed (grounded unknown): C near A by claim 2
  contradicted: B above A

test: in words, with a profile
profile: spartun
question: Where is the box relative to the sofa?
scene:
  The box is inside the crate.
  The crate is left of the sofa.
claims:
  unread: Let us see.
  entailed: left.

test: pairs
profile: rcc8
scene:
  x tpp y
  y tpp z
pairs:
  possible x z: tpp ntpp
  certain x z: part
test: a clash
scene:
  A above B
  B above A
clash: scene 1, scene 2
"""


def test_what_passes(tmp_path: Path) -> None:
    found = outcomes(tmp_path, PASSING)
    assert [outcome.spec.name for outcome in found] == [
        "in relations",
        "in words, with a profile",
        "pairs",
        "a clash",
    ]
    misses = {o.spec.name: [m.message for m in o.misses] for o in found if not o.passed}
    # `part` is of another family than its consequences: certain lists the whole family.
    assert list(misses) == ["pairs"]
    assert misses["pairs"] == ["certain x z: got connected overlapping part proper_part"]


ON_ITS_OWN = """\
test: each on its own
scene:
  A above B
claims:
  contradicted: B above A by scene 1
  unknown: A near B
  contradicted: A below B by scene 1
  entailed: B below A by scene 1
  unknown: B near A
"""


def test_claims_are_judged_each_on_its_own(tmp_path: Path) -> None:
    """A contradicted claim blocks nothing, and an assumed one supports nothing."""
    (outcome,) = outcomes(tmp_path, ON_ITS_OWN)
    assert outcome.misses == []
    (outcome,) = outcomes(tmp_path, ON_ITS_OWN.replace("claims:", "steps:"))
    assert [miss.line for miss in outcome.misses] == [6, 7, 8, 9]
    assert all("got not-evaluable" in miss.message for miss in outcome.misses)


def test_steps_are_judged_one_after_the_other(tmp_path: Path) -> None:
    text = "test: t\nscene:\n  A above B\nsteps:\n  unknown: A near B\n  entailed: B near A by claim 1\n"
    (outcome,) = outcomes(tmp_path, text)
    assert outcome.misses == []


def test_claims_of_their_own_are_read_as_one_text(tmp_path: Path) -> None:
    """The last claim answers the question, and no other does."""
    text = """\
test: t
question: Where is the box relative to the sofa?
scene:
  The box is left of the sofa.
claims:
  entailed: The sofa is right of the box.
  contradicted: The box is right of the sofa.
  entailed: left.
"""
    (outcome,) = outcomes(tmp_path, text)
    assert outcome.misses == []


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("contradicted: A upper_right C", "expected contradicted, got entailed"),
        ("entailed: A upper_right C by scene 1", "expected scene:1, got scene:1, scene:2"),
        ("entailed (grounded unknown): A upper_right C", "expected unknown when grounded"),
        ("unread: A upper_right C", "expected unread, got entailed"),
    ],
)
def test_what_fails(tmp_path: Path, claim: str, message: str) -> None:
    text = f"test: t\nscene:\n  A above B\n  B right C\nsteps:\n  {claim}\n"
    (outcome,) = outcomes(tmp_path, text)
    assert [miss.line for miss in outcome.misses] == [6]
    assert message in outcome.misses[0].message
    (known,) = outcomes(tmp_path, text.replace("steps:\n  ", "steps:\n  todo "))
    assert known.passed
    assert [miss.line for miss in known.todo] == [6]


def test_a_todo_that_comes_out_says_so(tmp_path: Path) -> None:
    (outcome,) = outcomes(
        tmp_path, "test: t\nscene:\n  A near B\nclaims:\n  todo entailed: B near A\n"
    )
    assert outcome.passed
    assert [miss.line for miss in outcome.notes] == [5]


def test_an_unexpected_clash_fails(tmp_path: Path) -> None:
    (outcome,) = outcomes(tmp_path, "test: t\nscene:\n  A near B\n  B far A\n")
    assert not outcome.passed
    assert "contradicts itself" in outcome.misses[0].message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("scene:\n", 1, "a test begins with"),
        ("test: t\nsceen:\n", 2, "'sceen:' is none of"),
        ("test: t\nclaims:\n  maybe: A near B\n", 3, "the verdict one of"),
        ("test: t\nsteps:\n  entailed (grounded odd): A near B\n", 3, "unknown verdict 'odd'"),
        ("test: t\nclaims:\n  entailed (grounded unknown): A near B\n", 3, "write `steps:`"),
        ("test: t\nclaims:\n  entailed: A near B by claim 1\n", 3, "write `steps:`"),
        ("test: t\nsteps:\n  unknown: A near B\nclaims:\n  unknown: A far B\n", 5, "or steps"),
        ("test: t\nscene:\n  A near\n", 1, "write SUBJECT RELATION OBJECT"),
        ("test: t\nscene:\n  A near B\nclaims:\n  entailed: A is near B.\n", 1, "not both"),
        ("test: t\nscene:\n  A nearr B\n", 1, "did you mean 'near'?"),
        ("test: t\nprofile: odd\nscene:\n  A near B\n", 1, "unknown profile"),
        ("test: t\nscene:\n  A near B\npairs:\n  possible A: near\n", 5, "is no pair"),
        (
            "test: t\nscene:\n  A near B\npairs:\n  possible A C: near\n",
            5,
            "'C' is not in the scene",
        ),
        ("test: t\n  A near B\n", 2, "stands in no block"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        outcomes(tmp_path, text)
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "some.test"), line)
    assert words in caught.value.message


def test_a_test_file_is_a_file_of_the_folder(tmp_path: Path) -> None:
    """A pipe would be waited for, a link leads elsewhere."""
    os.mkfifo(tmp_path / "a.test")
    with pytest.raises(SpecError, match="no regular file"):
        discovered(str(tmp_path))
    (tmp_path / "a.test").unlink()
    (tmp_path / "a.test").symlink_to("/dev/zero")
    with pytest.raises(SpecError, match="a link out of the folder"):
        discovered(str(tmp_path))


def test_junit(tmp_path: Path) -> None:
    text = "test: good\nscene:\n  A near B\n\ntest: <bad>\nscene:\n  A near B\nclaims:\n  entailed: A far B\n"
    suite = ElementTree.fromstring(as_junit(outcomes(tmp_path, text)).encode())
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("name") for case in suite] == ["good", "<bad>"]
    failure = suite[1].find("failure")
    assert failure is not None
    assert "got contradicted" in str(failure.get("message"))


def test_command(tmp_path: Path) -> None:
    (tmp_path / "mine.lp").write_text("extends(nine_way).\n", encoding="utf-8")
    command = ["rules", "test", str(tmp_path)]
    assert CliRunner().invoke(main, command).exit_code == 2  # nothing to run
    tests = tmp_path / "deep" / "mine.test"
    tests.parent.mkdir()
    tests.write_text(
        "test: one\nscene:\n  A near B\n\ntest: two\nscene:\n  A far B\n", encoding="utf-8"
    )
    told = CliRunner().invoke(main, command)
    assert (told.exit_code, "2 passed" in told.output) == (0, True)
    told = CliRunner().invoke(main, [*command, "-k", "TWO"])
    assert "1 passed, 1 deselected" in told.output
    tests.write_text(
        "test: one\nscene:\n  A near B\nclaims:\n  entailed: A far B\n", encoding="utf-8"
    )
    report = tmp_path / "junit.xml"
    told = CliRunner().invoke(main, [*command, "--junit", str(report)])
    assert told.exit_code == 1
    assert "line 5: A far B: expected entailed, got contradicted" in told.output
    assert ElementTree.parse(report).getroot().get("failures") == "1"
    tests.write_text("tset: one\n", encoding="utf-8")
    assert CliRunner().invoke(main, command).exit_code == 2


@pytest.mark.slow
def test_the_builtin_rules_fire_in_the_builtin_tests() -> None:
    """Every test passes, and every rule and every fact of the ontology fires."""
    assert len(discovered(None)) > 50
    told = CliRunner().invoke(main, ["rules", "test", "--coverage", "--fail-under", "100", "-q"])
    assert told.exit_code == 0, told.output


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('shouted: cup inside box "in"', "shouted"),
        ('number: cup inside box "in"', "number"),
        ('unexpressed asserted: "in"', "asserted"),
        ('cup inside "in"', "is no reading"),
    ],
)
def test_what_is_no_reading_is_told(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "x.test"
    file.write_text(f"test: x\nreads:\n  The cup is in the box.\n    {line}\n")
    with pytest.raises(SpecError, match=message):
        parsed(file)


def test_sentences_read_as_they_are_said_to(tmp_path: Path) -> None:
    file = tmp_path / "x.test"
    file.write_text(
        'test: x\nreads:\n  The cup is inside the box.\n    cup inside box "inside"\n'
        '  The cup is above the box.\n    cup below box "above"\n'
        '  todo The cup is near the box.\n    cup near box "near"\n'
    )
    (outcome,) = run(parsed(file), TraceAuditor())
    assert [miss.line for miss in outcome.misses] == [5]
    assert "expected asserted" in outcome.misses[0].message
    assert [miss.line for miss in outcome.notes] == [7]


def test_two_tests_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.test").write_text("test: x\nclash: scene 1\n\ntest: y\n\ntest: x\n")
    with pytest.raises(SpecError, match="line 1 has the name 'x', too") as caught:
        discovered(str(tmp_path))
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "a.test"), 6)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("scene:\n  A near B\n", "expects nothing: give it `claims:`"),
        ("scene:\n  The cat likes the dog.\nclaims:\n  unknown: The cat is near the dog.\n",
         "nothing is read of the scene: scene sentence 1: not all is read"),
        ("scene:\n  The cat is near the dog.\nclaims:\n  entailed: The cat is near the dog.\n", ""),
    ],
)  # fmt: skip
def test_a_test_that_tests_nothing_says_so(tmp_path: Path, body: str, told: str) -> None:
    (tmp_path / "a.test").write_text(f"test: x\n{body}")
    (outcome,) = run(discovered(str(tmp_path)), TraceAuditor())
    assert outcome.passed
    assert bool(told) == bool(outcome.notes)
    assert all(told in note.message for note in outcome.notes)
