"""Scenes as people and models write them (`README.md`), under the profile `everyday`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from symbouq.auditing.auditor import TraceAuditor
from symbouq.records import Trace, make_record

SCENES = [
    json.loads(line)
    for line in (Path(__file__).parent / "scenes.jsonl").read_text("utf-8").splitlines()
]
LOOKED_AT = 70
AUDITOR = TraceAuditor(profile="everyday")


class Figures(NamedTuple):
    """Entailed and contradicted claims, how many of them are found, determinate verdicts and how
    many of them are wrong.
    """

    claims: int
    found: int
    determinate: int
    wrong: int


def _squeezed(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


def _verdicts(row: dict[str, Any]) -> list[tuple[str, str | None]]:
    """The verdict of a careful reader on each claim, and that of the audit."""
    told = {key: row[key] for key in ("id", "scene", "question", "response")}
    claims = AUDITOR.audited(make_record(Trace, told))["claims"]
    found: list[tuple[str, str | None]] = []
    at = 0
    for claim in row["claims"]:
        wanted = _squeezed(claim["text"])
        texts = (_squeezed(c["text"]) for c in claims[at:])
        here = next(
            (n for n, t in enumerate(texts, at) if t and (wanted in t or t in wanted)), None
        )
        at = at if here is None else here
        verdict = None if here is None else claims[here]["grounded_verdict"]
        found.append((claim["gold"], verdict))
    return found


def figures(rows: list[dict[str, Any]]) -> Figures:
    counts: Counter[str] = Counter()
    for row in rows:
        for gold, verdict in _verdicts(row):
            determinate = verdict in ("entailed", "contradicted")
            counts["claims"] += gold in ("entailed", "contradicted")
            counts["found"] += determinate and verdict == gold
            counts["determinate"] += determinate
            counts["wrong"] += determinate and verdict != gold
    return Figures(*(counts[name] for name in Figures._fields))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (SCENES[:LOOKED_AT], Figures(453, 117, 119, 2)),
        (SCENES[LOOKED_AT:], Figures(67, 9, 10, 1)),
    ],
    ids=["looked at", "wrong ones looked at"],
)
def test_verdicts(rows: list[dict[str, Any]], expected: Figures) -> None:
    assert figures(rows) == expected
