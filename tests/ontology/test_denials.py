"""Denied relations: their verdicts are those of all layouts of three things, counted out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

import symbouq
from symbouq.ontology.library import OntologyLibrary

Place = tuple[int, int]

HALF_PLANE: Mapping[str, Callable[[Place, Place], bool]] = {
    "left": lambda a, b: a[0] < b[0],
    "above": lambda a, b: a[1] > b[1],
    "upper_left": lambda a, b: a[0] < b[0] and a[1] > b[1],
}
NINE_WAY: Mapping[str, Callable[[Place, Place], bool]] = {
    "left": lambda a, b: a[0] < b[0] and a[1] == b[1],
    "above": lambda a, b: a[0] == b[0] and a[1] > b[1],
    "upper_left": lambda a, b: a[0] < b[0] and a[1] > b[1],
}
THINGS = ("a", "b", "c")
# Three things are in as many orders on three places of an axis as they are on any number.
LAYOUTS = [
    dict(zip(THINGS, places, strict=True))
    for places in itertools.product(itertools.product(range(3), range(3)), repeat=3)
]

STATED = st.tuples(
    st.sampled_from(THINGS), st.sampled_from(sorted(HALF_PLANE)), st.sampled_from(THINGS)
).filter(lambda stated: stated[0] != stated[2])
SIGNED = st.tuples(STATED, st.booleans())


def written(stated: tuple[str, str, str], holds: bool) -> list[str]:
    subject, relation, thing = stated
    return [subject, relation if holds else f"not_{relation}", thing]


@pytest.mark.parametrize(("profile", "means"), [("half-plane", HALF_PLANE), ("nine-way", NINE_WAY)])
def test_verdicts_are_those_of_all_layouts(
    profile: str, means: Mapping[str, Callable[[Place, Place], bool]]
) -> None:
    def holds(layout: Mapping[str, Place], stated: tuple[str, str, str], sign: bool) -> bool:
        subject, relation, thing = stated
        return means[relation](layout[subject], layout[thing]) == sign

    @given(st.lists(SIGNED, min_size=1, max_size=4), SIGNED)
    def check(scene: list[tuple[tuple[str, str, str], bool]], claim: object) -> None:
        stated, sign = claim  # type: ignore[misc]
        worlds = [w for w in LAYOUTS if all(holds(w, *fact) for fact in scene)]
        audit = symbouq.audit(
            [written(*fact) for fact in scene], [[written(stated, sign)]], profile=profile
        )
        assert audit.scene.feasible == bool(worlds)
        if worlds:
            found = {holds(world, stated, sign) for world in worlds}
            verdict = {(True,): "entailed", (False,): "contradicted"}.get((*found,), "unknown")
            assert audit.claims[0].grounded_verdict == verdict

    check()


def test_a_relation_has_one_denial() -> None:
    ontology = OntologyLibrary().ontology("nine-way")
    assert ontology.denied("inside") == "not_inside"  # the ontology's own
    assert ontology.denied("left") == "not_left"
    assert ontology.canonical("Not-Left") == "not_left"
    assert "not_left" not in ontology.relations.family
    assert ontology.oriented((1, "not_left", 0)) == (0, "not_right", 1)
    assert ontology.lexicon.wording["not_left"][0] == "not to the left of"
