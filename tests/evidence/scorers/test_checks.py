"""Every scorer keeps to what all must keep to, and one that does not is told so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from helpers.synthetic import split, tokens

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.base import Labelled, Scorer
from symbouq.evidence.scorers.checks import check_scorer
from symbouq.evidence.scorers.registry import SCORERS
from symbouq.evidence.scorers.settings import Resources, Settings
from symbouq.evidence.signals.example import Example
from symbouq.metrics import Values

SETTINGS = Settings(width=8, epochs=1, learning_rate=0.01)


class Thinks:
    """A backbone that takes short answers for true."""

    name = "thinks"

    def continuations(
        self, messages: Sequence[str], opening: str, texts: Sequence[str]
    ) -> list[list[float]]:
        return [[-len(message) / 500, -0.7] for message in messages]


@pytest.fixture(scope="module")
def traces() -> list[Labelled]:
    """Traces with all that a scorer may need."""

    def whole(number: int, trace: Labelled) -> Labelled:
        assert trace.example.signals is not None
        *reasoning, _ = trace.example.claims
        logprobs = trace.example.signals.logprobs
        record: dict[str, Any] = {
            **trace.example.record,
            "id": trace.example.id,
            "scene": ["A is above B."],
            "question": "Where is A?",
            "answer_space": ["above", "below"],
            "reasoning": reasoning,
            "conclusion": "above",
            "tokens": tokens(*((" w", x, [(" w", x)]) for x in map(float, logprobs))),
        }
        answers = ["above", "below", "above" if number % 2 else "below"]
        samples = [{**record, "reasoning": [], "conclusion": answer} for answer in answers]
        return replace(trace, example=replace(trace.example, record=record, samples=tuple(samples)))

    return [whole(number, trace) for number, trace in enumerate(split(8, seed=3))]


@pytest.mark.parametrize("name", SCORERS)
def test_scorers_keep_to_what_all_must(traces: list[Labelled], name: str) -> None:
    kind = SCORERS[name]
    settings = SETTINGS if kind.trained else None
    check_scorer(kind, traces, settings, Resources(backbone=Thinks()))


class Plain(Scorer):
    """The base of scorers with one fault each."""

    name: ClassVar[str] = "plain"
    family = "reference"

    def values(self, example: Example) -> Values | float:
        return float(len(example.id))


class Counting(Plain):
    calls: ClassVar[int] = 0

    def values(self, example: Example) -> float:
        Counting.calls += 1
        return float(Counting.calls)


class Whole(Plain):
    def score(self, examples: Sequence[Example]) -> list[Values]:
        mean = float(np.mean([len(example.claims) for example in examples]))
        return [np.full(len(example.claims), mean) for example in examples]


class Infinite(Plain):
    def values(self, example: Example) -> float:
        return float("inf")


class Short(Plain):
    def score(self, examples: Sequence[Example]) -> list[Values]:
        return [np.zeros(1) for _ in examples]


class Silent(Plain):
    needs = frozenset({"audit"})

    def score(self, examples: Sequence[Example]) -> list[Values]:
        return [np.zeros(len(example.claims)) for example in examples]


class Forgetful(Plain):
    learnt = 0.0

    def fit(self, train: Sequence[Labelled], validation: Sequence[Labelled]) -> None:
        self.learnt = 1.0

    def values(self, example: Example) -> float:
        return self.learnt


class Eager(Forgetful):
    trained = True

    def save(self, folder: Path) -> None:
        (folder / "learnt").write_text("1")


class Nameless(Plain):
    name = ""


class Homeless(Plain):
    family = "other"  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (Counting, "an equal seed gives other values"),
        (Whole, "a trace has other values alone"),
        (Infinite, "a value that is no number"),
        (Short, "claims"),
        (Silent, "does not say that a trace lacks audit"),
        (Forgetful, "values change by saving and loading"),
        (Eager, "scores before it was fitted"),
        (Nameless, "Nameless has no name"),
        (Homeless, "family is one of"),
    ],
)
def test_faults_are_told(traces: list[Labelled], kind: type[Scorer], fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        check_scorer(kind, traces)


def test_a_plain_scorer_passes(traces: list[Labelled]) -> None:
    check_scorer(Plain, traces)


def test_checks_need_both_classes(traces: list[Labelled]) -> None:
    right = [trace for trace in traces if trace.correct]
    with pytest.raises(SymboUQError, match="some right and some wrong"):
        check_scorer(Plain, right)
