"""Places that are each for one thing (`rules/choice.lp`), against all ways to fill them."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import permutations

import pytest

from symbouq.logic.worlds import decided
from symbouq.ontology.library import OntologyLibrary

ONTOLOGY = OntologyLibrary().ontology("everyday")
PLACES, PEOPLE, LIST = range(4), range(4, 7), 7
Where = dict[int, int]
HOLDS: dict[str, Callable[[int, int], bool]] = {
    "left": lambda u, v: u < v,
    "right": lambda u, v: u > v,
}
WORLDS: list[Where] = [
    {**dict(zip(PEOPLE, of, strict=True)), **{place: place for place in PLACES}}
    for of in permutations(PLACES, len(PEOPLE))
]
ROW = [
    *((u, "left", v) for u in PLACES for v in PLACES if u < v),
    *((LIST, "lists", place) for place in PLACES),
    *((person, "one_of", LIST) for person in PEOPLE),
]


def holds(where: Where, triple: tuple[int, str, int]) -> bool:
    u, relation, v = triple
    if relation == "inside":
        return where[u] == where[v]
    return HOLDS[relation](where[u], where[v])


@pytest.mark.parametrize("seed", range(12))
def test_verdicts_are_those_of_all_ways_to_fill_the_places(seed: int) -> None:
    draw = random.Random(seed)
    pairs = [(u, v) for u in PEOPLE for v in (*PEOPLE, *PLACES) if u != v]
    told = [(u, draw.choice([*HOLDS]), v) for u, v in draw.sample(pairs, 3)]
    asked = [(u, "left", v) for u, v in pairs]
    asked += [(u, "inside", v) for u in PEOPLE for v in PLACES]
    open_to = [where for where in WORLDS if all(holds(where, triple) for triple in told)]
    found = decided(ONTOLOGY, [*ROW, *told], asked)
    if found is None or not open_to:
        assert not open_to and found is None
        return
    for triple, verdict in found.items():
        true = [holds(where, triple) for where in open_to]
        assert verdict == (all(true) if all(true) == any(true) else None), triple
