"""Readers for both profiles that describe things, and short forms of their readings."""

from __future__ import annotations

from collections.abc import Sequence

from symbouq.ontology.library import OntologyLibrary
from symbouq.reading.described.reader import DescribedReader
from symbouq.reading.described.syntax import (
    Clause,
    Grammar,
    Naming,
    Parse,
    Phrase,
    Predicate,
    Topic,
)
from symbouq.reading.text import triples

LIBRARY = OntologyLibrary()
SPARTUN = DescribedReader(LIBRARY.ontology("spartun"))
SPARTQA = DescribedReader(LIBRARY.ontology("spartqa"))

_DETERMINERS = {
    "definite": "the",
    "demonstrative": "this",
    "indefinite": "a",
    "additive": "another",
    "other": "the other",
    "partitive": "one of the",
    "every": "all",
    "none": "no",
    "bare": "",
    "pronoun": "it",
    "reciprocal": "each other",
}


def parse(text: str, *names: str, reader: DescribedReader = SPARTUN) -> Parse:
    """Parse a sentence in which the given names are already known."""
    known = frozenset(name.lower() for name in names)
    return Grammar(reader.ontology).parse(reader.lexicon.tokens(text), known)


def short(clause: Clause | Naming | Topic) -> str:
    """Format a clause as `subjects | predicate; predicate`."""
    if isinstance(clause, Naming):
        return f"call {' '.join(clause.names)}"
    if isinstance(clause, Topic):
        return f"about {phrase(clause.phrase)}"
    subjects = " & ".join(map(phrase, clause.subjects))
    return f"{subjects} | {'; '.join(map(predicate, clause.predicates))}".strip()


def predicate(said: Predicate) -> str:
    """Format a predicate as `not relation object & object`."""
    what = [said.relation] if said.relation else [value for _, value in said.attributes]
    objects = " & ".join(map(phrase, said.objects))
    return " ".join(["not"] * said.negated + what + [objects] * bool(objects))


def phrase(said: Phrase) -> str:
    """Format a phrase as `the 2 big squares called K #1 (above it)`."""
    parts = [_DETERMINERS.get(said.determiner, said.determiner)]
    parts += [str(said.count)] * bool(said.count)
    parts += [value for _, value in said.attributes]
    parts += [said.kind + "s" * said.plural] * bool(said.kind)
    parts += ["called"] * said.given + list(said.names)
    parts += [f"#{said.number}"] * bool(said.number)
    parts += [f"({'; '.join(map(predicate, said.clauses))})"] * bool(said.clauses)
    return " ".join(filter(None, parts))


def stated(
    scene: Sequence[str], reader: DescribedReader = SPARTUN
) -> list[list[tuple[str, str, str]]]:
    """Return what each sentence of a scene states, naming things by their titles."""
    read = reader.read(scene, "", [], "")
    return [[*triples(read.of_sentence(n))] for n in range(1, len(scene) + 1)]
