"""Files of boxes in space as scenes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from symbouq_cli.main import main

pytest.importorskip("shapely", reason="shapely is not installed (extra `geo`)")

from symbouq.integrations.geometry import PROFILE, scenes


def written(folder: Path, name: str, content: Any) -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


ROOM = {
    "boxes": [
        {"name": "room", "center": [0, 2, 1.5], "size": [4, 4, 3]},
        {"name": "cup", "center": [-1, 1, 0.5], "size": [0.1, 0.1, 0.1]},
        # Turned by a quarter it is 0.2 wide and 1 deep, so that it begins at y = 1.5.
        {"name": "cup", "center": [1, 2, 0.5], "size": [1, 0.2, 0.1], "yaw": 1.5707963},
    ]
}


def test_boxes_in_space(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["scenes", "import", str(written(tmp_path, "room.json", ROOM))])
    record = json.loads(done.output)
    assert len(record.pop("scene_relations")) == len(record["scene"])
    assert record == {
        "id": "room",
        "scene": [
            "The cup 1 is inside the room.",
            "The cup 2 is inside the room.",
            "The cup 1 is disconnected from the cup 2.",
            "The cup 1 is in front of the cup 2.",
            "The cup 1 is to the left of the cup 2.",
        ],
        "profile": PROFILE,
    }


def label(kind: str, *end: float, before: str = "0.00 0 -1.57 0 0 50 50") -> str:
    return " ".join([kind, before, *(f"{value:.2f}" for value in end)])


# Height, width, length; x to the right, y down and z ahead; the turn about y.
KITTI = [
    label("Car", 1.5, 1.6, 4.0, -3.0, 1.7, 10.0, 1.57),  # along z: x -3.8 to -2.2, z 8 to 12
    label("Car", 1.5, 1.6, 4.0, 3.0, 1.7, 20.0, 0.0) + " 0.97",  # along x: x 1 to 5, z 19.2 to 20.8
    label("Person_sitting", 1.2, 0.6, 0.8, -3.0, 0.1, 10.0, 0.0),  # 0.1 above the first car
    label("DontCare", -1, -1, -1, -1000, -1000, -1000, -10),
]


def test_labels_of_kitti(tmp_path: Path) -> None:
    file = written(tmp_path, "000042.txt", "\n".join(KITTI) + "\n")
    assert [(r["id"], r["scene"]) for r in scenes(file)] == [
        (
            "000042",
            [
                "The car 1 is disconnected from the car 2.",
                "The car 1 is in front of the car 2.",
                "The car 1 is to the left of the car 2.",
                "The car 1 is disconnected from the person sitting.",
                "The car 1 is below the person sitting.",
                "The car 2 is disconnected from the person sitting.",
                "The car 2 is to the lower right of the person sitting.",
                "The car 2 is behind the person sitting.",
            ],
        )
    ]


def test_a_label_turns_clockwise_as_seen_from_above(tmp_path: Path) -> None:
    """A car that faces ahead and to the left, at 45 degrees; a cone at its nose, another where its
    nose were if it faced to the right.
    """
    lines = [
        label("Car", 1.5, 0.5, 4.0, 0, 1.5, 10, -2.3562),
        label("Cone", 0.5, 0.2, 0.2, -1.3, 1.5, 11.3, 0),
        label("Misc", 0.5, 0.2, 0.2, 1.3, 1.5, 11.3, 0),
    ]
    (record,) = scenes(written(tmp_path, "1.txt", "\n".join(lines)))
    told = record["scene"]
    assert "The cone is inside the car." in told
    assert "The car is disconnected from the misc." in told


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.json",
            {"boxes": [{"name": "cup", "center": [0, 0, 0]}]},
            "a.json: expected `boxes` in space; boxes[0].size: Field required",
        ),
        (
            "a.json",
            {"boxes": [{"name": "cup", "center": [0, 0, 0], "size": [1, 0, 1]}]},
            "boxes[0].size[1]: Input should be greater than or equal to",
        ),
        ("a.json", {"boxes": [{"name": " "}]}, "boxes[0].name: String should have at least 1"),
        ("a.txt", KITTI[0].replace("1.57", "left"), "a.txt:1: expected a label of KITTI"),
        ("a.txt", label("Car", 0, 1, 1, 0, 0, 0, 0), "a.txt:1: expected a label of KITTI"),
        ("a.txt", "0 1 " + KITTI[0], "a.txt:1: expected a label of KITTI"),  # of tracks
    ],
)
def test_faults_are_told(tmp_path: Path, name: str, content: Any, message: str) -> None:
    done = CliRunner().invoke(main, ["scenes", "import", str(written(tmp_path, name, content))])
    assert done.exit_code == 2
    assert message in done.output


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.json",
            {"boxes": [ROOM["boxes"][0], {"name": "cup", "center": [0, 0, 0]}, ROOM["boxes"][1]]},
            "a.json: expected `boxes` in space; boxes[1].size: Field required",
        ),
        ("a.txt", "\n".join([KITTI[0], "Car 1 2", KITTI[1]]), "a.txt:2: expected a label of KITTI"),
    ],
)
def test_a_bad_box_costs_no_other(tmp_path: Path, name: str, content: Any, message: str) -> None:
    done = CliRunner().invoke(main, ["scenes", "import", str(written(tmp_path, name, content))])
    assert done.exit_code == 1
    assert message in done.stderr
    assert json.loads(done.stdout)["scene"]
