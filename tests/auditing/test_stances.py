"""Claims of every stance, by every reader, against all worlds of a scene.

A world puts each of three things at a point of a grid that has room for every order of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest

from symbouq.auditing.auditor import TraceAuditor
from symbouq.reading.model.dialogue import ModelRequest
from symbouq.records import Reply, Trace, make_record

AUDITOR = TraceAuditor(profile="half-plane")
IDS = {"cup": "t1", "jug": "t2", "pan": "t3"}
HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "left": lambda u, v: u[0] < v[0],
    "right": lambda u, v: u[0] > v[0],
    "above": lambda u, v: u[1] > v[1],
    "below": lambda u, v: u[1] < v[1],
}
WORDS = {"left": "left of", "right": "right of", "above": "above", "below": "below"}
WORLDS = [dict(zip(IDS, at, strict=True)) for at in product(product(range(3), repeat=2), repeat=3)]

Relation = tuple[str, str, str]
SAID = {
    ("asserted", False): "is",
    ("asserted", True): "is not",
    ("necessary", False): "must be",
    ("necessary", True): "must not be",
    ("possible", False): "could be",
    ("possible", True): "might not be",
    ("impossible", False): "cannot be",
}
"""Stance and whether it is denied, to how a claim says so."""


def true_in(world: dict[str, Any], relations: list[Relation], denied: bool) -> bool:
    return all(HOLDS[r](world[u], world[v]) != denied for u, r, v in relations)


def truths(
    worlds: list[dict[str, Any]], stance: str, relations: list[Relation], denied: bool
) -> set[bool]:
    """Whether a claim is true, in each world of a scene; the same in all, if it is about them."""
    found = {true_in(world, relations, denied) for world in worlds}
    if stance == "necessary":
        return {found == {True}}
    if stance == "possible":
        return {True in found}
    return {True not in found} if stance == "impossible" else found


def text(stance: str, relations: list[Relation], denied: bool) -> str:
    (u, r, v), *others = relations
    more = "".join(f" and {WORDS[s]} the {w}" for _, s, w in others)
    return f"The {u} {SAID[stance, denied]} {WORDS[r]} the {v}{more}."


Case = tuple[list[Relation], list[tuple[str, list[Relation], bool]]]


def cases(count: int, seed: int) -> Iterator[Case]:
    """Scenes, each with claims about it."""
    chance = random.Random(seed)
    pairs = [(u, v) for u in IDS for v in IDS if u != v]

    def relation(figure: str = "") -> Relation:
        u, v = chance.choice([pair for pair in pairs if pair[0] == (figure or pair[0])])
        return u, chance.choice(list(HOLDS)), v

    while count:
        scene = [relation() for _ in range(chance.randint(1, 3))]
        if not any(true_in(world, scene, False) for world in WORLDS):
            continue
        claims = []
        for stance, denied in SAID:
            for _ in range(2):
                first = relation()
                claims.append((stance, [first], denied))
                if not denied:
                    claims.append((stance, [first, relation(first[0])], denied))
        count -= 1
        yield scene, claims


def trace(case: Case, **more: Any) -> Trace:
    scene, claims = case
    texts = [text(*claim) for claim in claims]
    told = [text("asserted", [relation], False) for relation in scene]
    record = {"id": "x", "scene": told, "question": "", "reasoning": texts, "conclusion": ""}
    return make_record(Trace, {**record, **more})


def by_model(case: Case) -> Trace:
    """The same with readings of a model that reads every sentence as it is meant."""
    scene, claims = case
    meant = {f"S{n}": ("asserted", [r], False) for n, r in enumerate(scene, start=1)}
    meant |= {f"C{n}": claim for n, claim in enumerate(claims, start=1)}
    parser = AUDITOR.parser_for(trace(case))

    def answer(request: ModelRequest) -> list[Reply]:
        read = [sentence(label, *meant[label]) for label in request.sentences if label in meant]
        return [Reply.model_validate({"sentences": read})]

    replies = parser.model_reader.ask(parser.texts(trace(case)), answer)
    return trace(case, readings={"model": "m", "prompt": "", "replies": replies})


def sentence(label: str, stance: str, relations: list[Relation], denied: bool) -> dict[str, Any]:
    polarity = "denied" if denied else "affirmed"
    named = dict.fromkeys(name for u, _, v in relations for name in (u, v))
    said = [
        {"words": WORDS[r], "subject": IDS[u], "relation": r, "object": IDS[v]}
        | {"stance": stance, "polarity": polarity}
        for u, r, v in relations
    ]
    things = [{"id": IDS[name], "words": f"the {name}"} for name in named]
    return {"sentence": label, "things": things, "relations": said}


@pytest.mark.parametrize("reader", ["model", "parser"])
def test_no_verdict_is_against_a_world_of_the_scene(reader: str) -> None:
    decided = 0
    for case in cases(20, seed=7):
        scene, claims = case
        worlds = [world for world in WORLDS if true_in(world, scene, False)]
        record = AUDITOR.audited(by_model(case) if reader == "model" else trace(case))
        assert len(record["claims"]) == len(claims) + 1
        for claim, given in zip(claims, record["claims"], strict=False):
            verdict, found = given["grounded_verdict"], truths(worlds, *claim)
            told = f"{[text('asserted', [r], False) for r in scene]}: {given['text']} {verdict}"
            assert verdict != "contradicted" or True not in found, told
            assert verdict != "entailed" or False not in found, told
            decided += verdict in ("entailed", "contradicted")
    assert decided > 150


def test_a_denial_that_a_scene_leaves_open_is_unknown() -> None:
    case: Case = ([("cup", "left", "jug")], [("asserted", [("cup", "above", "pan")], True)])
    for given in (by_model(case), trace(case)):
        assert AUDITOR.audited(given)["claims"][0]["grounded_verdict"] == "unknown"


def test_what_cannot_be_together_says_so() -> None:
    both: list[Relation] = [("pan", "left", "cup"), ("pan", "right", "cup")]
    case: Case = ([("cup", "left", "jug")], [("possible", both, False)])
    (claim, _) = AUDITOR.audited(trace(case))["claims"]
    assert claim["verdict"] == "contradicted"
    assert claim["message"].endswith("in none all of this holds together.")
