"""How well SpaceNLI is answered on patterns that were looked at, and on those that were not.

A pattern (`meta.pattern`) is in half 0 if the first byte of the SHA-256 of its id is even,
else in half 1. Words and rules were made with the validation rows of half 0 alone; half 1 was
then measured once, at commit d3685c4, before any of its rows was looked at:

    validation, 175 rows of 79 patterns: 81.1 % right, 13.7 % wrong, 5.1 % unread
    test, 1,160 rows of the same patterns: 80.8 % right, 13.8 % wrong, 5.4 % unread

What was called entailed or contradicted was so in each of them. Since then half 1 has been
looked at, too, so later figures are of seen patterns. Run with
`python experiments/spacenli_patterns.py --data FOLDER`.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections import Counter
from pathlib import Path

from symbouq.answering import answer
from symbouq.pipeline import TraceAuditor
from symbouq.records import Instance


def half(pattern: str) -> int:
    """The half that a pattern is in, 0 or 1."""
    return hashlib.sha256(pattern.encode()).digest()[0] % 2


def table(path: Path) -> None:
    """Prints the shares of right, wrong and unread answers, and how often a label is right."""
    auditor = TraceAuditor()
    outcomes = {0: Counter[str](), 1: Counter[str]()}
    called: Counter[tuple[str, bool]] = Counter()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            found = answer(auditor, Instance.model_validate(row))
            given = found.answer[0] if found.status == "answered" else ""
            right = given == row["answer"]
            outcome = found.status if not given else "right" if right else "wrong"
            outcomes[half(str(row["meta"]["pattern"]))][outcome] += 1
            called[given, right] += 1
    for number, counts in outcomes.items():
        shares = ", ".join(f"{name} {n / counts.total():.1%}" for name, n in counts.most_common())
        print(f"{path.name}, half {number}, {counts.total()} rows: {shares}")
    for label in ("entailment", "contradiction", "neutral"):
        right, wrong = called[label, True], called[label, False]
        print(f"{path.name}, called {label}: {right} of {right + wrong} right")


def main() -> None:
    """Prints the table of both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the benchmarks")
    folder = parser.parse_args().data / "spacenli"
    for name in ("validation", "test"):
        table(folder / f"spacenli_{name}.jsonl.gz")


if __name__ == "__main__":
    main()
