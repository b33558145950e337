"""Scenes from data: maps and boxes in pictures as sentences, by which a model's words are audited.

Between regions, lines and points of a map stand the relations of RCC-8, by the DE-9IM of their
geometries, and the directions in which their bounding boxes lie wholly apart. Between boxes of a
picture stand the directions of the picture alone: boxes say nothing of depth, contact or
containment. How a relation is worded is for the ontology to say.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import shapely
from shapely import Geometry, from_wkt
from shapely.errors import ShapelyError
from shapely.geometry import shape

from symbouq.errors import RecordError
from symbouq.ontology.library import OntologyLibrary

PROFILE = "everyday"
"""The profile of the scenes: it has topology and directions."""

_EVERYDAY = {"tpp": "inside", "ntpp": "inside", "eq": "same_position"}
_CONTAINING = {"tppi": "inside", "ntppi": "inside"}
"""What sentences say of parts, which everyday words do not tell apart, and of what is equal; and
of wholes, the other way round: "the lake is inside the park".
"""


class Thing(NamedTuple):
    """A named thing with its place; north, or down in a picture, is where y grows."""

    name: str
    place: Geometry


def kind_of(file: Path) -> str:
    """`boxes` where a file has annotations of COCO, else `map`."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return "map"
    return "boxes" if isinstance(data, dict) and "annotations" in data else "map"


def maps(file: Path) -> list[Thing]:
    """The things of a map: features of GeoJSON by their `name` (or `id`), or lines of a name, a tab
    and WKT.

    Args:
        file: A file in `.geojson` or `.json`, else WKT.

    Raises:
        RecordError: If it is none, or two things have one name.
    """
    text = file.read_text(encoding="utf-8")
    things: list[Thing] = []
    if file.suffix in (".geojson", ".json"):
        try:
            features = json.loads(text)["features"]
        except (ValueError, KeyError, TypeError) as error:
            raise RecordError("expected GeoJSON, an object with `features`", str(file)) from error
        for number, feature in enumerate(features, start=1):
            try:
                name = (feature.get("properties") or {}).get("name") or feature.get("id")
                place = shape(feature["geometry"]) if name else None
            except (ShapelyError, ValueError, TypeError, KeyError, AttributeError):
                place = None  # which is what libraries make of what is no feature
            if place is None:
                raise RecordError(f"feature {number} needs a name and a geometry", str(file))
            things.append(Thing(str(name), place))
    else:
        for number, line in enumerate(text.splitlines(), start=1):
            name, tab, wkt = line.partition("\t")
            if not line.strip():
                continue
            try:
                place = from_wkt(wkt) if tab else None
            except ShapelyError:
                place = None
            if place is None:
                message = "expected a name, a tab and a geometry in WKT"
                raise RecordError(message, str(file), number)
            things.append(Thing(name.strip(), place))
    twice = [
        name for name, count in Counter(t.name.casefold() for t in things).items() if count > 1
    ]
    if twice:
        raise RecordError(f"two things are called {twice[0]!r}", str(file))
    return things


def map_scene(things: Sequence[Thing]) -> list[str]:
    """What holds between the things of a map, a sentence each."""
    told = []
    for first, second in combinations(things, 2):
        relation = rcc8(first.place, second.place)
        if relation in _CONTAINING:
            told.append(_sentence((second, first), _CONTAINING[relation]))
        else:
            told.append(_sentence((first, second), _EVERYDAY.get(relation, relation)))
        where = _direction(first.place.bounds, second.place.bounds, upwards=True)
        told += [_sentence((first, second), where, compass=True)] if where else []
    return told


def rcc8(first: Geometry, second: Geometry) -> str:
    """The relation of RCC-8 between two geometries, by their DE-9IM; of lines and points, the one
    that says as much of them.
    """
    if first.equals(second):
        return "eq"
    if not first.intersects(second):
        return "dc"
    for inner, outer, part, interior in (
        (first, second, "tpp", "ntpp"),
        (second, first, "tppi", "ntppi"),
    ):
        if inner.within(outer):
            return part if inner.intersects(outer.boundary) else interior
    return "ec" if first.touches(second) else "po"


def pictures(file: Path) -> Iterator[tuple[str, list[Thing]]]:
    """The boxes of each picture in a file of COCO's annotations, named by their categories and,
    where a category has several, by numbers.

    Raises:
        RecordError: If it is none.
    """
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        kinds = {kind["id"]: kind["name"] for kind in data["categories"]}
        boxes: dict[Any, list[tuple[str, Geometry]]] = defaultdict(list)
        for each in data["annotations"]:
            x, y, width, height = each["bbox"]
            boxes[each["image_id"]].append(
                (kinds[each["category_id"]], shapely.box(x, y, x + width, y + height))
            )
        images = [image["id"] for image in data["images"]]
    except (ValueError, KeyError, TypeError) as error:
        message = "expected annotations of COCO: `images`, `annotations` with `bbox`, `categories`"
        raise RecordError(message, str(file)) from error
    for image in images:
        counts = Counter(name for name, _ in boxes[image])
        seen: Counter[str] = Counter()
        things = []
        for name, place in boxes[image]:
            seen[name] += 1
            called = f"{name} {seen[name]}" if counts[name] > 1 else name
            things.append(Thing(f"the {called}", place))
        yield str(image), things


def picture_scene(things: Sequence[Thing], tolerance: float = 0.0) -> list[str]:
    """What holds between the boxes of a picture, a sentence each.

    Args:
        things: The boxes, y growing downwards.
        tolerance: By how much of its size a box may reach over another and still lie beside it.
    """
    told = []
    for first, second in combinations(things, 2):
        one, other = (_shrunk(thing.place.bounds, tolerance) for thing in (first, second))
        where = _direction(one, other, upwards=False)
        told += [_sentence((first, second), where)] if where else []
    return told


@cache
def _wording() -> dict[str, tuple[str, ...]]:
    return OntologyLibrary().ontology(PROFILE).lexicon.wording


def _sentence(pair: tuple[Thing, Thing], relation: str, compass: bool = False) -> str:
    """A relation between two things in the ontology's words, the second ones for a compass."""
    first, second = (thing.name for thing in pair)
    wording = _wording()[relation]
    text = f"{first} is {wording[1] if compass else wording[0]} {second}."
    return text[0].upper() + text[1:]


Bounds = tuple[float, float, float, float]


def _shrunk(bounds: Bounds, tolerance: float) -> Bounds:
    low_x, low_y, high_x, high_y = bounds
    x, y = tolerance * (high_x - low_x) / 2, tolerance * (high_y - low_y) / 2
    return low_x + x, low_y + y, high_x - x, high_y - y


def _direction(first: Bounds, second: Bounds, upwards: bool) -> str:
    """The direction in which the first lies wholly beside the second; empty where it does not.

    Args:
        first: Its box.
        second: The other's.
        upwards: Whether y grows upwards.
    """
    higher, lower = first[1] >= second[3], first[3] <= second[1]
    if not upwards:
        higher, lower = lower, higher
    vertical = "above" if higher else "below" if lower else ""
    sideways = "right" if first[0] >= second[2] else "left" if first[2] <= second[0] else ""
    if vertical and sideways:
        return f"{'upper' if higher else 'lower'}_{sideways}"
    return vertical or sideways
