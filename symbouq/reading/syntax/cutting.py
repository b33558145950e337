"""Split text into sentences, token by token."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from symbouq.ontology.library import builtin
from symbouq.ontology.tables import Ontology
from symbouq.reading.bounds import LONGEST_WORD, stretches
from symbouq.reading.segments import ENDS, is_ended
from symbouq.reading.syntax.preparation import Piece

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer

_TYPESETTING = re.compile(r"\\[()\[\]]|\\(?:[a-zA-Z]+\*?)?|[${}]|</?[a-z]+>")
"""LaTeX commands and tags, which carry no information about places."""
_ENDLESS = re.compile(rf"(?<!\S)\S{{{LONGEST_WORD},}}")
_CLOSING = frozenset('"*_`)]\u201d')
_DOTTED = ("gloss", "abbreviation", "clipping", "numero")
"""Classes of abbreviations that end in a full stop."""


@cache
def english_tokenizer() -> Tokenizer:
    """Return the English tokenizer, without a trained pipeline."""
    from symbouq.reading.without_torch import spacy

    return spacy.blank("en").tokenizer


def spans(text: str) -> list[tuple[int, int]]:
    """Return the span of each sentence in `text`, independent of the profile."""
    return [
        (tokens[0].start, tokens[-1].start + len(tokens[-1].text))
        for tokens in pieces(english_tokenizer(), text, _dotted())
    ]


def finished(text: str) -> str:
    """Remove the last sentence from a truncated text if this sentence is incomplete."""
    start, end = (spans(text) or [(0, 0)])[-1]
    return text if "\n" in text[end:] or is_ended(text[start:]) else text[:start]


@cache
def _dotted() -> dict[str, str]:
    """The abbreviations in the built-in ontology, each mapped to its class."""
    return {text: name for name, text in builtin().rows["lexeme", 2] if name in _DOTTED}


def dotted_of(ontology: Ontology) -> dict[str, str]:
    """The abbreviations in the given profile, each mapped to its class."""
    return {text: name for name in _DOTTED for text in ontology.words(name)}


def pieces(tokenizer: Tokenizer, text: str, dotted: Mapping[str, str]) -> Iterator[list[Piece]]:
    """Yield the tokens of each sentence that contains a letter or digit. A line break ends a
    sentence.

    Args:
        tokenizer: The tokenizer.
        text: The text.
        dotted: Maps an abbreviation, with its full stops, to its class.

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
        lettered = len(token.text) == 2 and token.text[1] == "." and token.text[0].isalpha()
        ended = (token.text in ENDS or closed) and (follows[:1] in _CLOSING or spaced)
        ended = ended or (lettered and not spaced and follows[:1] in _CLOSING)  # 'above B."'
        ends = ends or (lettered and (last or follows[:1].isupper() or following.is_space))
        if token.text == "." and n and place == tokens[n - 1][1] + len(tokens[n - 1][0].text):
            abbreviated = dotted.get(f"{tokens[n - 1][0].text}.".lower(), "")
            if follows and _goes_on(abbreviated, follows):
                current.pop()
                ends = ended = False
        if current and (ends or last or (token.is_space and "\n" in token.text)):
            if any(c.isalnum() for piece in current for c in piece.text):
                yield current
            current = []


def _goes_on(abbreviated: str, follows: str) -> bool:
    """Whether a sentence continues after an abbreviation's full stop.

    Args:
        abbreviated: The abbreviation's class; empty for other words.
        follows: The next token.
    """
    if abbreviated == "clipping":
        return not follows[0].isupper()
    return follows[0].isdecimal() if abbreviated == "numero" else bool(abbreviated)


def _blank(found: re.Match[str]) -> str:
    """Replace markup by blanks, or a LaTeX comparison command by its sign."""
    compares = found.group() in ("\\le", "\\leq", "\\ge", "\\geq")
    return ("\u2264" if compares else "").ljust(len(found.group()))
