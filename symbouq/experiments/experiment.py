"""An experiment: the graph of stages built from a configuration."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from symbouq.errors import SymboUQError, install_command
from symbouq.evidence.scorers.registry import SCORERS, entry
from symbouq.experiments.backbones.pretrained import GGUF_PACKAGES
from symbouq.experiments.config import BackboneConfig, DatasetConfig, ExperimentConfig
from symbouq.experiments.questions import available, has_files, shortage
from symbouq.experiments.runner import Apart, Run, SideBySide, Stage, gpu_groups
from symbouq.experiments.stages import (
    Cell,
    CellStages,
    Costs,
    Counterfactual,
    Model,
    Predictions,
    Pretrained,
    Questions,
    Scorer,
    Scores,
    Search,
    Splits,
    Worlds,
)
from symbouq.io.settings import SettingsError
from symbouq.reading.syntax.pipeline import installed
from symbouq.reliability.variants import CONSTRAINT_FAMILY

MACHINES = {"transformers": "two CPU cores, models of millions", "vllm": "one GPU, at a guess"}
"""The machines to which cost estimates apply, by engine."""

_PACKAGES = {
    "models": ("torch", "transformers", "llguidance", "safetensors", "sklearn", "pandas"),
    "vllm": ("vllm",),
    "gguf": GGUF_PACKAGES,
}
"""For each extra, the import names of its packages."""

_Stage = TypeVar("_Stage", bound=Stage)


def _filled(dataset: DatasetConfig, data: Path | None) -> DatasetConfig:
    there = available(dataset, data)
    for split, count in there.items():
        if not count:
            raise SettingsError(shortage(dataset, split, 0))
    return dataset.model_copy(update={"sizes": dataset.sizes | there})


class Experiment:
    """All stages of an experiment, up to the predictions of every method.

    If `allow_smaller`, splits may be smaller than requested when a source has too few questions.

    Attributes:
        config: The configuration with final split sizes and without missing optional datasets.
        datasets: The datasets by name.
        cells: The stages of each cell.
        models: Backbones and judges by name.
        costs: Stage that measures the scorers' costs, by backbone.
        searches: Stages that tune learned scorers, by backbone and scorer.
        pairs: The stage for the counterfactual audit; None if the source has no test split.
        run: The run, which manages the folder of all stages.
    """

    def __init__(
        self,
        config: ExperimentConfig,
        folder: Path,
        data: Path | None = None,
        processes: int | None = None,
        allow_smaller: bool = False,
    ) -> None:
        present = [dataset for dataset in config.datasets if has_files(dataset, data)]
        if allow_smaller:
            present = [_filled(dataset, data) for dataset in present]
        self.config = config = config.model_copy(update={"datasets": present})
        self.datasets = {dataset.name: dataset for dataset in present}
        self.cells: dict[Cell, CellStages] = {}
        self.costs: dict[str, Costs] = {}
        self.searches: dict[str, dict[str, Search]] = {}
        self.models: dict[str, Model] = {}
        self._data = data
        self._installed: dict[str, Pretrained] = {}
        self._stages: list[Stage] = []
        questions: list[Questions] = []
        for dataset in present:
            splits = [self._add(Questions(dataset, split, data)) for split in dataset.sizes]
            self._add(Splits(dataset, splits))
            questions += splits
        judges = [self._added(judge, data) for judge in config.judges]
        for configured in config.backbones:
            backbone = self._added(configured, data)
            own = [
                CellStages(config, backbone, judges, asked)
                for asked in questions
                if not asked.dataset.backbones or backbone.name in asked.dataset.backbones
            ]
            self.cells |= {cell.name: cell for cell in own}
            # Order stages by kind, so that each model is loaded only once.
            for alike in zip(*(cell.stages for cell in own), strict=True):
                self._stages += [stage for stage in alike if stage is not None]
            self._add_scoring(backbone)
        tested = (q for q in questions if (q.dataset.name, q.split) == (config.source, "test"))
        self.pairs = next((self._add(Counterfactual(config, asked)) for asked in tested), None)
        self.run = Run(folder, self._stages, processes, config.threads)

    def make(self, begun: Callable[[Stage], None], advance: Callable[[int], None]) -> None:
        """Run all unfinished stages on this machine. The arguments are as in `Run.make`.

        Each model has its own process if there are several workers or a GPU, or with vLLM. (A vLLM
        engine does not release GPU memory within its process.)
        """
        run, workers, engine = self.run, self.config.workers, self.config.generation.engine
        gpus = gpu_groups(run.most_gpus)
        if workers > 1:
            # Models that are split across GPUs come last, because they are few and no other stages
            # wait for them.
            for size in sorted({stage.gpus for stage in run.stages}):
                groups = gpu_groups(size)
                with SideBySide(workers, groups) as submit:
                    run.make(begun, advance, submit, workers, len(groups), size)
        elif gpus or engine == "vllm":
            with Apart() as submit:
                self.run.make(begun, advance, submit)
        else:
            self.run.make(begun, advance)

    def shortages(self) -> list[str]:
        """Describe the splits for which there are too few questions, one line for each.

        Raises:
            SettingsError: If a file is missing.
        """
        return [
            shortage(dataset, split, count)
            for dataset in self.datasets.values()
            for split, count in available(dataset, self._data).items()
        ]

    def check_packages(self) -> None:
        """Check that the required packages are installed.

        Raises:
            SymboUQError: If packages are missing. The message names the extras.
        """
        needed = ["models"]
        if self.config.generation.engine == "vllm":
            needed.append("vllm")
        if self._installed:
            needed.append("gguf")
        missing = {
            extra: package
            for extra in needed
            for package in _PACKAGES[extra]
            if find_spec(package) is None
        }
        if not (find_spec(self.config.pipeline) if self.config.pipeline else installed()):
            missing["english"] = self.config.pipeline or "a trained English pipeline of spaCy"
        if missing:
            extras, packages = ",".join(missing), ", ".join(missing.values())
            raise SymboUQError(
                f"this experiment needs packages that are not installed ({packages}): "
                f"{install_command(extras)}"
            )

    def _add(self, stage: _Stage) -> _Stage:
        self._stages.append(stage)
        return stage

    def _added(self, configured: BackboneConfig, data: Path | None) -> Model:
        """Add a model and its stages, once. A judge may also be a backbone."""
        if configured.name in self.models:
            return self.models[configured.name]
        model = self.models[configured.name] = Model(configured, self._installed, data)
        self._stages += [stage for stage in model.stages if stage not in self._stages]
        return model

    def _add_scoring(self, backbone: Model) -> None:
        """Add stages that fit scorers on a backbone's source traces, score all validation and test
        traces, compose the scores, and measure the scorers' costs.
        """
        config, source = self.config, self.config.source
        cells = {
            (cell.dataset, cell.split): stages
            for cell, stages in self.cells.items()
            if cell.backbone == backbone.name
        }
        names = [entry(name).name for name in config.scorers] or list(SCORERS)
        learned = cells[source, "train"], cells[source, "validation"]
        searches = {
            name: self._add(Search(name, config.search, *learned))
            for name in names
            if config.search and entry(name).trained
        }
        self.searches[backbone.name] = searches
        scorers = {
            view: [
                self._add(Scorer(name, view, *learned, searches.get(name)))
                for name in names
                if view is None or name in CONSTRAINT_FAMILY
            ]
            for view in config.scorer_views
        }
        scored = {
            (dataset, split): cells[dataset, split]
            for dataset, configured in self.datasets.items()
            for split in ("validation", "test")
            if configured.sizes.get(split) and (dataset, split) in cells
        }
        for (dataset, _), stages in scored.items():
            validation = cells[dataset, "validation"]
            for view, fitted in scorers.items():
                stages.scores[view] = self._add(Scores(stages, view, validation, fitted))
            if "worlds" in config.views:
                stages.worlds = self._add(Worlds(stages))
        for (dataset, split), stages in scored.items():
            if split == "test":
                validation = scored[dataset, "validation"]
                stages.predictions = self._add(Predictions(validation, stages, learned[1]))
        if (source, "test") in scored:
            self.costs[backbone.name] = self._add(Costs(scored[source, "test"], scorers[None]))
