"""The evidence bank as stages: questions, traces, audits, signals, labels, scorers, scores.

Questions and their answers lie in different files. Answers are read by the label stages
alone, and the labels of a test split by nothing before the tables.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from symbouq.errors import RecordError, SymboUQError
from symbouq.experiments.config import (
    BackboneConfig,
    DatasetConfig,
    ExperimentConfig,
    Split,
)
from symbouq.experiments.questions import (
    GOLD,
    QUESTIONS,
    dataset_file,
    write_questions,
    write_splits,
)
from symbouq.experiments.stages import Run, Stage
from symbouq.generation.engine import Engine, Options, load_engine

TRACES, AUDITS, SIGNALS, LABELS = "traces.jsonl", "audits.jsonl", "signals", "labels.jsonl"
SCORES, SCORERS, SPLITS = "scores.parquet", "scorers", "splits.json"

_VERSIONS = {
    "questions": 1,
    "splits": 1,
    "traces": 1,
    "audits": 1,
    "signals": 1,
    "labels": 1,
    "scorer": 1,
    "scores": 1,
}
"""Raised where a stage of that kind would write something else from the same inputs."""

# Seconds on two CPU cores for a backbone of a few million parameters, for the plan.
_SECONDS = {"trace": 0.1, "sample": 0.06, "audit": 0.004, "signals": 0.02, "fit": 7e-5}


class Cell(NamedTuple):
    """The traces of a backbone on a split of a dataset."""

    backbone: str
    dataset: str
    split: Split


@dataclass(frozen=True)
class Parts:
    """The stages of a cell."""

    traces: Stage
    audits: Stage
    signals: Stage
    labels: Stage


class Bank:
    """All stages up to the scores of every trace.

    Args:
        config: The experiment.
        folder: The run's folder.
        data: Folder of the benchmarks, where a dataset reads files.
    """

    def __init__(self, config: ExperimentConfig, folder: Path, data: Path | None = None) -> None:
        self.config = config
        self.data = data
        self.datasets = {dataset.name: dataset for dataset in config.datasets}
        self.stages: list[Stage] = []
        self.cells: dict[Cell, Parts] = {}
        self.scorers: dict[str, dict[str, Stage]] = {}
        self.scores: dict[Cell, Stage] = {}
        self._questions: dict[tuple[str, Split], Stage] = {}
        for dataset in config.datasets:
            for split in dataset.sizes:
                self._add_questions(dataset, split)
            self._add_splits(dataset)
        for backbone in config.backbones:
            for dataset in config.datasets:
                for split in dataset.sizes:
                    self._add_cell(backbone, dataset, split)
            self._add_scorers(backbone)
            for dataset in config.datasets:
                for split in ("validation", "test"):
                    if dataset.sizes.get(split):
                        self._add_scores(backbone, Cell(backbone.name, dataset.name, split))
        self.run = Run(folder, self.stages)

    def split(self, cell: Cell, labelled: bool = True) -> Any:
        """The files of a cell as `symbouq.scorers.bank.Split`.

        Args:
            cell: The cell.
            labelled: Whether its labels are among them.
        """
        from symbouq.scorers.bank import Split as Files

        parts = self.cells[cell]
        return Files(
            self.run.output(parts.traces, TRACES),
            self.run.output(parts.signals, SIGNALS),
            self.run.output(parts.audits, AUDITS),
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
    ) -> Stage:
        stage = Stage(
            "-".join((kind, *about)).replace("/", "_").replace(" ", "_"),
            work,
            tuple(outputs),
            settings | {"version": _VERSIONS[kind]},
            tuple(inputs),
            cost,
        )
        self.stages.append(stage)
        return stage

    def _add_questions(self, dataset: DatasetConfig, split: Split) -> None:
        files = [dataset_file(dataset, split, self.data)] if dataset.files else []
        self._questions[dataset.name, split] = self._stage(
            "questions",
            (dataset.name, split),
            lambda out: write_questions(dataset, split, self.data, out),
            (QUESTIONS, GOLD),
            dataset.model_dump(mode="json", exclude={"sizes"}) | {"size": dataset.sizes[split]},
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
            "model": backbone.model if not weights else model.name,
        }

        def generate(out: Path) -> None:
            from symbouq.generation.run import Settings, read_instances
            from symbouq.generation.run import generate as generated

            instances, failed = read_instances([str(self.run.output(asked, QUESTIONS))])
            _raise_first(failed)
            engine = _engine(settings.engine, backbone.model, settings.batch)
            chosen = Settings(samples, settings.temperature, settings.seed)
            for _ in generated(instances, engine, chosen, out / TRACES):
                pass
            (out / TRACES).touch()

        traces = self._stage(
            "traces",
            cell,
            generate,
            (TRACES,),
            generation,
            ((asked, QUESTIONS), *weights),
            count * (_SECONDS["trace"] + samples * _SECONDS["sample"]),
        )
        audits = self._stage(
            "audits",
            cell,
            lambda out: _audit(self.run.output(traces, TRACES), self.config.profile, out / AUDITS),
            (AUDITS,),
            {"profile": self.config.profile, "ontology": _ontology_hash()},
            ((traces, TRACES),),
            count * _SECONDS["audit"],
        )

        def extract(out: Path) -> None:
            from symbouq.evidence.extract import Extraction, extract

            made = extract(
                self.run.output(traces, TRACES),
                backbone.model,
                out / SIGNALS,
                self.run.output(audits, AUDITS),
                Extraction(lookback=self.config.lookback),
            )
            _raise_first(made.failed)

        signals = self._stage(
            "signals",
            cell,
            extract,
            (SIGNALS,),
            {"lookback": self.config.lookback},
            ((traces, TRACES), (audits, AUDITS), *weights),
            count * _SECONDS["signals"],
        )
        labels = self._stage(
            "labels",
            cell,
            lambda out: _label(
                self.run.output(traces, TRACES),
                self.run.output(asked, GOLD),
                self.run.output(audits, AUDITS),
                out / LABELS,
            ),
            (LABELS,),
            {},
            ((traces, TRACES), (audits, AUDITS), (asked, GOLD)),
        )
        self.cells[cell] = Parts(traces, audits, signals, labels)

    def _files(self, cell: Cell, labelled: bool) -> list[tuple[Stage, str]]:
        parts = self.cells[cell]
        files = [(parts.traces, TRACES), (parts.audits, AUDITS), (parts.signals, SIGNALS)]
        return [*files, (parts.labels, LABELS)] if labelled else files

    def _add_scorers(self, backbone: BackboneConfig) -> None:
        from symbouq.scorers.bank import seeds_of
        from symbouq.scorers.base import SCORERS as KNOWN
        from symbouq.scorers.base import entry

        source = self.config.source
        train = Cell(backbone.name, source, "train")
        validation = Cell(backbone.name, source, "validation")
        names = [entry(name).name for name in self.config.scorers] or list(KNOWN)
        size = self.datasets[source].sizes["train"]

        def add(name: str) -> Stage:
            known = entry(name)
            epochs, width = self.config.epochs, self.config.width

            def fit(out: Path) -> None:
                from symbouq.scorers import bank
                from symbouq.scorers.training import Settings

                learned = self.split(train).labelled()
                judged = self.split(validation).labelled()
                settings = Settings(width=width, epochs=epochs) if known.trained else None
                for seed in seeds_of(known, self.config.seeds):
                    resources = _resources(known.needs, backbone)
                    fitted = bank.fit(name, learned, judged, seed, settings, resources)
                    bank.save(fitted, out / SCORERS)

            trained = len(self.config.seeds) if known.trained else 0
            return self._stage(
                "scorer",
                (backbone.name, name),
                fit,
                (SCORERS,),
                {
                    "scorer": name,
                    "seeds": list(seeds_of(known, self.config.seeds)),
                    **({"epochs": epochs, "width": width} if known.trained else {}),
                },
                (*self._files(train, True), *self._files(validation, True)),
                size * epochs * width * trained * _SECONDS["fit"],
            )

        self.scorers[backbone.name] = {name: add(name) for name in names}

    def _add_scores(self, backbone: BackboneConfig, cell: Cell) -> None:
        validation = Cell(backbone.name, cell.dataset, "validation")
        stages = self.scorers[backbone.name]

        def score(out: Path) -> None:
            from dataclasses import replace

            from symbouq.scorers import bank
            from symbouq.scorers.base import entry

            examples = self.split(cell, labelled=False).examples()
            judged = self.split(validation).labelled()

            def parts() -> Iterator[tuple[Any, list[Any]]]:
                for name, stage in stages.items():
                    resources = _resources(entry(name).needs, backbone)
                    for folder in bank.kept(self.run.output(stage, SCORERS)):
                        fitted = bank.load(folder, resources)
                        calibrator = bank.calibrate(fitted.scorer, judged)
                        fitted = replace(fitted, calibrator=calibrator)
                        yield fitted, list(bank.scores(fitted, examples))

            bank.write_scores(out / SCORES, parts())

        self.scores[cell] = self._stage(
            "scores",
            cell,
            score,
            (SCORES,),
            {},
            tuple(
                dict.fromkeys(
                    (
                        *self._files(cell, False),
                        *self._files(validation, True),
                        *((stage, SCORERS) for stage in stages.values()),
                    )
                )
            ),
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
    from symbouq.pipeline import TraceAuditor
    from symbouq.records import Instance

    return TraceAuditor().ontology_for(Instance(id="none", scene="")).hash


def _audit(traces: Path, profile: str | None, out: Path) -> None:
    """Audits a traces file, with as many processes as there are cores.

    Raises:
        RecordError: If a trace cannot be audited.
    """
    from symbouq.jobs import auditing
    from symbouq.records import Trace
    from symbouq.stream import Job, process

    job = Job(auditing, (profile, None, "assumed"), Trace)
    with out.open("wb") as stream:
        for outcome in process([str(traces)], job):
            if outcome.output is None:
                raise RecordError(outcome.error or "not audited", outcome.file, outcome.number)
            stream.write(outcome.output + b"\n")


def _label(traces: Path, gold: Path, audits: Path, out: Path) -> None:
    """Labels a traces file: conclusions by their answers, steps of generated scenes by the truth.

    Raises:
        RecordError: If a trace has no answer to compare with.
    """
    from symbouq.labels.answers import answer_labels
    from symbouq.labels.merging import merge
    from symbouq.labels.records import labelled, read_claims
    from symbouq.scenes import truth

    answers = {row["id"]: row for row in map(json.loads, gold.read_text("utf-8").splitlines())}
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
            merged = merge([{record["id"]: source} for source in sources])[0]
            stream.write(json.dumps(merged.record()) + "\n")


def _resources(needs: Any, backbone: BackboneConfig) -> Any:
    """What a scorer uses: its backbone only where it needs one."""
    from symbouq.scorers.bank import Resources

    return Resources(backbone=_asked(backbone.model) if "backbone" in needs else None)


@cache
def _asked(model: str) -> Any:
    """A backbone that can be asked whether an answer is right, loaded once a run."""
    from symbouq.scorers.sampling import TransformersBackbone

    return TransformersBackbone.load(model)
