"""The ontology's words for delivered answers: names of labels, and cues."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache

from symbouq.ontology.library import builtin
from symbouq.ontology.tables import Ontology

Words = tuple[str, ...]
"""Words of a text, in lower case."""


@cache
def cues() -> Mapping[str, tuple[str, ...]]:
    """Map each role that words can have in an answer to these words (`cue/2`)."""
    found: dict[str, list[str]] = defaultdict(list)
    for role, text in builtin().rows["cue", 2]:
        found[role].append(text)
    return {role: tuple(texts) for role, texts in found.items()}


@cache
def meanings() -> Mapping[str, str]:
    """Map each answer label and synonym to its meaning."""
    rows = builtin().rows
    return {plain(text): m for key in ("label", "synonym") for m, text in rows[key, 2]}


_NAMING = (("phrase", 2), ("phrase", 3), ("label", 3), ("synonym", 3))
"""Predicates in which the last two arguments are a phrase and its relation."""


@cache
def senses() -> Mapping[str, tuple[str, ...]]:
    """Map each phrase to the relations that it denotes in any profile."""
    rows = builtin().rows
    found: dict[str, dict[str, None]] = defaultdict(dict)
    named = [row[-2:] for key in _NAMING for row in rows[key]]
    named += [(relation, text) for relation, _, text in rows["wording", 3]]
    named += [(relation, relation) for relation, _ in rows["family", 2]]
    for relation, text in named:
        found[plain(text)][relation] = None
    return {text: tuple(relations) for text, relations in found.items()}


@cache
def implications() -> Mapping[str, frozenset[str]]:
    """Map each relation to the relations that it implies in any profile."""
    found: dict[str, set[str]] = defaultdict(set)
    for relation, other in builtin().rows["implies", 2]:
        found[relation].add(other)
    return {relation: frozenset(others) for relation, others in found.items()}


def relation_named(ontology: Ontology, label: str) -> str | None:
    """Return the profile's relation for an answer label, which may be a label in `label/3`, a
    phrase, or the relation's own name.
    """
    text = " ".join(label.lower().replace("_", " ").split())
    name = text.replace("-", "_").replace(" ", "_")
    relation = ontology.lexicon.relation_label.get(text) or ontology.lexicon.phrase.get(text)
    return relation or (name if name in ontology.relations.family else None)


def plain(text: str) -> str:
    """Return the given text in lower case, without hyphens and double spaces."""
    return " ".join(re.sub(r"[-_\s]+", " ", text.casefold()).split())


@cache
def words_of(word_class: str) -> frozenset[str]:
    """Return the words of a class (`lexeme/2`)."""
    return frozenset(text for name, text in builtin().rows["lexeme", 2] if name == word_class)


@cache
def digits() -> Mapping[str, str]:
    """Map number words to digits."""
    return {text: number for number, text in builtin().rows["numeral", 2]}


def tokenized(text: str) -> list[str]:
    """Return the words and punctuation of the given text in their original case. Number words
    become digits.
    """
    text = re.sub(r"(?i)\b(can)(?:not|'t)\b", r"\1 not", re.sub(r"[-_\s]+", " ", text))
    text = re.sub(r"(?i)(?<=\w)n't\b", " not", text)
    text = re.sub(r"(?i)'s\b", "", text)
    return [digits().get(t.casefold(), t) for t in re.findall(r"[^\W_]+|[,;:.!?/&]", text)]


def form(text: str) -> Words:
    """Return the words of the given text in lower case, without articles."""
    words = tuple(token.casefold() for token in tokenized(text))
    return tuple(word for word in words if word not in cues()["article"]) or words


def meaning_of(label: str) -> str | None:
    """Return the meaning of an answer label: "both of the cups" is `both`."""
    text = plain(label)
    first = meanings().get(text.split()[0]) if text else None
    return meanings().get(text) or (first if first in ("both", "none") else None)
