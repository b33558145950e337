"""Differences between two audits of a trace, or between two files of audits."""

from __future__ import annotations

import shlex
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from symbouq.auditing.messages import relation_text
from symbouq.auditing.overview import Point
from symbouq.auditing.verdicts import verdict_in
from symbouq.errors import RecordError, SymboUQError
from symbouq.io.stream import read_lines
from symbouq.records import Audit, parse_record

CONTRADICTORY = "contradictory"
FEASIBLE = "feasible"
ABSENT = "absent"
UNREAD = "unread"

Kind = tuple[str, str, bool]
"""Kind of a flip: verdict before, verdict after, and whether only the grounded verdict differs."""


@dataclass(frozen=True)
class Flip:
    """A verdict that differs between two audits.

    Attributes:
        id: Id of the trace.
        file: File of the trace, if any.
        line: Line of the trace in that file.
        claim: Number of the claim, from 1; 0 for the scene.
        text: Text or relations of the claim.
        before: Verdict in the first audit, or `unread` (no relation), `absent` (no such claim), or
            `feasible` or `contradictory` for a scene.
        after: Verdict in the second audit, likewise.
        grounded: Whether only the grounded verdict differs.
        was: Message in the first audit.
        now: Message in the second audit.
    """

    id: str
    file: str | None
    line: int | None
    claim: int
    text: str
    before: str
    after: str
    grounded: bool
    was: str
    now: str

    @property
    def kind(self) -> Kind:
        """Kind of the flip: verdict before, verdict after, and whether only the grounded verdict
        differs.
        """
        return self.before, self.after, self.grounded


@dataclass
class Flips:
    """Counts of flips over many traces.

    Attributes:
        traces: Number of traces compared.
        claims: Number of claims in the second audits.
        flipped: Number of traces with a flip.
        counts: Number of flips of each kind.
        conclusions: Number of traces for each pair of the conclusion's verdicts, each verdict in
            its audit's own context.
    """

    traces: int = 0
    claims: int = 0
    flipped: int = 0
    counts: Counter[Kind] = field(default_factory=Counter)
    conclusions: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, claims: int, ends: tuple[str, str], here: Sequence[Flip]) -> None:
        """Add a trace to the counts.

        Args:
            claims: Number of claims in the second audit.
            ends: The two verdicts on its conclusion.
            here: Flips of the trace.
        """
        self.traces += 1
        self.claims += claims
        self.flipped += bool(here)
        self.counts.update(flip.kind for flip in here)
        self.conclusions[ends] += 1

    def described(self, examples: Mapping[Kind, Sequence[dict[str, Any]]]) -> dict[str, Any]:
        """Return the counts as a JSON object: the most frequent kind first, each with examples."""
        return {
            "traces": self.traces,
            "claims": self.claims,
            "flipped_traces": self.flipped,
            "flips": [
                {
                    "before": before,
                    "after": after,
                    "only_grounded": grounded,
                    "count": count,
                    "examples": list(examples.get((before, after, grounded), ())),
                }
                for (before, after, grounded), count in self.counts.most_common()
            ],
            "conclusions": [
                {"before": before, "after": after, "count": count}
                for (before, after), count in sorted(self.conclusions.items())
            ],
        }


def flips(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Flip]:
    """Yield the differences between two audits of a trace: the scene first, then claims in order.

    Claims are matched by text, so that a different segmentation does not shift all later claims. A
    flip is a change of the assumed verdict or, if this does not change, of the grounded verdict. If
    the audits have different contexts, each audit's verdicts are taken from its own context.
    """
    yield from _scene_flips(first, second)
    common = _common(second)
    own = first["context"], second["context"]
    alike = own[0] == own[1]
    for a, b in _matched(first["claims"], second["claims"]):
        flip = _flip(common, a, b, ("assumed", "assumed") if alike else own)
        if flip is None and alike and a is not None and b is not None:
            flip = _flip(common, a, b, ("grounded", "grounded"))
        if flip is not None:
            yield flip


def answer_flips(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Flip]:
    """Yield the differences between audits of two responses to a question: scene and conclusion."""
    yield from _scene_flips(first, second)
    a, b = (audit["claims"][-1] if audit["claims"] else None for audit in (first, second))
    flip = _flip(_common(second), a, b, (first["context"], second["context"]))
    if flip is not None:
        yield flip


def endings(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[str, str]:
    """Return the verdicts on both audits' conclusions, each in its audit's own context."""
    before, after = (
        verdict(audit["claims"][-1] if audit["claims"] else None, audit["context"])
        for audit in (first, second)
    )
    return before, after


def same_response(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether two audits are of the same response, regardless of how it was split into claims."""
    texts = [
        "".join("".join(c["text"].split()) for c in audit["claims"]) for audit in (first, second)
    ]
    if any(texts):
        return texts[0] == texts[1]
    stated = [
        [list(map(relation_text, c["relations"])) for c in a["claims"]] for a in (first, second)
    ]
    return stated[0] == stated[1]


def verdict(claim: Mapping[str, Any] | None, context: str = "assumed") -> str:
    """Return the verdict on a claim in a context, or `unread` or `absent`."""
    if claim is None:
        return ABSENT
    if not claim["relations"]:
        return UNREAD
    return verdict_in(claim, context)


def _common(audit: Mapping[str, Any]) -> tuple[str, str | None, int | None]:
    place = audit["source"] or {}
    return str(audit["id"]), place.get("file"), place.get("line")


def _scene_flips(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Flip]:
    scenes = [
        FEASIBLE if audit["scene"]["feasible"] else CONTRADICTORY for audit in (first, second)
    ]
    if scenes[0] != scenes[1]:
        messages = [audit["scene"]["message"] for audit in (first, second)]
        yield Flip(*_common(second), 0, "the scene", scenes[0], scenes[1], False, *messages)


def _flip(
    common: tuple[str, str | None, int | None],
    a: Mapping[str, Any] | None,
    b: Mapping[str, Any] | None,
    contexts: tuple[str, str],
) -> Flip | None:
    before, after = verdict(a, contexts[0]), verdict(b, contexts[1])
    if before == after:
        return None
    shown = b or a or {}
    # Messages explain assumed verdicts. They would be misleading next to a verdict in another
    # context.
    mixed = contexts[0] != contexts[1]
    messages = (
        "" if claim is None or (mixed and said != verdict(claim)) else claim["message"]
        for claim, said in ((a, before), (b, after))
    )
    return Flip(
        *common,
        shown["index"],
        shown["text"] or "; ".join(map(relation_text, shown["relations"])),
        before,
        after,
        contexts == ("grounded", "grounded"),
        *messages,
    )


def _matched(
    first: list[dict[str, Any]], second: list[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any] | None, dict[str, Any] | None]]:
    if len(first) == len(second):
        yield from zip(first, second, strict=True)
        return
    matcher = SequenceMatcher(
        None, [c["text"] for c in first], [c["text"] for c in second], autojunk=False
    )
    for _, i, k, j, m in matcher.get_opcodes():
        for n in range(max(k - i, m - j)):
            yield (
                first[i + n] if i + n < k else None,
                second[j + n] if j + n < m else None,
            )


# Two files -------------------------------------------------------------------------------

Audited = dict[str, Any]
"""Audit, in the shape of `symbouq.records.Audit`."""

Each = Callable[[Point | None, Point | None, Sequence[Flip]], None]
"""Callback for each compared trace. It receives the trace's data from both files (None if missing)
and the flips.
"""


def nothing(_first: Point | None, _second: Point | None, _here: Sequence[Flip]) -> None:
    """Do nothing with a compared trace."""


@dataclass
class Comparison(Flips):
    """Differences between two files of audits.

    Attributes:
        same: Number of traces that have the same response in both files. These are compared claim
            by claim.
        only: Number of traces only in the first file, and number only in the second.
        examples: The first flips of each kind.
        failed: Reasons why lines are not audits.
    """

    same: int = 0
    only: tuple[int, int] = (0, 0)
    examples: dict[Kind, list[Flip]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    @property
    def differ(self) -> bool:
        """Whether the files differ, as far as they could be read."""
        return bool(self.counts or any(self.only) or self.failed)

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as a JSON object."""
        examples = {kind: list(map(asdict, some)) for kind, some in self.examples.items()}
        return {
            **self.described(examples),
            "same_response": self.same,
            "only_first": self.only[0],
            "only_second": self.only[1],
            "failed": self.failed,
        }


def comparison(first: str, second: str, examples: int = 3, each: Each = nothing) -> Comparison:
    """Compare two files of audits, trace by trace.

    Traces are matched by id; repeated ids are matched in order. The files are read in parallel, so
    if their order is the same, only one pair is in memory at a time.

    Args:
        first: Output of `symbouq audit`.
        second: Output with other rules, another context or another model.
        examples: Number of examples to keep for each kind of flip.
        each: Called for each trace.
    """
    found = Comparison()
    for a, b in _paired(first, second, found.failed):
        here: list[Flip] = []
        if a is None or b is None:
            found.only = (found.only[0] + (b is None), found.only[1] + (a is None))
        else:
            same = same_response(a, b)
            here = list((flips if same else answer_flips)(a, b))
            found.same += same
            found.count(len(b["claims"]), endings(a, b), here)
        for flip in here:
            some = found.examples.setdefault(flip.kind, [])
            if len(some) < examples:
                some.append(flip)
        each(Point.of(a) if a else None, Point.of(b) if b else None, here)
    return found


def _paired(
    first: str, second: str, failed: list[str]
) -> Iterator[tuple[Audited | None, Audited | None]]:
    """Yield matching audits from two files, each pair as soon as both are read."""
    waiting: tuple[dict[str, deque[Audited]], dict[str, deque[Audited]]] = ({}, {})
    for pair in zip_longest(_audits(first, failed), _audits(second, failed)):
        for side, audit in enumerate(pair):
            if audit is None:
                continue
            identity = audit["id"]
            others = waiting[1 - side].get(identity)
            if others is None:
                waiting[side].setdefault(identity, deque()).append(audit)
                continue
            other = others.popleft()
            if not others:
                del waiting[1 - side][identity]
            yield (other, audit) if side else (audit, other)
    for side, left in enumerate(waiting):
        for audits in left.values():
            for audit in audits:
                yield (None, audit) if side else (audit, None)


def _audits(file: str, failed: list[str]) -> Iterator[Audited]:
    bare: SymboUQError | None = None
    audits = 0
    for item in read_lines(file):
        if isinstance(item, RecordError):
            failed.append(str(item))
            continue
        try:
            yield parse_record(Audit, item.content, item.file, item.number).model_dump()
            audits += 1
        except RecordError as error:
            failed.append(str(error))
            foreign = b'"constraint_rule"' not in item.content
            if bare is None and foreign and item.content.rstrip().endswith(b"}"):
                command = f"symbouq audit {shlex.quote(file)} --out audits.jsonl"
                told = f"not an audit; run `{command}`, and compare what that writes"
                bare = SymboUQError(told, item.file, item.number)
    if bare is not None and not audits:
        raise bare
