"""Find verdicts that a change to the rules flips, and the part of the change that is responsible:
`symbouq rules diff`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import clingo

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.compare import Each, Flip, Flips, Kind, endings, flips, nothing
from symbouq.auditing.overview import Point
from symbouq.errors import OntologyError, RecordError
from symbouq.io.stream import Job, Work, process
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.source import Place, Source, shown
from symbouq.records import Trace

BUILTIN = "builtin"
"""Name of the built-in ontology in comparisons."""


@dataclass(frozen=True)
class Change:
    """A fact or rule that differs between two ontologies.

    Attributes:
        before: The old statement; empty if the statement is new.
        after: The new statement; empty if the statement is gone.
        place: Place of the statement, in the new ontology if it is there.
    """

    before: str
    after: str
    place: Place

    def __str__(self) -> str:
        where = f"{shown(self.place.file)}:{self.place.line}"
        if self.before and self.after:
            return f"~ {where}: {self.before} -> {self.after}"
        return f"{'+' if self.after else '-'} {where}: {self.after or self.before}"


@dataclass
class Example:
    """A flip with the changes that cause it."""

    flip: Flip
    because: tuple[Change, ...]


@dataclass
class Difference(Flips):
    """Verdicts on a corpus that change with the rules.

    Attributes:
        changes: Statements that differ between the ontologies.
        examples: Examples of each kind of flip.
        failed: Records that could not be audited, with reasons.
    """

    changes: tuple[Change, ...] = ()
    examples: dict[Kind, list[Example]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the difference as a JSON object."""
        examples = {
            kind: [{**asdict(e.flip), "because": list(map(str, e.because))} for e in some]
            for kind, some in self.examples.items()
        }
        return {
            **self.described(examples),
            "changes": [str(change) for change in self.changes],
            "failed": self.failed,
        }


def library(name: str) -> OntologyLibrary:
    """Return the ontology of a folder, or the built-in one for the name `builtin`."""
    return OntologyLibrary(None if name == BUILTIN else name)


def difference(
    old: str,
    new: str,
    corpus: Sequence[str],
    profile: str | None = None,
    examples: int = 3,
    jobs: int | None = None,
    advance: Callable[[], None] = lambda: None,
    each: Each = nothing,
) -> Difference:
    """Audit a corpus of trace files under two ontologies (folders, or `builtin`) and collect the
    differences.

    Up to `examples` flips of each kind are kept and explained. `advance` is called after each
    record, and `each` for each trace.

    Raises:
        OntologyError: If an ontology or the profile cannot be used.
    """
    before, after = library(old), library(new)
    result = Difference(changes=changes(before.source, after.source))
    kept: dict[Kind, list[tuple[Flip, Trace]]] = {}
    job = Job(differing, (old, new, profile), Trace)
    job.setup(*job.arguments)  # report invalid options before the run starts
    for outcome in process(corpus, job, jobs):
        advance()
        if outcome.output is None:
            result.failed.append(f"{outcome.file}:{outcome.number}: {outcome.error}")
            continue
        claims, ends, (first, second), here, trace = outcome.summary
        result.count(claims, ends, here)
        each(first, second, here)
        for flip in here:
            some = kept.setdefault(flip.kind, [])
            if len(some) < examples:
                some.append((flip, trace))
    explain = _Explainer(before.source, after.source, result.changes, profile)
    for kind, some in kept.items():
        result.examples[kind] = [Example(flip, explain(flip, trace)) for flip, trace in some]
    return result


def differing(old: str, new: str, profile: str | None) -> Work:
    """Return a worker that audits a trace under two ontologies and keeps the differences."""
    auditors = [TraceAuditor(profile, library(name)) for name in (old, new)]

    def work(trace: Trace, file: str, line: int) -> tuple[dict[str, Any], Any]:
        first, second = (auditor.audited(trace, file, line) for auditor in auditors)
        here = list(flips(first, second))
        points = Point.of(first), Point.of(second)
        ends = endings(first, second)
        return {}, (len(second["claims"]), ends, points, here, trace if here else None)

    def ahead(traces: Sequence[Trace]) -> None:
        for auditor in auditors:
            auditor.ahead(traces)

    return Work(work, ahead)


def changes(old: Source, new: Source) -> tuple[Change, ...]:
    """Return the statements that differ between two ontologies: edited facts, which differ in one
    argument, then removed and new ones.
    """
    removed, added = (
        {f"{fact}.": (fact, place) for fact, place in one.facts.items() if fact not in other.facts}
        for one, other in ((old, new), (new, old))
    )
    edited: list[Change] = []
    for text, (fact, _) in list(removed.items()):
        other = next((t for t, (f, _) in added.items() if _differ_in_one(fact, f)), None)
        if other is not None:
            edited.append(Change(text, other, added.pop(other)[1]))
            del removed[text]
    rules = [{str(rule.statement): rule.place for rule in source.rules} for source in (old, new)]
    gone = {text: place for text, (_, place) in removed.items()}
    gone |= {text: place for text, place in rules[0].items() if text not in rules[1]}
    come = {text: place for text, (_, place) in added.items()}
    come |= {text: place for text, place in rules[1].items() if text not in rules[0]}
    return (
        *edited,
        *(Change(text, "", place) for text, place in gone.items()),
        *(Change("", text, place) for text, place in come.items()),
    )


def _differ_in_one(first: clingo.Symbol, second: clingo.Symbol) -> bool:
    a, b = first.arguments, second.arguments
    if first.name != second.name or len(a) != len(b) or len(a) < 2:
        return False
    return sum(x != y for x, y in zip(a, b, strict=True)) == 1


class _Explainer:
    """Finder of a minimal set of changes with which the old ontology gives the new verdict."""

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
        # Drop groups of changes that are not needed for the flip, first large groups, then small
        # ones.
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
            others = flips(old.audited(trace), variant.audited(trace))
            return any(f.claim == flip.claim and f.kind == flip.kind for f in others)
        except (OntologyError, RecordError):
            return False

    def _variant(self, some: frozenset[Change]) -> TraceAuditor:
        gone = {change.before for change in some}
        come = {change.after for change in some}
        old, new = self._old, self._new
        facts = {fact: place for fact, place in old.facts.items() if f"{fact}." not in gone}
        facts |= {fact: place for fact, place in new.facts.items() if f"{fact}." in come}
        rules = [rule for rule in old.rules if str(rule.statement) not in gone]
        rules += [rule for rule in new.rules if str(rule.statement) in come]
        extended = (new if _chooses(some) else old).extended
        source = Source(facts=facts, rules=rules, extended=extended)
        return TraceAuditor(self._profile, OntologyLibrary.of(source, "variant", ""))


def _chooses(some: frozenset[Change]) -> bool:
    statements = (text for change in some for text in (change.before, change.after))
    return any(text.startswith(("extends(", "default_profile(")) for text in statements)
