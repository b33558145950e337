"""Counts over audits, for the table at the end of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from symbouq.auditing.messages import claim_text
from symbouq.auditing.verdicts import Verdict
from symbouq.records import Trace

SAMPLED = 8
"""Number of undecided traces to keep; the first ones are kept."""
NAMED = 10
"""Number of contradicted traces to name; the first ones are named."""
_SNIPPET = 60
"""Maximum length of a quoted claim in characters."""
_LARGEST = 60
"""Maximum number of claims in a kept trace, which every profile audits again."""
_LONGEST = 8_000
"""Maximum number of characters in a kept trace, which every profile reads again."""

_TEXT = {
    "id",
    "scene",
    "question",
    "answer_space",
    "reasoning",
    "conclusion",
    "response",
    "dataset",
}
"""Fields that affect the reading of a trace."""


class Undecided(NamedTuple):
    """Trace with claims that are neither entailed nor contradicted.

    Attributes:
        trace: Fields of `symbouq.records.Trace` that the audit reads.
        profile: The profile of its audit.
        claims: Number of claims.
        decided: Number of entailed or contradicted claims.
        read: Number of claims and scene sentences with relations.
    """

    trace: dict[str, Any]
    profile: str
    claims: int
    decided: int
    read: int


class Wrong(NamedTuple):
    """Position of a trace, with the number, the beginning and the premises of its first
    contradicted claim.
    """

    file: str
    line: int
    claim: int
    text: str
    premises: str


@dataclass
class Summary:
    """Counts over audits; summaries can be added.

    Attributes:
        traces: Number of traces.
        feasible: Number of feasible scenes.
        claims: Number of claims.
        parsed: Number of claims with a supported relation.
        decided: Number of claims that are entailed or contradicted, as relations or labels.
        assumed: Number of parsed claims by verdict in the assumed context.
        grounded: Number of parsed claims by verdict in the grounded context.
        stated: Maps a profile and relation, such as "nine-way overlap", to the number of plain-text
            scenes that state this relation. Scenes from datasets do not count, because their words
            may have other senses.
        truncated: Number of truncated or empty traces.
        contradicted: Number of traces with a contradicted claim.
        wrong: The first traces with a contradicted claim.
        undecided: The first plain-text traces with undecided claims.
    """

    traces: int = 0
    feasible: int = 0
    claims: int = 0
    parsed: int = 0
    decided: int = 0
    assumed: Counter[str] = field(default_factory=Counter)
    grounded: Counter[str] = field(default_factory=Counter)
    stated: Counter[str] = field(default_factory=Counter)
    truncated: int = 0
    contradicted: int = 0
    wrong: list[Wrong] = field(default_factory=list)
    undecided: list[Undecided] = field(default_factory=list)

    @classmethod
    def of(cls, audit: Mapping[str, Any], trace: Trace | None = None, keep: bool = True) -> Summary:
        """Count one audit (a dictionary).

        Args:
            audit: The audit.
            trace: The audited trace.
            keep: Whether to keep the trace if it is undecided.
        """
        parsed = [claim for claim in audit["claims"] if claim["relations"]]
        wrong = _wrong(audit)
        return cls(
            traces=1,
            feasible=int(audit["scene"]["feasible"]),
            claims=len(audit["claims"]),
            parsed=len(parsed),
            decided=decided(audit),
            assumed=Counter(claim["verdict"] for claim in parsed),
            grounded=Counter(claim["grounded_verdict"] for claim in parsed),
            stated=_stated(audit, trace),
            truncated=int(audit.get("truncated", False)),
            contradicted=len(wrong),
            wrong=wrong,
            undecided=_undecided(audit, trace) if trace is not None and keep else [],
        )

    @classmethod
    def total(cls, summaries: Iterable[Summary]) -> dict[str, Any]:
        """Sum summaries, without their traces, as JSON values."""
        total = cls()
        for summary in summaries:
            total.add(summary)
        return {name: value for name, value in vars(total).items() if name != "undecided"}

    @classmethod
    def from_total(cls, total: Mapping[str, Any]) -> Summary:
        """Restore a summary from its `total`."""
        counts = {name: Counter(total[name]) for name in ("assumed", "grounded", "stated")}
        return cls(
            **{**total, **counts, "wrong": [Wrong(*each) for each in total.get("wrong", ())]}
        )

    def add(self, other: Summary) -> None:
        """Add the counts of another summary."""
        self.traces += other.traces
        self.feasible += other.feasible
        self.claims += other.claims
        self.parsed += other.parsed
        self.decided += other.decided
        self.assumed += other.assumed
        self.grounded += other.grounded
        self.stated += other.stated
        self.truncated += other.truncated
        self.contradicted += other.contradicted
        self.wrong = (self.wrong + other.wrong)[:NAMED]
        self.undecided = (self.undecided + other.undecided)[:SAMPLED]

    def shares(self, counts: Counter[str]) -> dict[Verdict, float]:
        """Return verdict counts as shares, in the order of the verdicts."""
        total = counts.total() or 1
        return {verdict: counts[verdict] / total for verdict in Verdict}


class Summaries:
    """Summaries of one worker's audits. At most as many traces are kept as for a whole run, because
    a worker's later traces also come later in the run.
    """

    def __init__(self) -> None:
        self._left = SAMPLED

    def of(self, audit: Mapping[str, Any], trace: Trace) -> Summary:
        """Summarize one audit."""
        summary = Summary.of(audit, trace, keep=bool(self._left))
        self._left -= len(summary.undecided)
        return summary


def _stated(audit: Mapping[str, Any], trace: Trace | None) -> Counter[str]:
    """Count the relations that a scene states, with the profile, if the scene is plain text and has
    no dataset.
    """
    if trace is None or trace.structured or trace.dataset:
        return Counter()
    profile = audit["ontology"]["profile"]
    relations = {relation["relation"] for relation in audit["scene"]["relations"]}
    return Counter(f"{profile} {relation}" for relation in relations)


def _wrong(audit: Mapping[str, Any]) -> list[Wrong]:
    for claim in audit["claims"]:
        if claim["verdict"] == Verdict.CONTRADICTED:
            text = claim_text(claim)
            if len(text) > _SNIPPET:
                text = text[:_SNIPPET].rstrip() + " ..."
            file, line = ((audit["source"] or {}).get(of) for of in ("file", "line"))
            premises = ", ".join(premise.replace(":", " ") for premise in claim["premises"])
            return [Wrong(file or "", line or 0, claim["index"], text, premises)]
    return []


def decided(audit: Mapping[str, Any]) -> int:
    """Return the number of claims in an audit that are entailed or contradicted."""
    return sum(
        claim["verdict"] in (Verdict.ENTAILED, Verdict.CONTRADICTED) for claim in audit["claims"]
    )


def parts_read(audit: Mapping[str, Any]) -> int:
    """Return the number of claims and scene sentences that have relations."""
    sentences = {relation["sentence"] for relation in audit["scene"]["relations"]}
    return len(sentences) + sum(bool(claim["relations"]) for claim in audit["claims"])


def _undecided(audit: Mapping[str, Any], trace: Trace) -> list[Undecided]:
    """Return the trace if another reading of its words might decide an undecided claim."""
    claims, settled = len(audit["claims"]), decided(audit)
    if settled == claims or claims > _LARGEST or trace.structured or trace.readings is not None:
        return []
    fields = trace.model_dump(include=_TEXT, exclude_none=True)
    if len(str(fields)) > _LONGEST:
        return []
    profile = audit["ontology"]["profile"]
    return [Undecided(fields, profile, claims, settled, parts_read(audit))]
