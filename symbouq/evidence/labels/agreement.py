"""How far two sources of labels agree (appendix Backbones and Judge)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from symbouq.errors import SymboUQError
from symbouq.evidence.labels.records import Labels
from symbouq.metrics import cohen_kappa

ALL = "all"
"""Name of the row over all datasets."""


@dataclass(frozen=True)
class Agreement:
    """Agreement over the claims that both of two sources label.

    Attributes:
        dataset: Which traces.
        traces: How many of them have such a claim.
        claims: How many such claims there are.
        rate: Share of them with the same label; None where there are none.
        kappa: Cohen's kappa, (rate - chance) / (1 - chance), where chance is the rate that
            two independent sources with the same shares of ones would have; None where it
            is not defined.
        undefined: Why it is not, empty where it is.
    """

    dataset: str
    traces: int
    claims: int
    rate: float | None
    kappa: float | None
    undefined: str = ""


def agreement(first: Mapping[str, Labels], second: Mapping[str, Labels]) -> list[Agreement]:
    """The agreement of two sources on each dataset, and last on all.

    Args:
        first: Labels by id.
        second: Labels by id.

    Raises:
        SymboUQError: If they do not agree on how many claims a trace has.
    """
    pairs: dict[str, list[tuple[str, int, int]]] = {}
    for identity, labels in first.items():
        other = second.get(identity)
        if other is None:
            continue
        if len(labels.labels) != len(other.labels):
            raise SymboUQError(
                f"trace {identity} has {len(labels.labels)} claims by {labels.source} and "
                f"{len(other.labels)} by {other.source}"
            )
        dataset = labels.dataset or other.dataset or "no dataset"
        pairs.setdefault(dataset, []).extend(
            (identity, a, b)
            for a, b in zip(labels.labels, other.labels, strict=True)
            if a is not None and b is not None
        )
    rows = [_agreement(dataset, found) for dataset, found in pairs.items()]
    return [*rows, _agreement(ALL, [pair for found in pairs.values() for pair in found])]


def _agreement(dataset: str, pairs: Iterable[tuple[str, int, int]]) -> Agreement:
    found = list(pairs)
    traces, claims = len({identity for identity, _, _ in found}), len(found)
    if not found:
        return Agreement(dataset, 0, 0, None, None, "no claim is labelled by both")
    first, second = [a for _, a, _ in found], [b for _, _, b in found]
    rate = sum(a == b for a, b in zip(first, second, strict=True)) / claims
    kappa = cohen_kappa(first, second)
    if kappa is None:
        label = "right" if first[0] else "wrong"
        told = f"both call every claim {label}, so there is nothing beyond chance"
        return Agreement(dataset, traces, claims, rate, None, told)
    return Agreement(dataset, traces, claims, rate, kappa)
