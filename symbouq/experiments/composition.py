"""Predictions of the composer and its variants (section DARC, Table ablation, Table valsize).

All decisions are made on validation. No labels of test traces are available here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from symbouq.errors import SymboUQError, extra
from symbouq.evidence.scorers.base import Orientation
from symbouq.evidence.scorers.calibration import Calibrator
from symbouq.evidence.scorers.efficiency import Cost, peak_memory, reset_peak
from symbouq.evidence.scorers.registry import SCORERS
from symbouq.experiments.benchmarks.items import scene_key
from symbouq.experiments.config import View
from symbouq.experiments.questions import read_rows
from symbouq.reliability.darc import FIXED, Composer, Options, fit
from symbouq.reliability.reading import GROUNDED_RULE, RULE
from symbouq.reliability.variants import CONSTRAINT_FAMILY, VARIANTS, Pool, compose, evidence_of
from symbouq.reliability.worlds import WORLDS

Values = NDArray[np.float64]

CANDIDATES = tuple(name for name, scorer in SCORERS.items() if scorer.banked)
"""The scores that DARC composes: six supervised and five training-free ones (appendix DARC
Protocol)."""

METHOD = "SymboUQ"
"""Name of the paper's composition, the variant `full`."""
UNLABELLED = "no target labels"
"""Name of the composition that is adapted to the target without target labels."""


@dataclass(frozen=True)
class ScoredTraces:
    """The traces of a cell as seen by a composer: with profiles and scores, but without labels.

    Attributes:
        ids: Ids of the traces.
        groups: Scene key of each trace.
        audits: Profiles of the traces.
        claims: Claim values of each scored trace, by method and seed, then by id.
        orientations: Meaning of larger values, by method.
        worlds: Constraint-Worlds score of each trace, by id; None if not computed.
        scores: Calibrated scores of the traces, with the keys of `claims`.
    """

    ids: tuple[str, ...]
    groups: tuple[str, ...]
    audits: tuple[Mapping[str, Mapping[str, float]], ...]
    claims: Mapping[tuple[str, int], Mapping[str, Values]]
    orientations: Mapping[str, Orientation]
    worlds: Mapping[str, float] | None = None
    scores: Mapping[tuple[str, int], Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def read(
        cls, traces: Path, audits: Path, scores: Path, worlds: Path | None = None
    ) -> ScoredTraces:
        """Read a cell's traces with audits, claim scores and, optionally, Constraint-Worlds
        scores.
        """
        from symbouq.evidence.scorers.bank import read_calibrators, read_scores

        records = read_rows(traces)
        profiles = {
            audit["id"]: {name: audit[name] for name in ("profile", "discounted")}
            for audit in read_rows(audits)
        }
        claims: dict[tuple[str, int], dict[str, Values]] = {}
        for row in read_scores(scores):
            values = claims.setdefault((row.method, row.seed), {})
            if row.score is not None:
                values[row.id] = np.array(row.claims)
        ids = tuple(str(record["id"]) for record in records)
        return cls(
            ids,
            tuple(scene_key(record["scene"]) for record in records),
            tuple(profiles[name] for name in ids),
            claims,
            {name: fit.orientation for (name, _), fit in read_calibrators(scores).items()},
            {row["id"]: row[WORLDS] for row in read_rows(worlds)} if worlds else None,
        )

    def subset(self, numbers: Iterable[int]) -> ScoredTraces:
        """Select the traces at the given positions, from 0."""
        places = [*numbers]
        return replace(
            self,
            ids=tuple(self.ids[place] for place in places),
            groups=tuple(self.groups[place] for place in places),
            audits=tuple(self.audits[place] for place in places),
        )

    def labelled(self, labels: Mapping[str, int]) -> ScoredTraces:
        """Select the traces that have a label."""
        return self.subset(place for place, name in enumerate(self.ids) if name in labels)

    def key(self, name: str, seed: int) -> tuple[str, int] | None:
        """Return the key of a method's scores; None if it has no scores. All seeds of a
        deterministic method share one key.
        """
        seeds = [fitted for method, fitted in self.claims if method == name]
        return (name, seed if seed in seeds else seeds[0]) if seeds else None

    def column(self, name: str, seed: int) -> Mapping[str, float] | None:
        """Return a method's scores by id; None if it has no scores."""
        return self.scores.get(self.key(name, seed) or (name, seed))

    def calibrators(
        self, labels: Mapping[str, int], seed: int
    ) -> dict[tuple[str, int], Calibrator]:
        """Fit calibrators for the candidates (min-max statistics, reduction, Platt map).

        They depend only on these traces and the given labels. A candidate gets no calibrator unless
        both classes occur.
        """
        calibrators = {}
        for key in filter(None, (self.key(name, seed) for name in CANDIDATES)):
            scored = [name for name in self.ids if name in self.claims[key]]
            y = [labels[name] for name in scored]
            if {0, 1} <= set(y):
                values = [self.claims[key][name] for name in scored]
                calibrators[key] = Calibrator.fit(values, y, self.orientations[key[0]])
        return calibrators

    def calibrated(self, calibrators: Mapping[tuple[str, int], Calibrator]) -> ScoredTraces:
        """Return the same traces with only the scores of the given calibrators."""
        scores = {}
        for key, calibrator in calibrators.items():
            claims = self.claims.get(key, {})
            probabilities = calibrator([*claims.values()])
            scores[key] = dict(zip(claims, probabilities.tolist(), strict=True))
        return replace(self, scores=scores)

    def uncalibrated(self, name: str) -> ScoredTraces:
        """Return the same traces. Their only scores are one method's uncalibrated values for the
        conclusion.
        """
        scores = {
            key: {trace: float(values[-1]) for trace, values in claims.items()}
            for key, claims in self.claims.items()
            if key[0] == name
        }
        return replace(self, scores=scores)


@dataclass(frozen=True)
class Predicted:
    """Predictions of one composer.

    Attributes:
        method: `SymboUQ`, a variant, `... view`, `no target labels`, `epsilon VALUE`, `folds
            NUMBER`, or `valsize SIZE`.
        seed: Seed of the trained scores used, or number of the subsample.
        ids: The test traces.
        scores: Probability that each answer is right.
        composer: The fitted composer.
    """

    method: str
    seed: int
    ids: tuple[str, ...]
    scores: Values
    composer: Composer


Pair = tuple[ScoredTraces, ScoredTraces]
"""Validation and test traces."""


def swept(options: Options, epsilons: Iterable[float], folds: Iterable[int]) -> dict[str, Options]:
    """Return variants of `options` with the given values of `epsilon` or `folds`, by name of the
    composition (Table search-space).
    """
    return {f"epsilon {value}": replace(options, epsilon=value) for value in epsilons} | {
        f"folds {number}": replace(options, folds=number) for number in folds
    }


def composed(
    views: Mapping[View | None, Pair],
    labels: Mapping[str, int],
    seeds: Sequence[int],
    sizes: Sequence[int],
    options: Options | None = None,
    others: Mapping[str, Options] | None = None,
) -> Iterator[Predicted]:
    """Fit every variant on validation and predict the test traces.

    Each view (None: the assumed context) has its own profiles and constraint scores. Everything
    else is shared. `sizes` is as in `subsampled`. `others` are additional options for the assumed
    context, by name of the composition.
    """
    validation, test = views[None]
    shown: list[View | Literal["worlds"] | None] = [*views]
    if validation.worlds is not None:
        shown.append("worlds")
    for seed in seeds:
        calibrated = {
            view: _calibrated(pair[0].labelled(labels), labels, seed, pair[1])
            for view, pair in views.items()
        }
        for view in shown:
            pool, new_pool = _pools(calibrated, view, seed)
            labelled, unseen = calibrated[_profiles_of(view)]
            y, groups = [labels[name] for name in labelled.ids], labelled.groups
            for name in VARIANTS if view is None else ("full",):
                if not set(VARIANTS[name].average) <= set(pool.names):
                    continue
                p, composer = compose(name, pool, y, new_pool, options, groups, seed)
                method = f"{view} view" if view else METHOD if name == "full" else name
                yield Predicted(method, seed, unseen.ids, p, composer)
            if view is None:
                for method, fixed in (others or {}).items():
                    p, composer = compose("full", pool, y, new_pool, fixed, groups, seed)
                    yield Predicted(method, seed, unseen.ids, p, composer)
    yield from subsampled(validation, test, labels, seeds, sizes, options)


def subsampled(
    validation: ScoredTraces,
    test: ScoredTraces,
    labels: Mapping[str, int],
    seeds: Sequence[int],
    sizes: Sequence[int],
    options: Options | None = None,
) -> Iterator[Predicted]:
    """Fit the determinacy design on subsamples of validation and predict the test traces (Table
    valsize).

    There is one subsample for each seed and each size that does not exceed the number of labelled
    traces. All decisions, including calibration, are based only on the subsample.
    """
    labelled = validation.labelled(labels)
    for size in sizes:
        for seed in seeds:
            if size > len(labelled.ids):
                continue
            drawn = np.random.default_rng(seed).permutation(len(labelled.ids))[:size]
            pair = _calibrated(labelled.subset(sorted(drawn.tolist())), labels, seed, test)
            pool, new_pool = _pools({None: pair}, None, seed)
            y = [labels[name] for name in pair[0].ids]
            p, composer = compose("determinacy", pool, y, new_pool, options, pair[0].groups)
            yield Predicted(f"valsize {size}", seed, test.ids, p, composer)


def without_target_labels(
    source: ScoredTraces,
    labels: Mapping[str, int],
    target: Pair,
    seeds: Sequence[int],
    options: Options | None = None,
) -> Iterator[Predicted]:
    """Fit the composer on the source's labelled validation traces, and adapt it to a target without
    using target labels.

    This method is not in the paper. It uses `Composer.adapted`. The target's scores are calibrated
    as on the source.
    """
    labelled, variant = source.labelled(labels), VARIANTS["full"]
    y = [labels[name] for name in labelled.ids]
    for seed in seeds:
        own, validation, test = _calibrated(labelled, labels, seed, *target)
        learned, _ = _pools({None: (own, own)}, None, seed)
        pool, new_pool = _pools({None: (validation, test)}, None, seed)
        composer = fit(evidence_of(variant, learned), y, options, labelled.groups)
        adapted = composer.adapted(evidence_of(variant, pool))
        p = adapted.predict(evidence_of(variant, new_pool))
        yield Predicted(UNLABELLED, seed, test.ids, p, adapted)


def composer_cost(
    validation: ScoredTraces,
    test: ScoredTraces,
    labels: Mapping[str, int],
    seed: int,
    options: Options | None = None,
) -> Cost:
    """Measure the cost of the full composition in addition to its scores (Table efficiency):
    calibration and fitting on validation, then prediction.
    """
    labelled, variant = validation.labelled(labels), VARIANTS["full"]
    y = [labels[name] for name in labelled.ids]
    reset_peak("cpu")
    started = time.perf_counter()
    pool, _ = _pools({None: _calibrated(labelled, labels, seed, labelled)}, None, seed)
    composer = fit(evidence_of(variant, pool), y, options, labelled.groups)
    fitted = time.perf_counter()
    _, new_pool = _pools({None: _calibrated(labelled, labels, seed, test)}, None, seed)
    composer.predict(evidence_of(variant, new_pool))
    ended = time.perf_counter()
    rate = len(test.ids) / (ended - fitted)
    return Cost(METHOD, len(composer.weights) + 1, (fitted - started) / 60, rate, peak_memory())


def _calibrated(
    validation: ScoredTraces, labels: Mapping[str, int], seed: int, *others: ScoredTraces
) -> tuple[ScoredTraces, ...]:
    """Return traces with calibrated candidates or, if no candidate can be calibrated, with the
    uncalibrated fixed constraint score.
    """
    calibrators = validation.calibrators(labels, seed)
    if not calibrators:
        return tuple(traces.uncalibrated(FIXED) for traces in (validation, *others))
    return tuple(traces.calibrated(calibrators) for traces in (validation, *others))


def _profiles_of(view: View | Literal["worlds"] | None) -> View | None:
    return "dual" if view == "worlds" else view


def _pools(
    views: Mapping[View | None, Sequence[ScoredTraces]],
    view: View | Literal["worlds"] | None,
    seed: int,
) -> list[Pool]:
    """Collect candidate scores for validation and test. A missing score is replaced by the
    candidate's mean on validation.
    """
    shared, shown = views[None], views[_profiles_of(view)]
    columns = {
        name: [
            traces.column(name, seed) for traces in (shown if name in CONSTRAINT_FAMILY else shared)
        ]
        for name in CANDIDATES
    }
    if view in ("dual", "worlds"):
        columns[GROUNDED_RULE] = [traces.column(RULE, seed) for traces in views["grounded"]]
    if view == "worlds":
        columns[WORLDS] = [traces.worlds for traces in shared]
    filled: dict[str, list[Values]] = {}
    for name, (first, second) in columns.items():
        if first is None or second is None:
            continue
        scored = [first[each] for each in shown[0].ids if each in first]
        mean = float(np.mean(scored)) if scored else 0.5
        filled[name] = [
            np.array([column.get(each, mean) for each in traces.ids])
            for traces, column in zip(shown, (first, second), strict=True)
        ]
    if not filled:
        raise SymboUQError("the composer needs scores of its candidates; the bank has none")
    return [
        Pool(tuple(filled), np.stack(side, axis=1), traces.audits)
        for traces, side in zip(shown, zip(*filled.values(), strict=True), strict=True)
    ]


def write_predictions(predictions: Iterable[Predicted], out: Path, composers: Path) -> None:
    """Write predictions as Parquet (`id`, `method`, `seed`, `score`) and composers as JSON."""
    with extra("fit"):
        import pandas as pd
    tables, records = [], []
    for item in predictions:
        named = {"method": item.method, "seed": item.seed}
        tables.append(pd.DataFrame({"id": item.ids, **named, "score": item.scores}))
        records.append({**named, "composer": item.composer.record()})
    pd.concat(tables).to_parquet(out, index=False)
    composers.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


def read_predictions(path: Path) -> dict[tuple[str, int], dict[str, float]]:
    """Read predictions by method and seed, then by id."""
    with extra("fit"):
        import pandas as pd
    groups = pd.read_parquet(path).groupby(["method", "seed"], sort=False)
    return {key: dict(zip(rows["id"], rows["score"], strict=True)) for key, rows in groups}
