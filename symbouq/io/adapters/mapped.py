"""Formats as data: a TOML file maps each field of a trace to a path in a record.

`docs/formats.md` shows an example. In addition to the fields of a trace there are `prompt`,
`system` (system message), `posed` (objects with `scene` and `question`), `thought` (separate
reasoning), `finish` (why the model stopped) and `error` (why there is no answer). If neither
`prompt` nor `response` is declared, both are found as in datasets
(`symbouq.io.adapters.exchanges`). `join` names the id that identifies the requests in
`--batch-input`; they are then in `request`.
"""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from symbouq.errors import RecordError, SymboUQError, one_line
from symbouq.io.adapters.base import JsonAdapter, Record
from symbouq.io.adapters.chat import answered
from symbouq.io.adapters.documents import path_of
from symbouq.io.adapters.exchanges import asked_of, exchange, is_own
from symbouq.io.adapters.fields import PROMPT, SCENES, filled, reached
from symbouq.io.adapters.inputs import Input, opened
from symbouq.io.messages import is_truncated, unpacked, written
from symbouq.io.values import decoded, described, posed
from symbouq.records import Trace

_OWN = ("system", "posed", "thought", "finish", "error", PROMPT)
_IN_MEMORY = 1 << 26
"""Number of bytes of a batch's input that are kept in memory. A longer input is stored in a file.
"""
_REQUEST = "request"


class Declared(BaseModel):
    """A format, as its file declares it."""

    model_config = ConfigDict(extra="forbid")

    title: str
    recognised: list[str] = Field(min_length=1)
    items: list[str] = []
    only: list[str] = []
    instead: list[str] = []
    """Which records are traces in a file that has none of `only`."""
    join: str | None = None
    fields: dict[str, list[str]]

    def place(self, source: Input) -> tuple[str, ...] | None:
        """Return the path to the records of an input, `()` for lines or items; None if the input
        has another format.
        """
        if source.within:
            return source.within if self.recognises(source.first) else None
        for path in ((), *map(path_of, self.items)):
            if self.recognises(source.at(path)):
                return path
        return None

    def recognises(self, record: dict[str, Any]) -> bool:
        """Whether a record looks like this format."""
        return bool(record) and holds(record, self.recognised)

    def first(self, record: Any, field: str) -> tuple[Any, str]:
        """Return the first value found at one of the field's paths, and the path of this value."""
        for path in self.fields.get(field, ()):
            found = reached(record, path)
            if found not in (None, "", [], {}):
                return found, path
        return None, ""

    def has(self, record: Any, field: str) -> bool:
        """Whether a record has a field with any value."""
        return any(reached(record, path, ...) is not ... for path in self.fields.get(field, ()))


def holds(record: Any, conditions: Sequence[str]) -> bool:
    """Whether one of the given conditions holds. A condition consists of paths joined by `&`, at
    each of which there must be a value; `path=value` requires this value, and `!path` requires that
    there is no value.
    """
    return any(all(_holds(record, p.strip()) for p in each.split("&")) for each in conditions)


def _holds(record: Any, condition: str) -> bool:
    path, sign, value = condition.lstrip("!").partition("=")
    found = reached(record, path, ...)
    if condition.startswith("!"):
        return found in (..., None, "")
    if sign:
        return str(unpacked(found)).strip('"').lower() == value.lower()
    return found is not ...


@cache
def declared(file: str) -> type[_Mapped]:
    """Return the adapter for the format that a file declares.

    Raises:
        SymboUQError: If the file cannot be read, or declares no format.
    """
    try:
        given = Declared.model_validate(tomllib.loads(Path(file).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        told = error.errors()[0] if isinstance(error, ValidationError) else None
        fault = f"{'.'.join(map(str, told['loc']))}: {told['msg']}" if told else one_line(error)
        raise SymboUQError(f"declares no format: {fault}", file) from error
    if unknown := given.fields.keys() - {*Trace.model_fields, *_OWN}:
        known = ", ".join((*_OWN, *Trace.model_fields))
        raise SymboUQError(f"a trace has no field {min(unknown)}; there are {known}", file)
    return type(
        "Declared", (_Mapped,), {"given": given, "expected": given.title, "joins": bool(given.join)}
    )


class _Mapped(JsonAdapter):
    """Reader of the records in a declared format."""

    given: ClassVar[Declared]

    @classmethod
    def detects(cls, source: Input) -> bool:
        return cls.given.place(source) is not None

    def records(self) -> Iterator[Record]:
        self.source.within = self.given.place(self.source) or ()
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as self._requests:
            self._places: dict[str, tuple[int, int]] = {}  # maps an id to start and length
            if self.options.batch_input is not None:
                yield from self._stored(self.options.batch_input, self._requests)
            yield from self._chosen()

    def _chosen(self) -> Iterator[Record]:
        given, taken, number = self.given, False, 0
        for number, record in super().records():
            if isinstance(record, RecordError) or not given.only or holds(record, given.only):
                taken = taken or not isinstance(record, RecordError)
                yield number, record
        if taken or not number or not given.only:
            return
        if given.instead and self.source.path != "-":
            with opened(self.source.path) as again:
                again.within = self.source.within
                for number, encoded in again.values():
                    record = self.object(encoded)
                    if isinstance(record, dict) and holds(record, given.instead):
                        taken = True
                        yield number, record
        if not taken:
            kinds = " or ".join((*given.only, *given.instead))
            raise RecordError(f"expected records with {kinds}, found none of them")

    def trace(self, record: dict[str, Any], number: int) -> dict[str, Any] | None:
        if self.options.batch_input is not None:
            identity = str(reached(record, self.given.join or "id"))
            if identity not in self._places:
                raise RecordError(f"no request {identity!r} in {self.options.batch_input}")
            place, length = self._places[identity]
            self._requests.seek(place)
            record = {**record, _REQUEST: decoded(self._requests.read(length))}
        fields = self.fields(record)
        mapped = {field for field, _ in self.options.mapping}
        if self.given.join and not (mapped | fields.keys()) & {*SCENES, PROMPT}:
            raise RecordError(
                "no prompt: a completion does not hold the messages that it answers; give the "
                "batch's input by --batch-input, or --map scene=FIELD: there is "
                f"{described(record)}"
            )
        return filled(record, fields, self.options, number)

    def fields(self, record: dict[str, Any]) -> dict[str, Any]:
        given = self.given
        if given.fields.keys().isdisjoint((PROMPT, "response")):
            if is_own(record):  # only the head of a long line was seen
                return record
            if fields := exchange(record):
                return fields | self._others(record)
            raise self.unexpected(record)
        response, place = given.first(record, "response")
        if response is None:
            fault, _ = given.first(record, "error")
            if fault is not None:
                raise RecordError(f"the request failed: {_told(fault)}")
        if response is None and not given.has(record, "response"):
            if given.join and given.join in record:
                raise RecordError(
                    f"expected {given.title}, found {described(record)}: give the batch's output, "
                    "and this file by --batch-input"
                )
            raise self.unexpected(record)
        fields = answered(response, place)
        thought, place = given.first(record, "thought")
        if thought is not None and "<think>" not in fields["response"]:
            fields["response"] = written(
                {"content": fields["response"], "thinking": written(thought).text}
            ).response
        reason, _ = given.first(record, "finish")
        if reason is not None and is_truncated(reason):
            fields["truncated"] = True
        prompt, place = given.first(record, PROMPT)
        if prompt is not None:
            asked = asked_of(prompt, place)
            system, place = given.first(record, "system")
            if system is not None:
                said = asked if isinstance(asked, list) else [{"role": "user", "content": asked}]
                asked = [{"role": "system", "content": written(system).text}, *said]
            fields[PROMPT] = asked
        return fields | self._others(record)

    def _others(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a record other than question and answer."""
        names = self.given.fields.keys() - {*_OWN, "response"}
        found = {name: self.given.first(record, name)[0] for name in names}
        fields = {name: value for name, value in found.items() if value is not None}
        for path in self.given.fields.get("posed", ()):
            fields |= posed(unpacked(reached(record, path)))
        return fields

    def _stored(self, path: str, store: IO[bytes]) -> Iterator[Record]:
        """Store the requests of a batch and note where each one is. Yield errors about them."""
        what = f"a request of a batch ({self.given.join})"
        with opened(path) as source:
            for number, encoded in source.values():
                try:
                    request = decoded(encoded)
                    identity = reached(request, self.given.join or "id")
                    if not isinstance(identity, str | int):
                        raise RecordError(f"expected {what}, found {described(request)}")
                    if str(identity) in self._places:
                        raise RecordError(f"{self.given.join} {identity!r} occurs before")
                except RecordError as error:
                    yield number, RecordError(error.message, source.name)
                    continue
                assert isinstance(encoded, bytes)  # it was decoded
                self._places[str(identity)] = (store.tell(), len(encoded))
                store.write(encoded)


def _told(fault: Any) -> str:
    while isinstance(fault, Mapping):
        inner = (fault[n] for n in ("message", "error", "errorMessage", "type") if fault.get(n))
        fault = next(inner, "no reason given")
    return " ".join(str(fault).split())
