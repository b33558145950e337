"""Readings of sentence shapes in the cache folder, so that later runs need not derive them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json

from symbouq.ontology.recording import is_recording
from symbouq.ontology.source import digest
from symbouq.ontology.store import Shelf, listed
from symbouq.ontology.tables import Ontology
from symbouq.reading.syntax.extraction import Extracted, reading_rules
from symbouq.reading.syntax.pipeline import Pipeline


class Kept:
    """Readings under the tables of a profile.

    Args:
        ontology: The tables.
        pipeline: The parser.
    """

    def __init__(self, ontology: Ontology, pipeline: Pipeline) -> None:
        folder = Path(__file__).parents[1]
        tables = to_json([listed(ontology.tables), sorted(ontology.lexicon.phrase.items())])
        code = digest(sorted([*folder.glob("*.py"), *folder.glob("syntax/*.py")]))
        made_from = tables.decode(), reading_rules(), code, pipeline.identity
        self._shelf = Shelf("readings", "\0".join(made_from))

    @cached_property
    def _form(self) -> TypeAdapter[Extracted]:
        return TypeAdapter(Extracted)

    def load(self, shapes: Iterable[Any]) -> dict[Any, Extracted]:
        """Return the readings of those shapes that were read before."""
        names = {repr(shape): shape for shape in shapes}
        found = self._shelf.load(names) if names and not is_recording() else {}
        return {names[name]: self._form.validate_json(text) for name, text in found.items()}

    def save(self, readings: Mapping[Any, Extracted]) -> None:
        """Keep the readings of shapes."""
        forms = {
            repr(shape): self._form.dump_json(says, exclude_defaults=True)
            for shape, says in readings.items()
        }
        self._shelf.save(forms)
