"""Agreement between two sources of labels (appendix Backbones and Judge)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import eq
from typing import Any

from symbouq.errors import SymboUQError
from symbouq.evidence.labels.records import Labels

ALL = "all"
"""Name of the row for all datasets together."""

_Pair = tuple[str, int, int]
"""A trace's id and the two labels for one of its claims."""


@dataclass(frozen=True)
class Agreement:
    """Agreement between two sources on the claims labelled by both. `traces` and `claims` are the
    numbers of these claims and of their traces.

    Attributes:
        rate: Share of claims with the same label; None without claims.
        kappa: Cohen's kappa, (rate - chance) / (1 - chance); None if undefined.
        undefined: Why kappa is undefined; otherwise empty.
    """

    dataset: str
    traces: int
    claims: int
    rate: float | None
    kappa: float | None
    undefined: str = ""


def agreement(first: Mapping[str, Labels], second: Mapping[str, Labels]) -> list[Agreement]:
    """Compute the agreement between two sources (labels by id) on each dataset and then on all
    datasets together.

    Raises:
        SymboUQError: If the two disagree on a trace's number of claims.
    """
    pairs: dict[str, list[_Pair]] = {}
    for identity, labels in first.items():
        other = second.get(identity)
        if other is None:
            continue
        labels.check_claims(other)
        dataset = labels.dataset or other.dataset or "no dataset"
        pairs.setdefault(dataset, []).extend(
            (identity, a, b)
            for a, b in zip(labels.labels, other.labels, strict=True)
            if a is not None and b is not None
        )
    rows = [_agreement(dataset, shared) for dataset, shared in pairs.items()]
    return [*rows, _agreement(ALL, list(chain.from_iterable(pairs.values())))]


def _agreement(dataset: str, pairs: Sequence[_Pair]) -> Agreement:
    if not pairs:
        return Agreement(dataset, 0, 0, None, None, "no claim is labelled by both")
    ids, first, second = zip(*pairs, strict=True)
    rate = sum(map(eq, first, second)) / len(pairs)
    kappa = cohen_kappa(first, second)
    reason = ""
    if kappa is None:
        label = "right" if first[0] else "wrong"
        reason = f"both call every claim {label}, so there is nothing beyond chance"
    return Agreement(dataset, len(set(ids)), len(pairs), rate, kappa, reason)


def cohen_kappa(first: Sequence[Any], second: Sequence[Any]) -> float | None:
    """Compute the agreement of two raters beyond chance. Return None without ratings, or if all
    ratings are equal.

    Raises:
        SymboUQError: If the two sequences have different lengths.
    """
    if len(first) != len(second):
        raise SymboUQError(f"{len(first)} ratings and {len(second)}: one each is needed")
    if len({*first, *second}) < 2:
        return None  # if all ratings are equal, agreement by chance is certain
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(list(first), list(second)))
