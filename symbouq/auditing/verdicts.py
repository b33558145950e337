"""Outcomes of an audit: verdicts, premises, and results for claims and traces."""

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
    """Whether a context takes a claim's assumed verdict rather than its grounded one.

    The non-committal context admits no unresolved claim, but still reports contradictions of
    earlier claims.

    Args:
        assumed: The claim's verdict in the assumed context.
        grounded: The claim's verdict in the grounded context.
        context: One of `symbouq.records.Context`.
    """
    if context == "non-committal":
        return grounded == Verdict.UNKNOWN and assumed == Verdict.CONTRADICTED
    return context == "assumed"


def verdict_in(claim: Mapping[str, Any], context: str) -> str:
    """Return the verdict on a claim (a dictionary) in a context."""
    assumed, grounded = str(claim["verdict"]), str(claim["grounded_verdict"])
    return assumed if reads_assumed(assumed, grounded, context) else grounded


Clashes = list[tuple[str, tuple[str, ...]]]
"""Codes of the closure's clashes with their relations."""

REPAIR_BUDGET = 3
"""Maximum repair that the paper's bounded value distinguishes. Larger repairs count as 4."""


@dataclass(frozen=True)
class Premise:
    """Premise: a scene sentence, a scene relation or a generated claim.

    Attributes:
        source: `scene` or `claim`.
        number: Number of the premise, from 1.
    """

    source: str
    number: int

    def __str__(self) -> str:
        return f"{self.source}:{self.number}"


@dataclass
class ClaimResult:
    """Findings on one claim.

    Attributes:
        verdict: Verdict in the assumed context (Eq. prefix).
        grounded: Verdict in the grounded context (Eq. trusted).
        repair: Exact repair distance; 0 without a conflict, None if no removal of generated
            relations repairs the claim.
        first_conflict: Whether the claim is the first to make the context infeasible.
        feasible_after: Whether the assumed context is feasible with the claim.
        premises: Premises of a determinate verdict.
        fault: Relation of a contradicted claim that its premises exclude.
        reason: Name of the message that explains the verdict; `timed_out` if a limit was reached
            first.
        grounded_reason: Name of the message that explains the grounded verdict; empty if `reason`
            explains both.
        clashes: Codes and relations of the closure's clashes, for the message.
        presumed: World defaults that a determinate verdict depends on. Each default is a pair of
            relations; the first relation implies the second one by default.
        answer: The scene's answer, if the claim is judged as an answer.
        given: The delivered answer.
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
        """Whether a determinate verdict is different in the grounded context."""
        return self.verdict.determinate and self.verdict is not self.grounded

    @property
    def bounded_repair(self) -> int:
        """The paper's repair value, 0 to 4."""
        if self.repair is None or self.repair > REPAIR_BUDGET:
            return REPAIR_BUDGET + 1
        return self.repair

    @classmethod
    def unparsed(cls, feasible: bool = True) -> Self:
        """Return the result for a claim without relations.

        Args:
            feasible: Whether the assumed context is feasible.
        """
        return cls(Verdict.UNKNOWN, Verdict.UNKNOWN, feasible_after=feasible, reason="unparsed")

    @classmethod
    def blocked(cls, reason: str, grounded: Verdict = Verdict.NOT_EVALUABLE) -> Self:
        """Return the result for a claim in an infeasible context.

        Args:
            reason: Name of the message: `blocked_scene`, or `blocked` by an earlier claim.
            grounded: The claim's grounded verdict.
        """
        return cls(Verdict.NOT_EVALUABLE, grounded, feasible_after=False, reason=reason)

    @classmethod
    def undecided(cls, grounded: Verdict = Verdict.UNKNOWN, feasible: bool = True) -> Self:
        """Return the result for a claim that was not decided because a limit was reached.

        Args:
            grounded: The claim's grounded verdict, if known.
            feasible: Whether the assumed context is feasible; if not, no claim is evaluable.
        """
        verdict = Verdict.UNKNOWN if feasible else Verdict.NOT_EVALUABLE
        return cls(verdict, grounded, feasible_after=feasible, reason="timed_out")


@dataclass
class TraceResult:
    """Findings on one trace.

    Attributes:
        feasible: Whether the scene alone is feasible.
        clash: Premises that contradict each other, if the scene is infeasible.
        clash_reasons: Codes and relations of that clash, if the closure identifies it.
        claims: The result for each claim, in order.
        timed_out: Whether a limit was reached. Verdicts with the reason `timed_out` are then
            missing, and repairs and premises may not be the best.
    """

    feasible: bool
    clash: tuple[Premise, ...]
    clash_reasons: Clashes
    claims: list[ClaimResult]
    timed_out: bool = False

    @property
    def undecided(self) -> list[int]:
        """Numbers of the claims that were not decided because a limit was reached."""
        return [n for n, c in enumerate(self.claims, start=1) if c.reason == "timed_out"]

    def whole(self) -> TraceResult:
        """The result, if no limit was reached.

        Raises:
            LimitError: If a limit was reached.
        """
        if self.timed_out:
            raise LimitError
        return self
