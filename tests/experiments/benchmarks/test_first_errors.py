"""The labels of `first_error_table.py`, on traces of our own."""

from __future__ import annotations

from helpers.extras import need_models

need_models()

from first_error_table import (  # noqa: E402
    chains,
    grid_trace,
    places_in,
    scored,
    sentence_patterns,
)

from symbouq.experiments.scenes.truth import labels as truth  # noqa: E402
from symbouq.metrics import first_error  # noqa: E402

PATTERNS = sentence_patterns(
    [
        {"phrasing": "<A> sits left of <B>.", "A_is_REL_of_B": "left"},
        {
            "phrasing": "<B> has <A> at its 12 o\N{RIGHT SINGLE QUOTATION MARK}clock.",
            "A_is_REL_of_B": "above",
        },
        {"phrasing": "<A> is there.", "A_is_REL_of_B": None},
    ]
)
SCENE = ["P sits left of Q.", "Q has R at its 12 o'clock.", "It rains."]


def test_places_follow_from_the_templates() -> None:
    assert len(PATTERNS) == 2
    assert places_in(SCENE, "Q", PATTERNS) == {"Q": (0, 0), "P": (-1, 0), "R": (0, 1)}
    assert places_in(SCENE, "P", PATTERNS) == {"P": (0, 0), "Q": (1, 0), "R": (1, 1)}


def response(*places: str, answer: str) -> dict[str, object]:
    lines = ["Let's suppose P is at (0,0).", *places, "So that is it.", f"Answer: {answer}"]
    shared = {"id": "1", "model": "m", "prompt_style": "s", "dataset": "stepgame"}
    asked = {"scene": SCENE, "question": "Where is P from R?", "answer": "lower-left"}
    return {**shared, **asked, "response": "\n".join(lines)}


def test_steps_are_lines_with_coordinates_and_are_right_where_those_are() -> None:
    right = response("So Q is at (1,0).", "Then R is at (1, 1).", answer="lower-left")
    trace, labels = grid_trace(right, PATTERNS) or ({}, [])
    assert trace["reasoning"] == ["So Q is at (1,0).", "Then R is at (1, 1)."]
    assert (trace["conclusion"], labels) == ("Answer: lower-left", [1, 1, 1])
    wrong = response("So Q is at (-1,0).", "Then R is at (1,1).", answer="left")
    assert (grid_trace(wrong, PATTERNS) or ({}, []))[1] == [0, 1, 0]


def test_what_cannot_be_judged_is_left_out() -> None:
    assert grid_trace(response("So X is at (1,0).", answer="left"), PATTERNS) is None
    assert grid_trace(response(answer="left"), PATTERNS) is None


def test_every_second_chain_has_one_wrong_step() -> None:
    for number, (trace, labels) in enumerate(chains(12)):
        assert (first_error(labels) == 0) is (number % 2 == 0)
        assert truth(trace)[:-1] == labels[:-1]


def test_every_claim_of_a_chain_has_a_perplexity_and_a_share_of_samples() -> None:
    traces = [trace for trace, _ in chains(2)]
    scores = scored(traces, samples=2)
    assert [(each.id, each.method) for each in scores] == [
        (trace["id"], method) for trace in traces for method in ("Perplexity", "SelfCheckGPT")
    ]
    claims = {trace["id"]: len(trace["reasoning"]) + 1 for trace in traces}
    for each in scores:
        assert len(each.claims) == claims[each.id]
        if each.method == "Perplexity":
            assert min(each.claims) >= 1
        else:
            assert set(each.claims) <= {0.0, 0.5, 1.0}
