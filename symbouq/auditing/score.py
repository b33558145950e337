"""Constraint-Rule: the training-free constraint score (Symbolic Baselines)."""

from __future__ import annotations

from collections.abc import Sequence

from symbouq.auditing.verdicts import REPAIR_BUDGET, Verdict

_CONCLUSION_WEIGHT = 0.7
_STEPS_WEIGHT = 0.3
_VALUES = {Verdict.ENTAILED: 1.0, Verdict.UNKNOWN: 0.5, Verdict.NOT_EVALUABLE: 0.35}


def constraint_rule(
    parsed: Sequence[bool], verdicts: Sequence[Verdict], repairs: Sequence[int]
) -> float:
    """Compute a fixed confidence in [0, 1] that the final answer is right.

    The score is 0.7 times the value of the conclusion plus 0.3 times the mean value of the parsed
    reasoning claims (0.5 if there are none). The value of a claim is 1 if entailed, 0.5 if unknown
    or unparsed, and 0.35 if blocked by an earlier conflict. A contradicted claim is worth 0.4 - 0.1
    R for a bounded repair value R: 0.3 for the smallest repair, 0 if no removal repairs it. The
    weights were fixed before any trace was scored; nothing is fitted.

    Args:
        parsed: Whether each claim states a supported relation.
        verdicts: Each claim's verdict; the last claim is the conclusion.
        repairs: Each claim's bounded repair value, 0 to 4.
    """
    values = [
        0.1 * (REPAIR_BUDGET + 1 - repair) if verdict is Verdict.CONTRADICTED else _VALUES[verdict]
        for verdict, repair in zip(verdicts, repairs, strict=True)
    ]
    steps = [value for value, is_parsed in zip(values[:-1], parsed[:-1], strict=True) if is_parsed]
    chain = sum(steps) / len(steps) if steps else 0.5
    return round(_CONCLUSION_WEIGHT * values[-1] + _STEPS_WEIGHT * chain, 6)
