"""Predictions of the composer and its variants (section DARC, Table ablation, Table valsize).

Everything here is decided on validation: test traces come without labels.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from symbouq.errors import SymboUQError, missing_extra
from symbouq.evidence.scorers.base import SCORERS, Orientation
from symbouq.evidence.scorers.calibration import Calibrator
from symbouq.experiments.config import View
from symbouq.experiments.questions import scene_key
from symbouq.reliability.darc import FIXED, Composer, fit
from symbouq.reliability.reading import GROUNDED_RULE, RULE, WORLDS
from symbouq.reliability.variants import CONSTRAINT_FAMILY, VARIANTS, Pool, compose, evidence_of

Values = NDArray[np.float64]

CANDIDATES = tuple(name for name, known in SCORERS.items() if known.banked)
"""What DARC composes: six supervised and five training-free scores (appendix DARC Protocol)."""

METHOD = "SymboUQ"
"""The name of the paper's composition: the variant `full`."""
UNLABELLED = "no target labels"
"""The same, fitted on the source and adapted to the target without its labels."""


@dataclass(frozen=True)
class Seen:
    """What a composer may see of the traces of a cell.

    Attributes:
        ids: The traces.
        groups: The same for all traces about one scene.
        audits: Their profiles.
        claims: By method and seed what the scorer says of the claims of each trace that it can
            score, by id.
        orientations: What these values mean, by method.
        worlds: How each answer stands in the worlds that its scene leaves possible, by id; None
            where nobody looked.
        scores: Like `claims` the scores of the traces, once they are calibrated.
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
        cls,
        traces: Path,
        audits: Path,
        scores: Path,
        worlds: Path | None = None,
    ) -> Seen:
        """What files hold.

        Args:
            traces: The traces.
            audits: Their audits.
            scores: Their scores, of which those of the claims are read.
            worlds: What `symbouq.reliability.jobs.checking_worlds` writes of them.
        """
        from symbouq.evidence.scorers.bank import read_calibrators, read_scores

        records = [json.loads(line) for line in traces.read_text("utf-8").splitlines()]
        audited = {
            audit["id"]: {name: audit[name] for name in ("profile", "discounted")}
            for audit in map(json.loads, audits.read_text("utf-8").splitlines())
        }
        claims: dict[tuple[str, int], dict[str, Values]] = {}
        for row in read_scores(scores):
            there = claims.setdefault((row.method, row.seed), {})
            if row.score is not None:
                there[row.id] = np.array(row.claims)
        checked = worlds.read_text("utf-8").splitlines() if worlds else ()
        ids = tuple(str(record["id"]) for record in records)
        groups = tuple(scene_key(record["scene"]) for record in records)
        return cls(
            ids,
            groups,
            tuple(audited[name] for name in ids),
            claims,
            {name: one.orientation for (name, _), one in read_calibrators(scores).items()},
            {row["id"]: row[WORLDS] for row in map(json.loads, checked)} if worlds else None,
        )

    def of(self, wanted: Sequence[int]) -> Seen:
        """The traces with some numbers."""
        return replace(
            self,
            ids=tuple(self.ids[n] for n in wanted),
            groups=tuple(self.groups[n] for n in wanted),
            audits=tuple(self.audits[n] for n in wanted),
        )

    def key(self, name: str, seed: int) -> tuple[str, int] | None:
        """Under which seed a method's scores are found: one that draws nothing has the same for
        every seed; None where it has none.
        """
        seeds = [known for method, known in self.claims if method == name]
        return (name, seed if seed in seeds else seeds[0]) if seeds else None

    def column(self, name: str, seed: int) -> Mapping[str, float] | None:
        """A method's scores by id; None where it has none."""
        return self.scores.get(self.key(name, seed) or (name, seed))

    def calibrators(
        self, labels: Mapping[str, int], seed: int
    ) -> dict[tuple[str, int], Calibrator]:
        """What these traces and their labels alone decide about each candidate: min-max statistics,
        reduction and Platt map; none of a candidate that has no values of right and of wrong
        answers.

        Args:
            labels: Labels by id.
            seed: Of the trained scores.
        """
        found = {}
        for key in filter(None, (self.key(name, seed) for name in CANDIDATES)):
            there = [name for name in self.ids if name in self.claims[key]]
            y = [labels[name] for name in there]
            if {0, 1} <= set(y):
                values = [self.claims[key][name] for name in there]
                found[key] = Calibrator.fit(values, y, self.orientations[key[0]])
        return found

    def calibrated(self, calibrators: Mapping[tuple[str, int], Calibrator]) -> Seen:
        """The same traces with the scores that some calibrators make, and no others."""
        scores = {}
        for key, calibrator in calibrators.items():
            claims = self.claims.get(key, {})
            made = calibrator([*claims.values()])
            scores[key] = dict(zip(claims, made.tolist(), strict=True))
        return replace(self, scores=scores)

    def uncalibrated(self, name: str) -> Seen:
        """The same traces with one method's scores, as they stand: the conclusion's values."""
        scores = {
            key: {trace: float(values[-1]) for trace, values in claims.items()}
            for key, claims in self.claims.items()
            if key[0] == name
        }
        return replace(self, scores=scores)


@dataclass(frozen=True)
class Predicted:
    """The predictions of one composer.

    Attributes:
        method: `SymboUQ`, a variant, `... view`, `no target labels`, or `valsize SIZE`.
        seed: Of its trained scores, or the number of the subsample.
        ids: The test traces.
        scores: Probability that each answer is right.
        composer: What was fitted.
    """

    method: str
    seed: int
    ids: tuple[str, ...]
    scores: Values
    composer: Composer


def composed(
    views: Mapping[View | None, tuple[Seen, Seen]],
    labels: Mapping[str, int],
    seeds: Sequence[int],
    sizes: Sequence[int],
) -> Iterator[Predicted]:
    """Fits every variant on validation and predicts the test traces.

    Args:
        views: Validation and test as each view shows them; None is the assumed context. A view has
            its own profiles and constraint scores, the others are shared.
        labels: Labels of validation by id.
        seeds: Seeds of the trained scores.
        sizes: Validation sizes of Table valsize (`subsampled`).
    """
    validation, test = views[None]
    named = [name for name in validation.ids if name in labels]
    compared: list[View | Literal["worlds"] | None] = [*views]
    if validation.worlds is not None:
        compared.append("worlds")
    for seed in seeds:
        made: dict[View | None, tuple[Seen, Seen]] = {}
        for view, (known, new) in views.items():
            there = known.of([known.ids.index(name) for name in named])
            known, new = _calibrated(there, labels, seed, new)
            made[view] = known, new
        for shown in compared:
            known, new = made["dual" if shown == "worlds" else shown]
            pools = _pools(known, new, made, shown, seed)
            y = [labels[name] for name in known.ids]
            names = VARIANTS if shown is None else ("full",)
            for name in names:
                if not set(VARIANTS[name].average) <= set(pools[0].names):
                    continue
                p, composer = compose(name, pools[0], y, pools[1], groups=known.groups, seed=seed)
                called = METHOD if name == "full" else name
                yield Predicted(f"{shown} view" if shown else called, seed, new.ids, p, composer)
    yield from subsampled(validation, test, labels, seeds, sizes)


def subsampled(
    validation: Seen,
    test: Seen,
    labels: Mapping[str, int],
    seeds: Sequence[int],
    sizes: Sequence[int],
) -> Iterator[Predicted]:
    """Fits the determinacy design on subsamples of validation and predicts the test traces (Table
    valsize). All that labels decide, calibration of the candidates included, is decided by those
    of the subsample.

    Args:
        validation: Validation traces.
        test: Test traces.
        labels: Labels of validation by id.
        seeds: For each one subsample of each size, and the trained scores of that seed.
        sizes: How many labelled traces a subsample has; one larger than there are is left out.
    """
    labelled = [n for n, name in enumerate(validation.ids) if name in labels]
    for size in sizes:
        for seed in seeds:
            if size > len(labelled):
                continue
            drawn = np.random.default_rng(seed).permutation(labelled)[:size].tolist()
            known, new = _calibrated(validation.of(sorted(drawn)), labels, seed, test)
            pools = _pools(known, new, {None: (known, new)}, None, seed)
            y = [labels[name] for name in known.ids]
            p, composer = compose("determinacy", pools[0], y, pools[1], groups=known.groups)
            yield Predicted(f"valsize {size}", seed, test.ids, p, composer)


def _calibrated(
    known: Seen, labels: Mapping[str, int], seed: int, *others: Seen
) -> tuple[Seen, ...]:
    """Validation and other traces with candidates that are calibrated on validation alone; where
    that cannot be done, with the fixed constraint score as it stands.
    """
    calibrators = known.calibrators(labels, seed)
    if not calibrators:
        return tuple(seen.uncalibrated(FIXED) for seen in (known, *others))
    return tuple(seen.calibrated(calibrators) for seen in (known, *others))


def without_target_labels(
    source: Seen, labels: Mapping[str, int], target: tuple[Seen, Seen], seeds: Sequence[int]
) -> Iterator[Predicted]:
    """Fits the composer on the source and adapts it to a target without any label of the target
    (`Composer.adapted`); beyond the paper.

    Args:
        source: Validation traces of the source.
        labels: Their labels by id.
        target: Validation and test traces of the target; their scores keep the calibration of the
            source.
        seeds: Seeds of the trained scores.
    """
    known = source.of([n for n, name in enumerate(source.ids) if name in labels])
    y = [labels[name] for name in known.ids]
    variant = VARIANTS["full"]
    for seed in seeds:
        own, *both = _calibrated(known, labels, seed, *target)
        learned, _ = _pools(own, own, {None: (own, own)}, None, seed)
        seen, new = _pools(both[0], both[1], {None: (both[0], both[1])}, None, seed)
        composer = fit(evidence_of(variant, learned), y, groups=known.groups)
        adapted = composer.adapted(evidence_of(variant, seen))
        p = adapted.predict(evidence_of(variant, new))
        yield Predicted(UNLABELLED, seed, target[1].ids, p, adapted)


def _pools(
    known: Seen,
    new: Seen,
    views: Mapping[View | None, tuple[Seen, Seen]],
    view: View | Literal["worlds"] | None,
    seed: int,
) -> tuple[Pool, Pool]:
    """Validation and test with their candidate scores; a missing score is the candidate's mean
    over validation.
    """
    shared = views[None]
    columns: dict[str, tuple[Mapping[str, float], Mapping[str, float]]] = {}
    for name in CANDIDATES:
        source = (known, new) if name in CONSTRAINT_FAMILY else shared
        pair = source[0].column(name, seed), source[1].column(name, seed)
        if pair[0] is not None and pair[1] is not None:
            columns[name] = pair[0], pair[1]
    if view in ("dual", "worlds"):
        grounded = views["grounded"]
        pair = grounded[0].column(RULE, seed), grounded[1].column(RULE, seed)
        if pair[0] is not None and pair[1] is not None:
            columns[GROUNDED_RULE] = pair[0], pair[1]
    checked = shared[0].worlds, shared[1].worlds
    if view == "worlds" and checked[0] is not None and checked[1] is not None:
        columns[WORLDS] = checked[0], checked[1]
    if not columns:
        raise SymboUQError("the composer needs scores of its candidates; the bank has none")
    rows: tuple[list[Values], list[Values]] = ([], [])
    for pair in columns.values():
        there = [pair[0][name] for name in known.ids if name in pair[0]]
        mean = float(np.mean(there)) if there else 0.5
        for side, seen, column in zip(rows, (known, new), pair, strict=True):
            side.append(np.array([column.get(name, mean) for name in seen.ids]))
    made = [
        Pool(tuple(columns), np.stack(side, axis=1), seen.audits)
        for side, seen in zip(rows, (known, new), strict=True)
    ]
    return made[0], made[1]


def write_predictions(found: Iterator[Predicted], out: Path, composers: Path) -> None:
    """Writes predictions as Parquet (`id`, `method`, `seed`, `score`) and the fitted composers as
    JSON.
    """
    pa, pq = _arrow()
    tables, described = [], []
    for one in found:
        count = len(one.ids)
        columns = {
            "id": pa.array(one.ids, pa.string()),
            "method": pa.array([one.method] * count, pa.string()),
            "seed": pa.array([one.seed] * count, pa.int64()),
            "score": pa.array(one.scores, pa.float64()),
        }
        tables.append(pa.table(columns))
        told = {"method": one.method, "seed": one.seed, "composer": one.composer.record()}
        described.append(told)
    pq.write_table(pa.concat_tables(tables), out)
    composers.write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")


def read_predictions(path: Path) -> dict[tuple[str, int], dict[str, float]]:
    """Predictions by method and seed, then by id."""
    _, pq = _arrow()
    columns = pq.read_table(path).to_pydict()
    found: dict[tuple[str, int], dict[str, float]] = {}
    for name, method, seed, score in zip(
        *(columns[key] for key in ("id", "method", "seed", "score")), strict=True
    ):
        found.setdefault((method, seed), {})[name] = score
    return found


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise missing_extra("fit", error) from error
    return pa, pq
