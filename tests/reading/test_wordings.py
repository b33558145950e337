"""What a response states in many wordings, and what it does not.

A line of `wordings/*.txt` is a text, an arrow and what it must state, after a question mark what it
may state. X, Y, Z and W stand for things. A line with an exclamation mark is read wrongly so far.
The second half of a file was held back while the grammar was made: only its totals count.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers.readers import parsed

from symbouq.ontology.library import OntologyLibrary
from symbouq.reading.syntax.reader import SyntaxReader
from symbouq.reading.text import ASSERTED, SURE
from symbouq.reading.traces import Told

FOLDER = Path(__file__).parent / "wordings"
ONTOLOGY = OntologyLibrary().ontology()
DENIALS = {f"not_{relation}" for relation in ONTOLOGY.relations.family}
"""What a sentence says of where a thing is not is no concern of these."""
THINGS = (
    ("K", "L", "M", "N"),
    ("the lamp", "the desk", "the chair", "the shelf"),
    ("Paris", "Lyon", "Nice", "Lille"),
)
HEAD = re.compile(r"(^|(?<!e\.g)(?<!i\.e)(?<!approx)(?<!etc)[.!?]\s+|: \"|^\")the ")

Triple = tuple[str, str, str]


class Wording(NamedTuple):
    text: str
    must: frozenset[Triple]
    may: frozenset[Triple]


def wordings(name: str) -> tuple[list[str], list[str]]:
    """The lines of a file: those that were looked at, and those that were held back."""
    seen, held = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").split("\n\n")
    return seen.splitlines()[1:], held.splitlines()[1:]


def plain(triple: Triple) -> Triple:
    """A relation, or its mirror image where that has its things in order."""
    u, relation, v = (part.lower() for part in triple)
    return (
        (v, ONTOLOGY.relations.mirror[relation], u)
        if u > v and relation in ONTOLOGY.relations.mirror
        else (
            u,
            relation,
            v,
        )
    )


def worded(line: str, things: tuple[str, ...]) -> Wording:
    """A line with its things put in."""
    text, _, expected = line.removeprefix("! ").partition("=>")
    named = dict(zip("XYZW", things, strict=True))
    text = re.sub(r"\b[XYZW]\b", lambda found: named[found[0]], text.strip())
    stated: dict[bool, set[Triple]] = {True: set(), False: set()}
    for part in filter(None, map(str.strip, expected.split(";"))):
        u, relation, v = part.removeprefix("? ").split()
        pair = [named.get(name, name).removeprefix("the ").replace("_", " ") for name in (u, v)]
        stated[part.startswith("?")].add(plain((pair[0], relation, pair[1])))
    text = HEAD.sub(lambda found: f"{found[1]}The ", text)
    return Wording(text, frozenset(stated[False]), frozenset(stated[True]))


def told(line: str, things: tuple[str, ...]) -> Told:
    scene = [f"{u} is far from {v}.".replace("the", "The", 1) for u, v in (things[:2], things[2:])]
    response = f"Let me think.\n{worded(line, things).text}\nThis is all there is to say."
    return Told(scene, "", response=response)


@cache
def reader() -> SyntaxReader:
    """The reader of all lines, whose sentences it has read in the same batches."""
    lines = [line for name in NAMES for half in wordings(name) for line in half]
    parsed().ahead([told(line, things) for line in lines for things in THINGS])
    return parsed()


def read(line: str, things: tuple[str, ...]) -> str:
    """Whether a line is read `right`, states something `false`, or is `missed`."""
    wording = worded(line, things)
    claims = reader().read(*told(line, things)).claims
    stated = (m for c in claims if c.stance in (ASSERTED, "necessary") for m in c.relations)
    sure = [m for m in stated if m.confidence >= SURE and m.relation not in DENIALS]
    found = {plain((m.figure, m.relation, m.ground)) for m in sure}
    if found - wording.must - wording.may:
        return "false"
    return "missed" if wording.must - found else "right"


NAMES = ("retraction", "supposition", "abbreviation", "way", "measure")
LINES = [line for name in NAMES for line in wordings(name)[0]]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(
            line,
            marks=pytest.mark.xfail(
                line.startswith("!"), reason="read wrongly so far", strict=True
            ),
        )
        for line in LINES
    ],
)
def test_wording(line: str) -> None:
    assert [read(line, things) for things in THINGS] == ["right"] * len(THINGS)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("retraction", {"right": 111, "false": 6}),
        ("supposition", {"right": 120, "false": 9}),
        ("abbreviation", {"right": 76, "missed": 3, "false": 11}),
        ("way", {"right": 75, "missed": 9, "false": 24}),
        ("measure", {"right": 81, "false": 9}),
    ],
)
def test_wordings_held_back(name: str, expected: dict[str, int]) -> None:
    found = Counter(read(line, things) for line in wordings(name)[1] for things in THINGS)
    assert found == expected
