"""Metrics of ranking: does a score tell right answers from wrong ones?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symbouq.errors import SymboUQError
from symbouq.metrics.pool import Metric, Values, checked, ratio, tied

SEPARATION_BINS = 5
"""Bins of the separation, of equal size within each dataset."""


@Metric
def auroc(scores: Values, labels: Values, counts: Values) -> Values:
    """The probability that a right answer scores above a wrong one, ties counted half.

    Scores may be any numbers, infinities included. None with one class. It is a ratio of counts
    and exact: pools that rank alike have equal values to the last bit, which a sum of trapezoids,
    as scikit-learn's, does not promise.
    """
    order, starts = tied(scores)
    right = np.add.reduceat((counts * labels)[:, order], starts, axis=1)
    wrong = np.add.reduceat((counts * (1 - labels))[:, order], starts, axis=1)
    below = np.cumsum(wrong, axis=1) - wrong
    wins = (right * (below + wrong / 2)).sum(axis=1)
    return ratio(wins, right.sum(axis=1) * wrong.sum(axis=1))


def separation(scores: ArrayLike, labels: ArrayLike) -> float | None:
    """Distance between right and wrong answers in rank: Somers' D, `2 AUROC - 1`.

    It is 1 where every right answer scores above every wrong one, 0 where the score says nothing,
    negative where it misleads; None with one class. The paper names no statistic for its figure;
    this one needs no scale, so that fixed and learned scores compare.

    Raises:
        SymboUQError: If lengths differ, or a score or label is none.
    """
    area = auroc(scores, labels)
    return None if area is None else 2 * area - 1


def auroc_within(scores: ArrayLike, labels: ArrayLike, strata: Sequence[Hashable]) -> float | None:
    """The probability that a right answer scores above a wrong one of the same stratum, ties
    counted half: what a score tells beyond the variable that the strata are of.

    It is the AUROC of the pairs of one stratum, pooled; None where no stratum has both classes.

    Args:
        scores: As `auroc` takes them.
        labels: Likewise.
        strata: The stratum of each trace.

    Raises:
        SymboUQError: If lengths differ, or a score or label is none.
    """
    values, right = checked(scores, labels)
    if len(strata) != len(values):
        raise SymboUQError(f"{len(strata)} strata for {len(values)} scores: one each is needed")
    places: dict[Hashable, list[int]] = {}
    for place, stratum in enumerate(strata):
        places.setdefault(stratum, []).append(place)
    wins = pairs = 0.0
    for inside in places.values():
        area = auroc(values[inside], right[inside])
        if area is not None:
            count = right[inside].sum() * (1 - right[inside]).sum()
            wins, pairs = wins + area * count, pairs + count
    return wins / pairs if pairs else None


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

    s, right = checked(scores, labels)
    binned, names = np.asarray(values, np.float64), np.asarray(datasets, dtype=object)
    if binned.shape != s.shape or names.shape != s.shape:
        raise SymboUQError("values, scores and datasets: one each is needed")
    members = [names == name for name in dict.fromkeys(datasets)]
    placed = np.zeros(len(s), int)
    for member in members:
        ranks = rankdata(binned[member])
        placed[member] = np.minimum((bins * (ranks - 0.5) / len(ranks)).astype(int), bins - 1)

    def summarised(inside: NDArray[np.bool_]) -> Bin:
        parts = [separation(s[inside & member], right[inside & member]) for member in members]
        defined = [part for part in parts if part is not None]
        return Bin(
            int(inside.sum()),
            float(binned[inside].mean()) if inside.any() else None,
            sum(defined) / len(defined) if defined else None,
            len(defined),
        )

    return [summarised(placed == number) for number in range(bins)]


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
    areas = {name: auroc(scores, labels) for name, scores in candidates.items()}
    defined = {name: area for name, area in areas.items() if area is not None}
    if not defined:
        return None, None
    best = max(defined, key=lambda name: defined[name])
    return best, np.asarray(candidates[best], np.float64)
