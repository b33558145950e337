"""Answers over an answer space: what holds, what can hold, and the labels that say so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from symbouq.auditing.verdicts import Verdict


@dataclass
class Answer:
    """The answer to one question.

    Attributes:
        status: `answered`, `open`, `inconsistent` (the scene contradicts itself) or
            `unread` (scene or question could not be read).
        answer: The entailed answers, or the label for a case that is open.
        certain: The answers that hold in every world of the scene.
        possible: Those that hold in some.
        impossible: Those that hold in none.
        premises: What the answer rests on.
        default: Whether it was given for want of proof: no where yes is not entailed, or without
            things of which nothing is said.
        faults: What keeps scene or question from being read.
    """

    status: str
    answer: list[str] = field(default_factory=list)
    certain: list[str] = field(default_factory=list)
    possible: list[str] = field(default_factory=list)
    impossible: list[str] = field(default_factory=list)
    premises: list[str] = field(default_factory=list)
    default: bool = False
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Labels:
    """The labels of an answer space by what they mean.

    Attributes:
        meanings: Meaning (`yes`, `no`, `open`, `entailment`, `both`, ...) to its label.
        relations: Relation to its label.
        things: Labels that name or describe things.
    """

    meanings: dict[str, str]
    relations: dict[str, str]
    things: tuple[str, ...] = ()

    def settled(self, found: Mapping[str, bool | None], premises: Premises) -> Answer:
        """The answer where each label holds (True), cannot hold (False) or may (None).

        Args:
            found: The labels, in order.
            premises: What those that hold rest on, if any does.
        """
        given = Answer(
            "open",
            certain=[label for label, truth in found.items() if truth],
            possible=[label for label, truth in found.items() if truth is not False],
            impossible=[label for label, truth in found.items() if truth is False],
        )
        given.answer = list(given.certain)
        if given.certain:
            given.premises = premises()
        elif "open" in self.meanings:
            given.answer = [self.meanings["open"]]
        if given.answer:
            given.status = "answered"
        return given

    def consistency(self, feasible: bool, clash: list[str]) -> Answer:
        """The answer to whether the scene can be true.

        Args:
            feasible: Whether it can.
            clash: The premises that contradict each other, where it cannot.
        """
        yes, no = self.meanings["satisfiable"], self.meanings.get("unsatisfiable", "")
        answer, other = (yes, no) if feasible else (no, yes)
        return Answer("answered", [answer], [answer], [answer], [other], clash)

    def judged(self, truth: bool | None, premises: Premises) -> Answer:
        """Yes or no, or the three-way judgement of a statement.

        Args:
            truth: Whether it holds; None where that is open.
            premises: What it rests on that it does, or does not.
        """
        has = self.meanings
        proven = next((has[name] for name in _PROVEN.get(truth, ()) if name in has), None)
        decided = [has[name] for names in _PROVEN.values() for name in names if name in has]
        if proven is not None:
            rest = [label for label in has.values() if label != proven]
            return Answer("answered", [proven], [proven], [proven], rest, premises())
        if "open" in has:
            return Answer("answered", [has["open"]], possible=decided)
        if "no" in has:
            return Answer("answered", [has["no"]], possible=decided, default=True)
        return Answer("open", possible=decided)


Premises = Callable[[], list[str]]
"""Gives what an answer rests on, as `scene:N`."""

_PROVEN: dict[bool | None, tuple[str, str]] = {
    True: ("yes", "entailment"),
    False: ("no", "contradiction"),
}
TRUTH = {Verdict.ENTAILED: True, Verdict.CONTRADICTED: False}
"""Whether a claim with a verdict holds, in all worlds or in none."""
