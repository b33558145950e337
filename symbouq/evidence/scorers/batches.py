"""Traces as padded tensors, which networks read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from symbouq.errors import SymboUQError
from symbouq.evidence.signals.example import Example
from symbouq.records.features import CLAIM_FEATURES, TRACE_FEATURES

if TYPE_CHECKING:
    import torch
    from torch import Tensor


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


def token_count(example: Example) -> int:
    """Count of a trace's tokens; 0 without signals."""
    return len(example.signals.logprobs) if example.signals is not None else 0


def token_width(example: Example) -> int:
    """Count of a token's features: hidden state, top probabilities, lookback ratios."""
    signals = example.signals
    if signals is None:
        return 0
    return int(sum(part.shape[1] for part in (signals.hidden, signals.top, signals.lookback)))


def context_count(example: Example) -> int:
    """Count of the contexts under which the features of its audit are given, side by side."""
    return len(example.audit["features"]["trace"]) // len(TRACE_FEATURES) if example.audit else 1


def collate(examples: Sequence[Example], tokens: bool = True, audit: bool = True) -> Batch:
    """Traces as one padded batch.

    Args:
        examples: Traces that have what is read of them, all with at least one claim.
        tokens: Whether their signals are read.
        audit: Whether their audits are read.

    Raises:
        SymboUQError: If an audit has other features than this version's.
    """
    import torch

    count = len(examples)
    most = max(len(example.claims) for example in examples)
    length = max(map(token_count, examples)) if tokens else 1
    width = token_width(examples[0]) if tokens else 0
    contexts = context_count(examples[0]) if audit else 1
    features = np.zeros((count, length, width), np.float32)
    present = np.zeros((count, length), bool)
    spans = np.zeros((count, most, length), bool)
    claims = np.zeros((count, most), bool)
    of_claims = np.zeros((count, most, contexts * len(CLAIM_FEATURES)), np.float32)
    of_trace = np.zeros((count, contexts * len(TRACE_FEATURES)), np.float32)
    for n, example in enumerate(examples):
        claims[n, : len(example.claims)] = True
        signals = example.signals
        if tokens and signals is not None:
            size = len(signals.logprobs)
            parts = (signals.hidden, signals.top, signals.lookback)
            np.concatenate(parts, axis=1, out=features[n, :size], casting="same_kind")
            present[n, :size] = True
            for k, (start, stop) in enumerate(signals.spans):
                spans[n, k, slice(start, stop) if stop > start else slice(size)] = True
        if audit and example.audit is not None:
            try:
                of_claims[n, : len(example.claims)] = example.audit["features"]["claims"]
                of_trace[n] = example.audit["features"]["trace"]
            except ValueError as error:
                raise SymboUQError(
                    f"trace {example.id}: its audit has other features than this version's"
                ) from error
    arrays = (features, present, spans, claims, of_claims, of_trace)
    return Batch(*map(torch.from_numpy, arrays))
