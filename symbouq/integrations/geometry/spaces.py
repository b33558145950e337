"""Boxes in space that are turned only about the vertical axis: JSON, and KITTI labels.

Each thing is treated as its box: contact and containment are computed for the boxes. A box is a
ground plan and a height, so relations of turned boxes are exact, too, and no hull is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import shapely
from pydantic import BaseModel, Field, FiniteFloat, TypeAdapter
from shapely.affinity import rotate

from symbouq.errors import RecordError
from symbouq.integrations.geometry.pictures import Name
from symbouq.integrations.geometry.things import Found, Thing, checked, distinct, numbered

_DECIMALS = 6
"""Number of decimals to which coordinates are rounded, so that boxes that should touch do touch."""

_Size = Annotated[float, Field(ge=10**-5, allow_inf_nan=False)]
_UNLABELLED = "DontCare"
"""Type of the KITTI labels that mark regions without labelled objects."""


class Box(BaseModel):
    """A box in space: x grows to the right, y away from the viewer, z upwards."""

    name: Name
    """A common noun."""
    center: tuple[FiniteFloat, FiniteFloat, FiniteFloat]
    """Middle of the box."""
    size: tuple[_Size, _Size, _Size]
    """Extent along x, y and z before the box is turned."""
    yaw: FiniteFloat = 0.0
    """Angle in radians by which the box is turned, anticlockwise as seen from above."""


class _Boxes(BaseModel):
    boxes: list[Box]


class _Label(NamedTuple):
    """Values in a line of KITTI labels from the ninth on, after type, visibility and the box in the
    picture. They are metres in the camera's frame, with x to the right, y down and z ahead. The
    position is the middle of the bottom of the box.
    """

    height: float
    width: float
    length: float
    x: float
    y: float
    z: float
    rotation_y: float


_BOXES = TypeAdapter(_Boxes)


def in_space(name: str, box: Box) -> Thing:
    """Return a thing in space, given its name and its box."""
    (x, y, z), (along, across, height) = box.center, box.size
    upright = shapely.box(x - along / 2, y - across / 2, x + along / 2, y + across / 2)
    plan = shapely.transform(
        rotate(upright, box.yaw, use_radians=True), lambda points: points.round(_DECIMALS)
    )
    left, near, right, far = plan.bounds
    bottom, top = round(z - height / 2, _DECIMALS), round(z + height / 2, _DECIMALS)
    ends = {"x": (left, right), "y": (bottom, top), "z": (-far, -near)}
    return Thing(name, ends, (plan, shapely.LineString([(bottom, 0), (top, 0)])))


def boxes(content: Any, file: str) -> Found:
    """Yield the one scene of a JSON object with `boxes`.

    Args:
        content: The JSON value of the file, with boxes as in `Box`.
        file: The file, for messages.

    Raises:
        RecordError: If the content has another shape.
    """
    found, faults = checked(_BOXES, content, "`boxes` in space", file, [2])
    yield from faults
    yield "", _things(found.boxes)


def kitti(content: Any, file: str) -> Found:
    """Yield the one scene of a file of KITTI's object labels (`label_2`). Things are named by their
    types.

    Args:
        content: The text of the file, one object per line: 15 values, and a score in results.
        file: The file, for messages.
    """
    found = []
    for number, line in enumerate(str(content).splitlines(), start=1):
        kind, *values = line.split() or [_UNLABELLED]
        if kind == _UNLABELLED:
            continue
        try:
            if len(values) not in (14, 15):
                raise ValueError(len(values))
            found.append(_box(kind, _Label(*map(float, values[7:14]))))
        except ValueError:  # from a number, or from the box
            message = "expected a label of KITTI: a type and 14 numbers, sizes above 0"
            yield RecordError(message, file, number)
    yield "", _things(found)


def _box(kind: str, label: _Label) -> Box:
    return Box(
        name=kind.replace("_", " ").lower(),
        center=(label.x, label.z, label.height / 2 - label.y),
        size=(label.length, label.width, label.height),
        yaw=-label.rotation_y,  # about the axis that points down
    )


def _things(found: Sequence[Box]) -> list[Thing]:
    names = numbered([box.name for box in found])
    return distinct([in_space(name, box) for name, box in zip(names, found, strict=True)])
