"""Results of an experiment: scores and audited claims of the test traces.

Test labels are read only in this module, and only after predictions have been written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import RecordError, SymboUQError, extra
from symbouq.evidence.labels.human import SOURCE as HUMAN
from symbouq.evidence.labels.human import HumanLabels
from symbouq.evidence.labels.records import Label, Labels, labelled, read_claims, read_labels
from symbouq.evidence.scorers.bank import Score, read_scores
from symbouq.experiments.composition import METHOD, read_predictions
from symbouq.experiments.experiment import Experiment
from symbouq.experiments.questions import read_rows
from symbouq.experiments.stages import Cell, conclusion_labels
from symbouq.metrics import (
    Comparison,
    auroc_within,
    evaluate,
    micro_f1,
    oracle,
    paired_bootstrap,
    weighted_determinacy,
)
from symbouq.records import Instance
from symbouq.reliability.first_errors import Row as FirstErrorsRow
from symbouq.reliability.first_errors import compared, known_errors
from symbouq.version import __version__

if TYPE_CHECKING:
    from pandas import DataFrame

Values = NDArray[np.float64]

METRICS = {
    "auroc": "AUROC",
    "balanced_brier": "balanced Brier",
    "brier": "Brier",
    "ece": "ECE",
    "nll": "NLL",
    "aurc": "AURC",
}
"""The metrics computed for every method, with their names in tables."""

ORACLE = ("Constraint", "Neural-Seq")
"""The two scores from which the oracle in Table ablation chooses."""


class CellResults:
    """A backbone's test traces on a dataset. There are none if the backbone does not answer this
    dataset.
    """

    def __init__(self, experiment: Experiment, cell: Cell) -> None:
        self.cell = cell
        self._experiment = experiment
        self._stages = experiment.cells.get(cell)
        self._path = experiment.run.output

    @cached_property
    def claim_labels(self) -> dict[str, tuple[Label, ...]]:
        """Labels of each trace's claims, by id; the conclusion comes last."""
        labels = read_labels(self._path(self._stages.labels)) if self._stages else {}
        return {name: record.labels for name, record in labels.items()}

    @cached_property
    def truth(self) -> dict[str, int]:
        """Whether each labelled trace's answer is right, by id."""
        return conclusion_labels(self._path(self._stages.labels)) if self._stages else {}

    @cached_property
    def traces(self) -> list[dict[str, Any]]:
        """The generated traces."""
        return read_rows(self._path(self._stages.traces)) if self._stages else []

    @cached_property
    def audits(self) -> list[dict[str, Any]]:
        """Audits of the traces in the assumed context."""
        return read_rows(self._path(self._stages.audits[None])) if self._stages else []

    def profiles(self, name: str) -> list[float]:
        """Return the named value from the audit profile of each trace."""
        return [audit["profile"][name] for audit in self.audits]

    @property
    def determinacy(self) -> float | None:
        """Determinacy of the traces, weighted by the number of parsed claims."""
        parsed = [sum(bool(x["relations"]) for x in audit["claims"]) for audit in self.audits]
        return weighted_determinacy(self.profiles("determinacy"), parsed)

    @cached_property
    def _scored(self) -> dict[tuple[str, int], dict[str, float | None]]:
        """Scores of the test traces from single methods, by method and seed, then by id."""
        return self._scores_of(self.cell)

    def _scores_of(self, cell: Cell) -> dict[tuple[str, int], dict[str, float | None]]:
        scores: dict[tuple[str, int], dict[str, float | None]] = {}
        for row in self._rows_of(cell):
            scores.setdefault((row.method, row.seed), {})[row.id] = row.score
        return scores

    def _rows_of(self, cell: Cell) -> list[Score]:
        stages = self._experiment.cells.get(cell)
        return read_scores(self._path(stages.scores[None])) if stages and stages.scores else []

    @property
    def _validation(self) -> Cell:
        return self.cell._replace(split="validation")

    @cached_property
    def scores(self) -> dict[str, dict[int, Values]]:
        """Scores of the traces in `truth`, in the same order, by method and seed. Both single
        scores and compositions are included.

        As in the composer, a missing score is replaced by the method's mean over validation.
        """
        scores: dict[str, dict[int, Values]] = {}
        validation = self._scores_of(self._validation)
        for (method, seed), by_id in self._scored.items():
            scored = [score for score in validation[method, seed].values() if score is not None]
            mean = sum(scored) / len(scored) if scored else 0.5
            column = [by_id.get(name) for name in self.truth]
            scores.setdefault(method, {})[seed] = np.array(
                [mean if score is None else score for score in column], np.float64
            )
        if self._stages is not None and self._stages.predictions is not None:
            predictions = read_predictions(self._path(self._stages.predictions))
            for (method, seed), predicted in predictions.items():
                column = [predicted[name] for name in self.truth]
                scores.setdefault(method, {})[seed] = np.array(column, np.float64)
        return scores

    @cached_property
    def imputed(self) -> int:
        """Number of labelled test traces that lack at least one score."""
        columns = self._scored.values()
        return sum(any(scores.get(name) is None for scores in columns) for name in self.truth)

    @cached_property
    def _values(self) -> dict[tuple[str, str], list[float]]:
        """Values of each metric for all seeds for which it is defined, by method and metric. There
        are no values unless both classes occur.

        The method `oracle` is the better of two scores (Table ablation).
        """
        labels = [*self.truth.values()]
        runs = {method: [*by_seed.values()] for method, by_seed in self.scores.items()}
        candidates = {name: self.scores.get(name, {}) for name in ORACLE}
        for seed in sorted(set.intersection(*map(set, candidates.values()))):
            _, best = oracle({name: scores[seed] for name, scores in candidates.items()}, labels)
            if best is not None:
                runs.setdefault("oracle", []).append(best)
        values = {}
        for method, metric in product(runs, METRICS):
            found = (evaluate(metric, scores, labels) for scores in runs[method])
            values[method, metric] = [value for value in found if value is not None]
        return values

    def values(self, method: str, metric: str) -> list[float]:
        """Return the values of a metric for all seeds for which it is defined."""
        return self._values.get((method, metric), [])

    def metric(self, method: str, metric: str) -> float | None:
        """Return the mean of a metric over seeds; None if undefined."""
        values = self.values(method, metric)
        return sum(values) / len(values) if values else None

    def has(self, method: str) -> bool:
        """Whether a method has scores."""
        return (method, "auroc") in self._values

    def runs(self, method: str) -> list[tuple[Values, Values]]:
        """Return scores and labels for each seed. The traces are the same for all methods."""
        labels = np.array([*self.truth.values()], np.float64)
        return [(scores, labels) for scores in self.scores.get(method, {}).values()]

    def within_length(self, method: str) -> float | None:
        """Return the AUROC among traces with the same number of claims and hops, averaged over
        seeds; None if undefined.
        """
        by_id = {trace["id"]: trace for trace in self.traces}
        lengths = {audit["id"]: len(audit["claims"]) for audit in self.audits}
        strata = [(lengths[name], by_id[name].get("hops")) for name in self.truth]
        areas = [auroc_within(scores, labels, strata) for scores, labels in self.runs(method)]
        defined = [area for area in areas if area is not None]
        return sum(defined) / len(defined) if defined else None

    def first_errors(self) -> list[FirstErrorsRow]:
        """Measure how well the auditor and claim scores find the first wrong claim of each trace.
        Thresholds are fitted on validation.
        """
        validation = CellResults(self._experiment, self._validation)
        known, to_fit_on = (known_errors(c.audits, c.claim_labels) for c in (self, validation))
        scored = self._rows_of(self._validation), self._rows_of(self.cell)
        return compared(to_fit_on, known, *scored) if known else []

    def labelled_by(self, people: Path) -> dict[str, Labels]:
        """Return human labels for the claims in these traces, by id.

        Raises:
            RecordError: If a row cannot be read, or refers to a claim that does not exist.
        """
        source = HumanLabels(people)
        assert self._stages is not None  # human labels are configured only for existing traces
        claims = read_claims(self._path(self._stages.traces), self._path(self._stages.audits[None]))
        given = {}
        for record in claims:
            if isinstance(record, RecordError):
                raise record
            given[record["id"]] = labelled(record, HUMAN, source)
        if unused := source.unused():
            raise unused[0]
        return given

    def gain(self, over: str) -> Comparison | None:
        """Compare the AUROC of the full method with that of the method `over`, by paired bootstrap
        over test traces. In each resample, the difference is averaged over seeds.
        """
        first, second = self.scores.get(METHOD, {}), self.scores.get(over, {})
        seeds = [seed for seed in first if seed in second]
        if not seeds:
            return None
        ours, theirs = (np.stack([runs[seed] for seed in seeds]) for runs in (first, second))
        return paired_bootstrap(ours, theirs, [*self.truth.values()])


class Results:
    """The results of a finished experiment."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.config = experiment.config
        self._cells: dict[Cell, CellResults] = {}

    @property
    def footer(self) -> str:
        """The version, configuration (name and hash) and seeds, shown below tables and figures."""
        # The path of a model's folder is irrelevant to the results.
        paths = {"model", "chat_template"}
        people = {"__all__": {"file"}}
        excluded: Any = {
            "backbones": {"__all__": paths},
            "judge": paths,
            "reference_judges": {"__all__": paths},
            "annotations": people,
            "human_labels": people,
        }
        dumped = self.config.model_dump(mode="json", exclude=excluded)
        models = (*self.config.backbones, *self.config.judges)
        dumped["models"] = [model.identity for model in models]
        if self.config.nli is not None:
            dumped["nli"] = Path(self.config.nli).name
        text = json.dumps(dumped, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        seeds = ", ".join(map(str, self.config.seeds))
        return f"symbouq {__version__}, configuration {self.config.name} {digest}, seeds {seeds}"

    @property
    def backbones(self) -> list[str]:
        """Names of the backbones."""
        return [backbone.name for backbone in self.config.backbones]

    @property
    def datasets(self) -> list[str]:
        """Names of the datasets with structured test traces."""
        return [d.name for d in self.config.datasets if d.sizes.get("test") and not d.free_form]

    def cell(self, backbone: str, dataset: str) -> CellResults:
        """Return the test traces of a backbone on a dataset."""
        cell = Cell(backbone, dataset, "test")
        return self._cells.setdefault(cell, CellResults(self.experiment, cell))

    def cells(self) -> list[CellResults]:
        """Test traces of all backbones on all datasets, one backbone after the other."""
        return [self.cell(b, d) for b in self.backbones for d in self.datasets]

    @cached_property
    def claims(self) -> DataFrame:
        """One row per claim: `backbone`, `dataset`, `trace` (its number), `parsed`, `verdict`,
        `grounded` (the verdict in the grounded context) and `label`, which is None except for
        labelled reasoning steps.
        """
        rows = []
        for cell in self.cells():
            for number, audit in enumerate(cell.audits):
                claims, labels = audit["claims"], cell.claim_labels.get(audit["id"], ())
                steps = [*labels[:-1][: len(claims) - 1], *[None] * len(claims)]
                for claim, label in zip(claims, steps, strict=False):
                    verdicts = claim["verdict"], claim["grounded_verdict"]
                    parsed = bool(claim["relations"])
                    rows.append((*cell.cell[:2], number, parsed, *verdicts, label))
        columns = ("backbone", "dataset", "trace", "parsed", "verdict", "grounded", "label")
        return _frame(rows, columns).astype({"parsed": bool})


def relation_f1(audits: Iterable[dict[str, Any]], annotated: Path) -> float | None:
    """Compute the F1 of the relations found by the parser against annotated relations
    (`AnnotationConfig`). A relation and its converse count as the same.

    Raises:
        SymboUQError: If the file cannot be read, or refers to an unknown claim.
    """
    by_id = {audit["id"]: audit for audit in audits}
    auditor = TraceAuditor()
    parsed, wanted = [], []
    for number, line in enumerate(_text(annotated).splitlines(), start=1):
        try:
            item = _Annotation.model_validate_json(line)
        except ValidationError as error:
            raise SymboUQError(f"is no annotation: {error}", str(annotated), number) from error
        audit = by_id.get(item.id)
        if audit is None or item.claim > len(audit["claims"]):
            message = f"trace {item.id!r} has no claim {item.claim}, or is none of these"
            raise SymboUQError(message, str(annotated), number)
        profile = audit["ontology"]["profile"]
        ontology = auditor.parser_for(Instance(id=item.id, scene="", profile=profile)).ontology
        stated = [(s, r.casefold().replace("-", "_"), o) for s, r, o in item.relations]
        unknown = sorted({relation for _, relation, _ in stated} - ontology.relations.family.keys())
        if unknown:
            message = f"unknown relation {unknown[0]!r} in profile {profile}"
            raise SymboUQError(message, str(annotated), number)
        relations = audit["claims"][item.claim - 1]["relations"]
        read = ((r["subject"], r["relation"], r["object"]) for r in relations)
        parsed.append({_one_way(triple, ontology.relations.mirror) for triple in read})
        wanted.append({_one_way(triple, ontology.relations.mirror) for triple in stated})
    return micro_f1(parsed, wanted)


class _Annotation(BaseModel):
    """The relations that people annotated in a claim."""

    id: str
    claim: Annotated[int, Field(ge=1)]
    relations: list[tuple[str, str, str]]


def _one_way(triple: tuple[str, str, str], mirror: Mapping[str, str]) -> tuple[str, str, str]:
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


def _frame(rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> DataFrame:
    with extra("fit"):
        import pandas as pd
    return pd.DataFrame(rows, columns=columns)
