"""Of how many things something is said."""

from __future__ import annotations

import pytest

from symbouq.ontology.library import builtin
from symbouq.reading.syntax.discourse import Discourse
from symbouq.reading.syntax.pipeline import pipeline
from symbouq.reading.syntax.sentences import Sentences
from symbouq.reading.syntax.things import Things

SENTENCES = Sentences(builtin().ontology("everyday"), pipeline())
NAMES = ("cup", "jug", "pot", "lamp", "box", "coin", "key")


def counted(text: str) -> tuple[list[str], int, int] | None:
    things = Things()
    number = {name: things.thing([name], name) for name in NAMES}
    contents = {number["box"]: [number["coin"], number["key"]]}
    (sentence,) = SENTENCES.read([text])[0]
    found = Discourse(things, SENTENCES).counted(sentence, contents)
    if found is None:
        return None
    said, (least, most) = found
    assert {each.relation for each in said} == {"left"}
    return [f"{NAMES[s.figure]} {NAMES[s.ground]}" for s in said], least, most


OF_THREE = ["cup lamp", "jug lamp", "pot lamp"]


@pytest.mark.parametrize(
    ("quantity", "least", "most"),
    [
        ("None", 0, 0),
        ("Exactly two", 2, 2),
        ("Only one", 1, 1),
        ("At least one", 1, 3),
        ("At most two", 0, 2),
        ("More than one", 2, 3),
        ("Fewer than two", 0, 1),
        ("Two", 2, 3),
    ],
)
def test_counts_of_a_list(quantity: str, least: int, most: int) -> None:
    found = counted(f"{quantity} of the cup, the jug and the pot is left of the lamp.")
    assert found == (OF_THREE, least, most)


def test_what_is_in_a_thing() -> None:
    assert counted("Nothing in the box is left of the lamp.") == (["coin lamp", "key lamp"], 0, 0)
    found = counted("The cup is left of everything in the box.")
    assert found == (["cup coin", "cup key"], 2, 2)


def test_where_nobody_knows_what_is_counted() -> None:
    assert counted("Nothing in the lamp is left of the cup.") is None
    assert counted("None of the plates is left of the cup.") is None
    assert counted("None of the cup, the jug and the pot can be left of the lamp.") is None
