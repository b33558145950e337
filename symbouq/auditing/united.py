"""Combine two readings of one trace: audit both, and take each claim from the reading that decides
it.
"""

from __future__ import annotations

from dataclasses import replace

from symbouq.auditing.verdicts import ClaimResult, TraceResult, Verdict
from symbouq.reading.model.judging import CONFIRMED, DOUBTED
from symbouq.reading.text import ASSERTED, Claim, ParsedTrace

Audited = tuple[ParsedTrace, TraceResult]
"""A parsed trace with its result."""


def united(own: Audited, other: Audited) -> Audited:
    """Unite the audits of two readers. If only one reader reads a claim, or the scene decides the
    claim in only one reading, the claim is taken from that reader. A claim entailed in one reading
    and contradicted in the other is unknown.

    Args:
        own: The first reader's trace, which is used for all other parts.
        other: The second reader's trace.
    """
    (parsed, result), (read, found) = own, other
    numbers = {claim.text: n for n, claim in reversed([*enumerate(read.claims)])}
    claims: list[Claim] = []
    results: list[ClaimResult] = []
    feasible = result.feasible
    for claim, judged in zip(parsed.claims, result.claims, strict=True):
        number = numbers.get(claim.text)
        if number is not None and found.feasible:
            second = replace(read.claims[number], type=claim.type)
            claim, judged = _judge(claim, judged, second, found.claims[number])
        if not feasible:
            judged = ClaimResult.blocked("blocked", judged.grounded) if claim.relations else judged
        elif judged.verdict is Verdict.NOT_EVALUABLE:  # no longer blocked
            sound = judged.grounded is not Verdict.CONTRADICTED
            judged = replace(judged, verdict=judged.grounded, feasible_after=sound)
        judged = replace(judged, first_conflict=feasible and not judged.feasible_after)
        feasible = feasible and judged.feasible_after
        claims.append(claim)
        results.append(replace(judged, feasible_after=feasible))
    late = result.timed_out or found.timed_out
    return replace(parsed, claims=tuple(claims)), replace(result, claims=results, timed_out=late)


def _judge(
    claim: Claim, judged: ClaimResult, second: Claim, found: ClaimResult
) -> tuple[Claim, ClaimResult]:
    """Return the reading of a claim that decides it, with its result."""
    if not found.grounded.determinate:
        silent = not claim.relations and claim.stance == ASSERTED
        return (second, found) if silent and second.relations else (claim, judged)
    if not judged.grounded.determinate:
        return second, found
    if found.grounded is judged.grounded:
        return _as_sure(claim, CONFIRMED), judged
    unknown = ClaimResult(Verdict.UNKNOWN, Verdict.UNKNOWN, reason="uncertain")
    return _as_sure(claim, DOUBTED), unknown


def _as_sure(claim: Claim, confidence: float) -> Claim:
    relations = (replace(statement, confidence=confidence) for statement in claim.relations)
    return replace(claim, relations=tuple(relations))
