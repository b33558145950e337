"""Whole traces: scene, question and response in order, the response cut into claims.

What a sentence states is for a subclass to say: `symbouq.reading.described.reader` reads things by
their descriptions, `symbouq.reading.events.reader` what happens to them.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Generic, Protocol, Self, TypeVar

from symbouq.limits import LimitError, check_time, late
from symbouq.ontology.measures import Offset
from symbouq.ontology.tables import Ontology
from symbouq.ontology.words import AUXILIARY
from symbouq.reading.bounds import LONGEST_SENTENCE
from symbouq.reading.faults import ReadingError, readable, reading
from symbouq.reading.force import SUPPOSED, asks
from symbouq.reading.lexicon import Lexicon, Token, kind_at
from symbouq.reading.parsed import ASSERTED, Count, Events, Question
from symbouq.reading.segments import (
    announced,
    announces,
    answering,
    broken,
    clauses,
    gist,
    infers,
    is_cut_off,
    refuses,
    retracts,
    segmented,
    structured,
    unretracted,
)

_CONCLUSION = "the conclusion"


Told = tuple[Sequence[str], str, Sequence[str] | None, str | None, str | None]
"""Scene, question, reasoning, conclusion and response of a trace, as a reader takes them."""


def too_long(tokens: Sequence[Token]) -> bool:
    """Whether a text has a sentence that is longer than any that is read."""
    if len(tokens) <= LONGEST_SENTENCE:
        return False
    start = 0
    for position, token in enumerate(tokens):
        if token.kind == "mark" and token.text in _STOPS:
            start = position + 1
        elif position - start >= LONGEST_SENTENCE:
            return True
    return False


_STOPS = frozenset((".", "!", "?", ";", "\n"))
_TOO_LONG = f"for it has a sentence of more than {LONGEST_SENTENCE} words"


@dataclass(frozen=True)
class Mention:
    """A relation read from text.

    Attributes:
        subject: The thing placed.
        relation: The canonical relation.
        object: The thing that it is placed by.
        span: Character offsets of the words that it was read from.
        confidence: In (0, 1].
        grounded: Whether scene or question name both things.
        offset: Axis to how much further the subject is than the object.
        unit: The unit of the offset; empty where the text has none.
    """

    subject: str
    relation: str
    object: str
    span: tuple[int, int]
    confidence: float
    grounded: bool
    offset: Offset = ()
    unit: str = ""


def grouped(ontology: Ontology, group: Sequence[Mention]) -> Iterator[Mention]:
    """What "A is between B and C" says: A is related to a thing of its own that spans B and C.
    Of one landmark alone a relation of two can say nothing.

    Args:
        ontology: The tables of the profile.
        group: One relation of one thing to each of its landmarks, in order.
    """
    if len(group) > 1:
        whole = " and ".join(mention.object for mention in group)
        spans = ontology.lexicon.grouped[group[0].relation]
        for mention in group:
            yield replace(mention, subject=whole, relation=spans)
        yield replace(group[0], object=whole)


NAMED_BY_QUESTION = 0.8
"""Confidence of a bare label, whose things are those of the question."""

QUOTED, RETRACTED, COUNTED = "quoted", "retracted", "counted"


@dataclass(frozen=True)
class Claim:
    """A claim of a response: its type, its text and what it states.

    Its stance is `asserted`; `necessary`, `possible`, `impossible`, `unnecessary` or
    `undetermined`; `counted`, where it says how many of its relations hold; `supposed` (under an
    "if" or "suppose"), `asked`, `quoted` (nothing but somebody's words) or `retracted` (taken back
    by what follows), which state nothing. Where nothing is stated, its reason may say why:
    `unread`, `uncertain`, `not-in-profile`. Its rest are its words about places of which nothing
    was read; with a rest its reason is `in-part`.
    """

    type: str
    text: str
    relations: tuple[Mention, ...]
    stance: str = ASSERTED
    reason: str = ""
    count: Count | None = None
    rest: tuple[str, ...] = ()


@dataclass(frozen=True)
class Text:
    """A trace's texts, read.

    Attributes:
        scene: What each scene sentence states.
        claims: The claims, the conclusion last.
        asked: The pair that the question asks about: subject and object.
        faults: What could not be read, by an internal error or for its length, one message
            each; a claim among them states nothing.
        events: The same as clauses, where the profile reads events.
        whole: Whether all that the scene says of places is read; None where a reader cannot tell.
        lost: The faults of scene and question.
        question: Reads the question.
    """

    scene: tuple[tuple[Mention, ...], ...]
    claims: tuple[Claim, ...]
    asked: tuple[str, str] | None
    faults: tuple[str, ...] = ()
    events: Events | None = None
    whole: bool | None = None
    lost: tuple[str, ...] = ()
    question: Callable[[], Question] = field(default=lambda: Question(""), compare=False)


def triples(mentions: Iterable[Mention]) -> tuple[tuple[str, str, str], ...]:
    """Relations without what else is known of them: subject, relation and object of each."""
    return tuple((m.subject, m.relation, m.object) for m in mentions)


class Things(Protocol):
    """The things of a trace, as a reader keeps them."""

    def copy(self) -> Self:
        """The same, to be added to independently."""

    def __len__(self) -> int: ...


N = TypeVar("N", bound=Things)

Scene = tuple[tuple[tuple[Mention, ...], ...], N, tuple[str, str] | None]
"""What each scene sentence states, the things, and the pair that the question asks for."""


class TraceReader(ABC, Generic[N]):
    """Reads traces under the tables of one profile.

    Args:
        ontology: The tables of the profile.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self.lexicon = Lexicon(ontology)
        words = ontology.lexicon.word
        self._supposing = words.get("fronted", frozenset()) | words.get("enumerating", frozenset())
        self._consequent = words.get("consequent", frozenset())
        # Many traces answer questions about one scene; remembered within bounds.
        self._read_scene = lru_cache(maxsize=1024)(self._scene)

    # What a subclass says --------------------------------------------------------------

    @abstractmethod
    def _scene(self, scene: tuple[str, ...], question: str) -> Scene[N]:
        """The statements of the scene, the things in it, and the pair asked for."""

    @abstractmethod
    def _mentions(
        self, tokens: Sequence[Token], names: N, known: int, antecedent: str | None = None
    ) -> tuple[Mention, ...]:
        """The relations that a text states about things.

        Args:
            tokens: The tokens of the text.
            names: The trace's things; new ones are added.
            known: How many of them scene and question have.
            antecedent: What a pronoun refers to that has none in the text.
        """

    @abstractmethod
    def _label(
        self, tokens: Sequence[Token], names: N, asked: tuple[str, str]
    ) -> tuple[Mention, ...]:
        """A bare label (`upper-left`, "above and to the right") as relations of the pair
        that the question asks for.
        """

    @abstractmethod
    def question(self, scene: Sequence[str], question: str) -> Question:
        """Reads a question about a scene.

        Args:
            scene: The scene's sentences.
            question: The question, or a statement to be judged.
        """

    def _head(self, tokens: Sequence[Token], names: N) -> None:
        """Takes note of a heading: what follows is about the things that it names."""

    def _unreadable(self, tokens: Sequence[Token], names: N) -> str:
        """Why a text is beyond what is read; empty if it is not."""
        return _TOO_LONG if too_long(tokens) else ""

    def _readable(
        self,
        part: str,
        text: str,
        tokens: Sequence[Token],
        names: N,
        faults: dict[str, str] | None = None,
    ) -> bool:
        """Whether a part of a trace is to be read.

        Args:
            part: The part.
            text: Its text.
            tokens: Its tokens.
            names: The trace's things.
            faults: What could not be read, with messages, to which it is added; None where
                that is an error.

        Raises:
            LimitError: If the time limit is reached, and that is an error.
            ReadingError: If it is beyond what is read, and that is an error.
        """
        if faults is None:
            check_time()
        elif part in faults or _TIME in faults:
            return False
        elif late():
            faults[_TIME] = f"{part} and what follows it: not read, the time limit was reached"
            return False
        why = self._unreadable(tokens, names)
        if not why:
            return True
        error = ReadingError(part, why, text)
        if faults is None:
            raise error
        faults[part] = str(error)
        return False

    def _lists(self, names: N) -> bool:
        """Whether what a heading announced goes on, so that a line that relates nothing may
        say something too.
        """
        return False

    # Whole traces --------------------------------------------------------------------

    def ahead(self, traces: Iterable[Told]) -> None:
        """Does nothing: sentences cost no less together than alone."""

    def read(
        self,
        scene: Sequence[str],
        question: str,
        reasoning: Sequence[str] | None = None,
        conclusion: str | None = None,
        response: str | None = None,
    ) -> Text:
        """Reads one trace: its claims either given one by one or as free text.

        Args:
            scene: The scene's sentences.
            question: The question, possibly empty.
            reasoning: The reasoning claims, with `conclusion`.
            conclusion: The delivered answer.
            response: Free text, segmented into claims; its answer is the last one.

        Raises:
            ReadingError: If a sentence of the scene has no end.
        """
        read, scene, question, lost = readable(self._read_scene, unretracted(scene), question)
        stated, spellings, asked = read
        faults: dict[str, str] = {}
        while True:
            names = spellings.copy()
            try:
                if response is not None:
                    whether = self._asks_whether(question)
                    claims = self._segmented(response, names, asked, whether, faults)
                else:
                    claims = self._given(reasoning or (), conclusion or "", names, asked, faults)
            except ReadingError as error:
                if error.part in faults:
                    raise
                # Again without it: it may have left the things half changed.
                faults[error.part] = str(error)
                continue
            except LimitError:  # before anything of it was read
                faults[_TIME] = "the claims: not read, the time limit was reached"
                claims = [Claim("reasoning", step, ()) for step in reasoning or ()]
                claims.append(Claim("conclusion", conclusion or "", ()))
            text = Text(
                stated,
                tuple(claims),
                asked,
                (*lost, *faults.values()),
                lost=tuple(lost),
                question=partial(self.question, scene, question),
            )
            return self._completed(text, scene, question)

    def _completed(self, text: Text, scene: Sequence[str], question: str) -> Text:
        """A text that is read, with what a reader finds only when all of it is there."""
        return text

    def split(self, scene: str) -> list[str]:
        """The sentences of a scene given as one string."""
        analysis = self.lexicon.analysed(scene)
        spans = [analysis.stripped(*span) for span in self.lexicon.sentences(analysis)]
        return [scene[start:end] for start, end in spans if start < end]

    def _chained(
        self,
        part: str,
        texts: Sequence[str],
        tokens: Sequence[Sequence[Token]],
        names: N,
        known: int,
        faults: dict[str, str] | None = None,
    ) -> tuple[tuple[Mention, ...], ...]:
        """The mentions of each of some texts in sequence; a pronoun may refer back.

        Args:
            part: What the texts are, for messages.
            texts: The texts.
            tokens: Their tokens.
            names: The trace's things.
            known: How many of them scene and question have.
            faults: What could not be read, with messages; None where that is an error.
        """
        found: list[tuple[Mention, ...]] = []
        antecedent: str | None = None
        for number, (text, said) in enumerate(zip(texts, tokens, strict=True), start=1):
            stated: tuple[Mention, ...] = ()
            supposed = self._opens(said, self._supposing)
            if not supposed and self._readable(f"{part} {number}", text, said, names, faults):
                with reading(f"{part} {number}", text):
                    stated = self._mentions(said, names, known, antecedent)
            found.append(stated)
            antecedent = stated[-1].subject if stated else antecedent
        return tuple(found)

    def _given(
        self,
        steps: Sequence[str],
        conclusion: str,
        names: N,
        asked: tuple[str, str] | None,
        faults: dict[str, str],
    ) -> list[Claim]:
        """Claims that are given one by one, the conclusion last."""
        known = len(names)
        # Those of the conclusion too: when time is over, what was read by then is kept.
        *tokens, last = self.lexicon.tokens_of_each([*steps, conclusion])
        after = [False, *map(asks, steps)]
        parts = [clauses(step, not asking) for step, asking in zip(steps, after, strict=False)]
        plain = [_within(said, part.standing) for said, part in zip(tokens, parts, strict=True)]
        read = self._chained("claim", steps, plain, names, known, faults)
        claims: list[Claim] = []
        bearing: list[int] = []
        for step, said, part, stated in zip(steps, tokens, parts, read, strict=True):
            taken: Sequence[Mention] = ()
            if part.taken is not None:
                taken = self._mentions(_within(said, [part.taken]), names, known)
            elif part.before:
                taken = take_back(claims, bearing)
            if taken and not stated:
                stated = self._corrected(_within(said, part.standing), names, known, taken)
            kinds = {token.kind for token in said}
            unsaid = part.taken is not None or not kinds.isdisjoint(_UNSAYING)
            if stated or (_bears(said) and unsaid):
                bearing.append(len(claims))
            claims.append(Claim("reasoning", step, stated))
        begin = clauses(conclusion).standing[-1:] or ((0, 0),)
        given = _within(last, begin)
        start = begin[0][0] + announced(conclusion[slice(*begin[0])])[0]
        given = [token for token in given if token.start >= start]
        return [*claims, self._answer(given, conclusion, 0, names, known, asked, faults)]

    def _corrected(
        self, tokens: Sequence[Token], names: N, known: int, taken: Sequence[Mention]
    ) -> tuple[Mention, ...]:
        """What is put in the place of what was taken back: "..., no wait, right of B".

        Args:
            tokens: The tokens of the correction.
            names: The trace's names.
            known: How many of them scene and question have.
            taken: The relations that were taken back.
        """
        last = taken[-1]
        if self._is_label(tokens, names, (last.subject, last.object)):
            return self._label(tokens, names, (last.subject, last.object))
        return self._mentions([*_IT_IS, *tokens], names, known, last.subject)

    def _answer(
        self,
        tokens: Sequence[Token],
        text: str,
        offset: int,
        names: N,
        known: int,
        asked: tuple[str, str] | None,
        faults: dict[str, str],
    ) -> Claim:
        """The conclusion: what an answer states, or the label that it gives to the pair
        that the question asks about.

        Args:
            tokens: The tokens of the answer, without what announces it.
            text: The text of the claim.
            offset: Where the claim's text starts in the text of the tokens.
            names: The trace's names.
            known: How many of them scene and question have.
            asked: The question's pair.
            faults: What could not be read, with messages.
        """
        if not self._readable(_CONCLUSION, text, tokens, names, faults):
            return Claim("conclusion", text, ())
        with reading(_CONCLUSION, text):
            mentions = self._mentions(tokens, names, known)
            if not mentions and asked is not None:
                gist_tokens = _gist_of(tokens, text, offset)
                mentions = self._label(tokens, names, asked) or self._label(
                    gist_tokens, names, asked
                )
        return Claim("conclusion", text, shifted(mentions, offset))

    # Responses -----------------------------------------------------------------------

    def _segmented(
        self,
        response: str,
        names: N,
        asked: tuple[str, str] | None,
        whether: bool,
        faults: dict[str, str],
    ) -> list[Claim]:
        """Free text as ordered claims, the delivered answer last. An answer is what is
        announced as one (the last time), or a bare label at the end, or a response of
        one sentence; without one the conclusion is empty.
        """
        segments = segmented(response)
        given_so = structured(segments.said)
        if given_so is not None:
            steps, given_answer = given_so
            steps = [*self.split(segments.thought), *steps]
            return self._given(steps, given_answer, names, asked, faults)
        known = len(names)
        analysis = self.lexicon.analysed(broken(segments.text))
        spans = [
            (*span, *self._trimmed(response, *analysis.stripped(*span)))
            for span in self.lexicon.sentences(analysis)
        ]
        spans = [span for span in spans if _has_words(response[span[2] : span[3]])]
        roles = [segments.role(span[2]) for span in spans]
        texts = [analysis.text[start:end] for _, _, start, end in spans]

        def is_label(n: int) -> bool:
            first, last, start, _ = spans[n]
            items = self.lexicon.itemized(analysis, first, last)
            return self._is_answer(items, texts[n], start, names, asked, faults)

        found = answering(texts, roles, whether, is_label)
        answer = found.at
        if answer == len(spans) - 1 >= 0 and not announces(texts[answer]) and not is_label(answer):
            # All that is said: where that draws a conclusion, it is more than the answer.
            kinds = self.lexicon.kinds(analysis, *spans[answer][:2])
            answer = None if {"inference", "reason"} & kinds and roles[answer] == "step" else answer
        since = cut = 0
        claims: list[Claim] = []
        antecedent: str | None = None
        supposing = False
        conclusion = Claim("conclusion", "", ())
        bearing: list[int] = []
        asking = False
        taken: tuple[Mention, ...] = ()
        answered = 0
        for n, (first, last, start, end) in enumerate(spans):
            since = len(claims) if n == found.since else since
            cut = len(claims)
            if n == answer:
                tokens = self.lexicon.itemized(analysis, first, last)
                begin = start + announced(response[start:end])[0]
                given = _without_reasons([t for t in tokens if t.start >= begin])
                answered = n + 1
                while (
                    answered < len(spans)
                    and roles[answered] != "thinking"
                    and len(given) <= LONGEST_SENTENCE
                    and (all(token.kind == "mark" for token in given) or _continues(given))
                ):
                    given += self.lexicon.itemized(analysis, *spans[answered][:2])
                    end = spans[answered][3]
                    answered += 1
                text = response[start:end]
                conclusion = self._answer(given, text, start, names, known, asked, faults)
                continue
            if n < answered:
                continue
            if _is_heading(response[start:end]):
                part, text = f"the heading before claim {len(claims) + 1}", response[start:end]
                tokens = self.lexicon.itemized(analysis, first, last)
                if self._readable(part, text, tokens, names, faults):
                    with reading(part, text):
                        self._head(tokens, names)
                continue
            kinds = self.lexicon.kinds(analysis, first, last)
            telling = not kinds.isdisjoint(_TELLING) or supposing or self._lists(names)
            items = self.lexicon.itemized(analysis, first, last) if telling else []
            if retracts(response[start:end]):
                if n and not retracts(response[slice(*spans[n - 1][2:])]):
                    within = not _closes(response[spans[n - 1][3] - 1 : start])
                    earlier = within and infers(response[start:end])
                    taken = take_back(claims, bearing, within, earlier)
                claims.append(Claim("reasoning", response[start:end], ()))
                continue
            if refuses(response[start:end]) and not asking:
                take_back(claims, bearing)
            asking = asks(response, end, start)
            supposing = (
                "supposition" in kinds
                or self._opens(items, self._supposing)
                or (supposing and ("modal" in kinds or self._infers(items)))
            )
            if supposing:
                bearing += [len(claims)] if _bears(items) else []
                claims.append(Claim("reasoning", response[start:end], (), SUPPOSED))
            elif _is_quoted(response, analysis.stripped(first, last)[0], start, end):
                bearing += [len(claims)] if _bears(items) else []
                claims.append(Claim("reasoning", response[start:end], (), QUOTED))
            elif kinds.isdisjoint(_STATING) and not self._lists(names):
                claims.append(Claim("reasoning", response[start:end], ()))
            else:
                conditional = False
                for tokens, begin, stop in _parts(items, start, end):
                    part, text = f"claim {len(claims) + 1}", response[begin:stop]
                    read: tuple[Mention, ...] = ()
                    # "If X, then Y" states neither.
                    conditional = conditional and self._opens(tokens, self._consequent)
                    if not conditional and self._readable(part, text, tokens, names, faults):
                        with reading(part, text):
                            read = self._mentions(tokens, names, known, antecedent)
                            if taken and not read:
                                read = self._corrected(tokens, names, known, taken)
                    unsaid = {token.kind for token in tokens} & _UNSAYING
                    if read:
                        antecedent = read[-1].subject
                    if read or ((unsaid or asking) and _bears(items)):
                        bearing.append(len(claims))
                    conditional = conditional or "condition" in unsaid
                    stance = SUPPOSED if conditional and not read else ASSERTED
                    claims.append(Claim("reasoning", text, shifted(read, begin), stance))
            taken = ()
        if answer is not None:
            return [*claims, conclusion]
        since = since if found.since < len(spans) else len(claims)
        whole = not spans or not is_cut_off(analysis.text, *spans[-1][2:])
        return concluded(claims, since, len(claims) if whole else cut, asked)

    def _asks_whether(self, question: str) -> bool:
        """Whether a question is to be answered yes or no, by the word that it opens with."""
        words = self.ontology.lexicon.word
        opening = words.get("copula", frozenset()) | words.get(AUXILIARY, frozenset())
        opening |= self.ontology.wording.lexeme.get("modal", frozenset())
        first = question.lower().split()[:1]
        return bool(first) and first[0] in opening

    @staticmethod
    def _infers(items: Sequence[Token]) -> bool:
        """Whether a sentence opens by drawing on what precedes it: "Then ..."."""
        return kind_at(items, 0) == "inference"

    @staticmethod
    def _opens(items: Sequence[Token], words: Container[str]) -> bool:
        """Whether a sentence opens with one of some words, and asks nothing."""
        opening = next((item for item in items if item.kind != "mark"), None)
        if opening is None or opening.text.lower() not in words:
            return False
        return not any(item.text == "?" for item in items[-2:])

    def _is_answer(
        self,
        tokens: Sequence[Token],
        text: str,
        start: int,
        names: N,
        asked: tuple[str, str] | None,
        faults: dict[str, str],
    ) -> bool:
        """Whether a sentence is a label of the pair asked for, and nothing else."""
        part = "the last sentence as an answer"
        if asked is None or len(tokens) > LONGEST_SENTENCE or part in faults:
            return False
        with reading(part, text):
            return self._is_label(_gist_of(tokens, text, start), names, asked)

    def _is_label(self, tokens: Sequence[Token], names: N, asked: tuple[str, str]) -> bool:
        """Whether a sentence is an answer label and nothing else."""
        silent = all(token.kind in _LABEL_KINDS for token in tokens)
        return silent and bool(self._label(tokens, names, asked))

    @staticmethod
    def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
        """A span without the bullet or list number in front."""
        bullet = _BULLET.match(text, start, end)
        return (bullet.end(), end) if bullet else (start, end)


_TIME = "time"
"""What faults call the time limit, beside the parts that were not read."""

_STATING = frozenset(("relation", "clock", "hour", "reference", "observing"))
"""Kinds of words without which a sentence states no relation."""
_TELLING = _STATING | {"denial", "supposition"}
"""Kinds of words without which a sentence is no more than its text."""
_UNSAYING = frozenset(("hedge", "condition", "supposition", "negation", "modal"))
"""Kinds of words with which a sentence may speak of a relation and not state it."""

_QUOTES = ('"', "\u201c", "\u201d")
_BULLET = re.compile(r"(?:[-*#>•+]+\s*)*(?:\d+[.):]\s+)?")
_HEADING = re.compile(r"[^:]{1,40}:\W*")

_LABEL_KINDS = frozenset(
    ("relation", "mark", "and", "or", "link", "article", "filler", "by", "inference", "copula")
)


def _bears(items: Sequence[Token]) -> bool:
    """Whether a sentence speaks of a relation of things, whatever it says of it; "Is that
    right?" does not.
    """
    kinds = {item.kind for item in items}
    return not kinds.isdisjoint(_STATING) and not kinds.isdisjoint(("content", "noun", "pronoun"))


def take_back(
    claims: list[Claim], bearing: list[int], within: bool = False, earlier: bool = False
) -> tuple[Mention, ...]:
    """Takes back the last claim that speaks of a relation.

    Args:
        claims: The claims so far.
        bearing: The positions of those that speak of a relation and were not taken back.
        within: Whether it is taken back in its own sentence: then no other one is.
        earlier: Whether what was said in its sentence stands, and one before it does not.

    Returns:
        The relations that are taken back.
    """
    last = len(claims) - 1
    own = bearing[-1:] == [last]
    if within and claims and not earlier:
        taken = bearing.pop() if own else last
    elif len(bearing) > (earlier and own):
        taken = bearing.pop(-2 if earlier and own else -1)
    else:
        return ()
    relations = claims[taken].relations
    if relations or within:
        claims[taken] = replace(claims[taken], relations=(), stance=RETRACTED)
    return relations


def is_about(mention: Mention, asked: tuple[str, str] | None) -> bool:
    """Whether a relation is one of the pair that a question asks about."""
    return {mention.subject, mention.object} == set(asked or ())


def of_known(stated: Sequence[Mention], asked: tuple[str, str] | None) -> tuple[Mention, ...]:
    """What an answer states; only of things that scene or question name, where it states something
    of the pair asked about: "“Upper left” fits, so A is upper left of B".
    """
    answers = any(is_about(m, asked) for m in stated)
    return tuple(m for m in stated if m.grounded or not answers)


def concluded(
    claims: Sequence[Claim], first: int, last: int, asked: tuple[str, str] | None
) -> list[Claim]:
    """Claims of a response that announces no answer, with their conclusion at the end: the claim
    that ends it, where that is about the pair asked for; what states nothing may follow it.

    Args:
        claims: The claims.
        first: The first that may be the conclusion.
        last: The first after it that may not.
        asked: The pair.
    """
    for n in range(last - 1, first - 1, -1):
        claim = claims[n]
        if claim.stance not in (ASSERTED, "necessary") or not claim.relations:
            continue
        if not any(is_about(mention, asked) for mention in claim.relations):
            break
        relations = of_known(claim.relations, asked)
        conclusion = replace(claim, type="conclusion", relations=relations, stance=ASSERTED)
        return [*claims[:n], *claims[n + 1 :], conclusion]
    return [*claims, Claim("conclusion", "", ())]


def _continues(tokens: Sequence[Token]) -> bool:
    """Whether an answer goes on in the next line: a list with a comma at its end."""
    visible = (token.text for token in reversed(tokens) if token.text not in ("\n", '"'))
    return next(visible, "") in (",", "[", ":")


def _without_reasons(tokens: list[Token]) -> list[Token]:
    """An answer without the reasons given for it: "left, because ..."."""
    for position, token in enumerate(tokens):
        if token.kind == "reason" and position:
            return tokens[:position]
    return tokens


def _gist_of(tokens: Sequence[Token], text: str, offset: int) -> list[Token]:
    """The tokens of what an answer says, whose text begins at an offset."""
    begin = tokens[0].start - offset if tokens else 0
    start, end = gist(text[begin:])
    return _within(tokens, [(offset + begin + start, offset + begin + end)])


def shifted(mentions: Sequence[Mention], offset: int) -> tuple[Mention, ...]:
    """Relations with an offset taken off their spans."""
    if not offset:
        return tuple(mentions)
    return tuple(replace(m, span=(m.span[0] - offset, m.span[1] - offset)) for m in mentions)


def _within(tokens: Sequence[Token], spans: Sequence[tuple[int, int]]) -> list[Token]:
    """The tokens that begin in some spans of characters."""
    return [t for t in tokens if any(start <= t.start < end for start, end in spans)]


def _closes(text: str) -> bool:
    """Whether what stands between two clauses ends a sentence."""
    return not {".", "!", "?", "\n"}.isdisjoint(text)


_IT_IS = (Token("pronoun", "it", 0, 0, "it"), Token("copula", "is", 0, 0, "is"))
"""What is understood before a correction: "right of B"."""


def _parts(tokens: list[Token], start: int, end: int) -> list[tuple[list[Token], int, int]]:
    """A sentence as its claims, with their character spans: split where an inference
    word follows a statement.
    """
    parts: list[list[Token]] = [[]]
    stated = False
    for token in tokens:
        if token.kind == "inference" and stated:
            parts.append([])
            stated = False
        stated = stated or token.kind == "relation"
        parts[-1].append(token)
    edges = [start, *(part[0].start for part in parts[1:]), end]
    return [
        (part, begin, _closed(part, begin, stop))
        for part, (begin, stop) in zip(parts, pairwise(edges), strict=True)
    ]


def _closed(part: Sequence[Token], begin: int, stop: int) -> int:
    """Where a part's last item ends, at most at its edge."""
    visible = [token.end for token in part if token.text != "\n"]
    return max(begin, min(stop, visible[-1])) if visible else stop


def _is_quoted(response: str, line: int, start: int, end: int) -> bool:
    """Whether a sentence is nothing but a quotation: in quotation marks, or after the mark
    of a quoted line.

    Args:
        response: The text.
        line: Where the sentence starts, with its bullet.
        start: Where it starts without.
        end: Where it ends.
    """
    if response[line] == ">":
        return True
    text = response[start:end].rstrip(".,;:!?")
    closes = text[-1:] in _QUOTES or response[end : end + 1] in _QUOTES
    inner = text[1:-1]
    return text[:1] in _QUOTES and closes and not any(mark in inner for mark in '"\u201c\u201d')


def _has_words(text: str) -> bool:
    return any(character.isalpha() for character in text)


def _is_heading(text: str) -> bool:
    """Whether a line announces what follows it: "Reasoning:"."""
    return _HEADING.fullmatch(text) is not None
