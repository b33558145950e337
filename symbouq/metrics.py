"""How good a reliability score is (appendix Metrics and Statistical Analysis).

Scores are probabilities that an answer is right, labels 1 for right and 0 for wrong. A metric
that a pool does not define is None, never a number that could be mistaken for one: AUROC,
class-balanced Brier and the separation need both classes, and no metric is defined on an empty
pool.

Every metric is computed for any number of multisets of the same traces at once, given how often
each trace occurs; a single value is the multiset of all traces once. So the bootstrap has no
formula of its own. AUROC is a ratio of counts and exact: pools that rank alike have equal values
to the last bit, which a sum of trapezoids does not promise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symbouq.errors import SymboUQError

Values = NDArray[np.float64]

ECE_BINS = 10
"""Bins of the expected calibration error, of equal width: [0, 0.1), ..., [0.9, 1]."""

SEPARATION_BINS = 5
"""Bins of the separation, of equal size within each dataset."""

RESAMPLES = 2000
"""Resamples of the paired bootstrap."""

_SMALLEST = float(np.finfo(np.float64).eps)
"""Probabilities are kept this far from 0 and 1 before their logarithm is taken."""

_AT_ONCE = 4_000_000
"""Resampled traces in memory at one time."""

Counted = Callable[[Values, Values, Values], Values]
"""Scores `[n]`, labels `[n]` and counts `[B, n]` to B values, NaN where undefined."""


# Metrics of counted traces ----------------------------------------------------------------


def _share(numerator: Values, denominator: Values) -> Values:
    """A quotient that is NaN where nothing is divided by nothing."""
    found = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=found, where=denominator > 0)
    return found


def _groups(scores: Values, descending: bool = False) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The order of the scores, and where each run of equal ones begins."""
    order = np.argsort(-scores if descending else scores, kind="stable")
    ranked = scores[order]
    return order, np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])


def _auroc(scores: Values, labels: Values, counts: Values) -> Values:
    order, starts = _groups(scores)
    right = np.add.reduceat((counts * labels)[:, order], starts, axis=1)
    wrong = np.add.reduceat((counts * (1 - labels))[:, order], starts, axis=1)
    below = np.cumsum(wrong, axis=1) - wrong
    wins = (right * (below + wrong / 2)).sum(axis=1)
    return _share(wins, right.sum(axis=1) * wrong.sum(axis=1))


def _brier(scores: Values, labels: Values, counts: Values) -> Values:
    return _share(counts @ (scores - labels) ** 2, counts.sum(axis=1))


def _balanced_brier(scores: Values, labels: Values, counts: Values) -> Values:
    right = _share(counts @ (labels * (scores - 1) ** 2), counts @ labels)
    wrong = _share(counts @ ((1 - labels) * scores**2), counts @ (1 - labels))
    return (right + wrong) / 2


def _ece(scores: Values, labels: Values, counts: Values) -> Values:
    bins = np.minimum((scores * ECE_BINS).astype(int), ECE_BINS - 1)
    gaps = np.zeros((len(scores), ECE_BINS))
    gaps[np.arange(len(scores)), bins] = labels - scores
    return _share(np.abs(counts @ gaps).sum(axis=1), counts.sum(axis=1))


def _nll(scores: Values, labels: Values, counts: Values) -> Values:
    clipped = np.clip(scores, _SMALLEST, 1 - _SMALLEST)
    losses = -np.where(labels > 0, np.log(clipped), np.log1p(-clipped))
    return _share(counts @ losses, counts.sum(axis=1))


def _aurc(scores: Values, labels: Values, counts: Values) -> Values:
    order, starts = _groups(scores, descending=True)
    size = np.add.reduceat(counts[:, order], starts, axis=1)
    wrong = np.add.reduceat((counts * (1 - labels))[:, order], starts, axis=1)
    taken = np.cumsum(size, axis=1)
    before, errors = taken - size, np.cumsum(wrong, axis=1) - wrong
    # Within a tie of m traces, w of them wrong, after k with e wrong, the expected risk of the
    # first k + j is (e + jw/m) / (k + j) = w/m + (e - kw/m) / (k + j): a harmonic sum.
    total = int(counts.sum(axis=1).max(initial=0))
    harmonic = np.r_[0.0, np.cumsum(1 / np.arange(1, total + 1))]
    spread = harmonic[taken.astype(int)] - harmonic[before.astype(int)]
    rate = np.divide(wrong, size, out=np.zeros_like(wrong), where=size > 0)
    return _share((wrong + (errors - before * rate) * spread).sum(axis=1), counts.sum(axis=1))


METRICS: dict[str, Counted] = {
    "auroc": _auroc,
    "balanced_brier": _balanced_brier,
    "brier": _brier,
    "ece": _ece,
    "nll": _nll,
    "aurc": _aurc,
}
"""The metrics that the bootstrap resamples, by name."""

HIGHER_IS_BETTER = frozenset({"auroc"})
"""Those of them that are no loss."""


def _checked(scores: ArrayLike, labels: ArrayLike) -> tuple[Values, Values]:
    values, right = np.asarray(scores, np.float64), np.asarray(labels, np.float64)
    if values.ndim != 1 or values.shape != right.shape:
        raise SymboUQError(f"{values.shape} scores for {right.shape} labels: one each is needed")
    if np.isnan(values).any():
        raise SymboUQError("a score is not a number")
    if not np.isin(right, (0, 1)).all():
        raise SymboUQError("labels are 0 or 1")
    return values, right


def _probabilities(scores: Values) -> None:
    if ((scores < 0) | (scores > 1)).any():
        raise SymboUQError("a score is not a probability: this metric needs values in [0, 1]")


def evaluate(metric: str, scores: ArrayLike, labels: ArrayLike) -> float | None:
    """One of METRICS by its name; None where the pool does not define it.

    Args:
        metric: The name.
        scores: One number a trace, larger ones for answers that are likelier right.
        labels: 1 right, 0 wrong.

    Raises:
        SymboUQError: If the name is unknown, lengths differ, or a score or label is none.
    """
    function = _metric(metric)
    values, right = _checked(scores, labels)
    if metric not in ("auroc", "aurc"):
        _probabilities(values)
    if not len(values):
        return None
    return _defined(float(function(values, right, np.ones((1, len(values))))[0]))


def _metric(name: str) -> Counted:
    if name not in METRICS:
        raise SymboUQError(f"unknown metric {name!r}; there are: {', '.join(METRICS)}")
    return METRICS[name]


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else value


def auroc(scores: ArrayLike, labels: ArrayLike) -> float | None:
    """How likely a right answer scores above a wrong one, ties counted half.

    Scores may be any numbers, infinities included. None with one class.

    Raises:
        SymboUQError: If lengths differ, or a score or label is none.
    """
    return evaluate("auroc", scores, labels)


def brier(scores: ArrayLike, labels: ArrayLike) -> float | None:
    """Mean squared error of the probabilities.

    Raises:
        SymboUQError: If lengths differ, or a score or label is none.
    """
    return evaluate("brier", scores, labels)


def balanced_brier(scores: ArrayLike, labels: ArrayLike) -> float | None:
    """Mean of both classes' mean squared errors (Eq. balbrier); None with one class.

    Raises:
        SymboUQError: If lengths differ, or a score or label is none.
    """
    return evaluate("balanced_brier", scores, labels)


def ece(scores: ArrayLike, labels: ArrayLike) -> float | None:
    """Expected calibration error: over ECE_BINS bins of equal width, the distance between the mean
    probability and the share that is right, weighted by how many traces a bin holds.

    A bin holds its lower edge, the last one both.

    Raises:
        SymboUQError: If lengths differ, or a score or label is none.
    """
    return evaluate("ece", scores, labels)


def nll(scores: ArrayLike, labels: ArrayLike) -> float | None:
    """Mean negative log-likelihood of the labels, in nats; 0 and 1 count as 2.2e-16 from it.

    Raises:
        SymboUQError: If lengths differ, or a score or label is none.
    """
    return evaluate("nll", scores, labels)


def aurc(scores: ArrayLike, labels: ArrayLike) -> float | None:
    """Area under the risk-coverage curve: the mean over k of the risk of the k best-scored.

    Traces of equal score are taken in random order and the expectation over those orders is
    given, so that the value depends on no order of the input.

    Raises:
        SymboUQError: If lengths differ, or a score or label is none.
    """
    return evaluate("aurc", scores, labels)


@dataclass(frozen=True)
class RiskCoverage:
    """The risk of answering only where the score is high.

    Attributes:
        coverage: Shares of traces that are answered, 1/n to 1.
        risk: The expected share of wrong ones among them.
    """

    coverage: Values
    risk: Values


def risk_coverage(scores: ArrayLike, labels: ArrayLike) -> RiskCoverage:
    """The risk-coverage curve, ties in expectation as in `aurc`; without points on no traces.

    Raises:
        SymboUQError: If lengths differ, or a score or label is none.
    """
    values, right = _checked(scores, labels)
    order, starts = _groups(values, descending=True)
    sizes = np.diff(np.r_[starts, len(values)])
    if not len(values):
        return RiskCoverage(np.empty(0), np.empty(0))
    rates = np.add.reduceat(1 - right[order], starts) / sizes
    taken = np.arange(1, len(values) + 1)
    return RiskCoverage(taken / len(values), np.cumsum(np.repeat(rates, sizes)) / taken)


@dataclass(frozen=True)
class CalibrationBin:
    """One bin of a reliability diagram.

    Attributes:
        low: Its lower edge.
        high: Its upper edge.
        count: How many traces it holds.
        confidence: Their mean probability; None without any.
        accuracy: The share of right ones; None without any.
    """

    low: float
    high: float
    count: int
    confidence: float | None
    accuracy: float | None


def calibration_bins(scores: ArrayLike, labels: ArrayLike) -> list[CalibrationBin]:
    """The bins of `ece`, for a reliability diagram.

    Raises:
        SymboUQError: If lengths differ, or a score or label is none.
    """
    values, right = _checked(scores, labels)
    _probabilities(values)
    bins = np.minimum((values * ECE_BINS).astype(int), ECE_BINS - 1)
    found = []
    for number in range(ECE_BINS):
        chosen = bins == number
        count = int(chosen.sum())
        means = (
            (float(values[chosen].mean()), float(right[chosen].mean())) if count else (None, None)
        )
        found.append(CalibrationBin(number / ECE_BINS, (number + 1) / ECE_BINS, count, *means))
    return found


# The paired bootstrap ---------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """How two scores of the same traces differ in a metric.

    Attributes:
        difference: First minus second on all traces.
        low: Lower end of the 95 % percentile interval.
        high: Upper end.
        p: Two-sided p-value of no difference.
        resamples: How many resamples define the metric; the others hold one class only.
    """

    difference: float
    low: float
    high: float
    p: float
    resamples: int


def paired_bootstrap(
    first: ArrayLike,
    second: ArrayLike,
    labels: ArrayLike,
    metric: str = "auroc",
    resamples: int = RESAMPLES,
    seed: int = 2026,
) -> Comparison | None:
    """Compares two scores by resampling traces, each with both of its scores.

    The p-value is twice the smaller share of resamples on one side of zero, zero itself and one
    more resample counted on both sides, as SciPy's permutation test counts. The same seed draws
    what `scipy.stats.bootstrap` draws from `numpy.random.default_rng(seed)`.

    Args:
        first: Scores of one method, `[n]`, or of several runs of it, `[runs, n]`: the metric is
            then the mean over runs.
        second: Scores of the other, of the same traces.
        labels: 1 right, 0 wrong.
        metric: One of METRICS.
        resamples: How many are drawn.
        seed: Decides which.

    Returns:
        The comparison; None where the traces, or all resamples, do not define the metric.

    Raises:
        SymboUQError: If the metric is unknown, lengths differ, or a score or label is none.
    """
    function = _metric(metric)
    both = [[_checked(run, labels)[0] for run in np.atleast_2d(given)] for given in (first, second)]
    right = np.asarray(labels, np.float64)
    here = [[evaluate(metric, run, right) for run in runs] for runs in both]
    known = [[value for value in values if value is not None] for values in here]
    if not known[0] or not known[1]:
        return None
    n = len(right)
    drawn = np.random.default_rng(seed).integers(0, n, (resamples, n))
    size = max(1, _AT_ONCE // n)
    parts = []
    for start in range(0, resamples, size):
        rows = drawn[start : start + size]
        offsets = np.arange(len(rows))[:, None] * n
        counts = np.bincount((rows + offsets).ravel(), minlength=len(rows) * n)
        weights = counts.reshape(len(rows), n).astype(np.float64)
        means = [sum(function(run, right, weights) for run in runs) / len(runs) for runs in both]
        parts.append(means[0] - means[1])
    differences = np.concatenate(parts)
    differences = differences[~np.isnan(differences)]
    if not len(differences):
        return None
    low, high = np.percentile(differences, (2.5, 97.5))
    return Comparison(
        sum(known[0]) / len(known[0]) - sum(known[1]) / len(known[1]),
        float(low),
        float(high),
        _two_sided(differences),
        len(differences),
    )


def _two_sided(differences: Values) -> float:
    sides = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    return min(1.0, 2 * (sides + 1) / (len(differences) + 1))


# Agreement, determinacy, separation -------------------------------------------------------


def cohen_kappa(first: Sequence[Any], second: Sequence[Any]) -> float | None:
    """Agreement of two raters beyond chance; None where chance alone agrees fully, or without
    ratings.

    Raises:
        SymboUQError: If they did not rate the same number of things.
    """
    if len(first) != len(second):
        raise SymboUQError(f"{len(first)} ratings and {len(second)}: one each is needed")
    if len({*first, *second}) < 2:
        return None  # one rating throughout: agreement by chance is certain
    from sklearn.metrics import cohen_kappa_score

    return _defined(float(cohen_kappa_score(list(first), list(second))))


def micro_f1(found: Iterable[Set[Any]], wanted: Iterable[Set[Any]]) -> float | None:
    """F1 over all items of some sets together, found against wanted; None where there are none.

    Raises:
        ValueError: If there are more sets of one than of the other.
    """
    right = total = 0
    for mine, theirs in zip(found, wanted, strict=True):
        right += len(mine & theirs)
        total += len(mine) + len(theirs)
    return 2 * right / total if total else None


def weighted_determinacy(determinacy: ArrayLike, parsed: ArrayLike) -> float | None:
    """Determinacy of a dataset: the mean over traces, each as often as it has parsed claims.

    Args:
        determinacy: d(r) of each trace.
        parsed: How many of its claims are parsed.

    Returns:
        The mean; None if no trace has a parsed claim.

    Raises:
        SymboUQError: If lengths differ.
    """
    values, weights = np.asarray(determinacy, np.float64), np.asarray(parsed, np.float64)
    if values.shape != weights.shape:
        raise SymboUQError(f"{values.shape} determinacies for {weights.shape} counts")
    total = float(weights.sum())
    return float(values @ weights) / total if total > 0 else None


def separation(scores: ArrayLike, labels: ArrayLike) -> float | None:
    """How far a score tells right answers from wrong ones: Somers' D, `2 AUROC - 1`.

    It is 1 where every right answer scores above every wrong one, 0 where the score says nothing,
    negative where it misleads; None with one class. The paper names no statistic for its figure;
    this one needs no scale, so that fixed and learned scores compare.

    Raises:
        SymboUQError: If lengths differ, or a score or label is none.
    """
    found = auroc(scores, labels)
    return None if found is None else 2 * found - 1


@dataclass(frozen=True)
class Bin:
    """One bin of the separation.

    Attributes:
        traces: How many traces it holds, over all datasets.
        mean: The mean of the binned values; None without traces.
        separation: The mean of the datasets' separations in it; None if none defines one.
        datasets: How many datasets define it.
    """

    traces: int
    mean: float | None
    separation: float | None
    datasets: int


def separation_by_bin(
    values: ArrayLike,
    scores: ArrayLike,
    labels: ArrayLike,
    datasets: Sequence[str],
    bins: int = SEPARATION_BINS,
) -> list[Bin]:
    """The separation of a score over within-dataset bins of a value (figure analysis, left).

    In each dataset, the n traces with values are ranked, equal values sharing their mean rank r
    (from 1), and trace r goes to bin `floor(bins (r - 1/2) / n)`: bins of equal size, but equal
    values always share one. Datasets weigh alike.

    Args:
        values: What is binned, such as determinacy; of traces with a parsed claim, in the paper.
        scores: The constraint score.
        labels: 1 right, 0 wrong.
        datasets: Each trace's dataset.
        bins: How many bins.

    Raises:
        SymboUQError: If lengths differ, or a score or label is none.
    """
    from scipy.stats import rankdata

    s, right = _checked(scores, labels)
    binned, names = np.asarray(values, np.float64), np.asarray(datasets, dtype=object)
    if binned.shape != s.shape or names.shape != s.shape:
        raise SymboUQError("values, scores and datasets: one each is needed")
    placed = np.zeros(len(s), int)
    for name in dict.fromkeys(datasets):
        chosen = names == name
        ranks = rankdata(binned[chosen])
        placed[chosen] = np.minimum((bins * (ranks - 0.5) / len(ranks)).astype(int), bins - 1)
    found = []
    for number in range(bins):
        inside = placed == number
        parts = [
            separation(s[inside & (names == name)], right[inside & (names == name)])
            for name in dict.fromkeys(datasets)
        ]
        known = [part for part in parts if part is not None]
        count = int(inside.sum())
        found.append(
            Bin(
                count,
                float(binned[inside].mean()) if count else None,
                sum(known) / len(known) if known else None,
                len(known),
            )
        )
    return found


def oracle(
    candidates: Mapping[str, ArrayLike], labels: ArrayLike
) -> tuple[str, Values] | tuple[None, None]:
    """The restricted oracle of Table ablation: of some scores the one with the best test AUROC.

    It reads test labels to choose, so it is no method: it belongs to the stage that computes
    metrics, and no highlighting counts it.

    Args:
        candidates: Scores by name; the paper's are Constraint and Neural-Seq.
        labels: Test labels.

    Returns:
        Name and scores of the best, the first among equals; None twice with one class.

    Raises:
        SymboUQError: If lengths differ, or a score or label is none.
    """
    ranked = {name: auroc(scores, labels) for name, scores in candidates.items()}
    known = {name: value for name, value in ranked.items() if value is not None}
    if not known:
        return None, None
    best = max(known, key=lambda name: known[name])
    return best, np.asarray(candidates[best], np.float64)
