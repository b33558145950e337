"""Two readings of one trace: each is audited, and a judge takes for each claim the one that decides
it.
"""

from __future__ import annotations

from dataclasses import replace

from symbouq.auditing.verdicts import ClaimResult, TraceResult, Verdict
from symbouq.reading.model.judging import CONFIRMED, DOUBTED
from symbouq.reading.text import ASSERTED, Claim, ParsedTrace

Audited = tuple[ParsedTrace, TraceResult]
"""A trace as it was read, and its result."""


def united(own: Audited, other: Audited) -> Audited:
    """A trace by two readers. A claim that only one of them reads, or that the scene decides only
    as one of them reads it, is taken from that one; where it is entailed as one of them reads it,
    and contradicted as the other does, it is unknown.

    Args:
        own: The trace as the first reader has it, which counts for the rest.
        other: The same as the other one has it.
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
        elif judged.verdict is Verdict.NOT_EVALUABLE:  # by a claim of which the judge thinks less
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
    """The reading of a claim that decides it, with its result."""
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
    """A claim whose relations have a confidence."""
    relations = (replace(statement, confidence=confidence) for statement in claim.relations)
    return replace(claim, relations=tuple(relations))
