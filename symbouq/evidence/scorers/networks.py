"""Building blocks of the learned scorers' networks (appendix Neural and Symbolic Baselines).

A network computes a logit of correctness for every claim of a `Batch`. Inputs are standardised with
statistics of the training data, which are stored in the network. The hidden width W in the paper is
256. The paper does not specify depths, so they are chosen here to match the parameter counts in
Table efficiency: Transformers with two layers, 4 heads and feed-forward width 8 W, and an LSTM with
two layers.
"""

# PyTorch declares the return type of modules as Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from symbouq.errors import extra
from symbouq.evidence.scorers.base import Label, Labelled
from symbouq.evidence.scorers.batches import Batch

with extra("models"):
    import torch
    from torch import Tensor, nn
    from torch.nn.functional import binary_cross_entropy_with_logits, scaled_dot_product_attention
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

LAYERS = 2
HEADS = 4
FEED_FORWARD = 8
DROPOUT = 0.1


class Standardise(nn.Module):
    """Subtracts the mean of each feature and divides by its standard deviation.

    `rows` extracts the rows `[N, width]` from a batch.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, width: int, rows: Callable[[Batch], Tensor]) -> None:
        super().__init__()
        self.rows = rows
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("deviation", torch.ones(width))

    def fit(self, batches: Iterable[Batch]) -> None:
        """Compute the statistics over the given batches. Constant features are centred but not
        scaled.
        """
        count = 0
        total, squares = (torch.zeros_like(self.mean, dtype=torch.float64) for _ in range(2))
        for batch in batches:
            rows = self.rows(batch).double()
            count += len(rows)
            total += rows.sum(0)
            squares += (rows * rows).sum(0)
        mean = total / count
        deviation = (squares / count - mean * mean).clamp(min=0).sqrt()
        # Because of rounding, a constant feature has a tiny standard deviation. Do not divide by
        # it.
        constant = deviation <= 1e-6 * (1 + mean.abs())
        self.mean.copy_(mean)
        self.deviation.copy_(torch.where(constant, torch.ones_like(deviation), deviation))

    def forward(self, features: Tensor) -> Tensor:
        """Standardise the features."""
        return (features - self.mean) / self.deviation


def token_rows(batch: Batch) -> Tensor:
    """Return the tokens of a batch without padding, `[N, D]`."""
    return batch.tokens[batch.present]


def beside(claims: Tensor, trace: Tensor) -> Tensor:
    """Concatenate each claim's vector `[B, K, D]` with the vector of its trace `[B, E]`, giving
    `[B, K, D + E]`.
    """
    return torch.cat((claims, trace.unsqueeze(1).expand(-1, claims.shape[1], -1)), -1)


def head(width: int, hidden: int) -> nn.Sequential:
    """Build a perceptron with one hidden layer that outputs a logit."""
    return nn.Sequential(
        nn.Linear(width, hidden), nn.GELU(), nn.Dropout(DROPOUT), nn.Linear(hidden, 1)
    )


def encoder(width: int, hidden: int, rows: Callable[[Batch], Tensor]) -> nn.Sequential:
    """Build an encoder for the auditor's features."""
    return nn.Sequential(
        Standardise(width, rows),
        nn.Linear(width, hidden),
        nn.GELU(),
        nn.Dropout(DROPOUT),
        nn.Linear(hidden, hidden),
        nn.GELU(),
    )


def mean(values: Tensor, chosen: Tensor) -> Tensor:
    """Average `values` `[B, T, D]` over the `chosen` tokens `[B, K, T]` of each claim, giving `[B,
    K, D]`.
    """
    weights = chosen.to(values.dtype)
    return weights @ values / weights.sum(-1, keepdim=True).clamp(min=1)


def _positions(length: int, width: int, like: Tensor) -> Tensor:
    """Return sinusoidal position encodings `[length, width]` for any length."""
    half = (width + 1) // 2
    rates = torch.exp(-math.log(10_000) / half * torch.arange(half, device=like.device))
    angles = torch.arange(length, device=like.device)[:, None] * rates
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(1)[:, :width]


class Layer(nn.Module):
    """Transformer layer with normalisation before attention and before the feed-forward part."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.before_attention = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.key_value = nn.Linear(width, 2 * width)
        self.attended = nn.Linear(width, width)
        self.before_feed = nn.LayerNorm(width)
        self.feed = nn.Sequential(
            nn.Linear(width, FEED_FORWARD * width),
            nn.GELU(),
            nn.Dropout(DROPOUT),
            nn.Linear(FEED_FORWARD * width, width),
        )
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, tokens: Tensor, present: Tensor, first: bool = False) -> Tensor:
        """Compute new token vectors `[N, T, W]`, or only the first one if `first`. `present` `[N,
        T]` marks the tokens to attend to.
        """

        def heads(x: Tensor) -> Tensor:
            return x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)

        normal = self.before_attention(tokens)
        key, value = self.key_value(normal).chunk(2, -1)
        if first:
            tokens, normal = tokens[:, :1], normal[:, :1]
        attended = scaled_dot_product_attention(
            heads(self.query(normal)), heads(key), heads(value), present[:, None, None, :]
        )
        tokens = tokens + self.dropout(self.attended(attended.transpose(1, 2).flatten(2)))
        return tokens + self.dropout(self.feed(self.before_feed(tokens)))


class TraceTransformer(nn.Module):
    """Represents tokens in the context of their trace."""

    def __init__(self, tokens: int, hidden: int) -> None:
        super().__init__()
        self.standardise = Standardise(tokens, token_rows)
        self.project = nn.Linear(tokens, hidden)
        self.layers = nn.ModuleList(Layer(hidden) for _ in range(LAYERS))
        self.normal = nn.LayerNorm(hidden)

    def embedded(self, tokens: Tensor) -> Tensor:
        """Project tokens `[B, T, D]` to `[B, T, W]` and add position encodings, before the first
        layer.
        """
        projected = self.project(self.standardise(tokens))
        return projected + _positions(projected.shape[1], projected.shape[2], projected)

    def forward(self, batch: Batch) -> Tensor:
        """Return the vectors of all tokens, `[B, T, W]`."""
        tokens = self.embedded(batch.tokens)
        for layer in self.layers:
            tokens = layer(tokens, batch.present)
        return self.normal(tokens)


class ClaimTransformer(TraceTransformer):
    """Represents claims in the context of their trace. A span marker is added to each token of the
    claim, and a summary token attends to all tokens.

    Only this marker distinguishes the claims of a trace.
    """

    def __init__(self, tokens: int, hidden: int) -> None:
        super().__init__(tokens, hidden)
        self.marker = nn.Parameter(torch.randn(hidden))
        self.summary = nn.Parameter(torch.randn(hidden))

    def forward(self, batch: Batch) -> Tensor:
        """Return the vectors of all claims, `[B, K, W]`."""
        trace, claim = batch.claims.nonzero(as_tuple=True)
        marked = batch.spans[trace, claim].unsqueeze(-1) * self.marker
        tokens = self.embedded(batch.tokens)[trace] + marked
        tokens = torch.cat((self.summary.expand(len(trace), 1, -1), tokens), 1)
        present = nn.functional.pad(batch.present[trace], (1, 0), value=True)
        for layer in self.layers[:-1]:
            tokens = layer(tokens, present)
        claims = self.normal(self.layers[-1](tokens, present, first=True)[:, 0])
        padded = claims.new_zeros(*batch.claims.shape, claims.shape[-1])
        return padded.index_put((trace, claim), claims)


class ClaimOrder(nn.Module):
    """Bidirectional LSTM over the claims of a trace in the order of generation."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(
            hidden, hidden, LAYERS, batch_first=True, dropout=DROPOUT, bidirectional=True
        )

    def forward(self, claims: Tensor, present: Tensor) -> Tensor:
        """Map claims `[B, K, W]` to `[B, K, 2 W]`."""
        lengths = present.sum(1).cpu()
        packed = pack_padded_sequence(claims, lengths, batch_first=True, enforce_sorted=False)
        ordered, _ = pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, total_length=claims.shape[1]
        )
        return ordered


class Network(nn.Module):
    """Network that computes a logit of correctness for every claim.

    The function `logits` computes `[B, K, 1]` from the network and a batch. Values of absent claims
    are arbitrary. `parts` are the network's modules and parameters, which become attributes.
    """

    def __init__(
        self, logits: Callable[[Any, Batch], Tensor], **parts: nn.Module | nn.Parameter
    ) -> None:
        super().__init__()
        self.logits = logits
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, batch: Batch) -> Tensor:
        """Compute the logits `[B, K]`."""
        return self.logits(self, batch).squeeze(-1)

    @property
    def parameter_count(self) -> int:
        """Return the number of trained parameters, without the statistics in `Standardise`."""
        return sum(p.numel() for p in self.parameters())


ClassWeights = tuple[float, float]
"""Weights for wrong and for right labels."""


@dataclass(frozen=True)
class Loss:
    """Mean of two terms of equal weight (appendix Training and Calibration).

    One term is the binary cross-entropy over the labels of reasoning claims. The other is the
    binary cross-entropy over the labels of traces, with the logit of the conclusion. Within each
    term, a class is weighted by half the inverse of its share among the training labels. A term
    with weights None is omitted.
    """

    claims: ClassWeights | None = (1.0, 1.0)
    traces: ClassWeights | None = (1.0, 1.0)

    @classmethod
    def balanced(cls, train: Sequence[Labelled]) -> Loss:
        """Create a loss that gives both classes in a training split the same weight."""
        claims = [label for item in train for label in item.labels[:-1]]
        return cls(balance(claims), balance([item.correct for item in train]))

    def __call__(self, logits: Tensor, labels: Sequence[Sequence[Label]]) -> Tensor:
        """Return the mean of the terms with labels in the batch, given logits `[B, K]` and the
        labels of each trace.
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
    """Return class weights for which both classes have the same total weight and the mean weight is
    1; None if a class is missing.
    """
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
