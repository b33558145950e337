"""The part of a program that can fire: that it derives what the whole derives, and is small."""

from __future__ import annotations

from pathlib import Path

import clingo
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbouq.ontology import slicing
from symbouq.ontology.slicing import Slices
from symbouq.ontology.store import VARIABLE, Store
from symbouq.reading.syntax.extraction import reading_rules

RULES = """
    #show bird/1.
    #defined wingless/1.
    bird(X) :- lays(X, eggs), flies(X).
    flies(X) :- has(X, (wings; "wings")), not wingless(X).
    { swims(X) } :- has(X, fins), weight(X, 3).
    fish(X) :- swims(X), #count { Y : eats(X, Y) } > 0.
    :- fish(X), bird(X).
    known(thing).
    shell(X) :- known(X).
"""


def consequences(program: str, mode: str) -> set[str] | None:
    """What holds in some (brave) or every (cautious) stable model; None where there is none."""
    control = clingo.Control(["--warn=none", f"--enum-mode={mode}", "--models=0"])
    control.add("base", [], program)
    control.ground()
    found: set[str] | None = None
    with control.solve(yield_=True) as models:
        for model in models:
            found = set(map(str, model.symbols(atoms=True)))
    return found


def rules_beside(*facts: str) -> list[str]:
    return [line for line in Slices(RULES).beside(facts).split("\n") if line[:1] not in ("#", "")]


def test_rules_without_a_positive_body_are_always_there() -> None:
    assert rules_beside() == ["known(thing).", "shell(X) :- known(X)."]


def test_a_rule_fires_by_what_others_derive() -> None:
    bird = "bird(X) :- lays(X,eggs); flies(X)."
    flies = 'flies(X) :- has(X,("wings";wings)); not wingless(X).'
    found = rules_beside("has(1,wings).", "lays(1,eggs).")
    assert len(found) == 4
    assert found[0] == bird
    assert found[1].startswith("flies(X)")
    assert rules_beside('has(1,"wings").')[0].startswith(flies[:8])


def test_constants_and_texts_are_told_apart_and_numbers_are_not() -> None:
    base = len(rules_beside())
    assert len(rules_beside("lays(1,young).", "has(1,wheels).")) == base
    assert len(rules_beside('has(1,"fins").', "weight(1,3).")) == base
    assert len(rules_beside("has(1,fins).", "weight(1,4).")) == base + 2


def test_what_is_shown_stays() -> None:
    assert "#show bird/1." in Slices(RULES).beside([]).split("\n")


def test_of_a_pool_those_alternatives_stay_that_are_there() -> None:
    program = 'near(X) :- word(X,("by";"at";"beside")); not far(X,("a";"b")).'
    found = Slices(program).beside(['word(1,"at").']).split("\n")
    assert [line for line in found if line] == [
        'near(X) :- word(X,"at"); not far(X,"a").',
        'near(X) :- word(X,"at"); not far(X,"b").',
    ]


names = st.sampled_from(["p", "q", "r", "s"])
terms = st.sampled_from(["X", "Y", "a", "b", '"a"', "(a;b)", "1"])
atoms = st.builds("{}({},{})".format, names, terms, terms)
negated = st.builds("not {}(X,Y)".format, names)
rules = st.builds(
    "{}({}) :- dom(X), dom(Y), {}.".format,
    names,
    st.sampled_from(["X,Y", "X,a", "b,Y", "a,(a;b)", "1,X"]),
    st.lists(atoms | negated, min_size=1, max_size=3).map(", ".join),
)
constants = st.sampled_from(["a", "b", "c", '"a"', "1", "2"])
facts = st.builds("{}({},{}).".format, names, constants, constants)


@given(st.lists(rules, max_size=8), st.lists(facts, max_size=6))
def test_a_part_means_what_the_whole_means(program: list[str], given: list[str]) -> None:
    """Its stable models are those of the whole: an atom that no rule can fire is in none."""
    known = ["dom(a).", "dom(b).", "dom(1).", *given]
    whole = "".join(program)
    part = Slices(whole).beside(known)
    for mode in ("brave", "cautious"):
        found = [consequences(text + "".join(known), mode) for text in (part, whole)]
        assert found[0] == found[1]


def test_what_is_kept_gives_the_same_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    rules = reading_rules()
    facts = ["word(1,left).", 'lemma(2,"be").', "thing(3)."]
    made = Slices(rules, Store("slices", rules)).beside(facts)
    with monkeypatch.context() as patched:
        patched.setattr(slicing, "_analysis", None)
        assert Slices(rules, Store("slices", rules)).beside(facts) == made
    assert made == Slices(rules).beside(facts)
