"""How things lie in sentences: what geometry says is what the audit decides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symbouq

pytest.importorskip("shapely", reason="shapely is not installed (extra `geo`)")

import shapely

from symbouq.integrations.geometry.maps import on_map
from symbouq.integrations.geometry.pictures import in_picture
from symbouq.integrations.geometry.spaces import Box, in_space
from symbouq.integrations.geometry.things import (
    PROFILE,
    Thing,
    distinct,
    numbered,
    rcc8,
    topology,
)
from symbouq.integrations.geometry.things import (
    scene as related,
)

box = shapely.box
NAMES = ("the park", "the mill", "the lake", "the quarry")


def scene(*things: Any, **options: Any) -> list[str]:
    return [sentence for sentence, _ in related(*things, **options)]


def cuboid(name: str, center: Any, size: Any, yaw: float = 0.0) -> Thing:
    return in_space(name, Box(name=name, center=center, size=size, yaw=yaw))


@pytest.mark.parametrize(
    ("second", "relation"),
    [
        (box(0, 0, 10, 10), "eq"),
        (box(20, 0, 30, 10), "dc"),
        (box(10, 0, 20, 10), "ec"),
        (box(10, 10, 20, 20), "ec"),  # at a corner
        (box(5, 5, 15, 15), "po"),
        (box(0, 0, 5, 5), "tppi"),
        (box(2, 2, 5, 5), "ntppi"),
        (box(0, 0, 20, 20), "tpp"),
        (box(-5, -5, 20, 20), "ntpp"),
        (shapely.Point(5, 5), "ntppi"),
        (shapely.Point(0, 5), "ec"),
        (shapely.LineString([(-5, 5), (15, 5)]), "po"),
    ],
)
def test_topology_by_de_9im(second: Any, relation: str) -> None:
    assert rcc8(box(0, 0, 10, 10), second) == relation
    converse = {"tpp": "tppi", "tppi": "tpp", "ntpp": "ntppi", "ntppi": "ntpp"}
    if second.geom_type == "Polygon":
        assert rcc8(second, box(0, 0, 10, 10)) == converse.get(relation, relation)


@pytest.mark.parametrize(
    ("center", "size", "relation"),
    [
        ((0, 0, 0), (2, 2, 2), "eq"),
        ((0, 0, 0), (1, 1, 1), "ntppi"),
        ((0, 0, 0), (2, 1, 1), "tppi"),  # from side to side
        ((0, 0, 0), (2, 2, 4), "tpp"),
        ((0, 0, 0), (4, 4, 4), "ntpp"),
        ((0, 0, 0), (1, 1, 4), "po"),  # thinner and higher
        ((0, 0, 2), (1, 1, 2), "ec"),  # upon it
        ((2, 0, 2), (2, 2, 2), "ec"),  # at an edge
        ((0, 0, 2.1), (1, 1, 2), "dc"),
        ((1, 1, 1), (1, 1, 1), "po"),
    ],
)
def test_topology_in_space(center: Any, size: Any, relation: str) -> None:
    first = cuboid("the box", (0, 0, 0), (2, 2, 2))
    assert topology(first, cuboid("the cup", center, size)) == relation


def test_a_map_in_sentences() -> None:
    things = [
        on_map("Green Park", box(0, 0, 10, 10)),
        on_map("Swan Lake", box(2, 2, 4, 4)),
        on_map("the mill", box(10, 12, 14, 16)),
    ]
    assert scene(things, compass=True) == [
        "Swan Lake is inside Green Park.",
        "Green Park is disconnected from the mill.",
        "Green Park is to the southwest of the mill.",
        "Swan Lake is disconnected from the mill.",
        "Swan Lake is to the southwest of the mill.",
    ]


def test_a_picture_in_sentences() -> None:
    things = [in_picture("the dog", 0, 0, 10, 10), in_picture("the cup", 9, 12, 11, 8)]
    assert scene(things) == ["The dog is above the cup."]
    # A tenth of the dog, and of the cup less, reaches over the other.
    assert scene(things, tolerance=0.2) == ["The dog is to the upper left of the cup."]


def test_a_space_in_sentences() -> None:
    things = [
        cuboid("the table", (0, 2, 0.45), (1, 1, 0.9)),
        cuboid("the cup", (0, 2, 0.95), (0.1, 0.1, 0.1)),
        cuboid("the lamp", (2, 4, 1), (0.2, 0.2, 0.2)),
    ]
    table_and_cup = ["The table is touching the cup.", "The table is below the cup."]
    assert scene(things) == [
        *table_and_cup,
        "The table is disconnected from the lamp.",
        "The table is to the lower left of the lamp.",
        "The table is in front of the lamp.",
        "The cup is disconnected from the lamp.",
        "The cup is in front of the lamp.",
        "The cup is to the left of the lamp.",
    ]
    # Whether they touch hangs on a tolerance.
    assert scene(things[:2], tolerance=0.1) == table_and_cup[1:]
    assert scene(things, told=lambda name: name == "the cup")[-3:] == scene(things)[-3:]
    assert len(scene(things, told=lambda name: name == "the cup")) == 5


def test_a_turned_box_is_taken_as_it_is() -> None:
    """Its bounding box reaches the cup, and it does not."""
    board = cuboid("the board", (0, 0, 0), (2 * math.sqrt(2), 0.2, 1), yaw=math.pi / 4)
    cup = cuboid("the cup", (0.5, -0.5, 0), (0.2, 0.2, 0.2))
    assert scene([board, cup]) == ["The board is disconnected from the cup."]
    assert board.ends["x"] == pytest.approx((-1 - 0.1 / math.sqrt(2), 1 + 0.1 / math.sqrt(2)))


def test_points_in_line_are_on_no_side_of_each_other() -> None:
    stops = [on_map(n, shapely.Point(5, y)) for n, y in (("the mill", 0), ("the quarry", 9))]
    assert scene(stops, compass=True)[1:] == ["The mill is to the south of the quarry."]
    # The stop at the westernmost bend of a road is on it, and not west of it.
    road = on_map("the road", shapely.LineString([(9, 0), (5, 4), (9, 9)]))
    stop = on_map("the stop", shapely.Point(5, 4))
    assert scene([stop, road], compass=True) == ["The stop is inside the road."]


def test_nothing_is_said_of_nothing() -> None:
    assert scene([]) == scene([in_picture("the dog", 0, 0, 1, 1)]) == []


def test_names_of_several() -> None:
    assert numbered(["dog", "cup", "Cup"]) == ["the dog", "the cup 1", "the Cup 2"]
    names = numbered(["cup", "cup", "cup 1"])
    things = distinct([in_picture(name, 0, 0, 1, 1) for name in names])
    assert [each.name for each in things] == ["the cup 1 1", "the cup 2", "the cup 1 2"]


places = st.tuples(st.integers(0, 8), st.integers(0, 8))
sizes = st.tuples(st.integers(1, 6), st.integers(1, 6))
rectangles = st.builds(lambda at, size: (*at, *size), places, sizes)
regions = st.one_of(
    st.builds(lambda x, y, w, h: box(x, y, x + w, y + h), *[st.integers(1, 6)] * 4),
    st.lists(places, min_size=3, max_size=6)
    .map(lambda points: shapely.MultiPoint(points).convex_hull)
    .filter(lambda hull: not hull.is_empty),
    places.map(shapely.Point),
    st.lists(places, min_size=2, max_size=4, unique=True).map(shapely.LineString),
)
cuboids = st.builds(
    lambda at, plan, z, height, yaw: ((*at, z), (*plan, height), yaw * math.pi / 8),
    places, sizes, st.integers(0, 6), st.integers(1, 4), st.integers(0, 8),
)  # fmt: skip
tolerances = st.sampled_from([0.0, 0.0, 0.1, 0.5])
OPPOSITE = {
    "is inside": "is outside of", "is disconnected from": "is touching",
    "is touching": "is disconnected from", "is overlapping with": "is disconnected from",
    "north": "south", "south": "north", "east": "west", "west": "east",
    "upper left": "lower right", "lower right": "upper left",
    "upper right": "lower left", "lower left": "upper right",
    "to the left": "to the right", "to the right": "to the left",
    "above": "below", "below": "above", "in front of": "behind", "behind": "in front of",
}  # fmt: skip


def opposite(sentence: str) -> str | None:
    for said, other in OPPOSITE.items():
        if said in sentence:
            return sentence.replace(said, other)
    assert "at the same position as" in sentence
    return None


def verdicts(sentences: Sequence[str], claims: Sequence[str]) -> list[str]:
    found = symbouq.audit(list(sentences), list(claims), profile=PROFILE)
    assert found.scene.feasible
    return [claim.grounded_verdict for claim in found.claims]


def decided(sentences: Sequence[str]) -> None:
    """Asserts that what is said is entailed, and the opposite contradicted."""
    if sentences:
        assert set(verdicts(sentences, sentences)) == {"entailed"}
    against = [claim for sentence in sentences if (claim := opposite(sentence))]
    if against:
        assert set(verdicts(sentences, against)) == {"contradicted"}


@settings(max_examples=25)
@given(st.lists(regions, min_size=2, max_size=4), tolerances)
def test_what_a_map_says_is_entailed_and_the_opposite_contradicted(
    found: list[Any], tolerance: float
) -> None:
    things = [on_map(name, place) for name, place in zip(NAMES, found, strict=False)]
    decided(scene(things, compass=True, tolerance=tolerance))


@settings(max_examples=25)
@given(st.lists(rectangles, min_size=2, max_size=4), tolerances)
def test_what_a_picture_says_is_entailed_and_the_opposite_contradicted(
    found: list[Any], tolerance: float
) -> None:
    things = [in_picture(name, *each) for name, each in zip(NAMES, found, strict=False)]
    decided(scene(things, tolerance=tolerance))


@settings(max_examples=25)
@given(st.lists(cuboids, min_size=2, max_size=4), tolerances)
def test_what_a_space_says_is_entailed_and_the_opposite_contradicted(
    found: list[Any], tolerance: float
) -> None:
    things = [cuboid(name, *each) for name, each in zip(NAMES, found, strict=False)]
    decided(scene(things, tolerance=tolerance))


def test_what_many_things_do_is_what_each_pair_does() -> None:
    """The index leaves out no pair."""
    things = [on_map(f"the mill {n}", box(n, n % 7, n + 3, n % 7 + 3)) for n in range(30)]
    pairs = [(a, b) for i, a in enumerate(things) for b in things[i + 1 :]]
    assert scene(things) == [sentence for pair in pairs for sentence in scene(pair)]
