"""From text to lexical items: tokens classified by the ontology's phrases and words.

Tokenization, phrase matching and sentence boundaries are spaCy's (`spacy.blank("en")`,
`PhraseMatcher`, no trained model); what the phrases are is in `ontology/`.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

import spacy
from spacy.matcher import PhraseMatcher
from spacy.pipeline import Sentencizer
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc

from symbouq.ontology import Ontology

_CLASSES = (
    "hedge", "centre", "answer", "existential", "inference", "reference", "citation", "condition",
    "negation", "reciprocal", "between", "have", "copula", "relative", "possessive", "pronoun",
    "with", "and", "or", "link", "clock", "hour", "clockless", "kind", "filler", "article", "by",
)  # fmt: skip
"""Word classes of ontology/language.lp, the first of a word's classes counts."""

_LOOKALIKES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00a0": " "})
"""Typographic apostrophes and spaces; every replacement has the length of the original,
so character offsets stay valid."""


_REMEMBERED_WORDS = 10_000
"""Bound on the remembered classification of words, which keeps memory flat."""


class Entry(NamedTuple):
    """What a phrase or word of the lexicon is.

    Attributes:
        kind: `relation`, or a word class.
        relation: The canonical relation of a phrase, else empty.
        place: Whether it names a side, so that its landmark needs a linking word.
        adjacent: Whether it counts only right before its landmark.
    """

    kind: str
    relation: str = ""
    place: bool = False
    adjacent: bool = False


class Token(NamedTuple):
    """One lexical item: a phrase or word of the lexicon, a number, a punctuation mark,
    or a word that the lexicon does not have (kind `content`).

    Attributes:
        kind: Entry kind, `content`, `number` or `mark`.
        text: As written.
        start: Character offset of its start.
        end: Character offset of its end.
        entry: What the lexicon says, where it has the item.
    """

    kind: str
    text: str
    start: int
    end: int
    entry: Entry | None = None


class Lexicon:
    """The phrases and words of one profile, matched by spaCy.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        nlp = spacy.blank("en")
        nlp.tokenizer = _tokenizer(nlp)
        self._sentencizer = Sentencizer(punct_chars=[".", "!", "?", "\n"])
        self.nlp = nlp
        self._entries: dict[int, Entry] = {}
        self._simple: dict[int, tuple[str, str]] = {}
        self._matcher = PhraseMatcher(nlp.vocab, attr="LOWER")
        for text, entry in self._listed().items():
            self._add(text, entry)

    def _listed(self) -> dict[str, Entry]:
        """Every phrase and word; a relation's phrase goes before a word."""
        listed: dict[str, Entry] = {}
        for word_class in _CLASSES:
            for text in self.ontology.words.get(word_class, ()):
                listed.setdefault(text, Entry(word_class))
        for text, relation in self.ontology.phrases.items():
            listed[text] = Entry(
                "relation",
                relation,
                place=text in self.ontology.places,
                adjacent=text in self.ontology.adjacent,
            )
        return listed

    def _add(self, text: str, entry: Entry) -> None:
        patterns = {text, text.replace(" ", "-")}
        self._matcher.add(text, [self.nlp.make_doc(pattern) for pattern in sorted(patterns)])
        self._entries[self.nlp.vocab.strings[text]] = entry

    @cached_property
    def asking(self) -> frozenset[str]:
        """Words of questions, lower case."""
        return self.ontology.words.get("asking", frozenset())

    def tokens(self, text: str) -> list[Token]:
        """The lexical items of a text, longest phrases first."""
        return self._itemized(self.nlp.make_doc(text.translate(_LOOKALIKES)), text)[0]

    def sentences(self, text: str) -> list[list[Token]]:
        """The lexical items of running text by sentence; a line break ends one."""
        doc = self._sentencizer(self.nlp.make_doc(text.translate(_LOOKALIKES)))
        items, positions = self._itemized(doc, text)
        begins = doc.to_array("SENT_START").tolist()
        sentences: list[list[Token]] = []
        done = 0
        for item, position in zip(items, positions, strict=True):
            if not sentences or any(begin == 1 for begin in begins[done + 1 : position + 1]):
                sentences.append([])
            done = position
            sentences[-1].append(item)
        return [sentence for sentence in sentences if any(t.kind != "mark" for t in sentence)]

    def _itemized(self, doc: Doc, text: str) -> tuple[list[Token], list[int]]:
        """A document's items, and for each the position of its first token."""
        longest: dict[int, tuple[int, int]] = {}
        for key, start, end in self._matcher(doc):
            if start not in longest or longest[start][1] < end:
                longest[start] = (key, end)
        orths = doc.to_array("ORTH").tolist()
        starts = doc.to_array("IDX").tolist()
        simple = self._simple
        items: list[Token] = []
        positions: list[int] = []
        position = 0
        while position < len(orths):
            start = starts[position]
            found = longest.get(position)
            if found is None:
                orth = orths[position]
                kind, word = simple.get(orth) or self._classify(orth)
                if kind:
                    positions.append(position)
                    items.append(Token(kind, word, start, start + len(word)))
                position += 1
                continue
            key, after = found
            last = after - 1
            end = starts[last] + len(doc.vocab.strings[orths[last]])
            entry = self._entries[key]
            positions.append(position)
            items.append(Token(entry.kind, text[start:end], start, end, entry))
            position = after
        return items, positions

    def _classify(self, orth: int) -> tuple[str, str]:
        """Kind and text of a word that is no phrase; an empty kind drops it."""
        word = self.nlp.vocab.strings[orth]
        if word.isspace():
            kind, word = ("mark", "\n") if "\n" in word else ("", word)
        elif word.isdecimal():
            kind = "number"
        elif word == "'s" or not any(character.isalnum() for character in word):
            kind = "mark"
        else:
            kind = "content"
        if len(self._simple) < _REMEMBERED_WORDS:
            self._simple[orth] = (kind, word)
        return kind, word


def _tokenizer(nlp: spacy.Language) -> Tokenizer:
    """Splits at every mark, so that `P=`, `upper-left` and `Y(0,1)` fall apart; keeps
    apostrophes inside words (`o'clock`) and splits off the possessive."""
    mark = r"[^\w\s]"
    return Tokenizer(
        nlp.vocab,
        prefix_search=re.compile(rf"^{mark}").search,
        suffix_search=re.compile(rf"('[sS]|{mark})$").search,
        infix_finditer=re.compile(r"[^\w\s']").finditer,
    )
