"""`symbouq rules diff`: which verdicts a change of the rules flips, and which part of the
change is responsible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import clingo

from symbouq.compare import Flip, flips
from symbouq.errors import OntologyError, RecordError
from symbouq.ontology import OntologyLibrary
from symbouq.pipeline import TraceAuditor
from symbouq.records import Trace
from symbouq.source import Place, Source, shown
from symbouq.stream import Job, Work, process

BUILTIN = "builtin"
"""The name by which the built-in ontology is compared."""


@dataclass(frozen=True)
class Change:
    """One fact or rule that only one of two ontologies has.

    Attributes:
        added: Whether the new one has it.
        text: The statement.
        place: Where it stands.
    """

    added: bool
    text: str
    place: Place

    def __str__(self) -> str:
        sign = "+" if self.added else "-"
        return f"{sign} {shown(self.place.file)}:{self.place.line}: {self.text}"


@dataclass
class Example:
    """A flip with the changes that bring it about by themselves."""

    flip: Flip
    because: tuple[Change, ...]


@dataclass
class Difference:
    """What a change of the rules flips over a corpus.

    Attributes:
        changes: The statements in which the ontologies differ.
        traces: How many traces were audited.
        claims: How many claims the new ontology has in them.
        flipped: How many traces have a flip.
        counts: How often each kind of flip occurs.
        examples: Examples of each kind.
        failed: Records that could not be audited, with the reason.
    """

    changes: tuple[Change, ...]
    traces: int = 0
    claims: int = 0
    flipped: int = 0
    counts: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    examples: dict[tuple[str, str, bool], list[Example]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The difference as a JSON object."""
        return {
            "traces": self.traces,
            "claims": self.claims,
            "flipped_traces": self.flipped,
            "changes": [str(change) for change in self.changes],
            "flips": [
                {
                    "before": before,
                    "after": after,
                    "only_grounded": grounded,
                    "count": count,
                    "examples": [
                        {**asdict(e.flip), "because": [str(change) for change in e.because]}
                        for e in self.examples[before, after, grounded]
                    ],
                }
                for (before, after, grounded), count in self.counts.most_common()
            ],
            "failed": self.failed,
        }


def library(name: str) -> OntologyLibrary:
    """The ontology of a folder, or the built-in one by its name."""
    return OntologyLibrary(None if name == BUILTIN else name)


def difference(
    old: str,
    new: str,
    corpus: Sequence[str],
    profile: str | None = None,
    examples: int = 3,
    jobs: int | None = None,
    advance: Callable[[], None] = lambda: None,
) -> Difference:
    """Audits a corpus under two ontologies and collects what differs.

    Args:
        old: Folder of the old ontology, or `builtin`.
        new: Folder of the new one, or `builtin`.
        corpus: Trace files.
        profile: Profile for every trace; else each ontology's own choice.
        examples: How many examples of each kind of flip to keep and explain.
        jobs: Number of processes.
        advance: Called after each trace.

    Raises:
        OntologyError: If an ontology or the profile cannot be used.
    """
    before, after = library(old), library(new)
    found = Difference(changes(before.source, after.source))
    kept: dict[tuple[str, str, bool], list[tuple[Flip, Trace]]] = {}
    job = Job(differing, (old, new, profile), Trace)
    job.setup(*job.arguments)  # wrong options end the run before it starts
    for outcome in process(corpus, job, jobs):
        advance()
        if outcome.output is None:
            found.failed.append(f"{outcome.file}:{outcome.number}: {outcome.error}")
            continue
        claims, here, trace = outcome.summary
        found.traces += 1
        found.claims += claims
        found.flipped += bool(here)
        for flip in here:
            found.counts[flip.kind] += 1
            some = kept.setdefault(flip.kind, [])
            if len(some) < examples:
                some.append((flip, trace))
    explain = _Explainer(before.source, after.source, found.changes, profile)
    for kind, some in kept.items():
        found.examples[kind] = [Example(flip, explain(flip, trace)) for flip, trace in some]
    return found


def differing(old: str, new: str, profile: str | None) -> Work:
    """A worker that audits a trace under two ontologies and keeps what differs."""
    auditors = [TraceAuditor(profile, library(name)) for name in (old, new)]

    def work(trace: Trace, file: str, line: int) -> tuple[dict[str, Any], Any]:
        first, second = (auditor.audited(trace, file, line) for auditor in auditors)
        here = list(flips(first, second))
        return {}, (len(second["claims"]), here, trace if here else None)

    return work


def changes(old: Source, new: Source) -> tuple[Change, ...]:
    """The statements in which two ontologies differ: removed ones, then added ones."""
    removed = _statements(old)
    added = _statements(new)
    return tuple(
        Change(kind, text, place)
        for kind, here, there in ((False, removed, added), (True, added, removed))
        for text, place in here.items()
        if text not in there
    )


def _statements(source: Source) -> dict[str, Place]:
    facts = {f"{fact}.": place for fact, place in source.facts.items()}
    return {**facts, **{str(rule.statement): rule.place for rule in source.rules}}


class _Explainer:
    """Finds the changes that bring a flip about: a minimal set of them with which the old
    ontology gives the new verdict.
    """

    def __init__(
        self, old: Source, new: Source, changed: tuple[Change, ...], profile: str | None
    ) -> None:
        self._old = old
        self._new = new
        self._changed = changed
        self._profile = profile
        self._auditor = lru_cache(maxsize=64)(self._variant)

    def __call__(self, flip: Flip, trace: Trace) -> tuple[Change, ...]:
        needed = list(self._changed)
        size = max(1, len(needed) // 2)
        # Leaves out ever smaller groups that the flip does not need.
        while needed:
            for start in range(0, len(needed), size):
                rest = needed[:start] + needed[start + size :]
                if self._flips(frozenset(rest), flip, trace):
                    needed = rest
                    break
            else:
                if size == 1:
                    break
                size = max(1, size // 2)
            size = min(size, max(1, len(needed)))
        return tuple(needed)

    def _flips(self, some: frozenset[Change], flip: Flip, trace: Trace) -> bool:
        try:
            old, variant = self._auditor(frozenset()), self._auditor(some)
            found = flips(old.audited(trace), variant.audited(trace))
            return any(f.claim == flip.claim and f.kind == flip.kind for f in found)
        except (OntologyError, RecordError):
            return False

    def _variant(self, some: frozenset[Change]) -> TraceAuditor:
        """The old ontology with some of the changes."""
        gone = {change.text for change in some if not change.added}
        come = {change.text for change in some if change.added}
        source = Source(
            facts={
                **_kept(self._old.facts, lambda text: text not in gone),
                **_kept(self._new.facts, lambda text: text in come),
            },
            rules=[
                *(r for r in self._old.rules if str(r.statement) not in gone),
                *(r for r in self._new.rules if str(r.statement) in come),
            ],
            extended=self._new.extended or self._old.extended,
        )
        return TraceAuditor(self._profile, OntologyLibrary.of(source, "variant", ""))


def _kept(
    facts: dict[clingo.Symbol, Place], wanted: Callable[[str], bool]
) -> dict[clingo.Symbol, Place]:
    return {fact: place for fact, place in facts.items() if wanted(f"{fact}.")}
