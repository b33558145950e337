"""The outcomes of an audit: verdicts, premises, and the results of claims and traces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from symbouq.limits import LimitError
from symbouq.ontology.tables import Triple


class Verdict(StrEnum):
    """The four outcomes of a claim (Eq. status_space and the evaluability flag)."""

    ENTAILED = "entailed"
    CONTRADICTED = "contradicted"
    UNKNOWN = "unknown"
    NOT_EVALUABLE = "not-evaluable"

    @property
    def determinate(self) -> bool:
        """Whether the verdict decides the claim."""
        return self in (Verdict.ENTAILED, Verdict.CONTRADICTED)


def reads_assumed(assumed: str, grounded: str, context: str) -> bool:
    """Whether a context has a claim's assumed verdict, not its grounded one.

    The non-committal one never admits an unresolved claim, and still tells that a claim
    contradicts earlier ones.

    Args:
        assumed: The claim's verdict under the assumed context.
        grounded: Its verdict under the grounded one.
        context: One of `symbouq.records.Context`.
    """
    if context == "non-committal":
        return grounded == Verdict.UNKNOWN and assumed == Verdict.CONTRADICTED
    return context == "assumed"


def verdict_in(claim: Mapping[str, Any], context: str) -> str:
    """The verdict on a claim of an audit, in its dictionary form, under a context."""
    assumed, grounded = str(claim["verdict"]), str(claim["grounded_verdict"])
    return assumed if reads_assumed(assumed, grounded, context) else grounded


Clashes = list[tuple[str, tuple[str, ...]]]
"""Codes of the closure's clashes with the relations that they name."""

REPAIR_BUDGET = 3
"""The largest repair that the paper's bounded value tells apart; beyond it is 4."""


@dataclass(frozen=True)
class Premise:
    """One premise: a scene sentence (or scene relation) or a generated claim.

    Attributes:
        source: `scene` or `claim`.
        number: Its number, from 1.
    """

    source: str
    number: int

    def __str__(self) -> str:
        return f"{self.source}:{self.number}"


@dataclass
class ClaimResult:
    """The findings on one claim.

    Attributes:
        verdict: Under the assumed context (Eq. prefix).
        grounded: Under the grounded context (Eq. trusted).
        repair: The exact repair distance; 0 where nothing is to be repaired, None
            where no removal of generated relations repairs the claim.
        first_conflict: Whether adding the claim first makes the context infeasible.
        feasible_after: Whether the assumed context with the claim is feasible.
        premises: What a determinate verdict rests on.
        fault: The relation that a contradicted claim's premises exclude.
        reason: Name of the message that explains the verdict; `timed_out` where a limit was
            reached before there was one.
        grounded_reason: Name of the message that explains a grounded verdict; empty where `reason`
            explains both.
        clashes: Codes and relations of the closure's clashes, for the message.
        presumed: The defaults of the world that a determinate verdict rests on: pairs of relations
            of which the first is taken to have the second.
        answer: Where the claim is judged as an answer, the one that the scene gives.
        given: The one that is judged.
    """

    verdict: Verdict
    grounded: Verdict
    repair: int | None = 0
    first_conflict: bool = False
    feasible_after: bool = True
    premises: tuple[Premise, ...] = ()
    fault: Triple | None = None
    reason: str = "unknown"
    grounded_reason: str = ""
    clashes: Clashes = field(default_factory=list)
    presumed: tuple[tuple[str, str], ...] = ()
    answer: tuple[str, ...] | None = None
    given: tuple[str, ...] = ()

    @property
    def conditional(self) -> bool:
        """A determinate verdict that does not survive under the grounded context."""
        return self.verdict.determinate and self.verdict is not self.grounded

    @property
    def bounded_repair(self) -> int:
        """The paper's repair value, 0 to 4."""
        if self.repair is None or self.repair > REPAIR_BUDGET:
            return REPAIR_BUDGET + 1
        return self.repair

    @classmethod
    def unparsed(cls, feasible: bool = True) -> Self:
        """The result for a claim that states nothing.

        Args:
            feasible: Whether the assumed context is feasible.
        """
        return cls(Verdict.UNKNOWN, Verdict.UNKNOWN, feasible_after=feasible, reason="unparsed")

    @classmethod
    def blocked(cls, reason: str, grounded: Verdict = Verdict.NOT_EVALUABLE) -> Self:
        """The result for a claim in a context that contradicts itself.

        Args:
            reason: Name of the message: `blocked_scene`, or `blocked` by an earlier claim.
            grounded: The claim's verdict under the scene alone.
        """
        return cls(Verdict.NOT_EVALUABLE, grounded, feasible_after=False, reason=reason)

    @classmethod
    def undecided(cls, grounded: Verdict = Verdict.UNKNOWN, feasible: bool = True) -> Self:
        """The result for a claim that a limit left without a verdict.

        Args:
            grounded: Its grounded verdict, if there is one.
            feasible: Whether the assumed context is; in one that is not, no claim is evaluable.
        """
        verdict = Verdict.UNKNOWN if feasible else Verdict.NOT_EVALUABLE
        return cls(verdict, grounded, feasible_after=feasible, reason="timed_out")


@dataclass
class TraceResult:
    """The findings on one trace.

    Attributes:
        feasible: Whether the scene alone is feasible.
        clash: Premises of the scene that contradict each other, where it is not.
        clash_reasons: Codes and relations of that clash, where closure names it.
        claims: One result per claim, in order.
        timed_out: Whether a limit was reached: verdicts with the reason `timed_out` are then
            missing, and repairs and premises may not be the best.
    """

    feasible: bool
    clash: tuple[Premise, ...]
    clash_reasons: Clashes
    claims: list[ClaimResult]
    timed_out: bool = False

    @property
    def undecided(self) -> list[int]:
        """The numbers of the claims that a limit left without a verdict."""
        return [n for n, c in enumerate(self.claims, start=1) if c.reason == "timed_out"]

    def whole(self) -> TraceResult:
        """The same, where no limit was reached.

        Raises:
            LimitError: If one was.
        """
        if self.timed_out:
            raise LimitError
        return self
