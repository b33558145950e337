"""From what a format says to the fields of a trace: `--map`, the prompt, the id."""

from __future__ import annotations

from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.base import PROMPT, Reading, described
from symbouq.io.adapters.prompts import split_prompt


def filled(
    raw: dict[str, Any], given: dict[str, Any], reading: Reading, number: int
) -> dict[str, Any]:
    """The fields of a trace.

    Args:
        raw: The record as the file has it, which `--map` looks into.
        given: The fields that the format gives; a `prompt` (text or chat messages) is
            split into scene and question where these are not there themselves.
        reading: The options.
        number: The record's number, its id where it has none.

    Raises:
        RecordError: If a mapped field is not there, or no scene is found.
    """
    mapped = {field: lookup(raw, field, source) for field, source in reading.mapping}
    fields = {**given, **mapped}
    if not mapped.keys().isdisjoint(("reasoning", "conclusion", "claims")):
        fields["response"] = mapped.get("response")
    fields = {field: value for field, value in fields.items() if value is not None}
    prompt = fields.pop(PROMPT, None)
    if prompt is not None and "scene_relations" not in fields and not _asked(fields):
        scene, question = split_prompt(prompt, reading.prompt_split)
        fields.setdefault("question", question)
        if scene:
            fields.setdefault("scene", scene)
    if "scene" not in fields and "scene_relations" not in fields:
        where = "the record has no prompt" if prompt is None else "none is found in the prompt"
        raise RecordError(
            f"no scene: {where}; name its field by --map scene=FIELD"
            + (" or its place by --prompt-split" if prompt is not None else "")
        )
    identity = fields.setdefault("id", number)
    if isinstance(identity, int | float):
        fields["id"] = str(identity)
    return fields


def _asked(fields: dict[str, Any]) -> bool:
    return "scene" in fields and "question" in fields


def lookup(raw: Any, field: str, source: str) -> Any:
    """The value at a dotted path: names of fields, and positions in lists from 0. A name
    may itself have dots in it.

    Raises:
        RecordError: If there is nothing at that path.
    """
    value, rest = raw, source
    while rest:
        if isinstance(value, dict):
            name = next((name for name in _heads(rest) if name in value), None)
            if name is None:
                raise _nowhere(field, source, rest, value)
            value = value[name]
        else:
            name = rest.partition(".")[0]
            if not isinstance(value, list) or not name.isdecimal() or int(name) >= len(value):
                raise _nowhere(field, source, rest, value)
            value = value[int(name)]
        rest = rest[len(name) + 1 :]
    return value


def _heads(path: str) -> list[str]:
    """The beginnings of a dotted path, the longest first."""
    parts = path.split(".")
    return [".".join(parts[:n]) for n in range(len(parts), 0, -1)]


def _nowhere(field: str, source: str, rest: str, value: Any) -> RecordError:
    before = source.removesuffix(rest).rstrip(".")
    place = f"{before} is" if before else "the record is"
    return RecordError(
        f"--map {field}={source}: no {rest.partition('.')[0]!r} there; {place} {described(value)}"
    )
