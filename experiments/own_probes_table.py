"""Measures how well probes work on a target if they are fitted on traces of this target.

    python experiments/own_probes_table.py experiments/laptop.yaml --run runs/laptop --data FOLDER

In an experiment, probes are fitted only on the source. If they fail on a target, either the probes
do not transfer, or the hidden states contain little useful information. For each backbone and
target, this script compares two AUROCs over the same traces (validation and test). The first is the
AUROC of the source's probes, averaged over seeds. The second is the AUROC of probes that are fitted
on four fifths of these traces and applied to the last fifth, with only the first seed. All traces
about a scene are in the same fifth, and a quarter of the four fifths is used to choose the epoch
and to calibrate. Both AUROCs compare only pairs of traces within the same fifth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import click
from common import data_option, table
from sklearn.model_selection import StratifiedGroupKFold

from symbouq.evidence.scorers import bank
from symbouq.evidence.scorers.base import Labelled
from symbouq.evidence.scorers.registry import SCORERS
from symbouq.evidence.scorers.settings import Settings
from symbouq.experiments.benchmarks.items import scene_key
from symbouq.experiments.config import read_config
from symbouq.experiments.experiment import Experiment
from symbouq.experiments.runner import Work
from symbouq.experiments.stages import Cell, CellStages
from symbouq.metrics import auroc_within

PROBES = [name for name, scorer in SCORERS.items() if scorer.family == "neural"]
FOLDS = 5
PARTS = 4
"""The traces outside a fold are divided into this many parts. One part is used to choose the epoch
and to calibrate."""


def divided(items: Sequence[Labelled], parts: int, seed: int) -> list[list[int]]:
    """Divide labelled traces into parts with similar shares of right answers. Scenes are not
    divided.
    """
    right = [item.correct for item in items]
    scenes = [scene_key(item.example.record["scene"]) for item in items]
    split = StratifiedGroupKFold(parts, shuffle=True, random_state=seed).split(right, right, scenes)
    return [test.tolist() for _, test in split]


def fitted_there(
    name: str, items: Sequence[Labelled], folds: Sequence[Sequence[int]], settings: Settings
) -> list[float]:
    """Score labelled traces with probes fitted on the traces outside their fold."""
    scored: dict[int, float] = {}
    for fold in folds:
        held_back = set(fold)
        others = [item for place, item in enumerate(items) if place not in held_back]
        chosen = set(divided(others, PARTS, settings.seed)[0])
        train = [item for place, item in enumerate(others) if place not in chosen]
        validation = [others[place] for place in sorted(chosen)]
        probe = bank.fit(name, train, validation, settings.seed, settings)
        for place, score in zip(
            fold, bank.scores(probe, [items[place].example for place in fold]), strict=True
        ):
            scored[place] = 0.5 if score.score is None else score.score
    return [scored[place] for place in range(len(items))]


def brought_there(
    made: Experiment, cells: Sequence[CellStages], name: str, items: Sequence[Labelled]
) -> list[list[float]]:
    """Return scores of the same traces from the source's probes, by seed."""
    by_seed: dict[int, dict[str, float]] = {}
    for cell in cells:
        for row in bank.read_scores(made.run.output(cell.scores[None])):
            if row.method == name:
                value = 0.5 if row.score is None else row.score
                by_seed.setdefault(row.seed, {})[row.id] = value
    return [[scores[item.example.id] for item in items] for scores in by_seed.values()]


def labelled(made: Experiment, cell: CellStages) -> list[Labelled]:
    """Return the traces in a cell for which it is known whether the answer is right."""
    files: dict[Any, Path] = {(s, s.outputs[0]): made.run.output(s) for s in cell.inputs()}
    traces = cell.split(Work(made.run.folder, files)).labelled()
    return [item for item in traces if item.correct is not None]


def body(made: Experiment) -> Iterator[list[str]]:
    """Yield each backbone's AUROC on each target, with the source's probes and with those fitted on
    the target.
    """
    config = made.config
    settings = Settings(
        config.width, "balanced", config.learning_rate, config.epochs, seed=config.seeds[0]
    )
    for backbone in (each.name for each in config.backbones):
        for dataset in (each.name for each in config.datasets if each.name != config.source):
            cells = [made.cells[Cell(backbone, dataset, s)] for s in ("validation", "test")]
            items = [item for cell in cells for item in labelled(made, cell)]
            right = [item.correct or 0 for item in items]
            if min(sum(right), len(right) - sum(right)) < FOLDS:
                continue
            folds = divided(items, FOLDS, config.seeds[0])
            fold_of = {place: n for n, fold in enumerate(folds) for place in fold}
            strata = [fold_of[place] for place in range(len(items))]
            shown = []
            for name in PROBES:
                brought = brought_there(made, cells, name, items)
                areas = [auroc_within(scores, right, strata) or 0.0 for scores in brought]
                own = fitted_there(name, items, folds, settings)
                shown.append(f"{fmean(areas):.2f}, {auroc_within(own, right, strata) or 0.0:.2f}")
            yield [backbone, dataset, f"{sum(right)} of {len(right)}", *shown]


@click.command()
@click.argument("config", type=click.Path(exists=True, path_type=Path))
@click.option("--run", type=click.Path(exists=True, path_type=Path), required=True)
@data_option
def main(config: Path, run: Path, data: Path) -> None:
    """Print the table."""
    made = Experiment(read_config(config), run, data)
    table(f"backbone | target | right | {' | '.join(PROBES)}", body(made))


if __name__ == "__main__":
    main()
