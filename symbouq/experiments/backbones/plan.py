"""Plans for training a backbone: its shape, the duration and the scenes."""

from __future__ import annotations

from dataclasses import dataclass

FURTHER_STEPS = 90
"""Default number of optimiser steps for a pretrained model."""

FURTHER_RATE = 1e-3
"""Default peak learning rate for a pretrained model."""


@dataclass(frozen=True)
class Size:
    """Shape of a backbone. Attention heads have width 32, the minimum for vLLM on a CPU."""

    width: int
    layers: int
    feed_forward: int
    vocabulary: int = 768

    @property
    def heads(self) -> int:
        """Number of attention heads in a layer."""
        return self.width // 32


SIZES = {"small": Size(256, 4, 704), "tiny": Size(128, 4, 352)}
"""The two sizes that are shipped: 3.4 and 0.9 million parameters."""


@dataclass(frozen=True)
class Plan:
    """Settings for training a backbone.

    Attributes:
        start: Shape of a new model, or the folder or hub id of a pretrained one.
        steps: Optimiser steps; None: 3,000 for a new model, 90 for a pretrained one.
        tokens: Number of tokens per batch, including padding.
        rate: Peak learning rate of AdamW, reached after 5 % of the steps and followed by cosine
            decay; None: 0.005 for a new model, 0.001 for a pretrained one.
        seed: Seed for weights and corpus.
        hops: Numbers of hops, easiest first (`lessons`); repeat a number to draw it more often.
    """

    start: Size | str
    steps: int | None = None
    tokens: int = 2048
    rate: float | None = None
    seed: int = 2026
    hops: tuple[int, ...] = (1, 2, 3, 3)

    @property
    def length(self) -> int:
        """Number of optimiser steps."""
        return self.steps or (FURTHER_STEPS if isinstance(self.start, str) else 3000)

    @property
    def peak(self) -> float:
        """Peak learning rate."""
        return self.rate or (FURTHER_RATE if isinstance(self.start, str) else 5e-3)
