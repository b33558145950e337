"""Rule coverage: what fires, and what does not, in a small ontology."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from symbouq_cli.main import main

from symbouq.authoring.coverage import covered
from symbouq.ontology.specs import discovered

RULES = """\
extends(nine_way).
family(adjoining, topology).
symmetric(adjoining).
phrase(adjoining, ("adjoins"; "abuts")).
wording(adjoining, 1, "adjoining").
implies(adjoining, touching).
incompatible(adjoining, at).
holds(near, U, V) :- holds(adjoining, U, V).
clash(astray, U, V) :- holds(at, U, V), holds(inside, V, U).
reason(astray, "what is at a thing is not around it").
"""


def missed(tmp_path: Path, tests: str) -> set[str]:
    (tmp_path / "a.lp").write_text(RULES, encoding="utf-8")
    (tmp_path / "a.test").write_text(tests, encoding="utf-8")
    outcomes, report = covered(discovered(str(tmp_path)), str(tmp_path))
    assert all(outcome.passed for outcome in outcomes)
    assert all(item.place.file == str(tmp_path / "a.lp") for item in report.items)
    return {item.text for item in report.missed}


ADJOINS = """\
test: adjoins
scene:
  The barn adjoins the mill.
claims:
  entailed: The mill is near the barn.
  unknown: The barn is far from the hut.
"""


def test_what_no_test_fires(tmp_path: Path) -> None:
    assert missed(tmp_path, ADJOINS) == {
        'phrase(adjoining,"abuts").',
        'wording(adjoining,1,"adjoining").',
        # touching follows, but nothing at or inside anything is spoken of
        "incompatible(adjoining,at).",
        "clash(astray,U,V) :- holds(at,U,V); holds(inside,V,U).",
        'reason(astray,"what is at a thing is not around it").',
    }


def test_further_tests_fire_the_rest(tmp_path: Path) -> None:
    tests = f"""\
{ADJOINS}
test: at and around exclude each other
scene:
  A inside B
claims:
  contradicted: B at A

test: adjoining and at
scene:
  A at B
claims:
  contradicted: A adjoining B

test: abuts
scene:
  The barn abuts the mill.
"""
    assert missed(tmp_path, tests) == set()


@pytest.mark.slow
def test_threshold(tmp_path: Path) -> None:
    missed(tmp_path, ADJOINS)
    command = ["rules", "test", str(tmp_path), "--fail-under"]
    told = CliRunner().invoke(main, [*command, "50"])
    assert told.exit_code == 0
    assert 'a.lp:4: phrase(adjoining,"abuts").' in told.output
    assert CliRunner().invoke(main, [*command, "99"]).exit_code == 1


@pytest.mark.slow
def test_rules_on_one_line_are_told_apart(tmp_path: Path) -> None:
    rules = """\
extends(nine_way).
holds(near, U, V) :- holds(touching, U, V). holds(far, U, V) :- holds(disconnected, U, V).
"""
    (tmp_path / "a.lp").write_text(rules, encoding="utf-8")
    tests = "test: t\nscene:\n  A touching B\nclaims:\n  entailed: B near A\n"
    (tmp_path / "a.test").write_text(tests, encoding="utf-8")
    _, report = covered(discovered(str(tmp_path)), str(tmp_path))
    assert [item.text for item in report.missed] == ["holds(far,U,V) :- holds(disconnected,U,V)."]


@pytest.mark.slow
def test_helpers_and_the_facts_that_they_read(tmp_path: Path) -> None:
    """Helpers go by their author's names, those of the tool's own observers among them."""
    rules = """\
extends(nine_way).
family(adjoining, topology).
phrase(adjoining, "adjoins").
_fired(R) :- family(R, topology), not symmetric(R).
_used(U, V) :- holds(R, U, V), _fired(R).
holds(near, U, V) :- _used(U, V).
closed(R) :- family(R, absent).
holds(far, U, V) :- holds(R, U, V), closed(R).
uses(nine_way, absent).
"""
    (tmp_path / "a.lp").write_text(rules, encoding="utf-8")
    tests = "test: t\nscene:\n  The barn adjoins the mill.\nclaims:\n  entailed: The barn is near the mill.\n"
    (tmp_path / "a.test").write_text(tests, encoding="utf-8")
    outcomes, report = covered(discovered(str(tmp_path)), str(tmp_path))
    assert [outcome.misses for outcome in outcomes] == [[]]
    assert {item.text for item in report.missed} == {
        "closed(R) :- family(R,absent).",
        "holds(far,U,V) :- holds(R,U,V); closed(R).",
    }
