"""Shortest paths against values derived by hand, and against the program that they stand for."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbouq.auditing.relations import ClaimInput, _memory_of, audit_relations
from symbouq.logic.differences import DifferenceSolver, solver_for
from symbouq.logic.programs import Atom, TraceSolver
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.source import ASSERTED, QUERIED
from symbouq.ontology.tables import Ontology, Triple

LIBRARY = OntologyLibrary()
NINE_WAY = LIBRARY.ontology("nine-way")
A, B, C, D, E, F = range(6)


def stated(ontology: Ontology, *triples: Triple) -> list[Atom]:
    return [(ontology.encoding.readings[ASSERTED, r], u, v) for u, r, v in triples]


def claimed(ontology: Ontology, u: int, r: str, v: int) -> Atom:
    return ontology.encoding.readings[QUERIED, r], u, v


#     D
#     |
# A - B - C     E - F
TREE = ((A, "left", B), (C, "right", B), (B, "below", D), (E, "left", F))


def decided(
    ontology: Ontology, scene: list[Atom], claim: Triple
) -> tuple[set[Atom] | None, set[Atom] | None]:
    """What of a scene entails a claim, and what excludes it."""
    solver = DifferenceSolver(ontology)
    atom = claimed(ontology, *claim)
    return solver.entailment(frozenset([atom])).core(scene), solver.exclusion(atom).core(scene)


@pytest.mark.parametrize(
    ("claim", "entailed", "excluded"),
    [
        ((A, "left", C), {0, 1}, None),
        ((C, "left", A), None, {0, 1}),
        ((A, "above", C), None, {0, 1}),
        ((D, "upper_right", A), {0, 2}, None),
        ((D, "above", A), None, {0, 2}),  # straight above is not to the right
        ((E, "left", F), {3}, None),
        ((A, "left", F), None, None),
        ((A, "left", A), None, set()),
        ((A, "same_position", A), set(), None),
    ],
)
def test_cores(claim: Triple, entailed: set[int] | None, excluded: set[int] | None) -> None:
    scene = stated(NINE_WAY, *TREE)
    assert decided(NINE_WAY, scene, claim) == tuple(
        places if places is None else {scene[n] for n in places} for places in (entailed, excluded)
    )


def test_steps_of_a_grid_add_up() -> None:
    grid = LIBRARY.ontology("unit-grid")
    scene = stated(grid, (A, "left", B), (C, "above", B))
    assert decided(grid, scene, (A, "lower_left", C)) == (set(scene), None)
    assert decided(grid, scene, (A, "left", C)) == (None, set(scene))


def test_ways_that_cancel_out_leave_it_open() -> None:
    scene = stated(NINE_WAY, (A, "left", B), (B, "right", C))
    assert decided(NINE_WAY, scene, (A, "left", C)) == (None, None)
    assert decided(NINE_WAY, scene, (A, "above", C)) == (None, set(scene))


def test_what_cannot_be_is_left_out_and_the_rest_goes_on() -> None:
    solver = DifferenceSolver(NINE_WAY)
    one, two, three = stated(NINE_WAY, (A, "left", B), (B, "left", C), (C, "left", A))
    assert solver.feasible([one, two])
    assert solver.infeasibility().core([one, two, three]) == {one, two, three}
    assert solver.feasible([two, three])
    assert solver.infeasibility().widest([three], [one, two, three]) == {one, three}


def test_things_with_an_extent_end_after_they_begin() -> None:
    everyday = LIBRARY.ontology("everyday")
    scene = stated(everyday, (A, "left", B), (B, "left", C))
    # What ends before B begins ends before C begins only because B itself begins before it ends.
    assert decided(everyday, scene, (A, "left", C)) == (set(scene), None)
    assert decided(everyday, [], (A, "left", A)) == (None, set())


def test_what_closure_decides_is_for_a_program() -> None:
    directions = stated(NINE_WAY, (A, "left", B))
    assert isinstance(solver_for(NINE_WAY, directions), DifferenceSolver)
    assert isinstance(solver_for(NINE_WAY, stated(NINE_WAY, (A, "near", B))), TraceSolver)


PROFILES = ("nine-way", "half-plane", "unit-grid", "story", "babi", "everyday", "spartun", "cdc")


@pytest.mark.parametrize("profile", PROFILES)
def test_relation_of_a_thing_to_itself(profile: str) -> None:
    ontology = LIBRARY.ontology(profile)
    readings = ontology.encoding.readings
    for relation in directions(ontology):
        scene = [(readings[ASSERTED, relation], A, A)]
        claim = frozenset([(readings[QUERIED, relation], A, A)])
        fast, slow = DifferenceSolver(ontology), TraceSolver(ontology, scene, [claim])
        assert fast.feasible(scene) is slow.feasible(scene)
        assert fast.entailment(claim).holds([]) is slow.entailment(claim).holds([])


@given(st.sampled_from(PROFILES), st.data())
def test_decides_as_the_program_does(profile: str, data: st.DataObject) -> None:
    """Whether contexts are feasible, entail or exclude a claim, and the widest sets that do not;
    cores may differ, and suffice.
    """
    ontology = LIBRARY.ontology(profile)
    pairs = [*permutations(range(5), 2), (0, 0), (3, 3)]
    relations = st.tuples(st.sampled_from(directions(ontology)), st.sampled_from(pairs))

    def atoms(role: str, most: int) -> list[Atom]:
        drawn = data.draw(st.lists(relations, max_size=most))
        return list(
            dict.fromkeys((ontology.encoding.readings[role, r], *pair) for r, pair in drawn)
        )

    scene, claims = atoms(ASSERTED, 8), atoms(QUERIED, 4)
    groups = [frozenset([atom]) for atom in claims]
    groups += [frozenset(claims[:2])] if len(claims) > 1 else []
    everything = list(dict.fromkeys([*scene, *claims]))
    fast, slow = DifferenceSolver(ontology), TraceSolver(ontology, everything, groups)
    pairs_of_conditions = [
        (fast.infeasibility(), slow.infeasibility()),
        *((fast.entailment(group), slow.entailment(group)) for group in groups),
        *((fast.exclusion(atom), slow.exclusion(atom)) for atom in claims),
    ]
    for ours, theirs in pairs_of_conditions:
        for context in (scene[:3], scene, everything, scene[2:], []):
            holds = theirs.holds(context)
            core = ours.core(context)
            assert ours.holds(context) is (core is not None) is holds
            if core is not None:
                assert core <= set(context)
                assert theirs.holds(core)
            elif context:
                assert ours.widest([], everything) == theirs.widest([], everything)


TREES = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=6)


def directions(ontology: Ontology) -> list[str]:
    """The relations that the layout alone decides, in either role."""
    relational, readings = ontology.encoding.relational, ontology.encoding.readings
    return [
        r
        for r in ontology.relations.family
        if relational.isdisjoint((readings[ASSERTED, r], readings[QUERIED, r]))
    ]


@given(st.sampled_from(PROFILES), TREES, st.data())
def test_audits_are_those_of_the_program(
    profile: str, drawn: list[tuple[int, bool]], data: st.DataObject
) -> None:
    """Verdicts, premises and repairs in both contexts; claims join chains, or close cycles."""
    ontology = LIBRARY.ontology(profile)
    relations = st.sampled_from(directions(ontology))
    things = len(drawn) + 2
    scene = []
    for n, (parent, turned) in enumerate(drawn, start=1):
        ends = (n, parent % n) if turned else (parent % n, n)
        scene.append((n, [(ends[0], data.draw(relations), ends[1])]))
    pair = st.permutations(range(things)).map(lambda order: order[:2])
    claim = st.tuples(pair, relations).map(lambda drawn: (drawn[0][0], drawn[1], drawn[0][1]))
    claims = data.draw(st.lists(st.lists(claim, min_size=1, max_size=2), min_size=1, max_size=4))
    found = audit_relations(ontology, scene, map(ClaimInput, claims))
    _memory_of.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("symbouq.auditing.relations.solver_for", TraceSolver)
        expected = audit_relations(ontology, scene, map(ClaimInput, claims))
    _memory_of.cache_clear()
    assert found == expected
