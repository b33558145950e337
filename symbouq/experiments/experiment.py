"""An experiment as stages: questions, traces, audits, signals, labels, scorers, scores,
predictions.

Questions and their answers lie in different files. Answers are read by the label stages
alone, and the labels of a test split by nothing before the tables.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from symbouq.errors import RecordError, SymboUQError
from symbouq.evidence.generation.engine import Engine, Options
from symbouq.evidence.generation.engines import load_engine
from symbouq.evidence.labels.records import read_labels
from symbouq.experiments.composition import Seen, composed, without_target_labels, write_predictions
from symbouq.experiments.config import (
    BackboneConfig,
    DatasetConfig,
    ExperimentConfig,
    Split,
    View,
)
from symbouq.experiments.questions import (
    GOLD,
    QUESTIONS,
    dataset_file,
    has_files,
    write_questions,
    write_splits,
)
from symbouq.experiments.stages import Run, Stage
from symbouq.records import Context

if TYPE_CHECKING:
    from symbouq.io.stream import Job

TRACES, AUDITS, SIGNALS, LABELS = "traces.jsonl", "audits.jsonl", "signals", "labels.jsonl"
SCORES, SCORERS, SPLITS = "scores.parquet", "scorers", "splits.json"
PREDICTIONS, COMPOSERS = "predictions.parquet", "composers.json"
COSTS, PAIRS, WORLDS = "costs.json", "pairs.jsonl", "worlds.jsonl"

_VERSIONS = {
    "questions": 1,
    "splits": 1,
    "traces": 1,
    "audits": 1,
    "signals": 1,
    "labels": 1,
    "scorer": 3,
    "scores": 3,
    "judged": 1,
    "worlds": 1,
    "predictions": 3,
    "costs": 1,
    "counterfactual": 1,
}
"""Raised where a stage of that kind would write something else from the same inputs."""

# Seconds, for the plan: measured on two CPU cores with a backbone of a few million parameters;
# guessed for a GPU with one of eight billion.
_SECONDS = {
    "transformers": {"trace": 0.1, "sample": 0.06, "signals": 0.02, "fit": 7e-5},
    "vllm": {"trace": 0.05, "sample": 0.03, "signals": 0.05, "fit": 2e-6},
}
_COMPOSE, _AUDIT = 10.0, 0.004
MACHINES = {"transformers": "two CPU cores, models of millions", "vllm": "one GPU, at a guess"}
"""What the estimated costs are for, by engine."""

CONTEXTS: dict[View | None, tuple[Context, ...]] = {
    None: ("assumed",),
    "grounded": ("grounded",),
    "non-committal": ("non-committal",),
    "dual": ("assumed", "grounded"),
}
"""The contexts whose features the constraint scorers see, by view."""


class Cell(NamedTuple):
    """The traces of a backbone on a split of a dataset."""

    backbone: str
    dataset: str
    split: Split


@dataclass(frozen=True)
class Parts:
    """The stages of a cell."""

    traces: Stage
    audits: dict[View | None, Stage]
    signals: Stage
    labels: Stage


class Experiment:
    """All stages up to the predictions of every method.

    Args:
        config: The experiment.
        folder: The run's folder.
        data: Folder of the benchmarks, where a dataset reads files.
        processes: For audits; all cores by default.

    Attributes:
        advance: Told by a stage at work how many of its `size` pieces more are done.
    """

    def __init__(
        self,
        config: ExperimentConfig,
        folder: Path,
        data: Path | None = None,
        processes: int | None = None,
    ) -> None:
        there = [dataset for dataset in config.datasets if has_files(dataset, data)]
        self.config = config = config.model_copy(update={"datasets": there})
        self.data = data
        self._processes = processes
        self.advance: Callable[[int], None] = _silent
        self._seconds = _SECONDS[config.generation.engine]
        self.datasets = {dataset.name: dataset for dataset in config.datasets}
        self.stages: list[Stage] = []
        self.cells: dict[Cell, Parts] = {}
        self.scorers: dict[tuple[str, View | None], dict[str, Stage]] = {}
        self.scores: dict[tuple[Cell, View | None], Stage] = {}
        self.predictions: dict[Cell, Stage] = {}
        self.judged: dict[tuple[str, Cell], Stage] = {}
        self.costs: dict[str, Stage] = {}
        self.pairs: Stage | None = None
        self._worlds: dict[Cell, Stage] = {}
        self._questions: dict[tuple[str, Split], Stage] = {}
        for dataset in config.datasets:
            for split in dataset.sizes:
                self._add_questions(dataset, split)
            self._add_splits(dataset)
        for backbone in config.backbones:
            for dataset in config.datasets:
                for split in dataset.sizes:
                    self._add_cell(backbone, dataset, split)
            for view in (None, *config.retrained):
                self._add_scorers(backbone, view)
            for dataset in config.datasets:
                for split in ("validation", "test"):
                    if dataset.sizes.get(split):
                        cell = Cell(backbone.name, dataset.name, split)
                        for view in (None, *config.retrained):
                            self._add_scores(backbone, cell, view)
                        if "worlds" in config.views:
                            self._add_worlds(cell)
            for dataset in config.datasets:
                if dataset.sizes.get("validation") and dataset.sizes.get("test"):
                    self._add_predictions(backbone, dataset)
            self._add_costs(backbone)
        self._add_counterfactual()
        self.run = Run(folder, self.stages)

    def split(self, cell: Cell, labelled: bool = True, view: View | None = None) -> Any:
        """The files of a cell as `symbouq.evidence.scorers.bank.Split`.

        Args:
            cell: The cell.
            labelled: Whether its labels are among them.
            view: Whose audits.
        """
        from symbouq.evidence.scorers.bank import Split as Files

        parts = self.cells[cell]
        return Files(
            self.run.output(parts.traces, TRACES),
            self.run.output(parts.signals, SIGNALS),
            self.run.output(parts.audits[view], AUDITS),
            self.run.output(parts.labels, LABELS) if labelled else None,
        )

    def _stage(
        self,
        kind: str,
        about: Sequence[str],
        work: Callable[[Path], None],
        outputs: Sequence[str],
        settings: dict[str, Any],
        inputs: Sequence[Path | tuple[Stage, str]],
        cost: float = 0.0,
        on_gpu: bool = False,
        size: int = 0,
    ) -> Stage:
        stage = Stage(
            "-".join((kind, *about)).replace("/", "_").replace(" ", "_"),
            work,
            tuple(outputs),
            settings | {"version": _VERSIONS[kind]},
            tuple(inputs),
            cost,
            on_gpu,
            size,
        )
        self.stages.append(stage)
        return stage

    def _do(self, job: Job, file: Path, out: Path) -> None:
        """Does a job on every record of a file.

        Raises:
            RecordError: At the first record that it cannot be done on.
        """
        from symbouq.io.stream import process

        with out.open("wb") as stream:
            for outcome in process([str(file)], job, self._processes):
                if outcome.output is None:
                    raise RecordError(outcome.error or "not done", outcome.file, outcome.number)
                stream.write(outcome.output + b"\n")
                self.advance(1)

    def _add_questions(self, dataset: DatasetConfig, split: Split) -> None:
        files = [dataset_file(dataset, split, self.data)] if dataset.files else []
        self._questions[dataset.name, split] = self._stage(
            "questions",
            (dataset.name, split),
            lambda out: write_questions(dataset, split, self.data, out),
            (QUESTIONS, GOLD),
            dataset.model_dump(mode="json", exclude={"sizes", "optional"})
            | {"size": dataset.sizes[split]},
            files,
        )

    def _add_splits(self, dataset: DatasetConfig) -> None:
        asked = {split: self._questions[dataset.name, split] for split in dataset.sizes}
        self._stage(
            "splits",
            (dataset.name,),
            lambda out: write_splits(
                {split: self.run.output(stage, QUESTIONS) for split, stage in asked.items()},
                out / SPLITS,
            ),
            (SPLITS,),
            {},
            [(stage, QUESTIONS) for stage in asked.values()],
        )

    def _add_cell(self, backbone: BackboneConfig, dataset: DatasetConfig, split: Split) -> None:
        cell = Cell(backbone.name, dataset.name, split)
        count = dataset.sizes[split]
        asked = self._questions[dataset.name, split]
        settings = self.config.generation
        samples = 0 if split == "train" else settings.samples
        model = Path(backbone.model)
        weights = [model] if model.is_dir() else []
        generation = {
            **settings.model_dump(mode="json", exclude={"batch", "samples"}),
            "samples": samples,
            "free_form": dataset.free_form,
            "model": backbone.model if not weights else model.name,
        }

        def generate(out: Path) -> None:
            from symbouq.evidence.generation.run import Settings, read_instances
            from symbouq.evidence.generation.run import generate as generated

            instances, failed = read_instances([str(self.run.output(asked, QUESTIONS))])
            _raise_first(failed)
            engine = _engine(settings.engine, backbone.model, settings.batch)
            chosen = Settings(samples, settings.temperature, settings.seed, dataset.free_form)
            done = 0
            for progress in generated(instances, engine, chosen, out / TRACES):
                self.advance(progress.done - done)
                done = progress.done
            (out / TRACES).touch()

        traces = self._stage(
            "traces",
            cell,
            generate,
            (TRACES,),
            generation,
            ((asked, QUESTIONS), *weights),
            count * (self._seconds["trace"] + samples * self._seconds["sample"]),
            on_gpu=True,
            size=count,
        )
        audited = {
            view: self._stage(
                "audits",
                (*cell, *([view] if view else [])),
                partial(self._audit, traces, CONTEXTS[view]),
                (AUDITS,),
                {
                    "profile": self.config.profile,
                    "ontology": _ontology_hash(),
                    "contexts": CONTEXTS[view],
                },
                ((traces, TRACES),),
                count * _AUDIT,
                size=count,
            )
            for view in (None, *self.config.retrained)
        }
        audits = audited[None]

        def extract(out: Path) -> None:
            from symbouq.evidence.signals.extract import Extraction, extract

            made = extract(
                self.run.output(traces, TRACES),
                backbone.model,
                out / SIGNALS,
                self.run.output(audits, AUDITS),
                Extraction(lookback=self.config.lookback),
                self.advance,
            )
            _raise_first(made.failed)

        signals = self._stage(
            "signals",
            cell,
            extract,
            (SIGNALS,),
            {"lookback": self.config.lookback},
            ((traces, TRACES), (audits, AUDITS), *weights),
            count * self._seconds["signals"],
            on_gpu=True,
            size=count,
        )
        judges = [self.config.judge] if self.config.judge else []
        for judge in (*judges, *self.config.reference_judges):
            self._add_judged(judge, cell, traces, audits)
        judged = self.judged.get((self.config.judge.name, cell)) if self.config.judge else None
        labels = self._stage(
            "labels",
            cell,
            lambda out: _label(
                self.run.output(traces, TRACES),
                self.run.output(asked, GOLD),
                self.run.output(audits, AUDITS),
                self.run.output(judged, LABELS) if judged else None,
                out / LABELS,
            ),
            (LABELS,),
            {},
            (
                (traces, TRACES),
                (audits, AUDITS),
                (asked, GOLD),
                *([(judged, LABELS)] if judged else []),
            ),
        )
        self.cells[cell] = Parts(traces, audited, signals, labels)

    def _audit(self, traces: Stage, contexts: tuple[Context, ...], out: Path) -> None:
        from symbouq.auditing.jobs import auditing_in
        from symbouq.io.stream import Job
        from symbouq.records import Trace

        job = Job(auditing_in, (self.config.profile, contexts), Trace)
        self._do(job, self.run.output(traces, TRACES), out / AUDITS)

    def _add_judged(self, judge: BackboneConfig, cell: Cell, traces: Stage, audits: Stage) -> None:
        model = Path(judge.model)

        def work(out: Path) -> None:
            from symbouq.evidence.labels.judge import Judge, judging

            settings = self.config.generation
            engine = _engine(settings.engine, judge.model, settings.batch)
            found = judging(
                self.run.output(traces, TRACES),
                Judge(engine),
                out / LABELS,
                self.run.output(audits, AUDITS),
            )
            failed = []
            for one in found:
                failed += [one] if isinstance(one, RecordError) else []
                self.advance(1)
            _raise_first(failed)
            (out / LABELS).touch()

        self.judged[judge.name, cell] = self._stage(
            "judged",
            (judge.name, *cell),
            work,
            (LABELS,),
            {"judge": judge.model if not model.is_dir() else model.name},
            ((traces, TRACES), (audits, AUDITS), *([model] if model.is_dir() else [])),
            self.datasets[cell.dataset].sizes[cell.split] * self._seconds["trace"],
            on_gpu=True,
            size=self.datasets[cell.dataset].sizes[cell.split],
        )

    def _files(
        self, cell: Cell, labelled: bool, view: View | None = None
    ) -> list[tuple[Stage, str]]:
        parts = self.cells[cell]
        files = [(parts.traces, TRACES), (parts.audits[view], AUDITS), (parts.signals, SIGNALS)]
        return [*files, (parts.labels, LABELS)] if labelled else files

    def _add_scorers(self, backbone: BackboneConfig, view: View | None) -> None:
        """Stages that fit the scorers; on a view those that see it."""
        from symbouq.evidence.scorers.bank import seeds_of
        from symbouq.evidence.scorers.base import SCORERS as KNOWN
        from symbouq.evidence.scorers.base import entry
        from symbouq.reliability.variants import CONSTRAINT_FAMILY

        source = self.config.source
        train = Cell(backbone.name, source, "train")
        validation = Cell(backbone.name, source, "validation")
        names = [entry(name).name for name in self.config.scorers] or list(KNOWN)
        if view is not None:
            names = [name for name in names if name in CONSTRAINT_FAMILY]
        size = self.datasets[source].sizes["train"]

        def add(name: str) -> Stage:
            known = entry(name)
            epochs, width = self.config.epochs, self.config.width
            rate = self.config.learning_rate
            training = {"epochs": epochs, "width": width, "learning_rate": rate}

            def fit(out: Path) -> None:
                from symbouq.evidence.scorers import bank
                from symbouq.evidence.scorers.training import Settings

                learned = self.split(train, view=view).labelled()
                judged = self.split(validation, view=view).labelled()
                chosen = Settings(width=width, epochs=epochs, learning_rate=rate)
                settings = chosen if known.trained else None
                for seed in seeds:
                    resources = _resources(known.needs, backbone)
                    fitted = bank.fit(name, learned, judged, seed, settings, resources)
                    bank.save(fitted, out / SCORERS)
                    self.advance(1)

            seeds = seeds_of(known, self.config.seeds)
            trained = len(seeds) if known.trained else 0
            return self._stage(
                "scorer",
                (backbone.name, name, *([view] if view else [])),
                fit,
                (SCORERS,),
                {
                    "scorer": name,
                    "seeds": list(seeds),
                    **(training if known.trained else {}),
                },
                (*self._files(train, True, view), *self._files(validation, True, view)),
                size * epochs * width * trained * self._seconds["fit"],
                on_gpu=known.trained or "backbone" in known.needs,
                size=len(seeds),
            )

        self.scorers[backbone.name, view] = {name: add(name) for name in names}

    def _add_scores(self, backbone: BackboneConfig, cell: Cell, view: View | None) -> None:
        validation = Cell(backbone.name, cell.dataset, "validation")
        stages = self.scorers[backbone.name, view]

        def score(out: Path) -> None:
            from symbouq.evidence.scorers import bank
            from symbouq.evidence.scorers.base import entry

            files = self.split(cell, labelled=False, view=view)
            known = read_labels(self.run.output(self.cells[validation].labels, LABELS))
            correct = {label.labels[-1] for label in known.values()}
            folders = [
                folder
                for stage in stages.values()
                for folder in bank.kept(self.run.output(stage, SCORERS))
            ]
            needs = frozenset().union(*(entry(name).needs for name in stages))
            scoring = bank.Scoring(
                folders,
                lambda: _resources(needs, backbone),
                files,
                # One class teaches nothing: the source's map stays.
                self.split(validation, view=view) if {0, 1} <= correct else None,
            )
            bank.write_scores(out / SCORES, map(scoring, files.chunks()))

        self.scores[cell, view] = self._stage(
            "scores",
            (*cell, *([view] if view else [])),
            score,
            (SCORES,),
            {},
            tuple(
                dict.fromkeys(
                    (
                        *self._files(cell, False, view),
                        *self._files(validation, True, view),
                        *((stage, SCORERS) for stage in stages.values()),
                    )
                )
            ),
            on_gpu=True,
        )

    def _add_worlds(self, cell: Cell) -> None:
        """How the answers stand in the worlds that their scenes leave possible."""
        traces = self.cells[cell].traces

        def work(out: Path) -> None:
            from symbouq.io.stream import Job
            from symbouq.records import Trace
            from symbouq.reliability.jobs import checking_worlds

            job = Job(checking_worlds, (self.config.profile, None), Trace)
            self._do(job, self.run.output(traces, TRACES), out / WORLDS)

        self._worlds[cell] = self._stage(
            "worlds",
            cell,
            work,
            (WORLDS,),
            {"profile": self.config.profile, "ontology": _ontology_hash()},
            ((traces, TRACES),),
            self.datasets[cell.dataset].sizes[cell.split] * _AUDIT,
            size=self.datasets[cell.dataset].sizes[cell.split],
        )

    def _add_predictions(self, backbone: BackboneConfig, dataset: DatasetConfig) -> None:
        validation = Cell(backbone.name, dataset.name, "validation")
        test = Cell(backbone.name, dataset.name, "test")
        source = Cell(backbone.name, self.config.source, "validation")
        views = (None, *self.config.retrained)

        def seen(cell: Cell, view: View | None = None) -> Seen:
            parts = self.cells[cell]
            worlds = self._worlds.get(cell)
            return Seen.read(
                self.run.output(parts.traces, TRACES),
                self.run.output(parts.audits[view], AUDITS),
                self.run.output(self.scores[cell, view], SCORES),
                self.run.output(worlds, WORLDS) if worlds else None,
            )

        def labels(cell: Cell) -> dict[str, int]:
            known = read_labels(self.run.output(self.cells[cell].labels, LABELS))
            last = {name: label.labels[-1] for name, label in known.items()}
            return {name: label for name, label in last.items() if label is not None}

        def compose(out: Path) -> None:
            found = composed(
                {view: (seen(validation, view), seen(test, view)) for view in views},
                labels(validation),
                self.config.seeds,
                self.config.validation_sizes,
            )
            if source != validation:
                target = seen(validation), seen(test)
                transferred = without_target_labels(
                    seen(source), labels(source), target, self.config.seeds
                )
                found = chain(found, transferred)
            write_predictions(found, out / PREDICTIONS, out / COMPOSERS)

        cells = dict.fromkeys((validation, test, source))

        self.predictions[test] = self._stage(
            "predictions",
            test[:2],
            compose,
            (PREDICTIONS, COMPOSERS),
            {
                "seeds": self.config.seeds,
                "validation_sizes": self.config.validation_sizes,
                "views": self.config.views,
            },
            (
                *((self.cells[cell].labels, LABELS) for cell in cells if cell != test),
                *(
                    file
                    for cell in cells
                    for view in (views if cell != source or cell == validation else (None,))
                    for file in (
                        (self.cells[cell].audits[view], AUDITS),
                        (self.scores[cell, view], SCORES),
                    )
                ),
                *((self.cells[cell].traces, TRACES) for cell in cells),
                *((self._worlds[cell], WORLDS) for cell in cells if cell in self._worlds),
            ),
            _COMPOSE * len(self.config.seeds) * len(views),
        )

    def _add_costs(self, backbone: BackboneConfig) -> None:
        """How fast the scorers are, on the source's test traces."""
        from symbouq.evidence.scorers.base import SCORERS as KNOWN

        cell = Cell(backbone.name, self.config.source, "test")
        stages = self.scorers[backbone.name, None]
        if not self.datasets[self.config.source].sizes.get("test"):
            return

        def measure(out: Path) -> None:
            from symbouq.evidence.scorers import bank
            from symbouq.evidence.scorers.efficiency import PATH, cost, path_cost

            examples = self.split(cell, labelled=False).examples()
            fitted = [
                bank.load(
                    bank.kept(self.run.output(stage, SCORERS))[0], _resources(needs, backbone)
                )
                for name, stage in stages.items()
                for needs in [KNOWN[name].needs]
            ]
            found = [cost(one, examples) for one in fitted]
            path = [one for name in PATH for one in fitted if one.name == name]
            if len(path) == len(PATH):
                found.append(path_cost(path, examples))
            (out / COSTS).write_text(json.dumps([asdict(row) for row in found], indent=1) + "\n")

        self.costs[backbone.name] = self._stage(
            "costs",
            (backbone.name,),
            measure,
            (COSTS,),
            {},
            (*self._files(cell, False), *((stage, SCORERS) for stage in stages.values())),
            on_gpu=True,
        )

    def _add_counterfactual(self) -> None:
        """The counterfactual audit of the source's test questions."""
        asked = self._questions.get((self.config.source, "test"))
        if asked is None:
            return

        def work(out: Path) -> None:
            from symbouq.auditing.counterfactual import countering
            from symbouq.io.stream import Job
            from symbouq.records import Instance

            job = Job(countering, (self.config.profile, None), Instance)
            self._do(job, self.run.output(asked, QUESTIONS), out / PAIRS)

        self.pairs = self._stage(
            "counterfactual",
            (self.config.source,),
            work,
            (PAIRS,),
            {"profile": self.config.profile, "ontology": _ontology_hash()},
            ((asked, QUESTIONS),),
            size=self.datasets[self.config.source].sizes["test"],
        )


def _raise_first(failed: Sequence[RecordError]) -> None:
    if failed:
        raise failed[0]


@cache
def _engine(name: Any, model: str, batch: int | None) -> Engine:
    """An engine with its model, loaded once a run."""
    return load_engine(name, model, Options(batch_size=batch, masked_logprobs=False))


@cache
def _ontology_hash() -> str:
    """The hash of the built-in rules and ontology, as every audit records it."""
    from symbouq.auditing.auditor import TraceAuditor
    from symbouq.records import Instance

    return TraceAuditor().parser_for(Instance(id="none", scene="")).ontology.hash


def _silent(_count: int) -> None:
    """Tells nobody."""


def _label(traces: Path, gold: Path, audits: Path, judged: Path | None, out: Path) -> None:
    """Labels a traces file: conclusions by their answers, steps of generated scenes by the truth,
    other steps by the judge, where there is one.

    Raises:
        RecordError: If a trace has no answer to compare with.
    """
    from symbouq.auditing.correctness import answer_labels
    from symbouq.evidence.labels.merging import merge
    from symbouq.evidence.labels.records import labelled, read_claims
    from symbouq.experiments.scenes import truth

    answers = {row["id"]: row for row in map(json.loads, gold.read_text("utf-8").splitlines())}
    by_judge = read_labels(judged) if judged else {}
    with out.open("w", encoding="utf-8") as stream:
        for item in read_claims(traces, audits):
            if isinstance(item, RecordError):
                raise item
            known = answers.get(item["id"])
            if known is None:
                raise SymboUQError(f"trace {item['id']} has no answer", str(gold))
            record = item | known
            sources = [labelled(record, "answer", answer_labels)]
            if "facts" in (record.get("meta") or {}):
                sources.append(labelled(record, "truth", truth.labels))
            elif item["id"] in by_judge:
                sources.append(by_judge[item["id"]])
            merged = merge([{record["id"]: source} for source in sources])[0]
            stream.write(json.dumps(merged.record()) + "\n")


def _resources(needs: Any, backbone: BackboneConfig) -> Any:
    """What a scorer uses: a GPU where there is one, its backbone only where it needs it."""
    import torch

    from symbouq.evidence.scorers.bank import Resources

    device = "cuda" if torch.cuda.is_available() else "cpu"
    asked = _asked(backbone.model, device) if "backbone" in needs else None
    return Resources(backbone=asked, device=device)


@cache
def _asked(model: str, device: str) -> Any:
    """A backbone that can be asked whether an answer is right, loaded once a run."""
    from symbouq.evidence.scorers.sampling import TransformersBackbone

    return TransformersBackbone.load(model, device)
