"""The auditor's 23 claim features and 16 trace features (appendix Auditor
Implementation, "Claim Status and Repair").

The paper names their groups; this module defines names, order and values. Statuses are those in the
chosen context (assumed, unless the audit says grounded). Every value is a finite number; shares are
in [0, 1].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from symbouq.auditing.verdicts import Verdict


@dataclass(frozen=True)
class ClaimFacts:
    """Properties of one claim that the features need.

    Attributes:
        relations: The relations of the claim, oriented so that converses are equal.
        confidences: The parser's confidence in each relation.
        grounded: Whether each relation is grounded.
        layout: Number of relations that the layout decides.
        sorts: Sorts (sort/2) of the relations that the layout does not decide, if they have any.
        verdict: Verdict in the chosen context.
        first_conflict: Whether the claim is the first to make that context infeasible.
        feasible_after: Whether that context is feasible with the claim.
        repair: The bounded repair value.
        conclusion: Whether the claim is the conclusion.
    """

    relations: tuple[tuple[int, str, int], ...]
    confidences: tuple[float, ...]
    grounded: tuple[bool, ...]
    layout: int
    sorts: tuple[str, ...]
    verdict: Verdict
    first_conflict: bool
    feasible_after: bool
    repair: int
    conclusion: bool


_SORTS = ("containment", "distance", "topology", "location")
"""Values of sort/2, in the order of CLAIM_FEATURES."""


def features(
    scene: Sequence[tuple[int, str, int]], scene_feasible: bool, claims: Sequence[ClaimFacts]
) -> tuple[list[list[float]], list[float]]:
    """Compute all features of a trace.

    Args:
        scene: The scene's relations, oriented like those of the claims.
        scene_feasible: Whether the scene alone is feasible.
        claims: The claims, in order, at least one.

    Returns:
        Values of CLAIM_FEATURES for each claim, and values of TRACE_FEATURES.
    """
    stated = set(scene)
    earlier: set[tuple[int, str, int]] = set()
    conflict: int | None = None
    before = scene_feasible
    rows: list[list[float]] = []
    total = len(claims)
    for number, claim in enumerate(claims, start=1):
        count = len(claim.relations)
        shares = count or 1
        verdict = claim.verdict
        since = float(number - conflict) if conflict is not None else 0.0
        rows.append(
            [
                float(count > 0),
                float(count),
                sum(claim.confidences) / shares,
                sum(claim.grounded) / shares,
                sum(r in stated for r in claim.relations) / shares,
                sum(r in earlier for r in claim.relations) / shares,
                float(before),
                float(claim.feasible_after),
                float(verdict is Verdict.ENTAILED),
                float(verdict is Verdict.CONTRADICTED),
                float(verdict is Verdict.UNKNOWN),
                float(verdict is Verdict.NOT_EVALUABLE),
                float(claim.first_conflict),
                float(claim.repair),
                float(number),
                number / total,
                since,
                float(claim.conclusion),
                claim.layout / shares,
                *(claim.sorts.count(sort) / shares for sort in _SORTS),
            ]
        )
        if claim.first_conflict:
            conflict = number
        before = claim.feasible_after
        earlier.update(claim.relations)
    return rows, _trace_features(len(scene), scene_feasible, claims, conflict)


def _trace_features(
    context: int,
    scene_feasible: bool,
    claims: Sequence[ClaimFacts],
    conflict: int | None,
) -> list[float]:
    total = len(claims)
    relations = sum(len(claim.relations) for claim in claims)
    verdicts = Counter(claim.verdict for claim in claims)
    repairs = [claim.repair for claim in claims]
    if not scene_feasible:
        position = 0.0
    elif conflict is None:
        position = 1 + 1 / total
    else:
        position = conflict / total
    last = claims[-1].verdict
    return [
        float(context),
        float(total),
        float(relations),
        sum(bool(claim.relations) for claim in claims) / total,
        sum(sum(claim.grounded) for claim in claims) / (relations or 1),
        float(claims[-1].feasible_after),
        verdicts[Verdict.ENTAILED] / total,
        verdicts[Verdict.CONTRADICTED] / total,
        verdicts[Verdict.UNKNOWN] / total,
        verdicts[Verdict.NOT_EVALUABLE] / total,
        position,
        float(max(repairs)),
        sum(repairs) / total,
        float(last is Verdict.ENTAILED),
        float(last is Verdict.CONTRADICTED),
        float(last is Verdict.NOT_EVALUABLE),
    ]
