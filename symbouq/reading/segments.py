"""Find the regions of a response: thinking, text, answer, retractions.

Models mark their thinking in different ways, chat formats add further marks, and some answers are
JSON. The marks and words are in `ontology/answers.lp`, and the words for retractions are in
`ontology/language.lp`. All other modules use this one to find the answer in a response.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from itertools import pairwise
from typing import Literal

from symbouq.ontology.library import builtin
from symbouq.reading.force import asks

Role = Literal["step", "thinking", "answer"]
"""Role of a segment. A segment of `thinking` never contains the delivered answer; a segment marked
as `answer` does.
"""


@dataclass(frozen=True)
class Segment:
    """Part of a response that has one role.

    Attributes:
        start: Position of its first character.
        end: Position after its last character.
        role: Its role.
    """

    start: int
    end: int
    role: Role


@dataclass(frozen=True)
class Response:
    """A response without its marks.

    Attributes:
        text: The response, with each mark replaced by a line break and spaces, so that the length
            does not change.
        segments: Its segments, in order.
    """

    text: str
    segments: tuple[Segment, ...]

    def role(self, place: int) -> Role:
        """Return the role of the text at the given character offset."""
        n = bisect_right(self._starts, place) - 1
        return self.segments[n].role if n >= 0 else "step"

    @cached_property
    def _starts(self) -> list[int]:
        return [segment.start for segment in self.segments]

    @property
    def thought(self) -> str:
        """The thinking; empty if there is none."""
        return self._joined("thinking")

    @property
    def said(self) -> str:
        """The text without thinking."""
        return self._joined("step", "answer")

    @property
    def marked(self) -> str | None:
        """The last segment marked as the answer, or None."""
        answers = (self.text[s.start : s.end] for s in self.segments if s.role == "answer")
        return next((text for text in reversed([*answers]) if text.strip()), None)

    def _joined(self, *roles: Role) -> str:
        pieces = (self.text[s.start : s.end] for s in self.segments if s.role in roles)
        return "\n".join(piece for piece in pieces if piece.strip())


@lru_cache(128)
def segmented(response: str) -> Response:
    """Split a response into segments.

    A closing mark without an opening mark ends thinking that began at the start of the response, or
    after the previous region. An opening mark without a closing mark applies up to the end of the
    response, or until an answer or another channel starts.
    """
    response = _untagged(response)
    segments: list[Segment] = []
    text: list[str] = []
    role: Role = "step"
    begin = last = 0
    for mark in _marks().finditer(response):
        act, of = _delimiters()[mark.group().lower()]
        if act == "close" and of == "thinking" != role:
            segments.clear()
            begin, role = 0, "thinking"
        segments.append(Segment(begin, mark.start(), role))
        text += response[last : mark.start()], "\n".ljust(len(mark.group()))
        begin = last = mark.end()
        if act == "open":
            role = of
        elif act == "close" or role != "thinking":
            role = "step"
    segments.append(Segment(begin, len(response), role))
    return Response("".join([*text, response[last:]]), tuple(segments))


def _untagged(text: str) -> str:
    """Replace HTML tags and similar tags by blanks, except for tags with a role."""
    if "</" not in text:
        return text
    closed = {found[2].lower() for found in _TAG.finditer(text) if found[1]} | {"br", "hr"}

    def spaces(found: re.Match[str]) -> str:
        name, mark = found[2].lower(), found.group()
        if name not in closed or mark.lower() in _delimiters():
            return mark
        return "\n".ljust(len(mark)) if name in _LINES else " " * len(mark)

    return _TAG.sub(spaces, text)


@cache
def _delimiters() -> dict[str, tuple[str, Role]]:
    """Map each mark, in lower case, to its effect (open, close, or standalone) and role."""
    rows = builtin().rows
    found = {mark.lower(): ("alone", role) for role, mark in rows["delimiter", 2]}
    found |= {closing.lower(): ("close", role) for role, _, closing in rows["delimiter", 3]}
    found |= {opening.lower(): ("open", role) for role, opening, _ in rows["delimiter", 3]}
    return found  # type: ignore[return-value]


@cache
def _marks() -> re.Pattern[str]:
    return re.compile(_one_of(_delimiters()), re.IGNORECASE)


def _one_of(texts: Iterable[str]) -> str:
    """A regular expression for any of the given texts, the longest first."""
    return "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))


def structured(text: str) -> tuple[list[str], str] | None:
    """Extract steps and answer from JSON (with or without code fences) or Python notation. Return
    None for other texts.
    """
    first = min((n for n in (text.find("{"), text.find("[")) if n >= 0), default=-1)
    last = max(text.rfind("}"), text.rfind("]"))
    outside = text[:first] + text[last + 1 :]
    if first < 0 or last < first or any(c.isalpha() for c in outside.replace("json", "")):
        return None
    body = text[first : last + 1]
    record: object = None
    for written in (body, body.replace("'", '"')):
        with suppress(ValueError, RecursionError):
            record = json.loads(written)
            break
    if isinstance(record, list):
        return [], ", ".join(_strings(record)) or "none"
    if not isinstance(record, dict):
        return None
    names = [name for _, name in sorted(builtin().rows["field", 2], key=lambda row: int(row[0]))]
    given = next((record[name] for name in names if name in record), "")
    answer = ", ".join(_strings(given)) or ("none" if given == [] else "")
    steps = [s for name, value in record.items() if name not in names for s in _strings(value)]
    return steps, answer


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str | int | float):
        yield str(value)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


# What is announced ---------------------------------------------------------------------


@lru_cache(1_024)
def announces(text: str) -> bool:
    """Whether a sentence announces the answer, instead of asking for or supposing an answer."""
    found = _announcement().search(text)
    if found is None or asks(text.rstrip(_MARKS)):
        return False
    return not supposes(text[: found.start()])


@lru_cache(1_024)
def _is_tentative(text: str) -> bool:
    """Whether a sentence that does not announce an answer asks for or supposes an answer."""
    if asks(text.rstrip(_MARKS)):
        return _noun().search(text) is not None
    return (_announcement().search(text) or _hedged().search(text)) is not None


def supposes(text: str) -> bool:
    """Whether a text ends in an unfinished sentence that turns the following text into a
    supposition.
    """
    return _supposing().search(_SENTENCE.split(text.rsplit("\n", 1)[-1])[-1]) is not None


def announced(text: str) -> tuple[int, int]:
    """Return the span of the text after the announcement of the answer. Without an announcement,
    this is the whole text. Surrounding marks are excluded.
    """
    start, end = 0, len(text)
    for found in _announcement().finditer(text):
        start = found.end()
    linked = _linking().match(text, start) if start else None
    start = linked.end() if linked else start
    while start < end and text[start] in _MARKS:
        start += 1
    while start < end and text[end - 1] in _MARKS:
        end -= 1
    if text.count('"', start, end) % 2 and text[end : end + 1] == '"':  # `still "left"`
        end += 1
    elif text.count('"', start, end) % 2 and text[start] != '"':  # `"A is left of B", says Kim`
        quote = text.rfind('"', 0, start)
        start = quote if quote >= 0 else start
    opened = text.count("(", start, end) > text.count(")", start, end)
    return start, end + (opened and text[end : end + 1] == ")")  # "at (2, 5)"


def answered(text: str) -> tuple[str, int]:
    """Return the content of an answer, with its offset. The announcement and any retracted text are
    excluded.
    """
    found = clauses(text, refusing=not refuses(text))
    begin, stop = found.standing[-1] if found.standing else (len(text), len(text))
    begin, stop = (begin, stop) if found.taken or found.before else (0, len(text))
    start, end = announced(text[begin:stop])
    return text[begin + start : begin + end], begin + start


def gist(text: str) -> tuple[int, int]:
    """Return the span of an answer's actual content. Excluded are announcements and inferences,
    negated alternatives ("not right BUT LEFT, not above") and reasons.
    """
    start, end = announced(text)
    for pattern in (_drawing(), _contrasting()):
        found = pattern.match(text, start, end)
        start = found.end() if found else start
    said = _WORDS.search(text, start, end)
    aside = _aside().search(text, said.end(), end) if said else None
    return start, aside.start() if aside else end


def chosen(text: str, *listings: str) -> str:
    """Return the option chosen by an answer, either by letter alone, "(b)", or by its words; empty
    if none is chosen. The options may be listed in the given texts.
    """
    said = text[slice(*gist(text))]
    letter, words = _option().fullmatch(said), _unarticled(said)
    meant = (
        option
        for name, option in _listed(listings)
        if (name == letter[1].lower() if letter else _unarticled(option) == words)
    )
    return next(meant, "")


def fitted(option: str, question: str) -> list[str]:
    """Return statements that may answer the question by the given option. For the option "the
    lamp", these include "the lamp is left of B" for "Which is left of B?" and "A left of the lamp"
    for "What is A left of?".
    """
    found = _seeking().search(question)
    if found is None or not option:
        return []
    before, link, rest = found.groups()
    return [f"{before}{option} {link} {rest}", f"{before}{rest} {option}"]


def _unarticled(text: str) -> str:
    """The words of an option in lower case, without the article."""
    return _article().sub("", text.strip(_MARKS).casefold())


def _listed(listings: Iterable[str]) -> list[tuple[str, str]]:
    """The options in the first text that contains a list of options, each with its letter."""
    found = next(filter(None, map(_OPTIONS.findall, listings)), [])
    return [(letter.lower(), option.strip(_MARKS)) for letter, option in found]


def options(text: str) -> list[str]:
    """Return the lettered options in a question."""
    return [option for _, option in _listed([text])]


def lettered(options: object) -> str:
    """Format options as a lettered list; empty if there are no options, or if the options are only
    letters.
    """
    texts = options if isinstance(options, list) else []
    if not all(isinstance(each, str) and len(each) > 1 for each in texts):
        return ""
    return "\n".join(f"{letter}. {each}" for letter, each in zip("ABCDEFGH", texts, strict=False))


@dataclass(frozen=True)
class Ending:
    """The place to look for the answer in a list of sentences.

    Attributes:
        at: Index of the sentence that announces the answer or is marked as the answer, or None.
        since: If `at` is None, the index of the first sentence that may be the answer. Earlier
            sentences were doubted, retracted or thinking.
    """

    at: int | None
    since: int


def answering(
    sentences: Sequence[str],
    roles: Sequence[Role],
    asks_whether: bool,
    is_label: Callable[[int], bool],
) -> Ending:
    """Find the answer in a response: the announced or marked sentence; otherwise the last sentence
    if it answers a yes/no question, is a bare label, or is the only sentence.

    Args:
        sentences: The sentences of the response.
        roles: Their roles.
        asks_whether: Whether the question is a yes/no question.
        is_label: Function that returns whether the sentence at an index is only a label.
    """
    found, last = ending(sentences, roles), len(sentences) - 1
    if found.at is not None or last < 0:
        return found

    def is_brief(n: int) -> bool:
        words = _WORDS.findall(sentences[n], *gist(sentences[n]))
        return len(words) <= _LABEL and is_label(n)

    if last < found.since:
        put_right = roles[last] != "thinking" and _doubting().match(sentences[last])
        return Ending(last, last) if put_right and is_brief(last) else found
    only = all(role == "thinking" for role in roles[:-1])
    if (asks_whether and judges(sentences[last])) or is_label(last) or only:
        return Ending(last, found.since)
    first = roles.index("step") if "step" in roles else last
    heads = found.since <= first and not asks(sentences[first].rstrip(_MARKS))
    return Ending(first, first) if heads and is_brief(first) else found


def ending(sentences: Sequence[str], roles: Sequence[Role]) -> Ending:
    """Find the place to look for the answer in a response, that is, where it is marked or
    announced.
    """
    marked = [n for n, role in enumerate(roles) if role == "answer" and _has_words(sentences[n])]
    if marked:
        first = marked[-1]
        while first and roles[first - 1] == "answer":
            first -= 1
        announcing = [n for n in marked if n >= first and announces(sentences[n])]
        return Ending((announcing or [first])[-1], first)
    found = before = Ending(None, 0)
    for n, (text, role) in enumerate(zip(sentences, roles, strict=True)):
        if role == "thinking":
            found = before = Ending(None, n + 1)
        elif announces(text):
            found = Ending(n, found.since)
        elif found.at is None and _is_tentative(text):
            found = Ending(None, n + 1)
        elif retracts(text) or _doubting().match(text):
            before = found if found.at is not None else before
            found = Ending(None, n + 1)
        elif found.at is None and before.at is not None and _assenting().match(text):
            found = before
    return found


def is_cut_off(text: str, start: int, end: int) -> bool:
    """Whether a sentence breaks off: it has no end mark, but the text before it on the same line
    has one.

    Args:
        text: The text.
        start: Position of the sentence's first character.
        end: Position after its last character.
    """
    line = text[text.rfind("\n", 0, start) + 1 : start].rstrip()
    return line.endswith(_FULL_STOPS) and not is_ended(text[start:end])


def is_ended(text: str) -> bool:
    """Whether a text ends as a sentence does."""
    return text.rstrip(_CLOSING).endswith(_FULL_STOPS)


# Retractions ----------------------------------------------------------------------------


@lru_cache(1_024)
def retracts(text: str) -> bool:
    """Whether a sentence does nothing but retract earlier text."""
    return any(
        not _WORDS.search(text, 0, start) and not _WORDS.search(text, end)
        for start, end in _retractions(text)
    )


def infers(text: str) -> bool:
    """Whether a retraction is a conclusion from the preceding text, so that this text is not itself
    retracted: "A is left of B, SO that was wrong".
    """
    return _inferring().match(text) is not None


def refuses(text: str) -> bool:
    """Whether a sentence consists only of "no"."""
    return _refusing().fullmatch(text) is not None


def judges(text: str) -> bool:
    """Whether a sentence consists only of yes or no."""
    return " ".join(_WORDS.findall(_leading().sub("", text.lower()))) in _judgements()


@lru_cache(128)
def broken(text: str) -> str:
    """Put each retraction of a clause on a line of its own: "A is left of B - no, scratch that."
    The length of the text stays the same.
    """
    pieces: list[str] = []
    last = 0
    for start, end in _retractions(text):
        before = start
        while before > last and text[before - 1] in _PAUSES:
            before -= 1
        after = end
        while after < len(text) and text[after] in _PAUSES:
            after += 1
        if 0 < before < start:
            pieces += text[last:before], "\n".ljust(start - before)
            last = start
        if end < after < len(text):
            pieces += text[last:end], "\n".ljust(after - end)
            last = after
    return "".join([*pieces, text[last:]])


@dataclass(frozen=True)
class Clauses:
    """The clauses of a text after taking retractions into account, as spans.

    Attributes:
        standing: The clauses that were not retracted.
        taken: The last clause that was retracted, or None.
        before: Whether the text retracts part of the preceding text.
    """

    standing: tuple[tuple[int, int], ...]
    taken: tuple[int, int] | None
    before: bool


def clauses(text: str, refusing: bool = False) -> Clauses:
    """Split a text into clauses, and separate the retracted ones from the others.

    Args:
        text: The text.
        refusing: Whether an initial "no" is a retraction. After a question, it is an answer.
    """
    ever = refusing
    standing: list[tuple[int, int]] = []
    taken: tuple[int, int] | None = None
    before = False
    lines = broken(text)
    edges = [0, *(found.end() for found in _BREAK.finditer(lines)), len(lines)]
    for start, end in pairwise(edges):
        said = lines[start:end]
        if not retracts(said) and not (refusing and refuses(said)):
            if refusing and standing and _correcting().match(said):
                taken = standing.pop()
            if _has_words(said):
                standing.append((start, end))
        elif standing:
            taken = standing.pop()
        elif taken is None:
            before = True
        refusing = ever and not asks(said)
    if taken is None and not before:
        return Clauses(((0, len(text)),), None, False)
    return Clauses(tuple(standing), taken, before)


def taken_back(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Return the spans of retracted clauses and of the retractions, in consecutive texts such as
    the sentences of a scene.
    """
    joined = "\n".join(texts)
    standing = [(0, 0), *clauses(joined, refusing=True).standing, (len(joined), len(joined))]
    gone = [(end, start) for (_, end), (start, _) in pairwise(standing) if end < start]
    ends = [end for _, end in gone]
    found = []
    begin = 0
    for text in texts:
        first, last = bisect_right(ends, begin), bisect_left(ends, begin + len(text))
        spans = ((max(0, s - begin), min(len(text), e - begin)) for s, e in gone[first : last + 1])
        found.append([(start, end) for start, end in spans if start < end])
        begin += len(text) + 1
    return found


def unretracted(texts: Sequence[str]) -> list[str]:
    """Replace retracted clauses and retractions in consecutive texts by blanks."""
    kept = []
    for text, spans in zip(texts, taken_back(texts), strict=True):
        edges = [(0, 0), *spans, (len(text), len(text))]
        pieces = (
            text[last:start] + " " * (end - start) for (_, last), (start, end) in pairwise(edges)
        )
        kept.append("".join(pieces))
    return kept


def upheld(text: str) -> str:
    """Return a text without its retracted clauses."""
    return " ".join(text[start:end] for start, end in clauses(text).standing)


def _retractions(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of retractions, with their opening and closing words."""
    words, phrases = set(_RUN.findall(text.lower())), _retracting()
    if not any(words.issuperset(told) for n in phrases.keys() & words for told in phrases[n]):
        return
    last: tuple[int, int] | None = None
    for found in _retraction().finditer(text):
        phrase = " ".join(found.group().lower().split())
        start = _opened(text, found.start(), phrase in _cues()["blunder"])
        if start is None:
            continue
        if phrase in _cues()["refusal"] and not _interrupted(text, start):
            continue
        if phrase in _cues()["replacing"] and _denying().search(_interrupted(text, start) or "no"):
            continue
        end = found.end()
        closed = _closing().match(text, end)
        if closed is not None:
            end = closed.end(1)
        elif phrase not in (*_cues()["meant"], *_cues()["blunder"]):
            continue
        if last is not None and not _WORDS.search(text, last[1], start):
            last = last[0], end
            continue
        if last is not None:
            yield last
        last = start, end
    if last is not None:
        yield last


def _opened(text: str, place: int, subject: bool) -> int | None:
    """The start of the clause with a retraction phrase; None if the phrase retracts nothing.

    Args:
        text: The text.
        place: Start of the phrase.
        subject: Whether the phrase may have a subject.
    """
    window = max(0, place - _WINDOW)
    before = text[window:place]
    if subject:
        owner = _SUBJECT.search(before)
        if owner is not None and not _not_own().search(owner.group()):
            place = window + owner.start()
            before = text[window:place]
    opening = _opening().search(before)
    assert opening is not None  # may be empty
    start = window + opening.start(1)
    pause = text[max(0, start - 4) : start].rstrip(" \t")
    free = start == 0 or pause == "" or pause[-1] in _BREAKS or opening.group(1) != ""
    return start if free else None


def _interrupted(text: str, place: int) -> str:
    """The clause that is interrupted before the given character offset, "A is left, no, right of
    B"; empty if there is no such clause.
    """
    before = text[max(0, place - _WINDOW) : place].rstrip(_PAUSES + "\n")
    clause = _SENTENCE.split(before.rsplit("\n", 1)[-1])[-1]
    return clause if len(_WORDS.findall(clause)) >= _CLAUSE else ""


ENDS = frozenset((".", "!", "?", ";"))
"""Marks that end a sentence."""
_MARKS = " \t\n:*_`\"'.,;$#{}()[]=\\"
_FULL_STOPS = (".", "!", "?", "...", "\u2026")
_CLOSING = " \t\n*_`\"')]}$\\\u201d"
_PAUSES = " \t,;:\u2014\u2013-("
_BREAKS = '.,;:!?\u2026\u2014\u2013-(\n"\u201d*)'
_WINDOW = 60
"""Maximum number of characters between the start of a clause and the retraction phrase."""
_LABEL = 4
"""Maximum number of words in a label that precedes its explanation."""
_CLAUSE = 3
"""Minimum number of words in a clause."""
_WORDS = re.compile(r"[^\W_]+(?:'\w+)?")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_BREAK = re.compile(r"(?<=[.!?;])[ \t]+|\n+")
_OPTIONS = re.compile(
    r"(?:(?<=[\n\s,;?:(])|\A)\(?([a-h])[.):][ \t]+([^\n;]{1,80}?)"
    r"(?=[ \t]*(?:[,;]?[ \t]+(?:or )?\(?[a-h][.):][ \t]|[;\n?]|\Z))",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(/?)([a-z][\w-]{0,30})(?:\s[^<>\n]{0,200})?/?>", re.IGNORECASE)
_LINES = frozenset(("p", "br", "li", "div", "tr", "ul", "ol", "hr", "h1", "h2", "h3"))
"""Tags that separate lines."""
_SUBJECT = re.compile(r"(?:(?<=[.,;:!?\n\u2014\u2013] )|(?<=\n)|\A)(?:[\w']+ ){1,5}\Z")


_NAMED = ("retraction", "former_form", "negation", "denial", "picking", "copula_form")


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))


@cache
def _cues() -> dict[str, frozenset[str]]:
    """Map the role of words (`cue/2`, for some roles `lexeme/2`) to the words."""
    rows = builtin().rows
    found: dict[str, set[str]] = {}
    named = [row for row in rows["lexeme", 2] if row[0] in _NAMED]
    for role, text in (*rows["cue", 2], *named):
        found.setdefault(role, set()).add(text)
    return {role: frozenset(texts) for role, texts in found.items()}


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which the names of roles stand for the words with these roles."""
    words = {role: _one_of(texts) for role, texts in _cues().items()}
    return re.compile(pattern % words, re.IGNORECASE | re.MULTILINE)


_noun = partial(_compiled, r"\b(?:%(announcing)s)\b")
_hedged = partial(_compiled, r"\b(?:%(announcing)s)\s(?:%(supposing)s)\b")
_leading = partial(_compiled, r"\A\W{0,9}(?:(?:%(contrary)s|%(conclusion)s)\b\W{1,3})?")
_inferring = partial(_compiled, r"\W{0,3}(?:%(clause)s|%(conclusion)s)\b")
_option = partial(
    _compiled, r"(?:(?:%(lettering)s) )?\(?([a-h])[).]?(?: is (?:%(settled)s|right|true))?"
)
_article = partial(_compiled, r"\A(?:%(article)s)\s+")
_seeking = partial(
    _compiled,
    r"([^?.!\n]{0,200}?)\b(?:%(picking)s)\b[^?.!\n]{0,60}?\s(%(copula_form)s)\s([^?\n]{1,200})\?",
)
_contrasting = partial(
    _compiled, r"\W{0,9}(?:%(denial)s)\s[^.,;!?\n]{1,40}[, ]\s?but\s(?:it\sis\s)?"
)
_aside = partial(
    _compiled,
    r"\s{0,3}(?:[,;(]|\s[-\u2013\u2014]\s)?\s{0,3}\b(?:%(reason)s|%(denial)s)\b|\s\((?=\S{1,40}\s)",
)
"""Text after the actual answer: rejected alternatives, and reasons."""
_supposing = partial(_compiled, r"\b(?:%(supposing)s)\b")
_doubting = partial(_compiled, r"[^\w\n]{0,9}(?:(?:%(contrary)s)\W{1,3})?(?:%(doubt)s)\b")
_assenting = partial(
    _compiled, r"[^\w\n]{0,9}(?:(?:%(opening)s|%(contrary)s)\W{1,3})?(?:%(assent)s)\b(?!\s+\w)"
)
_refusing = partial(
    _compiled, r"\W*(?:(?:%(contrary)s|%(opening)s)\W+)*(?:%(refusal)s|%(replacing)s)\W*"
)
_correcting = partial(_compiled, r"\s*(?:%(refusal)s),\s")
_denying = partial(_compiled, r"\b(?:%(negation)s|%(denial)s)(?!\w)|n't\b")
_closing = partial(
    _compiled,
    r"((?:,? (?:%(closing)s)\b| (?:%(pointing)s)\b)?)"
    r"(?=\s{0,3}(?:\Z|[.,;:!?\n\u2026\u2014\u2013)*\"\u201d-]"
    r"|\b(?:%(contrary)s|%(reason)s)\b))",
)
_not_own = partial(_compiled, r"\b(?:%(former_form)s|%(announcing)s)\b|\bthat\s+\w|\bis\b")
"""Words that refer to something other than the preceding claim: an earlier answer, or a claim that
is mentioned explicitly.
"""


@cache
def _announcement() -> re.Pattern[str]:
    verb = r"\b(?:is|are|would be|must be)\b(?!\s(?:%(settled)s)\b)"  # "the answer is confirmed"
    link = rf"(?::|=|(?<=\s)[-\u2013\u2014]\s|{verb})"
    # "The answer, as far as I can tell, is left."
    between = r"(?:,(?!\s(?:%(supposing)s)\b)[^,.:\n]{1,40},)?"
    noun = rf"\b(?:%(announcing)s)(?:[ ]\d{{1,3}})?{between}\W{{0,4}}{link}"
    heading = r"^[^\w\n]{0,9}(?:%(announcing)s)[^\w\n]{0,9}$"
    choosing = r"\bI\s(?:%(choosing)s)\b(?:\sthat\b)?"
    return _compiled(rf"{noun}|{heading}|{choosing}|(?<!\w)(?:%(announced)s)\b")


@cache
def _linking() -> re.Pattern[str]:
    marks = f"[{re.escape(_MARKS)}]{{0,9}}"
    return _compiled(rf"{marks}(?:(?:%(link)s)\b{marks})?(?:that\b|text\{{)?")


@cache
def _judgements() -> frozenset[str]:
    rows = builtin().rows
    given = (row for key in ("label", "synonym") for row in rows[key, 2])
    return frozenset(text for meaning, text in given if meaning in ("yes", "no"))


@cache
def _drawing() -> re.Pattern[str]:
    """A pattern for the start of an inferred answer, "So, therefore, it is ", or for the letter of
    an option.
    """
    drawn = r"(?:%(conclusion)s|%(clause)s|%(contrary)s|%(doubt)s|%(opening)s|%(adverb)s)\b\W{0,9}"
    option = r"\(?[a-h](?:[.):]\s+|\)\s*)(?=\W{0,4}\w)"
    return _compiled(rf"\W{{0,9}}(?:{drawn}(?:that\b\s*)?){{0,4}}(?:it(?:\sis|'s)\s+|{option})?")


_RUN = re.compile(r"[^\W\d_]+")


@cache
def _retracting() -> dict[str, list[set[str]]]:
    """Map the first word of each retraction phrase to the words of the phrase. With this map, texts
    without retractions can be skipped quickly.
    """
    names = ("retraction", "blunder", "meant", "refusal", "replacing")
    found: dict[str, list[set[str]]] = {}
    for words in (_RUN.findall(phrase) for name in names for phrase in _cues()[name]):
        found.setdefault(words[0], []).append(set(words))
    return found


@cache
def _retraction() -> re.Pattern[str]:
    pause = r"[,;\u2014\u2013]"
    return _compiled(
        r"(?<!\w)(?:%(retraction)s|%(blunder)s|%(meant)s)(?!\w)"
        rf"|(?<={pause}\s)(?:%(refusal)s|%(replacing)s)(?=\s?{pause})"
    )


@cache
def _opening() -> re.Pattern[str]:
    between = r"(?:\s?[,.\u2026:!\u2014\u2013-]{1,3}\s?|\s)"
    return _compiled(rf"((?:\b(?:%(contrary)s|%(opening)s)\b{between})*)\Z")
