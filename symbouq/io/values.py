"""JSON values of a record: decoding, type checks, and descriptions for messages."""

from __future__ import annotations

from itertools import islice
from typing import Any, TypeVar

from pydantic_core import from_json

from symbouq.errors import RecordError

_SHOWN = 8
"""Maximum number of fields in the description of a record."""

Kind = TypeVar("Kind")


def decoded(encoded: bytes | RecordError) -> Any:
    """Decode a JSON value. NaN and infinities, which some tools write, are accepted.

    Raises:
        RecordError: If the input is not JSON, or is itself an error.
    """
    if isinstance(encoded, RecordError):
        raise encoded
    try:
        return from_json(encoded.strip())
    except ValueError as error:
        raise RecordError(f"not valid JSON: {error}") from error


def expect(value: Any, kind: type[Kind], place: str, what: str) -> Kind:
    """Check the type of a value.

    Raises:
        RecordError: If the type is wrong. The message gives the position and both types.
    """
    if isinstance(value, kind):
        return value
    raise RecordError(f"{place}: expected {what}, found {described(value)}")


def described(value: Any) -> str:
    """Describe the type of a value in a few words."""
    if isinstance(value, dict):
        names = ", ".join(map(str, islice(value, _SHOWN)))
        more = ", ..." if len(value) > _SHOWN else ""
        return f"an object with {names}{more}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list that starts with {described(value[0])}" if value else "an empty list"
    if isinstance(value, str):
        return "a text" if value else "an empty text"
    if value is None:
        return "nothing"
    return "a truth value" if isinstance(value, bool) else "a number"


_POSED = ("scene", "question", "answer_space", "dataset", "profile")


def posed(question: Any) -> dict[str, Any]:
    """Return the fields of a question that a host stores next to its prompt, if it has a scene."""
    if not isinstance(question, dict) or not question.get("scene"):
        return {}
    return {name: question[name] for name in _POSED if question.get(name) is not None}
