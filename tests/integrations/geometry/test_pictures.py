"""Files of boxes in pictures as scenes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from symbouq_cli.main import main

pytest.importorskip("shapely", reason="shapely is not installed (extra `geo`)")

from symbouq.integrations.geometry import PROFILE, scenes


def written(folder: Path, content: Any) -> Path:
    file = folder / "photos.json"
    file.write_text(json.dumps(content))
    return file


BOXES = [("dog", (0, 0, 10, 10)), ("cup", (20, 2, 4, 4)), ("cup", (20, 12, 4, 4))]
SCENE = [
    "The dog is to the left of the cup 1.",
    "The dog is to the upper left of the cup 2.",
    "The cup 1 is above the cup 2.",
]


def coco(*boxes: tuple[int, int, list[float]]) -> dict[str, Any]:
    return {
        "images": [{"id": 1}, {"id": 2}, {"id": 3}],
        "categories": [{"id": 7, "name": "dog"}, {"id": 8, "name": "cup"}],
        "annotations": [
            {"id": n, "image_id": i, "category_id": c, "bbox": b}
            for n, (i, c, b) in enumerate(boxes)
        ],
    }


def corner(box: tuple[float, ...]) -> dict[str, float]:
    return dict(zip("xywh", box, strict=True))


COCO = coco(*((1, 7 if name == "dog" else 8, list(box)) for name, box in BOXES), (2, 7, [0] * 4))
OBJECTS = [{"object_id": n, "names": [name], **corner(b)} for n, (name, b) in enumerate(BOXES)]
VISUAL_GENOME = [
    {"image_id": 1, "objects": OBJECTS, "image_url": "https://example.org/1.jpg"},
    {"image_id": 2, "objects": [], "relationships": []},
]
GQA = {
    "1": {
        "width": 30, "height": 20,
        "objects": {
            # What an annotator says of it is not what the boxes say.
            str(n): {"name": name, **corner(b), "relations": [{"name": "on", "object": "1"}]}
            for n, (name, b) in enumerate(BOXES)
        },
    },
    "n2": {"width": 1, "height": 1, "objects": {}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("content", "others"),
    [
        (COCO, ["photos-2", "photos-3"]),
        (VISUAL_GENOME, ["photos-2"]),
        (GQA, ["photos-n2"]),
    ],
)
def test_files_of_boxes(tmp_path: Path, content: Any, others: list[str]) -> None:
    done = CliRunner().invoke(main, ["scenes", "import", str(written(tmp_path, content))])
    first, *rest = map(json.loads, done.output.splitlines())
    relations = first.pop("scene_relations")
    assert first == {"id": "photos-1", "scene": SCENE, "profile": PROFILE}
    assert [relation["sentence"] for relation in relations] == [*range(1, len(SCENE) + 1)]
    assert [(record["id"], record["scene"]) for record in rest] == [(name, []) for name in others]


def test_a_thing_need_not_be_in_every_picture(tmp_path: Path) -> None:
    found = {r["id"]: r["scene"] for r in scenes(written(tmp_path, COCO), about=["cup 2"])}
    assert found == {"photos-1": SCENE[1:], "photos-2": [], "photos-3": []}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {**COCO, "annotations": [{}]},
            "expected annotations of COCO; annotations[0].image_id: Field required",
        ),
        (coco((1, 7, [0, 0, 1])), "annotations[0].bbox[3]: Field required"),
        (coco((1, 7, [0, 0, 1, float("nan")])), "annotations[0].bbox[3]: Input should be a finite"),
        (coco((1, 9, [0] * 4)), "annotation 0 is of an image or a category that the file lacks"),
        (coco((4, 7, [0] * 4)), "annotation 0 is of an image or a category that the file lacks"),
        (
            [{"image_id": 1, "objects": [{"names": [], **corner((0, 0, 1, 1))}]}],
            "expected objects of Visual Genome; [0].objects[0].names: List should have at least 1",
        ),
        (
            {"1": {"objects": {"5": {"name": "cup", "x": 1, "y": 2, "w": 3}}}},
            "expected scene graphs of GQA; 1.objects.5.h: Field required",
        ),
    ],
)
def test_faults_are_told(tmp_path: Path, content: Any, message: str) -> None:
    done = CliRunner().invoke(main, ["scenes", "import", str(written(tmp_path, content))])
    assert done.exit_code == 2
    assert f"photos.json: {message}" in done.output or f"; {message}" in done.output


def without(content: Any, *path: int | str) -> Any:
    """A value that lacks a part."""
    value = json.loads(json.dumps(content))
    part = value
    for step in path[:-1]:
        part = part[step]
    del part[path[-1]]
    return value


@pytest.mark.parametrize(
    ("content", "message", "left"),
    [
        (without(COCO, "categories", 1), "annotation 1 is of an image or a category that the", 0),
        (
            without(COCO, "categories", 1, "name"),
            "expected annotations of COCO; categories[1].name",
            0,
        ),
        (without(COCO, "annotations", 1, "bbox"), "annotations[1].bbox: Field required", 1),
        (without(COCO, "images", 1), "annotation 3 is of an image or a category that the file", 3),
        (
            without(VISUAL_GENOME, 0, "objects", 1, "names"),
            "[0].objects[1].names: Field required",
            1,
        ),
        (without(VISUAL_GENOME, 1, "image_id"), "[1].image_id: Field required", 3),
        (without(GQA, "1", "objects", "1", "h"), "1.objects.1.h: Field required", 1),
        (without(GQA, "n2", "objects"), "n2.objects: Field required", 3),
    ],
)
def test_a_bad_object_costs_no_other(tmp_path: Path, content: Any, message: str, left: int) -> None:
    done = CliRunner().invoke(main, ["scenes", "import", str(written(tmp_path, content))])
    assert done.exit_code == 1
    assert message in done.stderr
    first, *_ = map(json.loads, done.stdout.splitlines())
    assert first["id"] == "photos-1"
    assert len(first["scene"]) == left
