"""What an experiment found: scores, predictions and labels of the test traces.

Test labels are read here, after predictions are written, and nowhere else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from symbouq.errors import SymboUQError
from symbouq.evidence.labels.records import Label, read_labels
from symbouq.experiments.composition import METHOD, read_predictions
from symbouq.experiments.config import View
from symbouq.experiments.experiment import (
    AUDITS,
    LABELS,
    PREDICTIONS,
    SCORES,
    TRACES,
    Cell,
    Experiment,
)
from symbouq.metrics import Comparison, evaluate, micro_f1, paired_bootstrap
from symbouq.version import __version__

Values = NDArray[np.float64]


class CellResults:
    """The test traces of a backbone on a dataset.

    Args:
        experiment: The experiment, its stages made.
        cell: The cell.
    """

    def __init__(self, experiment: Experiment, cell: Cell) -> None:
        self.cell = cell
        self._experiment = experiment
        self._parts = experiment.cells[cell]

    def _file(self, stage: Any, name: str) -> Path:
        return self._experiment.run.output(stage, name)

    @cached_property
    def claim_labels(self) -> dict[str, tuple[Label, ...]]:
        """The labels of each trace's claims, by id; the last one is the conclusion's."""
        labels = read_labels(self._file(self._parts.labels, LABELS))
        return {name: known.labels for name, known in labels.items()}

    @cached_property
    def truth(self) -> dict[str, int]:
        """Whether each trace's answer is right, by id."""
        last = {name: labels[-1] for name, labels in self.claim_labels.items()}
        return {name: label for name, label in last.items() if label is not None}

    @cached_property
    def traces(self) -> list[dict[str, Any]]:
        """The traces as they were written."""
        return _lines(self._file(self._parts.traces, TRACES))

    def audits(self, view: View | None = None) -> list[dict[str, Any]]:
        """Their audits."""
        return _lines(self._file(self._parts.audits[view], AUDITS))

    @cached_property
    def _scored(self) -> dict[str, dict[int, dict[str, float | None]]]:
        """For each method and seed of the single scores those of the test traces, by id."""
        return self._scores_of(self.cell)

    def _scores_of(self, cell: Cell) -> dict[str, dict[int, dict[str, float | None]]]:
        from symbouq.evidence.scorers.bank import read_scores

        found: dict[str, dict[int, dict[str, float | None]]] = {}
        stage = self._experiment.scores.get((cell, None))
        for row in read_scores(self._file(stage, SCORES)) if stage else ():
            found.setdefault(row.method, {}).setdefault(row.seed, {})[row.id] = row.score
        return found

    @cached_property
    def by_method(self) -> dict[str, dict[int, dict[str, float]]]:
        """For each method and seed the scores of all labelled test traces, by id: single scores and
        compositions. Where a trace has no score, the method's mean over validation stands for it,
        as it does for the composer.
        """
        found: dict[str, dict[int, dict[str, float]]] = {}
        validation = self._scores_of(self.cell._replace(split="validation"))
        for method, seeds in self._scored.items():
            for seed, scores in seeds.items():
                others = validation[method][seed].values()
                known = [score for score in others if score is not None]
                mean = sum(known) / len(known) if known else 0.5
                given = {name: scores.get(name) for name in self.truth}
                found.setdefault(method, {})[seed] = {
                    name: mean if score is None else score for name, score in given.items()
                }
        predicted = self._experiment.predictions.get(self.cell)
        if predicted is not None:
            of = read_predictions(self._file(predicted, PREDICTIONS))
            for (method, seed), every in of.items():
                found.setdefault(method, {})[seed] = {name: every[name] for name in self.truth}
        return found

    @cached_property
    def imputed(self) -> int:
        """How many of the labelled test traces lack a score, of whatever method."""
        every = [scores for seeds in self._scored.values() for scores in seeds.values()]
        return sum(any(scores.get(name) is None for scores in every) for name in self.truth)

    def runs(self, method: str) -> list[tuple[Values, Values]]:
        """Scores and labels of each seed: of every method those of the same traces."""
        labels = np.array([*self.truth.values()], np.float64)
        return [
            (np.array([*scores.values()], np.float64), labels)
            for scores in self.by_method.get(method, {}).values()
        ]

    def metric(self, method: str, metric: str) -> float | None:
        """The mean of a metric over seeds; None where it is not defined."""
        values = [evaluate(metric, scores, labels) for scores, labels in self.runs(method)]
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None

    def has(self, method: str) -> bool:
        """Whether there is anything of a method."""
        return method in self.by_method

    def gain(self, method: str = METHOD, over: str = "scores only") -> Comparison | None:
        """The AUROC gain of a composition over another by paired bootstrap over test traces: each
        resample's gain is the mean over seeds.
        """
        first, second = self.by_method.get(method, {}), self.by_method.get(over, {})
        seeds = [seed for seed in first if seed in second]
        if not seeds:
            return None

        def matrix(of: dict[int, dict[str, float]]) -> Values:
            return np.array([[*of[seed].values()] for seed in seeds])

        return paired_bootstrap(matrix(first), matrix(second), [*self.truth.values()])


class Results:
    """What an experiment found.

    Args:
        experiment: The experiment, its stages made.
    """

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.config = experiment.config
        self._cells: dict[Cell, CellResults] = {}

    @property
    def footer(self) -> str:
        """What tables and figures were made from: the configuration by name and hash."""
        # Where a model's folder lies says nothing of what was run.
        dumped = self.config.model_dump(
            mode="json", exclude={"backbones": {"__all__": {"model"}}, "judge": {"model"}}
        )
        text = json.dumps(dumped, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        seeds = ", ".join(map(str, self.config.seeds))
        return f"symbouq {__version__}, configuration {self.config.name} {digest}, seeds {seeds}"

    @property
    def backbones(self) -> list[str]:
        """Their names."""
        return [backbone.name for backbone in self.config.backbones]

    @property
    def datasets(self) -> list[str]:
        """Names of those whose traces are structured and tested."""
        return [d.name for d in self.config.datasets if d.sizes.get("test") and not d.free_form]

    def cell(self, backbone: str, dataset: str) -> CellResults:
        """The test traces of a backbone on a dataset."""
        cell = Cell(backbone, dataset, "test")
        return self._cells.setdefault(cell, CellResults(self.experiment, cell))

    def cells(self) -> list[CellResults]:
        """All of them, backbone by backbone."""
        return [self.cell(b, d) for b in self.backbones for d in self.datasets]


def relation_f1(audits: Iterable[dict[str, Any]], annotated: Path) -> float | None:
    """F1 of the relations that were read from claims, over those that people read in them; a
    relation and its converse are one.

    Args:
        audits: Audits of the traces.
        annotated: As `symbouq.experiments.config.AnnotationConfig` has it.

    Raises:
        SymboUQError: If the file cannot be read, or names a claim that is not there.
    """
    from symbouq.auditing.auditor import TraceAuditor
    from symbouq.records import Instance

    by_id = {audit["id"]: audit for audit in audits}
    auditor = TraceAuditor()
    found, wanted = [], []
    for number, line in enumerate(_text(annotated).splitlines(), start=1):
        try:
            one = _Annotation.model_validate_json(line)
        except ValidationError as error:
            raise SymboUQError(f"is no annotation: {error}", str(annotated), number) from error
        audit = by_id.get(one.id)
        if audit is None or one.claim > len(audit["claims"]):
            message = f"trace {one.id!r} has no claim {one.claim}, or is none of these"
            raise SymboUQError(message, str(annotated), number)
        profile = audit["ontology"]["profile"]
        ontology = auditor.parser_for(Instance(id=one.id, scene="", profile=profile)).ontology
        stated = [(s, r.casefold().replace("-", "_"), o) for s, r, o in one.relations]
        unknown = sorted({relation for _, relation, _ in stated} - ontology.families.keys())
        if unknown:
            message = f"unknown relation {unknown[0]!r} in profile {profile}"
            raise SymboUQError(message, str(annotated), number)
        relations = audit["claims"][one.claim - 1]["relations"]
        read = ((r["subject"], r["relation"], r["object"]) for r in relations)
        found.append({_one_way(triple, ontology.mirror) for triple in read})
        wanted.append({_one_way(triple, ontology.mirror) for triple in stated})
    return micro_f1(found, wanted)


class _Annotation(BaseModel):
    """The relations that people read in a claim."""

    id: str
    claim: Annotated[int, Field(ge=1)]
    relations: list[tuple[str, str, str]]


def _one_way(triple: tuple[str, str, str], mirror: Mapping[str, str]) -> tuple[str, str, str]:
    """The same relation for a relation and its converse."""
    subject, relation, other = triple
    subject, other = subject.casefold(), other.casefold()
    turned = mirror.get(relation)
    forward = (subject, relation, other)
    return forward if turned is None else min(forward, (other, turned, subject))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SymboUQError(f"cannot be read: {error}", str(path)) from error


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
