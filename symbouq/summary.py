"""Counts over many audits, for the table that ends a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from symbouq.auditor import Verdict


@dataclass
class Summary:
    """Counts over audits; two of them add up.

    Attributes:
        traces: How many traces.
        feasible: How many of their scenes are feasible.
        claims: How many claims.
        parsed: How many of them state a supported relation.
        conditional: How many have a conditional verdict.
        assumed: Parsed claims by verdict under the assumed context.
        grounded: Parsed claims by verdict under the grounded context.
        conclusions: Conclusions by verdict under the grounded context.
        rule: Sum of the Constraint-Rule scores.
    """

    traces: int = 0
    feasible: int = 0
    claims: int = 0
    parsed: int = 0
    conditional: int = 0
    assumed: Counter[str] = field(default_factory=Counter)
    grounded: Counter[str] = field(default_factory=Counter)
    conclusions: Counter[str] = field(default_factory=Counter)
    rule: float = 0.0

    @classmethod
    def of(cls, audit: dict[str, Any]) -> Summary:
        """The counts of one audit in its dictionary form."""
        parsed = [claim for claim in audit["claims"] if claim["relations"]]
        last = audit["claims"][-1:]
        return cls(
            traces=1,
            feasible=int(audit["scene"]["feasible"]),
            claims=len(audit["claims"]),
            parsed=len(parsed),
            conditional=sum(claim["conditional"] for claim in parsed),
            assumed=Counter(claim["verdict"] for claim in parsed),
            grounded=Counter(claim["grounded_verdict"] for claim in parsed),
            conclusions=Counter(claim["grounded_verdict"] for claim in last),
            rule=audit["constraint_rule"],
        )

    def add(self, other: Summary) -> None:
        """Adds another summary's counts to this one."""
        self.traces += other.traces
        self.feasible += other.feasible
        self.claims += other.claims
        self.parsed += other.parsed
        self.conditional += other.conditional
        self.assumed += other.assumed
        self.grounded += other.grounded
        self.conclusions += other.conclusions
        self.rule += other.rule

    def shares(self, counts: Counter[str]) -> dict[Verdict, float]:
        """Verdict counts as shares, in the order of the verdicts."""
        total = counts.total() or 1
        return {verdict: counts[verdict] / total for verdict in Verdict}
