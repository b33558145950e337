"""Measures how much it helps to select the best of several answers by logic.

    python experiments/best_of_table.py --run runs/laptop

The table covers the validation and test traces of all backbones in an experiment's run, with their
samples. For each dataset, it shows how often the following answers are right: the most probable one
(`first`), the most frequent one (`majority`), the one selected by `symbouq select`, and any of the
answers (`oracle`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import click
from common import table

from symbouq.auditing.correctness import answer_label
from symbouq.auditing.selection import best_of
from symbouq.evidence.signals.traces import readable_records
from symbouq.experiments.runner import DONE
from symbouq.records import Trace, make_record
from symbouq.reliability.jobs import selecting

TEXT = ("response", "reasoning", "conclusion", "generation")


def stages(run: Path, kind: str) -> Iterator[Path]:
    """Return the folders of the finished stages of the given kind."""
    return (mark.parent for mark in sorted(run.glob(f"{kind}-*/{DONE}")))


def questions(run: Path) -> dict[str, dict[str, Any]]:
    """Return all questions with their answers, by id."""
    found: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for folder in stages(run, "questions"):
        for file in folder.glob("*.jsonl"):
            for record in readable_records(file):
                found[record["id"]] |= record
    return found


def candidates(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all answers of a trace: its own answer and the sampled answers."""
    shared = {name: value for name, value in trace.items() if name not in TEXT}
    samples = ({**shared, **s, "generation": {"status": s["status"]}} for s in trace["samples"])
    return [trace, *samples]


@click.command()
@click.option("--run", type=click.Path(exists=True, path_type=Path), required=True)
def main(run: Path) -> None:
    """Print the table."""
    asked, select = questions(run), selecting(None, None, None).each
    rows: defaultdict[str, list[tuple[int, int, int, int]]] = defaultdict(list)
    for folder in stages(run, "traces"):
        for record in readable_records(folder / "traces.jsonl"):
            trace = {**asked[record["id"]], **record}
            if not trace["samples"]:
                continue  # a trace of the training split
            answers = candidates(trace)
            right = [answer_label({**a, "answer": trace["answer"]}) or 0 for a in answers]
            _, chosen = select(make_record(Trace, trace), str(folder), 0)
            voted = best_of(answers, [0.0] * len(answers))
            name = str(trace.get("dataset"))
            rows[name].append((right[0], right[voted], right[chosen], max(right)))
    table(
        "dataset | traces | first | majority | selected | oracle",
        (
            [name, len(found), *(f"{fmean(column):.3f}" for column in zip(*found, strict=True))]
            for name, found in rows.items()
        ),
    )


if __name__ == "__main__":
    main()
