"""Scenes of maps and pictures: what geometry says is what the audit decides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from symbouq_cli.main import main

import symbouq

pytest.importorskip("shapely", reason="shapely is not installed (extra `geo`)")

import shapely

from symbouq.errors import RecordError
from symbouq.integrations.geometry import (
    PROFILE,
    Thing,
    map_scene,
    maps,
    picture_scene,
    pictures,
    rcc8,
)

box = shapely.box
NAMES = ("Green Park", "the mill", "Swan Lake", "the quarry")


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


def test_a_map_in_sentences() -> None:
    things = [
        Thing("Green Park", box(0, 0, 10, 10)),
        Thing("Swan Lake", box(2, 2, 4, 4)),
        Thing("the mill", box(10, 12, 14, 16)),
    ]
    assert map_scene(things) == [
        "Swan Lake is inside Green Park.",
        "Green Park is disconnected from the mill.",
        "Green Park is to the southwest of the mill.",
        "Swan Lake is disconnected from the mill.",
        "Swan Lake is to the southwest of the mill.",
    ]


def test_a_picture_in_sentences() -> None:
    things = [Thing("the dog", box(0, 0, 10, 10)), Thing("the cup", box(9, 12, 20, 20))]
    assert picture_scene(things) == ["The dog is above the cup."]
    # A tenth of the dog, and of the cup less, reaches over the other.
    assert picture_scene(things, 0.2) == ["The dog is to the upper left of the cup."]


squares = st.builds(
    lambda x, y, w, h: box(x, y, x + w, y + h),
    *(st.integers(0, 8), st.integers(0, 8), st.integers(1, 6), st.integers(1, 6)),
)
OPPOSITE = {
    "is inside": "is outside of", "is disconnected from": "is touching",
    "is touching": "is disconnected from", "is overlapping with": "is disconnected from",
    "north": "south", "south": "north", "east": "west", "west": "east",
}  # fmt: skip


def opposite(sentence: str) -> str | None:
    for said, other in OPPOSITE.items():
        if said in sentence:
            return sentence.replace(said, other)
    return None  # in the same place


def verdicts(scene: Sequence[str], claims: Sequence[str]) -> list[str]:
    found = symbouq.audit(list(scene), list(claims), profile=PROFILE)
    assert found.scene.feasible
    return [claim.grounded_verdict for claim in found.claims]


@settings(max_examples=25, deadline=None)
@given(st.lists(squares, min_size=2, max_size=4))
def test_what_a_map_says_is_entailed_and_the_opposite_contradicted(places: list[Any]) -> None:
    scene = map_scene([Thing(name, place) for name, place in zip(NAMES, places, strict=False)])
    assert set(verdicts(scene, scene)) == {"entailed"}
    against = [claim for sentence in scene if (claim := opposite(sentence))]
    if against:
        assert set(verdicts(scene, against)) == {"contradicted"}


def written(folder: Path, name: str, content: Any) -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def feature(name: str | None, place: Any) -> dict[str, Any]:
    geometry = json.loads(shapely.to_geojson(place))
    return {"type": "Feature", "properties": {"name": name}, "geometry": geometry}


def test_files_of_maps(tmp_path: Path) -> None:
    features = [feature("Green Park", box(0, 0, 9, 9)), feature("the mill", shapely.Point(20, 4))]
    collection = {"type": "FeatureCollection", "features": features}
    done = CliRunner().invoke(
        main, ["scenes", "import", str(written(tmp_path, "city.geojson", collection))]
    )
    record = json.loads(done.output)
    assert (record["id"], record["profile"]) == ("city", PROFILE)
    assert record["scene"][1] == "Green Park is to the west of the mill."
    lines = f"Green Park\t{box(0, 0, 9, 9).wkt}\n\nthe mill\tPOINT (20 4)\n"
    assert map_scene(maps(written(tmp_path, "city.wkt", lines))) == record["scene"]


def test_files_of_boxes(tmp_path: Path) -> None:
    boxes = [
        (1, 7, [0, 0, 10, 10]),
        (1, 8, [20, 2, 4, 4]),
        (1, 8, [20, 12, 4, 4]),
        (2, 7, [0, 0, 1, 1]),
    ]
    coco = {
        "images": [{"id": 1}, {"id": 2}, {"id": 3}],
        "categories": [{"id": 7, "name": "dog"}, {"id": 8, "name": "cup"}],
        "annotations": [{"image_id": i, "category_id": c, "bbox": b} for i, c, b in boxes],
    }
    file = written(tmp_path, "coco.json", coco)
    assert [(name, len(things)) for name, things in pictures(file)] == [
        ("1", 3),
        ("2", 1),
        ("3", 0),
    ]
    done = CliRunner().invoke(main, ["scenes", "import", str(file)])
    first, second, _ = map(json.loads, done.output.splitlines())
    assert first["scene"] == [
        "The dog is to the left of the cup 1.",
        "The dog is to the upper left of the cup 2.",
        "The cup 1 is above the cup 2.",
    ]
    assert (first["id"], second["scene"]) == ("coco-1", [])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.geojson", "{", "expected GeoJSON"),
        ("m.geojson", {"features": [feature(None, box(0, 0, 1, 1))]}, "feature 1 needs a name"),
        (
            "m.geojson",
            {"features": [{"id": "A", "geometry": {"type": "Blob"}}]},
            "feature 1 needs a",
        ),
        ("m.geojson", {"features": ["A"]}, "feature 1 needs a name and a geometry"),
        (
            "m.geojson",
            {"features": [feature("A", box(0, 0, 1, 1))] * 2},
            "two things are called 'a'",
        ),
        ("m.wkt", "the mill POINT (1 2)", "m.wkt:1: expected a name, a tab"),
        ("m.wkt", "the mill\tPOINT (1", "m.wkt:1: expected a name, a tab"),
        (
            "m.json",
            {"annotations": [{}], "images": [], "categories": []},
            "expected annotations of COCO",
        ),
    ],
)
def test_faults_are_told(tmp_path: Path, name: str, content: Any, message: str) -> None:
    done = CliRunner().invoke(main, ["scenes", "import", str(written(tmp_path, name, content))])
    assert done.exit_code == 2
    assert message in done.output


def test_a_map_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="expected GeoJSON"):
        maps(written(tmp_path, "x.json", []))
