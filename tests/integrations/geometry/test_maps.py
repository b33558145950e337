"""Files of maps as scenes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from symbouq_cli import scenes as command
from symbouq_cli.main import main

pytest.importorskip("shapely", reason="shapely is not installed (extra `geo`)")

import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import box

from symbouq.api import TraceAuditor
from symbouq.errors import RecordError
from symbouq.integrations.geometry import FORMATS, PROFILE, scenes
from symbouq.records import Trace


def written(folder: Path, name: str, content: Any) -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def feature(name: str | None, place: Any) -> dict[str, Any]:
    geometry = json.loads(shapely.to_geojson(place))
    return {"type": "Feature", "properties": {"name": name}, "geometry": geometry}


FEATURES = [feature("Green Park", box(0, 0, 9, 9)), feature("the mill", shapely.Point(20, 4))]
LINES = f"Green Park\t{box(0, 0, 9, 9).wkt}\n\nthe mill\tPOINT (20 4)\n"
RELATIONS = [
    {"subject": "Green Park", "relation": name, "object": "the mill", "sentence": n}
    for n, name in enumerate(("dc", "left"), start=1)
]
SCENE = ["Green Park is disconnected from the mill.", "Green Park is to the west of the mill."]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("city.geojson", {"type": "FeatureCollection", "features": FEATURES}),
        ("city.json", {"features": [{**FEATURES[0], "id": 7}, FEATURES[1]]}),
        ("city.wkt", LINES),
        ("city.txt", LINES),
    ],
)
def test_files_of_maps(tmp_path: Path, name: str, content: Any) -> None:
    done = CliRunner().invoke(main, ["scenes", "import", str(written(tmp_path, name, content))])
    record = json.loads(done.output)
    assert [record[name] for name in ("id", "scene", "profile")] == ["city", SCENE, PROFILE]
    assert record["scene_relations"] == RELATIONS


def test_a_feature_without_a_name_is_called_by_its_id(tmp_path: Path) -> None:
    features = [{**feature(None, box(0, 0, 9, 9)), "id": "Green Park"}, FEATURES[1]]
    file = written(tmp_path, "city.geojson", {"features": features})
    assert [record["scene"] for record in scenes(file)] == [SCENE]


def test_pairs_with_one_of_some_things_alone(tmp_path: Path) -> None:
    lines = LINES + "Swan Lake\tPOLYGON ((1 1, 2 1, 2 2, 1 1))\n"
    file = written(tmp_path, "city.wkt", lines)
    (record,) = scenes(file, about=["swan lake"])
    assert record["scene"] == [
        "Swan Lake is inside Green Park.",
        "The mill is disconnected from Swan Lake.",
        "The mill is to the northeast of Swan Lake.",
    ]
    done = CliRunner().invoke(main, ["scenes", "import", str(file), "--about", "mill"])
    assert len(json.loads(done.output)["scene"]) == 4
    with pytest.raises(RecordError, match=r"city\.wkt: nothing is called 'the dam'"):
        list(scenes(file, about=["mill", "the dam"]))


def test_the_command_offers_every_format() -> None:
    assert tuple(FORMATS) == command._FORMATS


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.geojson", '{"features":\n]', "m.geojson:2: not JSON: Expecting value"),
        ("m.geojson", {"features": {}}, "expected GeoJSON"),
        ("m.geojson", {"features": [feature(None, box(0, 0, 1, 1))]}, "feature 1 needs a name"),
        ("m.geojson", {"features": [{"id": "A", "geometry": None}]}, "feature 1 needs a"),
        ("m.geojson", {"features": ["A"]}, "feature 1 needs a name and a geometry"),
        (
            "m.geojson",
            {"features": [feature("A", shapely.Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]))]},
            "feature 1 is not valid: Self-intersection",
        ),
        ("m.wkt", "the mill POINT (1 2)", "m.wkt:1: expected a name, a tab"),
        ("m.wkt", "\nthe mill\tPOINT (1", "m.wkt:2: expected a name, a tab"),
        ("m.wkt", "the mill\tPOINT EMPTY", "m.wkt:1: expected a name, a tab"),
        ("m.wkt", "A\tPOLYGON ((0 0, 1 1, 1 0, 0 1, 0 0))", "m.wkt:1: Self-intersection"),
        ("m.json", {}, "m.json: none of the formats"),
        ("m.json", {"a": 1}, "m.json: none of the formats geojson, wkt, coco, visual-genome"),
    ],
)
def test_faults_are_told(tmp_path: Path, name: str, content: Any, message: str) -> None:
    done = CliRunner().invoke(main, ["scenes", "import", str(written(tmp_path, name, content))])
    assert done.exit_code == 2
    assert message in done.output


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "m.wkt"
    file.write_bytes(b"caf\xe9\tPOINT (1 2)")
    with pytest.raises(RecordError, match=r"m\.wkt: not UTF-8"):
        list(scenes(file))


def test_a_format_that_is_named_is_insisted_on(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="expected GeoJSON"):
        list(scenes(written(tmp_path, "x.json", []), "geojson"))


def test_a_bad_feature_costs_no_other(tmp_path: Path) -> None:
    bad = {"id": "A", "geometry": {"type": "Blob"}}
    file = written(tmp_path, "city.geojson", {"features": [FEATURES[0], bad, FEATURES[1]]})
    done = CliRunner().invoke(main, ["scenes", "import", str(file)])
    assert done.exit_code == 1
    assert json.loads(done.stdout)["scene"] == SCENE
    assert done.stderr.endswith("feature 2 needs a name and a geometry\n")


def test_a_single_feature(tmp_path: Path) -> None:
    (record,) = scenes(written(tmp_path, "one.json", FEATURES[0]))
    assert record["scene"] == []


def test_features_of_one_name_are_numbered(tmp_path: Path) -> None:
    places = [feature("Mill", shapely.Point(x, 0)) for x in (1, 2)]
    places += [feature("mill 1", shapely.Point(3, 0)), feature("Mill", shapely.Point(4, 0))]
    (record,) = scenes(written(tmp_path, "mills.geojson", {"features": places}))
    named = {r["subject"] for r in record["scene_relations"]}
    named |= {r["object"] for r in record["scene_relations"]}
    assert named == {"Mill 2", "Mill 3", "mill 1", "Mill 4"}


def test_the_antimeridian_parts_nothing(tmp_path: Path) -> None:
    halves = shapely.MultiPolygon([box(179, -17, 180, -16), box(-180, -17, -179, -16)])
    line = shapely.LineString([(178, 0), (-178, 0)])
    places = [feature("Taveuni", halves), feature("Samoa", shapely.Point(-172, -16.5))]
    places += [feature("Auckland", shapely.Point(174, -16.5)), feature("the route", line)]
    (record,) = scenes(written(tmp_path, "sea.geojson", {"features": places}))
    told = {(r["subject"], r["relation"], r["object"]) for r in record["scene_relations"]}
    assert ("Taveuni", "left", "Samoa") in told
    assert ("Taveuni", "right", "Auckland") in told
    assert ("Samoa", "right", "Auckland") in told
    assert ("Taveuni", "below", "the route") in told
    everywhere = [feature(str(x), shapely.Point(x, 0)) for x in range(-180, 180, 60)]
    with pytest.raises(RecordError, match="all around the globe"):
        list(scenes(written(tmp_path, "globe.geojson", {"features": everywhere})))


LEXICON = """inner far field glade above left mill north side end beach old between house in cafe bank
corner point right opposite lake of near border upper middle"""
WORDS = st.sampled_from(LEXICON.split())
NAMES = st.lists(WORDS, min_size=1, max_size=3).map(lambda words: " ".join(words).title())


@given(st.lists(NAMES, min_size=3, max_size=3, unique=True))
@settings(max_examples=25)
def test_whatever_things_are_called_an_imported_scene_entails_its_sentences(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    shapes = [box(0, 0, 9, 9), box(2, 2, 3, 3), shapely.Point(20, 4)]
    features = [feature(name, shape) for name, shape in zip(names, shapes, strict=True)]
    folder = tmp_path_factory.mktemp("named")
    (record,) = scenes(written(folder, "city.geojson", {"features": features}))
    first, second, third = names
    false = [
        f"{first} is inside {second}.",
        f"{first} is to the east of {third}.",
        f"{second} is to the east of {third}.",
    ]
    said = [*record["scene"], *false]
    trace = Trace(**record, reasoning=said, conclusion="")
    claims = TraceAuditor().audited(trace)["claims"][:-1]
    wanted = ["entailed"] * len(record["scene"]) + ["contradicted"] * len(false)
    assert [claim["grounded_verdict"] for claim in claims] == wanted, said
