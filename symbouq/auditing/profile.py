"""The Determinacy Profile (section Determinacy Profile, Eqs. determinacy, applicability).

Symbolizability is the share of a trace that can be expressed; determinacy is the share of the
expressible part that is decided. Polarity is deliberately absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symbouq.auditing.verdicts import Verdict


@dataclass(frozen=True)
class Profile:
    """phi(r): coverage of one trace, every rate in [0, 1].

    Attributes:
        symbolizability: pi, share of claims that state a supported relation.
        unknown_rate: nu, share of expressible claims that are unknown; 0 if there are none.
        determinacy: d, share of expressible claims that are decided; 0 if there are none.
        applicability: delta = pi d, share of all claims that are decided.
        unparsed: 1 if no claim states a supported relation, else 0.
    """

    symbolizability: float
    unknown_rate: float
    determinacy: float
    applicability: float
    unparsed: int


def determinacy_profile(parsed: Sequence[bool], verdicts: Sequence[Verdict]) -> Profile:
    """Compute the profile of a trace.

    Args:
        parsed: Whether each claim states a supported relation (a_k).
        verdicts: Each claim's verdict (tau_k, or not evaluable).
    """
    return _profile(
        parsed,
        [float(verdict.determinate) for verdict in verdicts],
        [float(verdict is Verdict.UNKNOWN) for verdict in verdicts],
    )


def discounted_profile(
    parsed: Sequence[bool], verdicts: Sequence[Verdict], claim_premises: Sequence[Sequence[int]]
) -> Profile:
    """Compute a profile in which the penalty for an unverified premise carries over to dependent
    claims. The appendix on assumed and grounded contexts leaves this extension open.

    A decided claim counts as much as the weakest claim among its premises, and fully if all of its
    premises are in the scene. An unknown claim counts 0. The loss of the decided claims is added to
    the unknown rate, so that d = 1 - nu - nu_no still holds.

    Args:
        parsed: Whether each claim states a supported relation.
        verdicts: Each claim's verdict.
        claim_premises: For each claim, the numbers, from 1, of earlier claims among its premises.
    """
    weights: list[float] = []
    for verdict, premises in zip(verdicts, claim_premises, strict=True):
        resting = min((weights[number - 1] for number in premises), default=1.0)
        weights.append(resting if verdict.determinate else 0.0)
    unknown = [
        0.0 if verdict is Verdict.NOT_EVALUABLE else 1.0 - weight
        for verdict, weight in zip(verdicts, weights, strict=True)
    ]
    return _profile(parsed, weights, unknown)


def _profile(parsed: Sequence[bool], decided: Sequence[float], unknown: Sequence[float]) -> Profile:
    count = sum(parsed)
    if not count:
        return Profile(0.0, 0.0, 0.0, 0.0, 1)
    symbolizability = count / len(parsed)
    rate = sum(u for a, u in zip(parsed, unknown, strict=True) if a) / count
    total = sum(d for a, d in zip(parsed, decided, strict=True) if a)
    return Profile(symbolizability, rate, total / count, total / len(parsed), 0)
