"""Sides and boundaries of what a text is about."""

from __future__ import annotations

import pytest

from symbouq.ontology.library import builtin
from symbouq.ontology.tables import Ontology
from symbouq.reading.syntax.discourse import Discourse
from symbouq.reading.syntax.pipeline import pipeline
from symbouq.reading.syntax.positions import Arrangement
from symbouq.reading.syntax.sentences import Sentences
from symbouq.reading.syntax.things import Things

EVERYDAY = builtin().ontology("everyday")
NINE_WAY = builtin().ontology("nine-way")
WHOLE = "the surroundings"


def said(*texts: str, ontology: Ontology = EVERYDAY) -> set[tuple[str, str, str]]:
    sentences = Sentences(ontology, pipeline())
    arrangement = Arrangement(ontology, sentences.preparation.axes)
    discourse = Discourse(Things(), sentences, arrangement)
    names = discourse.things.spellings
    return {
        (names[s.figure], s.relation, names[s.ground])
        for (sentence,) in sentences.read(texts)
        for s in discourse.take(sentence)
        if s.sure
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A tree stands on the left.", {("tree", "within_left", WHOLE)}),
        ("The pond is in the middle.", {("pond", "within_middle", WHOLE)}),
        (
            "The bed stands against the west wall.",
            {
                ("bed", "touching", "west wall"),
                ("bed", "within_left", WHOLE),
                ("west wall", "within_left", WHOLE),
            },
        ),
    ],
)
def test_the_surroundings(text: str, expected: set[tuple[str, str, str]]) -> None:
    assert said(text) == expected


def test_the_only_room_is_the_whole() -> None:
    found = said("The kitchen is small.", "A lamp hangs in the lower left corner.")
    assert found == {("lamp", "within_bottom", "kitchen"), ("lamp", "within_left", "kitchen")}


def test_profiles_without_an_inside_have_no_whole() -> None:
    found = said("The lamp hangs here.", "The rug is in the middle.", ontology=NINE_WAY)
    assert found == set()
