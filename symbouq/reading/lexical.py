"""Read traces by the phrases and words of their ontology, without a parser. This module is used for
described things (`symbouq.reading.described.reader`) and events (`symbouq.reading.events.reader`).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Container, Sequence
from dataclasses import dataclass

from symbouq.limits import check_time
from symbouq.ontology.tables import Ontology
from symbouq.ontology.words import AUXILIARY
from symbouq.reading.bounds import LONGEST_SENTENCE
from symbouq.reading.claims import QUOTED, Reading
from symbouq.reading.faults import ReadingError
from symbouq.reading.force import ASKED, SUPPOSED, asks, is_quoted, unmarked
from symbouq.reading.lexicon import Analysis, Lexicon, Token, kind_at
from symbouq.reading.segments import gist
from symbouq.reading.text import ASSERTED, Statement
from symbouq.reading.traces import TraceReader

_STATING = frozenset(("relation", "clock", "hour", "reference", "observing"))
"""Kinds of words that express relations. Any sentence with a relation contains such a word."""
_UNSAYING = frozenset(("hedge", "condition", "supposition", "negation", "modal"))
"""Kinds of words with which a sentence may mention a relation without stating it."""
_LABEL_KINDS = frozenset(
    ("relation", "mark", "and", "or", "link", "article", "filler", "by", "inference", "copula")
)
_HEADING = re.compile(r"[^:]{1,40}:\W*")
_IT_IS = (Token("pronoun", "it", 0, 0, "it"), Token("copula", "is", 0, 0, "is"))
"""Words that are implied before a correction: "right of B"."""
_TOO_LONG = f"for it has a sentence of more than {LONGEST_SENTENCE} words"
_STOPS = frozenset((".", "!", "?", ";", "\n"))


@dataclass(frozen=True)
class LexicalSentence:
    """A sentence, analysed by the phrases and words of an ontology.

    Attributes:
        text: The sentence.
        start: Where it begins in the text.
        asked: Whether it is a question.
        quoted: Whether it is only a quotation.
        kinds: The kinds of its phrases, including phrases inside other phrases.
        tokens: Its lexical items, with their positions in the text.
        fault: Always empty, since an error in splitting a text cannot be attributed to a sentence.
    """

    text: str
    start: int
    asked: bool
    quoted: bool
    kinds: frozenset[str]
    tokens: list[Token]
    fault: str = ""


class LexicalReader(TraceReader):
    """Reader of traces by phrases and words.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self.lexicon = Lexicon(ontology)
        self.supposing = ontology.words("fronted") | ontology.words("enumerating")
        self.consequent = ontology.words("consequent")

    def split(self, scene: str) -> list[str]:
        """Split a scene, given as one string, into sentences."""
        analysis = self.lexicon.analysed(scene)
        spans = [analysis.stripped(*span) for span in self.lexicon.sentences(analysis)]
        return [scene[start:end] for start, end in spans if start < end]

    def asks_whether(self, question: str) -> bool:
        """Whether a question is a yes/no question, judged by its first word."""
        opening = self.ontology.words("copula") | self.ontology.words(AUXILIARY)
        opening |= self.ontology.wording.lexeme.get("modal", frozenset())
        first = question.lower().split()[:1]
        return bool(first) and first[0] in opening


class LexicalParser(ABC):
    """Parser for the sentences of one trace's claims (`symbouq.reading.claims.SentenceParser`).

    Args:
        of: The reader.
        pair: The pair that the question asks about.
        question: The question.
    """

    def __init__(self, of: LexicalReader, pair: tuple[str, str] | None, question: str) -> None:
        self.pair = pair
        self.asks_whether = of.asks_whether(question)
        self._lexicon = of.lexicon
        self._supposing = of.supposing
        self._consequent = of.consequent
        self._supposed = False

    # For subclasses ---------------------------------------------------------------------

    @abstractmethod
    def read(self, tokens: Sequence[Token], text: str) -> Reading:
        """Read a text or part of a text."""

    @abstractmethod
    def labelled(self, tokens: Sequence[Token], pair: tuple[str, str]) -> Sequence[Statement]:
        """Read a bare label (`upper-left`, "above and to the right") as relations of the given
        pair.
        """

    def head(self, tokens: Sequence[Token]) -> None:  # noqa: B027
        """Process a heading. It mentions the things that the following text is about."""

    @property
    def goes_on(self) -> bool:
        """Whether even a line without relations may have content."""
        return False

    # Common to all ------------------------------------------------------------------------

    def sentences(self, texts: Sequence[str]) -> list[list[LexicalSentence]]:
        """Split each text into sentences, and remove sentences without words."""
        joined = self._lexicon.analysed("\n".join(texts))
        ranges = self._lexicon.sentences(joined) if joined.orths else []
        spans = deque((first, last, *joined.stripped(first, last)) for first, last in ranges)
        found: list[list[LexicalSentence]] = []
        base = 0
        for text in texts:
            found.append([])
            while spans and spans[0][2] < base + len(text):
                first, last, start, end = spans.popleft()
                if any(map(str.isalpha, joined.text[start:end])):
                    sentence = self._sentence(text, joined, (first, last), base, start, end)
                    found[-1].append(sentence)
            base += len(text) + 1
        return found

    def _sentence(
        self, text: str, analysis: Analysis, words: tuple[int, int], base: int, start: int, end: int
    ) -> LexicalSentence:
        """Analyse a sentence in a text. The text begins at offset `base`."""
        start, end = start - base, end - base
        return LexicalSentence(
            text[start:end],
            start,
            asks(text, end, start),
            text[start] == ">" or is_quoted(text, start, end),
            frozenset(self._lexicon.kinds(analysis, *words)),
            self._lexicon.itemized(analysis, *words, base),
        )

    def unreadable(self, sentence: LexicalSentence) -> str:
        """Return the limit that a sentence exceeds; empty if there is none."""
        return _TOO_LONG if len(sentence.tokens) > LONGEST_SENTENCE else ""

    def is_whole(self, sentence: LexicalSentence) -> bool:
        """Whether the statements about places in a sentence have a subject and can be read."""
        return True

    def completed(self, sentence: LexicalSentence, pair: tuple[str, str]) -> Sequence[Statement]:
        """Use the thing mentioned last to complete a sentence without a subject."""
        it_is = [token._replace(start=sentence.start, end=sentence.start) for token in _IT_IS]
        return self.read([*it_is, *sentence.tokens], f"It is {sentence.text}").statements

    def may_be_label(self, sentence: LexicalSentence) -> bool:
        """Whether a sentence may be a label because it has no relation between named things."""
        start, end = (sentence.start + n for n in gist(sentence.text))
        kinds = {token.kind for token in sentence.tokens if start <= token.start < end}
        return kinds <= _LABEL_KINDS

    def label(self, text: str, pair: tuple[str, str]) -> Sequence[Statement]:
        """Read a bare label as relations of the given pair."""
        return self.labelled(self._lexicon.tokens(text), pair)

    def answer(self, sentences: Sequence[LexicalSentence]) -> Reading:
        """Return the statements of an answer's sentences."""
        tokens = [token for sentence in sentences for token in sentence.tokens]
        text = " ".join(sentence.text for sentence in sentences)
        return self.read(_without_reasons(tokens), text)

    def parse(self, sentence: LexicalSentence, gap: str) -> list[Reading]:
        """Read a sentence part by part: "A is left of B, so C is left of B" has two parts."""
        kinds, tokens = sentence.kinds, sentence.tokens
        if _HEADING.fullmatch(sentence.text[unmarked(sentence.text) :]):
            self.head(tokens)
            return [Reading()]
        self._supposed = (
            "supposition" in kinds
            or _opens(tokens, self._supposing)
            or (self._supposed and ("modal" in kinds or kind_at(tokens, 0) == "inference"))
        )
        if self._supposed:
            return [Reading(stance=SUPPOSED)]
        if sentence.quoted:
            return [Reading(stance=QUOTED)]
        if kinds.isdisjoint(_STATING) and not self.goes_on:
            return [Reading()]
        parts: list[Reading] = []
        conditional = False
        cut = _parts(tokens, sentence.start)
        ends = [*(begin for _, begin in cut[1:]), sentence.start + len(sentence.text)]
        for (part, begin), end in zip(cut, ends, strict=True):
            # "If X, then Y" states neither X nor Y.
            conditional = conditional and _opens(part, self._consequent)
            text = sentence.text[begin - sentence.start : end - sentence.start]
            read = Reading() if conditional else self.read(part, text)
            unsaid = {token.kind for token in part} & _UNSAYING
            conditional = conditional or "condition" in unsaid
            stance, reason = ASSERTED, ""
            if not read.statements and conditional:
                stance = SUPPOSED
            elif not read.statements and sentence.asked and _bears(tokens):
                stance = ASKED
            elif not read.statements and unsaid and _bears(tokens):
                reason = "unread"
            parts.append(Reading(read.statements, stance, reason, begin=begin, events=read.events))
        return parts


def check_length(part: str, text: str, tokens: Sequence[Token]) -> None:
    """Check that no sentence in a text exceeds the length limit.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
        ReadingError: If a sentence is too long.
    """
    check_time()
    start = 0
    for position, token in enumerate(tokens):
        if token.kind == "mark" and token.text in _STOPS:
            start = position + 1
        elif position - start >= LONGEST_SENTENCE:
            raise ReadingError(part, _TOO_LONG, text)


def _opens(tokens: Sequence[Token], words: Container[str]) -> bool:
    """Whether a sentence begins with one of the given words and is not a question."""
    opening = next((token for token in tokens if token.kind != "mark"), None)
    if opening is None or opening.text.lower() not in words:
        return False
    return not any(token.text == "?" for token in tokens[-2:])


def _bears(tokens: Sequence[Token]) -> bool:
    """Whether a sentence mentions a relation between things, unlike "Is that right?"."""
    kinds = {token.kind for token in tokens}
    return not kinds.isdisjoint(_STATING) and not kinds.isdisjoint(("content", "noun", "pronoun"))


def _without_reasons(tokens: list[Token]) -> list[Token]:
    """Remove the reasons from an answer: "left, because ..."."""
    for position, token in enumerate(tokens):
        if token.kind == "reason" and position:
            return tokens[:position]
    return tokens


def _parts(tokens: Sequence[Token], start: int) -> list[tuple[list[Token], int]]:
    """Split a sentence into claims at each inference word after a statement, and return each claim
    with its offset.
    """
    parts: list[list[Token]] = [[]]
    stated = False
    for token in tokens:
        if token.kind == "inference" and stated:
            parts.append([])
            stated = False
        stated = stated or token.kind == "relation"
        parts[-1].append(token)
    begins = [start, *(part[0].start for part in parts[1:])]
    return list(zip(parts, begins, strict=True))
