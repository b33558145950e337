"""Regions of a response: thinking, text, answer, retractions.

Models mark their thinking in different ways, chats add further marks, and some answers are JSON.
The marks and words are in `ontology/answers.lp` and, for retractions, in `ontology/language.lp`.
Everything that needs a response's answer finds it here.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Literal

from symbouq.ontology.library import builtin
from symbouq.reading.force import asks

Role = Literal["step", "thinking", "answer"]
"""Role of a segment. `thinking` never delivers an answer; a marked `answer` is the delivered
one."""


@dataclass(frozen=True)
class Segment:
    """Segment of a response with one role.

    Attributes:
        start: Its first character.
        end: The character after its last.
        role: Its role.
    """

    start: int
    end: int
    role: Role


@dataclass(frozen=True)
class Response:
    """Response without its marks.

    Attributes:
        text: The response with a line break and spaces for each mark, of the same length.
        segments: Its segments, in order.
    """

    text: str
    segments: tuple[Segment, ...]

    def role(self, place: int) -> Role:
        """Role of the text at a character."""
        n = bisect_right(self._starts, place) - 1
        return self.segments[n].role if n >= 0 else "step"

    @cached_property
    def _starts(self) -> list[int]:
        return [segment.start for segment in self.segments]

    @property
    def thought(self) -> str:
        """Thinking, up to its end; empty if there is none."""
        return self._joined("thinking")

    @property
    def said(self) -> str:
        """Text without thinking."""
        return self._joined("step", "answer")

    @property
    def marked(self) -> str | None:
        """Last segment marked as the answer; None without one."""
        answers = (self.text[s.start : s.end] for s in self.segments if s.role == "answer")
        return next((text for text in reversed([*answers]) if text.strip()), None)

    def _joined(self, *roles: Role) -> str:
        pieces = (self.text[s.start : s.end] for s in self.segments if s.role in roles)
        return "\n".join(piece for piece in pieces if piece.strip())


def segmented(response: str) -> Response:
    """Segments of a response.

    A closing mark without an opening one ends thinking that began at the start, or after the
    previous region. An opening mark without a closing one applies up to the end, or to the start of
    an answer or another channel.
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
    """A text of the same length without tags of HTML and the like, except for those with a role."""
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
    """Mark in lower case to its effect (open, close, or standalone) and role."""
    rows = builtin().rows
    found = {mark.lower(): ("alone", role) for role, mark in rows["delimiter", 2]}
    found |= {closing.lower(): ("close", role) for role, _, closing in rows["delimiter", 3]}
    found |= {opening.lower(): ("open", role) for role, opening, _ in rows["delimiter", 3]}
    return found  # type: ignore[return-value]


@cache
def _marks() -> re.Pattern[str]:
    return re.compile(_one_of(_delimiters()), re.IGNORECASE)


def _one_of(texts: Iterable[str]) -> str:
    """Regular expression for one of some texts, the longest first."""
    return "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))


def structured(text: str) -> tuple[list[str], str] | None:
    """Steps and answer of JSON, fenced or not, or of Python's notation; otherwise None."""
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


def announces(text: str) -> bool:
    """Whether a sentence announces the answer instead of asking for one or supposing one."""
    found = _announcement().search(text)
    if found is None or asks(text.rstrip(_MARKS)):
        return False
    return not supposes(text[: found.start()])


def _is_tentative(text: str) -> bool:
    """Whether a sentence that announces no answer asks for one or supposes one."""
    if asks(text.rstrip(_MARKS)):
        return _noun().search(text) is not None
    return (_announcement().search(text) or _hedged().search(text)) is not None


def supposes(text: str) -> bool:
    """Whether the unfinished sentence at the end of a text makes the next words a supposition."""
    return _supposing().search(_SENTENCE.split(text.rsplit("\n", 1)[-1])[-1]) is not None


def announced(text: str) -> tuple[int, int]:
    """Span of the statement in a text, after the announcement of the answer. Without an
    announcement, the whole text without surrounding marks.
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
    """Content of an answer after its announcement and without retracted text, with its offset."""
    found = clauses(text, refusing=not refuses(text))
    begin, stop = found.standing[-1] if found.standing else (len(text), len(text))
    begin, stop = (begin, stop) if found.taken or found.before else (0, len(text))
    start, end = announced(text[begin:stop])
    return text[begin + start : begin + end], begin + start


def gist(text: str) -> tuple[int, int]:
    """Span of the actual content of an answer: without announcements and inferences, negated
    alternatives ("not right BUT LEFT, not above") and reasons.
    """
    start, end = announced(text)
    for pattern in (_drawing(), _contrasting()):
        found = pattern.match(text, start, end)
        start = found.end() if found else start
    said = _WORDS.search(text, start, end)
    aside = _aside().search(text, said.end(), end) if said else None
    return start, aside.start() if aside else end


def chosen(text: str, *listings: str) -> str:
    """Option for an answer that is only its letter, "(b)", or its words, from texts that list the
    options; otherwise empty.
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
    """Statements that may answer a question with an option, "the lamp": "the lamp is left of B" for
    "Which is left of B?", "A left of the lamp" for "What is A left of?"
    """
    found = _seeking().search(question)
    if found is None or not option:
        return []
    before, link, rest = found.groups()
    return [f"{before}{option} {link} {rest}", f"{before}{rest} {option}"]


def _unarticled(text: str) -> str:
    """Words of an option without the article, in lower case."""
    return _article().sub("", text.strip(_MARKS).casefold())


def _listed(listings: Iterable[str]) -> list[tuple[str, str]]:
    """Options of the first text that lists any: letter and content."""
    found = next(filter(None, map(_OPTIONS.findall, listings)), [])
    return [(letter.lower(), option.strip(_MARKS)) for letter, option in found]


def options(text: str) -> list[str]:
    """Content of the options that a question lists by letter."""
    return [option for _, option in _listed([text])]


def lettered(options: object) -> str:
    """Options as a lettered list; empty if there are none, or if they are letters."""
    texts = options if isinstance(options, list) else []
    if not all(isinstance(each, str) and len(each) > 1 for each in texts):
        return ""
    return "\n".join(f"{letter}. {each}" for letter, each in zip("ABCDEFGH", texts, strict=False))


@dataclass(frozen=True)
class Ending:
    """Where to look for the answer in some sentences.

    Attributes:
        at: Index of the sentence that announces the answer or is marked as it; None without one.
        since: Without one, index of the first sentence that may be the answer: earlier ones were
            doubted, retracted or thinking.
    """

    at: int | None
    since: int


def answering(
    sentences: Sequence[str],
    roles: Sequence[Role],
    asks_whether: bool,
    is_label: Callable[[int], bool],
) -> Ending:
    """Find the answer of a response: the announced or marked sentence; otherwise the last one, if
    it answers a yes/no question, is a bare label, or is the only one.

    Args:
        sentences: Its sentences.
        roles: Their roles.
        asks_whether: Whether the question is a yes/no question.
        is_label: Predicate: whether a sentence is a label and nothing else.
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
    """Where to look for the answer of a response: marked, or announced.

    Args:
        sentences: Its sentences.
        roles: Their roles.
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
    """Whether a sentence breaks off: it has no end, but the text before it on its line has one.

    Args:
        text: The text.
        start: First character of the sentence.
        end: The character after its last.
    """
    line = text[text.rfind("\n", 0, start) + 1 : start].rstrip()
    return line.endswith(_FULL_STOPS) and not is_ended(text[start:end])


def is_ended(text: str) -> bool:
    """Whether a text ends with the end of a sentence."""
    return text.rstrip(_CLOSING).endswith(_FULL_STOPS)


# Retractions ----------------------------------------------------------------------------


def retracts(text: str) -> bool:
    """Whether a sentence only retracts earlier text."""
    return any(
        not _WORDS.search(text, 0, start) and not _WORDS.search(text, end)
        for start, end in _retractions(text)
    )


def infers(text: str) -> bool:
    """Whether a retraction draws on the preceding text, which then stands: "A is left of B, SO that
    was wrong".
    """
    return _inferring().match(text) is not None


def refuses(text: str) -> bool:
    """Whether a sentence says only "no"."""
    return _refusing().fullmatch(text) is not None


def judges(text: str) -> bool:
    """Whether a sentence says only yes or no."""
    return " ".join(_WORDS.findall(_leading().sub("", text.lower()))) in _judgements()


def broken(text: str) -> str:
    """A text of the same length with a retraction of a clause on a separate line: "A is left of B -
    no, scratch that."
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
    """Clauses of a text by retraction, with their spans.

    Attributes:
        standing: Clauses that stand.
        taken: The last retracted clause; None without one.
        before: Whether the text retracts part of the text before it.
    """

    standing: tuple[tuple[int, int], ...]
    taken: tuple[int, int] | None
    before: bool


def clauses(text: str, refusing: bool = False) -> Clauses:
    """Clauses of a text, by retraction.

    Args:
        text: The text.
        refusing: Whether a "no" at its start is a retraction; after a question, it is an answer.
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
    """Spans of retracted clauses and of the retractions, in consecutive texts such as the sentences
    of a scene.
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
    """Consecutive texts with spaces in place of retracted clauses and retractions."""
    kept = []
    for text, spans in zip(texts, taken_back(texts), strict=True):
        edges = [(0, 0), *spans, (len(text), len(text))]
        pieces = (
            text[last:start] + " " * (end - start) for (_, last), (start, end) in pairwise(edges)
        )
        kept.append("".join(pieces))
    return kept


def upheld(text: str) -> str:
    """Text without retracted clauses."""
    return " ".join(text[start:end] for start, end in clauses(text).standing)


def _retractions(text: str) -> Iterator[tuple[int, int]]:
    """Spans of retractions, with the words that open and close them."""
    words = set(_RUN.findall(text.lower()))
    if not any(words.issuperset(told) for first in words for told in _retracting().get(first, ())):
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
    """Start of the clause of a retraction; None if it is not a retraction.

    Args:
        text: The text.
        place: Start of its phrase.
        subject: Whether it may have a subject.
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
    """Interrupted clause of a sentence before a character: "A is left, no, right of B"; empty if
    there is none.
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
"""Maximum number of characters between the start of a clause and its phrase."""
_LABEL = 4
"""Maximum number of words in a label before an answer."""
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
    """Role of words (`cue/2`, for some roles `lexeme/2`) to the words."""
    rows = builtin().rows
    found: dict[str, set[str]] = {}
    named = [row for row in rows["lexeme", 2] if row[0] in _NAMED]
    for role, text in (*rows["cue", 2], *named):
        found.setdefault(role, set()).add(text)
    return {role: frozenset(texts) for role, texts in found.items()}


def _compiled(pattern: str) -> re.Pattern[str]:
    """Regular expression in which the name of a role stands for its words."""
    words = {role: _one_of(texts) for role, texts in _cues().items()}
    return re.compile(pattern % words, re.IGNORECASE | re.MULTILINE)


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
def _noun() -> re.Pattern[str]:
    return _compiled(r"\b(?:%(announcing)s)\b")


@cache
def _hedged() -> re.Pattern[str]:
    return _compiled(r"\b(?:%(announcing)s)\s(?:%(supposing)s)\b")


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
def _leading() -> re.Pattern[str]:
    return _compiled(r"\A\W{0,9}(?:(?:%(contrary)s|%(conclusion)s)\b\W{1,3})?")


@cache
def _inferring() -> re.Pattern[str]:
    return _compiled(r"\W{0,3}(?:%(clause)s|%(conclusion)s)\b")


@cache
def _drawing() -> re.Pattern[str]:
    """Regular expression for the start of a drawn answer, "So, therefore, it is ", and for an
    option's letter.
    """
    drawn = r"(?:%(conclusion)s|%(clause)s|%(contrary)s|%(doubt)s|%(opening)s|%(adverb)s)\b\W{0,9}"
    option = r"\(?[a-h](?:[.):]\s+|\)\s*)"
    return _compiled(rf"\W{{0,9}}(?:{drawn}(?:that\b\s*)?){{0,4}}(?:it(?:\sis|'s)\s+|{option})?")


@cache
def _option() -> re.Pattern[str]:
    return _compiled(r"(?:(?:%(lettering)s) )?\(?([a-h])[).]?(?: is (?:%(settled)s|right|true))?")


@cache
def _article() -> re.Pattern[str]:
    return _compiled(r"\A(?:%(article)s)\s+")


@cache
def _seeking() -> re.Pattern[str]:
    """Question about a thing: text before and after the words for the thing."""
    return _compiled(
        r"([^?.!\n]{0,200}?)\b(?:%(picking)s)\b[^?.!\n]{0,60}?\s(%(copula_form)s)\s([^?\n]{1,200})\?"
    )


@cache
def _contrasting() -> re.Pattern[str]:
    return _compiled(r"\W{0,9}(?:%(denial)s)\s[^.,;!?\n]{1,40}[, ]\s?but\s(?:it\sis\s)?")


@cache
def _aside() -> re.Pattern[str]:
    """Regular expression for negated alternatives and reasons in an answer."""
    return _compiled(
        r"\s{0,3}(?:[,;(]|\s[-\u2013\u2014]\s)?\s{0,3}\b(?:%(reason)s|%(denial)s)\b|\s\((?=\S{1,40}\s)"
    )


@cache
def _supposing() -> re.Pattern[str]:
    return _compiled(r"\b(?:%(supposing)s)\b")


@cache
def _doubting() -> re.Pattern[str]:
    return _compiled(r"[^\w\n]{0,9}(?:(?:%(contrary)s)\W{1,3})?(?:%(doubt)s)\b")


@cache
def _assenting() -> re.Pattern[str]:
    return _compiled(
        r"[^\w\n]{0,9}(?:(?:%(opening)s|%(contrary)s)\W{1,3})?(?:%(assent)s)\b(?!\s+\w)"
    )


_RUN = re.compile(r"[^\W\d_]+")


@cache
def _retracting() -> dict[str, list[set[str]]]:
    """Words of each retraction phrase by its first word, since few texts have one."""
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
def _refusing() -> re.Pattern[str]:
    return _compiled(r"\W*(?:(?:%(contrary)s|%(opening)s)\W+)*(?:%(refusal)s|%(replacing)s)\W*")


@cache
def _correcting() -> re.Pattern[str]:
    return _compiled(r"\s*(?:%(refusal)s),\s")


@cache
def _denying() -> re.Pattern[str]:
    return _compiled(r"\b(?:%(negation)s|%(denial)s)(?!\w)|n't\b")


@cache
def _opening() -> re.Pattern[str]:
    between = r"(?:\s?[,.\u2026:!\u2014\u2013-]{1,3}\s?|\s)"
    return _compiled(rf"((?:\b(?:%(contrary)s|%(opening)s)\b{between})*)\Z")


@cache
def _closing() -> re.Pattern[str]:
    return _compiled(
        r"((?:,? (?:%(closing)s)\b| (?:%(pointing)s)\b)?)"
        r"(?=\s{0,3}(?:\Z|[.,;:!?\n\u2026\u2014\u2013)*\"\u201d-]"
        r"|\b(?:%(contrary)s|%(reason)s)\b))"
    )


@cache
def _not_own() -> re.Pattern[str]:
    """Regular expression for references to something other than the previous claim: an earlier
    answer or a named claim.
    """
    return _compiled(r"\b(?:%(former_form)s|%(announcing)s)\b|\bthat\s+\w|\bis\b")
