"""Claims: what a response, or the steps of a trace, state, whichever parser reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Generic, Protocol, TypeVar

from symbouq.limits import LimitError, late
from symbouq.reading.clauses import Clauses
from symbouq.reading.faults import InternalError, ReadingError, reading
from symbouq.reading.force import unmarked
from symbouq.reading.segments import (
    ENDS,
    Response,
    Role,
    answered,
    answering,
    broken,
    chosen,
    fitted,
    gist,
    infers,
    is_cut_off,
    refuses,
    retracts,
)
from symbouq.reading.text import ASSERTED, IN_PART, Claim, Count, Statement

QUOTED, RETRACTED, COUNTED = "quoted", "retracted", "counted"
"""Stances of what is nothing but somebody's words, of what is taken back, and of what says how many
of its relations hold."""
MODAL = ("necessary", "impossible", "possible")
"""Stances of what is said of the worlds that a context leaves."""
NAMED_BY_QUESTION = 0.8
"""Confidence of a bare label, whose things are those of the question."""
_BETWEEN_STEPS = "\n\n"
"""What stands between steps that are given one by one."""
_GOING_ON = (",", "[", ":")
"""Marks at the end of a line that goes on in the next."""
_CONCLUSION = "the conclusion"
_LAST = "the last sentence as an answer"


class Sentence(Protocol):
    """A sentence of a text."""

    @property
    def text(self) -> str:
        """The sentence."""

    @property
    def start(self) -> int:
        """The character of its text at which it begins."""

    @property
    def asked(self) -> bool:
        """Whether it is a question."""

    @property
    def fault(self) -> str:
        """The internal error that keeps it from being read; empty where there is none."""


S = TypeVar("S", bound=Sentence)


@dataclass(frozen=True)
class Reading:
    """What a sentence, or a part of one, asserts.

    Attributes:
        statements: What it states.
        stance: Its stance.
        reason: Why it asserts none.
        count: How many of them hold, if it is `counted`.
        rest: The words about places of which nothing was read, with their character offsets.
        begin: The character of its text at which it begins, if that is not where its sentence does.
        events: What it says as clauses, where the profile reads events.
    """

    statements: Sequence[Statement] = ()
    stance: str = ASSERTED
    reason: str = ""
    count: Count | None = None
    rest: tuple[tuple[int, str], ...] = ()
    begin: int = 0
    events: Clauses = ()

    def claim(self, kind: str, text: str, begin: int = 0) -> Claim:
        """The claim that it makes of a text, which begins at a character of the whole one."""
        stance = self.stance
        if not self.statements and stance in MODAL:
            stance = ASSERTED
        rest = tuple(word for _, word in self.rest)
        reason = IN_PART if rest and self.statements else self.reason
        statements = shifted(self.statements, begin)
        return Claim(kind, text, statements, stance, reason, self.count, rest, self.events)


class SentenceParser(Protocol[S]):
    """Reads the sentences of one trace's claims, in their order.

    Attributes:
        pair: The pair that the question asks about: figure and ground.
        asks_whether: Whether the question is to be answered yes or no.
    """

    pair: tuple[str, str] | None
    asks_whether: bool

    def sentences(self, texts: Sequence[str]) -> list[list[S]]:
        """The sentences of each of some texts."""

    def unreadable(self, sentence: S) -> str:
        """Why a sentence is beyond what is read; empty if it is not."""

    def parse(self, sentence: S, gap: str) -> list[Reading]:
        """What a sentence asserts, part by part: "A is left of B, so C is left of B" has two.

        Args:
            sentence: The sentence.
            gap: What is between it and the one before.
        """

    def answer(self, sentences: Sequence[S]) -> Reading:
        """What the sentences of an answer state."""

    def may_be_label(self, sentence: S) -> bool:
        """Whether a sentence names no things that it would relate, so that it may be a label."""

    def label(self, text: str, pair: tuple[str, str]) -> Sequence[Statement]:
        """A bare label, "upper-left", as relations of a pair; none where it is no label."""

    def is_whole(self, sentence: S) -> bool:
        """Whether what a sentence says of places has a subject."""

    def completed(self, sentence: S, pair: tuple[str, str]) -> Sequence[Statement]:
        """What words without a subject say of what is spoken of, the first of a pair: "..., no
        wait, right of it".
        """


class Claims(Generic[S]):
    """The claims of a trace.

    Args:
        parser: Reads their sentences.
        failed: The parts that internal errors keep from being read, with messages.
        listings: The texts that may list options.

    Attributes:
        made: The claims so far, in the end the conclusion last.
        faults: What could not be read.
    """

    def __init__(
        self, parser: SentenceParser[S], failed: Mapping[str, str], listings: Sequence[str]
    ) -> None:
        self._parser = parser
        self._failed = failed
        self._listings = listings
        self._bearing: list[int] = []
        self._taken: Sequence[Statement] = ()
        self._retracted = False
        self._asking = False
        self.made: list[Claim] = []
        self.faults: list[str] = []

    def take(self, steps: Sequence[str], conclusion: str) -> None:
        """Claims that are given one by one, the conclusion last."""
        read = self._sentences("the claims", [broken(step) for step in steps])
        for step, sentences in zip(steps, read, strict=True):
            self._add("reasoning", step, _together(self._standing(sentences)))
        self._conclude(conclusion)

    def segment(self, response: Response) -> None:
        """A response's sentences as claims, the delivered answer last. An answer is what is marked
        or announced as one (the last time), or a bare label at the end, or a response of one
        sentence; without one the conclusion is empty.
        """
        text = broken(response.text)
        (sentences,) = self._sentences("the response", [text])
        roles = [response.role(sentence.start) for sentence in sentences]
        texts = [sentence.text for sentence in sentences]
        whether = self._parser.asks_whether
        found = answering(texts, roles, whether, lambda n: self._is_label(sentences[n]))
        delivered = _delivered(texts, roles, found.at)
        since = cut = 0
        for n, sentence in enumerate(sentences):
            since = len(self.made) if n == found.since else since
            cut = len(self.made)
            if n in delivered:
                continue
            if not self._in_time(f"claim {cut + 1}"):
                self._add("reasoning", sentence.text, Reading(reason="unread"))
                continue
            before = sentences[n - 1].start + len(sentences[n - 1].text) if n else 0
            self._sentence(sentence, response.text[before : sentence.start], text[:before][-1:])
        if delivered:
            start, last = sentences[delivered[0]].start, sentences[delivered[-1]]
            self._conclude(text[start : last.start + len(last.text)])
        else:
            begin = sentences[-1].start if sentences else 0
            stop = begin + len(sentences[-1].text) if sentences else 0
            whole = not is_cut_off(text, begin, stop)
            since = since if found.since < len(sentences) else len(self.made)
            end = len(self.made) if whole else cut
            self.made = concluded(self.made, since, end, self._parser.pair)

    def _sentences(self, part: str, texts: Sequence[str]) -> list[list[S]]:
        """The sentences of each of some texts; none of any, with a fault, where that fails."""
        try:
            with reading(part, " ".join(texts)):
                return self._parser.sentences(texts)
        except InternalError as error:
            self.faults.append(str(error))
        except LimitError:
            self._in_time(part)
        return [[] for _ in texts]

    def _in_time(self, part: str) -> bool:
        if not late():
            return True
        fault = f"{part} and what follows it: not read, the time limit was reached"
        if not any("time limit" in other for other in self.faults):
            self.faults.append(fault)
        return False

    # Sentences -----------------------------------------------------------------------

    def _standing(self, sentences: Sequence[S]) -> list[Reading]:
        """What the sentences of one claim assert, without those that a further one takes back."""
        parts: list[list[Reading]] = []
        alone: list[Reading] = []
        taken: Sequence[Statement] = ()
        for n, sentence in enumerate(sentences):
            if not self._in_time(f"claim {len(self.made) + 1}"):
                break
            asking, self._asking = self._asking, sentence.asked
            if retracts(sentence.text) or (refuses(sentence.text) and not asking):
                if parts:
                    taken = [m for part in parts.pop() for m in part.statements]
                    if not parts:
                        alone = [Reading(stance=RETRACTED)]
                elif n == 0:
                    taken = take_back(self.made, self._bearing)
                continue
            parts.append(self._read(sentence, _BETWEEN_STEPS, taken))
            taken = ()
        return [part for of_sentence in parts for part in of_sentence] or alone

    def _sentence(self, sentence: S, gap: str, end: str) -> None:
        """Adds the claim or the claims of a sentence.

        Args:
            sentence: The sentence.
            gap: What is between it and the sentence before.
            end: The last character of that sentence.
        """
        skipped = unmarked(sentence.text)
        text, start = sentence.text[skipped:], sentence.start + skipped
        if retracts(text):
            if not self._retracted:
                within = end not in ENDS and "\n" not in gap
                self._taken = take_back(self.made, self._bearing, within, within and infers(text))
            self._retracted = True
            self._add("reasoning", text, Reading())
            return
        if refuses(text) and not self._asking:
            take_back(self.made, self._bearing)
        parts = self._read(sentence, gap, self._taken)
        self._taken, self._retracted, self._asking = (), False, sentence.asked
        if not any(map(str.isalpha, text)):
            return  # the number of a list's item
        edges = [start, *(part.begin for part in parts[1:]), start + len(text)]
        for part, (begin, stop) in zip(parts, pairwise(edges), strict=True):
            self._add("reasoning", text[begin - start : stop - start].strip(), part, begin)

    def _read(self, sentence: S, gap: str, taken: Sequence[Statement]) -> list[Reading]:
        """What a sentence asserts.

        Args:
            sentence: The sentence.
            gap: What is between it and the sentence before.
            taken: The relations that were taken back just before it.

        Raises:
            InternalError: At an internal error in a claim in which none is known.
        """
        part = f"claim {len(self.made) + 1}"
        unread = [Reading(reason="unread")]
        if sentence.fault and part not in self._failed:
            raise InternalError(part, sentence.fault, sentence.text)
        if part in self._failed:
            return unread
        why = self._parser.unreadable(sentence)
        if why:
            self.faults.append(str(ReadingError(part, why, sentence.text)))
            return unread
        try:
            with reading(part, sentence.text):
                return self._put_right(self._parser.parse(sentence, gap), sentence, taken)
        except LimitError:
            self._in_time(part)
            return unread

    def _add(self, kind: str, text: str, read: Reading, begin: int = 0) -> None:
        if read.statements or read.stance != ASSERTED or read.reason:
            self._bearing.append(len(self.made))
        self.made.append(read.claim(kind, text, begin))

    def _put_right(
        self, parts: list[Reading], sentence: S, taken: Sequence[Statement]
    ) -> list[Reading]:
        """What a sentence asserts; if that is nothing, as what is put in the place of what was
        taken back: "..., no wait, right of the box".

        Args:
            parts: What it asserts by itself.
            sentence: The sentence.
            taken: The relations that were taken back.
        """
        own = any(part.statements for part in parts) and self._parser.is_whole(sentence)
        if own or not taken or sentence.asked:
            return parts
        pair = taken[-1].figure, taken[-1].ground
        stated: Sequence[Statement] = ()
        if self._parser.may_be_label(sentence):
            stated = shifted(self._parser.label(sentence.text, pair), -sentence.start)
        stated = stated or self._parser.completed(sentence, pair)
        put_right = replace(parts[0], statements=stated, stance=ASSERTED, reason="")
        return [put_right] if stated else parts

    # Answers -------------------------------------------------------------------------

    def _is_label(self, sentence: S) -> bool:
        """Whether a sentence is a label of the pair asked for, and nothing else."""
        if _LAST in self._failed:
            return False
        if chosen(sentence.text, *self._listings):
            return True
        if not self._parser.may_be_label(sentence):
            return False
        try:
            with reading(_LAST, sentence.text):
                return bool(self._label(sentence.text))
        except LimitError:
            return False

    def _label(self, text: str) -> Sequence[Statement]:
        """What a bare label states of the pair asked for; nothing where none is."""
        if self._parser.pair is None:
            return ()
        start, end = gist(text)
        option = chosen(text, *self._listings)
        if option:
            found = self._parser.label(option, self._parser.pair)
            return [replace(statement, span=(start, end)) for statement in found]
        return shifted(self._parser.label(text[start:end], self._parser.pair), -start)

    def _conclude(self, text: str) -> None:
        """Adds the conclusion: what an answer states, or the label that it gives to the pair that
        the question asks about.
        """
        given, begin = answered(text)
        read = Reading()
        if _CONCLUSION in self._failed:
            read = Reading(reason="unread")
        elif given and self._in_time(_CONCLUSION):
            (sentences,) = self._sentences(_CONCLUSION, [given])
            for fault in (sentence.fault for sentence in sentences if sentence.fault):
                raise InternalError(_CONCLUSION, fault, given)
            try:
                with reading(_CONCLUSION, given):
                    read = self._stated(sentences, given)
                    if not read.statements and read.reason == "":
                        read = self._option(given) or read
            except LimitError:
                self._in_time(_CONCLUSION)
        self.made.append(read.claim("conclusion", text, -begin))

    def _option(self, given: str) -> Reading | None:
        """What the option states that an answer is: by itself, or as what the question asks for."""
        option = chosen(given, *self._listings)
        for text in (option, *fitted(option, self._listings[0])):
            (sentences,) = self._sentences(_CONCLUSION, [text])
            if not text or any(sentence.fault for sentence in sentences):
                return None
            read = self._stated(sentences, "")  # as a label it was tried before
            if read.statements:
                stated = [replace(statement, span=gist(given)) for statement in read.statements]
                return replace(read, statements=stated)
        return None

    def _stated(self, sentences: Sequence[S], given: str) -> Reading:
        """What an answer states."""
        for why in filter(None, map(self._parser.unreadable, sentences)):
            self.faults.append(str(ReadingError(_CONCLUSION, why, given)))
            return Reading(reason="unread")
        read, pair = self._parser.answer(sentences), self._parser.pair
        if read.stance not in (ASSERTED, *MODAL):
            return read  # of so many relations each counts
        stated = read.statements if read.stance == ASSERTED else ()
        about = any(is_about(statement, pair) for statement in stated)
        label = [] if about else [m for m in self._label(given) if not _is_within(m, stated)]
        if label and not stated:
            return Reading(label)
        return replace(read, statements=[*label, *of_known(read.statements, pair)])


def _delivered(texts: Sequence[str], roles: Sequence[Role], answer: int | None) -> range:
    """The sentences that an answer takes up: with what follows a heading, or a list that goes on in
    the next line.
    """
    if answer is None:
        return range(0)
    end = answer + 1
    while end < len(texts) and roles[end] != "thinking":
        if (
            texts[end - 1].rstrip()[-1:] not in _GOING_ON
            and answered(" ".join(texts[answer:end]))[0]
        ):
            break
        end += 1
    return range(answer, end)


def _is_within(label: Statement, stated: Sequence[Statement]) -> bool:
    """Whether the words of a label are among those that state something."""
    start, end = label.span
    return any(s.span[0] < end and start < s.span[1] for s in stated)


def _together(parts: Sequence[Reading]) -> Reading:
    """What the sentences of one claim assert together; what must be is asserted beside what is, and
    nothing is where their stances differ otherwise.
    """
    stated = [part for part in parts if part.statements]
    stances = {part.stance for part in stated}
    if not stances:
        return parts[-1] if parts else Reading()
    if len(stances) > 1 and not stances <= {ASSERTED, "necessary"}:
        return Reading(reason=IN_PART)
    if len(stated) > 1 and COUNTED in stances:
        return Reading(reason=IN_PART)
    return replace(
        stated[0],
        statements=[statement for part in stated for statement in part.statements],
        stance=ASSERTED if ASSERTED in stances else stated[0].stance,
        reason=next((part.reason for part in parts if part.reason), ""),
        rest=tuple(word for part in parts for word in part.rest),
        events=tuple(clause for part in stated for clause in part.events),
    )


def take_back(
    claims: list[Claim], bearing: list[int], within: bool = False, earlier: bool = False
) -> tuple[Statement, ...]:
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
        claims[taken] = replace(claims[taken], relations=(), stance=RETRACTED, events=())
    return relations


def is_about(statement: Statement, asked: tuple[str, str] | None) -> bool:
    """Whether a relation is one of the pair that a question asks about."""
    return {statement.figure, statement.ground} == set(asked or ())


def of_known(stated: Sequence[Statement], asked: tuple[str, str] | None) -> tuple[Statement, ...]:
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
        if not any(is_about(statement, asked) for statement in claim.relations):
            break
        relations = of_known(claim.relations, asked)
        conclusion = replace(claim, type="conclusion", relations=relations, stance=ASSERTED)
        return [*claims[:n], *claims[n + 1 :], conclusion]
    return [*claims, Claim("conclusion", "", ())]


def shifted(statements: Sequence[Statement], offset: int) -> tuple[Statement, ...]:
    """Relations with an offset taken off their spans, which begin at 0 at the least: "so it is left
    of C" has its subject in the part before it.
    """
    if not offset:
        return tuple(statements)
    return tuple(
        replace(m, span=(max(0, m.span[0] - offset), m.span[1] - offset)) for m in statements
    )
