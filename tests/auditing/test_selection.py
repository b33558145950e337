from __future__ import annotations

import pytest

from symbouq.auditing.selection import answer_key, best_of

SPACE = ["left", "right", "above"]


def answer(conclusion: str, **more: object) -> dict[str, object]:
    return {"reasoning": [], "conclusion": conclusion, "answer_space": SPACE, **more}


def test_the_highest_score_is_best() -> None:
    assert best_of([answer("left"), answer("right"), answer("right")], [0.9, 0.5, 0.5]) == 0


def test_of_equal_ones_the_answer_of_most_counts_and_then_the_first() -> None:
    answers = [answer("left"), answer("It is on the right."), answer("right"), answer("above")]
    assert best_of(answers, [0.5] * 4) == 1
    # Those with a lower score have no vote.
    assert best_of(answers, [0.5, 0.5, 0.1, 0.1]) == 0


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (answer("right"), answer("to the right"), True),
        (answer("right"), {"response": "So it is right.", "answer_space": SPACE}, True),
        (answer("right"), answer("left"), False),
        (answer("maybe"), answer("Maybe."), True),
        (answer("the cup", answer_space=None), answer("The cup.", answer_space=None), True),
        (answer("the cup", answer_space=None), answer("the jug", answer_space=None), False),
    ],
)
def test_answers_are_compared_by_what_they_commit_to(
    first: dict[str, object], second: dict[str, object], same: bool
) -> None:
    assert (answer_key(first) == answer_key(second)) is same
