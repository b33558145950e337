"""Generated scenes: the same for a seed, sound, and read by the audit as they are meant."""

from __future__ import annotations

import pytest

from symbouq.auditing.answers import answer
from symbouq.auditing.auditor import TraceAuditor
from symbouq.evidence.contract import Structured
from symbouq.experiments.scenes.families import FAMILIES, problems
from symbouq.experiments.scenes.truth import labels
from symbouq.records import Instance, make_record

NAMES = sorted(FAMILIES)


@pytest.mark.parametrize("family", NAMES)
def test_the_same_seed_makes_the_same_scenes(family: str) -> None:
    assert list(problems(family, 6, 1)) == list(problems(family, 6, 1))
    assert list(problems(family, 6, 1)) != list(problems(family, 6, 2))


@pytest.mark.parametrize("family", NAMES)
def test_sound_traces_fit_the_contract_and_are_true(family: str) -> None:
    for number, problem in enumerate(problems(family, 150, 3)):
        assert Structured.of(problem.trace.encoded()) == problem.trace
        record = problem.record(str(number)) | {"reasoning": list(problem.reasoning)}
        assert labels(record) == [1] * len(problem.reasoning) + [None], problem
        given = [problem.answer] if isinstance(problem.answer, str) else problem.answer
        assert given and set(given) <= set(problem.answer_space)


@pytest.mark.parametrize("family", NAMES)
def test_every_answer_comes_up(family: str) -> None:
    found = {
        label
        for problem in problems(family, 300, 4)
        for label in ([problem.answer] if isinstance(problem.answer, str) else problem.answer)
    }
    space = set(next(problems(family, 1, 4)).answer_space)
    # A shape lies in a block by what is said, never by what is asked.
    assert (
        found == space - {"inside", "contains"}
        if family == "blocks"
        else found >= space - {"overlapping", "near", "touching"}
    )


@pytest.mark.parametrize("family", ["blocks", "regions", "distances", "inference"])
def test_the_answers_agree_with_those_that_logic_gives(family: str) -> None:
    """Two programs that share no code: layouts here, answer set programming there."""
    auditor = TraceAuditor()
    for number, problem in enumerate(problems(family, 60, 5)):
        record = make_record(Instance, problem.record(str(number)))
        gold = [problem.answer] if isinstance(problem.answer, str) else problem.answer
        assert sorted(answer(auditor, record).answer) == sorted(gold), problem


def test_labels_of_a_trace_by_hand() -> None:
    record = {
        "id": "t",
        "meta": {
            "family": "chains",
            "facts": [["A", "left", "B"], ["B", "left", "C"], ["D", "above", "C"]],
        },
        "reasoning": [
            "A is left of B",
            "A is left of B and B is left of C, so A is left of C",
            "A is right of C",
            "C is above D and A is left of C, so A is lower-left of D",
            "therefore it is clear",
            "A is left of Z",
        ],
    }
    assert labels(record) == [1, 1, 0, 0, None, 0, None]
