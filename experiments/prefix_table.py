"""Measures how early in a trace it becomes clear whether the answer will be right.

    python experiments/prefix_table.py --data FOLDER [--size N] [--only NAME]

The table shows the AUROC of Constraint-Rule after each tenth of a trace's reasoning, without the
answer (as `symbouq audit --follow` prints it), and for the whole trace. From each set, N traces are
drawn at random. The traces and labels are the same as in `transfer_table.py`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import Any

import click
import transfer_table as real
from common import auroc, data_option, gold, table

from symbouq.auditing.score import constraint_rule
from symbouq.auditing.verdicts import Verdict
from symbouq.errors import RecordError

TENTHS = range(1, 11)


def so_far(claims: list[dict[str, Any]]) -> float:
    """Compute Constraint-Rule from claims before the conclusion."""
    unread = {"relations": [], "verdict": "unknown", "repair_cost": 0}
    told = [*claims, unread]
    return constraint_rule(
        [bool(claim["relations"]) for claim in told],
        [Verdict(claim["verdict"]) for claim in told],
        [claim["repair_cost"] for claim in told],
    )


def row_of(name: str, data: Path, size: int) -> Iterator[str]:
    """Yield the cells for one set."""
    given = [*real.SETS[name](data)]
    auditor = real.readers()[0].auditor
    scores: list[list[float]] = []
    labels: list[bool] = []
    for row in random.Random(2026).sample(given, min(size, len(given))):
        try:
            audit = auditor.audited(real.unlabelled(row))
        except RecordError:
            continue
        steps = audit["claims"][:-1]
        if steps:
            begun = [so_far(steps[: ceil(len(steps) * tenth / 10)]) for tenth in TENTHS]
            scores.append([*begun, audit["constraint_rule"]])
            labels.append(real.extracted(row["response"], row["answer_space"]) == gold(row))
    yield from (name, str(len(labels)))
    for column in zip(*scores, strict=True):
        yield f"{auroc(column, labels):.3f}"


@click.command()
@data_option
@click.option("--size", default=300, help="Traces of a set.")
@click.option("--only", type=click.Choice(list(real.SETS)), multiple=True, help="Sets of traces.")
def main(data: Path, size: int, only: tuple[str, ...]) -> None:
    """Print the table as Markdown."""
    columns = " | ".join(f"{tenth}/10" for tenth in TENTHS)
    names = only or [name for name in real.SETS if name != "2D consistency"]
    table(
        f"set | traces | {columns} | with the answer", (row_of(name, data, size) for name in names)
    )


if __name__ == "__main__":
    main()
