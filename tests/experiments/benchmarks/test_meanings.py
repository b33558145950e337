"""Sentences whose meaning is known: how they are made and judged, and what the audit makes of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from layouts import Before
from meanings import FALSE, Case, case, judged, places, run, sentence, table, verdicts
from sentences import TEMPLATES, Relation, Slots, Template

AB, BC, AC = Before("x", "a", "b"), Before("x", "b", "c"), Before("x", "a", "c")


def slots(**amounts: int) -> Slots:
    """a left of b, and other relations of a, b, c, d."""
    relations = {
        "f": Relation("left", "a", "b"),
        "o": Relation("right", "a", "b"),
        "q": Relation("above", "a", "b"),
        "u": Relation("left", "c", "b"),
        "v": Relation("left", "d", "b"),
        "g": Relation("below", "c", "d"),
        "t": Relation("above", "b", "d"),
        "h": Relation("above", "a", "d"),
        "b": Relation("left", "a", "c"),
    }
    group = tuple(Relation("left", each, "b") for each in "acd")
    return Slots(relations, group, group, amounts.get("amount", 300), 100, {})


def template(name: str) -> Template:
    (found,) = (each for each in TEMPLATES if each.name == name)
    return found


def verdict(name: str, *scene: Relation) -> set[str]:
    """The verdicts on a claim of a shape."""
    readings = tuple(means(slots()) for means in template(name).claim)
    return set(verdicts(tuple(each.formula for each in scene), readings))


A_LEFT, A_RIGHT = Relation("left", "a", "b"), Relation("right", "a", "b")
A_ABOVE, A_BELOW = Relation("above", "a", "b"), Relation("below", "a", "b")
C_LEFT, C_RIGHT = Relation("left", "c", "b"), Relation("right", "c", "b")
D_LEFT, D_RIGHT = Relation("left", "d", "b"), Relation("right", "d", "b")


@pytest.mark.parametrize(
    ("name", "scene", "right"),
    [
        ("denial, at no point", [A_LEFT], {"contradicted"}),
        ("denial, at no point", [A_RIGHT], {"entailed"}),
        ("denial, at no point", [A_ABOVE], {"unknown"}),
        ("denial, double", [A_LEFT], {"entailed"}),
        ("denial, neither nor", [A_RIGHT], {"unknown"}),
        ("denial, neither nor", [A_RIGHT, A_BELOW], {"entailed"}),
        ("denial, neither nor", [A_ABOVE], {"contradicted"}),
        ("contrast, not", [A_LEFT], {"unknown"}),
        ("contrast, not", [A_LEFT, C_LEFT], {"contradicted"}),
        ("contrast, not", [A_LEFT, C_RIGHT], {"entailed"}),
        ("how many, exactly one", [A_LEFT, C_RIGHT], {"unknown"}),
        ("how many, exactly one", [A_LEFT, C_RIGHT, D_RIGHT], {"entailed"}),
        ("how many, exactly one", [A_LEFT, C_LEFT], {"contradicted"}),
        ("how many, none of", [A_RIGHT, C_RIGHT, D_RIGHT], {"entailed"}),
        ("how many, at most two", [A_RIGHT], {"entailed"}),
        ("how many, only", [A_LEFT, C_LEFT], {"contradicted"}),
        ("back, oops", [A_LEFT], {"contradicted"}),
        ("back, oops", [A_RIGHT], {"entailed"}),
        ("back, scratch that", [A_LEFT], {"unknown"}),
        ("doubt, allegedly", [A_RIGHT], {"unknown"}),
        ("doubt, perhaps", [A_RIGHT], {"contradicted", "unknown"}),
        ("modal, must", [A_ABOVE], {"contradicted", "unknown"}),
        ("view, facing", [A_LEFT], {"unknown"}),
        ("view, seen from behind", [A_LEFT], {"contradicted", "unknown"}),
        ("or, it", [A_ABOVE], {"entailed", "unknown"}),
        ("or, it", [A_RIGHT, A_BELOW], {"contradicted"}),
        ("if, idle", [A_LEFT], {"unknown"}),
        ("two, and", [A_LEFT], {"unknown"}),
        ("two, and", [A_RIGHT], {"contradicted"}),
        ("two, touch", [A_LEFT], {"unknown"}),
        ("contrast, but not", [A_LEFT, Relation("right", "a", "c")], {"contradicted", "entailed"}),
        ("degree, less", [A_LEFT, Relation("left", "c", "a")], {"entailed", "unknown"}),
        ("degree, less", [A_LEFT], {"unknown"}),
        ("inside, everything but", [A_RIGHT, C_LEFT, D_LEFT], {"entailed"}),
        ("inside, everything but", [A_RIGHT, C_LEFT], {"unknown"}),
        ("degree, not quite", [A_LEFT], {"contradicted", "unknown"}),
    ],
)
def test_meanings(name: str, scene: list[Relation], right: set[str]) -> None:
    assert verdict(name, *scene) == right


@pytest.mark.parametrize(
    ("name", "stated", "right"),
    [
        ("amount, at least", 299, {"contradicted"}),
        ("amount, at least", 300, {"entailed"}),
        ("amount, more than", 300, {"contradicted"}),
        ("amount, more than", 301, {"entailed"}),
        ("amount, less than", 299, {"entailed"}),
        ("amount, less than", 300, {"contradicted"}),
        ("amount, not more than", 300, {"entailed"}),
        ("amount, not more than", 301, {"contradicted"}),
        ("amount, plain", 300, {"entailed"}),
        ("amount, plain", 301, {"contradicted"}),
        ("amount, between", 300, {"entailed", "contradicted"}),
        ("amount, between", 400, {"entailed"}),
        ("amount, between", 501, {"contradicted"}),
        ("amount, about", 310, {"entailed"}),
        ("amount, about", 320, {"entailed", "contradicted"}),
        ("amount, about", 500, {"contradicted"}),
        ("amount, exactly", 300, {"entailed", "unknown"}),
        ("amount, minus", 300, {"contradicted", "unknown"}),
        ("amount, zero", 300, {"contradicted", "unknown"}),
    ],
)
def test_amounts(name: str, stated: int, right: set[str]) -> None:
    scene = (A_LEFT.formula, A_LEFT.by(True, stated), A_LEFT.by(False, stated))
    assert verdicts(scene, tuple(means(slots()) for means in template(name).claim)) == right


def test_sentences_begin_with_a_capital_letter_but_for_identifiers() -> None:
    assert sentence("the red box is left of A.") == "The red box is left of A."
    assert sentence('"the box is here": no.') == '"The box is here": no.'
    assert sentence("¬(gate B2 is left)") == "¬(Gate B2 is left)"
    for text in ("rack_A_01 is left of x.", "x is left of y.", "node-7 is here.", "img_1.png is."):
        assert sentence(text) == text


def test_names_of_shapes_are_distinct() -> None:
    assert max(Counter(each.name for each in TEMPLATES).values()) == 1
    assert len(TEMPLATES) > 300


def test_a_number_always_makes_the_same_sentence() -> None:
    assert case(3, 5) == case(3, 5)
    assert case(3, 5) != case(4, 5)
    assert "denial" in case(3, 5, "denial").template


def test_every_shape_can_be_filled_in() -> None:
    every = places(1, "")
    found = [case(1, number) for number in range(len(every))]
    assert [(one.template, one.host) for one in found] == [(t.name, host) for t, host in every]
    for one in found:
        assert not re.search(r"[{}|]|  ", one.text), one
        told = one.record["scene"]
        assert one.host != "scene" or one.text in (
            told if isinstance(told, str) else " ".join(told)
        )
        assert len(one.right) == len(one.record["reasoning"] or [one.record["conclusion"]])


def audited(*claims: str, feasible: bool = True, faults: tuple[str, ...] = ()) -> dict[str, Any]:
    made = [{"verdict": each, "grounded_verdict": each} for each in claims]
    return {"scene": {"feasible": feasible}, "faults": list(faults), "claims": made}


def made(*right: set[str], fits: bool = True) -> Case:
    truths = tuple(frozenset(each) for each in right)
    return Case("a shape", "claim", "", {}, truths, frozenset({fits}))


def test_a_verdict_that_no_reading_gives_is_false() -> None:
    found = made({"unknown"}, {"entailed"}, {"entailed", "unknown"}, {"contradicted"})
    audit = audited("entailed", "contradicted", "contradicted", "contradicted")
    assert [kind for kind, *_ in judged(found, audit)] == [
        "false entailed",
        "false contradicted",
        "false contradicted",
        "right",
    ]


def test_an_abstention_is_never_false() -> None:
    found = made({"unknown"}, {"entailed"}, {"entailed", "unknown"})
    audit = audited("unknown", "not-evaluable", "unknown")
    kinds = [kind for kind, *_ in judged(found, audit)]
    assert kinds == ["rightly open", "abstained", "rightly open"]


def test_clashes() -> None:
    possible, impossible = made({"entailed"}), made(set(), fits=False)
    kinds = [kind for kind, *_ in judged(possible, audited("unknown", feasible=False))]
    assert kinds == ["false clash", "abstained"]
    assert [kind for kind, *_ in judged(impossible, audited("entailed"))] == ["missed clash"]
    assert not [*judged(impossible, audited("entailed", faults=("sentences 1 and 2 conflict",)))]
    assert not [*judged(impossible, audited("unknown", feasible=False))]


def test_a_table_counts_what_is_false() -> None:
    text = table({"a (claim)": Counter({"sentences": 2, "right": 1, "false entailed": 1})})
    assert text.splitlines()[-1] == "| all | 2 | 1 | 0 | 0 | 1 | 0 | 0 | 0 |"


def false(sentences: int, seed: int) -> str:
    """What is false, one a line."""
    found = run(sentences, seed, jobs=1)
    assert sum(row["right"] for row in found.counts.values()) > sentences / 4
    wrong = [each for each in found.wrong if each["kind"] in (*FALSE, "error")]
    return "\n".join(json.dumps(each, ensure_ascii=False) for each in wrong)


def test_no_verdict_is_false() -> None:
    assert not false(150, seed=7)


@pytest.mark.slow
def test_no_verdict_is_false_of_any_shape() -> None:
    """A sentence of each shape at each of its places."""
    assert not false(len(places(11, "")), seed=11)
