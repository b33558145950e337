"""Sentences, questions and responses as people and models write them."""

from __future__ import annotations

import pytest
from helpers.readers import parsed, reader_of

from symbouq.ontology.library import OntologyLibrary
from symbouq.reading.text import Statement

LIBRARY = OntologyLibrary()

Triple = tuple[str, str, str]


def triples(mentions: tuple[Statement, ...]) -> list[Triple]:
    return [(m.figure, m.relation, m.ground) for m in mentions]


def read(sentence: str, question: str = "") -> list[Triple]:
    return triples(parsed().read([sentence], question, [], "").of_sentence(1))


SENTENCES = {
    # Either order of the two things
    "The red cube is above the blue sphere.": [("red cube", "above", "blue sphere")],
    "To the left of the chair is a table.": [("table", "left", "chair")],
    "Below the desk there is a box.": [("box", "below", "desk")],
    "There is a lamp to the right of the sofa.": [("lamp", "right", "sofa")],
    "Just above A sits B.": [("B", "above", "A")],
    "Above A is B and below A is C.": [("B", "above", "A"), ("C", "below", "A")],
    "On the left of the desk, and below the lamp, is the bin.": [
        ("bin", "left", "desk"),
        ("bin", "below", "lamp"),
    ],
    "the apple is left of the pear": [("apple", "left", "pear")],
    "Immediately to the right of Q one finds R.": [("R", "right", "Q")],
    # Terms
    "inside(cup, box) is impossible.": [],
    "not inside(cup, box)": [("cup", "not_inside", "box")],
    # Names
    "Alice's house is to the left of the post office.": [("Alice's house", "left", "post office")],
    "The upper shelf is above the lower shelf.": [("upper shelf", "above", "lower shelf")],
    "A small red ball is under the table.": [("small red ball", "below", "table")],
    "Agent 7 is left of agent 9.": [("Agent 7", "left", "agent 9")],
    "obj_1 is above obj_2.": [("obj_1", "above", "obj_2")],
    "The lamp sprawls left of the desk.": [("lamp", "left", "desk")],
    # A ground that is understood
    "E is over there and F is on the left.": [("F", "left", "E")],
    "E is over there and F is directly below it.": [("F", "below", "E")],
    "E and F are side by side with E on the left.": [("E", "near", "F"), ("E", "left", "F")],
    "E and F are next to each other with F at the bottom E on the top.": [
        ("E", "near", "F"),
        ("F", "below", "E"),
        ("E", "above", "F"),
    ],
    "E is on the top and F is at the bottom.": [
        ("E", "above", "F"),
        ("F", "below", "E"),
    ],
    "E is over there with F below.": [("F", "below", "E")],
    # Reference, possession
    "Seen from B, A is to the lower right.": [("A", "lower_right", "B")],
    "Relative to B, A is above.": [("A", "above", "B")],
    "The relation of A to B is upper left.": [("A", "upper_left", "B")],
    "The relation between A and B is upper-left.": [("A", "upper_left", "B")],
    "B has A on its left.": [("A", "left", "B")],
    "The kitchen has the hall to its north.": [("hall", "above", "kitchen")],
    "On B's left there is A.": [("A", "left", "B")],
    "A's left neighbor is B.": [("B", "left", "A")],
    # Cardinal wording, clock face, 45 degrees
    "D can be found north-west of B.": [("D", "upper_left", "B")],
    "Paris is north of Lyon.": [("Paris", "above", "Lyon")],
    "D is at B’s 9 o'clock.": [("D", "left", "B")],
    "With respect to C, D is at 4 o'clock.": [("D", "lower_right", "C")],
    "If D is the center of a clock face, B is located between 7 and 8.": [("B", "lower_left", "D")],
    "D is there and B is at the 10 position of a clock face.": [("B", "upper_left", "D")],
    "D is at a 45 degree angle to B, in the upper righthand corner.": [("D", "upper_right", "B")],
    "D is at a 45 degree angle to B in the upper-left corner.": [("D", "upper_left", "B")],
    "D is 3 steps to the left of B.": [("D", "left", "B")],
    # Joining direction words
    "D is above B and to the left.": [("D", "upper_left", "B")],
    "D is below B and to the right of it, too.": [("D", "lower_right", "B")],
    "D is on the left side of and below B.": [("D", "lower_left", "B")],
    "D is right above B.": [("D", "above", "B")],
    # Coordination
    "D and B are left of C.": [("D", "left", "C"), ("B", "left", "C")],
    "D is left of B and C.": [("D", "left", "B"), ("D", "left", "C")],
    "D is left of B, and C is above E.": [("D", "left", "B"), ("C", "above", "E")],
    "The cat is near the dog and far from the bird.": [
        ("cat", "near", "dog"),
        ("cat", "far", "bird"),
    ],
    "D is above B, which is left of C.": [("D", "above", "B"), ("B", "left", "C")],
    "The dog, which is left of the cat, is above the bird.": [
        ("dog", "left", "cat"),
        ("dog", "above", "bird"),
    ],
    # Other families
    "The ball is in the box.": [("ball", "inside", "box")],
    "The box contains the ball.": [("box", "contains", "ball")],
    "The ball is not inside the box.": [("ball", "not_inside", "box")],
    "The ball is inside the box to the left of the lamp.": [
        ("ball", "inside", "box"),
        ("ball", "left", "lamp"),
    ],
    "The cat and the dog are near each other.": [("cat", "near", "dog")],
    "The cup and the plate are touching.": [("cup", "touching", "plate")],
    "The path starts at the gate and ends at the tower.": [
        ("path", "start", "gate"),
        ("path", "end", "tower"),
    ],
    "D overlaps B.": [("D", "overlap", "B")],
    # What stands between a thing and its relation
    "The book on the table is left of the lamp.": [("book", "left", "lamp")],
    "The ball near the window is left of the lamp.": [
        ("ball", "near", "window"),
        ("ball", "left", "lamp"),
    ],
    "The coffee table is above the old wooden chair and to its right.": [
        ("coffee table", "upper_right", "old wooden chair")
    ],
    "There's a tree, and to its left there's a well.": [("well", "left", "tree")],
    "D is not only left of B but also above it.": [("D", "upper_left", "B")],
    "Block A is left of block B.": [("Block A", "left", "block B")],
    "The first block is above the second block.": [("first block", "above", "second block")],
    # Nothing is stated
    "Either D is left of B or D is right of B.": [],
    "D is to the left of B or C.": [],
    "D is probably left of B.": [],
    "Assume D is below B.": [],
    "It is wrong that D is below B.": [("D", "not_below", "B")],
    "Nothing is left of D.": [],
    "D is not above B.": [("D", "not_above", "B")],
    "Neither D nor B is above C.": [("D", "not_above", "C"), ("B", "not_above", "C")],
    "D is between B and C.": [],
    "If D is left of B, then B is right of C.": [],
    "Is D above B?": [],
    "We cannot determine whether D is above B.": [],
    "D is left or right of B.": [],
    "The weather is fine.": [],
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_sentence(sentence: str) -> None:
    assert read(sentence) == SENTENCES[sentence]


def test_an_article_and_a_name() -> None:
    assert read("A sprawls below B.", "Where is the agent A relative to B?") == [
        ("A", "below", "B")
    ]


def test_pronoun_across_sentences() -> None:
    text = parsed().read(["The lamp is left of the desk.", "It is above the rug."], "", [], "")
    assert triples(text.of_sentence(2)) == [("lamp", "above", "rug")]


def test_spans_confidence_and_grounding() -> None:
    text = parsed().read(["D is above B."], "", ["So, surely, Z is left of B."], "")
    (stated,) = text.of_sentence(1)
    assert stated == Statement("D", "above", "B", (0, 12), 0.95, True)
    (claimed,) = text.claims[0].relations
    assert claimed.figure == "Z"
    assert not claimed.grounded
    assert 0 < claimed.confidence < 1
    assert "So, surely, Z is left of B."[slice(*claimed.span)] == "Z is left of B"


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is the relation of the agent D to the agent B?", ("D", "B")),
        ("Where is D relative to B?", ("D", "B")),
        ("Relative to B, where is D?", ("D", "B")),
        ("What is the spatial relationship between D and B?", ("D", "B")),
        ("Is D above B?", ("D", "B")),
        ("", None),
    ],
)
def test_question(question: str, asked: tuple[str, str] | None) -> None:
    assert parsed().read(["D is above B."], question, [], "").question().pair == asked


CLAIMS = {
    'According to 1, "E is south west of F."': [("E", "lower_left", "F")],
    "P= E+ offset(upper-right) = (0,0)+(1,1)=(1,1).": [("P", "upper_right", "E")],
    "P = E + offset(left) + offset(below) = (-1,-1).": [("P", "lower_left", "E")],
    "Then, P can be calculated as P= E+ offset(left) = (0,0)+(-1,0)=(-1,0).": [("P", "left", "E")],
    "So, considering E(0,0) and F(1,1), F is to the upper-right of E.": [("F", "upper_right", "E")],
    "So, considering E(0,0) and F(0,0), E and F overlap.": [("E", "overlap", "F")],
    "This means E is at 4 or 5 relative to F.": [("E", "lower_right", "F")],
    "Considering the clock-wise information, 10 denotes upper-left.": [],
    "Let's suppose E is at (0,0).": [],
    "Then search for F.": [],
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_claim(claim: str) -> None:
    text = parsed().read(["E is above F.", "P is above F."], "", [claim], "")
    assert triples(text.claims[0].relations) == CLAIMS[claim]


SCENE = ["D is above E.", "E is above F."]
ASKED = "What is the relation of the agent D to the agent F?"


def response(text: str) -> list[tuple[str, str, list[Triple]]]:
    claims = parsed().read(SCENE, ASKED, response=text).claims
    return [(claim.type, claim.text, triples(claim.relations)) for claim in claims]


def test_free_text_is_segmented() -> None:
    text = (
        'Reasoning:\n1. According to 1, "D is above E." This means D is over E.\n'
        "2. E is above F, so D is above F.\nAnswer: above"
    )
    assert response(text) == [
        ("reasoning", "Reasoning:", []),
        ("reasoning", 'According to 1, "D is above E."', [("D", "above", "E")]),
        ("reasoning", "This means D is over E.", [("D", "above", "E")]),
        ("reasoning", "E is above F,", [("E", "above", "F")]),
        ("reasoning", "so D is above F.", [("D", "above", "F")]),
        ("conclusion", "Answer: above", [("D", "above", "F")]),
    ]


@pytest.mark.parametrize(
    ("answer", "relation"),
    [
        ("upper-left", "upper_left"),
        (" lower-right", "lower_right"),
        ("Answer: above.", "above"),
        ("So the answer is above.", "above"),
        ("**Answer:** below and slightly to the left", "lower_left"),
        ("Answer: south-west", "lower_left"),
        ("Answer:\nbottom-left", "lower_left"),
        ("Answer: overlap", "overlap"),
        ("Answer: above and to the left (or upper-left)", "upper_left"),
        ("The final answer is: D is to the right of F.", "right"),
        ("Answer: left\nNo, wait.\nAnswer: right", "right"),
        ("D is left of F.", "left"),
        ("D is above E. E is above F.\nabove", "above"),
        ("D is above E.\nSo: above", "above"),
        ("D is above E. The correct relation is upper-left.", "upper_left"),
        ("Answer: The agent D is to the left.", "left"),
        ("Answer: It is above and to the right of agent F.", "upper_right"),
    ],
)
def test_recognised_answers(answer: str, relation: str) -> None:
    kind, _, stated = response(answer)[-1]
    assert (kind, stated) == ("conclusion", [("D", relation, "F")])


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Answer: unknown.",
        "Answer: The relation cannot be determined.",
        "Answer: left, right",
        "Answer: upper-left or lower-left",
        "Answer: not above",
        "None (no relation)",
        "We cannot determine the relation between D and F.",
    ],
)
def test_no_recognisable_answer(answer: str) -> None:
    kind, _, stated = response(answer)[-1]
    assert (kind, stated) == ("conclusion", [])


def test_names_that_end_alike_stay_apart() -> None:
    scene = [
        "Tom's car is above the bus.",
        "Ann's car is left of the bus.",
        "The car is in a lane.",
    ]
    text = parsed().read(scene, "", [], "")
    assert [m.figure for _, m in text.scene] == [*("Tom's car", "Ann's car", "car")]


def test_blank_lines_end_sentences() -> None:
    claims = response("D is above E\n\nE is above F\r\n\r\nAnswer: above\n\nAnything else?")
    assert [text for _, text, _ in claims] == [
        "D is above E",
        "E is above F",
        "Anything else?",
        "Answer: above",
    ]


def test_answer_text_ends_with_its_sentence() -> None:
    claims = response("D is above E.\n\nAnswer: above\nBecause E is above F.")
    assert [text for _, text, _ in claims] == [
        "D is above E.",
        "Because E is above F.",
        "Answer: above",
    ]


def test_a_scene_in_one_string_is_split() -> None:
    scene = "D is above E. E is above F.\nF is near G!"
    assert parsed().split(scene) == ["D is above E.", "E is above F.", "F is near G!"]


def test_names_never_become_relations() -> None:
    text = parsed().read(['The "left). on(0" box is above the lamp.'], "", [], "")
    assert all(m.relation in parsed().ontology.relations.family for m in text.of_sentence(1))


def test_the_pipeline_is_made_anew_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symbouq.reading.lexicon._TEXTS_REMEMBERED", 2)
    reader = reader_of(LIBRARY.ontology())
    for n in range(6):
        text = reader.read([f"D{n} is above E."], "", response=f"D{n} is over E.\nE is below D{n}.")
        assert triples(text.of_sentence(1)) == [(f"D{n}", "above", "E")]
        assert [triples(c.relations) for c in text.claims[:2]] == [
            [(f"D{n}", "above", "E")],
            [("E", "below", f"D{n}")],
        ]


TWO_FACTS = ["A is above B.", "B is right of C."]
ITS_QUESTION = "Where is A relative to B?"


def test_a_supposition_states_nothing_nor_what_draws_on_it() -> None:
    response = (
        "First, suppose A is left of C. Then A would be left of B. "
        "That contradicts the story. So A is above B."
    )
    claims = parsed().read(TWO_FACTS, "", response=response).claims[:-1]
    assert [claim.stance for claim in claims] == ["supposed", "supposed", "supposed", "asserted"]
    assert [bool(claim.relations) for claim in claims] == [False, False, False, True]


def test_what_is_taken_back_states_nothing() -> None:
    response = "A is left of B. Wait, that's wrong. A is above B.\nAnswer: above"
    claims = parsed().read(TWO_FACTS, ITS_QUESTION, response=response).claims
    assert [claim.stance for claim in claims] == ["retracted", "asserted", "asserted", "asserted"]
    assert [m.relation for claim in claims for m in claim.relations] == ["above", "above"]


def test_what_cites_the_text_states_it() -> None:
    response = (
        'The text says:\n- "A is left of B."\n> B is left of C\nSo "A" is left of "C". Answer: left'
    )
    claims = parsed().read(["A is left of B.", "B is left of C."], "", response=response).claims
    assert [(claim.stance, len(claim.relations)) for claim in claims if claim.text[-1] != ":"] == [
        ("asserted", 1),
        ("quoted", 0),
        ("asserted", 1),
        ("asserted", 0),
    ]


@pytest.mark.parametrize(
    "ending",
    [
        "$\\boxed{\\text{above}}$",
        "The answer is \\boxed{above}.",
        "### Conclusion\nA is **above** B.",
        "**Answer:** above",
    ],
)
def test_answers_in_markup(ending: str) -> None:
    response = f"1. A is above B.\n   - So B is below A.\n\n{ending}"
    conclusion = parsed().read(TWO_FACTS, ITS_QUESTION, response=response).claims[-1]
    assert [(m.figure, m.relation, m.ground) for m in conclusion.relations] == [("A", "above", "B")]


def test_a_claim_given_alone_takes_back_the_one_before_it() -> None:
    steps = ["K is above L.", "One might think L is above M, but that is wrong.", "Wait, no."]
    steps += ["L is left of M, which is wrong.", "No wait, L is right of M."]
    read = parsed().read(["K is near L.", "L is near M."], "", steps, "")
    assert [triples(claim.relations) for claim in read.claims] == [
        [("K", "above", "L")],
        [],
        [],
        [],
        [("L", "right", "M")],
        [],
    ]


def test_a_thought_taken_back_is_a_claim_of_its_own() -> None:
    response = "K is above L.\nOne might think L is above M, but that is wrong.\nGood."
    claims = parsed().read(["K is near L.", "L is near M."], "", response=response).claims
    assert [(claim.text, claim.stance) for claim in claims[:3]] == [
        ("K is above L.", "asserted"),
        ("One might think L is above M", "retracted"),
        ("but that is wrong.", "asserted"),
    ]
