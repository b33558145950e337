"""Possible worlds against an independent reading, models, and cases worked out by hand."""

from __future__ import annotations

from itertools import product

import pytest
from helpers import reference_regions as reference
from helpers.reference_regions import (
    BASE,
    BLOCKS,
    COMPASS,
    READINGS,
    TILES,
    Case,
    Relation,
    cases,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from symbouq.logic.worlds import Worlds, composition_table, pair_worlds, worlds
from symbouq.ontology.library import OntologyLibrary

LIBRARY = OntologyLibrary()
EXCLUSION = {"not_inside", "not_contains"}


def names_of(profile: str) -> list[str]:
    """The relations that package and reference both read, in the ontology's order."""
    return [r for r in LIBRARY.ontology(profile).relations.family if r in READINGS[profile].names]


def found_worlds(
    profile: str, scene: list[Relation], pair: tuple[int, int], relations: list[str] | None = None
) -> tuple[set[str], set[str]]:
    """The possible and the certain relations of a pair in a feasible scene."""
    found = worlds(LIBRARY.ontology(profile), scene, pair, relations)
    assert found is not None
    return set(found.possible), set(found.certain)


def test_reference_reads_every_relation_of_the_profiles() -> None:
    """Stated exclusion between blocks, the hull of several things, a direction that follows
    from another relation, height of its own, what bears a thing, sides of things, of their insides and of blocks, distances and places for one thing are left to cases worked out by hand.
    """
    by_hand = {"between", "spans", "spanned_by", "superimposed_on", "not_overlap"}
    by_hand |= {"apart", "one_of", "lists", "listed"}
    by_hand |= {
        f"{of}_{side}" for of in ("at", "in") for side in ("top", "bottom", "left", "right")
    }
    by_hand |= {f"at_{v}_{h}_edge" for v in ("top", "bottom") for h in ("left", "right")}
    by_hand |= {"borne_by", "borne_all_round"}
    by_hand |= {"up_from", "down_from", "overhead", "underfoot", "standing_on", "bearing"}
    for profile, reading in READINGS.items():
        family = LIBRARY.ontology(profile).relations.family
        left = set(family) ^ set(reading.names)
        words = {r for r in family if family[r] == "direction"} if profile == "cdc" else set()
        words |= {r for r in family if family[r] == "inner_side"}
        assert left <= by_hand | words | (EXCLUSION if profile in BLOCKS else set())


TILE_NAMES = ["n", "ne", "e", "se", "s", "sw", "w", "nw", "b"]


# Random scenes -------------------------------------------------------------------------


def _agree(profile: str, case: Case, pairs: list[tuple[int, int]]) -> None:
    names = names_of(profile)
    found = pair_worlds(LIBRARY.ontology(profile), case.scene, pairs, names)
    assert list(found) == list(dict.fromkeys(pairs))
    for pair in pairs:
        expected = READINGS[profile].worlds(case.scene, pair, names)
        if expected is None:
            assert found[pair] is None
        else:
            possible, certain = expected
            ordered = Worlds(
                tuple(r for r in names if r in possible), tuple(r for r in names if r in certain)
            )
            assert found[pair] == ordered


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["half-plane", "babi"])
@given(st.data())
@settings(max_examples=300, derandomize=True)
def test_half_planes_agree_with_plain_python(profile: str, data: st.DataObject) -> None:
    _agree_on_two_pairs(profile, data)


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["rcc8", "cdc"])
@given(st.data())
@settings(max_examples=400, derandomize=True)
def test_regions_agree_with_plain_python(profile: str, data: st.DataObject) -> None:
    _agree_on_two_pairs(profile, data)


@pytest.mark.slow
@pytest.mark.parametrize("profile", BLOCKS)
@given(st.data())
@settings(max_examples=200, derandomize=True)
def test_blocks_agree_with_plain_python(profile: str, data: st.DataObject) -> None:
    _agree_on_two_pairs(profile, data)


def _agree_on_two_pairs(profile: str, data: st.DataObject) -> None:
    case = data.draw(cases(profile))
    pairs = data.draw(st.lists(case.pairs(), min_size=2, max_size=2))
    _agree(profile, case, pairs)


@pytest.mark.slow
@pytest.mark.parametrize("profile", list(READINGS))
@given(st.data())
@settings(max_examples=100, derandomize=True)
def test_what_is_certain_is_true_and_what_is_true_is_possible(
    profile: str, data: st.DataObject
) -> None:
    """In a model of the scene: points, cells on a line, rectangles or boxes."""
    case = data.draw(cases(profile, modelled=True))
    pair = data.draw(case.pairs())
    possible, certain = found_worlds(profile, list(case.scene), pair)
    true = {r for u, r, v in case.truths if (u, v) == pair}
    modelled = {r for _, r, _ in case.truths}
    assert true <= possible
    assert certain & modelled <= true


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from(sorted(TILES)), st.integers(0, 2)), max_size=5
    ),
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
)
@settings(max_examples=300, derandomize=True)
def test_tiles_agree_with_all_boxes(scene: list[Relation], pair: tuple[int, int]) -> None:
    expected = reference.tiles_by_enumeration(scene, pair)
    found = worlds(LIBRARY.ontology("cdc"), scene, pair, TILE_NAMES)
    assert (found and (set(found.possible), set(found.certain))) == expected


# Composition tables --------------------------------------------------------------------


def test_derived_composition_is_that_of_the_literature() -> None:
    """The table of RCC-8 has 193 entries; more cells to the regions add none."""
    table = reference.COMPOSITION
    assert sum(label.bit_count() for row in table for label in row) == 193
    assert reference.derived_composition(6) == table
    at = {name: n for n, name in enumerate(BASE)}
    for first, second, expected in [
        ("dc", "dc", BASE),
        ("ec", "ec", ("dc", "ec", "po", "tpp", "tppi", "eq")),
        ("ec", "ntppi", ("dc",)),
        ("po", "ntpp", ("po", "tpp", "ntpp")),
        ("tpp", "tpp", ("tpp", "ntpp")),
        ("tpp", "tppi", ("dc", "ec", "po", "tpp", "tppi", "eq")),
        ("tppi", "tpp", ("po", "tpp", "tppi", "eq")),
        ("ntpp", "ntppi", BASE),
        ("ntppi", "ntpp", ("po", "tpp", "ntpp", "tppi", "ntppi", "eq")),
    ]:
        assert table[at[first]][at[second]] == reference.mask(*expected)


def test_rcc8_composition_table() -> None:
    """64 of 64 cells."""
    found = composition_table(LIBRARY.ontology("rcc8"), "rcc8")
    assert len(found) == 64
    for (first, second), cell in found.items():
        expected = reference.composed(reference.mask(first), reference.mask(second))
        assert reference.mask(*cell) == expected


def test_point_directions_compose_by_sign() -> None:
    """81 of 81 cells: on each axis equal signs stay, zero yields, opposite signs leave all."""

    def joined(first: int, second: int) -> set[int]:
        if first == second or second == 0:
            return {first}
        return {second} if first == 0 else {-1, 0, 1}

    found = composition_table(LIBRARY.ontology("nine-way"), "direction")
    assert set(found) == set(product(COMPASS, repeat=2))
    for (first, second), cell in found.items():
        (x, y), (v, w) = COMPASS[first], COMPASS[second]
        signs = set(product(joined(x, v), joined(y, w)))
        assert set(cell) == {name for name, vector in COMPASS.items() if vector in signs}


def test_tile_composition_table() -> None:
    """81 of 81 cells, against all boxes of three things."""
    found = composition_table(LIBRARY.ontology("cdc"), "cardinal")
    assert len(found) == 81
    for (first, second), cell in found.items():
        expected = reference.tiles_by_enumeration([(0, first, 1), (1, second, 2)], (0, 2))
        assert expected is not None
        assert set(cell) == expected[0]


@pytest.mark.parametrize("profile", ["half-plane", "babi", *BLOCKS])
def test_direction_composition_tables(profile: str) -> None:
    """Directions that do not exclude each other: 81 of 81 cells against the reading."""
    found = composition_table(LIBRARY.ontology(profile), "direction")
    assert len(found) == 81
    for (first, second), cell in found.items():
        scene = [(0, first, 1), (1, second, 2)]
        expected = READINGS[profile].worlds(scene, (0, 2), COMPASS)
        assert expected is not None
        assert set(cell) == expected[0]


def test_composition_table_of_an_absent_family() -> None:
    with pytest.raises(KeyError, match="cardinal"):
        composition_table(LIBRARY.ontology("nine-way"), "cardinal")


# Tables of single pairs ------------------------------------------------------------------


@pytest.mark.parametrize(
    "profile",
    [
        p if p in ("nine-way", "babi", "rcc8", "cdc") else pytest.param(p, marks=pytest.mark.slow)
        for p in LIBRARY.profiles
    ],
)
def test_tables_of_a_pair_agree_with_its_worlds(profile: str) -> None:
    """Where a table says that one relation suffices for another, or excludes it, it is so."""
    ontology = LIBRARY.ontology(profile)
    for relation in ontology.relations.family:
        possible, certain = found_worlds(profile, [(0, relation, 1)], (0, 1))
        assert {s for r, s in ontology.relations.suffices if r == relation} <= certain
        assert not ontology.relations.excludes.get(relation, frozenset()) & possible


@pytest.mark.parametrize(
    ("profile", "one", "other"), [("cdc", "n", "s"), *((p, "left", "right") for p in BLOCKS)]
)
def test_opposite_directions_of_extents_exclude_each_other(
    profile: str, one: str, other: str
) -> None:
    assert other not in found_worlds(profile, [(0, one, 1)], (0, 1))[0]
    assert other in LIBRARY.ontology(profile).relations.excludes.get(one, frozenset())


# By hand -------------------------------------------------------------------------------

DIRECTIONS = list(COMPASS)


@pytest.mark.parametrize(
    ("profile", "scene", "pair", "possible", "certain"),
    [
        # A half-plane leaves the other axis open, a diagonal is two half-planes.
        (
            "half-plane",
            [(0, "above", 1)],
            (0, 1),
            {"above", "left", "right", "upper_left", "upper_right"},
            {"above"},
        ),
        (
            "half-plane",
            [(0, "upper_left", 1)],
            (0, 1),
            {"above", "left", "upper_left"},
            {"above", "left", "upper_left"},
        ),
        ("half-plane", [(0, "same_position", 1)], (1, 0), {"same_position"}, {"same_position"}),
        (
            "half-plane",
            [(0, "above", 1), (1, "left", 2)],
            (0, 2),
            set(COMPASS),
            set(),
        ),
        ("half-plane", [(0, "front", 1)], (0, 1), set(COMPASS), set()),
        # bAbI: the scene's direction keeps to the row or the column.
        ("babi", [(0, "above", 1)], (0, 1), {"above"}, {"above"}),
        (
            "babi",
            [(0, "above", 1), (1, "left", 2)],
            (0, 2),
            {"above", "left", "upper_left"},
            {"above", "left", "upper_left"},
        ),
        (
            "babi",
            [(0, "above", 1), (2, "above", 1)],
            (0, 2),
            {"above", "below", "same_position"},
            set(),
        ),
        # Blocks with an extent: wholly on one side, and parts with the whole.
        (
            "spartun",
            [(0, "inside", 1), (1, "left", 2)],
            (0, 2),
            {"left", "above", "below", "upper_left", "lower_left"},
            {"left"},
        ),
        (
            "spartun",
            [(0, "left", 1), (2, "ntpp", 1)],
            (0, 2),
            {"left", "above", "below", "upper_left", "lower_left"},
            {"left"},
        ),
        # The whole reaches as far left as its part, but may reach further right.
        (
            "spartun",
            [(0, "part", 1), (0, "left", 2)],
            (1, 2),
            {"left", "above", "below", "upper_left", "lower_left"},
            set(),
        ),
        ("spartun", [(0, "part", 1)], (0, 1), {"same_position"}, set()),
        ("spartun", [(0, "ntpp", 1)], (0, 1), set(), set()),
        ("spartun", [(0, "eq", 1)], (0, 1), {"same_position"}, {"same_position"}),
    ],
)
def test_directions_by_hand(
    profile: str,
    scene: list[Relation],
    pair: tuple[int, int],
    possible: set[str],
    certain: set[str],
) -> None:
    assert found_worlds(profile, scene, pair, DIRECTIONS) == (possible, certain)


@pytest.mark.parametrize(
    ("scene", "possible", "certain"),
    [
        ([], {*BASE}, set()),
        ([(0, "tpp", 1), (1, "tpp", 2)], {"tpp", "ntpp"}, set()),
        ([(0, "tpp", 1), (1, "ntpp", 2)], {"ntpp"}, {"ntpp"}),
        ([(0, "ntpp", 1), (1, "ec", 2)], {"dc"}, {"dc"}),
        ([(0, "tpp", 1), (1, "ec", 2)], {"dc", "ec"}, set()),
        ([(1, "tpp", 0), (1, "tpp", 2)], {"po", "tpp", "tppi", "eq"}, set()),
        ([(0, "part", 2), (0, "whole", 2)], {"eq"}, {"eq"}),
        ([(0, "part", 1), (1, "interior_part", 2)], {"ntpp"}, {"ntpp"}),
        # What stays off the whole stays off its part.
        ([(0, "dc", 1), (2, "part", 1)], {"dc"}, {"dc"}),
        # Each way leaves several, both ways together one.
        ([(0, "tpp", 1), (1, "tpp", 2), (0, "ec", 3), (3, "ec", 2)], {"tpp"}, {"tpp"}),
    ],
)
def test_regions_by_hand(scene: list[Relation], possible: set[str], certain: set[str]) -> None:
    assert found_worlds("rcc8", scene, (0, 2), list(BASE)) == (possible, certain)


@pytest.mark.parametrize(
    ("scene", "pair", "possible", "certain"),
    [
        ([(0, "n", 1)], (0, 1), {"n"}, {"n"}),
        # South, but 1 may reach beyond the column of 0.
        ([(0, "n", 1)], (1, 0), {"s"}, set()),
        ([(0, "ne", 1)], (1, 0), {"sw"}, {"sw"}),
        # Within the box of 1 and not larger: never on a side of it.
        ([(0, "b", 1)], (1, 0), {"b"}, set()),
        ([(0, "b", 1), (1, "b", 0)], (0, 1), {"b"}, {"b"}),
        ([(0, "n", 1), (1, "n", 2)], (0, 2), {"n"}, {"n"}),
        ([(0, "b", 1), (1, "ne", 2)], (0, 2), {"ne"}, {"ne"}),
        ([(0, "n", 1), (1, "e", 2)], (0, 2), {"e", "ne"}, set()),
        ([(0, "n", 1), (1, "s", 2)], (0, 2), {"n", "b", "s"}, set()),
        ([], (0, 0), {"b"}, {"b"}),
    ],
)
def test_tiles_by_hand(
    scene: list[Relation], pair: tuple[int, int], possible: set[str], certain: set[str]
) -> None:
    assert found_worlds("cdc", scene, pair, TILE_NAMES) == (possible, certain)


@pytest.mark.parametrize(
    ("profile", "scene"),
    [
        ("half-plane", [(0, "above", 1), (1, "above", 2), (2, "upper_left", 0)]),
        ("half-plane", [(0, "front", 0)]),
        ("babi", [(0, "above", 1), (0, "left", 1)]),
        ("rcc8", [(0, "ntpp", 1), (1, "po", 2), (0, "eq", 2)]),
        ("rcc8", [(0, "dc", 0)]),
        ("rcc8", [(0, "part", 1), (1, "part", 2), (2, "ntpp", 0)]),
        ("cdc", [(0, "s", 1), (1, "b", 0)]),
        ("spartun", [(0, "left", 1), (1, "left", 0)]),
        ("spartun", [(0, "inside", 1), (1, "left", 2), (0, "right", 2)]),
        ("spartun", [(0, "inside", 1), (1, "far", 2), (0, "near", 2)]),
        ("spartun", [(0, "ntpp", 1), (0, "same_position", 1)]),
    ],
)
def test_no_world(profile: str, scene: list[Relation]) -> None:
    pairs = [(0, 1), (1, 0), (0, 2)]
    assert pair_worlds(LIBRARY.ontology(profile), scene, pairs) == dict.fromkeys(pairs)


@pytest.mark.parametrize(
    ("profile", "scene"),
    [
        ("half-plane", [(0, "above", 1), (0, "left", 1), (0, "behind", 1)]),
        ("half-plane", [(0, "same_position", 1), (0, "front", 1)]),
        ("cdc", [(0, "b", 1), (1, "b", 0)]),
        # Borders may touch: 0, 1 and 2 stand side by side.
        ("spartun", [(0, "left", 1), (0, "touching", 1), (1, "left", 2), (1, "touching", 2)]),
        ("spartun", [(0, "tpp", 1), (0, "same_position", 1)]),
        ("spartun", [(0, "inside", 1), (0, "far", 2), (1, "near", 2)]),
    ],
)
def test_some_world(profile: str, scene: list[Relation]) -> None:
    assert worlds(LIBRARY.ontology(profile), scene, (0, 1)) is not None


def test_all_relations_of_the_profile_are_asked_by_default() -> None:
    ontology = LIBRARY.ontology("cdc")
    found = worlds(ontology, [], (0, 1))
    assert found == Worlds(tuple(ontology.relations.family), ())
    assert worlds(ontology, [], (0, 1), ["w", "n"]) == Worlds(("w", "n"), ())


def test_latest_place_wins_in_the_worlds_of_a_story() -> None:
    scene = [(0, "at", 1), (0, "at", 2)]
    ontology = LIBRARY.ontology("story")
    assert worlds(ontology, scene, (0, 2), ["at"]) == Worlds(("at",), ("at",))
    assert worlds(ontology, scene, (0, 1), ["at"]) == Worlds((), ())


@pytest.mark.parametrize(
    ("stated", "certain", "impossible"),
    [
        ("at_top", {"at_top", "above"}, {"below", "at_bottom"}),
        ("at_left", {"at_left", "left"}, {"right", "at_right"}),
        ("in_bottom", {"in_bottom", "proper_part"}, {"below", "ec", "eq"}),
        (
            "at_bottom_right_edge",
            {"at_bottom_right_edge", "at_bottom_edge", "at_right_edge", "tpp"},
            {"ntpp", "ec", "below"},
        ),
    ],
)
def test_sides_of_things_and_of_blocks(
    stated: str, certain: set[str], impossible: set[str]
) -> None:
    found = found_worlds("spartun", [(0, stated, 1)], (0, 1), [*certain, *impossible])
    assert found == (certain, certain)
    converse = {"at_top": "at_bottom", "at_left": "at_right"}.get(stated)
    if converse is not None:
        turned = found_worlds("spartun", [(0, stated, 1)], (1, 0), [stated, converse])
        assert turned == ({converse}, {converse})


@pytest.mark.parametrize(
    "scene",
    [
        [(0, "ntpp", 1)],
        [(0, "tpp", 1)],
        [(0, "tpp", 2), (2, "ntpp", 1)],
        [(0, "interior_part", 1)],
        [(0, "at_corner", 1)],
    ],
)
def test_what_is_inside_is_not_outside(scene: list[Relation]) -> None:
    possible, certain = found_worlds("spartun", scene, (0, 1), ["inside", "not_inside"])
    assert certain == {"inside"}
    assert possible == {"inside"}


def test_equals_that_follow_are_equally_near() -> None:
    scene = [(0, "part", 1), (1, "part", 0), (1, "near", 2)]
    assert found_worlds("spartun", scene, (0, 1), ["eq"]) == ({"eq"}, {"eq"})
    assert found_worlds("spartun", scene, (0, 2), ["near", "far"]) == ({"near"}, {"near"})
