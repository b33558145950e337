"""Scenes from data: sentences about maps, pictures and 3D spaces, for auditing a model's text."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from symbouq.errors import RecordError
from symbouq.integrations.geometry import maps, pictures, spaces
from symbouq.integrations.geometry.things import PROFILE, Found, scene

__all__ = ["FORMATS", "PROFILE", "Format", "scenes"]


class Format(NamedTuple):
    """A format for files of things with places.

    Attributes:
        read: Takes the content of a file (a JSON value, or its text if it is not JSON) and its name
            for messages. Returns named scenes.
        compass: Whether directions are worded as compass directions.
    """

    read: Callable[[Any, str], Found]
    compass: bool = False


FORMATS = {
    "geojson": Format(maps.geojson, compass=True),
    "wkt": Format(maps.wkt, compass=True),
    "coco": Format(pictures.coco),
    "visual-genome": Format(pictures.visual_genome),
    "gqa": Format(pictures.gqa),
    "boxes": Format(spaces.boxes),
    "kitti": Format(spaces.kitti),
}


def scenes(
    file: Path, form: str | None = None, tolerance: float = 0.0, about: Collection[str] = ()
) -> Iterator[dict[str, Any] | RecordError]:
    """Yield the scenes of a file as records that state how the things are related, in sentences and
    as relations. Also yield errors about things that are left out.

    Args:
        file: The file.
        form: Name of the format in `FORMATS`; None to recognise it by the content.
        tolerance: Share of a thing's size by which it may overlap another thing and still count as
            beside it; at least 0 and less than 1.
        about: Names of things, with or without "the". If given, pairs without any of them are left
            out.

    Raises:
        RecordError: If the file cannot be read in this format or has no things, or if `about`
            contains no name of a thing in any scene.
    """
    content = _content(file)
    format_ = FORMATS[form or _recognised(content, str(file))]
    wanted = {_bare(name) for name in about}
    missing = dict.fromkeys(about)
    read = [*format_.read(content, str(file))]
    lost = [each for each in read if isinstance(each, RecordError)]
    named = [each for each in read if not isinstance(each, RecordError)]
    if lost and not any(things for _, things in named):
        raise lost[0]
    yield from lost
    for name, things in named:
        present = {_bare(thing.name) for thing in things}
        missing = {name: None for name in missing if _bare(name) not in present}
        told = scene(
            things, format_.compass, tolerance, lambda name: not wanted or _bare(name) in wanted
        )
        yield {
            "id": f"{file.stem}-{name}" if name else file.stem,
            "scene": [sentence for sentence, _ in told],
            "scene_relations": [
                {"subject": subject, "relation": relation, "object": other, "sentence": n}
                for n, (_, (subject, relation, other)) in enumerate(told, start=1)
            ],
            "profile": PROFILE,
        }
    if missing:
        raise RecordError(f"nothing is called {next(iter(missing))!r}", str(file))


def _content(file: Path) -> Any:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RecordError("not UTF-8", str(file)) from error
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if file.suffix in (".json", ".geojson"):
            raise RecordError(f"not JSON: {error.msg}", str(file), error.lineno) from error
        return text


def _recognised(content: Any, file: str) -> str:
    """Recognise the format of a file's content.

    Raises:
        RecordError: If the content has none of the supported formats.
    """
    match content:
        case str():
            first = next((line for line in content.splitlines() if line.strip()), "")
            return "kitti" if "\t" not in first and len(first.split()) >= 15 else "wkt"
        case list():
            return "visual-genome"
        case {"features": _} | {"type": "Feature"}:
            return "geojson"
        case {"annotations": _}:
            return "coco"
        case {"boxes": _}:
            return "boxes"
        case dict() if content and all(isinstance(each, dict) for each in content.values()):
            return "gqa"
    raise RecordError(f"none of the formats {', '.join(FORMATS)}", file)


def _bare(name: str) -> str:
    return name.casefold().removeprefix("the ")
