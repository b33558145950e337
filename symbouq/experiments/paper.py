"""The numbers of the paper's tables, to stand next to ours (`paper.csv`, from its LaTeX source)."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

_FIELDS = ("table", "backbone", "dataset", "method", "metric")


@cache
def _numbers() -> dict[tuple[str, ...], str]:
    with Path(__file__).with_name("paper.csv").open(encoding="utf-8", newline="") as stream:
        return {
            tuple(row[field] for field in _FIELDS): row["value"] for row in csv.DictReader(stream)
        }


def paper_number(
    table: str, metric: str, *, backbone: str = "", dataset: str = "", method: str = ""
) -> str | None:
    """A number that the paper reports; None where it reports nothing of these names.

    Args:
        table: Its table.
        metric: Its column.
        backbone: The model, where the table has one.
        dataset: The benchmark, where the table has one.
        method: The method, where the table has one.
    """
    return _numbers().get((table, backbone, dataset, method, metric))
