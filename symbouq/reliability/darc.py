"""Algorithm DARC: fits a composer of probabilities to validation scores, labels and profiles.

Choices that the paper does not specify:

- l2 scales a *summed* loss (`symbouq.reliability.logistic`). With a mean loss, 20 would shrink all
  weights to zero.
- The fold of trace i is `i mod k`, or `g mod k` if the trace is in the g-th group of traces that
  belong together. A partition is degenerate if a fold or its complement has only one class.
- AUROCs tie if they agree to 12 digits. In a tie, the larger l2 is preferred, then the simpler
  design.
- The best validation candidate has the largest A_j before orientation.
- In cross-validation, standardisation uses only the folds used for fitting.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import PlainSerializer

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.stored import Stored
from symbouq.metrics import Values, auroc
from symbouq.reliability.calibrators import Calibrator, select
from symbouq.reliability.designs import DESIGNS, Coverage, Design, columns, features
from symbouq.reliability.logistic import Regression, folds, held_out, regress, statistics

L2: tuple[float, ...] = (1, 5, 20, 50, 100, 200)
"""Grid in Table search-space."""

REFERENCE_L2 = 20.0
"""Value of l2 used with the last design if the folds are degenerate."""
EPSILON = 0.03
FOLDS = 5
FIXED = "Constraint-Rule"
"""The only score used if validation has only one class."""

Kind = Literal["composed", "fixed", "best", "average"]
"""Kind of composer: DARC's sum; the fixed constraint score, if validation has only one class; the
best validation candidate, if no candidate is retained; or a plain average."""

_DIGITS = 12
_EDGE = 1e-12
_ROUNDING = 1e-12
"""Tolerance so that an AUROC of 0.45 reaches a threshold of 0.05 despite rounding."""
_IDENTITY = Calibrator("identity", ())


@dataclass(frozen=True)
class Evidence:
    """Candidate scores and profiles of traces.

    Attributes:
        names: The m candidates.
        scores: `[n, m]`, calibrated on validation; larger means more likely right (reversed
            candidates were negated). Random is not a candidate.
        coverage: Profiles of the n traces.

    Raises:
        SymboUQError: If shapes differ, a name occurs twice, or a score is not finite.
    """

    names: tuple[str, ...]
    scores: Values
    coverage: Coverage

    def __post_init__(self) -> None:
        n, shape = len(self.coverage.symbolizability), self.scores.shape
        if shape != (n, len(self.names)) or len(self.coverage.applicability) != n:
            raise SymboUQError(
                f"scores of shape {shape} for {n} profiles and {len(self.names)} candidates"
            )
        if len(set(self.names)) < len(self.names):
            raise SymboUQError("two candidates have one name")
        if not np.isfinite(self.scores).all():
            raise SymboUQError("a candidate score is not a finite number")

    def of(self, names: Sequence[str]) -> Values:
        """Return the scores of the given candidates, `[n, len(names)]`.

        Raises:
            SymboUQError: If a candidate is missing.
        """
        missing = [name for name in names if name not in self.names]
        if missing:
            raise SymboUQError(f"the score {missing[0]} is missing; the composer needs it")
        return self.scores[:, [self.names.index(name) for name in names]]


@dataclass(frozen=True)
class Options:
    """Options that are fixed before validation data are used.

    Attributes:
        designs: Designs to choose from. A single design is always used.
        l2: Values of l2 to choose from.
        epsilon: Screening threshold.
        folds: k, the number of folds.
        gated: Candidates used only through the interactions.
        average: If not empty, nothing is fitted: the composer is the mean of these scores.

    Raises:
        SymboUQError: If a value is invalid.
    """

    designs: tuple[Design, ...] = DESIGNS
    l2: tuple[float, ...] = L2
    epsilon: float = EPSILON
    folds: int = FOLDS
    gated: frozenset[str] = frozenset()
    average: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.designs or not set(self.designs) <= set(DESIGNS):
            raise SymboUQError(f"designs are some of: {', '.join(DESIGNS)}")
        if not self.l2 or min(self.l2) <= 0:
            raise SymboUQError("l2 needs values larger than 0")
        if self.folds < 1:
            raise SymboUQError("folds are one or more")


@dataclass(frozen=True)
class Composer(Stored):
    """Fitted composer. It contains no labels and does not need scikit-learn.

    Attributes:
        kind: Kind of composer.
        names: Candidates that the composer uses.
        flipped: Candidates replaced by 1 - s.
        design: Feature design, if composed.
        l2: Regularisation, if composed.
        gated: Candidates that have no raw column.
        mean: Validation mean of each feature.
        scale: Standard deviation of each feature, 1 if constant.
        weights: w, one per feature.
        intercept: b.
        calibrator: Map applied after the sum.
        aurocs: A_j of every candidate, by name, if candidates were screened.
        held_out: Mean held-out AUROC of the chosen design and l2; None without cross-validation.

    Raises:
        SymboUQError: If the numbers of means, scales, weights and features differ.
    """

    noun = "a composer"

    kind: Kind
    names: tuple[str, ...]
    flipped: tuple[bool, ...] = ()
    design: Design = "scores"
    l2: float = 0.0
    gated: Annotated[frozenset[str], PlainSerializer(sorted)] = frozenset()
    mean: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()
    intercept: float = 0.0
    calibrator: Calibrator = _IDENTITY
    aurocs: dict[str, float] = field(default_factory=dict)
    held_out: float | None = None

    def __post_init__(self) -> None:
        count = len(columns(self.design, self.names, self.gated))
        widths = {len(part) for part in (self.mean, self.scale, self.weights)}
        if self.kind == "composed" and widths != {count}:
            raise SymboUQError(f"not {self.noun}: {len(self.weights)} weights for {count} features")

    def predict(self, evidence: Evidence) -> Values:
        """Return the probability that each trace's answer is right, `[n]`.

        Raises:
            SymboUQError: If a score that the composer uses is missing.
        """
        if self.kind != "composed":
            return np.asarray(np.clip(evidence.of(self.names).mean(axis=1), 0, 1), np.float64)
        regression = Regression(self.mean, self.scale, self.weights, self.intercept)
        return self.calibrator(regression.logits(self._features(evidence)))

    def contributions(self, evidence: Evidence) -> list[dict[str, float]]:
        """Return how much each candidate contributes to each trace's logit before calibration.

        A candidate's contribution is the sum over all of its columns. Positive values favour the
        answer, relative to the validation mean. The contributions and the intercept add up to the
        logit. If nothing was fitted, the contribution of the single score is its logit, and the
        contribution of an averaged score is its share of the average's logit.

        Raises:
            SymboUQError: If a score that the composer uses is missing.
        """
        if self.kind != "composed":
            shares = np.clip(evidence.of(self.names), _EDGE, 1 - _EDGE)
            logits = (np.log(shares) - np.log1p(-shares)) / len(self.names)
            return [dict(zip(self.names, map(float, row), strict=True)) for row in logits]
        standard = (self._features(evidence) - np.array(self.mean)) / np.array(self.scale)
        owners = columns(self.design, self.names, self.gated)
        contributions = []
        for row in standard * np.array(self.weights):
            sums = dict.fromkeys(self.names, 0.0)
            for name, value in zip(owners, row, strict=True):
                sums[name] += float(value)
            contributions.append(sums)
        return contributions

    def adapted(self, evidence: Evidence) -> Composer:
        """Return a composer for another target, given unlabelled traces of that target.

        Only the means and scales of the features are recomputed on the target. Everything else is
        kept from the source. So the probabilities do not change if a score is higher or more spread
        out throughout the target. The share of right answers is assumed to be the same as on the
        source.

        Raises:
            SymboUQError: If a score is missing, or there are no traces.
        """
        if not len(evidence.scores):
            raise SymboUQError("adapting needs traces of the target")
        if self.kind != "composed":
            return self
        mean, scale = statistics(self._features(evidence))
        return replace(self, mean=tuple(mean.tolist()), scale=tuple(scale.tolist()))

    def _features(self, evidence: Evidence) -> Values:
        scores = oriented(evidence.of(self.names), self.flipped)
        return features(self.design, self.names, scores, evidence.coverage, self.gated)


def fit(
    evidence: Evidence,
    labels: Sequence[int] | NDArray[Any],
    options: Options | None = None,
    groups: Sequence[Hashable] | None = None,
) -> Composer:
    """Fit a composer on validation labels 0 and 1 (Algorithm DARC). Traces in the same group are in
    the same fold.

    Raises:
        SymboUQError: If there are no traces or candidates, labels are not 0 or 1, or the fixed
            score is needed but missing.
    """
    options = options or Options()
    y = np.asarray(labels, np.float64)
    if not len(y) or not evidence.names:
        raise SymboUQError("the composer needs labelled traces and candidate scores")
    if y.shape != (len(evidence.scores),) or not np.isin(y, (0, 1)).all():
        raise SymboUQError("the composer needs one label a trace, 0 or 1")
    if options.average:
        evidence.of(options.average)
        return Composer("average", options.average)
    if len(np.unique(y)) < 2:
        evidence.of([FIXED])
        return Composer("fixed", (FIXED,))
    screening = screen(evidence.scores, y, options.epsilon)
    aurocs = dict(zip(evidence.names, screening.aurocs.tolist(), strict=True))
    if not screening.retained:
        return Composer("best", (evidence.names[screening.best],), aurocs=aurocs)
    names = tuple(evidence.names[n] for n in screening.retained)
    scores = oriented(evidence.of(names), screening.flipped)
    offered = {
        design: features(design, names, scores, evidence.coverage, options.gated)
        for design in options.designs
    }
    # If all candidates are gated, the scores-only design has no columns.
    offered = {design: h for design, h in offered.items() if h.shape[1]}
    if not offered:
        raise SymboUQError("no feature is left: all candidates are gated, the design has no gate")
    design, l2, area = _chosen(offered, y, folds(len(y), options.folds, groups), options)
    regression = regress(offered[design], y, l2)
    return Composer(
        "composed",
        names,
        screening.flipped,
        design,
        float(l2),
        options.gated & set(names),
        *regression,
        select(regression.logits(offered[design]), y),
        aurocs,
        area,
    )


@dataclass(frozen=True)
class Screening:
    """Candidates screened by how well they rank validation traces.

    Attributes:
        aurocs: A_j, `[m]`.
        retained: Positions of candidates with |A_j - 0.5| >= epsilon.
        flipped: For each retained candidate, whether A_j < 0.5. If so, 1 - s_j replaces its score.
    """

    aurocs: Values
    retained: tuple[int, ...]
    flipped: tuple[bool, ...]

    @property
    def best(self) -> int:
        """Position of the candidate with the largest A_j (the first, if several tie)."""
        return int(np.argmax(self.aurocs))


def screen(scores: Values, labels: Values, epsilon: float) -> Screening:
    """Screen and orient candidates, given their validation scores `[n, m]` (Algorithm DARC, lines
    3, 4, 6).

    Raises:
        SymboUQError: If the labels have only one class.
    """
    aurocs = np.array([auroc(column, labels) for column in scores.T], np.float64)  # None is NaN
    if np.isnan(aurocs).any():
        raise SymboUQError("screening needs both right and wrong answers")
    retained = np.flatnonzero(np.abs(aurocs - 0.5) >= epsilon - _ROUNDING)
    flipped = tuple((aurocs[retained] < 0.5).tolist())
    return Screening(aurocs, tuple(retained.tolist()), flipped)


def oriented(scores: Values, flipped: tuple[bool, ...]) -> Values:
    """Return the retained scores `[n, m]`, with each reversed score s replaced by 1 - s."""
    return np.where(np.array(flipped, bool), 1 - scores, scores)


def degenerate(y: Values, fold: NDArray[np.intp], k: int) -> bool:
    """Whether a fold or its complement is empty or has only one class."""
    parts = [part for number in range(k) for part in (y[fold == number], y[fold != number])]
    return any(len(np.unique(part)) < 2 for part in parts)


def _chosen(
    offered: dict[Design, Values], y: Values, fold: NDArray[np.intp], options: Options
) -> tuple[Design, float, float | None]:
    """Choose the design and l2 with the best mean held-out AUROC. Return both and this AUROC."""
    if degenerate(y, fold, options.folds):
        richest = max(offered, key=DESIGNS.index)
        return richest, REFERENCE_L2, None
    ranked = []
    for design, h in offered.items():
        for l2 in options.l2:
            mean = round(_held_out_auroc(h, y, fold, options.folds, l2), _DIGITS)
            ranked.append((mean, l2, -DESIGNS.index(design)))
    mean, l2, place = max(ranked)
    return DESIGNS[-place], l2, mean


def _held_out_auroc(h: Values, y: Values, fold: NDArray[np.intp], k: int, l2: float) -> float:
    """Return the mean held-out AUROC over folds. Each fold must contain both classes."""
    areas = [auroc(held_out(h, y, fold == number, l2), y[fold == number]) for number in range(k)]
    return sum(area for area in areas if area is not None) / k
