"""Read records from lines of files: one JSON object each, checked field by field."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from symbouq.errors import RecordError


def encodable(text: str) -> str:
    """Replace lone surrogates, as in a character cut in two, by the replacement character. They
    cannot be written to a file.
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def all_encodable(value: Any) -> Any:
    """Apply `encodable` to a text, or to each text in a list. Return other values unchanged."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return [encodable(each) if isinstance(each, str) else each for each in value]
    return value


EncodableText = Annotated[str, AfterValidator(encodable)]
"""Text without lone surrogates."""
EncodableLabels = Annotated[Any, AfterValidator(all_encodable)]
"""Any value. Texts, and texts in a list, have no lone surrogates."""


class Record(BaseModel):
    """A record in which each field has a docstring."""

    model_config = ConfigDict(use_attribute_docstrings=True)


AnyRecord = TypeVar("AnyRecord", bound=Record)


def parse_record(
    kind: type[AnyRecord], line: bytes, file: str | None = None, number: int | None = None
) -> AnyRecord:
    """Parse one line of a file as a record.

    Raises:
        RecordError: If the line is not a JSON object with valid fields.
    """
    try:
        return make_record(kind, from_json(line, allow_inf_nan=False))
    except ValueError as error:
        raise RecordError(_not_json(line, error), file, number) from error
    except RecordError as error:
        raise RecordError(error.message, file, number) from error


def make_record(kind: type[AnyRecord], value: Any) -> AnyRecord:
    """Make a record from its fields.

    Raises:
        RecordError: If the fields are invalid.
    """
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise RecordError(_explained(error)) from error


_AS_JSON = '{"scene": "A is left of B.", "question": "", "response": "B is right of A."}'
"""Example of a minimal trace."""


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
