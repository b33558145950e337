"""Read the claims in a response or in a trace's steps, with any parser."""

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
"""Stances of quotations, of retracted text, and of statements about the number of relations that
hold.
"""
MODAL = ("necessary", "impossible", "possible")
"""Stances of statements that something is necessary, impossible or possible in a context."""
NAMED_BY_QUESTION = 0.8
"""Confidence in a bare label. Its things are taken from the question."""
_BETWEEN_STEPS = "\n\n"
"""Separator between steps that are given as separate texts."""
_GOING_ON = (",", "[", ":")
"""Marks at the end of a line that continues in the next line."""
_CONCLUSION = "the conclusion"
_LAST = "the last sentence as an answer"


class Sentence(Protocol):
    """A sentence in a text, for any parser."""

    @property
    def text(self) -> str:
        """The text of the sentence."""

    @property
    def start(self) -> int:
        """The position at which the sentence begins in its text."""

    @property
    def asked(self) -> bool:
        """Whether it is a question."""

    @property
    def fault(self) -> str:
        """The internal error that prevented reading the sentence; empty if there is none."""


S = TypeVar("S", bound=Sentence)


@dataclass(frozen=True)
class Reading:
    """The result of reading a sentence or part of a sentence.

    Attributes:
        statements: The relations that it states.
        stance: The stance of these statements.
        reason: The reason why it asserts nothing.
        count: If the stance is `counted`, the minimum and maximum number of true statements.
        rest: Words about places that were not read, with their character offsets.
        begin: The position in the text at which it begins, if it is not the first part of its
            sentence.
        events: Its clauses, if the profile reads events.
    """

    statements: Sequence[Statement] = ()
    stance: str = ASSERTED
    reason: str = ""
    count: Count | None = None
    rest: tuple[tuple[int, str], ...] = ()
    begin: int = 0
    events: Clauses = ()

    def claim(self, kind: str, text: str, begin: int = 0) -> Claim:
        """Turn the reading into a claim. `begin` is the offset of `text` in the whole text."""
        stance = self.stance
        if not self.statements and stance in MODAL:
            stance = ASSERTED
        rest = tuple(word for _, word in self.rest)
        reason = IN_PART if rest and self.statements else self.reason
        statements = shifted(self.statements, begin)
        return Claim(kind, text, statements, stance, reason, self.count, rest, self.events)


class SentenceParser(Protocol[S]):
    """Parser for the sentences of one trace's claims, in order.

    Attributes:
        pair: The pair that the question asks about: figure and ground.
        asks_whether: Whether the question is a yes/no question.
    """

    pair: tuple[str, str] | None
    asks_whether: bool

    def sentences(self, texts: Sequence[str]) -> list[list[S]]:
        """Split each text into sentences."""

    def unreadable(self, sentence: S) -> str:
        """Return the limit that a sentence exceeds; empty if there is none."""

    def parse(self, sentence: S, gap: str) -> list[Reading]:
        """Read a sentence part by part: "A is left of B, so C is left of B" has two parts.

        Args:
            sentence: The sentence.
            gap: The text between this sentence and the preceding one.
        """

    def answer(self, sentences: Sequence[S]) -> Reading:
        """Return the statements of an answer's sentences."""

    def may_be_label(self, sentence: S) -> bool:
        """Whether a sentence may be a label because it has no relation between named things."""

    def label(self, text: str, pair: tuple[str, str]) -> Sequence[Statement]:
        """Read a bare label, "upper-left", as relations of the given pair; empty if it is not a
        label.
        """

    def is_whole(self, sentence: S) -> bool:
        """Whether the statements about places in a sentence have a subject."""

    def completed(self, sentence: S, pair: tuple[str, str]) -> Sequence[Statement]:
        """Complete a sentence that has no subject with the first thing of the pair: "..., no wait,
        right of it".
        """


class Claims(Generic[S]):
    """Collector of claims.

    Args:
        parser: Parser for their sentences.
        failed: Maps each part with an internal error to the message.
        listings: Texts that may contain a list of answer options.

    Attributes:
        made: The claims so far. In the end, the conclusion is last.
        faults: Messages about unreadable parts.
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
        """Add claims that are given as separate texts, with the conclusion last."""
        read = self._sentences("the claims", [broken(step) for step in steps])
        for step, sentences in zip(steps, read, strict=True):
            self._add("reasoning", step, _together(self._standing(sentences)))
        self._conclude(conclusion)

    def segment(self, response: Response) -> None:
        """Split a response into claims, with the delivered answer last. The answer is the last
        marked or announced answer, otherwise a bare label at the end, otherwise the sentence of a
        response with only one sentence. If there is no answer, the conclusion is empty.
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
        """Split each text into sentences. If this fails, record a fault and return no sentences."""
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
        """Read the sentences of one claim, except sentences that are retracted by a later one."""
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
            return  # only the number of a list item
        edges = [start, *(part.begin for part in parts[1:]), start + len(text)]
        for part, (begin, stop) in zip(parts, pairwise(edges), strict=True):
            self._add("reasoning", text[begin - start : stop - start].strip(), part, begin)

    def _read(self, sentence: S, gap: str, taken: Sequence[Statement]) -> list[Reading]:
        """Read a sentence.

        Raises:
            InternalError: If an internal error occurs that is not yet known for this claim.
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
        """Read a sentence without other content as a correction of retracted words: "..., no wait,
        right of the box". Return the parts of any other sentence unchanged.
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
        """Whether a sentence is only a label for the pair asked about."""
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
        """Read a bare label as statements about the pair asked about; empty if it is no label."""
        if self._parser.pair is None:
            return ()
        start, end = gist(text)
        option = chosen(text, *self._listings)
        if option:
            found = self._parser.label(option, self._parser.pair)
            return [replace(statement, span=(start, end)) for statement in found]
        return shifted(self._parser.label(text[start:end], self._parser.pair), -start)

    def _conclude(self, text: str) -> None:
        """Add the conclusion: the statements of an answer, or a label for the pair asked about."""
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
        """Read the answer option that `given` chooses, either by itself or completed by the
        question.
        """
        option = chosen(given, *self._listings)
        for text in (option, *fitted(option, self._listings[0])):
            (sentences,) = self._sentences(_CONCLUSION, [text])
            if not text or any(sentence.fault for sentence in sentences):
                return None
            read = self._stated(sentences, "")  # as a label, it was tried before
            if read.statements:
                stated = [replace(statement, span=gist(given)) for statement in read.statements]
                return replace(read, statements=stated)
        return None

    def _stated(self, sentences: Sequence[S], given: str) -> Reading:
        for why in filter(None, map(self._parser.unreadable, sentences)):
            self.faults.append(str(ReadingError(_CONCLUSION, why, given)))
            return Reading(reason="unread")
        read, pair = self._parser.answer(sentences), self._parser.pair
        if read.stance not in (ASSERTED, *MODAL):
            return read  # each of the counted relations matters
        stated = read.statements if read.stance == ASSERTED else ()
        about = any(is_about(statement, pair) for statement in stated)
        label = [] if about else [m for m in self._label(given) if not _is_within(m, stated)]
        if label and not stated:
            return Reading(label)
        return replace(read, statements=[*label, *of_known(read.statements, pair)])


def _delivered(texts: Sequence[str], roles: Sequence[Role], answer: int | None) -> range:
    """The indices of an answer's sentences, including sentences on the lines after a heading or an
    open list.
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
    """Whether a statement contains the words of a label."""
    start, end = label.span
    return any(s.span[0] < end and start < s.span[1] for s in stated)


def _together(parts: Sequence[Reading]) -> Reading:
    """Combine the sentences of one claim. Necessary statements join asserted ones. If stances
    differ in any other way, the result has no content.
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
    """Retract the last claim that has a relation.

    Args:
        claims: The claims so far.
        bearing: Positions of the claims with a relation that were not retracted.
        within: Whether only a claim in the same sentence may be retracted.
        earlier: Whether to keep claims in the same sentence and retract an earlier claim.

    Returns:
        The retracted relations.
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
    """Whether a relation is about the pair asked about."""
    return {statement.figure, statement.ground} == set(asked or ())


def of_known(stated: Sequence[Statement], asked: tuple[str, str] | None) -> tuple[Statement, ...]:
    """Keep only an answer's statements about known things, provided that one of these is about the
    pair asked about: "“Upper left” fits, so A is upper left of B".
    """
    answers = any(is_about(m, asked) for m in stated)
    return tuple(m for m in stated if m.grounded or not answers)


def concluded(
    claims: Sequence[Claim], first: int, last: int, asked: tuple[str, str] | None
) -> list[Claim]:
    """Move the conclusion of a response without an announced answer to the end. The last claim with
    content is the conclusion if it is about the pair asked about.

    Args:
        claims: The claims.
        first: The first claim that may be the conclusion.
        last: The position after the last claim that may be the conclusion.
        asked: The pair asked about.
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
    """Shift the spans of relations back by an offset, but not below 0. In "so it is left of C", for
    example, the subject is in the preceding part.
    """
    if not offset:
        return tuple(statements)
    return tuple(
        replace(m, span=(max(0, m.span[0] - offset), m.span[1] - offset)) for m in statements
    )
