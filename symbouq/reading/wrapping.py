"""Join sentences that continue on the next line."""

from __future__ import annotations

import re
from functools import cache

from symbouq.ontology.library import builtin

_OPEN = (
    "article_form",
    "determiner",
    "possessive",
    "copula_form",
    "relative_form",
    "comparison_form",
    "and",
    "or",
    "goal",
    "with",
)
"""Classes of words that cannot end a sentence."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_MARKER = re.compile(r"\s*(?:[-*+\u2022]|\(?\w{1,2}[.)])\s+")
_LABEL = re.compile(r"\s*(?:\w+ ){0,3}\w+\s*:")
_APART = re.compile(r"\s*(?:#|\||>|```)|\s{5,}")
"""Beginnings of lines that are not joined to the preceding line: headings, rows, quotations, code.
"""
_END = re.compile(r"[.!?\u2026][*_\"')\]\u201d]*(?:\s|$)")
_FEWEST = 3
"""Minimum number of words on a line where a wrapped sentence may begin."""


def unwrapped(text: str) -> str:
    """Replace each line break inside a sentence by a space. Lists, headings, labels and separate
    lines stay unchanged.
    """
    if "\n" not in text.strip():
        return text
    lines = text.split("\n")
    goes_on = [False] * (len(lines) + 1)
    closed = False
    for n in range(len(lines) - 1, 0, -1):
        closed = _END.search(lines[n]) is not None or (closed and goes_on[n + 1])
        goes_on[n] = _continues(lines[n - 1], lines[n], closed)
    pieces, begun = [lines[0]], lines[0]
    for line, on in zip(lines[1:], goes_on[1:-1], strict=True):
        on = on and _begins(begun)
        pieces += (" " if on else "\n"), line
        begun = f"{begun} {line}" if on else line
    return "".join(pieces)


def _continues(line: str, following: str, closed: bool) -> bool:
    """Whether a line may continue on the next one.

    Args:
        line: The line.
        following: The next line.
        closed: Whether the next line, or its continuation, ends a sentence.
    """
    said = line.rstrip()
    if not said or not (said[-1].isalnum() or said[-1] in ",;)'\"\u2019"):
        return False
    first = _WORD.match(following.lstrip())
    if first is None or any(p.match(following) for p in (_MARKER, _LABEL, _APART)):
        return False
    *_, last = ("", *_WORD.findall(said.lower()))
    if last in _open_words():
        return True
    return first[0][0].islower() and (closed or last in _relating_words())


def _begins(line: str) -> bool:
    marker = _MARKER.match(line)
    words = _WORD.findall(line, marker.end() if marker else 0)
    if len(words) < _FEWEST or _APART.match(line):
        return False
    return not words[0][0].islower() or _END.search(line) is not None


@cache
def _open_words() -> frozenset[str]:
    lexemes = {text for name, text in builtin().rows["lexeme", 2] if name in _OPEN}
    return frozenset({text for text in lexemes if " " not in text} | {"of"})


@cache
def _relating_words() -> frozenset[str]:
    return frozenset(phrase for _, _, phrase in builtin().rows["phrase", 3] if " " not in phrase)
