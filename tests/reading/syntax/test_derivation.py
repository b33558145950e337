"""Where readings come from: rules and facts by the lines at which they stand."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from symbouq.ontology.library import builtin
from symbouq.ontology.source import Place, place_of, rule_statements, shown
from symbouq.reading.syntax.derivation import (
    Derivation,
    Trigger,
    derivation,
    makes_a_step,
    rule_name,
)
from symbouq.reading.syntax.pipeline import pipeline
from symbouq.reading.syntax.sentences import Sentences


@cache
def sentences() -> Sentences:
    return Sentences(builtin().ontology("half-plane"), pipeline())


def derived(text: str) -> Derivation:
    (sentence,) = sentences().read([text])[0]
    return derivation(sentences(), sentence, builtin().source.facts)


def line(place: Place) -> str:
    """The statement at a place."""
    return Path(place.file).read_text("utf-8").splitlines()[place.line - 1]


def steps(trigger: Trigger, name: str) -> list[tuple[tuple[str, ...], int | None]]:
    return [(step.words, step.cost) for step in trigger.steps if step.name == name]


def test_candidates_and_costs() -> None:
    found = derived("The mug is left of the tray.")
    assert found.parse[1] == "1:mug/NN nsubj>2"
    (trigger,) = found.triggers
    assert (trigger.text, trigger.category, trigger.relations) == (
        "left of",
        "preposition",
        ("left",),
    )
    assert steps(trigger, "may be the figure")[0] == (("mug",), 0)
    assert steps(trigger, "may be the ground") == [(("tray",), 0)]
    assert steps(trigger, "says") == [(("mug", "tray"), 0)]


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("The mug is left of the tray.", "left, side"),
        ("The mug is directly above the tray.", "above, "),
        ("The mug touches the tray.", "touching, verb"),
        ("The field extends into the wood.", "overlap, verb"),
    ],
)
def test_the_fact_behind_an_expression(text: str, expression: str) -> None:
    (trigger,) = derived(text).triggers
    assert trigger.places
    assert all(f"expression({expression}" in line(place) for place in trigger.places)


def test_the_rules_behind_a_step() -> None:
    (trigger,) = derived("Perhaps the mug is not above the tray.").triggers
    by_name = {step.name: step for step in trigger.steps}
    assert by_name["denied"].words == ("not",)
    assert all(line(place).startswith("denied(") for _, place in by_name["denied"].rules)
    assert by_name["force"].words == ("doubted",)
    ((name, place),) = by_name["force"].rules
    assert shown(place.file) == "rules/reading/force.lp"
    assert line(place).startswith("force(T, doubted)")
    assert name == '"Perhaps A is above B"'


def test_every_rule_of_a_step_has_a_name() -> None:
    rules = [place_of(rule) for rule in rule_statements("reading") if makes_a_step(rule)]
    assert len(rules) > 300
    assert [place for place in rules if not rule_name(place)] == []


def test_what_the_text_before_is_about() -> None:
    (trigger,) = derived("On the left.").triggers
    assert (("(context)",), 3) in steps(trigger, "may be the ground")


def test_a_sentence_that_is_too_long_has_no_parse() -> None:
    assert derived("and so on " * 200 + ".") == Derivation("and so on " * 200 + ".", (), ())
