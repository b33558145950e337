"""Decide the claims of a trace in order, each in the context before it (Eqs. trusted and prefix).

Relations and events are decided by different logics (`symbouq.auditing.relations`,
`symbouq.auditing.events`), but the order of contexts is the same.
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
"""Content of a claim; falsy if empty."""
U = TypeVar("U")
"""Premise with its content."""


@dataclass(frozen=True)
class SceneDecision:
    """Whether a scene is feasible. If not, its clashing premises and their reasons."""

    feasible: bool
    clash: tuple[Premise, ...] = ()
    reasons: Clashes = field(default_factory=list)


class Step(NamedTuple, Generic[U]):
    """A claim, decided in the context before it.

    Attributes:
        result: The finding.
        admitted: The claim as a premise for later claims; None if it adds nothing to a context.
        explain: Adds the premises of the finding, if this takes additional time.
    """

    result: ClaimResult
    admitted: U | None = None
    explain: Callable[[], None] | None = None


class ClaimWalk(ABC, Generic[C, U]):
    """One walk through one trace.

    Args:
        claims: Content of each claim, in order.

    Attributes:
        claims: Content of each claim, in order.
        timed_out: Whether a limit was reached.
    """

    def __init__(self, claims: Sequence[C]) -> None:
        self.claims = claims
        self.timed_out = False

    @abstractmethod
    def decide_scene(self) -> SceneDecision:
        """Decide whether the scene is feasible.

        Raises:
            LimitError: If time runs out.
        """

    @abstractmethod
    def grounded(self, number: int, claim: C) -> Verdict:
        """Judge a claim given only the scene.

        Args:
            number: Number of the claim, from 1.
            claim: Content of the claim.

        Raises:
            LimitError: If time runs out.
        """

    @abstractmethod
    def step(self, number: int, claim: C, grounded: Verdict, admitted: Sequence[U]) -> Step[U]:
        """Decide a claim in a feasible assumed context.

        Args:
            number: Number of the claim, from 1.
            claim: Content of the claim.
            grounded: Grounded verdict on the claim.
            admitted: Earlier claims in the context.

        Raises:
            LimitError: If time runs out.
        """

    def enters(self, number: int) -> bool:
        """Whether a claim may be added to a context."""
        return True

    def why_open(self, number: int, claim: C) -> str:
        """Return the name of the message that explains why the scene leaves a claim unknown.

        Args:
            number: Number of the claim, from 1.
            claim: Content of the claim.
        """
        return "unknown"

    def run(self) -> TraceResult:
        """Decide the scene, then each claim given only the scene, then the claims in order."""
        try:
            scene = self.decide_scene()
        except LimitError:
            return TraceResult(True, (), [], self.all(ClaimResult.undecided()), True)
        if not scene.feasible:
            results = self.all(ClaimResult.blocked("blocked_scene"))
            return TraceResult(False, scene.clash, scene.reasons, results, self.timed_out)
        return TraceResult(True, (), [], self.walk(), self.timed_out)

    def all(self, result: ClaimResult) -> list[ClaimResult]:
        """Give every claim with content the same finding."""
        unparsed = ClaimResult.unparsed(result.feasible_after)
        return [replace(result if claim else unparsed) for claim in self.claims]

    def walk(self) -> list[ClaimResult]:
        """Walk through the claims, each in its assumed context.

        Verdicts are decided before premises are searched for, and grounded verdicts before assumed
        ones. If time runs out, at least the verdicts are known, and only the best premises are
        lost.
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
                # The context of later claims includes this one, so they are not decided either.
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
        """Run an optional step. If a limit is reached, the step ends and the result shows this."""
        try:
            yield
        except LimitError:
            self.timed_out = True
