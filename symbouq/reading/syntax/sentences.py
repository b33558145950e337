"""Read sentences: split, prepare and parse texts in batches. Sentences of the same shape are read
only once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from symbouq.errors import SymboUQError
from symbouq.limits import check_time
from symbouq.ontology.tables import Ontology
from symbouq.reading.bounds import LONGEST_SENTENCE
from symbouq.reading.faults import because_of
from symbouq.reading.force import asks, offered
from symbouq.reading.segments import ENDS
from symbouq.reading.syntax.cutting import dotted_of, pieces
from symbouq.reading.syntax.extraction import (
    CONTEXT,
    NOMINAL,
    SURE,
    Extracted,
    Extraction,
    Triplet,
)
from symbouq.reading.syntax.kept import Kept
from symbouq.reading.syntax.names import Name
from symbouq.reading.syntax.pipeline import Pipeline
from symbouq.reading.syntax.positions import Places
from symbouq.reading.syntax.preparation import Piece, Preparation, Word

if TYPE_CHECKING:
    from spacy.tokens import Doc

POSSESSIVE = frozenset(("'s", "\u2019s"))
_COPULAS = frozenset(("is", "are", "was", "were", "and"))
_FINITE = frozenset(("VBZ", "VBP", "VBD", "MD", "VB"))
"""Tags of verbs that can be the main verb of a sentence."""
_WORDS = re.compile(r"[\w']+")
_QUOTATION = re.compile(
    r"\"[^\"\n]+\"|\u201c[^\u201d\n]+\u201d|(?<!\w)['\u2018](?!s\b)[^'\u2018\u2019\n]+['\u2019](?!\w)"
)
_REMEMBERED = 20_000
"""Maximum number of sentence shapes in the cache."""
_TEXTS = 2_000
"""Maximum number of texts with cached sentences."""
_BATCH = 64
"""Number of sentences that are parsed and grounded together."""


_NOTHING = Extracted((), {})


@dataclass(frozen=True)
class Sentence:
    """A sentence with the result of reading it.

    Attributes:
        text: Its text.
        start: Its offset in the text.
        words: Its words.
        says: Its triplets and forces.
        asked: Whether it is a question.
        too_long: Whether it exceeds the length limit.
        known: Heads of noun phrases that are labels or repeated names.
        time: The time at which its statements hold: `then` (possibly before an event), `past`
            (possibly the final state), `later` (after what was told before), or empty if not
            stated.
        phases: The periods that its statements are about: "in act two".
        fault: The reason why it cannot be read; empty if it can be read.
    """

    text: str
    start: int
    words: tuple[Word, ...]
    says: Extracted
    asked: bool
    too_long: bool = False
    known: frozenset[int] = frozenset()
    time: str = ""
    phases: tuple[str, ...] = ()
    fault: str = ""

    def sure(self, triplet: Triplet) -> bool:
        """Whether a triplet may be used. It must be certain or about known things."""
        return triplet.cost <= SURE or self.known.issuperset((triplet.figure, triplet.ground))

    def word_of(self, triplet: Triplet) -> str:
        """Return the word that states a triplet; empty if it is in the preceding question."""
        at = triplet.trigger
        return "".join(word.text.lower() for word in self.words[at : at + 1])

    def upright(self, upright_as: Mapping[str, str], plane: Set[str]) -> Sentence:
        """Return the sentence as it should be read in a text that uses the compass, where "above"
        does not mean north.

        Args:
            upright_as: Maps a relation to the meaning of its words outside the plane.
            plane: Words for the plane: compass directions and grid steps.
        """
        words = list(self.words)
        triplets = []
        for triplet in self.says.triplets:
            word = self.words[triplet.trigger]
            if plane.isdisjoint(_WORDS.findall(word.text.lower())):
                told = tuple(upright_as.get(r, r) for r in triplet.relations)
                triplet = replace(triplet, relations=told)
                amounts = (
                    a._replace(relation=upright_as.get(a.relation, a.relation))
                    for a in word.amounts
                )
                words[triplet.trigger] = word._replace(amounts=tuple(amounts))
            triplets.append(triplet)
        says = replace(self.says, triplets=tuple(triplets))
        return replace(self, words=tuple(words), says=says)

    @cached_property
    def named(self) -> Mapping[int, tuple[list[str], str, bool]]:
        """For each noun phrase, by its head: the words that name the thing, the head word, and
        whether this is a proper name.
        """
        return {head: self._name(head) for head in self.says.phrases}

    def _name(self, head: int) -> tuple[list[str], str, bool]:
        phrase = self.says.phrases[head]
        words = [self.words[n].text for n in phrase.words]
        proper = phrase.kind == "name" and not self.words[head].label
        after, follows, *_ = [*(w.text.lower() for w in self.words[head + 1 : head + 3]), "", ""]
        if after in POSSESSIVE and (follows in _COPULAS or not any(map(str.isalnum, follows))):
            words.append("'s")  # "left of Anna's"
        return words, self.words[head].text, proper


Shape = tuple[tuple[str, str, str, tuple[str, ...], bool, Places, bool], ...]


Group = tuple[tuple[str, ...], frozenset[Name]]
"""Texts that belong together, with the names that are repeated in them or in their context."""

_SHOWN_AS = ("nouns", "first names")
"""Ways in which names are shown to the parser again if the first parse is doubtful."""


class _Row(NamedTuple):
    """A sentence that is to be read.

    Attributes:
        text: Index of its text among all texts that are read together.
        sentence: The sentence.
        start: Its offset in the text.
        tokens: Its tokens. Their offsets are relative to the sentence.
        asked: Whether it is a question.
        heads: Nouns that precede labels in its group and may occur in it.
        names: Repeated names in its group that may occur in it.
    """

    text: int
    sentence: str
    start: int
    tokens: tuple[Piece, ...]
    asked: bool
    heads: frozenset[str]
    names: frozenset[Name]


class Sentences:
    """Reader of sentences with the tables of a profile.

    Args:
        ontology: The tables.
        pipeline: The parser.

    Attributes:
        ontology: The tables.
        settling: Relations that determine the arrangement of two things, whatever their places.
        containing: Relations in which the figure is in the ground.
        sideways: Directions that depend on the viewpoint: left and right, in front and behind.
        fixed: Words for directions that do not depend on the viewpoint, that is, compass
            directions.
        first_on: Maps each scale to the relation of the thing in the first position to the others.
        nothing: Words for "none".
        barred: Words that change the meaning of a quantified sentence.
    """

    def __init__(self, ontology: Ontology, pipeline: Pipeline) -> None:
        self.ontology = ontology
        self.pipeline = pipeline
        with pipeline.tokenizing() as tokenized:
            self.preparation = Preparation(ontology, tokenized)
        expressions = self.preparation.expressions
        self._extraction = Extraction(ontology, expressions["verb"], expressions["adposition"])
        self.excluding = self._extraction.excluding
        relations = ontology.relations
        # A thing at the same level as another may be on either side of it.
        level = {r for r, signs in relations.component.items() if not any(signs.values())}
        self.settling = relations.family.keys() - level
        part_as = ontology.wording.part_as
        self.containing = {r for r, implied in relations.implied.items() if part_as in implied}
        self.sideways = {r for r, signs in relations.component.items() if signs.keys() & {"x", "z"}}
        self.fixed = self._classes("compass", "compass_side")
        scales = ontology.wording.scale.items()
        self.first_on = {s: relations.converse[r] for s, r in scales if r in relations.converse}
        self.nothing = self._classes("nobody", "denial")
        self.barred = self._classes("negation", "condition", "modal", "exception", "doubtful")
        self.barred -= self.nothing | self._classes("totality")
        citing = map(re.escape, ontology.words("citation"))
        self._citing = re.compile(rf"\b(?:{'|'.join(citing)})\b")
        self._dotted = dotted_of(ontology)
        self._earlier = tuple(self._classes("earlier"))
        self._initially, self._later, self._past = (
            re.compile(rf"\b(?:{'|'.join(map(re.escape, self._classes(*names)))})\b")
            for names in (("initially",), ("later", "ending"), ("been",))
        )
        times = "|".join(map(re.escape, self._classes("phase")))
        numbers = "|".join(map(re.escape, self.preparation.positions.numerals))
        time = rf"(?:[^\W\d_]+ )?(?:{times})s?(?: (?:\d+|{numbers})\b)?"
        self._phase = re.compile(
            rf"\b(?:(?:in|on|by|at|during|before|after|this) (?:the |an? )?({time})"
            rf"|((?:last|next) {time})"
            r"|in ([12]\d\d\d)(?! ?[a-z]{1,2}\b))\b"
        )
        # Many traces share a scene, so a limited number of texts is cached.
        self._pieces = lru_cache(maxsize=_TEXTS)(self._cut)
        self._kind_of = lru_cache(maxsize=_TEXTS)(self._kind)
        self._lexicon = self._classes(*ontology.wording.lexeme).union(ontology.lexicon.ordinal)
        self._shapes: dict[tuple[Shape, bool], Extracted | str] = {}
        self._kept = Kept(ontology, pipeline)
        self._known: dict[Group, list[list[Sentence]]] = {}

    def _classes(self, *names: str) -> frozenset[str]:
        lexeme = self.ontology.wording.lexeme
        return frozenset().union(*(lexeme.get(name, ()) for name in names))

    def cut(self, text: str) -> list[tuple[int, int]]:
        """Return the span of each sentence in `text`. A line break ends a sentence."""
        with self.pipeline.passing():
            return [(s[0].start, s[-1].start + len(s[-1].text)) for s in self._pieces(text)]

    def _cut(self, text: str) -> list[list[Piece]]:
        return list(pieces(self.pipeline.nlp.tokenizer, text, self._dotted))

    def read(
        self, texts: Sequence[str], names: frozenset[Name] = frozenset()
    ) -> list[list[Sentence]]:
        """Read the sentences of each text.

        Args:
            texts: The texts.
            names: Names that are repeated in the texts or in their context.

        Raises:
            LimitError: If the time limit is reached.
        """
        group = tuple(texts), names
        return self._known.get(group) or self._read([group])[0]

    def ahead(self, groups: Collection[Group]) -> None:
        """Read groups of texts in the same batches and cache them for later calls of `read`.

        Args:
            groups: Groups of texts, each with the names that are repeated in it or in its context.

        Raises:
            LimitError: If the time limit is reached.
        """
        if not self._known.keys() >= set(groups):
            new = list(dict.fromkeys(groups))
            self._known = {}
            self._known = dict(zip(new, self._read(new), strict=True))

    def _read(self, groups: Sequence[Group]) -> list[list[list[Sentence]]]:
        with self.pipeline.passing():
            rows = list(self._rows(groups))
            (plain,) = self._shown(rows, [""])
            whole = {n: _completed(rows[n], s) for n, s in enumerate(plain) if s.says.amended}
            (completed,) = self._shown([*whole.values()], [""])
            for (n, row), sentence in zip(whole.items(), completed, strict=True):
                if _merit(sentence) >= _merit(plain[n]):
                    rows[n], plain[n] = row, sentence
            doubtful = [n for n, s in enumerate(plain) if rows[n].names and _doubtful(s)]
            variants = self._shown([rows[n] for n in doubtful], _SHOWN_AS)
        for n, *others in zip(doubtful, *variants, strict=True):
            fitting = [other for other in others if _agree(plain[n], other)]
            plain[n] = max((plain[n], *fitting), key=_merit)
        found: list[list[Sentence]] = [[] for texts, _ in groups for _ in texts]
        for row, sentence in zip(rows, plain, strict=True):
            found[row.text].append(sentence)
        each = iter(found)
        return [list(islice(each, len(texts))) for texts, _ in groups]

    def _rows(self, groups: Sequence[Group]) -> Iterator[_Row]:
        number = 0
        for texts, names in groups:
            cut = [self._pieces(text) for text in texts]
            heads = self._heads([tokens for sentences in cut for tokens in sentences])
            options, before = offered("\n".join(texts)), 0
            for text, sentences in zip(texts, cut, strict=True):
                for tokens in sentences:
                    check_time()
                    start, end = tokens[0].start, tokens[-1].start + len(tokens[-1].text)
                    asked = asks(text, end, start) or before + start in options
                    sentence = text[start:end]
                    lower = sentence.lower()
                    known = (
                        frozenset(head for head in heads if head.split()[0] in lower),
                        frozenset(name for name in names if name[0] in lower),
                    )
                    yield _Row(number, sentence, start, _moved(tokens), asked, *known)
                before += len(text) + 1
                number += 1

    def _shown(self, rows: Sequence[_Row], ways: Sequence[str]) -> list[list[Sentence]]:
        """Read the sentences once for each way of showing names to the parser. An empty way shows
        them unchanged. Repeated sentences are read only once.
        """
        keys = [row._replace(text=0, start=0) for row in rows]
        distinct = dict(zip(keys, rows, strict=True))
        prepared = [
            {key: self._prepared(row, way) for key, row in distinct.items()} for way in ways
        ]
        self._parse(
            (words, row.asked)
            for sentences in prepared
            for words, row in zip(sentences.values(), distinct.values(), strict=True)
            if words and not isinstance(words, str)
        )
        shown = []
        for sentences in prepared:
            read = {key: self._sentence(sentences[key], row) for key, row in distinct.items()}
            shown.append(
                [replace(read[key], start=row.start) for key, row in zip(keys, rows, strict=True)]
            )
        return shown

    def _prepared(self, row: _Row, way: str) -> tuple[Word, ...] | str:
        """The words of a sentence as shown to the parser; empty if the sentence is too long. After
        an internal error, the result is a message.
        """
        if len(row.tokens) > LONGEST_SENTENCE:
            return ()
        check_time()
        names = row.names if way else frozenset()
        proper = way == "first names"
        try:
            return _ended(self.preparation.words(row.tokens, row.heads, names, proper=proper))
        except SymboUQError:
            raise
        except Exception as error:
            return because_of(error)

    def _sentence(self, words: tuple[Word, ...] | str, row: _Row) -> Sentence:
        check_time()
        if isinstance(words, str):
            return _unread(row, words)
        says = self._shapes[self._shape(words), row.asked] if words else _NOTHING
        if isinstance(says, str):
            return _unread(row, says)
        says = self._cited(says, words, row.sentence)
        known = _known(words, says, row.names)
        text = row.sentence.lower()
        time = self._time(text)
        phases = tuple(found[found.lastindex or 0] for found in self._phase.finditer(text))
        long = len(row.tokens) > LONGEST_SENTENCE
        return Sentence(row.sentence, row.start, words, says, row.asked, long, known, time, phases)

    def _cited(self, says: Extracted, words: Sequence[Word], text: str) -> Extracted:
        """Mark quoted text in a sentence as doubted, since it is somebody's words, unless the
        quotation is from the given text.
        """
        quotes = [match.span() for match in _QUOTATION.finditer(text)]
        if not quotes or not says.triplets:
            return says
        outside = _QUOTATION.sub(" ", text).lower()
        if self._citing.search(outside) or not any(map(str.isalpha, outside)):
            return says
        triplets = tuple(
            replace(s, force="doubted")
            if any(start < words[s.trigger].start < end for start, end in quotes)
            else s
            for s in says.triplets
        )
        return replace(says, triplets=triplets)

    def _time(self, text: str) -> str:
        """The time stated in a lower-case sentence for its statements; empty if there is none."""
        then = self._initially.search(text) or re.sub(r"^\W+", "", text).startswith(self._earlier)
        if then or self._later.search(text):
            return "then" if then else "later"
        return "past" if self._past.search(text) else ""

    def _heads(self, sentences: Sequence[Sequence[Piece]]) -> frozenset[str]:
        """The nouns that precede labels: "box" if there is a "Box 14"; "shell casing" if a "shell
        casing 1" is a ground and there is a second shell casing.
        """
        opened = Counter[str]()
        codes: dict[str, set[str]] = {}
        repeated = Counter(_moved(s) for s in sentences if len(s) <= LONGEST_SENTENCE)
        for tokens in repeated:
            for noun, code, surely in self.preparation.numbered(tokens):
                codes.setdefault(f"{noun} (", set()).update([code, *([""] if surely else [])])
        for tokens, times in repeated.items():
            if not any(map(_is_code, tokens)):
                continue
            check_time()
            try:
                words = self.preparation.words(tokens)
            except Exception:  # the error occurs again when the sentence is read
                continue
            for n, word in enumerate(words):
                noun, _, code = word.text.rpartition(" ")
                if not (word.label and noun) or (
                    len(code) > 1 and code.isalpha() and code.istitle()
                ):
                    continue  # "Far Field"
                head = noun.split()[0].lower()
                opened[head] += 2 * times
                if n and self.preparation.is_name_part(words[n - 1]):
                    related = n > 1 and bool(words[n - 2].category)
                    opened[f"{words[n - 1].text.lower()} {head}"] += (1 + related) * times
        known = {head for head, count in opened.items() if count > 1 + (" " in head)}
        return frozenset(known.union(head for head, of in codes.items() if len(of) > 1))

    def _shape(self, words: Sequence[Word]) -> Shape:
        """The cache key for a reading: the words as shown, with their expressions and kinds. Of a
        label, this is what the lexicon knows: "ward 0" for "Ward 5", nothing for "T3".
        """
        return tuple(
            (
                word.shown,
                self._kind_of(word.text) if word.label else word.text,
                word.category,
                word.relations,
                word.denied,
                word.places,
                bool(word.amounts),
            )
            for word in words
        )

    def _kind(self, label: str) -> str:
        """The words of a label that the lexicon knows, and 0 if a number follows; empty if there
        are none. A single letter is no word.
        """
        words = label.lower().split()
        known = [w for w in words if not self._lexicon.isdisjoint((w, w.removesuffix("s")))]
        if len(label) == 1 or not known:
            return ""
        return " ".join([*known, *(["0"] if any(map(str.isdecimal, words)) else [])])

    def _parse(self, sentences: Iterable[tuple[tuple[Word, ...], bool]]) -> None:
        """Parse the sentences with new shapes and cache the results."""
        sentences = list(sentences)
        new = {
            (shape, asked): words
            for words, asked in sentences
            if (shape := self._shape(words), asked) not in self._shapes
        }
        if len(self._shapes) > _REMEMBERED:
            self._shapes.clear()
            new = {(self._shape(words), asked): words for words, asked in sentences}
        self._shapes.update(self._kept.load(new))
        rows = [row for row in new.items() if row[0] not in self._shapes]
        for first in range(0, len(rows), _BATCH):
            check_time()
            self._parse_batch(rows[first : first + _BATCH])

    def parsed(self, sentence: Sentence) -> tuple[Doc, list[str]]:
        """Return a sentence's parse, and its facts for the reading rules."""
        (doc,) = self._docs([sentence.words])
        return doc, self._extraction.facts(sentence.words, doc, sentence.asked)

    def _docs(self, sentences: Sequence[tuple[Word, ...]]) -> list[Doc]:
        docs = list(self.pipeline.parsed([w.shown for w in words] for words in sentences))
        again = {
            n: shown
            for n, (words, doc) in enumerate(zip(sentences, docs, strict=True))
            if (shown := _with_verb(words, doc, self.preparation.is_verb))
        }
        for n, doc in zip(again, self.pipeline.parsed(again.values()), strict=True):
            docs[n] = doc
        return docs

    def _parse_batch(self, new: Sequence[tuple[tuple[Shape, bool], tuple[Word, ...]]]) -> None:
        """Cache the content of the sentences. If a sentence cannot be read, cache the error
        instead.
        """
        try:
            self._extract(new)
        except SymboUQError:
            raise
        except Exception as error:
            if len(new) == 1:
                self._shapes[new[0][0]] = because_of(error)
            for one in new if len(new) > 1 else ():
                self._parse_batch([one])

    def _extract(self, new: Sequence[tuple[tuple[Shape, bool], tuple[Word, ...]]]) -> None:
        docs = self._docs([words for _, words in new])
        batch = [(words, doc, asked) for ((_, asked), words), doc in zip(new, docs, strict=True)]
        keys = (key for key, _ in new)
        read = dict(zip(keys, self._extraction.extracted(batch), strict=True))
        self._shapes.update(read)
        self._kept.save(read)


def _unread(row: _Row, fault: str) -> Sentence:
    return Sentence(row.sentence, row.start, (), _NOTHING, row.asked, fault=fault)


def _moved(tokens: Sequence[Piece]) -> tuple[Piece, ...]:
    start = tokens[0].start
    return tuple(Piece(piece.text, piece.start - start) for piece in tokens)


def _completed(row: _Row, sentence: Sentence) -> _Row:
    """Insert the omitted words into a sentence, so that it can be read again."""
    tokens = list(row.tokens)
    for at, what, instead in reversed(sentence.says.amended):
        text = what if isinstance(what, str) else sentence.words[what].text.split()[-1]
        word = sentence.words[at]
        first = next((n for n, t in enumerate(tokens) if t.start >= word.start), len(tokens))
        tokens[first : first + instead] = [Piece(text, word.start)]
    return row._replace(tokens=tuple(tokens))


def _doubtful(sentence: Sentence) -> bool:
    """Whether the parse may improve if names are shown differently. This is the case if an
    expression has no certain statement, or a statement about a thing without a known name.
    """
    expressed = sum(bool(word.relations) for word in sentence.words)
    sure, unknown = _merit(sentence)
    return sure < expressed or unknown < 0


def _merit(sentence: Sentence) -> tuple[int, int]:
    """The quality of a reading; greater is better. It is the number of expressions with a certain
    statement, then (to break ties) how few things lack a known name.
    """
    sure = [s for s in sentence.says.triplets if s.cost <= SURE]
    heads = {n for s in sure for n in (s.figure, s.ground) if n != CONTEXT}
    return len({s.trigger for s in sure}), -len(heads - _told(sentence))


def _told(sentence: Sentence) -> frozenset[int]:
    """The heads of noun phrases without a common noun, or with one that is known or owned."""
    phrases, words = sentence.says.phrases.items(), sentence.words
    told = {n for n, p in phrases if "'s" in (words[m].text for m in p.words)}
    return sentence.known | told | {n for n, p in phrases if not p.names or p.kind == "name"}


def _agree(plain: Sentence, other: Sentence) -> bool:
    """Whether `other` has all the statements of `plain` about known things."""

    def said(sentence: Sentence) -> set[tuple[int, ...]]:
        places = [word.start for word in sentence.words]
        return {
            (places[s.trigger], places[s.figure], places[s.ground])
            for s in sentence.says.triplets
            if s.cost <= SURE and CONTEXT not in (s.figure, s.ground)
        }

    known = {plain.words[n].start for n in _told(plain)}
    return all(row in said(other) for row in said(plain) if known.issuperset(row[1:]))


def _known(words: Sequence[Word], says: Extracted, names: Collection[Name]) -> frozenset[int]:
    """The heads of noun phrases that are labels or repeated names."""
    found = set()
    for head, phrase in says.phrases.items():
        named = tuple(word.lower() for n in phrase.words for word in words[n].text.split())
        if words[head].label or named in names:
            found.add(head)
    return frozenset(found)


def _is_code(piece: Piece) -> bool:
    return len(piece.text) <= 2 and piece.text.isalnum()


def _ended(words: Sequence[Word]) -> tuple[Word, ...]:
    """End a sentence with a full stop. Without it, the parser may misread the last words."""
    if not words or words[-1].text in ENDS or words[-1].text == ":":
        return tuple(words)
    return (*words, Word(".", ".", words[-1].end, words[-1].end))


def _with_verb(words: Sequence[Word], doc: Doc, is_verb: Callable[[str], bool]) -> list[str] | None:
    """The words to show to the parser after it mistook a verb for a noun, as in "the title wraps
    below B" or "Mount the lamp above B". The verb is replaced by a known verb. The result is None
    if the sentence has a finite verb, even a known one as in "The lawn and the road touch".
    """
    for token in doc[1:]:
        word, joined = words[token.i], any(other.lower_ in ("and", ",") for other in doc[: token.i])
        misread = token.dep_ in ("ROOT", "conj") and token.tag_ in ("NN", "NNS", "JJ")
        misread = misread or (
            token.tag_ == "JJ" and token.dep_ == "amod" and token.head.i < token.i
        )
        # "A only partially overlaps with B"
        misread = misread or (token.tag_ == "RB" and word.category == "between")
        plural = joined and not word.text.endswith("s")
        preceding = next((t for t in reversed(doc[: token.i]) if t.pos_ != "ADV"), token)
        named = preceding.pos_ in NOMINAL or (plural and preceding.pos_ == "ADJ")  # "the square"
        if (
            misread
            and (named or words[preceding.i].label)
            and is_verb(word.text.lower())
            and (plural or token.dep_ == "ROOT" or token.tag_ == "RB")
        ):
            shown = [w.shown for w in words]
            verbs = "need" if doc[token.i + 1].pos_ in (*NOMINAL, "DET", "NUM") else "are"
            shown[token.i] = verbs if plural else "exists"
            return shown
    if any(token.tag_ in _FINITE for token in doc):
        return None
    first, *rest = words
    ordered = rest and doc[1].pos_ == "DET" and doc[0].pos_ in NOMINAL
    if ordered and not (first.category or first.label):
        return ["Put", *(word.shown for word in rest)]  # "Mount the sensor above B."
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
