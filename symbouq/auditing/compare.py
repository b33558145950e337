"""Differences between two audits of one trace, and between two files of audits: the
verdicts that flip.
"""

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
"""Of a flip: from what, to what, and whether only under the scene alone."""


@dataclass(frozen=True)
class Flip:
    """One verdict that differs.

    Attributes:
        id: Id of the trace.
        file: The file that it is in, where it came from one.
        line: Its line there.
        claim: Number of the claim, from 1; 0 for the scene.
        text: The claim's text or relations.
        before: The verdict in the first audit; `unread` where it has no relation,
            `absent` where there is no such claim, `feasible` or `contradictory` for a
            scene.
        after: The same in the second.
        grounded: Whether it is only the grounded verdict that differs.
        was: The message in the first audit.
        now: The message in the second.
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
        """From what to what, and whether only under the scene alone."""
        return self.before, self.after, self.grounded


@dataclass
class Flips:
    """How verdicts flip over many traces.

    Attributes:
        traces: How many traces were compared.
        claims: How many claims the second audits have in them.
        flipped: How many traces have a flip.
        counts: How often each kind of flip occurs.
        conclusions: Verdicts of the conclusion, in the first and in the second audit, each
            under the audit's own context, to how many traces.
    """

    traces: int = 0
    claims: int = 0
    flipped: int = 0
    counts: Counter[Kind] = field(default_factory=Counter)
    conclusions: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, claims: int, ends: tuple[str, str], here: Sequence[Flip]) -> None:
        """Counts a trace.

        Args:
            claims: How many claims the second audit has.
            ends: The verdicts of its conclusion.
            here: The trace's flips.
        """
        self.traces += 1
        self.claims += claims
        self.flipped += bool(here)
        self.counts.update(flip.kind for flip in here)
        self.conclusions[ends] += 1

    def described(self, examples: Mapping[Kind, Sequence[dict[str, Any]]]) -> dict[str, Any]:
        """The counts as a JSON object, the most frequent kind first, each with examples."""
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
    """The differences between two audits of one trace, the scene first, then claims in
    order. Claims are matched by their texts, so that another segmentation is no flip of
    all that follows.

    A verdict is the assumed one, and where only the grounded one differs, that; of audits
    with different contexts each one's own.
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
    """The differences between the audits of two responses to one question: the scene, and
    the conclusion under each audit's own context.
    """
    yield from _scene_flips(first, second)
    a, b = (audit["claims"][-1] if audit["claims"] else None for audit in (first, second))
    flip = _flip(_common(second), a, b, (first["context"], second["context"]))
    if flip is not None:
        yield flip


def endings(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[str, str]:
    """The verdicts of two audits' conclusions, each under its audit's own context."""
    before, after = (
        verdict(audit["claims"][-1] if audit["claims"] else None, audit["context"])
        for audit in (first, second)
    )
    return before, after


def same_response(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether two audits are of one response, however it was cut into claims."""
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
    """A claim's verdict under a context, `unread` or `absent`."""
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
    """The flip between two claims' verdicts, each under a context; None where there is none."""
    before, after = verdict(a, contexts[0]), verdict(b, contexts[1])
    if before == after:
        return None
    shown = b or a or {}
    # Messages are about assumed verdicts: beside another context's, they would mislead.
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
"""An audit in the shape of `symbouq.records.Audit`."""

Each = Callable[[Point | None, Point | None, Sequence[Flip]], None]
"""Takes what is compared: the points of two audits, None where there is none, and what flips."""


def nothing(_first: Point | None, _second: Point | None, _here: Sequence[Flip]) -> None:
    """Takes what is compared and lets it go."""


@dataclass
class Comparison(Flips):
    """The differences between two files of audits.

    Attributes:
        same: How many traces have one response in both files, so that all claims are
            compared; of the others, the scene and the conclusion.
        only: How many traces only the first, and only the second file has.
        examples: Flips of each kind, the first ones.
        failed: Lines that are no audit, with the reason.
    """

    same: int = 0
    only: tuple[int, int] = (0, 0)
    examples: dict[Kind, list[Flip]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    @property
    def differ(self) -> bool:
        """Whether the files differ at all, as far as they can be read."""
        return bool(self.counts or any(self.only) or self.failed)

    def as_json(self) -> dict[str, Any]:
        """The comparison as a JSON object."""
        examples = {kind: list(map(asdict, some)) for kind, some in self.examples.items()}
        return {
            **self.described(examples),
            "same_response": self.same,
            "only_first": self.only[0],
            "only_second": self.only[1],
            "failed": self.failed,
        }


def comparison(first: str, second: str, examples: int = 3, each: Each = nothing) -> Comparison:
    """Compares two files of audits, trace by trace.

    Traces belong together by their ids (where an id comes again, in the order in which it
    does). The files are read side by side: of files in one order, one pair is in memory.

    Args:
        first: What `symbouq audit` wrote.
        second: The same, of other rules, another context or another model.
        examples: How many examples of each kind of flip to keep.
        each: Called with each trace.
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
    """The audits of two files that belong together, as soon as both are there."""
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
