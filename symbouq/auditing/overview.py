"""Aggregate figures over audits, for reports and plots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from symbouq.auditing.summary import Summary

BINS = 10
"""Number of bins in a histogram over [0, 1]. All have equal width, and the last one includes 1."""

PROFILE = ("symbolizability", "unknown_rate", "determinacy", "applicability")
"""Shares of the Determinacy Profile shown as histograms."""

MEANS = (*PROFILE, "constraint_rule")
"""Quantities with a reported mean."""

_POINTS = 200
"""Maximum number of points of a curve shown on a page."""


@dataclass(frozen=True)
class Point:
    """One audit's data for an overview.

    Attributes:
        summary: Counts of the audit.
        shares: The Determinacy Profile, by name.
        first: Number of the first claim that makes the context infeasible; 0 if none does.
        score: Constraint-Rule; None for a truncated trace.
        label: Whether the answer is right; None if unknown.
    """

    summary: Summary
    shares: dict[str, float]
    first: int
    score: float | None
    label: bool | None

    @classmethod
    def of(cls, audit: Mapping[str, Any], label: bool | None = None) -> Self:
        """Create the point for an audit (a dictionary)."""
        first = (claim["index"] for claim in audit["claims"] if claim["first_conflict"])
        return cls(
            Summary.of(audit),
            {name: audit["profile"][name] for name in PROFILE},
            next(first, 0),
            audit["constraint_rule"],
            label,
        )


@dataclass
class Overview:
    """Counts over audits, which are added one by one. Memory grows only by one score and one label
    per trace.

    Attributes:
        summary: Traces, claims and verdicts.
        histograms: Maps each share of the profile to the number of traces in each bin.
        conflicts: Maps the number of the first claim that makes the context infeasible to the
            number of such traces. 0 stands for traces without a conflict but with a feasible scene.
        sums: Sums of the profile's shares and of Constraint-Rule.
        scores: Constraint-Rule of each labelled trace.
        labels: For each labelled trace, whether its answer is right.
    """

    summary: Summary = field(default_factory=Summary)
    histograms: dict[str, list[int]] = field(
        default_factory=lambda: {name: [0] * BINS for name in PROFILE}
    )
    conflicts: Counter[int] = field(default_factory=Counter)
    sums: dict[str, float] = field(default_factory=lambda: dict.fromkeys(MEANS, 0.0))
    scores: list[float] = field(default_factory=list)
    labels: list[bool] = field(default_factory=list)

    def add(self, point: Point) -> None:
        """Add one audit to the counts."""
        self.summary.add(point.summary)
        for name, bins in self.histograms.items():
            bins[min(int(point.shares[name] * BINS), BINS - 1)] += 1
        if point.summary.feasible:
            self.conflicts[point.first] += 1
        if point.score is None:
            return
        for name, value in {**point.shares, "constraint_rule": point.score}.items():
            self.sums[name] += value
        if point.label is not None:
            self.scores.append(point.score)
            self.labels.append(point.label)

    def as_json(self) -> dict[str, Any]:
        """Return the figures as a JSON object; `reliability` is None without labels."""
        found = self.summary
        scored = found.traces - found.truncated
        return {
            "traces": found.traces,
            "feasible": found.feasible,
            "claims": found.claims,
            "parsed": found.parsed,
            "assumed": dict(found.assumed),
            "grounded": dict(found.grounded),
            "histograms": self.histograms,
            "truncated": found.truncated,
            "means": {name: total / (scored or 1) for name, total in self.sums.items()},
            "conflicts": sorted(self.conflicts.items()),
            "reliability": self.reliability(),
        }

    def reliability(self) -> dict[str, Any] | None:
        """Measure how well Constraint-Rule separates right from wrong answers; None without labels.

        Returns:
            `count` and `right`, the numbers of labelled and right traces; `bins` of the reliability
            diagram; `curve` of (coverage, risk), thinned; `auroc`, `aurc` and `ece`, None if
            undefined.
        """
        if not self.labels:
            return None
        from symbouq import metrics  # imports numpy, needed only with labels

        curve = metrics.risk_coverage(self.scores, self.labels)
        size = len(curve.coverage)
        shown = sorted({round(n * (size - 1) / (_POINTS - 1)) for n in range(_POINTS)})
        return {
            "count": len(self.labels),
            "right": sum(self.labels),
            "bins": [vars(found) for found in metrics.calibration_bins(self.scores, self.labels)],
            "curve": [[float(curve.coverage[n]), float(curve.risk[n])] for n in shown],
            **{name: metrics.evaluate(name, self.scores, self.labels) for name in _METRICS},
        }


_METRICS = ("auroc", "aurc", "ece")
