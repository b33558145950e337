"""Tests whether scores depend on the reasoning or on the answer, by changing traces.

    python experiments/force_table.py --data FOLDER --cache FILE [--size N] [--only NAME]

As in FORCE and REMOVE (arXiv 2605.08346), each trace is written as its claims and its answer, and
then scored again:

- FORCE: with another answer: the right answer if the trace's answer is wrong, otherwise the answer
  of another trace to the same question, or another label;
- REMOVE: with only the answer;
- SHUFFLE: with its reasoning in a different order.

FORCE shows the share of pairs in which the trace with the right answer has a higher score than the
trace with the wrong answer (ties count half). This is 1 if the score depends only on the answer,
and 0.5 if it ignores the answer. REMOVE and SHUFFLE show the remaining AUROC. The scores are the
same as in `transfer_table.py`, and its `--cache` file is used. Models are fitted on traces about
two thirds of the scenes. N traces about the other scenes are changed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
import transfer_table as real
from common import data_option, gold, table

from symbouq.metrics import auroc
from symbouq.reliability.model import fit
from symbouq.reliability.reading import COMPOSITIONS

SHOWN = tuple(name for name in real.METHODS if name != "consistency")
WAYS = ("plain", "force", "remove", "shuffle")


def other(row: real.Row, said: frozenset[str], given: Sequence[frozenset[str]]) -> frozenset[str]:
    """Choose a different answer for a trace. It is right if the trace's answer is wrong.

    Args:
        row: The trace.
        said: The labels that the trace delivers.
        given: The delivered answers of all traces about the question.
    """
    if said != gold(row):
        return gold(row)
    chance = random.Random(row["id"])
    wrong = [answer for answer in given if answer and answer != said]
    return chance.choice(wrong or [frozenset([x]) for x in row["answer_space"] if {x} != said])


def changed(
    row: real.Row, claims: Sequence[str], said: frozenset[str], forced: frozenset[str]
) -> Iterator[tuple[real.Row, frozenset[str]]]:
    """Yield a trace changed in each of WAYS, with the labels that the changed trace delivers."""
    bare = {key: value for key, value in row.items() if key != "response"}
    shuffled = random.Random(row["id"]).sample(claims, len(claims))
    for steps, labels in ((claims, said), (claims, forced), ([], said), (shuffled, said)):
        ordered = [label for label in row["answer_space"] if label in labels]
        yield {**bare, "reasoning": list(steps), "conclusion": ", ".join(ordered)}, labels


def scores(
    traces: Sequence[real.Known], found: Sequence[real.Scored]
) -> dict[str, list[float | None]]:
    """Compute all scores for some traces with models fitted on others.

    Args:
        traces: Traces to fit on.
        found: Traces to score.
    """
    table: dict[str, list[float | None]] = {
        name: [one.unfitted[name] for one in found] for name in SHOWN if name not in COMPOSITIONS
    }
    for name in COMPOSITIONS:
        known, new = [t.readings[name] for t in traces], [one.readings[name] for one in found]
        labels = [trace.right for trace in traces]
        model = fit(known, labels, name, real.readers()[1].ontology_hash)
        table[name] = model.composer.predict(model.evidence(new)[0]).tolist()
    return table


def rows_of(name: str, data: Path, traces: Sequence[real.Known], size: int) -> list[list[Any]]:
    """Return the rows for one set: each score, with its result after each change."""
    fitted = [trace for trace in traces if real.fold_of(trace.scene)]
    rest = {t.id: t for t in traces if not real.fold_of(t.scene) and t.said}
    chosen = {*random.Random(2026).sample(sorted(rest), min(size, len(rest)))}
    asked: dict[str, list[frozenset[str]]] = {}
    for trace in traces:
        asked.setdefault(trace.question, []).append(trace.said)
    found: list[real.Scored] = []
    right: list[int] = []
    for row in (row for row in real.SETS[name](data) if row["id"] in chosen):
        trace = rest[row["id"]]
        audit = real.readers()[1].auditor.audited(real.unlabelled(row))
        claims = [claim["text"] for claim in audit["claims"][:-1]]
        forced = other(row, trace.said, asked[trace.question])
        each = [
            real.scored(
                real.unlabelled(version), labels, len(" ".join(version["reasoning"]).split())
            )
            for version, labels in changed(row, claims, trace.said, forced)
        ]
        if None not in each:
            found += [one for one in each if one]
            right.append(trace.right)
    y = np.array(right)
    lines = []
    for method, values in scores(fitted, found).items():
        plain, force, remove, shuffle = np.array(values, np.float64).reshape(-1, len(WAYS)).T
        better = np.where(y == 1, plain - force, force - plain)
        follows = float(np.mean(np.sign(better) + 1) / 2)
        areas = [auroc(some, y) for some in (plain, remove, shuffle)]
        told = ["-" if area is None else f"{area:.3f}" for area in areas]
        lines.append([name, f"{len(y)}", method, told[0], f"{follows:.3f}", *told[1:]])
    return lines


@click.command()
@data_option
@click.option("--cache", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--size", default=150, help="Traces of a set that are changed.")
@click.option("--only", type=click.Choice(list(real.SETS)), multiple=True, help="Sets of traces.")
def main(data: Path, cache: Path, size: int, only: tuple[str, ...]) -> None:
    """Print the table as Markdown."""
    names = only or [name for name in real.SETS if name != "2D consistency"]
    sets = real.sets_of(data, cache, 1, real.MOST, names)
    table(
        "set | traces | score | AUROC | FORCE | REMOVE | SHUFFLE",
        (line for name, traces in sets.items() for line in rows_of(name, data, traces, size)),
    )


if __name__ == "__main__":
    main()
