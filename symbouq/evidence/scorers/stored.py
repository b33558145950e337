"""Dataclasses that are stored as JSON objects."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import ConfigDict, TypeAdapter, ValidationError

from symbouq.errors import SymboUQError


class Stored:
    """Base class of dataclasses that are stored as JSON objects.

    Attributes:
        noun: Word for such an object in error messages, with its article.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")
    noun: ClassVar[str]

    def record(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        values: dict[str, Any] = TypeAdapter(type(self)).dump_python(self, mode="json")
        return values

    @classmethod
    def of(cls, record: Any) -> Self:
        """Build an object from a record.

        Raises:
            SymboUQError: If the record is invalid.
        """
        try:
            stored: Self = TypeAdapter(cls).validate_python(record)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, problem["loc"]))
            fault = f"it has no '{place}'" if problem["type"] == "missing" else problem["msg"]
            where = f"{place}: " if place and problem["type"] != "missing" else ""
            raise SymboUQError(f"not {cls.noun}: {where}{fault}") from error
        return stored
