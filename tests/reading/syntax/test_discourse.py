"""What pronouns and fragments mean."""

from __future__ import annotations

import pytest

import symbouq
from symbouq.ontology.library import builtin
from symbouq.reading.syntax.discourse import Discourse
from symbouq.reading.syntax.pipeline import pipeline
from symbouq.reading.syntax.sentences import Sentences
from symbouq.reading.syntax.things import Things

SENTENCES = Sentences(builtin().ontology("nine-way"), pipeline())


def said(text: str) -> list[tuple[str, str, str]]:
    discourse = Discourse(Things(), SENTENCES)
    of = discourse.things.spellings
    return [
        (of[s.figure], s.relation, of[s.ground])
        for sentence in SENTENCES.read([text])[0]
        for s in discourse.take(sentence)
    ]


MEANT = {
    "There is a lamp. It hangs above the desk.": [("lamp", "above", "desk")],
    "The lamp is red. The desk is below it.": [("desk", "below", "lamp")],
    "The fridge has the stove on its left.": [("stove", "left", "fridge")],
    "A is above B and to the left of it.": [("A", "upper_left", "B")],
    "Where is the glue? To the right of the tape.": [("glue", "right", "tape")],
    "What about the lamp? It's left of the desk.": [("lamp", "left", "desk")],
    "Box U has box V within it.": [("box V", "inside", "Box U")],
    "These are above the desk.": [],
    "The lamp is red. Those are above the desk.": [],
    "The cups are red. Those are above the desk.": [("cups", "above", "desk")],
    "What lies north of Pelham? Rudge does.": [("Rudge", "above", "Pelham")],
    "L is not right of B; it is on the left.": [("L", "right", "B"), ("L", "left", "B")],
    "The well is beside the court. It is within it.": [
        ("well", "near", "court"),
        ("well", "inside", "court"),
    ],
    "The lamp and the desk are here. The rug is below both.": [
        ("rug", "below", "lamp"),
        ("rug", "below", "desk"),
    ],
    "The owl is above the fox. Both are left of the hen.": [
        ("owl", "above", "fox"),
        ("owl", "left", "hen"),
        ("fox", "left", "hen"),
    ],
    "There are two boxes: the red box and the blue box. The red one is left of the other one.": [
        ("red box", "left", "blue box")
    ],
    "The cup and the jar are here, the latter above the former.": [("jar", "above", "cup")],
    "There is a red cup, a blue cup and a green cup. All three cups are left of the box.": [
        ("red cup", "left", "box"),
        ("blue cup", "left", "box"),
        ("green cup", "left", "box"),
    ],
    "Box U is left of box V. Two boxes are above the mat. Three boxes are below it.": [
        ("Box U", "left", "box V"),
        ("Box U", "above", "mat"),
        ("box V", "above", "mat"),
    ],
    "The table is here. Ana is to the north of it and Ben is to the east of it.": [
        ("Ana", "above", "table"),
        ("Ben", "right", "table"),
    ],
    "Two of the cups are left of the box.": [],
    "Look at the castle on the screen. The dragon is over it.": [("dragon", "above", "castle")],
}


@pytest.mark.parametrize("text", MEANT)
def test_pronouns(text: str) -> None:
    assert said(text) == MEANT[text]


@pytest.mark.parametrize(
    ("scene", "claim", "verdict"),
    [
        # Nobody knows which of left and right is west.
        ("The van is left of the tent as you look out of its door.", "west", "unknown"),
        ("The van is left of the tent as you come in.", "east", "unknown"),
        ("When somebody enters, the van is left of the tent.", "west", "unknown"),
        ("Seen from the garden, the van is left of the tent.", "east", "unknown"),
        ("The van is left of the tent as you come in.", "left", "entailed"),
        ("The van is left of the tent as you come in.", "right", "contradicted"),
        # It is known which way one faces, or that the text is a map.
        ("Facing north, the van is left of the tent.", "west", "entailed"),
        ("The van is left of the tent.", "east", "contradicted"),
        ("The van is west of the tent as you come in.", "east", "contradicted"),
    ],
)
def test_left_from_a_viewpoint_is_no_west(scene: str, claim: str, verdict: str) -> None:
    found = symbouq.audit(scene, [f"The van is {claim} of the tent."], profile="everyday")
    assert found.claims[-1].verdict == verdict


def test_west_is_no_left_from_a_viewpoint() -> None:
    claim = "As you come in, the van is left of the tent."
    found = symbouq.audit("The van is west of the tent.", [claim], profile="everyday")
    assert found.claims[-1].verdict == "unknown"


@pytest.mark.parametrize(
    ("scene", "verdict"),
    [
        ("The red box contains the blue box. The ring is in the blue box.", "entailed"),
        ("The ring is in the blue box. The blue box is on the tray in the red box.", "unknown"),
        ("The red box overlaps the blue box. The ring is in the blue box.", "unknown"),
        ("The ring is in the blue box. The coin is in the red box.", "contradicted"),
    ],
)
def test_containers_that_a_text_relates_are_not_kept_apart(scene: str, verdict: str) -> None:
    found = symbouq.audit(scene, ["The ring is in the red box."], profile="everyday")
    assert found.faults == []
    assert found.claims[-1].verdict == verdict
