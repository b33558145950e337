from __future__ import annotations

from typing import Any

import pytest

from symbouq.ontology.library import OntologyLibrary
from symbouq.reading.model.judging import DOUBTED, ONCE, REPEATED, JudgedSentence, judged
from symbouq.records import Reply

ONTOLOGY = OntologyLibrary().ontology("half-plane")
TEXT = "The cup is left of the jug and above the pan."
THINGS = [("t1", "The cup"), ("t2", "the jug"), ("t3", "the pan")]


def said(
    words: str = "left of",
    subject: str = "t1",
    relation: str = "left",
    object: Any = "t2",
    **more: str,
) -> dict[str, Any]:
    return {"words": words, "subject": subject, "relation": relation, "object": object, **more}


def reply(*relations: dict[str, Any], things: Any = THINGS, unexpressed: Any = ()) -> Reply:
    sentence = {
        "sentence": "S1",
        "things": [{"id": key, "words": words} for key, words in things],
        "relations": list(relations),
        "unexpressed": [{"words": words, "reason": reason} for words, reason in unexpressed],
    }
    return Reply.model_validate({"sentences": [sentence]})


def judge(*samples: Reply, text: str = TEXT) -> JudgedSentence:
    return judged(ONTOLOGY, {"S1": text}, [samples])["S1"]


def confidences(sentence: JudgedSentence) -> list[float]:
    return [relation.confidence for relation in sentence.relations]


def test_what_stands_there_of_known_things_is_used() -> None:
    found = judge(reply(said(), said("above", "t1", "above", "t3")))
    assert [(r.subject, r.relation, r.objects, r.span) for r in found.relations] == [
        ("t1", "left", ("t2",), (11, 18)),
        ("t1", "above", ("t3",), (31, 36)),
    ]
    assert confidences(found) == [ONCE, ONCE]
    assert found.read and not found.faults and not found.in_part


@pytest.mark.parametrize(
    "relation",
    [
        said(words="right of"),
        said(relation="leftish"),
        said(subject="t9"),
        said(object=["t2", "t3"]),
        said(relation="between"),
    ],
)
def test_what_does_not_is_a_fault(relation: dict[str, Any]) -> None:
    found = judge(reply(relation, said("above", "t1", "above", "t3")))
    assert [r.relation for r in found.relations] == ["above"]
    assert len(found.faults) == 1 and found.in_part


def test_a_mention_that_does_not_stand_there_carries_nothing() -> None:
    found = judge(reply(said(), things=[("t1", "The mug"), ("t2", "the jug")]))
    assert not found.relations and len(found.faults) == 1


def test_names_of_relations_may_be_spelled_otherwise() -> None:
    assert judge(reply(said(relation="upper-left"))).relations[0].relation == "upper_left"


def test_what_every_sample_says_is_repeated_also_as_its_converse() -> None:
    found = judge(reply(said()), reply(said(subject="t2", relation="right", object="t1")))
    assert confidences(found) == [REPEATED]


@pytest.mark.parametrize(
    "other",
    [
        reply(),
        reply(said(relation="right")),
        reply(said(object="t3")),
        reply(said(polarity="denied")),
        reply(said(stance="possible")),
        Reply(sentences=[]),
    ],
)
def test_what_a_sample_does_not_say_is_doubted(other: Reply) -> None:
    assert confidences(judge(reply(said()), other)) == [DOUBTED]


def test_samples_may_number_things_otherwise() -> None:
    renumbered = [("t7", "The cup"), ("t1", "the jug"), ("t2", "the pan")]
    other = reply(said(subject="t7", object="t1"), things=renumbered)
    assert confidences(judge(reply(said()), other)) == [REPEATED]


def test_what_cannot_hold_together_is_doubted() -> None:
    found = judge(
        reply(said(), said("left of", "t2", "left", "t1"), said("above", "t1", "above", "t3"))
    )
    assert confidences(found) == [DOUBTED, DOUBTED, ONCE]


def test_what_a_thing_is_to_itself_is_doubted() -> None:
    assert confidences(judge(reply(said(object="t1")))) == [DOUBTED]


@pytest.mark.parametrize(
    ("text", "in_part"),
    [
        ("The cup is 3 m left of the jug.", True),
        ("The cup is two steps left of the jug.", True),
        ("The cup is one step left of the jug.", False),
        ("2. The cup is left of the jug.", False),
        ("Step 3: The cup is left of the jug.", False),
        ("The cup is at 3 o'clock, left of the jug.", False),
    ],
)
def test_numbers_that_are_read_past_leave_a_part_unread(text: str, in_part: bool) -> None:
    assert (judge(reply(said(), things=THINGS[:2]), text=text).number != "") == in_part


def test_numbers_of_names_are_no_other_numbers() -> None:
    numbered = [("t1", "2"), ("t2", "3")]
    assert judge(reply(said(), things=numbered), text="2 is 2 metres left of 3.").number
    assert not judge(reply(said(), things=numbered), text="2 is left of 3.").number


def test_numbers_of_names_are_read() -> None:
    found = judge(
        reply(said(), things=[("t1", "Box 14"), ("t2", "two jugs")]),
        text="Box 14 is left of two jugs.",
    )
    assert found.relations and not found.number


def test_what_is_unexpressed_leaves_a_part_unread() -> None:
    assert judge(reply(said(), unexpressed=[("above", "no-relation")])).in_part


def test_a_sentence_without_reading_is_not_read() -> None:
    assert not judge(Reply(sentences=[])).read


@pytest.mark.parametrize(
    ("text", "words", "relation"),
    [
        ("The cup is 2 m above the jug.", "above", "above"),
        ("The cup is 2 m higher than the jug, east of the pan.", "higher than", "up_from"),
        ("The cup is 2 m higher than the jug, north of the pan.", "higher than", "up_from"),
        ("The cup is above the jug, east of the pan.", "above", "up_from"),
        ("The cup is 2 m past the jug, north of the pan.", "past", "above"),
        ("The cup is 2 m short of the jug, west of the pan.", "short of", "above"),
        ("The cup is north of the jug.", "north of", "above"),
    ],
)
def test_in_a_text_with_a_compass_words_for_height_are_not_north(
    text: str, words: str, relation: str
) -> None:
    everyday = OntologyLibrary().ontology("everyday")
    given = reply(said(words, "t1", "above"), things=[("t1", "The cup"), ("t2", "the jug")])
    (found,) = judged(everyday, {"S1": text}, [[given]])["S1"].relations
    assert found.relation == relation


@pytest.mark.parametrize(
    ("amount", "offset"),
    [
        ("5 m", [(5, "=")]),
        ("less than 5 m", [(5, "<")]),
        ("between 3 and 5 m", [(3, ">="), (5, "<=")]),
        ("about 5 m", []),
    ],
)
def test_a_distance_has_an_amount_along_no_axis(amount: str, offset: list[tuple[int, str]]) -> None:
    everyday = OntologyLibrary().ontology("everyday")
    things = [("t1", "The cup"), ("t2", "the jug")]
    readings = [
        reply(said("from", u, "apart", v, amount=amount), things=things)
        for u, v in (("t1", "t2"), ("t2", "t1"))
    ]
    text = f"The cup is {amount} from the jug."
    (found,) = judged(everyday, {"S1": text}, [readings])["S1"].relations
    assert [(value, sense) for axis, value, sense in found.offset if not axis] == offset
    assert found.confidence == REPEATED  # whichever is named first
