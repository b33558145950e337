"""Whole traces about described things: scene, question, and the claims of a response."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.described_reading import SPARTQA, SPARTUN, stated
from hypothesis import given, settings
from hypothesis import strategies as st

from symbouq.api import TraceAuditor
from symbouq.reading.claims import RETRACTED
from symbouq.reading.force import SUPPOSED
from symbouq.reading.text import ASSERTED, Claim, ParsedTrace
from symbouq.records import Trace

SCENE = [
    "There are two blocks, K and L.",
    "Block K has a red star and a blue star.",
    "Block L has a circle.",
    "Block K is left of block L.",
]
QUESTION = "Where is the red star relative to the circle?"
AUDITORS = {name: TraceAuditor(name) for name in ("spartun", "spartqa")}


def response(text: str, question: str = QUESTION) -> tuple[Claim, ...]:
    return SPARTUN.read(SCENE, question, response=text).claims


def triples(claim: Claim) -> list[tuple[str, str, str]]:
    return [(m.figure, m.relation, m.ground) for m in claim.relations]


def test_scene_and_question() -> None:
    read = SPARTUN.read(SCENE, QUESTION, [], "")
    assert stated(SCENE) == [
        [],
        [("block K", "ntppi", "red star"), ("block K", "ntppi", "blue star")],
        [("block L", "ntppi", "circle")],
        [("block K", "left", "block L")],
    ]
    assert read.question().pair == ("red star", "circle")


@pytest.mark.parametrize(
    ("question", "pair"),
    [
        ("What is the relation between the circle and the blue star?", ("circle", "blue star")),
        ("Relative to block K, where is the circle in block L?", ("circle", "block K")),
        ("Is the red star left of the circle?", None),
        ("Where is the circle relative to the circle?", None),
        ("Where is the hexagon relative to the circle?", None),
        ("", None),
    ],
)
def test_pair_that_is_asked_for(question: str, pair: tuple[str, str] | None) -> None:
    assert SPARTUN.read(SCENE, question, [], "").question().pair == pair


def test_claims_of_a_response() -> None:
    claims = response(
        "The red star is in block K, which is left of block L. The circle is in block L. "
        "So the red star is left of the circle. Answer: left"
    )
    assert [(claim.type, triples(claim)) for claim in claims] == [
        ("reasoning", [("block K", "left", "block L"), ("red star", "proper_part", "block K")]),
        ("reasoning", [("circle", "proper_part", "block L")]),
        ("reasoning", [("red star", "left", "circle")]),
        ("conclusion", [("red star", "left", "circle")]),
    ]
    assert [m.confidence for claim in claims for m in claim.relations] == [1, 1, 1, 1, 0.8]


def test_spans_are_in_the_text_of_the_claim() -> None:
    claims = response("Well, the circle is in it. So the red star touches the circle. Answer: far.")
    words = [claim.text[slice(*m.span)] for claim in claims for m in claim.relations]
    assert words == ["the circle is in it", "the red star touches the circle", "far"]


def test_grounded_is_what_speaks_of_things_of_the_scene() -> None:
    claims = response("The red star is above the circle. The green star is above the circle.")
    assert [(triples(c), [m.grounded for m in c.relations]) for c in claims[:2]] == [
        ([("red star", "above", "circle")], [True]),
        ([("green star", "above", "circle")], [False]),
    ]


def test_a_thing_that_may_be_one_of_several_is_marked() -> None:
    (claim, _) = SPARTUN.read(SCENE, QUESTION, ["A star is in block K."], "").claims
    assert triples(claim) == [("red star", "proper_part", "block K")]
    assert [m.confidence for m in claim.relations] == [0.5]


def test_a_list_that_introduces_several_things_is_not_sure() -> None:
    two = "Block K has a red star and a blue star"
    three = "Block K has a red star, a blue star and a circle"
    for text, sure in ((two, 1.0), (three, 0.7)):
        claim = response(f"{text}. Answer: left")[0]
        assert {m.confidence for m in claim.relations} == {sure}


@pytest.mark.parametrize(
    "text",
    [
        "The red star is inside the block",
        "These two stars are inside block K",
        "The red star (the star in block K) is inside block K",
    ],
)
def test_what_is_pointed_at_or_explained_in_brackets_is_not_sure(text: str) -> None:
    claim = response(f"{text}. Answer: left")[0]
    assert all(m.confidence <= 0.7 for m in claim.relations)


def test_a_claim_adds_no_thing_that_the_scene_has() -> None:
    read = SPARTUN.read(SCENE, QUESTION, ["A circle is in block L.", "A red star is in K."], "")
    assert [triples(claim) for claim in read.claims[:2]] == [
        [("circle", "proper_part", "block L")],
        [("red star", "proper_part", "block K")],
    ]


def test_lines_under_a_heading_are_about_it() -> None:
    claims = response("Block K:\n- contains a red star\nBlock L:\n- contains a circle\nAnswer: far")
    assert [(claim.text, triples(claim)) for claim in claims] == [
        ("Block K:", []),
        ("contains a red star", [("block K", "proper_whole", "red star")]),
        ("Block L:", []),
        ("contains a circle", [("block L", "proper_whole", "circle")]),
        ("Answer: far", [("red star", "far", "circle")]),
    ]


def test_lines_of_a_list_are_in_what_its_heading_names() -> None:
    claims = response(
        "In block K, the description mentions the following:\n- A red star\n"
        "- A blue star (near the red star)\nThe circle is far away. A red star.\nAnswer: far"
    )
    assert [triples(claim) for claim in claims[:-1]] == [
        [],
        [("red star", "ntpp", "block K")],
        [("blue star", "near", "red star"), ("blue star", "ntpp", "block K")],
        [],
        [],
    ]


def test_what_the_text_turns_to_is_what_it_speaks_of() -> None:
    claims = response("I looked at block L and found that it contains a circle. Answer: far")
    assert triples(claims[0]) == [("block L", "proper_whole", "circle")]


def test_things_in_general_are_none_of_the_scene() -> None:
    claims = response("The red star is above objects in block L. Answer: far")
    assert triples(claims[0]) == []
    claims = response("I speak of the objects in block K. Answer: far")
    assert triples(claims[0]) == []


def test_things_in_several_blocks_are_each_in_their_own() -> None:
    claims = response("The shapes in blocks K and L are small. Answer: far")
    placed = [("red star", "K"), ("blue star", "K"), ("circle", "L")]
    assert set(triples(claims[0])) == {(n, "proper_part", f"block {k}") for n, k in placed}
    assert set(
        triples(response("Blocks K and L contain the red star and the circle. Answer: far")[0])
    ) == {
        ("block K", "proper_whole", "red star"),
        ("block L", "proper_whole", "circle"),
    }


STANCES = {
    "The red star might be near the circle.": (ASSERTED, []),
    "If the red star is near the circle, it is not far.": (SUPPOSED, []),
    "Suppose the red star is near the circle.": (SUPPOSED, []),
    "The red star is in block K or block L.": (ASSERTED, []),
    "The story is about stars.": (ASSERTED, []),
    "The red star is in block K, but it might be near the circle.": (
        ASSERTED,
        [("red star", "proper_part", "block K")],
    ),
    "Since the question asks for a star, the red star is in block K.": (
        ASSERTED,
        [("red star", "proper_part", "block K")],
    ),
    "Block K does not have a circle.": (ASSERTED, []),
    "Block K has a red star and no circle.": (ASSERTED, [("block K", "proper_whole", "red star")]),
    "The Reasoning is near block K.": (ASSERTED, []),
    "The stars are near the circle because they are in block L.": (
        ASSERTED,
        [
            ("red star", "near", "circle"),
            ("blue star", "near", "circle"),
            ("red star", "proper_part", "block L"),
            ("blue star", "proper_part", "block L"),
        ],
    ),
}


@pytest.mark.parametrize("text", STANCES)
def test_what_is_not_said_states_nothing(text: str) -> None:
    claim = response(f"{text} Answer: left")[0]
    assert (claim.stance, triples(claim)) == STANCES[text]


def test_a_question_in_a_response_states_nothing() -> None:
    claims = response("Is the red star near the circle? Answer: far")
    assert [triples(claim) for claim in claims[:-1]] == [[]]


def test_what_is_taken_back_states_nothing() -> None:
    claims = response("The red star is near the circle. That's wrong. Answer: far")
    assert [(claim.stance, triples(claim)) for claim in claims] == [
        (RETRACTED, []),
        (ASSERTED, []),
        (ASSERTED, [("red star", "far", "circle")]),
    ]


def test_a_mistake_in_an_earlier_answer_takes_nothing_back() -> None:
    claims = response("The red star is near the circle. My first answer was wrong. Answer: far")
    assert [claim.stance for claim in claims] == [ASSERTED] * 3
    claims = response("The red star is near the circle. My original pick was wrong. Answer: far")
    assert [claim.stance for claim in claims] == [ASSERTED] * 3


@pytest.mark.parametrize(
    ("text", "relations"),
    [
        ("Answer: left and above", ["left", "above"]),
        ("left, above", ["left", "above"]),
        ("The answer is: disconnected from.", ["dc"]),
        ("Answer: not left", []),
        ("Answer: left or right", []),
        ("Answer: The red star is below the circle.", ["below"]),
        ("Answer: purple", []),
        ('I chose "left" as the relation between the red star and the circle.', ["left"]),
    ],
)
def test_conclusion(text: str, relations: list[str]) -> None:
    conclusion = response(f"The red star is near block L.\n{text}")[-1]
    assert conclusion.type == "conclusion"
    assert triples(conclusion) == [("red star", relation, "circle") for relation in relations]


def test_a_label_without_a_pair_states_nothing() -> None:
    claims = response("Answer: left", "Is the red star left of the circle?")
    assert [triples(claim) for claim in claims] == [[]]


def test_titles_are_unique() -> None:
    scene = [
        "There are two blocks, K and L.",
        "Block K has three red stars.",
        "Block L has a red star and another red star.",
        "A circle touches a circle.",
    ]
    read = SPARTUN.read(scene, QUESTION, ["A green star is left of another green star."], "")
    assert titles(read) == {
        "block K",
        "block L",
        "red star number 1 in block K",
        "red star number 2 in block K",
        "red star number 3 in block K",
        "red star number 1 in block L",
        "red star number 2 in block L",
        "circle number 1",
        "circle number 2",
        "green star number 1",
        "green star number 2",
    }


def titles(read: ParsedTrace) -> set[str]:
    return {*read.names}


def test_a_scene_is_not_changed_by_what_is_said_of_it() -> None:
    first = SPARTUN.read(SCENE, QUESTION, response="The green star is left of block Q.")
    again = SPARTUN.read(SCENE, QUESTION, response="The green star is left of block Q.")
    assert first == again
    assert SPARTUN.read(SCENE, QUESTION, [], "").scene == first.scene


def test_questions_about_things_that_records_relate() -> None:
    relations = [(1, ("red star", "above", "circle")), (2, ("circle", "above", "block K"))]
    asked = SPARTUN.question_about(relations, "Is the red star above block K?")
    assert asked.scene == [(1, (0, "above", 1)), (2, (1, "above", 2))]
    assert [thing.kind for thing in asked.things.things] == ["star", "circle", "block"]
    assert asked.query.clause is not None


def test_full_stops_within_a_text_end_sentences() -> None:
    scene = ["Block K has a star. The star is above a circle."]
    assert stated(scene, SPARTQA) == [
        [
            ("block K", "contains", "star"),
            ("star", "above", "circle"),
            ("circle", "inside", "block K"),
        ]
    ]


def test_an_audit_speaks_of_titles_and_premises() -> None:
    record: dict[str, Any] = {
        "id": "t",
        "scene": SCENE,
        "question": QUESTION,
        "response": "The red star is right of the circle. Answer: left",
    }
    audit = AUDITORS["spartun"].audit(Trace.model_validate(record))
    wrong, answer = audit.claims
    assert wrong.grounded_verdict == "contradicted"
    assert wrong.premises == ["scene:2", "scene:3", "scene:4"]
    assert "red star" in wrong.message and "circle" in wrong.message
    assert answer.grounded_verdict == "entailed"


_WORDS = [
    "a",
    "the",
    "this",
    "another",
    "other",
    "both",
    "all",
    "no",
    "two",
    "three",
    "one",
    "block",
    "blocks",
    "K",
    "A",
    "square",
    "squares",
    "star",
    "red",
    "big",
    "and",
    ",",
    ".",
    "?",
    "which",
    "that",
    "with",
    "in",
    "it",
    "they",
    "of",
    "above",
    "below",
    "left",
    "to",
    "touches",
    "covers",
    "is",
    "are",
    "there",
    "we",
    "call",
    "called",
    "number",
    "second",
    "not",
    "near",
    "far",
    "from",
    "has",
    "have",
    "between",
    "3:00",
    "each",
    "itself",
    "if",
    "because",
    "so",
    "Answer",
    ":",
    "does",
    "where",
    "relative",
    "who",
    "thing",
    "wobbly",
]
_JUMBLE = st.lists(st.sampled_from(_WORDS), max_size=30).map(" ".join)


@pytest.mark.parametrize("profile", ["spartun", "spartqa"])
@given(st.lists(_JUMBLE, max_size=3), _JUMBLE, _JUMBLE)
@settings(max_examples=100)
def test_any_jumble_of_known_words_is_audited(
    profile: str, scene: list[str], question: str, text: str
) -> None:
    trace = Trace(id="t", scene=scene, question=question, response=text)
    for claim in AUDITORS[profile].audit(trace).claims:
        for relation in claim.relations:
            assert relation.span is not None
            start, end = relation.span
            assert 0 <= start < end <= len(claim.text)
            assert relation.subject != relation.object


@pytest.mark.parametrize(
    "said",
    [
        "One might think the red square is left of the blue circle, but that is wrong.",
        "The red square is left of the blue circle. Wait, no.",
        "If, e.g., the red square is left of the blue circle, it is fine.",
        "If the red square is left of the blue circle, then it is left of the blue circle.",
        "Going left from the red square leads to the blue circle.",
    ],
)
def test_what_is_taken_back_or_supposed_is_not_stated(said: str) -> None:
    scene = ["There is a block called K.", "A red square is above a blue circle in K."]
    claims = SPARTUN.read(scene, "", response=f"Let me see.\n{said}\nThat is all.").claims
    assert [claim.relations for claim in claims] == [()] * len(claims)
