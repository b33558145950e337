"""Counts over many audits, for the table that ends a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from symbouq.auditing.verdicts import Verdict


@dataclass
class Summary:
    """Counts over audits; two of them add up.

    Attributes:
        traces: How many traces.
        feasible: How many of their scenes are feasible.
        claims: How many claims.
        parsed: How many of them state a supported relation.
        assumed: Parsed claims by verdict under the assumed context.
        grounded: Parsed claims by verdict under the grounded context.
    """

    traces: int = 0
    feasible: int = 0
    claims: int = 0
    parsed: int = 0
    assumed: Counter[str] = field(default_factory=Counter)
    grounded: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, audit: Mapping[str, Any]) -> Summary:
        """The counts of one audit in its dictionary form."""
        parsed = [claim for claim in audit["claims"] if claim["relations"]]
        return cls(
            traces=1,
            feasible=int(audit["scene"]["feasible"]),
            claims=len(audit["claims"]),
            parsed=len(parsed),
            assumed=Counter(claim["verdict"] for claim in parsed),
            grounded=Counter(claim["grounded_verdict"] for claim in parsed),
        )

    @classmethod
    def total(cls, summaries: Iterable[Summary]) -> dict[str, Any]:
        """The sum of summaries, as JSON values."""
        total = cls()
        for summary in summaries:
            total.add(summary)
        return vars(total)

    @classmethod
    def from_total(cls, total: Mapping[str, Any]) -> Summary:
        """A summary from its `total`."""
        counts = {name: Counter(total[name]) for name in ("assumed", "grounded")}
        return cls(**{**total, **counts})

    def add(self, other: Summary) -> None:
        """Adds another summary's counts to this one."""
        self.traces += other.traces
        self.feasible += other.feasible
        self.claims += other.claims
        self.parsed += other.parsed
        self.assumed += other.assumed
        self.grounded += other.grounded

    def shares(self, counts: Counter[str]) -> dict[Verdict, float]:
        """Verdict counts as shares, in the order of the verdicts."""
        total = counts.total() or 1
        return {verdict: counts[verdict] / total for verdict in Verdict}
