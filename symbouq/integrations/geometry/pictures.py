"""Boxes in pictures: COCO, Visual Genome and GQA.

Boxes are in pixels; x grows to the right and y downwards. A box shows where a thing is seen, but
gives no information about depth, contact or containment. Any relations in the file are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field, FiniteFloat, StringConstraints, TypeAdapter

from symbouq.errors import RecordError
from symbouq.integrations.geometry.things import Found, Thing, checked, distinct, numbered

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_Identity = int | str


class _Category(BaseModel):
    id: int
    name: Name


class _Annotation(BaseModel):
    id: _Identity = ""
    image_id: _Identity
    category_id: int
    bbox: tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat]


class _Image(BaseModel):
    id: _Identity


class _Coco(BaseModel):
    images: list[_Image]
    annotations: list[_Annotation]
    categories: list[_Category]


class _Box(BaseModel):
    x: FiniteFloat
    y: FiniteFloat
    w: FiniteFloat
    h: FiniteFloat


class _Object(_Box):
    names: Annotated[list[Name], Field(min_length=1)]


class _ImageObjects(BaseModel):
    image_id: _Identity
    objects: list[_Object]


class _Node(_Box):
    name: Name


class _Graph(BaseModel):
    objects: dict[str, _Node]


_COCO = TypeAdapter(_Coco)
_VISUAL_GENOME = TypeAdapter(list[_ImageObjects])
_GQA = TypeAdapter(dict[str, _Graph])


def in_picture(name: str, x: float, y: float, width: float, height: float) -> Thing:
    """Return a thing in a picture, given its box: the upper left corner and the size."""
    return Thing(
        name,
        {"x": (x, x + width), "y": (-y - height, -y)},
        solid=width > 0 and height > 0,
    )


def coco(content: Any, file: str) -> Found:
    """Yield a scene for each picture in COCO's annotations. Things are named by their categories.

    Args:
        content: The JSON value of the file: `images`, `annotations` with a `bbox`, `categories`.
        file: The file, for messages.

    Raises:
        RecordError: If the content has another shape.
    """
    data, faults = checked(_COCO, content, "annotations of COCO", file, [2])
    names = {category.id: category.name for category in data.categories}
    boxes: dict[_Identity, list[tuple[str, Sequence[float]]]] = {i.id: [] for i in data.images}
    for each in data.annotations:
        if each.image_id in boxes and each.category_id in names:
            boxes[each.image_id].append((names[each.category_id], each.bbox))
        else:
            message = f"annotation {each.id} is of an image or a category that the file lacks"
            faults.append(RecordError(message, file))
    yield from faults
    for image, found in boxes.items():
        yield str(image), _things(found)


def visual_genome(content: Any, file: str) -> Found:
    """Yield a scene for each picture in Visual Genome's `objects.json` or `scene_graphs.json`. A
    thing gets the first of its names.

    Args:
        content: The JSON value of the file: a list of objects with `image_id` and `objects`, which
            have `names`, `x`, `y`, `w` and `h`.
        file: The file, for messages.

    Raises:
        RecordError: If the content has another shape.
    """
    images, faults = checked(_VISUAL_GENOME, content, "objects of Visual Genome", file, [3, 1])
    yield from faults
    for image in images:
        boxes = [(each.names[0], (each.x, each.y, each.w, each.h)) for each in image.objects]
        yield str(image.image_id), _things(boxes)


def gqa(content: Any, file: str) -> Found:
    """Yield a scene for each picture in GQA's scene graphs.

    Args:
        content: The JSON value of the file: for each image, `objects` by their ids, which have
            `name`, `x`, `y`, `w` and `h`.
        file: The file, for messages.

    Raises:
        RecordError: If the content has another shape.
    """
    graphs, faults = checked(_GQA, content, "scene graphs of GQA", file, [3, 1])
    yield from faults
    for image, graph in graphs.items():
        boxes = [(each.name, (each.x, each.y, each.w, each.h)) for each in graph.objects.values()]
        yield image, _things(boxes)


def _things(boxes: Sequence[tuple[str, Sequence[float]]]) -> list[Thing]:
    names = numbered([name for name, _ in boxes])
    return distinct([in_picture(n, *box) for n, (_, box) in zip(names, boxes, strict=True)])
