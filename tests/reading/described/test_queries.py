"""Questions: what each form asks, and what it comes to in Kleene's three values."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from helpers.described_reading import SPARTUN, parse, phrase, predicate, short

from symbouq.auditing.answers import Answer, answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.reading.described.queries import Query, Scene, Value, all_of, any_of, parsed
from symbouq.reading.described.referents import Discourse
from symbouq.reading.described.syntax import Clause
from symbouq.records import Instance

SCENE = [
    "There are two blocks, K and L.",
    "Block K has a red star and a blue star.",
    "Block L has a circle.",
    "Block K is left of block L.",
    "The red star is above the blue star.",
]
AUDITOR = TraceAuditor("spartun")


def shown(query: Query) -> dict[str, Any]:
    """What a question asks, in the short forms of `reading`."""
    found: dict[str, Any] = {
        "pair": [phrase(p) for p in query.pair or ()],
        "clause": query.clause and short(query.clause),
        "about": query.about and phrase(query.about),
        "predicates": [predicate(p) for p in query.predicates],
        "options": [phrase(p) for p in query.options],
    }
    return {name: value for name, value in found.items() if value}


def query(question: str) -> Query:
    return parsed(SPARTUN.ontology, SPARTUN.lexicon.tokens(question), frozenset(("k", "l")))


STAR_CIRCLE = {"pair": ["the red star", "the circle"]}
OFFERED = {"predicates": ["above the circle"], "options": ["the red star", "the blue star"]}
FORMS: dict[str, dict[str, Any]] = {
    # How two things lie
    "Where is the red star relative to the circle?": STAR_CIRCLE,
    "Where is the red star regarding the circle?": STAR_CIRCLE,
    "How is the red star placed relative to the circle?": STAR_CIRCLE,
    "What is the relation between the red star and the circle?": STAR_CIRCLE,
    "What is the position of the red star relative to the circle?": STAR_CIRCLE,
    "Relative to the circle, where is the red star?": STAR_CIRCLE,
    "Where is the circle in block L relative to block K?": {
        "pair": ["the circle (ntpp block L)", "block K"]
    },
    # Whether something holds
    "Is the red star left of the circle?": {"clause": "the red star | left the circle"},
    "Is there a star in block K?": {"clause": "a star | ntpp block K"},
    "Is there any star that is above a circle?": {"clause": "any star (above a circle) |"},
    "Does block K have a star?": {"clause": "block K | ntppi a star"},
    "Do all stars touch a circle?": {"clause": "all stars | ec a circle"},
    "Is block K to the left of and above block L?": {
        "clause": "block K | left block L; above block L"
    },
    "Is a star which is in block K left of a circle?": {
        "clause": "a star (ntpp block K) | left a circle"
    },
    "Is the red star not in block K?": {"clause": "the red star | not ntpp block K"},
    "Are all stars in block K left of all circles in block L?": {
        "clause": "all stars (ntpp block K) | left all circles (ntpp block L)"
    },
    # Which of all, or of those offered
    "Which block has a star?": {"about": "block", "predicates": ["ntppi a star"]},
    "Which blocks don't have any star?": {"about": "blocks", "predicates": ["not ntppi any star"]},
    "Which block has a star and a circle?": {
        "about": "block",
        "predicates": ["ntppi a star & a circle"],
    },
    "What block has a red star in it?": {
        "about": "block",
        "predicates": ["ntppi a red star (ntpp it)"],
    },
    "What is above the circle? the red star or the blue star?": OFFERED,
    "What is above the circle, the red star or the blue star?": OFFERED,
    "Which object is above the circle? the red star or the blue star?": {
        "about": "thing",
        **OFFERED,
    },
    # None of these
    "Well?": {},
    "Hello there.": {},
    "": {},
}


@pytest.mark.parametrize("question", FORMS)
def test_form(question: str) -> None:
    assert shown(query(question)) == FORMS[question]


@pytest.mark.xfail(reason='"do not have" is read as a hedge', strict=True)
def test_form_with_do_not_have() -> None:
    assert shown(query("Which blocks do not have a star?")) == {
        "about": "blocks",
        "predicates": ["not ntppi a star"],
    }


# Answers ---------------------------------------------------------------------------------


def asked(question: str, space: str) -> Answer:
    labels = [label.strip() for label in space.split(",")]
    record = {"id": "q", "scene": SCENE, "question": question, "answer_space": labels}
    return answer(AUDITOR, Instance.model_validate(record))


JUDGED = {
    # The, a, any, every, both, no
    "Is the red star left of the circle?": "Yes",
    "Is the circle left of the red star?": "No",
    "Is the red star near the circle?": "DK",
    "Is a star left of a circle?": "Yes",
    "Is any star right of a circle?": "No",
    "Is any star near a circle?": "DK",
    "Are all stars left of the circle?": "Yes",
    "Is every star above the circle?": "DK",
    "Is every star above the red star?": "No",
    "Are both stars in block K?": "Yes",
    "Are both stars above the blue star?": "No",
    "Is no star in block L?": "Yes",
    "Is no star left of a circle?": "No",
    # Existence
    "Is there a star above a star?": "Yes",
    "Is there a star in block L?": "No",
    "Is there any star that is near the circle?": "DK",
    "Is there a star which is left of the circle and above the blue star?": "Yes",
    # Whose
    "Does block K have a star?": "Yes",
    "Does block L have a star?": "No",
    "Is the star which is above the blue star left of block L?": "Yes",
    "Are the red star and the circle right of each other?": "No",
    "Are the red star and the circle near each other?": "DK",
    # Denied
    "Is the red star not in block K?": "No",
    "Is the red star not in block L?": "Yes",
    "Is the red star not near the circle?": "DK",
}


@pytest.mark.parametrize("question", JUDGED)
def test_judged(question: str) -> None:
    found = asked(question, "Yes, No, DK")
    assert (found.status, found.answer) == ("answered", [JUDGED[question]])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which block has a star?", ["K"]),
        ("Which blocks don't have a star?", ["L"]),
        pytest.param(
            "Which blocks have a star or a circle?",
            ["K", "L"],
            marks=pytest.mark.xfail(reason='what follows an "or" is left out', strict=True),
        ),
        ("Which blocks have a star and a circle?", []),
        ("Which block is right of block K?", ["L"]),
    ],
)
def test_picked(question: str, expected: list[str]) -> None:
    found = asked(question, "K, L")
    assert (found.status, found.answer) == ("answered", expected)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is left of the circle? the red star or the blue star?", ["both of them"]),
        ("What is above the blue star? the red star or the circle?", ["the red star"]),
        ("What is in block L? the red star or the blue star?", ["none of them"]),
    ],
)
def test_offered(question: str, expected: list[str]) -> None:
    options = [phrase(option) for option in query(question).options]
    found = asked(question, ", ".join([*options, "both of them", "none of them"]))
    assert (found.status, found.answer) == ("answered", expected)


def test_relations_and_what_they_rest_on() -> None:
    found = asked("Where is the red star relative to the circle?", "left, right, above, near")
    assert (found.answer, found.possible) == (["left"], ["left", "above", "near"])
    assert found.impossible == ["right"]
    assert found.premises == ["scene:2", "scene:3", "scene:4"]


def test_no_rests_on_what_rules_it_out() -> None:
    found = asked("Is the circle left of the red star?", "Yes, No")
    assert (found.answer, found.default) == (["No"], False)
    assert found.premises == ["scene:2", "scene:3", "scene:4"]
    found = asked("Is the circle near the red star?", "Yes, No")
    assert (found.answer, found.default, found.premises) == (["No"], True, [])


GUESSED = {
    "Is the red star wobbly?": "what follows what was understood is left out of account",
}


@pytest.mark.parametrize(
    "question",
    [
        pytest.param(question, marks=pytest.mark.xfail(reason=why, strict=True))
        for question, why in GUESSED.items()
    ],
)
def test_nothing_is_guessed(question: str) -> None:
    found = asked(question, "Yes, No")
    assert not found.certain or found.premises


@pytest.mark.parametrize(
    "question",
    ["Is it nice?", "Is the red star to the left?", "Is the lamp left of block L?"],
)
def test_what_is_not_understood_is_not_certain(question: str) -> None:
    found = asked(question, "Yes, No")
    assert not found.certain


WRONG = {
    "Is the red star touched by a circle?": ("DK", "the passive of a verb is no relation"),
    "Is the red star in block L or block K?": ("Yes", "the second of two places is left out"),
    "Are there three stars in block K?": ("No", "how many is left out of account"),
    "Are all stars red?": ("No", "an adjective alone is no predicate of a question"),
}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param(question, expected, marks=pytest.mark.xfail(reason=why, strict=True))
        for question, (expected, why) in WRONG.items()
    ],
)
def test_judged_wrongly_so_far(question: str, expected: str) -> None:
    assert asked(question, "Yes, No, DK").answer == [expected]


WRONGLY_PICKED = {
    "Which block is left of the other?": (["K"], '"the other" is left out of account'),
    "Which blocks have three stars?": ([], "how many is left out of account"),
}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param(question, expected, marks=pytest.mark.xfail(reason=why, strict=True))
        for question, (expected, why) in WRONGLY_PICKED.items()
    ],
)
def test_picked_wrongly_so_far(question: str, expected: list[str]) -> None:
    assert asked(question, "K, L").answer == expected


def test_objects_that_are_offered() -> None:
    found = asked("What does the circle touch? the red star or block L?", "the red star, block L")
    assert not found.answer


@pytest.mark.xfail(reason='"from" alone does not turn the pair round', strict=True)
def test_from_where_it_is_seen() -> None:
    assert asked("From block K, where is block L?", "left, right").answer == ["right"]


@pytest.mark.parametrize("question", ["Well?", "Where is the hexagon relative to block L?"])
def test_what_cannot_be_read(question: str) -> None:
    assert asked(question, "left, right").status == "unread"


# Evaluation ------------------------------------------------------------------------------

TRUTHS = (True, False, None)


def number(truth: bool | None) -> float:
    return 0.5 if truth is None else float(truth)


@pytest.mark.parametrize(("a", "b"), list(product(TRUTHS, TRUTHS)))
def test_kleene(a: bool | None, b: bool | None) -> None:
    values = [Value(a), Value(b)]
    assert number(all_of(values).truth) == min(number(a), number(b))
    assert number(any_of(values).truth) == max(number(a), number(b))
    assert number(Value(a).negated().truth) == 1 - number(a)


def test_nothing_is_all_and_not_any() -> None:
    assert (all_of([]).truth, any_of([]).truth) == (True, False)


def test_support_is_what_settles_it() -> None:
    first = Value(True, frozenset({(0, "left", 1)}))
    second = Value(True, frozenset({(1, "left", 2)}))
    against = Value(False, frozenset({(2, "left", 0)}))
    assert all_of([first, second]).support == {(0, "left", 1), (1, "left", 2)}
    assert all_of([first, against]).support == {(2, "left", 0)}
    assert any_of([first, against]).support == {(0, "left", 1)}
    assert all_of([first, Value(None)]).support == frozenset()


def scene(*facts: tuple[int, str, int], settled: bool = False) -> Scene:
    """Block K with two stars and a circle, numbered 0 to 3, and what holds of them."""
    found = Discourse(SPARTUN.ontology)
    found.interpret(parse("Block K has a red star, a blue star and a circle."))
    return Scene(found, lambda u, r, v: True if (u, r, v) in facts else False if settled else None)


def clause(text: str) -> Clause:
    (found,) = parse(text, "k").clauses
    assert isinstance(found, Clause)
    return found


@pytest.mark.parametrize(
    ("text", "open_world", "settled"),
    [
        ("The red star is above the circle.", True, True),
        ("The blue star is above the circle.", None, False),
        ("A star is above a circle.", True, True),
        ("All stars are above the circle.", None, False),
        ("All red stars are above the circle.", True, True),
        ("No star is above the circle.", False, False),
        ("The blue star is not above the circle.", None, True),
        ("The red star is above the circle and left of the blue star.", None, False),
        ("A star which is above the circle is above the blue star.", None, False),
        ("All hexagons are above the circle.", False, False),
        ("There is a red star.", True, True),
        ("There is a hexagon.", False, False),
    ],
)
def test_holding(text: str, open_world: bool | None, settled: bool) -> None:
    fact = (1, "above", 3)
    assert scene(fact).holding(clause(text)).truth is open_world
    assert scene(fact, settled=True).holding(clause(text)).truth is settled


def test_a_description_means_the_border_too_and_a_question_does_not() -> None:
    held = scene((1, "proper_part", 0)).holding(clause("The red star is in block K."))
    assert held == Value(None)
    held = scene((1, "proper_part", 0), (1, "above", 3)).holding(
        clause("The red star in block K is above the circle.")
    )
    assert held == Value(True, frozenset({(1, "proper_part", 0), (1, "above", 3)}))


def test_who_asks_for_things_takes_the_text_to_be_complete() -> None:
    (has,) = clause("Block K is above a circle.").predicates
    (lacks,) = clause("Block K is not above a circle.").predicates
    known = scene((1, "above", 3))
    assert [known.chosen(n, [has]).truth for n in (0, 1, 2)] == [False, True, False]
    assert [known.chosen(n, [lacks]).truth for n in (0, 1, 2)] == [True, False, True]


def test_things_that_a_phrase_means() -> None:
    known = scene((1, "above", 3))
    phrases = {
        "the star": [1, 2],
        "the red star": [1],
        "the star above the circle": [1],
        "the shape below the circle": [1, 2],
        "block K": [0],
        "the hexagon": [],
    }
    for text, numbers in phrases.items():
        said = SPARTUN.phrase(text, frozenset("k"))
        assert said is not None
        assert list(known.picked(said)) == numbers, text


def test_pairs_of_plural_phrases() -> None:
    known = scene()
    words = ("the stars", "the circle", "the red star")
    stars, circle, star = (SPARTUN.phrase(text, frozenset("k")) for text in words)
    assert stars is not None and circle is not None and star is not None
    assert known.couples(stars, circle) == [(1, 3), (2, 3)]
    assert known.couples(circle, stars) == [(3, 1), (3, 2)]
    assert known.couples(star, circle) == [(1, 3)]
    assert known.couples(star, star) == []
