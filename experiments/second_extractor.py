"""A second method of reading delivered answers, to check labels.

It shares no code with the package's matcher (`symbouq.auditing.answers`). It searches for the words
of labels after the last "answer", otherwise in the last sentence, and uses no grammar.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_ANSWER = re.compile(
    r"(?:\banswers?\b|\\boxed)[^\w\n]*(?:(?:is|are|would be)\b)?\W*", re.IGNORECASE
)
_PREMISE = re.compile(r"\w+\s*\((?:x\s*,\s*y|y\s*,\s*z)\)|\b[Nn]o other relations?\b[^.\n]*")
_LIST = re.compile(r":[^\n]*(?:\n+ *[-\u2022\d][^\n]*)+$|:(?:\n+ *[A-Z]{1,2}\b[^\n]*)+$")
"""Matches a list that ends a response."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_SIGNS = {
    "above": (0, 1), "top": (0, 1), "upper": (0, 1), "up": (0, 1), "north": (0, 1),
    "below": (0, -1), "bottom": (0, -1), "lower": (0, -1), "under": (0, -1), "south": (0, -1),
    "left": (-1, 0), "west": (-1, 0), "right": (1, 0), "east": (1, 0),
    "northeast": (1, 1), "northwest": (-1, 1), "southeast": (1, -1), "southwest": (-1, -1),
}  # fmt: skip
_GRID = {
    (0, 1): "above", (0, -1): "below", (-1, 0): "left", (1, 0): "right", (1, 1): "upper-right",
    (-1, 1): "upper-left", (1, -1): "lower-right", (-1, -1): "lower-left",
}  # fmt: skip
GRID = (*_GRID.values(), "overlap")
"""The labels used in StepGame."""
_TILES = {
    "north": "N", "northeast": "NE", "east": "E", "southeast": "SE", "south": "S",
    "southwest": "SW", "west": "W", "northwest": "NW", "bounding box": "B",
}  # fmt: skip
_OPEN = r"don't know|do not know|can(?:no|')t be determined|\bDK\b|not possible to|\bunknown\b"
_OTHER_WORDS = {
    "Yes": r"\byes\b", "No": r"\bno\b", "DK": _OPEN, "satisfiable": r"\byes\b|(?<!un)satisfiable",
    "unsatisfiable": r"\bno\b|unsatisfiable|contradict", "near to": r"\bnear\b",
    "far from": r"\bfar\b", "touching": r"\btouch",
}  # fmt: skip
_ANY_CASE = {*_OTHER_WORDS, *_GRID.values(), "overlap"}


def extracted(response: str, space: Sequence[str]) -> frozenset[str]:
    """Extract the labels that a response delivers.

    Args:
        response: The response.
        space: The labels of the answer space.
    """
    text = re.sub(r"[*_`$#{}\\]|\btext\b", " ", response.replace("\\boxed", " answer "))
    text = _PREMISE.sub(" ", text).rstrip()
    marks = [*_ANSWER.finditer(text)]
    parts = [re.split(r"\n\s*\n", text[marks[-1].end() :].lstrip())[0]] if marks else []
    listed = _LIST.search(text)
    parts += [listed[0]] if listed else []
    parts += [sentence for sentence in reversed(_SENTENCE.split(text)) if sentence.strip()]
    return next((found for part in parts if (found := _labels(part, space))), frozenset())


def _labels(text: str, space: Sequence[str]) -> frozenset[str]:
    if "upper-left" in space:
        return _direction(text)
    named = text
    for word, label in _TILES.items() if "NE" in space else ():
        named = re.sub(rf"\b{word}\b", label, named, flags=re.IGNORECASE)
    found = {
        label
        for label in space
        if re.search(
            _OTHER_WORDS.get(label, rf"(?<![\w-]){re.escape(label)}(?![\w-])"),
            named,
            re.IGNORECASE if label in _ANY_CASE else 0,
        )
    }
    if {"Yes", "No"} <= {*space}:  # "No, ... yes" means no
        first = re.search(rf"\byes\b|\bno\b|{_OPEN}", named, re.IGNORECASE)
        found = {x for x in found if first and re.match(_OTHER_WORDS[x], first[0], re.IGNORECASE)}
    return frozenset(found)


def _direction(text: str) -> frozenset[str]:
    """Return the grid label that the direction words in a text express together."""
    lower = text.lower()
    if re.search(_OPEN, lower):
        return frozenset()
    if "overlap" in lower or "same position" in lower or "same location" in lower:
        return frozenset(["overlap"])
    axes: list[set[int]] = [set(), set()]
    for word in re.findall(r"[a-z]+", lower):
        for axis, sign in enumerate(_SIGNS.get(word, ())):
            axes[axis].add(sign)
    signs = [axis - {0} for axis in axes]
    if any(len(axis) > 1 for axis in signs):
        return frozenset()
    label = _GRID.get((sum(signs[0]), sum(signs[1])))
    return frozenset([label] if label else [])
