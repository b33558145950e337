"""Maps: features of GeoJSON, and lines of a name and a geometry in WKT.

Coordinates are taken as they are, x growing eastwards and y northwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import shapely
from shapely.errors import ShapelyError

from symbouq.errors import RecordError
from symbouq.integrations.geometry.things import Thing, distinct


def on_map(name: str, place: shapely.Geometry) -> Thing:
    """A thing on a map, where y grows northwards."""
    west, south, east, north = place.bounds
    return Thing(name, {"x": (west, east), "y": (south, north)}, (place,), place.area > 0)


def geojson(content: Any, file: str) -> Iterator[tuple[str, list[Thing]]]:
    """The one scene of a `FeatureCollection`: features by their property `name`, or by `id`.

    Args:
        content: The JSON value of the file.
        file: The file, for messages.

    Raises:
        RecordError: If it is none, or two features have one name.
    """
    features = content.get("features") if isinstance(content, dict) else None
    if not isinstance(features, list):
        raise RecordError("expected GeoJSON, an object with a list of `features`", file)
    things = []
    for number, feature in enumerate(features, start=1):
        try:
            name = (feature.get("properties") or {}).get("name") or feature.get("id")
            place = shapely.geometry.shape(feature["geometry"]) if name else None
        except (ShapelyError, ValueError, TypeError, KeyError, AttributeError):
            place = None  # which is what libraries make of what is no feature
        if place is None or place.is_empty:
            raise RecordError(f"feature {number} needs a name and a geometry", file)
        if not place.is_valid:
            raise RecordError(f"feature {number}: {shapely.is_valid_reason(place)}", file)
        things.append(on_map(str(name), place))
    yield "", distinct(things, file)


def wkt(content: Any, file: str) -> Iterator[tuple[str, list[Thing]]]:
    """The one scene of lines of a name, a tab and a geometry in WKT.

    Args:
        content: The text of the file.
        file: The file, for messages.

    Raises:
        RecordError: If a line is none, or two things have one name.
    """
    things = []
    for number, line in enumerate(str(content).splitlines(), start=1):
        name, tab, text = line.partition("\t")
        if not line.strip():
            continue
        try:
            place = shapely.from_wkt(text) if tab else None
        except ShapelyError:
            place = None
        if place is None or place.is_empty:
            raise RecordError("expected a name, a tab and a geometry in WKT", file, number)
        if not place.is_valid:
            raise RecordError(shapely.is_valid_reason(place), file, number)
        things.append(on_map(name.strip(), place))
    yield "", distinct(things, file)
