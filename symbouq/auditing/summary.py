"""Counts over many audits, for the table that ends a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from symbouq.auditing.messages import claim_text
from symbouq.auditing.verdicts import Verdict
from symbouq.records import Trace

SAMPLED = 8
"""Undecided traces that a summary keeps, the first ones."""
NAMED = 10
"""Contradicted traces that a summary names, the first ones."""
_SNIPPET = 60
"""Most characters of a claim that is quoted."""
_LARGEST = 60
"""Most claims of a trace that is kept: each profile audits all of them again."""
_LONGEST = 8_000
"""Most characters of its texts: each profile reads all of them again."""

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
"""Fields of a trace that its reading depends on."""


class Undecided(NamedTuple):
    """A trace some of whose claims are neither entailed nor contradicted.

    Attributes:
        trace: The fields of `symbouq.records.Trace` that its audit reads.
        profile: The profile that it was audited with.
        claims: How many claims it has.
        decided: How many of them are entailed or contradicted.
        read: How many claims, and sentences of its scene, have relations.
    """

    trace: dict[str, Any]
    profile: str
    claims: int
    decided: int
    read: int


class Wrong(NamedTuple):
    """Place of a trace; number, beginning and premises of its first contradicted claim."""

    file: str
    line: int
    claim: int
    text: str
    premises: str


@dataclass
class Summary:
    """Counts over audits; two of them add up.

    Attributes:
        traces: How many traces.
        feasible: How many of their scenes are feasible.
        claims: How many claims.
        parsed: How many of them state a supported relation.
        decided: How many are entailed or contradicted, in relations or as a label.
        assumed: Parsed claims by verdict under the assumed context.
        grounded: Parsed claims by verdict under the grounded context.
        stated: Profile and relation, "nine-way overlap", to how many scenes in words, of no data
            set, state it: words may have another sense in the texts of a data set.
        truncated: How many traces were cut off, or are empty.
        contradicted: How many traces have a contradicted claim.
        wrong: The first of these.
        undecided: The first traces in words that have undecided claims.
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
        """The counts of one audit in its dictionary form.

        Args:
            audit: The audit.
            trace: What was audited.
            keep: Whether it is kept where it is undecided.
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
        """The sum of summaries, without the traces, as JSON values."""
        total = cls()
        for summary in summaries:
            total.add(summary)
        return {name: value for name, value in vars(total).items() if name != "undecided"}

    @classmethod
    def from_total(cls, total: Mapping[str, Any]) -> Summary:
        """A summary from its `total`."""
        counts = {name: Counter(total[name]) for name in ("assumed", "grounded", "stated")}
        return cls(
            **{**total, **counts, "wrong": [Wrong(*each) for each in total.get("wrong", ())]}
        )

    def add(self, other: Summary) -> None:
        """Adds another summary's counts to this one."""
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
        """Verdict counts as shares, in the order of the verdicts."""
        total = counts.total() or 1
        return {verdict: counts[verdict] / total for verdict in Verdict}


class Summaries:
    """The summaries of one worker's audits. No more of them keep their trace than a whole run does:
    what comes later in a worker comes later in the run.
    """

    def __init__(self) -> None:
        self._left = SAMPLED

    def of(self, audit: Mapping[str, Any], trace: Trace) -> Summary:
        """The summary of one audit."""
        summary = Summary.of(audit, trace, keep=bool(self._left))
        self._left -= len(summary.undecided)
        return summary


def _stated(audit: Mapping[str, Any], trace: Trace | None) -> Counter[str]:
    """Profile and relations that a scene in words, of no data set, states."""
    if trace is None or trace.structured or trace.dataset:
        return Counter()
    profile = audit["ontology"]["profile"]
    relations = {relation["relation"] for relation in audit["scene"]["relations"]}
    return Counter(f"{profile} {relation}" for relation in relations)


def _wrong(audit: Mapping[str, Any]) -> list[Wrong]:
    """The trace, if a claim of it is contradicted."""
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
    """How many claims of an audit are entailed or contradicted."""
    return sum(
        claim["verdict"] in (Verdict.ENTAILED, Verdict.CONTRADICTED) for claim in audit["claims"]
    )


def parts_read(audit: Mapping[str, Any]) -> int:
    """How many claims, and sentences of the scene, have relations."""
    sentences = {relation["sentence"] for relation in audit["scene"]["relations"]}
    return len(sentences) + sum(bool(claim["relations"]) for claim in audit["claims"])


def _undecided(audit: Mapping[str, Any], trace: Trace) -> list[Undecided]:
    """The trace, if some of its claims are undecided and its words, read otherwise, might decide
    them.
    """
    claims, settled = len(audit["claims"]), decided(audit)
    if settled == claims or claims > _LARGEST or trace.structured or trace.readings is not None:
        return []
    fields = trace.model_dump(include=_TEXT, exclude_none=True)
    if len(str(fields)) > _LONGEST:
        return []
    profile = audit["ontology"]["profile"]
    return [Undecided(fields, profile, claims, settled, parts_read(audit))]
