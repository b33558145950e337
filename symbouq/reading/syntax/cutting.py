"""Texts cut into sentences, by their tokens alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from symbouq.reading.bounds import LONGEST_WORD, stretches
from symbouq.reading.syntax.preparation import Piece

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer

_TYPESETTING = re.compile(r"\\[()\[\]]|\\(?:[a-zA-Z]+\*?)?|[${}]|</?[a-z]+>")
"""Commands of LaTeX and tags, which say nothing of a place."""
_ENDLESS = re.compile(rf"(?<!\S)\S{{{LONGEST_WORD},}}")
_CLOSING = frozenset('"*_`)]\u201d')
ENDS = frozenset((".", "!", "?", ";"))
"""What ends a sentence."""


@cache
def english_tokenizer() -> Tokenizer:
    """The tokenizer of English that needs no trained pipeline."""
    import spacy

    return spacy.blank("en").tokenizer


def spans(tokenizer: Tokenizer, text: str) -> list[tuple[int, int]]:
    """The spans of a text's sentences; a line break ends one."""
    return [
        (tokens[0].start, tokens[-1].start + len(tokens[-1].text))
        for tokens in pieces(tokenizer, text)
    ]


def pieces(tokenizer: Tokenizer, text: str) -> Iterator[list[Piece]]:
    """The tokens of each of a text's sentences that has a letter or a digit.

    Raises:
        LimitError: If a surrounding `time_limit` is over.
    """
    plain = _ENDLESS.sub(_blank, _TYPESETTING.sub(_blank, text))
    tokens = [
        (token, start + token.idx)
        for start, stretch in stretches(plain)
        for token in tokenizer(stretch)
    ]
    current: list[Piece] = []
    ended = False
    for n, (token, place) in enumerate(tokens):
        if not token.is_space:
            current.append(Piece(token.text, place))
        last = n + 1 == len(tokens)
        following = token if last else tokens[n + 1][0]
        follows = "" if last else following.text
        spaced = bool(last or token.whitespace_ or following.is_space)
        closed = ended and token.text[0] in _CLOSING
        ends = spaced and (token.text in ENDS or closed)
        ended = (token.text in ENDS or closed) and (follows[:1] in _CLOSING or spaced)
        lettered = len(token.text) == 2 and token.text[1] == "." and token.text[0].isalpha()
        ends = ends or (lettered and (last or follows[:1].isupper() or following.is_space))
        if current and (ends or last or (token.is_space and "\n" in token.text)):
            if any(c.isalnum() for piece in current for c in piece.text):
                yield current
            current = []


def _blank(found: re.Match[str]) -> str:
    """Spaces for what is not read, but a sign for the commands that compare."""
    compares = found.group() in ("\\le", "\\leq", "\\ge", "\\geq")
    return ("\u2264" if compares else "").ljust(len(found.group()))
