"""Find the part of a response that gives the answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache

from symbouq.auditing.answers.words import cues
from symbouq.reading.segments import (
    Role,
    announced,
    announces,
    answering,
    segmented,
    structured,
    supposes,
    upheld,
)

_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])|\n+")
# Repetitions that can match the same text are bounded, so that long inputs take linear time.
_LIST = re.compile(
    r":[ \t]{0,9}\n\s{0,9}"
    r"(?P<items>(?:\s{0,9}(?:[-*\u2022]|\d+[.)])\s+\S[^\n]*(?:\n|$)){2,})"
)
_ITEM = re.compile(
    r"^[ \t]*(?:[-*\u2022]|\d+[.)])[ \t]+(.*?)(?:[ \t]{0,3}(?::|[ \t][-\u2013\u2014][ \t]).*)?$",
    re.MULTILINE,
)
_REMARK = re.compile(r"\((?!\w{1,300}\))[^()\n]{0,300}\)")
"""Bracketed remark after one of several answers: "SW (if x is left of z)"."""
_BRACKETS = re.compile(r"\([^()]{0,300}\)")
_DASH = re.compile(r"[ \t]{1,9}-[ \t]{1,9}")
_DASHED = re.compile(
    rf"(?:^|(?<=[:,])) {{0,9}}-[ \t]{{1,9}}[^-\n]{{1,30}}(?:{_DASH.pattern}[^-\n]{{1,30}})+$",
    re.MULTILINE,
)
"""List written on one line: "- left - above"."""
_BREAK = re.compile(r"((?<=[.!?])[ \t]+|\n+)")
_CLOSING = " \"'*_`)]"
_BOX = re.compile(r"\\boxed\s{0,3}\{([^{}]{0,300})\}")
_BOXES = re.compile(rf"{_BOX.pattern}(?:(?:\W|\\quad|and)*{_BOX.pattern})*")
_BEFORE = 80
"""Number of characters before an announced answer that are searched for a supposition."""
_SHORT = 3
"""Maximum length, in words, of a last line that counts as the answer despite earlier conclusions.
"""
_ANNOUNCED = 100
"""Maximum number of announcements to try, starting with the last one."""
_FAR = 2_000
"""Number of characters after an announcement, or after the opening of a conclusion, within which
its sentence must end.
"""
_PLAINER = {ord(k): v for k, v in zip("‘’“”‐‑−", "''\"\"---", strict=True)}  # noqa: RUF001


_FRAMES = {
    "announced": r"\b(?:%(noun)s)\b(?:\s+(?!(?:%(link)s)\b)[\w'()\"-]{1,99}){0,9}?"
    r"\s*(?:\d{1,9}\s*)?(?:\b(?:%(link)s)\b(?!\s+(?:%(settled)s)\b)\s*:?|[:=]|\s[-\u2013\u2014]\s)|\bI\s+(?:%(choosing)s)\b(?:\s+that\b)?",
    "concluded": r"(?:\b(?:%(conclusion)s)\b|(?:^|[.,;]\s+)(?:%(clause)s)\b)[,:]?\s*",
    "reason": r"(?s)\s{0,3}(?:[,;]|\s[-\u2013\u2014])?\s{0,3}\b(?:%(reason)s)\b.*"
    r"|\s[-\u2013\u2014]\s.*",
    "grounds": r"\s*(?:%(reason)s)\b[^,;]{0,300}(?:,\s*(?:and|but|or)\b[^,;]{0,300}){0,9},\s*",
    "confidence": r"^\W*(?:(?:my\s+)?(?:%(confidence)s)\b.*|\d+(?:[./]\d+)?\s*%%?\W*)$",
}
"""Regular expressions for the text around an answer. The name of a role in `cue/2` stands for the
words with that role.
"""


@cache
def _frame(name: str) -> re.Pattern[str]:
    words = {
        role: "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))
        for role, texts in cues().items()
    }
    return re.compile(_FRAMES[name] % words, re.IGNORECASE)


def answering_part(
    text: str, is_label: Callable[[str], bool] = lambda _: False, several: bool = False
) -> str:
    """Return the text of a response that may contain the answer: the marked answer, the answer
    field of a JSON object, or the asserted text without questions. Empty if there is none.

    Args:
        text: The response.
        is_label: Tells whether a sentence is a label and nothing else.
        several: Whether an answer may have several labels, each with a bracketed remark.
    """
    part = _answering_part(text, is_label, several)
    return _REMARK.sub(" ", part) if several else part


def _answering_part(text: str, is_label: Callable[[str], bool], several: bool) -> str:
    response = segmented(text)
    if response.marked is not None:
        return f"answer: {response.marked}"
    given = structured(response.said)
    if given is not None:
        return f"answer: {given[1]}" if given[1] else ""
    pieces = _BREAK.split(upheld(response.said))  # sentences and separators
    sentences = pieces[::2]
    roles: Sequence[Role] = ["step"] * len(sentences)
    found = answering(sentences, roles, False, lambda n: is_label(sentences[n]))
    if found.at is not None and not several:
        answer = sentences[found.at]
        said = answer[announced(answer)[0] :]
        if announces(answer) and any(map(str.isalnum, said)):
            return f"answer: {said}"
    first = found.since if several or found.at is None else found.at
    kept = ""
    for n in range(first, len(sentences)):
        more = any(re.search(r"\w", piece) for piece in sentences[n + 1 : n + 3])
        if not (more and sentences[n].rstrip(_CLOSING).endswith("?")):
            kept += sentences[n]
        kept += "".join(pieces[2 * n + 1 : 2 * n + 2])
    return kept


def answering_sentences(text: str, several: bool = False) -> tuple[str, ...]:
    """Return the sentences of a response that may be the answer: the sentence that is announced as
    the answer or as the conclusion, otherwise the first and the last sentence. Empty if there are
    no sentences.

    Args:
        text: The response.
        several: Whether an answer may have several labels, each on its own line of a list.
    """
    text = _unmarked(text)
    if several:
        text = _LIST.sub(_in_line, text)
        text = _DASHED.sub(lambda line: _DASH.sub(", ", line.group().strip("- \t")), text)
    marks = list(_frame("announced").finditer(text))
    marks = [m for m in marks if "answ" in m.group().casefold()] or marks[-1:]
    conclusions = list(_frame("concluded").finditer(text))
    if marks and conclusions and conclusions[-1].start() > marks[-1].end():
        marks = [m for m in marks if "answ" in m.group().casefold()]
    for mark in reversed(marks[-_ANNOUNCED:]):
        if supposes(text[max(0, mark.start() - _BEFORE) : mark.start()]):
            continue
        rest = text[mark.end() :][:_FAR].lstrip(" \t:\n")
        listed = re.match(r"\[([^\]]*)\]", rest)
        first = listed.group(1) if listed else _SENTENCE.split(rest, maxsplit=1)[0]
        # "Answer:" may also be the heading of the steps.
        steps = not listed and re.fullmatch(r".*:\s*|\d+[.)]|[-*]", first.strip(), re.DOTALL)
        if re.search(r"\w", first) and not steps:
            return (_without_reason(first, several),)
        if listed:
            return ("none",)
    short_end = text and len(re.findall(r"\w+", text.splitlines()[-1])) <= _SHORT
    if conclusions and not short_end:
        first = _SENTENCE.split(text[conclusions[-1].end() :][:_FAR], maxsplit=1)[0]
        if re.search(r"\w", first):
            return (_without_reason(first, several),)
    sentences = [s.strip() for s in _SENTENCE.split(text) if s.strip()]
    return tuple(_without_reason(s, several) for s in (sentences[:1] + sentences[-1:]))


def closing_sentence(text: str) -> str:
    """Return the last sentence of a response without markup; empty if there is none."""
    sentences = [s.strip() for s in _SENTENCE.split(_unmarked(text)) if s.strip()]
    return sentences[-1] if sentences else ""


def _in_line(found: re.Match[str]) -> str:
    """Return a list as one line, without remarks on its items. Unchanged if the items are long."""
    items = [item.strip(" ,;.") for item in _ITEM.findall(found["items"])]
    if any(len(item.split()) > _SHORT for item in items):
        return found.group()
    return f": {', '.join(items)}.\n"


def _unmarked(text: str) -> str:
    """Return a response without markup, quoted questions, and lines that state a confidence."""
    text = unicodedata.normalize("NFKC", text).translate(_PLAINER)
    text = re.sub(r"\\(?:text|mathrm|mathbf)\s{0,3}\{([^{}]{0,300})\}", r"\1", text)
    # "TPP^{-1}" is the inverse of TPP.
    text = re.sub(r"(?<=[A-Za-z]) ?\^? ?\{? ?- ?1\b ?\}?", " inverse", text)
    boxes = list(_BOXES.finditer(text))
    if boxes:
        text = f"answer: {', '.join(_BOX.findall(boxes[-1].group()))}"
    text = re.sub(r"^(\s{0,9})[*\u2022][ \t]+", r"\1- ", text, flags=re.MULTILINE)
    text = re.sub(r"\*+|`+|(?<!\w)_+|(?<!_)_+(?!\w)|^#+\s*", "", text, flags=re.MULTILINE)
    text = re.sub(r"->|→|=>|>", ",", text)
    text = re.sub(r"\"[^\"\n]{0,300}\?\"", "", text)
    lines = [line for line in text.splitlines() if not _frame("confidence").match(line.strip())]
    return "\n".join(lines).strip() if lines else text.strip()


def _without_reason(text: str, several: bool) -> str:
    """Return an answer without bracketed remarks and without reasons before or after it. If there
    are several labels, one may be in brackets: "above (N) or to the left (W)".
    """
    inner = re.fullmatch(r"\s*\(([^()]*)\)\W*", text)
    remark = _REMARK if several else _BRACKETS
    text = inner.group(1) if inner else remark.sub(" ", text)
    grounds = _frame("grounds").match(text)  # "Since A and B are full, it is C"
    text = text[grounds.end() :] if grounds else text
    shorter = _frame("reason").sub("", text, count=1)
    return shorter if re.search(r"\w", shorter) else text
