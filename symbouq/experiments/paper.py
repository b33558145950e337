"""Numbers from the paper's tables, shown next to our results. They are in `paper.csv`, which was
made from the paper's LaTeX source.
"""

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
    """Return a number from a table in the paper; None if the paper does not report it."""
    return _numbers().get((table, backbone, dataset, method, metric))
