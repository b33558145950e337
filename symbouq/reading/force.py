"""Determine the force of sentences from their words, in the same way for every reader.

The words are in `ontology/reading/lexemes.lp`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from symbouq.ontology.tables import Ontology

ASKED, SUPPOSED = "asked", "supposed"
"""Stances: of questions and requests, and of text that holds only under a supposition."""

_BIDDING = ("bidding", "putting", "transfer")
"""Classes of verbs that are used to ask somebody to move or hold things."""
_BULLET = re.compile(r"\s*(?:[-*#>•+]+\s+)*(?:\(?\d+[.):]\s+)?")
_WORD = re.compile(r"[^\W_]+(?:[-'\u2019][^\W_]+)*")
_QUOTES = ('"', "\u201c", "\u201d")
_OPTION = re.compile(r"(?<!\S)\(?([A-H])[).:]\s+")
_HEADING = 30
"""Maximum number of characters between a question and its options: "Your options are:"."""
_BREAK = re.compile(r"[;:.!?()\[\]\n\u2013\u2014]")

Span = tuple[int, int]


def asks(text: str, end: int | None = None, start: int = 0) -> bool:
    """Whether a sentence is a question.

    Args:
        text: The whole text.
        end: End of the sentence; by default the end of the text.
        start: Start of the sentence.
    """
    end = len(text.rstrip()) if end is None else end
    return "?" in text[max(start, end - 2) : end]


def is_quoted(text: str, start: int, end: int) -> bool:
    """Whether a sentence is wholly in quotation marks."""
    said = text[start + unmarked(text[start:end]) : end].rstrip(".,;:!?")
    closes = said[-1:] in _QUOTES or text[end : end + 1] in _QUOTES
    inner = said[1:-1]
    return said[:1] in _QUOTES and closes and not any(mark in inner for mark in _QUOTES)


def offered(text: str) -> range:
    """Return the span of lettered options after a question: "Which is true? A) ... B) ..."; empty
    if there are no options.
    """
    marks: list[re.Match[str]] = []
    for mark in _OPTION.finditer(text):
        if mark[1] == "A":
            question = text.rfind("?", max(0, mark.start() - _HEADING), mark.start())
            marks = [mark] if question >= 0 else []
        elif marks and ord(mark[1]) == ord(marks[-1][1]) + 1:
            marks.append(mark)
    return range(marks[0].start(), marks[-1].end() + 1) if len(marks) > 1 else range(0)


def unmarked(text: str) -> int:
    """Length of the list marker at the start of a sentence; 0 if there is no marker."""
    mark = _BULLET.match(text)
    return mark.end() if mark else 0


def _words_of(text: str) -> set[str]:
    """The words of a text, in lower case and with straight apostrophes."""
    return {word.group().lower().replace("\u2019", "'") for word in _WORD.finditer(text)}


class Forces:
    """The words of one profile that show the force of a sentence.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        lexeme = ontology.wording.lexeme
        self._supposition = lexeme.get("supposition", frozenset())
        supposing = ontology.words("supposition") | self._supposition
        self._supposing = tuple(text for text in supposing if " " in text)
        self._viewpoint = lexeme.get("viewpoint", frozenset())
        self._enumerating = lexeme.get("enumerating", frozenset())
        self._condition = _phrases(lexeme.get("condition", ()))
        self._person = frozenset(ontology.wording.person)
        self._bidding = {word for name in _BIDDING for word in lexeme.get(name, ())}
        self._ensuring = _phrases(lexeme.get("ensuring", ()))
        self._opening_bids = self._bidding.union(phrase[0] for phrase in self._ensuring)
        self._before = _phrases(lexeme.get("before_bidding", ()))
        self._and = lexeme.get("and", frozenset())
        self._finite = ontology.words("copula")
        self._denying = ontology.words("negation") | ontology.words("denial")
        self._modal = lexeme.get("modal", frozenset()) | lexeme.get("possibility", frozenset())

    def supposes(self, text: str) -> bool:
        """Whether a sentence introduces a supposition: "Suppose that", "Case 2:"."""
        lower = text.lower()
        words = re.findall(r"[\w']+", lower[unmarked(text) :])[:3]
        opens = not self._supposition.isdisjoint(words)
        opens = opens or any(phrase in lower for phrase in self._supposing)
        opens = opens and not any(phrase in lower for phrase in self._viewpoint)
        return opens or (bool(words) and words[0] in self._enumerating and ":" in text)

    def bids(self, text: str, said: Span, named: Iterable[Span] = ()) -> bool:
        """Whether a sentence asks somebody to make true what the given part of it states: "Now hold
        it above the first one", "Take the cup and put it on the tray".

        Args:
            text: The sentence.
            said: Span of this part.
            named: Spans of words that mention things, so that words such as "Mount" in "Mount
                Kenya" are not taken for verbs.
        """
        clauses = [mark.end() for mark in _BREAK.finditer(text, unmarked(text), said[0])]
        begin = max([unmarked(text), *clauses])
        words = list(_WORD.finditer(text, begin, said[1]))
        if self._opening_bids.isdisjoint(word.group().lower() for word in words):
            return False
        mentioned, told = tuple(named), False
        for part in self._parts(text, words):
            lower = tuple(word.group().lower() for word in part)
            leading = self._leading(lower)
            verb = part[leading].start() if leading < len(part) else begin
            rest, named_there = lower[leading:], any(s <= verb < e for s, e in mentioned)
            if any(rest[: len(phrase)] == phrase for phrase in self._ensuring):
                return True  # "Make sure that A is above B"
            finite = not self._finite.isdisjoint(rest[1:])
            if rest and rest[0] in self._bidding and not finite and not named_there:
                told = True
            elif leading or self._conditioned(lower):
                told = told and not rest  # "First, ...", "If it is free, ..."
            elif finite or not told:
                return False
        return told

    def modal(self, text: str) -> bool:
        """Whether a sentence states that something is possible or necessary. "Cannot be above" is
        stronger than "is not above".
        """
        words = _words_of(text)
        return not self._modal.isdisjoint({*words, *(word.removesuffix("n't") for word in words)})

    def denies_plainly(self, text: str) -> bool:
        """Whether a sentence denies something and is not `modal`."""
        return not self._denying.isdisjoint(_words_of(text)) and not self.modal(text)

    def unstated(self, text: str, said: Span, named: Iterable[Span] = ()) -> str:
        """Return the stance of a sentence that makes no statement of its own, even if relations
        were read in it: `asked` for questions and requests, `supposed` if it holds only under a
        supposition. The result is empty for all other sentences.

        Args:
            text: The sentence.
            said: Span of the words for the relation.
            named: Spans of words that mention things.
        """
        if asks(text) or self.bids(text, said, named):
            return ASKED
        return SUPPOSED if self.supposes(text) or self._conditional(text) else ""

    def _conditional(self, text: str) -> bool:
        """Whether a sentence begins with a condition. A viewpoint does not count, as in "If you
        face north, A is on your left".
        """
        words = tuple(word.lower() for word in _WORD.findall(text[unmarked(text) :])[:3])
        return self._conditioned(words) and self._person.isdisjoint(words)

    def _conditioned(self, words: tuple[str, ...]) -> bool:
        return any(words[: len(opening)] == opening for opening in self._condition)

    def _parts(self, text: str, words: Sequence[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
        """Yield the words in groups, split at commas and words such as "and"."""
        part: list[re.Match[str]] = []
        for word in words:
            joins = word.group().lower() in self._and
            if part and (joins or "," in text[part[-1].end() : word.start()]):
                yield part
                part = []
            if not joins:
                part.append(word)
        if part:
            yield part

    def _leading(self, words: tuple[str, ...]) -> int:
        """Return the number of words before a possible verb: "please", "then", "you should"."""
        count = 0
        while size := next((len(p) for p in self._before if words[count:][: len(p)] == p), 0):
            count += size
        return count


@lru_cache(maxsize=64)
def forces_of(ontology: Ontology) -> Forces:
    """Return the words of a profile that show the force of a sentence."""
    return Forces(ontology)


def _phrases(texts: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(sorted((tuple(_WORD.findall(text)) for text in texts), key=len, reverse=True))
