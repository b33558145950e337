"""Random relation programs for hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from helpers.reference import NAMES, OTHERS, VECTORS, Relation

THINGS = "abcde"


def relations(names: list[str]) -> st.SearchStrategy[Relation]:
    """Draw one relation between a few things, occasionally between a thing and itself."""
    things = st.sampled_from(THINGS)
    return st.tuples(things, st.sampled_from(names), things)


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[Relation], list[list[Relation]]]:
    """Draw a scene and claims from one family or a mix. Each claim has up to three relations, some
    of which repeat or invert earlier ones.
    """
    names = draw(st.sampled_from([sorted(VECTORS), OTHERS, NAMES, ["inside", "contains", "near"]]))
    scene = draw(st.lists(relations(names), max_size=6))
    claims: list[list[Relation]] = []
    for _ in range(draw(st.integers(0, 6))):
        size = draw(st.sampled_from([0, 1, 1, 1, 1, 2, 3]))
        claims.append([draw(relations(names)) for _ in range(size)])
    said = list(scene) + [r for claim in claims for r in claim]
    if said and claims and draw(st.booleans()):
        claims.append([draw(st.sampled_from(said))])
    return scene, claims
