"""Which of several things of a kind a text means."""

from __future__ import annotations

import pytest

from symbouq.ontology.library import builtin
from symbouq.reading.syntax.discourse import Discourse
from symbouq.reading.syntax.pipeline import pipeline
from symbouq.reading.syntax.positions import Arrangement
from symbouq.reading.syntax.sentences import Sentences
from symbouq.reading.syntax.things import Things

ONTOLOGY = builtin().ontology("everyday")
SENTENCES = Sentences(ONTOLOGY, pipeline())


def said(text: str) -> list[str]:
    """What a scene says of things, "figure relation ground" each."""
    things = Things()
    arrangement = Arrangement(ONTOLOGY, SENTENCES.preparation.axes)
    discourse = Discourse(things, SENTENCES, arrangement)
    return [
        f"{things.spellings[s.figure]} {s.relation} {things.spellings[s.ground]}"
        for sentence in SENTENCES.read([text])[0]
        for s in discourse.take(sentence)
        if s.sure
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "A jug is left of the sink. Another jug is right of the sink. Another jug is above it.",
            [
                "jug left sink",
                "another jug right sink",
                "another jug (2) above another jug",
            ],
        ),
        (
            "A mug is left of the sink. A second mug is right of the sink. The first one is above the pan.",
            ["mug left sink", "second mug right sink", "mug above pan"],
        ),
        (
            "A mug is left of the sink. Another is right of it. The last mug is above the pan.",
            ["mug left sink", "another mug right sink", "another mug above pan"],
        ),
        (
            "One chair is left of the table, and the other is right of it.",
            ["chair left table", "other chair right table"],
        ),
        (
            "A stool is behind the stove. A second stool is behind the first.",
            ["stool behind stove", "second stool behind stool"],
        ),
        # Which of the two, nobody knows.
        (
            "A boat is north of the pier. Another boat is south of the pier. The boat is west of the buoy.",
            ["boat above pier", "another boat below pier"],
        ),
        # There is no third one.
        (
            "A jug is left of the sink. Another jug is right of the sink. The third jug is above the pan.",
            ["jug left sink", "another jug right sink"],
        ),
        # Which of the cups and the jugs has another, nobody says.
        ("A cup is left of a jug, the other is right of it.", ["cup left jug"]),
    ],
)
def test_which_of_several(text: str, expected: list[str]) -> None:
    assert said(text) == expected


def test_a_long_list_of_siblings_is_read() -> None:
    things = ", ".join(["another box", "the other box", "the second one"] * 8)
    assert said(f"A box is left of the desk. A second box is left of {things}.")[0]
