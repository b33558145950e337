"""What differs between two audits of one trace: the verdicts that flip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

CONTRADICTORY = "contradictory"
FEASIBLE = "feasible"
ABSENT = "absent"
UNREAD = "unread"


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
    def kind(self) -> tuple[str, str, bool]:
        """From what to what, and whether only under the scene alone."""
        return self.before, self.after, self.grounded


def flips(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Flip]:
    """The differences between two audits of one trace, the scene first, then claims in
    order. Claims are matched by their texts, so that another segmentation is no flip of
    all that follows.
    """
    place = second["source"] or {"file": None, "line": None}
    common = (str(second["id"]), place["file"], place["line"])
    scenes = [
        FEASIBLE if audit["scene"]["feasible"] else CONTRADICTORY for audit in (first, second)
    ]
    if scenes[0] != scenes[1]:
        messages = [audit["scene"]["message"] for audit in (first, second)]
        yield Flip(*common, 0, "the scene", scenes[0], scenes[1], False, *messages)
    for a, b in _matched(first["claims"], second["claims"]):
        before, after = verdict(a), verdict(b)
        if before != after:
            yield _flip(common, a, b, before, after, False)
        elif a is not None and b is not None and a["grounded_verdict"] != b["grounded_verdict"]:
            yield _flip(common, a, b, a["grounded_verdict"], b["grounded_verdict"], True)


def verdict(claim: Mapping[str, Any] | None) -> str:
    """A claim's verdict under the assumed context, `unread` or `absent`."""
    if claim is None:
        return ABSENT
    return str(claim["verdict"]) if claim["relations"] else UNREAD


def _flip(
    common: tuple[str, str | None, int | None],
    a: Mapping[str, Any] | None,
    b: Mapping[str, Any] | None,
    before: str,
    after: str,
    grounded: bool,
) -> Flip:
    shown = b or a or {}
    return Flip(
        *common,
        shown["index"],
        shown["text"] or "; ".join(map(_spelled, shown["relations"])),
        before,
        after,
        grounded,
        a["message"] if a else "",
        b["message"] if b else "",
    )


def _spelled(relation: Mapping[str, str]) -> str:
    return f"{relation['subject']} {relation['relation']} {relation['object']}"


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
