"""Maps: GeoJSON features, or lines with a name and a geometry in WKT.

Coordinates are used unchanged: x grows eastwards and y northwards. If features lie on both sides of
the antimeridian, longitudes continue beyond it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import shapely
from shapely.errors import ShapelyError

from symbouq.errors import RecordError
from symbouq.integrations.geometry.things import Found, Thing, distinct


def on_map(name: str, place: shapely.Geometry) -> Thing:
    """Return a thing on a map, where y grows northwards."""
    west, south, east, north = place.bounds
    return Thing(name, {"x": (west, east), "y": (south, north)}, (place,), place.area > 0)


def geojson(content: Any, file: str) -> Found:
    """Yield the one scene of a `FeatureCollection` or a `Feature`. Features are named by their
    property `name` or by `id`, and numbered if several have the same name.

    Args:
        content: The JSON value of the file.
        file: The file, for messages.

    Raises:
        RecordError: If the content is not GeoJSON, or extends all around the globe.
    """
    listed = content.get("features", [content]) if isinstance(content, dict) else None
    if not isinstance(listed, list) or content.get("type", "FeatureCollection") not in _TYPES:
        raise RecordError("expected GeoJSON, an object with a list of `features`", file)
    found: dict[int, tuple[str, shapely.Geometry]] = {}
    for number, feature in enumerate(listed, start=1):
        try:
            name = (feature.get("properties") or {}).get("name") or feature.get("id")
            place = shapely.geometry.shape(feature["geometry"]) if name is not None else None
        except (ShapelyError, ValueError, TypeError, KeyError, AttributeError):
            place = None  # libraries write this for invalid features
        fault = "needs a name and a geometry" if place is None else _fault(place)
        if fault:
            yield RecordError(f"feature {number} {fault}", file)
        else:
            found[number] = str(name), place
    names, places = [*zip(*found.values(), strict=True)] or ((), ())
    things = map(on_map, names, _unwrapped(places, file))
    yield "", distinct([*things])


_TYPES = ("FeatureCollection", "Feature")


def _fault(place: shapely.Geometry) -> str:
    if place.is_empty:
        return "needs a name and a geometry"
    return "" if place.is_valid else f"is not valid: {shapely.is_valid_reason(place)}"


def _unwrapped(places: Sequence[shapely.Geometry], file: str) -> list[shapely.Geometry]:
    """Shift geometries so that none is cut by the antimeridian or separated by it from the others,
    if all have valid longitudes and latitudes.

    Raises:
        RecordError: If they extend all around the globe, so that east and west are the same.
    """
    west, south, east, north = shapely.total_bounds([*places]) if places else (0, 0, 0, 0)
    globe = west >= -180 and east <= 180 and south >= -90 and north <= 90
    if not globe or east - west <= _HALF:
        return [*places]
    longitudes = sorted(x % _WHOLE for x in shapely.get_coordinates([*places])[:, 0].tolist())
    following = (*longitudes[1:], longitudes[0] + _WHOLE)
    gap, begin = max((y - x, y) for x, y in zip(longitudes, following, strict=True))
    if gap < _HALF:
        raise RecordError("the features lie all around the globe, where east is west", file)

    def turned(points: Any) -> Any:
        points = points.copy()
        points[:, 0] = (points[:, 0] - begin) % _WHOLE + begin
        return points

    # Join the two sides of a cut again.
    moved = (shapely.transform(place, turned) for place in places)
    return [shapely.union_all(p) if p.geom_type.startswith("Multi") else p for p in moved]


_HALF, _WHOLE = 180.0, 360.0


def wkt(content: Any, file: str) -> Found:
    """Yield the one scene of lines with a name, a tab and a geometry in WKT. Equal names are
    numbered.

    Args:
        content: The text of the file.
        file: The file, for messages.
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
        if place is None or place.is_empty or not name.strip():
            message = "expected a name, a tab and a geometry in WKT"
            yield RecordError(message, file, number)
        elif not place.is_valid:
            yield RecordError(shapely.is_valid_reason(place), file, number)
        else:
            things.append(on_map(name.strip(), place))
    yield "", distinct(things)
