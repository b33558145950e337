"""Classify the words of a text according to the phrases and words in the ontology.

spaCy tokenizes, matches phrases and finds sentence boundaries (`spacy.blank("en")`,
`PhraseMatcher`; no trained model). The phrases are in `ontology/`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from symbouq.ontology.tables import Ontology
from symbouq.ontology.words import DESCRIBING, NAMING
from symbouq.reading.bounds import LONGEST_WORD, stretches
from symbouq.reading.without_torch import spacy

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokenizer import Tokenizer
    from spacy.tokens import Doc

_COMPOSED = frozenset(("filler", "hedge", "pronoun"))
"""Word classes with phrases that are read word by word in descriptions. There, "does not have" does
not express ignorance, and "the other" is followed by a noun.
"""
_OPENING = frozenset((*DESCRIBING, "attribute", "numeral", "ordinal", "copula"))
"""Kinds of words after which a word in a description may be misspelled."""
_FULL_STOPS = frozenset((".", "!", "?"))
_SPELLED = frozenset(("noun", "attribute", "relation", "ordinal"))

_LOOKALIKES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00a0": " "})
"""Maps typographic apostrophes and spaces to plain ones. The length of the text does not change, so
that character offsets stay valid.
"""


_LONG_PIECE = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")

_POINT = re.compile(r"\d\.(?=\d)")

_TEXTS_REMEMBERED = 10_000
"""Number of texts after which the spaCy pipeline is created anew."""


class LexicalEntry(NamedTuple):
    """A phrase or word in the lexicon.

    Attributes:
        kind: `relation`, or a word class.
        relation: The canonical relation of a phrase; otherwise empty.
        place: Whether it stands for a side, so that a linking word must come before its ground.
        adjacent: Whether it is used only if its ground follows directly.
        finite: Whether the phrase is a finite verb.
        value: The meaning of a word in a description: a kind, a number, or a dimension with its
            value.
        plural: Whether it is a plural noun.
        verbs: The verbs of which it may be a form.
    """

    kind: str
    relation: str = ""
    place: bool = False
    adjacent: bool = False
    finite: bool = False
    value: str = ""
    plural: bool = False
    verbs: tuple[str, ...] = ()


class Token(NamedTuple):
    """A lexical item: a phrase or word in the lexicon, a number, a punctuation mark, or an unknown
    word (kind `content`).

    Attributes:
        kind: The kind of its lexicon entry, otherwise `content`, `number` or `mark`.
        text: The item as written.
        start: Character offset of its start.
        end: Character offset of its end.
        head: Its first word in lower case, used to look up names.
        entry: Its lexicon entry, if any.
    """

    kind: str
    text: str
    start: int
    end: int
    head: str
    entry: LexicalEntry | None = None


class Analysis:
    """A text with its words and the phrases found by spaCy.

    Attributes:
        text: The text.
        doc: The spaCy document.
        orths: The hash of each word.
        starts: The character offset of each word.
        longest: Maps a position to the longest phrase that starts there: its key and the end
            position.
        inner: Positions of full stops that do not end a sentence: in "e.g.", "3.5".
    """

    def __init__(self, text: str, doc: Doc, longest: dict[int, tuple[int, int]]) -> None:
        self.text = text
        self.inner: set[int] = set()
        self.doc = doc
        self.orths: list[int] = doc.to_array("ORTH").tolist()
        self.starts: list[int] = doc.to_array("IDX").tolist()
        self.longest = longest

    def stripped(self, start: int, end: int) -> tuple[int, int]:
        """Return the character span of a range of words, without surrounding white space."""
        first = self.starts[start]
        last = self.starts[end] if end < len(self.starts) else len(self.text)
        piece = self.text[first:last]
        first += len(piece) - len(piece.lstrip())
        return first, first + len(piece.strip())


class Lexicon:
    """The phrases and words of one profile, matched by spaCy.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self._texts = 0
        self._build()

    def _build(self) -> None:
        nlp = spacy.blank("en")
        nlp.tokenizer = _tokenizer(nlp)
        self._sentencizer = spacy.pipeline.Sentencizer(punct_chars=sorted(_FULL_STOPS))
        self.nlp = nlp
        self._entries: dict[int, tuple[LexicalEntry, str]] = {}
        self._simple: dict[int, tuple[str, str, str]] = {}
        self._typos: dict[str, str] = {}
        self._dotted: dict[int, str] = {}
        self._numbers = {*self.ontology.lexicon.numeral}
        listed = self._listed()
        self._known = {word for text in listed for word in text.split()}
        self._openers = {
            text for text, entry in listed.items() if entry.kind in _OPENING or entry.adjacent
        }
        spelled = [text.split() for text, entry in listed.items() if entry.kind in _SPELLED]
        self._spellings = {w for words in spelled for w in words if w.isalpha() and len(w) > 2}
        self._matcher = spacy.matcher.PhraseMatcher(nlp.vocab, attr="LOWER")
        for text, entry in listed.items():
            self._add(text, entry)

    def _listed(self) -> dict[str, LexicalEntry]:
        """Return all phrases and words. An expression in both lists counts as a phrase for a
        relation.
        """
        describing = self._describing() if self.ontology.describes else {}
        apart = {
            *describing,
            *self.ontology.lexicon.phrase,
            *self.ontology.words("negation"),
        }
        listed = dict(describing)
        for word_class in NAMING:
            for text in self.ontology.words(word_class):
                composed = " " in text and apart.issuperset(text.split())
                if describing and composed and word_class in _COMPOSED:
                    continue
                listed.setdefault(text, LexicalEntry(word_class))
        for text, relation in self.ontology.lexicon.phrase.items():
            listed[text] = LexicalEntry(
                "relation",
                relation,
                place=text in self.ontology.lexicon.place,
                adjacent=text in self.ontology.lexicon.adjacent,
                finite=text in self.ontology.lexicon.finite,
            )
        return listed

    def _describing(self) -> dict[str, LexicalEntry]:
        ontology = self.ontology
        listed = {
            text: LexicalEntry("ordinal", value=str(n))
            for text, n in ontology.lexicon.ordinal.items()
        }
        listed |= {
            text: LexicalEntry("numeral", value=str(n))
            for text, n in ontology.lexicon.numeral.items()
        }
        for text, (dimension, value) in ontology.lexicon.attribute.items():
            listed[text] = LexicalEntry("attribute", value=f"{dimension}:{value}")
        for text, (kind, plural) in ontology.lexicon.noun.items():
            listed[text] = LexicalEntry("noun", value=kind, plural=plural)
        for word_class in DESCRIBING:
            for text in ontology.words(word_class):
                listed.setdefault(text, LexicalEntry(word_class))
        return listed

    def _add(self, text: str, entry: LexicalEntry) -> None:
        if "." in text:
            kind = "numero" if text in self.ontology.words("numero") else entry.kind
            self._dotted[self.nlp.vocab.strings.add(text)] = kind

        patterns = {text, text.replace(" ", "-")}
        self._matcher.add(text, [self.nlp.make_doc(pattern) for pattern in sorted(patterns)])
        self._entries[self.nlp.vocab.strings[text]] = entry, text.split(" ", 1)[0]

    def analysed(self, text: str) -> Analysis:
        """Tokenize a text and match phrases. The result can be split into lexical items as a whole
        or in parts.
        """
        # spaCy stores every string that it reads, and a long run contains more and more names.
        self._texts += 1
        if self._texts % _TEXTS_REMEMBERED == 0:
            self._build()
        doc = self._tokenized(text.translate(_LOOKALIKES))
        longest: dict[int, tuple[int, int]] = {}
        matched = self._spelled(doc) if self.ontology.describes else doc
        for key, start, end in self._matcher(matched):
            longer = start not in longest or longest[start][1] < end
            if longer and (key not in self._dotted or self._abbreviates(key, doc, end)):
                longest[start] = (key, end)
        analysis = Analysis(text, doc, longest)
        if "." in text:
            analysis.inner.update(self._inner(analysis))
        return analysis

    def _abbreviates(self, key: int, doc: Doc, end: int) -> bool:
        """Whether a word is an abbreviation in front of the next word: "no. 4", but not "no."."""
        if self._dotted[key] != "numero":
            return True
        return end < len(doc) and (doc[end].text[0].isdecimal() or doc[end].lower_ in self._numbers)

    def _inner(self, analysis: Analysis) -> Iterator[int]:
        """Yield the full stops that do not end a sentence, namely full stops inside numbers and in
        abbreviations. For some abbreviations, the last full stop is included only if no capital
        letter follows.
        """
        doc = analysis.doc
        for start, (key, end) in analysis.longest.items():
            if key in self._dotted:
                last = end - 1
                closing = self._dotted[key] == "clipping" and doc[last].text == "."
                follows = doc[end].text if end < len(doc) else "\n"
                if closing and (follows[0].isupper() or "\n" in follows):
                    yield from range(start, last)
                else:
                    yield from range(start, end)
        for found in _POINT.finditer(analysis.text):
            n = bisect_left(analysis.starts, found.end() - 1)
            if n < len(doc) and analysis.starts[n] == found.end() - 1:
                yield n

    def _tokenized(self, text: str) -> Doc:
        """Tokenize a text in pieces, since spaCy takes quadratic time for a long piece without
        spaces.
        """
        parts: list[Doc] = []
        for _, stretch in stretches(text):
            first = 0
            for piece in _LONG_PIECE.finditer(stretch):
                for cut in range(piece.start(), piece.end() + 1, LONGEST_WORD):
                    parts.append(self.nlp.tokenizer(stretch[first:cut]))
                    first = cut
            parts.append(self.nlp.tokenizer(stretch[first:]))
        if len(parts) == 1:
            return parts[0]
        # `Doc.from_docs` would start a sentence at the first word of each part.
        words = [(token.text, bool(token.whitespace_)) for part in parts for token in part]
        return spacy.tokens.Doc(
            self.nlp.vocab, [word for word, _ in words], [spaced for _, spaced in words]
        )

    def tokens(self, text: str) -> list[Token]:
        """Split a text into lexical items, preferring the longest phrases."""
        analysis = self.analysed(text)
        return self.itemized(analysis, 0, len(analysis.orths))

    def tokens_of_each(self, texts: Sequence[str]) -> list[list[Token]]:
        """Split several texts into lexical items in one pass. Offsets are relative to each text."""
        joined = self.analysed("\n".join(text.replace("\n", " ") for text in texts))
        found: list[list[Token]] = []
        base = first = 0
        for text in texts:
            last = bisect_left(joined.starts, base + len(text), first)
            found.append(self.itemized(joined, first, last, base))
            base += len(text) + 1
            first = bisect_left(joined.starts, base, last)
        return found

    def sentences(self, analysis: Analysis) -> list[tuple[int, int]]:
        """Return the sentences in an analysed text as ranges of words. A line break ends a
        sentence.
        """
        marks = self._sentencizer(analysis.doc).to_array("SENT_START").tolist()
        breaks = [
            self._simple.get(orth) or self._classify(orth, analysis) for orth in analysis.orths
        ]
        begins = [
            n
            for n, mark in enumerate(marks)
            if (mark == 1 and not self._goes_on(analysis, n)) or (n and breaks[n - 1][1] == "\n")
        ]
        return list(pairwise([*begins, len(marks)]))

    @staticmethod
    def _goes_on(analysis: Analysis, position: int) -> bool:
        """Whether the sentence continues after the full stop before a position. Other marks are
        ignored.
        """
        if not analysis.inner:
            return False
        before = position - 1
        while before >= 0 and analysis.doc[before].is_punct and before not in analysis.inner:
            if analysis.doc[before].text in _FULL_STOPS:
                return False
            before -= 1
        return before in analysis.inner

    def kinds(self, analysis: Analysis, start: int, end: int) -> set[str]:
        """Return the kinds of the phrases and words that begin in a range of words."""
        entries, longest = self._entries, analysis.longest
        return {entries[longest[n][0]][0].kind for n in range(start, end) if n in longest}

    def itemized(self, analysis: Analysis, position: int, stop: int, base: int = 0) -> list[Token]:
        """Return the lexical items in a range of words. Their offsets are relative to `base`."""
        orths, starts, text = analysis.orths, analysis.starts, analysis.text
        longest, simple, inner = analysis.longest, self._simple, analysis.inner
        items: list[Token] = []
        while position < stop:
            start = starts[position] - base
            found = longest.get(position)
            if found is None:
                orth = orths[position]
                kind, word, head = simple.get(orth) or self._classify(orth, analysis)
                if inner and position in inner:
                    kind = "gloss"  # "x = 0.5, A is above B": a clause may begin after the number
                if kind:
                    items.append(Token(kind, word, start, start + len(word), head))
                position += 1
                continue
            key, position = found
            end = starts[position - 1] - base + len(analysis.doc.vocab.strings[orths[position - 1]])
            entry, head = self._entries[key]
            spelled = text[start + base : end + base]
            items.append(Token(entry.kind, spelled, start, end, head, entry))
        return items

    def _spelled(self, doc: Doc) -> Doc:
        """Correct misspelled words in descriptions before phrases are matched. A word is corrected
        if it follows the beginning of a description and is one edit away from exactly one known
        word.
        """
        words = [token.text for token in doc]
        changed = False
        for n, written in enumerate(words):
            first = n == 0 or words[n - 1].isspace() or words[n - 1] in _FULL_STOPS
            opened = first or words[n - 1].lower() in self._openers
            word = written.lower() if first else written
            if not word.isalpha() or not word.islower() or word in self._known:
                continue
            right = self._right(word) if opened and len(word) > 3 else self._swapped(word)
            if right:
                words[n], changed = right, True
        return (
            spacy.tokens.Doc(doc.vocab, words, [bool(t.whitespace_) for t in doc])
            if changed
            else doc
        )

    def _swapped(self, word: str) -> str:
        """The short word in which two letters were swapped: "the" for "hte"."""
        if not 2 <= len(word) <= 3:
            return ""
        twists = {word[1] + word[0] + word[2:], word[:-2] + word[-1] + word[-2]}
        known = sorted(twists & self._known)
        return known[0] if len(known) == 1 else ""

    def _right(self, word: str) -> str:
        """The known word for a misspelled one; empty unless exactly one word fits."""
        if word not in self._typos:
            near = [text for text in self._spellings if one_edit(word, text)]
            near += [word[1:]] if word[0] == "a" and word[1:] in self._spellings else []
            # "balck" is "black" rather than "back", "boxs" is "boxes" rather than "box".
            near = [text for text in near if len(text) == len(word)] or near
            near = [text for text in near if text[-1] == word[-1]] or near
            self._typos[word] = near[0] if len(near) == 1 else ""
        return self._typos[word]

    def _classify(self, orth: int, analysis: Analysis) -> tuple[str, str, str]:
        """Return kind, text and head of a word that is not a phrase. A word with an empty kind is
        dropped.
        """
        word = analysis.doc.vocab.strings[orth]
        if word.isspace():
            kind, word = ("mark", "\n") if "\n" in word else ("", word)
        elif word.isdecimal():
            kind = "number"
        elif word == "'s" or not any(character.isalnum() for character in word):
            kind = "mark"
        else:
            kind = "content"
        self._simple[orth] = (kind, word, word.lower())
        return kind, word, word.lower()


def _tokenizer(nlp: Language) -> Tokenizer:
    """A tokenizer that splits at every mark (`P=`, `upper-left`, `Y(0,1)`), except for apostrophes
    inside words (`o'clock`). It also splits off the possessive.
    """
    mark = r"[^\w\s]"
    return spacy.tokenizer.Tokenizer(
        nlp.vocab,
        prefix_search=re.compile(rf"^{mark}").search,
        suffix_search=re.compile(rf"('[sS]|{mark})$").search,
        infix_finditer=re.compile(r"[^\w\s']").finditer,
    )


def kind_at(tokens: Sequence[Token], position: int) -> str:
    """Return the kind of a token; empty beyond either end."""
    return tokens[position].kind if 0 <= position < len(tokens) else ""


def one_edit(word: str, other: str) -> bool:
    """Whether two words differ by one insertion, deletion, substitution or swap of letters."""
    if word == other or abs(len(word) - len(other)) > 1 or word[0] != other[0]:
        return False
    start = next((n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), None)
    if start is None:
        return True  # one word is the beginning of the other
    rest, others = word[start:], other[start:]
    swapped = rest[1:2] + rest[:1] + rest[2:]
    return others in (swapped, "") or rest[1:] in (others[1:], others) or rest == others[1:]
