"""Sentences: texts cut, prepared, parsed in batches, and what each says; the same shape once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from symbouq.limits import check_time
from symbouq.ontology.tables import Ontology
from symbouq.reading.bounds import LONGEST_SENTENCE, LONGEST_WORD
from symbouq.reading.syntax.extraction import NOMINAL, Extracted, Extraction
from symbouq.reading.syntax.pipeline import Pipeline
from symbouq.reading.syntax.preparation import Piece, Preparation, Word

if TYPE_CHECKING:
    from spacy.tokens import Doc

_TYPESETTING = re.compile(r"\\(?:[a-zA-Z]+\\*?)?|[${}]|</?[a-z]+>")
"""Commands of LaTeX and tags, which say nothing of a place."""
_UNREAD = re.compile(rf"{_TYPESETTING.pattern}|\S{{{LONGEST_WORD},}}")
_CLOSING = frozenset('"*_`)]\u201d')
_ENDS = frozenset((".", "!", "?", ";"))
_REMEMBERED = 20_000
"""Shapes of sentences remembered at a time."""
_BATCH = 64
"""Sentences that are parsed and grounded together."""


_NOTHING = Extracted((), {})


@dataclass(frozen=True)
class Sentence:
    """A sentence, read.

    Attributes:
        text: Its text.
        start: Where it starts in the text that it is part of.
        words: Its words.
        says: What it says.
        asked: Whether it is a question.
        too_long: Whether it is longer than any that is read.
    """

    text: str
    start: int
    words: tuple[Word, ...]
    says: Extracted
    asked: bool
    too_long: bool = False

    def named(self, head: int) -> tuple[list[str], str, bool]:
        """The words that name the thing of a noun phrase, its head, and whether it is a proper
        name.
        """
        phrase = self.says.phrases[head]
        words = [self.words[n].text for n in phrase.words]
        proper = phrase.kind == "name" and not self.words[head].label
        return words, self.words[head].text, proper


Shape = tuple[tuple[str, str, str, tuple[str, ...], bool], ...]


class Sentences:
    """Reads sentences under the tables of a profile.

    Args:
        ontology: The tables.
        pipeline: The parser.
    """

    def __init__(self, ontology: Ontology, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        tokenizer = pipeline.nlp.tokenizer

        def tokenized(text: str) -> list[str]:
            return [token.text.lower() for token in tokenizer(text)]

        self.preparation = Preparation(ontology, tokenized)
        self._extraction = Extraction(ontology, self.preparation.expressions["verb"])
        self._shapes: dict[tuple[Shape, bool], Extracted] = {}

    def cut(self, text: str) -> list[tuple[int, int]]:
        """The spans of a text's sentences; a line break ends one."""
        with self.pipeline.nlp.memory_zone():
            return [
                (tokens[0].start, tokens[-1].start + len(tokens[-1].text))
                for tokens in self._cut(text)
            ]

    def _cut(self, text: str) -> Iterator[list[Piece]]:
        plain = _UNREAD.sub(_blank, text)
        tokens = list(self.pipeline.nlp.tokenizer(plain))
        current: list[Piece] = []
        ended = False
        for n, token in enumerate(tokens):
            if not token.is_space:
                current.append(Piece(token.text, token.idx))
            last = n + 1 == len(tokens)
            follows = "" if last else tokens[n + 1].text
            spaced = bool(last or token.whitespace_ or tokens[n + 1].is_space)
            closed = ended and token.text[0] in _CLOSING
            ends = spaced and (token.text in _ENDS or closed)
            ended = (token.text in _ENDS or closed) and (follows[:1] in _CLOSING or spaced)
            lettered = len(token.text) == 2 and token.text[1] == "." and token.text[0].isalpha()
            ends = ends or (lettered and (last or follows[:1].isupper() or tokens[n + 1].is_space))
            if current and (ends or last or (token.is_space and "\n" in token.text)):
                if any(c.isalnum() for piece in current for c in piece.text):
                    yield current
                current = []

    def read(self, texts: Sequence[str]) -> list[list[Sentence]]:
        """The sentences of each of some texts.

        Raises:
            LimitError: If the time limit is reached.
        """
        # spaCy keeps the strings that it sees, but for those that it sees in here.
        with self.pipeline.nlp.memory_zone():
            return self._read(texts)

    def _read(self, texts: Sequence[str]) -> list[list[Sentence]]:
        rows: list[tuple[int, str, int, tuple[Word, ...], bool]] = []
        cut = [[(number, tokens) for tokens in self._cut(t)] for number, t in enumerate(texts)]
        heads = self._heads([tokens for sentences in cut for _, tokens in sentences])
        for text, sentences in zip(texts, cut, strict=True):
            for number, tokens in sentences:
                start, end = tokens[0].start, tokens[-1].start + len(tokens[-1].text)
                moved = [Piece(piece.text, piece.start - start) for piece in tokens]
                words: tuple[Word, ...] = ()
                if len(moved) <= LONGEST_SENTENCE:
                    words = _ended(self.preparation.words(moved, heads))
                asked = "?" in text[max(start, end - 2) : end]
                rows.append((number, text[start:end], start, words, asked))
        self._parse([(row[3], row[4]) for row in rows if row[3]])
        found: list[list[Sentence]] = [[] for _ in texts]
        for number, text, start, words, asked in rows:
            says = self._shapes[_shape(words), asked] if words else _NOTHING
            found[number].append(Sentence(text, start, words, says, asked, not words))
        return found

    def _heads(self, sentences: Sequence[Sequence[Piece]]) -> frozenset[str]:
        """The nouns that open labels: "box" where there is a "Box 14"."""
        labels = [
            word.text.split()
            for tokens in sentences
            if len(tokens) <= LONGEST_SENTENCE
            and any(len(piece.text) <= 2 and piece.text.isalnum() for piece in tokens)
            for word in self.preparation.words(tokens)
            if word.label
        ]
        return frozenset(words[0].lower() for words in labels if len(words) > 1)

    def _parse(self, sentences: Sequence[tuple[tuple[Word, ...], bool]]) -> None:
        """Remembers what sentences say whose shapes are new."""
        new = {
            (shape, asked): words
            for words, asked in sentences
            if (shape := _shape(words), asked) not in self._shapes
        }
        if len(self._shapes) > _REMEMBERED:
            self._shapes.clear()
            new = {(_shape(words), asked): words for words, asked in sentences}
        rows = list(new.items())
        for first in range(0, len(rows), _BATCH):
            check_time()
            self._parse_batch(rows[first : first + _BATCH])

    def _parse_batch(self, new: Sequence[tuple[tuple[Shape, bool], tuple[Word, ...]]]) -> None:
        docs = list(self.pipeline.parsed([w.shown for w in words] for _, words in new))
        again = {
            n: shown
            for n, ((_, words), doc) in enumerate(zip(new, docs, strict=True))
            if (shown := _with_verb(words, doc))
        }
        for n, doc in zip(again, self.pipeline.parsed(again.values()), strict=True):
            docs[n] = doc
        batch = [(words, doc, asked) for ((_, asked), words), doc in zip(new, docs, strict=True)]
        for (key, _), says in zip(new, self._extraction.extracted(batch), strict=True):
            self._shapes[key] = says


def _blank(found: re.Match[str]) -> str:
    """Spaces for what is not read, but a sign for the commands that compare."""
    compares = found.group() in ("\\le", "\\leq", "\\ge", "\\geq")
    return ("\u2264" if compares else "").ljust(len(found.group()))


def _ended(words: Sequence[Word]) -> tuple[Word, ...]:
    """The words of a sentence with a full stop where it has none, without which the parser takes
    its last words for something else.
    """
    if not words or words[-1].text in _ENDS or words[-1].text == ":":
        return tuple(words)
    return (*words, Word(".", ".", words[-1].end, words[-1].end))


def _with_verb(words: Sequence[Word], doc: Doc) -> list[str] | None:
    """What is shown to the parser where it took a verb for a noun: "the title wraps below B" has
    a verb that it does not know, shown as one that it does. None where there is a verb.
    """
    if any(token.pos_ in ("VERB", "AUX") for token in doc):
        return None
    for token in doc[1:-1]:
        word, before, after = words[token.i], words[token.i - 1], words[token.i + 1]
        known = word.category not in ("", "between", "mutual")
        inflected = word.text.isalpha() and word.text.islower() and word.text.endswith(("s", "ed"))
        placing = after.category in ("preposition", "side") or doc[token.i + 1].pos_ == "ADP"
        named = before.label or doc[token.i - 1].pos_ in NOMINAL
        if inflected and placing and named and token.pos_ in NOMINAL and not known:
            shown = [w.shown for w in words]
            shown[token.i] = "stands"
            return shown
    return None


def _shape(words: Sequence[Word]) -> Shape:
    """What a reading depends on: the words as they are shown, what they express, and what they
    are, but for labels.
    """
    return tuple(
        (word.shown, "" if word.label else word.text, word.category, word.relations, word.denied)
        for word in words
    )
