"""Guarantees for traces from large models: how many traces are accepted, and how many of these are
wrong.

    python experiments/guarantee_table.py --data FOLDER [--cache FILE] [--jobs N] [--only NAME]

Half of a dataset's scenes, chosen by hash, are used for `fit --guarantee`, which uses half of these
scenes for calibration. Predictions are made for the traces about the remaining scenes. In the first
setting, all answering models occur on both sides. In the second, the traces of each model are
predicted after fitting on the traces of the other models, so their distribution differs from that
of the calibration traces. The cache is the same as for `transfer_table.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from common import counted, table
from transfer_table import Known, fold_of, readers, sets_of, sets_options

from symbouq.reliability.model import fit
from symbouq.reliability.reading import Composition

LEVELS = (0.05, 0.1)
COMPARED: tuple[Composition, ...] = ("paper", "worlds")


def line(
    name: str, fitted: Sequence[Known], rest: Sequence[Known], view: Composition, level: float
) -> list[object]:
    """Make a row of the table."""
    seen = [trace.readings[view] for trace in fitted]
    right = [trace.right for trace in fitted]
    model = fit(seen, right, view, readers()[1].ontology_hash, level=level)
    found = model.predict([trace.readings[view] for trace in rest])
    taken = [t for t, row in zip(rest, found, strict=True) if row["accepted"]]
    wrong = counted(sum(1 - trace.right for trace in taken), len(taken)) if taken else "-"
    given = model.guarantee
    assert given is not None
    threshold = "none" if given.threshold is None else f"{given.threshold:.3f}"
    calibrated = f"{given.wrong} of {given.accepted}, {given.scenes} scenes"
    base = f"{1 - sum(trace.right for trace in rest) / len(rest):.0%}"
    return [name, view, level, calibrated, threshold, counted(len(taken), len(rest)), base, wrong]


def lines(sets: dict[str, list[Known]]) -> Iterator[list[object]]:
    for name, traces in sets.items():
        known = [trace for trace in traces if fold_of(trace.scene, 2)]
        new = [trace for trace in traces if not fold_of(trace.scene, 2)]
        models = sorted({trace.model for trace in traces})
        for model in [None, *(models if len(models) > 1 else [])]:
            fitted = [trace for trace in known if trace.model != model]
            rest = [trace for trace in new if model in (None, trace.model)]
            for view in COMPARED:
                for level in LEVELS:
                    held = f"{name}, {model} new" if model else name
                    yield line(held, fitted, rest, view, level)


@click.command()
@sets_options
def main(data: Path, cache: Path | None, jobs: int, size: int, only: tuple[str, ...]) -> None:
    """Print the table as Markdown."""
    table(
        "traces | composition | level | calibration: wrong of accepted | threshold | accepted | "
        "wrong of all | wrong of accepted",
        lines(sets_of(data, cache, jobs, size, only)),
    )


if __name__ == "__main__":
    main()
