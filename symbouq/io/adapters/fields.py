"""Convert the fields of a format to the fields of a trace: `--map`, the prompt, the id."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.documents import EACH
from symbouq.io.adapters.inputs import ReadOptions
from symbouq.io.adapters.prompts import split_prompt
from symbouq.io.messages import is_truncated, unpacked, written
from symbouq.io.values import decoded, described

PROMPT = "prompt"
"""Field in addition to those of a trace: the text that contains scene and question."""

SCENES = ("scene", "scene_relations")
"""Fields for the scene. A trace needs at least one of them."""


def filled(
    raw: dict[str, Any], provided: dict[str, Any], options: ReadOptions, number: int
) -> dict[str, Any]:
    """Return the fields of a trace.

    Args:
        raw: The record as it is in the file, which `--map` refers to.
        provided: The fields that the format gives. A `prompt` (text or chat messages) is split into
            scene and question if these are missing.
        options: The options.
        number: The record's number, used as its id if it has none.

    Raises:
        RecordError: If a mapped field is missing, or no scene is found.
    """
    mapped = {field: lookup(raw, field, source) for field, source in options.mapping}
    fields = {**provided, **mapped}
    if not mapped.keys().isdisjoint(("reasoning", "conclusion", "claims")):
        fields["response"] = mapped.get("response")
    fields = {field: value for field, value in fields.items() if value is not None}
    _fold(raw, fields)
    prompt = fields.pop(PROMPT, None)
    if "answer_space" not in fields and (labels := options_of(raw)):
        fields["answer_space"] = labels
    complete = "scene_relations" in fields or {"scene", "question"} <= fields.keys()
    if prompt is not None and not complete:
        scene, question = split_prompt(prompt, options.prompt_split)
        fields.setdefault("question", question)
        if scene:
            fields.setdefault("scene", scene)
    if fields.keys().isdisjoint(SCENES):
        if prompt is None:
            raise RecordError(
                "no scene: the record has no prompt; name its field by --map scene=FIELD: there is "
                f"{described(raw)}"
            )
        raise RecordError(
            "no scene: none is found in the prompt; name its field by --map scene=FIELD or its "
            "place by --prompt-split"
        )
    identity = fields.setdefault("id", number)
    if isinstance(identity, int | float):
        fields["id"] = str(identity)
    return fields


THOUGHTS = ("reasoning_content", "thinking", "reasoning")
STOPS = ("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason")
"""Fields next to an answer: the reasoning for it, and why the model stopped."""


_OPTIONS = (
    "choices",
    "options",
    "state.choices",
    "doc.choices",
    "metadata.choices",
    "vars.choices",
)
"""Paths at which records have the options of a question."""


def options_of(raw: Any) -> list[str]:
    """Return the texts of a question's options, in the order of their letters; empty if it has
    none.
    """
    for path in _OPTIONS:
        found = _opened(reached(raw, path))
        if isinstance(found, dict):  # maps letters to options, or has lists of both
            texts = found.get("text", [found[name] for name in sorted(found)])
        elif isinstance(found, list):
            texts = [e.get("text", e.get("value")) if isinstance(e, dict) else e for e in found]
        else:
            continue
        if isinstance(texts, list) and len(texts) > 1 and all(isinstance(e, str) for e in texts):
            return [_LETTER.sub("", text, count=1) for text in texts]
    return []


_LETTER = re.compile(r"\(?[A-Ha-h][.):]\s+")
"""The letter before an option. Its position gives the same information."""


def needs_folding(record: dict[str, Any]) -> bool:
    """Whether one of our own traces lacks an id, or has further fields about its answer."""
    beside = any(isinstance(record.get(name), str) for name in (*THOUGHTS, *STOPS))
    listed = "answer_space" not in record and bool(options_of(record))
    return bool(record) and ("id" not in record or beside or listed)


def _fold(raw: dict[str, Any], fields: dict[str, Any]) -> None:
    """Move fields that a record has next to its answer into the answer: the reasoning, and whether
    it was cut off.
    """
    answer = fields.get("response", fields.get("conclusion"))
    held = (_opened(raw.get(name)) for name in THOUGHTS)
    thought = next((each for each in held if isinstance(each, str)), "")
    if thought and isinstance(answer, str) and "<think>" not in answer:
        fields["response"] = written({"content": answer, "thinking": thought}).response
        fields.pop("conclusion", None)
        fields.pop("reasoning", None)
    if any(is_truncated(raw.get(name)) for name in STOPS):
        fields["truncated"] = True


def lookup(raw: Any, field: str, source: str) -> Any:
    """Return the value at a path (`symbouq.io.adapters.mapped`).

    Raises:
        RecordError: If there is no value at that path.
    """
    value, rest = raw, source
    while rest:
        if rest.partition(".")[0] == EACH:
            return reached(value, rest)
        found = _entered(value, rest)
        if found is None:
            before = source.removesuffix(rest).rstrip(".")
            raise RecordError(
                f"--map {field}={source}: no {rest.partition('.')[0]!r} there; "
                f"{before or 'the record'} is {described(value)}"
            )
        value, rest = found
    return value


def reached(value: Any, path: str, missing: Any = None) -> Any:
    """Return the value at a path or, for `*`, a list of the values present; `missing` if there is
    none.
    """
    rest = path.strip(".")
    while rest:
        step, _, further = rest.partition(".")
        if step == EACH:
            value = unpacked(value)
            listed = value if isinstance(value, list) else []
            found = [reached(each, further) for each in listed]
            return [each for each in found if each is not None] or missing
        entered = _entered(value, rest)
        if entered is None:
            return missing
        value, rest = entered
    if isinstance(value, list) and value and all(map(_is_flat, value)):
        return [_nested(each) for each in value]
    return value


def _is_flat(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all("." in name for name in value)


def _entered(value: Any, path: str) -> tuple[Any, str] | None:
    """Return the value that the first step of a path leads to, and the rest of the path; None if
    there is no value. Names may contain dots, and objects may be flattened (`a.0.b`).
    """
    value = _opened(value)
    parts = path.split(".")
    if isinstance(value, list):
        index = int(parts[0]) if parts[0].removeprefix("-").isdecimal() else len(value)
        if -len(value) <= index < len(value):
            return value[index], ".".join(parts[1:])
        if not all(isinstance(each, dict) and {"key", "value"} <= each.keys() for each in value):
            return None
        value = {each["key"]: _plain(each["value"]) for each in value}
    if not isinstance(value, dict):
        return None
    for n in range(len(parts), 0, -1):
        head, rest = ".".join(parts[:n]), ".".join(parts[n:])
        if head in value:
            return value[head], rest
        begin = f"{head}."
        flat = {k.removeprefix(begin): v for k, v in value.items() if k.startswith(begin)}
        if flat:
            return _nested(flat), rest
    return None


def _opened(value: Any) -> Any:
    """Decode a value that contains the rest of a path, if the value is a string with JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        with suppress(RecordError):
            return decoded(value.encode(errors="replace"))
    return value


def _plain(value: Any) -> Any:
    """Convert a value from OpenTelemetry's protocol to plain JSON."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    (kind, inner) = next(iter(value.items()))
    if kind == "arrayValue":
        return [_plain(each) for each in inner.get("values", ())]
    if kind == "kvlistValue":
        return {each["key"]: _plain(each["value"]) for each in inner.get("values", ())}
    return inner if kind.endswith("Value") else value


def _nested(flat: Mapping[str, Any]) -> Any:
    groups: dict[str, dict[str, Any]] = {}
    for name, value in flat.items():
        head, _, rest = name.partition(".")
        groups.setdefault(head, {})[rest] = value
    made = {head: inner[""] if "" in inner else _nested(inner) for head, inner in groups.items()}
    if all(map(str.isdecimal, made)):
        return [made[n] for n in sorted(made, key=int)]
    return made
