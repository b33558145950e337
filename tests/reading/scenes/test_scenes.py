"""Scenes as people and models write them (`README.md`), under the profile `everyday`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from symbouq.auditing.auditor import TraceAuditor
from symbouq.records import Trace, make_record

FOLDER = Path(__file__).parent
AT_ONCE = 16
"""Scenes whose sentences are read together."""
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


def rows_of(file: str, first: int, end: int) -> list[dict[str, Any]]:
    lines = (FOLDER / f"{file}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines[first:end]]


def _verdicts(row: dict[str, Any], trace: Trace) -> list[tuple[str, str | None]]:
    """The verdict of a careful reader on each claim, and that of the audit."""
    claims = AUDITOR.audited(trace)["claims"]
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
    keys = ("id", "scene", "question", "response")
    traces = [make_record(Trace, {key: row[key] for key in keys}) for row in rows]
    for n, (row, trace) in enumerate(zip(rows, traces, strict=True)):
        if n % AT_ONCE == 0:
            AUDITOR.ahead(traces[n : n + AT_ONCE])
        for gold, verdict in _verdicts(row, trace):
            determinate = verdict in ("entailed", "contradicted")
            counts["claims"] += gold in ("entailed", "contradicted")
            counts["found"] += determinate and verdict == gold
            counts["determinate"] += determinate
            counts["wrong"] += determinate and verdict != gold
    return Figures(*(counts[name] for name in Figures._fields))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "first", "end", "expected"),
    [
        ("scenes", 0, 70, Figures(453, 102, 103, 1)),
        ("scenes", 70, 80, Figures(67, 9, 9, 0)),
        ("others", 0, 40, Figures(229, 43, 44, 1)),
        ("fresh", 0, 34, Figures(181, 58, 59, 1)),
        ("fresh", 34, 78, Figures(229, 64, 66, 2)),
        ("traps", 0, 72, Figures(249, 58, 61, 3)),
    ],
)
def test_verdicts(file: str, first: int, end: int, expected: Figures) -> None:
    assert figures(rows_of(file, first, end)) == expected
