"""The learned scorers' networks (appendix Neural and Symbolic Baselines).

Each takes a `Batch` and gives a logit of correctness for every claim. A token is its hidden
state, its four top probabilities and its lookback ratios, side by side. Inputs are standardised
by statistics of the training split, which are part of the network. The hidden width is W, the
paper's 256; the paper gives no depths, so these are chosen to come out at the parameter counts of
Table efficiency: Transformers have two layers with 4 heads and feed-forward width 8 W, the LSTM
two layers.
"""

# PyTorch types what a module returns as Any.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields

from symbouq.errors import missing_extra
from symbouq.records.features import CLAIM_FEATURES, TRACE_FEATURES

try:
    import torch
    from torch import Tensor, nn
    from torch.nn.functional import scaled_dot_product_attention
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
except ImportError as error:
    raise missing_extra("models", error) from error

LAYERS = 2
HEADS = 4
FEED_FORWARD = 8
DROPOUT = 0.1

_ENTAILED = list(CLAIM_FEATURES).index("entailed")
_CONTRADICTED = list(CLAIM_FEATURES).index("contradicted")


@dataclass(frozen=True)
class Batch:
    """B traces of at most T tokens and K claims, padded.

    Attributes:
        tokens: Features of the tokens, float32 `[B, T, D]`; D is 0 where none are read.
        present: Which tokens there are, bool `[B, T]`.
        spans: Which tokens are each claim's, bool `[B, K, T]`; all of the trace's for a claim
            without any.
        claims: Which claims there are, bool `[B, K]`; a trace's claims come first.
        claim_features: The auditor's, float32 `[B, K, 23 C]` for C contexts side by side; zeros
            where none are read.
        trace_features: Likewise, float32 `[B, 16 C]`.
    """

    tokens: Tensor
    present: Tensor
    spans: Tensor
    claims: Tensor
    claim_features: Tensor
    trace_features: Tensor

    def to(self, device: str | torch.device) -> Batch:
        """The same on a device."""
        return Batch(*(getattr(self, field.name).to(device) for field in fields(self)))

    def __getitem__(self, traces: slice) -> Batch:
        """Some of the traces, padded as they are."""
        return Batch(*(getattr(self, field.name)[traces] for field in fields(self)))


def _token_rows(batch: Batch) -> Tensor:
    return batch.tokens[batch.present]


def _claim_rows(batch: Batch) -> Tensor:
    return batch.claim_features[batch.claims]


def _trace_rows(batch: Batch) -> Tensor:
    return batch.trace_features


class Standardise(nn.Module):
    """Takes the mean from each feature and divides by its standard deviation.

    Args:
        width: How many features.
        rows: Takes the rows `[N, width]` from a batch that it standardises.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, width: int, rows: Callable[[Batch], Tensor]) -> None:
        super().__init__()
        self.rows = rows
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("deviation", torch.ones(width))

    def fit(self, batches: Iterable[Batch]) -> None:
        """Takes the statistics of some batches; a constant feature is only centred."""
        count = 0
        total, squares = (torch.zeros_like(self.mean, dtype=torch.float64) for _ in range(2))
        for batch in batches:
            rows = self.rows(batch).double()
            count += len(rows)
            total += rows.sum(0)
            squares += (rows * rows).sum(0)
        mean = total / count
        deviation = (squares / count - mean * mean).clamp(min=0).sqrt()
        # Rounding leaves a constant feature a tiny deviation, never to be divided by.
        constant = deviation <= 1e-6 * (1 + mean.abs())
        self.mean.copy_(mean)
        self.deviation.copy_(torch.where(constant, torch.ones_like(deviation), deviation))

    def forward(self, features: Tensor) -> Tensor:
        """Standardised features."""
        return (features - self.mean) / self.deviation


def _head(width: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(width, hidden), nn.GELU(), nn.Dropout(DROPOUT), nn.Linear(hidden, 1)
    )


def _encoder(width: int, hidden: int, rows: Callable[[Batch], Tensor]) -> nn.Sequential:
    """A learned encoder of auditor features."""
    return nn.Sequential(
        Standardise(width, rows),
        nn.Linear(width, hidden),
        nn.GELU(),
        nn.Dropout(DROPOUT),
        nn.Linear(hidden, hidden),
        nn.GELU(),
    )


def _mean(values: Tensor, chosen: Tensor) -> Tensor:
    """Means over the chosen tokens: values `[B, T, D]`, chosen `[B, K, T]` to `[B, K, D]`."""
    weights = chosen.to(values.dtype)
    return weights @ values / weights.sum(-1, keepdim=True).clamp(min=1)


def _positions(length: int, width: int, like: Tensor) -> Tensor:
    """Sinusoidal position codes `[length, width]`, for any length."""
    half = (width + 1) // 2
    rates = torch.exp(-math.log(10_000) / half * torch.arange(half, device=like.device))
    angles = torch.arange(length, device=like.device)[:, None] * rates
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(1)[:, :width]


class Layer(nn.Module):
    """A Transformer layer with normalisation before each part.

    Args:
        width: Of its tokens.
    """

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
        """New tokens.

        Args:
            tokens: `[N, T, W]`.
            present: Which ones may be attended to, `[N, T]`.
            first: Whether only the first new token is wanted, `[N, 1, W]`.
        """

        def heads(x: Tensor) -> Tensor:
            return x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)

        normal = self.before_attention(tokens)
        key, value = self.key_value(normal).chunk(2, -1)
        if first:
            tokens, normal = tokens[:, :1], normal[:, :1]
        found = scaled_dot_product_attention(
            heads(self.query(normal)), heads(key), heads(value), present[:, None, None, :]
        )
        tokens = tokens + self.dropout(self.attended(found.transpose(1, 2).flatten(2)))
        return tokens + self.dropout(self.feed(self.before_feed(tokens)))


class TraceTransformer(nn.Module):
    """Tokens in the context of their trace.

    Args:
        tokens: Width of the tokens' features.
        hidden: W.
    """

    def __init__(self, tokens: int, hidden: int) -> None:
        super().__init__()
        self.standardise = Standardise(tokens, _token_rows)
        self.project = nn.Linear(tokens, hidden)
        self.layers = nn.ModuleList(Layer(hidden) for _ in range(LAYERS))
        self.normal = nn.LayerNorm(hidden)

    def embedded(self, tokens: Tensor) -> Tensor:
        """Tokens with their positions, before the layers: `[B, T, D]` to `[B, T, W]`."""
        projected = self.project(self.standardise(tokens))
        return projected + _positions(projected.shape[1], projected.shape[2], projected)

    def forward(self, batch: Batch) -> Tensor:
        """`[B, T, W]`."""
        tokens = self.embedded(batch.tokens)
        for layer in self.layers:
            tokens = layer(tokens, batch.present)
        return self.normal(tokens)


class ClaimTransformer(TraceTransformer):
    """Each claim in the context of its trace: a span marker is added to the claim's tokens, and a
    summary token of its own reads them all.

    The marker alone says which claim is meant: without it all claims of a trace are the same.
    """

    def __init__(self, tokens: int, hidden: int) -> None:
        super().__init__(tokens, hidden)
        self.marker = nn.Parameter(torch.randn(hidden))
        self.summary = nn.Parameter(torch.randn(hidden))

    def forward(self, batch: Batch) -> Tensor:
        """`[B, K, W]`."""
        trace, claim = batch.claims.nonzero(as_tuple=True)
        marked = batch.spans[trace, claim].unsqueeze(-1) * self.marker
        tokens = self.embedded(batch.tokens)[trace] + marked
        tokens = torch.cat((self.summary.expand(len(trace), 1, -1), tokens), 1)
        present = nn.functional.pad(batch.present[trace], (1, 0), value=True)
        for layer in self.layers[:-1]:
            tokens = layer(tokens, present)
        found = self.normal(self.layers[-1](tokens, present, first=True)[:, 0])
        return found.new_zeros(*batch.claims.shape, found.shape[-1]).index_put(
            (trace, claim), found
        )


class ClaimOrder(nn.Module):
    """A bidirectional LSTM over a trace's claims in the order in which they were generated.

    Args:
        hidden: W, of the claims and of each direction.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(
            hidden, hidden, LAYERS, batch_first=True, dropout=DROPOUT, bidirectional=True
        )

    def forward(self, claims: Tensor, present: Tensor) -> Tensor:
        """`[B, K, W]` to `[B, K, 2 W]`."""
        lengths = present.sum(1).cpu()
        packed = pack_padded_sequence(claims, lengths, batch_first=True, enforce_sorted=False)
        found, _ = pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, total_length=claims.shape[1]
        )
        return found


class Network(nn.Module):
    """A network with a logit of correctness for every claim.

    Args:
        tokens: Width of the tokens' features.
        hidden: W, a multiple of the number of heads.
        contexts: C, under how many contexts the auditor's features are given.
    """

    def __init__(self, tokens: int, hidden: int, contexts: int = 1) -> None:
        super().__init__()

    def forward(self, batch: Batch) -> Tensor:
        """Logits `[B, K]`; those of claims that are not there mean nothing."""
        return self._values(batch).squeeze(-1)

    def _values(self, batch: Batch) -> Tensor:
        raise NotImplementedError

    @property
    def parameter_count(self) -> int:
        """How many numbers are trained; the statistics of `Standardise` are not."""
        return sum(p.numel() for p in self.parameters())


class MLP(Network):
    """Mean of a claim's tokens, then a perceptron with two hidden layers."""

    def __init__(self, tokens: int, hidden: int, contexts: int = 1) -> None:
        super().__init__(tokens, hidden, contexts)
        self.standardise = Standardise(tokens, _token_rows)
        self.layers = nn.Sequential(
            nn.Linear(tokens, hidden), nn.GELU(), nn.Dropout(DROPOUT), *_head(hidden, hidden)
        )

    def _values(self, batch: Batch) -> Tensor:
        return self.layers(self.standardise(_mean(batch.tokens, batch.spans)))


class UHead(Network):
    """A claim Transformer with span marker and a head."""

    def __init__(self, tokens: int, hidden: int, contexts: int = 1) -> None:
        super().__init__(tokens, hidden, contexts)
        self.claims = ClaimTransformer(tokens, hidden)
        self.head = _head(hidden, hidden)

    def _values(self, batch: Batch) -> Tensor:
        return self.head(self.claims(batch))


class Factoscope(Network):
    """What a claim's tokens are on average (local) against what the whole trace's are (global).

    One Transformer without a marker reads the trace; then a hidden layer takes local, and
    global, difference and product as the contrast.
    """

    def __init__(self, tokens: int, hidden: int, contexts: int = 1) -> None:
        super().__init__(tokens, hidden, contexts)
        self.trace = TraceTransformer(tokens, hidden)
        self.local = nn.Linear(hidden, hidden)
        self.contrast = nn.Linear(3 * hidden, hidden, bias=False)
        self.head = nn.Sequential(nn.GELU(), nn.Dropout(DROPOUT), *_head(hidden, hidden))

    def _values(self, batch: Batch) -> Tensor:
        tokens = self.trace(batch)
        local = _mean(tokens, batch.spans)
        whole = _mean(tokens, batch.present.unsqueeze(1)).expand_as(local)
        contrast = torch.cat((whole, local - whole, local * whole), -1)
        return self.head(self.local(local) + self.contrast(contrast))


class NeuralSeq(Network):
    """Marked claims by a Transformer, in generated order by a bidirectional LSTM; reads nothing of
    the auditor's.
    """

    def __init__(self, tokens: int, hidden: int, contexts: int = 1) -> None:
        super().__init__(tokens, hidden, contexts)
        self.claims = ClaimTransformer(tokens, hidden)
        self.order = ClaimOrder(hidden)
        self.head = _head(2 * hidden, hidden)

    def _values(self, batch: Batch) -> Tensor:
        return self.head(self.order(self.claims(batch), batch.claims))


def _with_trace(claims: Tensor, trace: Tensor) -> Tensor:
    return torch.cat((claims, trace.unsqueeze(1).expand(-1, claims.shape[1], -1)), -1)


def _all_features(batch: Batch) -> Tensor:
    """The auditor's features of each claim with those of its trace, `[B, K, 39 C]`."""
    return _with_trace(batch.claim_features, batch.trace_features)


class ConstraintOnly(Network):
    """One hidden layer over the auditor's 23 claim and 16 trace features."""

    def __init__(self, tokens: int, hidden: int, contexts: int = 1) -> None:
        super().__init__(tokens, hidden, contexts)
        width = contexts * (len(CLAIM_FEATURES) + len(TRACE_FEATURES))
        self.standardise = Standardise(width, lambda batch: _all_features(batch)[batch.claims])
        self.head = _head(width, hidden)

    def _values(self, batch: Batch) -> Tensor:
        return self.head(self.standardise(_all_features(batch)))


class Constraint(Network):
    """Neural-Seq whose claims also have the auditor's features, encoded claim by claim and for the
    trace, with a direct residual: a learned weight, first 1 and -1, of entailed and
    contradicted is added to the logit.
    """

    def __init__(self, tokens: int, hidden: int, contexts: int = 1) -> None:
        super().__init__(tokens, hidden, contexts)
        self.claims = ClaimTransformer(tokens, hidden)
        self.claim_features = _encoder(contexts * len(CLAIM_FEATURES), hidden, _claim_rows)
        self.trace_features = _encoder(contexts * len(TRACE_FEATURES), hidden, _trace_rows)
        self.joined = nn.Linear(3 * hidden, hidden)
        self.order = ClaimOrder(hidden)
        self.head = _head(2 * hidden, hidden)
        self.residual = nn.Parameter(torch.tensor([1.0, -1.0]))

    def _values(self, batch: Batch) -> Tensor:
        local = torch.cat((self.claims(batch), self.claim_features(batch.claim_features)), -1)
        joined = self.joined(_with_trace(local, self.trace_features(batch.trace_features)))
        found = self.head(self.order(joined, batch.claims))
        verdicts = batch.claim_features[..., [_ENTAILED, _CONTRADICTED]]
        return found + (verdicts @ self.residual).unsqueeze(-1)


NETWORKS: dict[str, type[Network]] = {
    "Factoscope": Factoscope,
    "UHead": UHead,
    "Neural-Seq": NeuralSeq,
    "MLP": MLP,
    "Constraint-Only": ConstraintOnly,
    "Constraint": Constraint,
}
"""The networks by the names of their scorers."""
