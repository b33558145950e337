"""Compile the instructions for a language model from the ontology in use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from symbouq.ontology.source import data_folder
from symbouq.ontology.specs import Spec, discovered
from symbouq.ontology.tables import Ontology
from symbouq.reading.model.dialogue import ModelRequest
from symbouq.reading.model.examples import example
from symbouq.reading.model.meanings import axes, relation_meanings
from symbouq.reading.model.schema import directions, offered, reply_schema, scales
from symbouq.records.reading import Reply

_AXES = (
    "Coordinates grow: {}. `x<`: the subject lies at smaller x than the object; `x=`: at the same. "
    "Other axes are open."
)
_AMOUNTS = (
    'A relation holds by an `amount` in units: "60 cm", "at least two blocks". If it is not exact '
    '("about 60 cm"), it is a `number`, unexpressed.'
)
_PLACES = (
    "An entry has `places` for what is placed by numbers: `words`, `thing`, `scale`, `number` "
    "(whole, up to 9999; letters count: row C is 3), and `of`, the thing to which the scale "
    "belongs, if one is told. Seat 2 of those numbered from the left, and the second from there, "
    "are `from_left` 2, and so is the second of all that a shelf or row holds in order. Seat C5 "
    "has two places; seats D3 to D6 are four things; right behind row C is row D. What is listed "
    "row by row has `row` and `column`. Write no relations that follow from places. Scales, with "
    "where they usually grow: {}."
)
_HEADINGS = (
    "An entry has `headings` for where a thing or person faces: `words`, `thing`, `direction` ({})."
)

SCHEMA_DIGITS = 8
"""Number of digits for the schema in a version."""


@cache
def _task() -> str:
    return Path(__file__).with_name("instructions.txt").read_text(encoding="utf-8")


@dataclass(frozen=True, eq=False)
class Prompt:
    """The instructions that a language model gets for one profile.

    Args:
        ontology: The tables of the profile.
        tests: The ontology's tests. Tests from a user's folder come last.
    """

    ontology: Ontology
    tests: tuple[Spec, ...] = ()

    @cached_property
    def instructions(self) -> str:
        """The instructions, which are the same for every text."""
        return "\n".join(self._lines())

    @cached_property
    def version(self) -> str:
        """The first 8 hexadecimal digits of the SHA-256 of the schema, followed by 8 for the
        instructions.
        """
        schema = json.dumps(reply_schema(self.ontology), sort_keys=True)
        return "".join(
            hashlib.sha256(text.encode()).hexdigest()[:SCHEMA_DIGITS]
            for text in (schema, self.instructions)
        )

    def _lines(self) -> Iterator[str]:
        yield _task()
        ontology = self.ontology
        if ontology.wording.unit:
            yield _AMOUNTS
        if counted := scales(ontology):
            grows = ontology.wording.scale
            yield _PLACES.format(", ".join(f"{scale} ({grows[scale]})" for scale in counted))
        if faced := directions(ontology):
            yield _HEADINGS.format(", ".join(faced))
        yield "\nThe relations, each with its converse:"
        if ways := axes(self.ontology):
            yield _AXES.format(", ".join(ways))
        yield from relation_meanings(self.ontology)
        if guidance := [text for (text,) in self.ontology.tables.rows("guidance")]:
            yield "\nIn texts of this kind:"
            yield from (f"- {text}" for text in guidance)
        for number, spec in enumerate(self._examples(), start=1):
            texts, reply = example(spec)
            yield f"\nExample {number}:"
            yield ModelRequest("scene", texts).message
            yield encoded(reply)

    def _examples(self) -> list[Spec]:
        """The tests for the meanings of sentences that use only relations of this profile."""
        ontology = self.ontology
        known = {*offered(ontology), *scales(ontology), *directions(ontology), ""}
        return [
            spec
            for spec in self.tests
            if spec.reads
            and all(r.relation in known for s in spec.reads for r in s.says)
            and (ontology.wording.unit or not any(r.amount for s in spec.reads for r in s.says))
        ]


def encoded(reply: Reply) -> str:
    """Return a reply in the form in which a model should write it."""
    return json.dumps(
        reply.model_dump(exclude_defaults=True), ensure_ascii=False, separators=(",", ":")
    )


def prompt_of(ontology: Ontology, folder: str | None) -> Prompt:
    """Return the prompt for a profile.

    Args:
        ontology: The tables of the profile.
        folder: The user's ontology folder, if any.

    Raises:
        SpecError: If a test file cannot be read.
    """
    own = tuple(discovered(folder)) if folder is not None and Path(folder).is_dir() else ()
    return Prompt(ontology, (*_builtin(), *own))


@cache
def _builtin() -> tuple[Spec, ...]:
    """The tests of the built-in ontology, read once per process."""
    return tuple(discovered(str(data_folder("ontology"))))
