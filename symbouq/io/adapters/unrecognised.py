"""Inputs in no known format: pass on their records, and suggest a `--map` that could read them."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import Any

from symbouq.errors import RecordError
from symbouq.io.adapters.base import JsonAdapter
from symbouq.io.adapters.fields import PROMPT, SCENES
from symbouq.io.adapters.inputs import Input
from symbouq.io.adapters.prompts import split_prompt
from symbouq.io.values import described
from symbouq.records import Trace

_NAMES = {
    "scene": ("context", "story", "scene", "passage", "facts", "premises", "description"),
    "question": ("query", "ask", "asked"),
    "response": (
        "response",
        "completion",
        "output",
        "prediction",
        "generation",
        "generated_text",
        "model_output",
        "model_response",
        "model_answer",
        "reply",
    ),
}
"""Maps a field of a trace to its names in other tools, the likeliest first."""

_OWN = Trace.model_fields.keys()


class Unrecognised(JsonAdapter):
    """Records passed on unchanged. For the first record without a scene, the error suggests a
    mapping of its fields; the others are counted.
    """

    expected = "a trace, an object with scene and response"

    @classmethod
    def detects(cls, source: Input) -> bool:
        """Whether the input contains an object with any fields."""
        return bool(source.first)

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        foreign, last = 0, 0
        for number, encoded in self.source.values():
            record = self.object(encoded)
            # The consumer of the lines reports errors in the lines, or in our own fields.
            if isinstance(record, RecordError) or not _is_foreign(record):
                yield number, encoded
                continue
            if not foreign:
                yield number, RecordError(_hint(record))
            foreign, last = foreign + 1, number
        if foreign > 1:
            yield last, RecordError(f"{foreign - 1:,} more records without a scene, up to this one")


def _is_foreign(record: dict[str, Any]) -> bool:
    return record.keys().isdisjoint(SCENES) and bool(record.keys() - {"id"})


def _hint(record: dict[str, Any]) -> str:
    found = f"expected a trace or a record of a known format, found {described(record)}"
    lists = [*_lists(record)]
    if lists and not any(len(text) > _BRIEF for text in dict(_texts(record)).values()):
        return f"{found}; say where its records are: --items {quote(lists[0])}"
    return f"{found}; name its fields: {mapping_for(record)}"


_BRIEF = 80
"""Maximum number of characters in a text that is too short to be a scene."""


def _lists(value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of the lists of objects in an object, in the form for `--items`."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        here = f"{path}{name}"
        if isinstance(inner, list) and inner and isinstance(inner[0], dict):
            if not inner[0].keys().isdisjoint(("role", "from")):
                continue  # messages
            yield here
            yield from _lists(inner[0], f"{here}.*.")
        elif isinstance(inner, dict):
            yield from _lists(inner, f"{here}.")


def mapping_for(record: dict[str, Any]) -> str:
    """Suggest `--map` options for reading a record, by the names of its fields, then by the text in
    them. `FIELD` stands for a field that is not found.
    """
    texts = dict(_texts(record))
    found: dict[str, str] = {}
    for field, names in _NAMES.items():
        paths = sorted(
            (names.index(name), path)
            for path in texts
            if (name := path.rpartition(".")[2].lower()) in names
        )
        if paths:
            found[field] = paths[0][1]
    rest = {path: text for path, text in texts.items() if path not in found.values()}
    if "scene" not in found:
        prompts = [path for path, text in rest.items() if _is_prompt(text)]
        if len(prompts) == 1:
            found = {PROMPT: prompts[0], **found}
            found.pop("question", None)
            del rest[prompts[0]]
        else:
            found = {"scene": "FIELD", **found}
    if "response" not in found:
        answers = [path for path, text in rest.items() if " " in text.strip() and "?" not in text]
        found["response"] = answers[0] if len(answers) == 1 else "FIELD"
    return " ".join(f"--map {quote(f'{f}={path}')}" for f, path in found.items() if f != path)


def _is_prompt(text: str) -> bool:
    try:
        return all(split_prompt(text))
    except RecordError:
        return False


def _texts(record: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield the strings in a record with their dotted paths, including strings in objects and in
    lists.
    """
    for name, value in record.items():
        path = f"{before}{name}"
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, list) and value and all(isinstance(text, str) for text in value):
            yield path, " ".join(value)
        elif isinstance(value, dict):
            yield from _texts(value, f"{path}.")
