"""Words that tell with what force something is said, and what every reader makes of them."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from typing import Any

import pytest
from helpers.reference_regions import READINGS, Relation

import symbouq
from symbouq.ontology.library import OntologyLibrary
from symbouq.reading.force import asks, forces_of, is_quoted, offered
from symbouq.records import Trace, make_record

FORCES = forces_of(OntologyLibrary().ontology("everyday"))


def unstated(text: str, words: str, *named: str) -> str:
    spans = [(text.index(name), text.index(name) + len(name)) for name in named]
    at = text.index(words)
    return FORCES.unstated(text, (at, at + len(words)), spans)


@pytest.mark.parametrize(
    ("text", "words", "stance"),
    [
        ("Could K1 be above K3?", "above", "asked"),
        ("K1 is above K3, right?", "above", "asked"),
        ("Hold it above the first one.", "above", "asked"),
        ("Take the second block, hold it above the first one.", "above", "asked"),
        ("Take the cup and the jug and put them above the tray.", "above", "asked"),
        ("Please now move the cup below the tray.", "below", "asked"),
        ("- First, put A left of B, so C is above D.", "left", "asked"),
        ("First, put A left of B, so C is above D.", "above", ""),
        ("Make sure that A is above B.", "above", "asked"),
        ("Let us check whether A is above B.", "above", "asked"),
        ("We should place A above B.", "above", "asked"),
        ("If it is free, put the cup above the tray.", "above", "asked"),
        ("The pan goes on the stove: put it above the tray.", "above", "asked"),
        ("Don't put A above B.", "above", "asked"),
        ("Suppose A is above B.", "above", "supposed"),
        ("If A is above B, C is left of D.", "left", "supposed"),
        ("Unless A is above B, C is left of D.", "left", "supposed"),
        ("Case 2: A is above B.", "above", "supposed"),
        ("If you face north, A is left of B.", "left", ""),
        ("They take the cup and hold it above the tray.", "above", ""),
        ("The crane holds A above B.", "above", ""),
        ("We check that A is above B.", "above", ""),
        ("Mount Fuji is north of Tokyo.", "north", ""),
        ("A tarpaulin, heavy with rain, lay on top of the skip.", "on top", ""),
        ("Keep the cup left of the jug; the jug is above the pan.", "above", ""),
    ],
)
def test_what_is_said_but_not_stated(text: str, words: str, stance: str) -> None:
    assert unstated(text, words) == stance


def test_a_verb_in_a_name_tells_nobody_to_do_anything() -> None:
    assert unstated("Store A overlaps Store B.", "overlaps", "Store A", "Store B") == ""


def test_a_question_ends_in_its_mark() -> None:
    assert asks("Is it left?") and asks('"Is it left?"') and not asks("Left? It is.")
    assert asks("Left? Yes.", 5) and not asks("Left? Yes.", 10, 6)


# Verdicts by worlds ----------------------------------------------------------------------

WORDS = {"left": "left of", "right": "right of", "above": "above", "below": "below"}
WORDS |= {"inside": "inside", "near": "near", "touching": "touching"}
NAMES = ["cup", "jug", "pan"]

FORMS = {
    "asserted": "The {u} is {r} the {v}.",
    "denied": "The {u} is not {r} the {v}.",
    "necessary": "The {u} must be {r} the {v}.",
    "possible": "The {u} could be {r} the {v}.",
    "impossible": "The {u} cannot be {r} the {v}.",
    "unnecessary": "The {u} is not necessarily {r} the {v}.",
    "supposed": "Suppose the {u} is {r} the {v}.",
    "asked": "Is the {u} {r} the {v}?",
    "bidden": "Hold the {u} {r} the {v}.",
}
"""Stance to a claim that has it. What is bidden is `asked`."""


def true_of(stance: str, possible: bool, certain: bool) -> str:
    """The verdict on a relation that some worlds have, or every one has, said with a stance."""
    over_worlds = {
        "necessary": certain,
        "possible": possible,
        "impossible": not possible,
        "unnecessary": not certain,
    }
    if stance in over_worlds:
        return "entailed" if over_worlds[stance] else "contradicted"
    plain = "entailed" if certain else "unknown" if possible else "contradicted"
    opposite = {"entailed": "contradicted", "contradicted": "entailed"}
    denied = opposite.get(plain, plain)
    return {"asserted": plain, "denied": denied}.get(stance, "unknown")


def structured(scene: list[Relation], asked: list[tuple[str, Relation]]) -> dict[str, Any]:
    """A trace whose relations are given."""
    claims: list[dict[str, Any]] = []
    for stance, (u, r, v) in asked:
        claim: dict[str, Any] = {"stance": stance, "relations": [[NAMES[u], r, NAMES[v]]]}
        if stance == "denied":
            claim |= {"stance": "counted", "least": 0, "most": 0}
        if stance in ("supposed", "asked", "bidden"):
            claim = {"stance": stance if stance != "bidden" else "asked"}
        claims.append({"type": "reasoning", **claim})
    return {"scene_relations": [[NAMES[u], r, NAMES[v]] for u, r, v in scene], "claims": claims}


def told(scene: list[Relation], asked: list[tuple[str, Relation]]) -> dict[str, Any]:
    """The same trace in words."""
    return {
        "scene": [f"The {NAMES[u]} is {WORDS[r]} the {NAMES[v]}." for u, r, v in scene],
        "reasoning": [
            FORMS[stance].format(u=NAMES[u], r=WORDS[r], v=NAMES[v]) for stance, (u, r, v) in asked
        ],
        "conclusion": "",
    }


def by_model(scene: list[Relation], asked: list[tuple[str, Relation]]) -> dict[str, Any]:
    """The same, read by a model that takes what is asked, bidden or supposed for asserted."""
    trace = told(scene, asked)
    every = [("S", "asserted", z) for z in scene] + [("C", stance, z) for stance, z in asked]
    counts: Counter[str] = Counter()
    sentences: list[dict[str, Any]] = []
    for mark, stance, (u, r, v) in every:
        counts[mark] += 1
        modal = stance if stance in ("necessary", "possible", "impossible") else "asserted"
        relation = {
            "words": WORDS[r],
            "stance": "possible" if stance == "unnecessary" else modal,
            "polarity": "denied" if stance in ("denied", "unnecessary") else "affirmed",
            "subject": f"t{u}",
            "relation": r,
            "object": f"t{v}",
        }
        things = [{"id": f"t{n}", "words": NAMES[n]} for n in (u, v)]
        label = f"{mark}{counts[mark]}"
        sentences.append({"sentence": label, "things": things, "relations": [relation]})
    sentences.append({"sentence": f"C{counts['C'] + 1}"})
    scenes = [s for s in sentences if s["sentence"][0] == "S"]
    claims = [s for s in sentences if s["sentence"][0] == "C"]
    parts = [claims[n : n + 24] for n in range(0, len(claims), 24)]
    replies = [[{"sentences": part}] for part in ([scenes] if scenes else []) + parts]
    return {**trace, "readings": {"model": "", "prompt": "", "replies": replies}}


@cache
def auditor(profile: str) -> symbouq.TraceAuditor:
    return symbouq.TraceAuditor(profile=profile)


@pytest.mark.parametrize("profile", ["half-plane", "everyday"])
@pytest.mark.parametrize("reader", [structured, told, by_model])
def test_no_verdict_is_at_odds_with_the_worlds_of_the_scene(profile: str, reader: Any) -> None:
    """*Contradicted* needs that no world has the claim, *entailed* that every one has."""
    rng = random.Random(7)
    names = [name for name in WORDS if name in READINGS[profile].names]
    found: Counter[tuple[str, str]] = Counter()
    for number in range(12):
        scene = [
            (u, rng.choice(names), v)
            for u, v in (rng.sample(range(3), 2) for _ in range(rng.randint(1, 3)))
        ]
        worlds = {
            (u, v): READINGS[profile].worlds(scene, (u, v), names) for u, v in ((0, 1), (2, 0))
        }
        if None in worlds.values():
            continue
        relations = rng.sample(names, min(3, len(names)))
        asked = [(s, (u, r, v)) for s in FORMS for u, v in worlds for r in relations]
        record = make_record(Trace, {"id": str(number), "question": "", **reader(scene, asked)})
        claims = auditor(profile).audited(record)["claims"]
        for (stance, (u, r, v)), claim in zip(asked, claims, strict=False):
            possible, certain = worlds[u, v] or (set(), set())
            right = true_of(stance, r in possible, r in certain)
            verdict = claim["grounded_verdict"]
            assert verdict in (right, "unknown"), (scene, stance, (u, r, v))
            found[stance, verdict] += 1
    for stance in ("asserted", "denied", "necessary", "possible", "impossible", "unnecessary"):
        assert found[stance, "entailed"] and found[stance, "contradicted"], stance
    for stance in ("supposed", "asked", "bidden"):
        assert not found[stance, "entailed"] + found[stance, "contradicted"]


def test_the_options_of_a_question() -> None:
    text = "Which is true? A) It is left. B) It is right. It is above."
    assert [text[n:] for n in (offered(text)[0], offered(text)[-1])] == [text[15:], text[33:]]
    assert not offered("Is it left? It is. A) The cup is here. C) The jug is there.")
    assert not offered("A) It is left. B) It is right.")
    assert len(offered("Which? " + "A) x " * 20_000)) == 0


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('"Put it on the mat!"', True),
        ("\u201cPut it on the mat.\u201d", True),
        ('- "A is above B."', True),
        ('"A" is above "B"', False),
        ('He said: "A is above B."', False),
        ("A is above B.", False),
    ],
)
def test_a_sentence_in_quotation_marks(text: str, quoted: bool) -> None:
    assert is_quoted(text, 0, len(text)) is quoted
