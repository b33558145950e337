"""The source-tuning grid of the learned scorers (Table search-space).

Training for fewer epochs gives the same intermediate results as training for more. So each
combination of width, loss and learning rate is trained only once, for the largest number of epochs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.bank.fitted import fingerprint
from symbouq.evidence.scorers.base import Labelled
from symbouq.evidence.scorers.learned import Learned
from symbouq.evidence.scorers.registry import entry
from symbouq.evidence.scorers.settings import LossName, Settings


@dataclass(frozen=True)
class Grid:
    """Values to try for each setting. The defaults are those in the paper."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    width: tuple[Annotated[int, Field(ge=4, multiple_of=4)], ...] = (64, 128, 256, 512)
    loss: tuple[LossName, ...] = ("bce", "balanced")
    learning_rate: tuple[Annotated[float, Field(gt=0)], ...] = (2e-5, 2e-4, 2e-3)
    epochs: tuple[Annotated[int, Field(ge=1)], ...] = (20, 30, 40)

    def __len__(self) -> int:
        return prod(map(len, asdict(self).values()))


@dataclass(frozen=True)
class Tried:
    """Result for one point of the grid.

    Attributes:
        auroc: Largest AUROC on source validation over the epochs.
        epoch: Epoch that reached this AUROC, counted from 1.
        seconds: Training time.
        data: Hash of the data and of the fixed settings.
    """

    name: str
    settings: Settings
    auroc: float
    epoch: int
    seconds: float = field(compare=False)
    data: str

    @property
    def point(self) -> str:
        """Describe the point by its value for each setting in the grid."""
        return ", ".join(f"{axis} {getattr(self.settings, axis)}" for axis in asdict(Grid()))


def sweep(
    name: str,
    train: Sequence[Labelled],
    validation: Sequence[Labelled],
    out: str | Path,
    grid: Grid | None = None,
    base: Settings | None = None,
) -> Iterator[Tried]:
    """Train a learned scorer at every point of a grid that is not yet in the file `out`.

    Results are appended to `out`, a JSON Lines file. `base` holds the settings that are the same
    for all points.

    Yields:
        The results for all points of the grid, including those already in the file.

    Raises:
        SymboUQError: If the scorer is not learned, or a split is empty or lacks a class.
    """
    kind = entry(name)
    if not issubclass(kind, Learned):
        raise SymboUQError(f"{kind.name} is not learned: there is nothing to tune")
    grid, base = grid or Grid(), base or Settings()
    fixed = replace(base, **{key: getattr(Settings(), key) for key in asdict(grid)})
    data = fingerprint(train, validation, fixed)
    done = [row for row in read_sweep(out) if (row.name, row.data) == (kind.name, data)]
    path = Path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    for width, loss, rate in product(grid.width, grid.loss, grid.learning_rate):
        settings = replace(base, width=width, loss=loss, learning_rate=rate)
        points = [replace(settings, epochs=epochs) for epochs in grid.epochs]
        there = {row.settings: row for row in done if row.settings in points}
        if len(there) == len(points):
            yield from (there[point] for point in points)
            continue
        scorer = kind(replace(settings, epochs=max(grid.epochs)))
        started = time.monotonic()
        scorer.fit(train, validation)
        seconds = round(time.monotonic() - started, 2)
        areas = [epoch.auroc for epoch in scorer.history]
        rows = []
        for point in points:
            best = max(areas[: point.epochs])
            rows.append(Tried(kind.name, point, best, areas.index(best) + 1, seconds, data))
        with path.open("a", encoding="utf-8") as stream:
            stream.writelines(json.dumps(asdict(row)) + "\n" for row in rows)
        yield from rows


def read_sweep(path: str | Path) -> list[Tried]:
    """Read the results written by `sweep`. An incomplete last line is ignored. A missing file
    counts as empty.

    Raises:
        SymboUQError: If any other line is invalid.
    """
    file = Path(path)
    if not file.exists():
        return []
    text = file.read_text(encoding="utf-8")
    if text and not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1]
        file.write_text(text, encoding="utf-8")
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            row = json.loads(line)
            rows.append(Tried(**row | {"settings": Settings(**row["settings"])}))
        except (KeyError, TypeError, ValueError) as error:
            raise SymboUQError(f"not a row of a sweep: {error}", str(file), number) from error
    return rows


def best_of(rows: Sequence[Tried], name: str) -> Tried:
    """Return the scorer's point with the largest AUROC. If several tie, return the one closest to
    the paper's defaults, or else the first.

    Raises:
        SymboUQError: If the scorer has no points.
    """
    own = [row for row in rows if row.name == entry(name).name]
    if not own:
        raise SymboUQError(f"the sweep has no {entry(name).name}")
    defaults = asdict(Settings())

    def usual(row: Tried) -> int:
        return sum(defaults[key] == value for key, value in asdict(row.settings).items())

    return max(own, key=lambda row: (row.auroc, usual(row)))


def tuned(path: str | Path, name: str) -> Settings:
    """Return the settings of a scorer's best point in a file written by `sweep`; the defaults if
    the scorer has no points.

    Raises:
        SymboUQError: If a line is not a valid result.
    """
    rows = [row for row in read_sweep(path) if row.name == name]
    return best_of(rows, name).settings if rows else Settings()
