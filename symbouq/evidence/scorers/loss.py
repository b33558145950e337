"""The loss of the learned scorers (appendix Training and Calibration).

It is the mean of two terms of the same weight: binary cross-entropy over the labels of the
reasoning claims, and over the labels of the traces, whose logit is the conclusion's. Each is
balanced within itself: the weight of a class is the inverse of its share of the training labels,
halved. A term whose labels are missing or of one class is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from symbouq.evidence.scorers.base import Label, Labelled

ClassWeights = tuple[float, float]
"""Weights of wrong and right labels."""


@dataclass(frozen=True)
class Loss:
    """The loss with the class weights of a training split.

    Attributes:
        claims: Weights for reasoning claims; None: the term is left out.
        traces: Weights for traces; None: the term is left out.
    """

    claims: ClassWeights | None = (1.0, 1.0)
    traces: ClassWeights | None = (1.0, 1.0)

    @classmethod
    def balanced(cls, train: Sequence[Labelled]) -> Loss:
        """The loss that weighs both classes of a training split alike."""
        claims = [label for item in train for label in item.labels[:-1]]
        return cls(balance(claims), balance([item.correct for item in train]))

    def __call__(self, logits: Tensor, labels: Sequence[Sequence[Label]]) -> Tensor:
        """The mean of the terms that have labels in a batch.

        Args:
            logits: `[B, K]`.
            labels: Of each trace the labels of its claims, at most K.
        """
        terms: dict[bool, list[tuple[int, int, int]]] = {False: [], True: []}
        for n, row in enumerate(labels):
            for k, label in enumerate(row):
                if label is not None:
                    terms[k == len(row) - 1].append((n, k, label))
        losses = [
            _cross_entropy(logits, chosen, weights)
            for chosen, weights in ((terms[False], self.claims), (terms[True], self.traces))
            if chosen and weights is not None
        ]
        return torch.stack(losses).mean() if losses else logits.sum() * 0


def balance(labels: Sequence[Label]) -> ClassWeights | None:
    """Weights that give both classes the same sum and a mean of 1; None where one is missing."""
    wrong, right = labels.count(0), labels.count(1)
    if not wrong or not right:
        return None
    return (wrong + right) / (2 * wrong), (wrong + right) / (2 * right)


def _cross_entropy(
    logits: Tensor, chosen: Sequence[tuple[int, int, int]], weights: ClassWeights
) -> Tensor:
    rows, columns, labels = zip(*chosen, strict=True)
    targets = torch.tensor(labels, dtype=logits.dtype, device=logits.device)
    scale = torch.tensor(weights, dtype=logits.dtype, device=logits.device)[targets.long()]
    return binary_cross_entropy_with_logits(logits[list(rows), list(columns)], targets, scale)
