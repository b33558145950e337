"""How a backbone is trained: its shape, and how long on which scenes."""

from __future__ import annotations

from dataclasses import dataclass

FURTHER_STEPS = 90
"""Optimiser steps of a pretrained model, unless told otherwise."""

FURTHER_RATE = 1e-3
"""Its peak learning rate, likewise."""


@dataclass(frozen=True)
class Size:
    """The shape of a backbone. Heads are 32 wide: vLLM on a CPU takes no narrower ones."""

    width: int
    layers: int
    feed_forward: int
    vocabulary: int = 768

    @property
    def heads(self) -> int:
        """Attention heads of a layer."""
        return self.width // 32


SIZES = {"small": Size(256, 4, 704), "tiny": Size(128, 4, 352)}
"""The two sizes that ship, 3.4 and 0.9 million parameters."""


@dataclass(frozen=True)
class Plan:
    """Settings with which a backbone is trained.

    Attributes:
        start: Its shape, where it is trained from nothing; the folder of a pretrained model, or its
            id on the Hugging Face hub, where that is trained further.
        steps: Optimiser steps; 3,000 from nothing, 90 further, where None.
        tokens: Tokens in a batch, padding included.
        rate: Peak learning rate of AdamW; 0.005 from nothing, 0.001 further, where None. It rises
            over 5 % of the steps and falls as a cosine.
        seed: Draws weights and corpus.
        hops: Numbers of hops of the scenes, the easiest first (`lessons`); one that is there twice
            is drawn twice as often.
    """

    start: Size | str
    steps: int | None = None
    tokens: int = 2048
    rate: float | None = None
    seed: int = 2026
    hops: tuple[int, ...] = (1, 2, 3, 3)

    @property
    def length(self) -> int:
        """Optimiser steps."""
        return self.steps or (FURTHER_STEPS if isinstance(self.start, str) else 3000)

    @property
    def peak(self) -> float:
        """Peak learning rate."""
        return self.rate or (FURTHER_RATE if isinstance(self.start, str) else 5e-3)
