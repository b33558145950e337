"""Stages of an experiment, from questions to predictions, with their inputs and outputs.

Questions and answers are in different files. Answers are read only by label stages, and labels of
test splits only for tables. A stage receives only the paths of its declared inputs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from symbouq import plugins
from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.correctness import answer_labels
from symbouq.auditing.counterfactual import countering
from symbouq.auditing.jobs import auditing_in
from symbouq.errors import RecordError, SymboUQError
from symbouq.evidence.devices import best_device
from symbouq.evidence.generation.engine import Engine
from symbouq.evidence.generation.engine import Options as EngineOptions
from symbouq.evidence.generation.engines import load_engine
from symbouq.evidence.generation.models import find_model, folder_of
from symbouq.evidence.generation.run import Generator, Settings, generate, read_instances
from symbouq.evidence.labels.judge import Judge, judging
from symbouq.evidence.labels.records import labelled, merge, read_claims, read_labels
from symbouq.evidence.scorers import bank, efficiency
from symbouq.evidence.scorers.equivalence import NLIEquivalence
from symbouq.evidence.scorers.needs import Need
from symbouq.evidence.scorers.registry import brought_by, entry
from symbouq.evidence.scorers.sweep import Grid
from symbouq.experiments.backbones.pretrained import PRETRAINED, install
from symbouq.experiments.composition import (
    ScoredTraces,
    composed,
    composer_cost,
    swept,
    without_target_labels,
    write_predictions,
)
from symbouq.experiments.config import (
    BackboneConfig,
    DatasetConfig,
    ExperimentConfig,
    GenerationConfig,
    Split,
    TrainingConfig,
    View,
)
from symbouq.experiments.questions import (
    GOLD,
    QUESTIONS,
    dataset_file,
    instances,
    provider,
    read_rows,
    write_questions,
    write_splits,
)
from symbouq.experiments.runner import Run, Stage, Work
from symbouq.experiments.scenes import truth
from symbouq.io.settings import SettingsError
from symbouq.io.stream import Job, process
from symbouq.reading.syntax.pipeline import installed
from symbouq.records import Context, Instance, Trace
from symbouq.reliability.darc import Options
from symbouq.reliability.jobs import checking_worlds

if TYPE_CHECKING:
    from symbouq.evidence.signals.extract import Extractor
    from symbouq.evidence.signals.forward import Lookback


class _Seconds(NamedTuple):
    """Estimated seconds for a unit of work.

    Attributes:
        least: Seconds with the smallest model.
        million: Additional seconds for each million of the model's parameters.
    """

    least: float
    million: float

    def of(self, model: Model) -> float:
        """Return the estimated seconds with the given model."""
        return self.least + self.million * model.parameters / 1e6


# Measured on two CPU cores without AVX-512, with models of 1 and 135 million parameters. For a GPU
# with a model of 8 billion parameters, the values are guesses.
_SECONDS = {
    "transformers": {
        "trace": _Seconds(0.1, 0.0037),
        "sample": _Seconds(0.06, 0.0055),
        "signals": _Seconds(0.02, 0.004),
        "asked": _Seconds(0.01, 0.006),
    },
    "vllm": {
        "trace": _Seconds(0.0, 6e-6),
        "sample": _Seconds(0.0, 4e-6),
        "signals": _Seconds(0.0, 6e-6),
        "asked": _Seconds(0.0, 6e-6),
    },
}
_FIT = {"transformers": 1e-4, "vllm": 2e-6}
_COMPOSE, _AUDIT = 2.0, 0.012
_INSTALL, _TRAIN = 40.0, 6e-5  # per token and million parameters

_NUMBERS = {"dtype", "tokenizer_mode"}
"""Loading settings that are part of a stage's settings only if they have a value."""

CONTEXTS: dict[View | None, tuple[Context, ...]] = {
    None: ("assumed",),
    "grounded": ("grounded",),
    "non-committal": ("non-committal",),
    "dual": ("assumed", "grounded"),
}
"""For each view, the contexts that provide features for the constraint scorers."""


class Cell(NamedTuple):
    """A backbone's traces on one split of a dataset."""

    backbone: str
    dataset: str
    split: Split


class Questions(Stage):
    """Writes the questions of a split and, in another file, their answers."""

    kind, version, outputs = "questions", 2, (QUESTIONS, GOLD)

    def __init__(self, dataset: DatasetConfig, split: Split, data: Path | None) -> None:
        self.dataset, self.split, self.data = dataset, split, data
        self.count = dataset.sizes[split]
        drawn: dict[str, Any] = {"size": self.count, "passed_over": dataset.passed_over(split)}
        if dataset.provider is not None:
            drawn["brought_by"] = plugins.origin(provider(dataset.provider))
        super().__init__(
            (dataset.name, split),
            [dataset_file(dataset, split, data)] if dataset.files else [],
            dataset.model_dump(mode="json", exclude={"sizes", "optional", "backbones"}) | drawn,
        )

    def run(self, work: Work) -> None:
        """Draw the questions."""
        write_questions(self.dataset, self.split, self.data, work.out)


class Splits(Stage):
    """Checks that the splits of a dataset have no scene in common."""

    kind, outputs = "splits", ("splits.json",)

    def __init__(self, dataset: DatasetConfig, questions: Sequence[Questions]) -> None:
        self.questions = questions
        super().__init__((dataset.name,), questions)

    def run(self, work: Work) -> None:
        """Compare the scenes."""
        files = {stage.split: work.input(stage) for stage in self.questions}
        write_splits(files, work.out / self.outputs[0])


class Pretrained(Stage):
    """Installs a pretrained model."""

    kind, outputs = "pretrained", ("model",)

    def __init__(self, name: str) -> None:
        self.model = name
        super().__init__((name,), (), asdict(PRETRAINED[name]), _INSTALL)

    def run(self, work: Work) -> None:
        """Install the model."""
        install(self.model, work.out / self.outputs[0])


class Trained(Stage):
    """Trains a model further on generated scenes.

    `base` is the stage that installs the initial model; None if the initial model is a folder or a
    hub id.

    Raises:
        SettingsError: If a benchmark's wordings are needed, but there is no data folder.
    """

    kind, version, outputs, on_gpu = "backbone", 2, ("model",), True

    def __init__(
        self,
        backbone: BackboneConfig,
        training: TrainingConfig,
        base: Pretrained | None,
        data: Path | None,
    ) -> None:
        self.backbone, self.training, self.base = backbone, training, base
        if training.wordings and data is None:
            raise SettingsError(
                f"backbone {backbone.name} reads wordings: give the folder with --data"
            )
        self.wordings = data / training.wordings if data and training.wordings else None
        weights = [base] if base else backbone.weights
        super().__init__(
            (backbone.name,),
            [*weights, *([self.wordings] if self.wordings else [])],
            training.model_dump(mode="json", exclude={"threads"}) | {"model": backbone.identity},
            training.steps * training.tokens * _TRAIN * _parameters(backbone) / 1e6,
            training.steps,
        )

    def run(self, work: Work) -> None:
        """Train the model."""
        import torch

        from symbouq.experiments.backbones.corpus import wordings_of
        from symbouq.experiments.backbones.plan import Plan
        from symbouq.experiments.backbones.training import train

        start = str(work.input(self.base)) if self.base else str(self.backbone.model)
        plan = Plan(start, **self.training.model_dump(exclude={"wordings", "threads"}))
        others = torch.get_num_threads()
        torch.set_num_threads(self.training.threads or others)
        try:
            train(
                plan,
                work.out / self.outputs[0],
                wordings_of(instances(self.wordings)) if self.wordings else None,
                lambda _step, _loss: work.advance(1),
            )
        finally:
            torch.set_num_threads(others)


class Model:
    """A backbone or judge, with the stages that make it. `installed` collects stages for pretrained
    models.

    Attributes:
        name: Name in tables.
        config: Its configuration.
        stages: Stages that make the model's folder; empty if the folder already exists, or for hub
            models.
        inputs: Inputs for stages that run the model.
        identity: Properties of the model that become part of the settings of stages.
        parameters: Number of parameters, if it can be determined without loading the model.
        template: File with the chat template; None for the model's own template.
    """

    def __init__(
        self, config: BackboneConfig, installed: dict[str, Pretrained], data: Path | None
    ) -> None:
        self.name, self.identity = config.name, config.identity
        self.config = config
        self.stages: list[Stage] = []
        base = None
        if config.pretrained:
            base = installed.setdefault(config.pretrained, Pretrained(config.pretrained))
            self.stages.append(base)
        if config.training:
            self.stages.append(Trained(config, config.training, base, data))
        self.parameters = _parameters(config)
        self.template = str(config.chat_template) if config.chat_template else None
        weights: list[Path | Stage] = [*self.stages[-1:]] or [*config.weights]
        self.inputs = weights + ([config.chat_template] if config.chat_template else [])

    def place(self, work: Work) -> str:
        """Return the model's folder or hub id, for a stage that has the model's inputs."""
        return str(work.input(self.stages[-1])) if self.stages else str(self.config.model)

    def folder(self, run: Run) -> Path | None:
        """Return the folder of the finished model; None for a hub model that was never fetched."""
        return run.output(self.stages[-1]) if self.stages else folder_of(str(self.config.model))


_BILLIONS = re.compile(r"(\d+(?:\.\d+)?)B\b", re.IGNORECASE)


def _parameters(config: BackboneConfig) -> float:
    if config.pretrained:
        return PRETRAINED[config.pretrained].parameters
    if config.weights:
        files = config.weights[0].glob("*.safetensors")
        return sum(file.stat().st_size for file in files) / 2  # bytes per bfloat16 number
    named = _BILLIONS.search(config.identity)
    return 1e9 * float(named[1]) if named else 8e9


class CellStages:
    """The stages of a cell.

    Attributes:
        name: The cell.
        traces: Traces of the cell.
        audits: Audits by view; the key None stands for the assumed context.
        signals: Signals of the traces.
        judged: Labels of the steps, by judge. Unused judges are omitted.
        labels: Labels of the claims.
        scores: Scores by view; empty if the cell is not scored.
        worlds: Comparison of the answers with the possible worlds, if a view needs it.
        predictions: The composers' predictions, on a test split.
    """

    def __init__(
        self,
        config: ExperimentConfig,
        backbone: Model,
        judges: Sequence[Model],
        questions: Questions,
    ) -> None:
        self.config, self.backbone, self.dataset = config, backbone, questions.dataset
        self.questions, self.size = questions, questions.count
        self.name = Cell(backbone.name, questions.dataset.name, questions.split)
        self.seconds = {
            work: each.of(backbone) for work, each in _SECONDS[config.generation.engine].items()
        }
        self.traces = Traces(self)
        self.audits = {view: Audits(self, view) for view in config.scorer_views}
        self.signals = Signals(self)
        read = config.judges_of(self.dataset, self.name.split)
        self.judged = {judge.name: Judged(self, judge) for judge in judges if judge.config in read}
        self._judges = judges
        self.labels = Labels(self)
        self.scores: dict[View | None, Scores] = {}
        self.worlds: Worlds | None = None
        self.predictions: Predictions | None = None

    @property
    def stages(self) -> list[Stage | None]:
        """Stages up to the labels, in order. None stands for a stage that this cell does not
        have.
        """
        audited = self.traces, *self.audits.values(), self.signals
        return [*audited, *(self.judged.get(each.name) for each in self._judges), self.labels]

    def inputs(self, view: View | None = None, labels: bool = True) -> list[Stage]:
        """Return the stages that scorers use: traces, audits in the given view, signals and, if
        `labels`, labels.
        """
        stages: list[Stage] = [self.traces, self.audits[view], self.signals]
        return [*stages, self.labels] if labels else stages

    def split(self, work: Work, view: View | None = None, labels: bool = True) -> bank.Split:
        """Return the files of the stages in `inputs`."""
        traces, audits, signals, *last = map(work.input, self.inputs(view, labels))
        return bank.Split(traces, signals, audits, *last)

    def scored(self, work: Work, view: View | None = None) -> ScoredTraces:
        """Read the traces in the form in which a composer may use them."""
        stages = self.traces, self.audits[view], self.scores[view], self.worlds
        return ScoredTraces.read(*(work.input(stage) for stage in stages if stage))

    def conclusions(self, work: Work) -> dict[str, int]:
        """Whether the answer of each labelled trace is right, by id."""
        return conclusion_labels(work.input(self.labels))


class Traces(Stage):
    """Generates the traces of a cell, with samples if the traces are scored."""

    kind, version, outputs, on_gpu = "traces", 2, ("traces.jsonl",), True

    def __init__(self, cell: CellStages) -> None:
        self.cell, generation = cell, cell.config.generation.of(cell.backbone.config)
        self.holds, self.gpus = f"engine of {cell.backbone.name}", generation.tensor_parallel or 1
        samples = 0 if cell.name.split == "train" else generation.samples
        self.generation_settings = Settings(
            samples,
            generation.temperature,
            generation.seed,
            cell.dataset.free_form,
            generation.max_tokens,
        )
        super().__init__(
            cell.name,
            (cell.questions, *cell.backbone.inputs),
            generation.model_dump(
                mode="json", exclude={"batch", "memory", "tensor_parallel", *_NUMBERS}
            )
            | generation.model_dump(include=_NUMBERS, exclude_none=True)
            | {
                "samples": samples,
                "free_form": cell.dataset.free_form,
                "model": cell.backbone.identity,
            },
            cell.size * (cell.seconds["trace"] + samples * cell.seconds["sample"]),
            cell.size,
        )

    def run(self, work: Work) -> None:
        """Generate the traces.

        Raises:
            RecordError: At the first invalid question.
        """
        cell, out, done = self.cell, work.out / self.outputs[0], 0
        instances, failed = read_instances([str(work.input(cell.questions))])
        _raise_first(failed)
        engine = _engine(cell.config.generation, cell.backbone, work)
        for progress in generate(instances, Generator(engine, self.generation_settings), out):
            work.advance(progress.done - done)
            done = progress.done
        out.touch()


class _Job(Stage):
    setup: ClassVar[Callable[..., Any]]
    record: ClassVar[type[Instance]] = Trace
    contexts: tuple[Context, ...] | None = None

    def __init__(
        self,
        config: ExperimentConfig,
        about: Iterable[str | None],
        records: Stage,
        size: int,
        cost: float = 0.0,
    ) -> None:
        self.arguments = [config.profile, self.contexts, config.pipeline]
        settings: dict[str, Any] = {
            "profile": config.profile,
            "ontology": _ontology_hash(),
            "pipeline": config.pipeline or installed(),
        }
        if self.contexts:  # if the job includes audits
            self.arguments.append(config.answers)
            settings |= {"contexts": self.contexts, "answers": config.answers}
        super().__init__(about, (records,), settings, cost, size)

    def run(self, work: Work) -> None:
        """Do the job.

        Raises:
            RecordError: At the first record that fails.
        """
        (file,) = work.files.values()
        job = Job(type(self).setup, tuple(self.arguments), self.record)
        with (work.out / self.outputs[0]).open("wb") as stream:
            for outcome in process([str(file)], job, work.processes):
                if outcome.output is None:
                    raise RecordError(outcome.error or "not done", outcome.file, outcome.number)
                stream.write(outcome.output + b"\n")
                work.advance(1)


class Audits(_Job):
    """Audits a cell's traces and computes the features for a view."""

    kind, outputs, setup = "audits", ("audits.jsonl",), auditing_in

    def __init__(self, cell: CellStages, view: View | None) -> None:
        self.contexts = CONTEXTS[view]
        about = (*cell.name, view)
        super().__init__(cell.config, about, cell.traces, cell.size, cell.size * _AUDIT)


class Worlds(_Job):
    """Compares a cell's answers with the possible worlds of their scenes."""

    kind, outputs, setup = "worlds", ("worlds.jsonl",), checking_worlds

    def __init__(self, cell: CellStages) -> None:
        super().__init__(cell.config, cell.name, cell.traces, cell.size, cell.size * _AUDIT)


class Counterfactual(_Job):
    """Performs the counterfactual audit on the source's test questions (appendix Counterfactual
    Audit).
    """

    kind, outputs, setup, record = "counterfactual", ("pairs.jsonl",), countering, Instance

    def __init__(self, config: ExperimentConfig, questions: Questions) -> None:
        super().__init__(config, (config.source,), questions, questions.count)


class Signals(Stage):
    """Writes the signals cache for a cell's traces: hidden states and probabilities of the
    backbone.
    """

    kind, outputs, on_gpu = "signals", ("signals",), True

    def __init__(self, cell: CellStages) -> None:
        self.cell, self.holds = cell, f"signals of {cell.name.backbone}"
        self.dtype = cell.config.generation.of(cell.backbone.config).dtype
        super().__init__(
            cell.name,
            (cell.traces, cell.audits[None], *cell.backbone.inputs),
            {"lookback": cell.config.lookback} | ({"dtype": self.dtype} if self.dtype else {}),
            cell.size * cell.seconds["signals"],
            cell.size,
        )

    def run(self, work: Work) -> None:
        """Extract the signals.

        Raises:
            RecordError: For the first trace without signals.
        """
        cell, out = self.cell, work.out / self.outputs[0]
        traces, audits = work.input(cell.traces), work.input(cell.audits[None])
        backbone = cell.backbone
        settings = cell.config.lookback, backbone.template, self.dtype
        extractor = _extractor(backbone.place(work), *settings)
        _raise_first(extractor.write(traces, out, audits, work.advance).failed)


class Judged(Stage):
    """Lets a judge label the steps in a cell's traces."""

    kind, version, outputs, on_gpu = "judged", 2, ("labels.jsonl",), True

    def __init__(self, cell: CellStages, judge: Model) -> None:
        self.cell, self.judge, generation = cell, judge, cell.config.generation.of(judge.config)
        self.holds, self.gpus = f"engine of {judge.name}", generation.tensor_parallel or 1
        super().__init__(
            (judge.name, *cell.name),
            (cell.traces, cell.audits[None], *judge.inputs),
            {"judge": judge.identity} | generation.model_dump(include=_NUMBERS, exclude_none=True),
            cell.size * _SECONDS[cell.config.generation.engine]["trace"].of(judge),
            cell.size,
        )

    def run(self, work: Work) -> None:
        """Judge the steps.

        Raises:
            RecordError: For the first trace that cannot be judged.
        """
        out, failed = work.out / self.outputs[0], []
        judge = Judge(_engine(self.cell.config.generation, self.judge, work))
        traces, audits = work.input(self.cell.traces), work.input(self.cell.audits[None])
        for outcome in judging(traces, judge, out, audits):
            failed += [outcome] if isinstance(outcome, RecordError) else []
            work.advance(1)
        _raise_first(failed)
        out.touch()


class Labels(Stage):
    """Labels a cell's claims: conclusions by comparison with the right answers, steps about
    generated scenes by the true layout, and other steps by the judge, if there is one.
    """

    kind, outputs = "labels", ("labels.jsonl",)

    def __init__(self, cell: CellStages) -> None:
        self.cell = cell
        self.judged = cell.judged.get(cell.config.judge.name) if cell.config.judge else None
        read = cell.traces, cell.audits[None], (cell.questions, GOLD)
        super().__init__(cell.name, (*read, self.judged) if self.judged else read)

    def run(self, work: Work) -> None:
        """Label the traces.

        Raises:
            RecordError: If a trace has no claims.
            SymboUQError: If a trace's right answer is unknown.
        """
        gold = work.input(self.cell.questions, GOLD)
        answers = {row["id"]: row for row in read_rows(gold)}
        by_judge = read_labels(work.input(self.judged)) if self.judged else {}
        claims = read_claims(work.input(self.cell.traces), work.input(self.cell.audits[None]))
        with (work.out / self.outputs[0]).open("w", encoding="utf-8") as stream:
            for item in claims:
                if isinstance(item, RecordError):
                    raise item
                name = item["id"]
                if name not in answers:
                    raise SymboUQError(f"trace {name} has no answer", str(gold))
                record = item | answers[name]
                sources = [labelled(record, "answer", answer_labels)]
                if "facts" in (record.get("meta") or {}):
                    sources.append(labelled(record, "truth", truth.labels))
                elif name in by_judge:
                    sources.append(by_judge[name])
                merged = merge([{name: source} for source in sources])[0]
                stream.write(json.dumps(merged.record()) + "\n")


class Search(Stage):
    """Trains a learned scorer at every point of a grid, on the source in the assumed context (Table
    search-space).
    """

    kind, outputs, on_gpu = "search", ("settings.json", "search.jsonl"), True

    def __init__(self, name: str, grid: Grid, train: CellStages, validation: CellStages) -> None:
        self.scorer, self.grid = name, grid
        self.train, self.validation, self.seed = train, validation, train.config.seeds[0]
        trained = len(self.grid) // len(self.grid.epochs) * max(self.grid.epochs)
        width = sum(self.grid.width) / len(self.grid.width)
        super().__init__(
            (train.backbone.name, name),
            (*train.inputs(), *validation.inputs()),
            {"scorer": name, "seed": self.seed, "grid": asdict(self.grid)} | brought_by(name),
            train.size * trained * width * _FIT[train.config.generation.engine],
            len(self.grid),
        )

    def run(self, work: Work) -> None:
        """Train at every point. The best settings are written to a separate file, which contains no
        times.
        """
        from symbouq.evidence.scorers.settings import Settings
        from symbouq.evidence.scorers.sweep import sweep, tuned

        train, validation = (cell.split(work).labelled() for cell in (self.train, self.validation))
        base = Settings(seed=self.seed, device=best_device())
        chosen, tried = (work.out / name for name in self.outputs)
        for _ in sweep(self.scorer, train, validation, tried, self.grid, base):
            work.advance(1)
        chosen.write_text(json.dumps(asdict(tuned(tried, self.scorer))) + "\n", encoding="utf-8")


class Scorer(Stage):
    """Fits a scorer on the source with each of its seeds.

    A constraint scorer uses the audits in `view`; None is the assumed context. If given, the stage
    `search` provides the scorer's settings.
    """

    kind, version, outputs = "scorer", 3, ("scorers",)

    def __init__(
        self,
        name: str,
        view: View | None,
        train: CellStages,
        validation: CellStages,
        search: Search | None = None,
    ) -> None:
        config, scorer = train.config, entry(name)
        self.scorer, self.view, self.train, self.validation = name, view, train, validation
        self.search = search
        self.seeds = bank.seeds_of(scorer, config.seeds)
        self.training = (
            config.model_dump(include={"epochs", "width", "learning_rate"})
            if scorer.trained and search is None
            else {}
        )
        self.on_gpu = scorer.trained or "backbone" in scorer.needs
        self.holds = f"scorers of {train.backbone.name}"
        fits = len(self.seeds) if scorer.trained else 0
        super().__init__(
            (train.backbone.name, name, view),
            (
                *train.inputs(view),
                *validation.inputs(view),
                *_asked([self], train),
                *([search] if search else []),
            ),
            {"scorer": name, "seeds": list(self.seeds), **self.training}
            | config.model_dump(include={*scorer.options})
            | _asked_of_hub([self], train)
            | brought_by(name),
            train.size * config.epochs * config.width * fits * _FIT[config.generation.engine]
            + validation.size * _asking([self], validation),
            len(self.seeds),
        )

    def run(self, work: Work) -> None:
        """Fit the scorer."""
        from symbouq.evidence.scorers.settings import Settings

        train = self.train.split(work, self.view).labelled()
        validation = self.validation.split(work, self.view).labelled()
        settings = Settings(**self.training) if self.training else None
        if self.search is not None:
            settings = Settings(**json.loads(work.input(self.search).read_text("utf-8")))
        for seed in self.seeds:
            resources = _resources([self], self.train, work)
            fitted = bank.fit(self.scorer, train, validation, seed, settings, resources)
            bank.save(fitted, work.out / self.outputs[0])
            work.advance(1)


class Scores(Stage):
    """Scores a cell with every scorer, calibrated on the validation split of the same dataset."""

    kind, version, outputs, on_gpu = "scores", 3, ("scores.parquet",), True

    def __init__(
        self, cell: CellStages, view: View | None, validation: CellStages, scorers: Sequence[Scorer]
    ) -> None:
        self.cell, self.view, self.validation, self.scorers = cell, view, validation, scorers
        self.holds = f"scorers of {cell.name.backbone}"
        split = cell.inputs(view, labels=False)
        read = *split, *validation.inputs(view), *scorers, *_asked(scorers, cell)
        hub, cost = _asked_of_hub(scorers, cell), cell.size * _asking(scorers, cell)
        super().__init__((*cell.name, view), read, hub, cost)

    def run(self, work: Work) -> None:
        """Score the traces."""
        split = self.cell.split(work, self.view, labels=False)
        classes = {*self.validation.conclusions(work).values()}
        scoring = bank.Scoring(
            [folder for stage in self.scorers for folder in bank.kept(work.input(stage))],
            lambda: _resources(self.scorers, self.cell, work),
            split,
            # If validation has only one class, the calibration from the source is kept.
            self.validation.split(work, self.view) if classes == {0, 1} else None,
        )
        bank.write_scores(work.out / self.outputs[0], map(scoring, split.chunks()))


class Predictions(Stage):
    """Predicts a test cell with every composer."""

    kind, version = "predictions", 5
    outputs = "predictions.parquet", "composers.json", "cost.json"

    def __init__(self, validation: CellStages, test: CellStages, source: CellStages) -> None:
        self.validation, self.test, self.source, config = validation, test, source, test.config
        self.views, self.transferred = config.scorer_views, source is not validation
        learned = [validation, source] if self.transferred else [validation]
        cells = [validation, test, *learned[1:]]
        shown = [(cell, view) for cell in (validation, test) for view in self.views]
        shown += [(cell, None) for cell in learned[1:]]
        scores = [(cell.audits[view], cell.scores[view]) for cell, view in shown]
        super().__init__(
            test.name[:2],
            (
                *(cell.labels for cell in learned),
                *chain.from_iterable(scores),
                *(cell.traces for cell in cells),
                *(cell.worlds for cell in cells if cell.worlds),
            ),
            config.model_dump(
                include={"seeds", "validation_sizes", "views", "epsilon", "folds"}
                | {"epsilons", "fold_numbers"}
            ),
            _COMPOSE * len(config.seeds) * len(self.views),
        )

    def run(self, work: Work) -> None:
        """Fit the composers on validation and predict the test traces."""
        validation, test, source, config = self.validation, self.test, self.source, self.test.config
        options = Options(epsilon=config.epsilon, folds=config.folds)
        predictions = composed(
            {view: (validation.scored(work, view), test.scored(work, view)) for view in self.views},
            validation.conclusions(work),
            config.seeds,
            config.validation_sizes,
            options,
            swept(options, config.epsilons, config.fold_numbers),
        )
        if self.transferred:
            target = validation.scored(work), test.scored(work)
            predictions = chain(
                predictions,
                without_target_labels(
                    source.scored(work), source.conclusions(work), target, config.seeds, options
                ),
            )
        made, composers, costs = (work.out / name for name in self.outputs)
        write_predictions(predictions, made, composers)
        cost = composer_cost(
            validation.scored(work),
            test.scored(work),
            validation.conclusions(work),
            config.seeds[0],
            options,
        )
        costs.write_text(json.dumps(asdict(cost), indent=1) + "\n", encoding="utf-8")


class Costs(Stage):
    """Measures how fast the scorers are on the source's test traces (Table efficiency)."""

    kind, outputs, on_gpu = "costs", ("costs.json",), True

    def __init__(self, cell: CellStages, scorers: Sequence[Scorer]) -> None:
        self.cell, self.scorers = cell, scorers
        self.holds = f"scorers of {cell.backbone.name}"
        read = *cell.inputs(labels=False), *scorers, *_asked(scorers, cell)
        # Each scorer scores the traces twice, because the first pass is not timed.
        hub, cost = _asked_of_hub(scorers, cell), 2 * cell.size * _asking(scorers, cell)
        super().__init__((cell.backbone.name,), read, hub, cost)

    def run(self, work: Work) -> None:
        """Measure each scorer with its first seed, and the path of two scores in the paper."""
        examples = self.cell.split(work, labels=False).examples()
        fitted = {
            stage.scorer: bank.load(
                bank.kept(work.input(stage))[0], _resources([stage], self.cell, work)
            )
            for stage in self.scorers
        }
        costs = [efficiency.cost([scorer], examples) for scorer in fitted.values()]
        if fitted.keys() >= {*efficiency.PATH}:
            path = [fitted[name] for name in efficiency.PATH]
            costs.append(efficiency.cost(path, examples))
        text = json.dumps([asdict(row) for row in costs], indent=1) + "\n"
        (work.out / self.outputs[0]).write_text(text)


def conclusion_labels(path: Path) -> dict[str, int]:
    """Read from a labels file whether the answer of each labelled trace is right, by id."""
    last = {name: record.labels[-1] for name, record in read_labels(path).items()}
    return {name: label for name, label in last.items() if label is not None}


def _raise_first(failed: Sequence[RecordError]) -> None:
    if failed:
        raise failed[0]


# Each loader keeps only what it loaded last, because the stages with the same model are run one
# after the other.


def _engine(generation: GenerationConfig, model: Model, work: Work) -> Engine:
    return _loaded(generation.of(model.config), model.place(work), model.template)


@lru_cache(maxsize=1)
def _loaded(generation: GenerationConfig, place: str, template: str | None) -> Engine:
    options = EngineOptions(
        dtype=generation.dtype,
        batch_size=generation.batch,
        chat_template=template,
        masked_logprobs=False,
        context=generation.context,
        quantization=generation.quantization,
        memory=generation.memory,
        tensor_parallel=generation.tensor_parallel or 1,
        tokenizer_mode=generation.tokenizer_mode,
    )
    return load_engine(generation.engine, place, options)


@cache
def _ontology_hash() -> str:
    return TraceAuditor().parser_for(Instance(id="none", scene="")).ontology.hash


def _need(scorers: Iterable[Scorer], need: Need) -> bool:
    return any(need in entry(stage.scorer).needs for stage in scorers)


def _asked(scorers: Iterable[Scorer], cell: CellStages) -> list[Path | Stage]:
    nli = Path(cell.config.nli) if cell.config.nli and _need(scorers, "samples") else None
    asked: list[Path | Stage] = [nli] if nli and nli.is_dir() else []
    return asked + (cell.backbone.inputs if _need(scorers, "backbone") else [])


def _asked_of_hub(scorers: Iterable[Scorer], cell: CellStages) -> dict[str, str]:
    nli = cell.config.nli if _need(scorers, "samples") else None
    return {"nli": nli} if nli and not Path(nli).is_dir() else {}


def _asking(scorers: Iterable[Scorer], cell: CellStages) -> float:
    return cell.seconds["asked"] if _need(scorers, "backbone") else 0.0


def _resources(scorers: Iterable[Scorer], cell: CellStages, work: Work) -> bank.Resources:
    device, backbone, nli = best_device(), cell.backbone, cell.config.nli
    asked = (backbone.place(work), backbone.template) if _need(scorers, "backbone") else None
    return bank.Resources(
        equivalence=_entailment(nli, device) if nli and _need(scorers, "samples") else None,
        backbone=_answering_backbone(device, *asked) if asked else None,
        device=device,
        ccp=cell.config.ccp,
        selfcheck=cell.config.selfcheck,
    )


@lru_cache(maxsize=1)
def _extractor(
    model: str, lookback: Lookback, template: str | None, dtype: str | None
) -> Extractor:
    from symbouq.evidence.signals.extract import Extraction, Extractor

    return Extractor(model, Extraction(lookback, dtype=dtype, chat_template=template))


@lru_cache(maxsize=1)
def _entailment(model: str, device: str) -> NLIEquivalence:
    return NLIEquivalence(find_model(model).folder, device)


@lru_cache(maxsize=1)
def _answering_backbone(device: str, model: str, template: str | None) -> Any:
    from symbouq.evidence.scorers.backbone import TransformersBackbone

    return TransformersBackbone.load(model, device, template)
