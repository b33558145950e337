"""Code shared by the experiments."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from symbouq import metrics

data_option: Callable[..., Any] = click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    envvar="SYMBOUQ_DATA",
    required=True,
    help="Folder of the benchmarks.",
)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Read the records in a compressed JSON Lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def gold(row: dict[str, Any]) -> frozenset[str]:
    """Return the labels in a row's gold answer."""
    answer = row["answer"]
    return frozenset([answer] if isinstance(answer, str) else answer)


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Compute the area under the ROC curve. Ties count half. Return NaN if there is only one
    class.
    """
    area = metrics.auroc(np.asarray(scores, float), np.asarray(labels, int))
    return float("nan") if area is None else area


def cluster_weights(clusters: Sequence[str]) -> NDArray[np.float64]:
    """Return how often each item is drawn when whole clusters are resampled, `[metrics.RESAMPLES,
    items]`.

    Args:
        clusters: Cluster of each item.
    """
    names, of = np.unique(clusters, return_inverse=True)
    count = len(names)
    drawn = np.random.default_rng(2026).multinomial(
        count, np.full(count, 1 / count), metrics.RESAMPLES
    )
    return drawn[:, of].astype(np.float64)


def table(header: str, body: Iterable[Sequence[object]], left: int = 0) -> None:
    """Print a Markdown table, row by row.

    Args:
        header: Names of the columns, separated by `|`.
        body: Cells of each row.
        left: Number of columns before the columns with numbers. Columns with numbers are aligned to
            the right; 0: no alignment.
    """
    marks = ["---:" if 0 < left <= n else "---" for n in range(header.count("|") + 1)]
    print(f"| {header} |\n|{'|'.join(marks)}|")
    for cells in body:
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


def counted(count: int, total: int) -> str:
    """Format a count with its share."""
    return f"{count} ({share(count, total)})"


def share(count: float, total: float) -> str:
    """Format a share in percent; a dash if the total is 0."""
    return f"{count / total:.1%}" if total else "-"


def f1_cells(right: int, read: int, recalled: int, wanted: int) -> list[str]:
    """Format precision, recall and F1."""
    precision, recall = right / read, recalled / wanted
    f1 = 2 * precision * recall / (precision + recall)
    return [f"{value:.3f}" for value in (precision, recall, f1)]
