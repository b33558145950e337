"""Reliability models, which are fitted on labelled traces, stored as JSON and applied to new
traces.

A model contains the calibration of each candidate score, Constraint-Only, the composer, and the
hash of the ontology used for fitting. Labels and scikit-learn are not needed to apply a model.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.base import Orientation
from symbouq.evidence.scorers.calibration import Calibrator
from symbouq.evidence.scorers.stored import Stored
from symbouq.io.output import replacing
from symbouq.metrics import Values
from symbouq.reliability import constraint_only, darc
from symbouq.reliability.constraint_only import ConstraintOnly
from symbouq.reliability.darc import Composer, Evidence, Options
from symbouq.reliability.designs import Coverage, CoverageKind
from symbouq.reliability.guarantee import DELTA, Guarantee, control, least_traces
from symbouq.reliability.reading import (
    RULE,
    Composition,
    Reader,
    Reading,
    feature_names,
)
from symbouq.reliability.variants import VARIANTS
from symbouq.version import __version__

FORMAT = 1
"""Format version of the model file."""

OPERATIONAL = tuple(n for n, v in VARIANTS.items() if not (v.shuffled or v.average or v.profile))
"""Variants that a model may use, because they process each trace independently of others."""


@dataclass(frozen=True)
class Candidate:
    """Calibration of one score. Its mean on validation replaces a missing score.

    The calibrator (appendix Training and Calibration) is None if validation has only one class. In
    this case, the score is not changed.
    """

    calibrator: Calibrator | None
    mean: float

    def __call__(self, values: Values) -> float:
        """Calibrate a trace's score, given one value per claim or one for the whole trace."""
        return float(values[-1]) if self.calibrator is None else float(self.calibrator([values])[0])


@dataclass(frozen=True)
class Model(Stored):
    """Fitted reliability model.

    Attributes:
        composition: Contexts that the constraint scores use.
        profile: Profile for all traces; None: the profile of each trace or of its dataset, or the
            default.
        ontology: Hash of the rules and ontology used for fitting.
        coverage: Kind of determinacy that the composer uses.
        candidates: Candidate scores by name.
        constraint_only: The Constraint-Only classifier, if it could be fitted.
        composer: The composer.
        notes: How the model was fitted: numbers of traces and right answers, seed, omitted scores.
        guarantee: Acceptance threshold, if one was requested.
    """

    noun = "a reliability model"

    composition: Composition
    profile: str | None
    ontology: str
    coverage: CoverageKind
    candidates: dict[str, Candidate]
    constraint_only: ConstraintOnly | None
    composer: Composer
    notes: dict[str, Any]
    guarantee: Guarantee | None = None

    def reader(
        self,
        profile: str | None = None,
        ontology: str | os.PathLike[str] | None = None,
        pipeline: str | None = None,
    ) -> Reader:
        """Create a reader of traces for this model. A given profile replaces the model's.

        Raises:
            OntologyError: If the ontology or the profile is invalid.
        """
        return Reader(self.composition, profile or self.profile, ontology, pipeline)

    def evidence(self, readings: Sequence[Reading]) -> tuple[Evidence, list[list[str]]]:
        """Return the candidate scores for traces read by this model's `reader`, and the names of
        the scores missing from each trace.
        """
        names = tuple(self.candidates)
        rows, missing = [], []
        for reading in readings:
            values = _values(reading)
            if self.constraint_only is not None:
                x = np.array([reading.features], np.float64)
                values.setdefault(constraint_only.NAME, self.constraint_only(x))
            missing.append([name for name in names if name not in values])
            rows.append(
                [
                    candidate(values[name]) if name in values else candidate.mean
                    for name, candidate in self.candidates.items()
                ]
            )
        scores = np.array(rows, np.float64).reshape(len(readings), len(names))
        return Evidence(names, scores, _coverage(readings, self.coverage)), missing

    def predict(self, readings: Sequence[Reading]) -> list[dict[str, Any]]:
        """Return the output records of `symbouq predict` (`symbouq.records.Reliability`) for the
        given readings.
        """
        evidence, missing = self.evidence(readings)
        rows = zip(
            readings,
            missing,
            self.composer.predict(evidence).tolist(),
            evidence.scores.tolist(),
            self.composer.contributions(evidence),
            strict=True,
        )
        return [
            {
                "id": reading.id,
                "reliability": p,
                **({"accepted": self.guarantee.accepts(p)} if self.guarantee else {}),
                "scores": {
                    name: score
                    for name, score in zip(evidence.names, scores, strict=True)
                    if name not in lacking
                },
                "contributions": contributions,
                "profile": dict(reading.profile),
                "model_hash": self.hash,
                "missing": lacking,
                "faults": [f"no decoding scores: {reading.fault}"] if reading.fault else [],
            }
            for reading, lacking, p, scores, contributions in rows
        ]

    def adapted(self, readings: Sequence[Reading]) -> Model:
        """Return a model for another target, given unlabelled readings (`Composer.adapted`).

        The calibrators and Constraint-Only are kept from the source. The guarantee is dropped,
        because a guarantee for the target would need labels.

        Raises:
            SymboUQError: If there are no readings.
        """
        composer = self.composer.adapted(self.evidence(readings)[0])
        notes = {**self.notes, "adapted_to": len(readings), "source": self.hash}
        return replace(self, composer=composer, notes=notes, guarantee=None)

    def fault(self, reader: Reader) -> str | None:
        """Return the reason why predictions with this reader's ontology are doubtful, or None."""
        current = reader.ontology_hash
        if current == self.ontology:
            return None
        return (
            f"the model was fitted under another version of the ontology ({self.ontology[:12]}, "
            f"now {current[:12]}): verdicts may mean something else; fit it again"
        )

    # The file --------------------------------------------------------------------------

    def record(self) -> dict[str, Any]:
        """Return the model as JSON values, with its hash."""
        body = {"format": FORMAT, "symbouq": __version__, **super().record()}
        return {**body, "hash": _hash(body)}

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the model's content."""
        return str(self.record()["hash"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file.

        Raises:
            OSError: If it cannot be written.
        """
        text = json.dumps(self.record(), indent=1, ensure_ascii=False, allow_nan=False)
        with replacing(path) as stream:
            stream.write(text.encode() + b"\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read a model file.

        Raises:
            OSError: If it cannot be read.
            SymboUQError: If the content is not a model, was edited, or is of another version.
        """
        name = os.fspath(path)
        try:
            return cls.of(json.loads(Path(path).read_text(encoding="utf-8")))
        except (ValueError, RecursionError) as error:
            raise SymboUQError(f"not a reliability model: {error}", name) from error
        except SymboUQError as error:
            raise SymboUQError(error.message, name) from error

    @classmethod
    def of(cls, record: Any) -> Model:
        """Build a model from a record.

        Raises:
            SymboUQError: If the content is not a model, was edited, or is of another version.
        """
        if not isinstance(record, dict) or "composer" not in record:
            raise SymboUQError("not a reliability model: `symbouq fit` makes one")
        if record.get("format") != FORMAT:
            raise SymboUQError(
                f"a model of format {record.get('format')}; this version reads {FORMAT}: "
                "fit it again"
            )
        body = {key: value for key, value in record.items() if key != "hash"}
        if _hash(body) != record.get("hash"):
            raise SymboUQError("the model's hash is not that of its content: it was changed")
        model = super().of({k: v for k, v in body.items() if k not in ("format", "symbouq")})
        classifier = model.constraint_only
        if classifier and list(classifier.features) != feature_names(model.composition):
            raise SymboUQError("the auditor's features are others than the model's: fit it again")
        try:
            model._try()
        except (ValueError, ArithmeticError) as error:
            raise SymboUQError(f"not a reliability model: {error}") from error
        return model

    def _try(self) -> None:
        """Make a test prediction, so that invalid numbers are detected when the model is loaded."""
        means = [candidate.mean for candidate in self.candidates.values()]
        blank = np.zeros(2)
        evidence = Evidence(
            tuple(self.candidates), np.array([means, means], np.float64), Coverage(blank, blank)
        )
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            for candidate in self.candidates.values():
                candidate(blank)
            if self.constraint_only is not None:
                self.constraint_only(np.zeros((2, len(self.constraint_only.features))))
            if not np.isfinite(self.composer.predict(evidence)).all():
                raise ValueError("its numbers make no probability")


def fit(
    readings: Sequence[Reading],
    labels: Sequence[int],
    composition: Composition,
    ontology: str,
    profile: str | None = None,
    variant: str = "full",
    seed: int = 2026,
    level: float | None = None,
    delta: float = DELTA,
) -> Model:
    """Fit a model on labelled traces of the target (1 right, 0 wrong). `composition` and `ontology`
    (a hash) are those with which the traces were read.

    Traces are assigned to folds by a hash of seed and id, with scenes kept together, so the order
    of the input does not matter.

    A score is a candidate if every trace has this score. The other scores are listed in the notes.
    Each candidate is calibrated with a positive slope. If a candidate ranks in reverse, it is
    negated before calibration; in the paper's composition, it is negated afterwards. If the labels
    have only one class, the model is Constraint-Rule.

    If `level` is given, a guarantee is fitted, which fails with probability at most `delta`. For
    this, half of the scenes (by hash) are held out, and one trace per held-out scene is used for
    calibration (`symbouq.reliability.guarantee`). If there are too few held-out scenes, the model
    is fitted on all traces, and nothing is accepted.

    Raises:
        SymboUQError: If there are no traces, or the variant is not in OPERATIONAL.
    """
    if variant not in OPERATIONAL:
        raise SymboUQError(f"a model is fitted as one of: {', '.join(OPERATIONAL)}")
    if not readings or len(readings) != len(labels):
        raise SymboUQError("fitting needs traces, each with its label")
    dealt = sorted(zip(readings, labels, strict=True), key=lambda pair: _dealt(seed, pair[0].id))
    held: dict[str, tuple[Reading, int]] = {}
    guarantee = None
    if level is not None:
        halves = sorted({reading.group for reading in readings}, key=lambda g: _dealt(seed, g))
        apart = {*halves[: len(halves) // 2]}
        guarantee = Guarantee(level, delta, None, len(apart), 0, 0)
        if len(apart) >= least_traces(level, delta):
            held = {pair[0].group: pair for pair in dealt if pair[0].group in apart}
            dealt = [pair for pair in dealt if pair[0].group not in apart]
    ordered, y = [reading for reading, _ in dealt], np.array([y for _, y in dealt], np.float64)
    groups = [reading.group for reading in ordered]
    values = [_values(reading) for reading in ordered]
    offered = dict.fromkeys(name for row in values for name in row)
    left_out = [name for name in offered if any(name not in row for row in values)]
    names = [name for name in offered if name not in left_out]
    settings = VARIANTS[variant]
    classifier = None
    if y.min() == y.max():
        scores = np.array([[row[RULE][0]] for row in values])
        candidates = {RULE: Candidate(None, float(scores.mean()))}
    else:
        if constraint_only.NAME not in names:
            x = np.array([reading.features for reading in ordered], np.float64)
            fitted = constraint_only.fit(feature_names(composition), x, y, groups)
            if fitted is not None:
                classifier, out_of_fold = fitted
                names.append(constraint_only.NAME)
                for row, p in zip(values, out_of_fold, strict=True):
                    row[constraint_only.NAME] = np.array([p])
        candidates, columns = {}, []
        for name in names:
            claims = [row[name] for row in values]
            calibrator = Calibrator.fit(
                claims,
                y.astype(int).tolist(),
                _orientation(name, ordered),
                orient=composition != "paper",
            )
            columns.append(calibrator(claims))
            candidates[name] = Candidate(calibrator, float(columns[-1].mean()))
        scores = np.stack(columns, axis=1)
    evidence = Evidence(tuple(candidates), scores, _coverage(ordered, settings.coverage))
    notes = {
        "traces": len(y),
        "right": int(y.sum()),
        "seed": seed,
        "variant": variant,
        "left_out": left_out,
    }
    composer = darc.fit(evidence, y, settings.options(Options(), candidates), groups)
    model = Model(
        composition,
        profile,
        ontology,
        settings.coverage,
        candidates,
        classifier,
        composer,
        notes,
    )
    if guarantee is not None and held:
        new = composer.predict(model.evidence([reading for reading, _ in held.values()])[0])
        right = np.array([label for _, label in held.values()], np.float64)
        guarantee = control(
            composer.predict(evidence), new, right, guarantee.level, guarantee.delta
        )
    return replace(model, guarantee=guarantee)


def _values(reading: Reading) -> dict[str, Values]:
    """Return the values of each score: one value per claim for decoding scores, otherwise one value
    for the trace.

    Scores given in the record take precedence over those computed from its tokens.
    """
    claims = {name: np.array(row, np.float64) for name, row in reading.claims.items()}
    return claims | {name: np.array([value]) for name, value in reading.scores.items()}


def _orientation(name: str, readings: Sequence[Reading]) -> Orientation:
    """Return the orientation of a score. Decoding scores are uncertainties; all other scores are
    larger for right answers.
    """
    return (
        "uncertainty"
        if all(name not in r.scores for r in readings) and any(name in r.claims for r in readings)
        else "correctness"
    )


def _coverage(readings: Sequence[Reading], kind: CoverageKind) -> Coverage:
    audits = [{"profile": r.profile, "discounted": r.discounted} for r in readings]
    return Coverage.of(cast("list[Mapping[str, Mapping[str, float]]]", audits), kind)


def _dealt(seed: int, identity: str) -> str:
    return hashlib.sha256(f"{seed}\n{identity}".encode()).hexdigest()


def _hash(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
