"""Records from lines of files: one JSON object each, checked field by field."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from symbouq.errors import RecordError


def encodable(text: str) -> str:
    """A text in which half of a surrogate pair, as of a character that was cut in two, is the
    replacement character: no file can hold the half.
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def all_encodable(value: Any) -> Any:
    """A text, or a list with texts, that is `encodable`; any other value as it is."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return [encodable(each) if isinstance(each, str) else each for each in value]
    return value


EncodableText = Annotated[str, AfterValidator(encodable)]
"""Text without lone surrogates."""
EncodableLabels = Annotated[Any, AfterValidator(all_encodable)]
"""A value of any kind, of which a text or a list of texts has no lone surrogates."""


class Record(BaseModel):
    """A record whose fields are documented where they are declared."""

    model_config = ConfigDict(use_attribute_docstrings=True)


AnyRecord = TypeVar("AnyRecord", bound=Record)


def parse_record(
    kind: type[AnyRecord], line: bytes, file: str | None = None, number: int | None = None
) -> AnyRecord:
    """One line of a file as a record.

    Raises:
        RecordError: If the line is no JSON object of the record's shape.
    """
    try:
        return make_record(kind, from_json(line, allow_inf_nan=False))
    except ValueError as error:
        raise RecordError(_not_json(line, error), file, number) from error
    except RecordError as error:
        raise RecordError(error.message, file, number) from error


def make_record(kind: type[AnyRecord], value: Any) -> AnyRecord:
    """A record from its fields.

    Raises:
        RecordError: If they do not have the record's shape.
    """
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise RecordError(_explained(error)) from error


_AS_JSON = '{"scene": "A is left of B.", "question": "", "response": "B is right of A."}'
"""A trace in its simplest form."""


def _not_json(line: bytes, error: ValueError) -> str:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as wrong:
        return f"not UTF-8: byte {line[wrong.start]:#04x} at offset {wrong.start}"
    told = f"not valid JSON (one object a line is expected): {error}"
    if line.lstrip()[:1].isalpha():
        told += f"; is it plain text? Then write it as {_AS_JSON}"
    return told


def _explained(error: ValidationError) -> str:
    """The faults of a record, field by field, shortly."""
    parts: list[str] = []
    for problem in error.errors(include_url=False, include_input=False)[:3]:
        place = ".".join(str(part) for part in problem["loc"] if not _is_internal(part))
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "model_type":
            message = "a record is a JSON object, one a line"
        text = f"{place}: {message}" if place else message
        if text not in parts:
            parts.append(text)
    return "; ".join(parts)


def _is_internal(part: int | str) -> bool:
    return isinstance(part, str) and ("[" in part or part in ("str", "function-before"))
