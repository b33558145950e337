"""From the fields that a format gives to those of a trace: `--map`, the prompt, the id."""

from __future__ import annotations

from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.inputs import ReadOptions
from symbouq.io.adapters.prompts import split_prompt
from symbouq.io.adapters.values import described

PROMPT = "prompt"
"""A field beside those of a trace: the text in which scene and question are found."""

SCENES = ("scene", "scene_relations")
"""Fields of which a trace needs one."""


def filled(
    raw: dict[str, Any], provided: dict[str, Any], options: ReadOptions, number: int
) -> dict[str, Any]:
    """The fields of a trace.

    Args:
        raw: The record as the file has it, which `--map` looks into.
        provided: The fields that the format gives; a `prompt` (text or chat messages) is
            split into scene and question where these are not there themselves.
        options: The options.
        number: The record's number, its id where it has none.

    Raises:
        RecordError: If a mapped field is not there, or no scene is found.
    """
    mapped = {field: lookup(raw, field, source) for field, source in options.mapping}
    fields = {**provided, **mapped}
    if not mapped.keys().isdisjoint(("reasoning", "conclusion", "claims")):
        fields["response"] = mapped.get("response")
    fields = {field: value for field, value in fields.items() if value is not None}
    prompt = fields.pop(PROMPT, None)
    complete = "scene_relations" in fields or {"scene", "question"} <= fields.keys()
    if prompt is not None and not complete:
        scene, question = split_prompt(prompt, options.prompt_split)
        fields.setdefault("question", question)
        if scene:
            fields.setdefault("scene", scene)
    if fields.keys().isdisjoint(SCENES):
        where = "the record has no prompt" if prompt is None else "none is found in the prompt"
        raise RecordError(
            f"no scene: {where}; name its field by --map scene=FIELD"
            + (" or its place by --prompt-split" if prompt is not None else "")
        )
    identity = fields.setdefault("id", number)
    if isinstance(identity, int | float):
        fields["id"] = str(identity)
    return fields


def lookup(raw: Any, field: str, source: str) -> Any:
    """The value at a dotted path: names of fields, and positions in lists from 0. A name
    may itself have dots in it.

    Raises:
        RecordError: If there is nothing at that path.
    """
    value, rest = raw, source
    while rest:
        parts = rest.split(".")
        name: str | None = parts[0]
        if isinstance(value, dict):
            heads = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
            name = next((head for head in heads if head in value), None)
        elif not (isinstance(value, list) and parts[0].isdecimal() and int(parts[0]) < len(value)):
            name = None
        if name is None:
            before = source.removesuffix(rest).rstrip(".")
            raise RecordError(
                f"--map {field}={source}: no {parts[0]!r} there; "
                f"{before or 'the record'} is {described(value)}"
            )
        value = value[name] if isinstance(value, dict) else value[int(name)]
        rest = rest[len(name) + 1 :]
    return value
