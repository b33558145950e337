"""Ranking metrics: how well a score separates right from wrong answers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symbouq.errors import SymboUQError
from symbouq.metrics.pool import Metric, Values, checked, ratio, tied

SEPARATION_BINS = 5
"""Number of bins for the separation. Within each dataset, they have equal size."""


@Metric
def auroc(scores: Values, labels: Values, counts: Values) -> Values:
    """Probability that a right answer scores above a wrong one; ties count half.

    Scores may be any numbers, including infinities. The value is None if there is only one class.
    It is an exact ratio of counts, so pools with the same ranking have identical values.
    """
    order, starts = tied(scores)
    right = np.add.reduceat((counts * labels)[:, order], starts, axis=1)
    wrong = np.add.reduceat((counts * (1 - labels))[:, order], starts, axis=1)
    below = np.cumsum(wrong, axis=1) - wrong
    wins = (right * (below + wrong / 2)).sum(axis=1)
    return ratio(wins, right.sum(axis=1) * wrong.sum(axis=1))


def separation(scores: ArrayLike, labels: ArrayLike) -> float | None:
    """How well a score separates right from wrong answers by rank: Somers' D, `2 AUROC - 1`.

    It is 1 if every right answer scores above every wrong one, 0 for an uninformative score,
    negative for a misleading one, and None if there is only one class. The paper does not specify
    the statistic in its figure. Somers' D does not depend on the scale of the scores.

    Raises:
        SymboUQError: If lengths differ, or a score or label is missing.
    """
    area = auroc(scores, labels)
    return None if area is None else 2 * area - 1


def auroc_within(scores: ArrayLike, labels: ArrayLike, strata: Sequence[Hashable]) -> float | None:
    """AUROC within strata: how well a score ranks traces with the same value of the variable that
    defines the strata.

    Only pairs of traces in the same stratum are compared, and all strata are pooled. Ties count
    half. None if no stratum has both classes.

    Args:
        scores: As in `auroc`.
        labels: As in `auroc`.
        strata: Stratum of each trace.

    Raises:
        SymboUQError: If lengths differ, or a score or label is missing.
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
    """A bin for the separation.

    Attributes:
        traces: Number of traces over all datasets.
        mean: Mean of the binned values, or None without traces.
        separation: Mean separation over datasets, or None if it is undefined for all of them.
        datasets: Number of datasets for which the separation is defined.
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
    """Separation of a score over within-dataset bins of a value (figure analysis, left).

    In each dataset, the n traces with values are ranked from 1; traces with equal values get their
    mean rank. A trace with rank r is in bin `floor(bins (r - 1/2) / n)`, so bins have equal size
    and equal values share a bin. Datasets have equal weight.

    Args:
        values: Values that define the bins, such as determinacy. In the paper, only traces with a
            parsed claim have a value.
        scores: The constraint score.
        labels: 1 right, 0 wrong.
        datasets: Dataset of each trace.
        bins: Number of bins.

    Raises:
        SymboUQError: If lengths differ, or a score or label is missing.
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
    """Restricted oracle of Table ablation: the score with the best test AUROC.

    The choice uses test labels, so this is not a method and is never highlighted.

    Args:
        candidates: Scores by name; in the paper, they are Constraint and Neural-Seq.
        labels: Test labels.

    Returns:
        Name and scores of the best candidate (the first one, if several tie), or (None, None) if
        there is only one class.

    Raises:
        SymboUQError: If lengths differ, or a score or label is missing.
    """
    areas = {name: auroc(scores, labels) for name, scores in candidates.items()}
    defined = {name: area for name, area in areas.items() if area is not None}
    if not defined:
        return None, None
    best = max(defined, key=lambda name: defined[name])
    return best, np.asarray(candidates[best], np.float64)
