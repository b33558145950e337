"""What a backbone is taught."""

from __future__ import annotations

from itertools import islice

from symbouq.evidence.contract import Structured
from symbouq.experiments.backbones.corpus import RESTATING, corpus, wordings_of
from symbouq.records import Instance


def test_pairs_are_prompts_with_traces_that_fit_the_contract() -> None:
    pairs = list(islice(corpus(1), 200))
    asked = [pair for pair in pairs if not pair.prompt.startswith(RESTATING)]
    assert 140 <= len(asked) <= 180  # a fifth of the pairs are the side task
    for pair in asked:
        trace = Structured.of(pair.completion)
        assert trace is not None
        assert trace.encoded() == pair.completion
    assert pairs == list(islice(corpus(1), 200))


def test_problems_whose_sound_steps_are_too_long_are_passed_over() -> None:
    pairs = list(islice(corpus(1, (3,)), 100))  # the 69th problem has one of 98 characters
    assert all(Structured.of(p.completion) for p in pairs if not p.prompt.startswith(RESTATING))


def test_wordings_come_from_sentences_with_one_direction() -> None:
    rows = [
        Instance(id="1", scene=["K is above and to the left of M.", "It rains."]),
        Instance(id="2", scene=["P is to the right of Q."]),
    ]
    assert wordings_of(rows) == {
        "right": ["{u} is to the right of {v}."],
        "upper-left": ["{u} is above and to the left of {v}."],
    }


def test_wordings_are_used() -> None:
    wordings = {"left": ["{u} << {v}."], "right": ["{u} >> {v}."]}
    texts = [pair.prompt for pair in islice(corpus(1, (1,), wordings), 100)]
    assert sum("<<" in text or ">>" in text for text in texts) > 15
