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
from shapely import box

from symbouq.errors import RecordError
from symbouq.integrations.geometry import FORMATS, PROFILE, scenes


def written(folder: Path, name: str, content: Any) -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def feature(name: str | None, place: Any) -> dict[str, Any]:
    geometry = json.loads(shapely.to_geojson(place))
    return {"type": "Feature", "properties": {"name": name}, "geometry": geometry}


FEATURES = [feature("Green Park", box(0, 0, 9, 9)), feature("the mill", shapely.Point(20, 4))]
LINES = f"Green Park\t{box(0, 0, 9, 9).wkt}\n\nthe mill\tPOINT (20 4)\n"
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
    assert json.loads(done.output) == {"id": "city", "scene": SCENE, "profile": PROFILE}


def test_a_feature_without_a_name_is_called_by_its_id(tmp_path: Path) -> None:
    features = [{**feature(None, box(0, 0, 9, 9)), "id": "Green Park"}, FEATURES[1]]
    file = written(tmp_path, "city.geojson", {"features": features})
    assert list(scenes(file)) == [("city", SCENE)]


def test_pairs_with_one_of_some_things_alone(tmp_path: Path) -> None:
    lines = LINES + "Swan Lake\tPOLYGON ((1 1, 2 1, 2 2, 1 1))\n"
    file = written(tmp_path, "city.wkt", lines)
    ((_, told),) = scenes(file, about=["swan lake"])
    assert told == [
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
        (
            "m.geojson",
            {"features": [FEATURES[0], {"id": "A", "geometry": {"type": "Blob"}}]},
            "feature 2 needs a name and a geometry",
        ),
        ("m.geojson", {"features": [{"id": "A", "geometry": None}]}, "feature 1 needs a"),
        ("m.geojson", {"features": ["A"]}, "feature 1 needs a name and a geometry"),
        ("m.geojson", {"features": [FEATURES[1]] * 2}, "two things are called 'the mill'"),
        (
            "m.geojson",
            {"features": [feature("A", shapely.Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]))]},
            "feature 1: Self-intersection",
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
