"""Traces as padded tensors for networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
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
        tokens: Token features, float32 `[B, T, D]`; D is 0 if tokens are not used.
        present: Which tokens exist, bool `[B, T]`.
        spans: Tokens of each claim, bool `[B, K, T]`; all tokens of the trace if a claim has none.
        claims: Which claims exist, bool `[B, K]`; existing claims come first in each row.
        claim_features: Auditor's features of each claim, float32 `[B, K, 23 C]` for C contexts;
            zeros if not used.
        trace_features: Auditor's features of each trace, float32 `[B, 16 C]`; zeros if not used.
    """

    tokens: Tensor
    present: Tensor
    spans: Tensor
    claims: Tensor
    claim_features: Tensor
    trace_features: Tensor

    def to(self, device: str | torch.device) -> Batch:
        """Move the batch to a device."""
        return Batch(*(getattr(self, field.name).to(device) for field in fields(self)))

    def __getitem__(self, traces: slice) -> Batch:
        """Select the given traces, with the same padding."""
        return Batch(*(getattr(self, field.name)[traces] for field in fields(self)))


def token_count(example: Example) -> int:
    """Return the number of tokens in a trace; 0 without signals."""
    return len(example.signals.logprobs) if example.signals is not None else 0


def token_width(example: Example) -> int:
    """Return the number of features per token: hidden state, top probabilities and lookback
    ratios.
    """
    signals = example.signals
    if signals is None:
        return 0
    return int(sum(part.shape[1] for part in (signals.hidden, signals.top, signals.lookback)))


def context_count(example: Example) -> int:
    """Return the number of contexts for which an audit has features."""
    return len(example.audit["features"]["trace"]) // len(TRACE_FEATURES) if example.audit else 1


class TokenStore:
    """Token features of traces, kept on a device in their stored precision (mostly half).

    Because of this, training steps neither copy nor convert all features.
    """

    def __init__(self, examples: Sequence[Example], device: str) -> None:
        import torch

        self.starts = np.cumsum([0, *map(token_count, examples)])
        self._parts = []
        for name in ("hidden", "top", "lookback"):
            arrays = [getattr(example.signals, name) for example in examples]
            kind = torch.from_numpy(
                np.empty(0, np.result_type(*{array.dtype for array in arrays}))
            ).dtype
            kept = torch.empty(
                (int(self.starts[-1]), arrays[0].shape[1]), dtype=kind, device=device
            )
            for start, array in zip(self.starts, arrays, strict=False):
                kept[start : start + len(array)] = torch.from_numpy(np.array(array))
            self._parts.append(kept)

    @staticmethod
    def fits(examples: Sequence[Example], device: str) -> bool:
        """Whether the GPU has room for twice the size of the features."""
        import torch

        if not device.startswith("cuda"):
            return False
        signals = [example.signals for example in examples if example.signals is not None]
        taken = sum(s.hidden.nbytes + s.top.nbytes + s.lookback.nbytes for s in signals)
        return bool(2 * taken < torch.cuda.mem_get_info(device)[0])

    def padded(self, numbers: Sequence[int], present: Tensor) -> Tensor:
        """Return the features of the given traces, float32 `[B, T, D]`. `present` `[B, T]` marks
        the tokens that exist.
        """
        import torch

        device = self._parts[0].device
        starts = torch.from_numpy(self.starts[list(numbers)]).to(device)
        places = starts[:, None] + torch.arange(present.shape[1], device=device)
        places = places.clamp(max=len(self._parts[0]) - 1)
        features = torch.cat([part[places].float() for part in self._parts], -1)
        return features.masked_fill_(~present.to(device).unsqueeze(-1), 0)


def collate(
    examples: Sequence[Example],
    tokens: bool = True,
    audit: bool = True,
    store: TokenStore | None = None,
    numbers: Sequence[int] = (),
) -> Batch:
    """Collate traces, each with at least one claim, into a padded batch. Tokens and audits are
    included only if requested.

    Token features are taken from the examples or, if given, from `store`, in which the traces have
    the given `numbers`.

    Raises:
        SymboUQError: If an audit has features of another version.
    """
    import torch

    count = len(examples)
    most = max(len(example.claims) for example in examples)
    length = max(map(token_count, examples)) if tokens else 1
    width = token_width(examples[0]) if tokens else 0
    contexts = context_count(examples[0]) if audit else 1
    features = np.zeros((count, length, 0 if store else width), np.float32)
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
            if store is None:
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
    batch = Batch(*map(torch.from_numpy, arrays))
    return replace(batch, tokens=store.padded(numbers, batch.present)) if store else batch
