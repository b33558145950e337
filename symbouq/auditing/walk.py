"""The claims of a trace in order, each decided under what precedes it (Eqs. trusted and prefix).

Relations and events are decided by different logics (`symbouq.auditing.relations`,
`symbouq.auditing.events`); which context a claim has, and what it does to the next one's, is the
same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar

from symbouq.auditing.verdicts import ClaimResult, Clashes, Premise, TraceResult, Verdict
from symbouq.limits import LimitError

C = TypeVar("C")
"""What a claim states, empty where that is nothing."""
U = TypeVar("U")
"""A premise, with what it states."""


@dataclass(frozen=True)
class SceneDecision:
    """Whether a scene is feasible; else its clashing premises and their reasons."""

    feasible: bool
    clash: tuple[Premise, ...] = ()
    reasons: Clashes = field(default_factory=list)


class Step(NamedTuple, Generic[U]):
    """A claim decided under the context before it.

    Attributes:
        result: The finding.
        admitted: The claim as a premise of those after it; None where it adds nothing to a context.
        explain: Fills in what the finding rests on, where that takes more time.
    """

    result: ClaimResult
    admitted: U | None = None
    explain: Callable[[], None] | None = None


class ClaimWalk(ABC, Generic[C, U]):
    """One run over one trace.

    Args:
        claims: What each claim states, in order.

    Attributes:
        claims: The same.
        timed_out: Whether a limit was reached.
    """

    def __init__(self, claims: Sequence[C]) -> None:
        self.claims = claims
        self.timed_out = False

    @abstractmethod
    def decide_scene(self) -> SceneDecision:
        """Whether the scene alone is feasible.

        Raises:
            LimitError: If that is not known in time.
        """

    @abstractmethod
    def grounded(self, number: int, claim: C) -> Verdict:
        """The verdict on a claim under the scene alone.

        Args:
            number: Its number, from 1.
            claim: What it states.

        Raises:
            LimitError: If there is none in time.
        """

    @abstractmethod
    def step(self, number: int, claim: C, grounded: Verdict, admitted: Sequence[U]) -> Step[U]:
        """Decides a claim under a feasible assumed context.

        Args:
            number: Its number, from 1.
            claim: What it states.
            grounded: The verdict on it under the scene alone.
            admitted: The earlier claims of the context.

        Raises:
            LimitError: If there is no verdict in time.
        """

    def enters(self, number: int) -> bool:
        """Whether a claim is one of those that contexts admit."""
        return True

    def why_open(self, number: int, claim: C) -> str:
        """Name of the message that says why the scene alone leaves a claim unknown.

        Args:
            number: Its number, from 1.
            claim: What it states.
        """
        return "unknown"

    def run(self) -> TraceResult:
        """Decides the scene, then each claim under it alone, then the claims in order."""
        try:
            scene = self.decide_scene()
        except LimitError:
            return TraceResult(True, (), [], self.all(ClaimResult.undecided()), True)
        if not scene.feasible:
            results = self.all(ClaimResult.blocked("blocked_scene"))
            return TraceResult(False, scene.clash, scene.reasons, results, self.timed_out)
        return TraceResult(True, (), [], self.walk(), self.timed_out)

    def all(self, result: ClaimResult) -> list[ClaimResult]:
        """One finding for every claim that states something."""
        unparsed = ClaimResult.unparsed(result.feasible_after)
        return [replace(result if claim else unparsed) for claim in self.claims]

    def walk(self) -> list[ClaimResult]:
        """The claims in order, each under the assumed context that precedes it.

        Verdicts come before what they rest on, and grounded ones first: should time run out, that
        costs the best premises alone.
        """
        grounds: list[Verdict | None] = []
        for number, claim in enumerate(self.claims, start=1):
            try:
                grounds.append(self.grounded(number, claim) if claim else None)
            except LimitError:
                self.timed_out = True
                grounds.append(None)
        results: list[ClaimResult] = []
        explanations: list[Callable[[], None]] = []
        admitted: list[U] = []
        feasible = decided = True
        for number, (claim, ground) in enumerate(zip(self.claims, grounds, strict=True), start=1):
            if not claim:
                results.append(ClaimResult.unparsed(feasible))
                continue
            step: Step[U] | None = None
            if decided and feasible and ground is not None:
                try:
                    step = self.step(number, claim, ground, tuple(admitted))
                except LimitError:
                    self.timed_out = True
            if step is not None:
                result = step.result
                feasible = result.feasible_after
                result.first_conflict = not feasible
                if step.admitted is not None:
                    admitted.append(step.admitted)
                if step.explain is not None:
                    explanations.append(step.explain)
            elif decided and ground is not None and not feasible:
                result = ClaimResult.blocked("blocked", ground)
            else:
                result = ClaimResult.undecided(ground or Verdict.UNKNOWN, feasible)
                # Nor are those after it, whose context it belongs to.
                decided = decided and not self.enters(number)
            if result.grounded is Verdict.UNKNOWN:
                known = ground is not None
                result.grounded_reason = self.why_open(number, claim) if known else "timed_out"
            results.append(result)
        for explain in explanations:
            explain()
        return results

    @contextmanager
    def limited(self) -> Iterator[None]:
        """A step that the rest can do without: it ends at a limit, and the result says so."""
        try:
            yield
        except LimitError:
            self.timed_out = True
