"""The auditor against an independent plain-Python reading of the same semantics."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from helpers import reference
from helpers.reference import Relation
from helpers.strategies import programs
from hypothesis import given, settings
from hypothesis import strategies as st

from symbouq.auditing.relations import ClaimInput, _memory_of, audit_relations
from symbouq.auditing.verdicts import ClaimResult, TraceResult, Verdict
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.tables import Triple

LIBRARY = OntologyLibrary()
PROFILES = ["nine-way", "unit-grid"]


def audited(scene: list[Relation], claims: list[list[Relation]], profile: str) -> TraceResult:
    slots: dict[str, int] = {}

    def triple(relation: Relation) -> tuple[int, str, int]:
        u, name, v = relation
        return slots.setdefault(u, len(slots)), name, slots.setdefault(v, len(slots))

    return audit_relations(
        LIBRARY.ontology(profile),
        [(number, [triple(relation)]) for number, relation in enumerate(scene, start=1)],
        [ClaimInput([triple(relation) for relation in claim]) for claim in claims],
    )


@pytest.mark.parametrize("profile", PROFILES)
@given(programs())
@settings(max_examples=300)
def test_agrees_with_plain_python(
    profile: str, program: tuple[list[Relation], list[list[Relation]]]
) -> None:
    _compare(profile, *program)


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
@given(programs())
@settings(max_examples=1000)
def test_agrees_with_plain_python_over_thousands(
    profile: str, program: tuple[list[Relation], list[list[Relation]]]
) -> None:
    _compare(profile, *program)


def _compare(profile: str, scene: list[Relation], claims: list[list[Relation]]) -> None:
    unit = profile == "unit-grid"
    result = audited(scene, claims, profile)
    assert result.feasible == reference.feasible(scene, [], unit)
    if not result.feasible:
        clash = [scene[premise.number - 1] for premise in result.clash]
        assert not reference.feasible(clash, [], unit)
        for n in range(len(clash)):
            assert reference.feasible(clash[:n] + clash[n + 1 :], [], unit)
    for found, expected in zip(result.claims, reference.audit(scene, claims, unit), strict=True):
        assert {
            "verdict": str(found.verdict),
            "grounded": str(found.grounded),
            "exact": found.repair,
            "bounded": found.bounded_repair,
            "first_conflict": found.first_conflict,
        } == expected
        agrees = found.verdict == found.grounded
        assert found.conditional == (found.verdict.determinate and found.verdict != found.grounded)
        if found.verdict.determinate and agrees:
            assert all(premise.source == "scene" for premise in found.premises)
    for number, found in enumerate(result.claims, start=1):
        if found.verdict.determinate:
            _check_premises(scene, claims, number, found, unit)


def _check_premises(
    scene: list[Relation], claims: list[list[Relation]], number: int, found: ClaimResult, unit: bool
) -> None:
    """The premises suffice, none can be spared, and no better set exists."""
    claim = claims[number - 1]
    pool = [("scene", n) for n in range(1, len(scene) + 1)]
    pool += [("claim", n) for n in range(1, number)]

    def decides(premises: tuple[tuple[str, int], ...]) -> bool:
        trusted = [scene[n - 1] for source, n in premises if source == "scene"]
        assumed = [r for source, n in premises if source == "claim" for r in claims[n - 1]]
        return reference.claim_status(trusted, assumed, claim, unit) == found.verdict

    def cost(premises: tuple[tuple[str, int], ...]) -> tuple[int, int]:
        return sum(source == "claim" for source, _ in premises), len(premises)

    chosen = tuple((premise.source, premise.number) for premise in found.premises)
    assert decides(chosen)
    for n in range(len(chosen)):
        assert not decides(chosen[:n] + chosen[n + 1 :])
    better = (
        other
        for size in range(min(len(pool), 4) + 1)
        for other in combinations(pool, size)
        if cost(other) < cost(chosen)
    )
    assert not any(decides(other) for other in better)


def test_earliest_of_equal_premises() -> None:
    scene = [("a", "above", "b"), ("c", "right", "d"), ("b", "below", "a")]
    result = audited(scene, [[("a", "above", "b")]], "nine-way")
    assert [str(premise) for premise in result.claims[0].premises] == ["scene:1"]


def test_grounded_verdicts_are_verdicts_of_the_scene_alone() -> None:
    """T_k adds only what the scene entails: replay and scene alone agree (Eq. trusted)."""
    scene = [("a", "above", "b"), ("b", "above", "c")]
    claims = [[("a", "above", "c")], [("d", "left", "a")], [("d", "lower_left", "a")]]
    for found, claim in zip(audited(scene, claims, "nine-way").claims, claims, strict=True):
        assert str(found.grounded) == reference.claim_status(scene, [], claim)


@given(st.integers(0, 3))
@settings(max_examples=4)
def test_repair_beyond_the_budget_is_four(extra: int) -> None:
    claims = [[("a", "left", "b")]] * (2 + extra) + [[("a", "right", "b")]]
    last = audited([], claims, "nine-way").claims[-1]
    assert last.repair == 2 + extra
    assert last.bounded_repair == min(2 + extra, 4)


@pytest.mark.parametrize("profile", PROFILES)
def test_repair_counts_what_one_claim_says_twice_along_a_chain(profile: str) -> None:
    twice = [("b", "above", "a"), ("b", "above", "a")]
    assert audited([], [twice, [("a", "above", "b")]], profile).claims[-1].repair == 2
    # The chain is broken with less where another claim of it was said once.
    chain = [twice, [("c", "above", "b")], [("a", "above", "c")]]
    assert audited([], chain, profile).claims[-1].repair == 1
    # What the scene says does not go.
    scene = [("c", "above", "b")]
    assert audited(scene, [twice, [("a", "above", "c")]], profile).claims[-1].repair == 2


# What a contradiction is laid to ------------------------------------------------------------


def test_clashes_are_those_of_the_premises_alone() -> None:
    ontology = LIBRARY.ontology("rcc8")
    # What overlaps a part overlaps the whole, which touches 2 at most. That is the only clash,
    # whatever else is claimed of other things, and whatever was asked about the scene before.
    scene: list[tuple[int, list[Triple]]] = [(1, [(0, "tpp", 1)]), (2, [(1, "ec", 2)])]
    wrong: list[Triple] = [(2, "po", 0)]
    others: list[list[Triple]] = [[(3, "po", 4)], [(4, "ec", 0)], [(3, "tpp", 2)], [(1, "eq", 4)]]
    for earlier in ([], others, others[::-1]):
        _memory_of.cache_clear()
        if earlier:
            audit_relations(ontology, scene, map(ClaimInput, earlier))
        for beside in ([], others):
            found = audit_relations(ontology, scene, map(ClaimInput, [wrong, *beside])).claims[0]
            assert found.verdict is Verdict.CONTRADICTED
            assert [code for code, _ in found.clashes] == ["incompatible"] * len(found.clashes)
            assert {frozenset(names) for _, names in found.clashes} == {
                frozenset(("ec", "overlapping"))
            }


@pytest.mark.parametrize("things", [4, 12])
def test_many_things_and_few_are_judged_alike(things: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program for each claim says what one for all of them does."""
    ontology = LIBRARY.ontology("rcc8")
    generator = random.Random(5)
    names = ["dc", "ec", "po", "tpp", "ntpp", "tppi"]
    scene = [(n + 1, [(n, generator.choice(names), n + 1)]) for n in range(things - 1)]
    claims = [
        [(u, generator.choice(names), v)]
        for u, v in (generator.sample(range(things), 2) for _ in range(12))
    ]
    found = []
    for few in (0, 100):
        monkeypatch.setattr("symbouq.auditing.relations._FEW_THINGS", few)
        _memory_of.cache_clear()
        found.append(audit_relations(ontology, scene, map(ClaimInput, claims)))
    assert found[0] == found[1]


IN_ALL, IN_SOME, IN_NONE = ("A", "above", "B"), ("C", "left", "A"), ("A", "below", "B")
OVER_WORLDS = {
    ("necessary", IN_ALL): Verdict.ENTAILED,
    ("necessary", IN_SOME): Verdict.CONTRADICTED,
    ("necessary", IN_NONE): Verdict.CONTRADICTED,
    ("possible", IN_ALL): Verdict.ENTAILED,
    ("possible", IN_SOME): Verdict.ENTAILED,
    ("possible", IN_NONE): Verdict.CONTRADICTED,
    ("impossible", IN_ALL): Verdict.CONTRADICTED,
    ("impossible", IN_SOME): Verdict.CONTRADICTED,
    ("impossible", IN_NONE): Verdict.ENTAILED,
}


@pytest.mark.parametrize(("stance", "relation"), OVER_WORLDS)
def test_claims_about_worlds(stance: str, relation: Relation) -> None:
    slots = {"A": 0, "B": 1, "C": 2}
    u, name, v = relation
    scene = [(1, [(0, "above", 1)])]
    claim = [(slots[u], name, slots[v])]
    ontology = LIBRARY.ontology("nine-way")
    (told,) = audit_relations(ontology, scene, [ClaimInput(claim, stance)]).claims
    assert told.verdict is told.grounded is OVER_WORLDS[stance, relation]
    (untold,) = audit_relations(ontology, scene, [ClaimInput(claim, stance, settled=False)]).claims
    open_ = relation == IN_SOME
    assert untold.verdict is (Verdict.UNKNOWN if open_ else OVER_WORLDS[stance, relation])


def test_a_claim_about_worlds_is_admitted_to_no_context() -> None:
    ontology = LIBRARY.ontology("nine-way")
    possible, opposite = [(2, "left", 0)], [(2, "right", 0)]
    scene = [(1, [(0, "above", 1)])]
    claims = [ClaimInput(possible, "possible"), ClaimInput(opposite)]
    results = audit_relations(ontology, scene, claims)
    assert [c.verdict for c in results.claims] == [Verdict.ENTAILED, Verdict.UNKNOWN]
    # One that is asserted is, and what it leaves is judged with it.
    claims = [ClaimInput(possible), ClaimInput(opposite, "possible")]
    results = audit_relations(ontology, scene, claims)
    assert [c.verdict for c in results.claims] == [Verdict.UNKNOWN, Verdict.CONTRADICTED]
    assert [c.grounded for c in results.claims] == [Verdict.UNKNOWN, Verdict.ENTAILED]
    assert not any(c.first_conflict for c in results.claims)


def test_what_is_not_surely_read_contradicts_nothing_and_enters_no_context() -> None:
    ontology = LIBRARY.ontology("nine-way")
    scene = [(1, [(0, "above", 1)])]
    wrong, right, open_ = [(0, "below", 1)], [(1, "below", 0)], [(2, "left", 0)]
    claims = [ClaimInput(claim, sure=False) for claim in (wrong, right, open_)]
    claims += [ClaimInput([(2, "right", 0)]), ClaimInput(wrong)]
    result = audit_relations(ontology, scene, claims)
    assert [(c.verdict, c.grounded) for c in result.claims] == [
        (Verdict.UNKNOWN, Verdict.UNKNOWN),
        (Verdict.ENTAILED, Verdict.ENTAILED),
        (Verdict.UNKNOWN, Verdict.UNKNOWN),
        (Verdict.UNKNOWN, Verdict.UNKNOWN),
        (Verdict.CONTRADICTED, Verdict.CONTRADICTED),
    ]
    assert [c.reason for c in result.claims[:3]] == ["uncertain", "restated", "unknown"]
    assert [c.first_conflict for c in result.claims] == [False, False, False, False, True]
    # The same of claims about worlds.
    claims = [ClaimInput(wrong, stance, sure=False) for stance in ("necessary", "possible")]
    result = audit_relations(ontology, scene, claims)
    assert [c.verdict for c in result.claims] == [Verdict.UNKNOWN, Verdict.UNKNOWN]
    assert [c.reason for c in result.claims] == ["uncertain", "uncertain"]


def test_claims_about_worlds_after_a_conflict_have_their_own_grounded_verdict() -> None:
    ontology = LIBRARY.ontology("nine-way")
    wrong, ruled_out = [(0, "below", 1)], [(0, "left", 1)]
    scene = [(1, [(0, "above", 1)])]
    claims = [ClaimInput(wrong), ClaimInput(ruled_out, "impossible")]
    results = audit_relations(ontology, scene, claims)
    assert [c.verdict for c in results.claims] == [Verdict.CONTRADICTED, Verdict.NOT_EVALUABLE]
    assert results.claims[1].grounded is Verdict.ENTAILED
