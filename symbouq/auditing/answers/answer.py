"""Answers over an answer space: the certain and the possible answers, and their labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from symbouq.auditing.verdicts import Verdict


@dataclass
class Answer:
    """Answer to one question.

    Attributes:
        status: `answered`, `open`, `inconsistent` (the scene contradicts itself) or
            `unread` (scene or question could not be read).
        answer: The entailed answers, or the label for an open case.
        certain: Answers that hold in every world of the scene.
        possible: Answers that hold in some world.
        impossible: Answers that hold in no world.
        premises: Premises of the answer.
        default: Whether the answer is a default: "no" because "yes" is not entailed, or a set that
            leaves out things in unknown positions.
        faults: Why the scene or question cannot be read.
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
    """Labels of an answer space, indexed by meaning.

    Attributes:
        meanings: Maps a meaning (`yes`, `no`, `open`, `entailment`, `both`, ...) to its label.
        relations: Maps a relation to its label.
        things: Labels that are names or descriptions of things.
    """

    meanings: dict[str, str]
    relations: dict[str, str]
    things: tuple[str, ...] = ()

    def settled(self, found: Mapping[str, bool | None], premises: Premises) -> Answer:
        """Build an answer from labels that hold (True), cannot hold (False) or may hold (None).

        Args:
            found: Each label, in order, with its value.
            premises: Callback for the premises of the labels that hold.
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
        """Return the answer to whether the scene can be true.

        Args:
            feasible: Whether the scene is feasible.
            clash: Premises that contradict each other, if the scene is infeasible.
        """
        yes, no = self.meanings["satisfiable"], self.meanings.get("unsatisfiable", "")
        answer, other = (yes, no) if feasible else (no, yes)
        return Answer("answered", [answer], [answer], [answer], [other], clash)

    def judged(self, truth: bool | None, premises: Premises) -> Answer:
        """Answer yes or no, or with the three-way judgement of a statement.

        Args:
            truth: Whether the statement holds; None if open.
            premises: Premises that decide it.
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
"""Callback that returns the premises of an answer, as `scene:N`."""

_PROVEN: dict[bool | None, tuple[str, str]] = {
    True: ("yes", "entailment"),
    False: ("no", "contradiction"),
}
TRUTH = {Verdict.ENTAILED: True, Verdict.CONTRADICTED: False}
"""Maps a verdict to whether the claim holds in all worlds (True) or in none (False)."""
