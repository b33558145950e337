"""Reference scores: chance, and the length of a trace."""

from __future__ import annotations

import hashlib
from typing import Self

import numpy as np

from symbouq.evidence.scorers.base import Scorer
from symbouq.evidence.scorers.settings import Resources, Settings
from symbouq.evidence.signals.example import Example


class Random(Scorer):
    """Independent uniform values in [0, 1), as a reference for chance performance.

    All claims of a trace share one value, because the minimum over different values would depend on
    the number of claims. The value depends only on the seed and the trace's id.
    """

    name = "Random"
    family = "reference"
    seeded = True
    banked = False

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    @classmethod
    def make(cls, seed: int, settings: Settings | None, resources: Resources) -> Self:
        """Create a scorer with the given seed."""
        return cls(seed)

    def values(self, example: Example) -> float:
        """Return the trace's random value."""
        digest = hashlib.sha256(f"{self.seed}\n{example.id}".encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:16])).random()


class Length(Scorer):
    """Number of claims in a trace, because longer traces have more opportunities for errors.

    This score is not in the paper. Table beyond-length shows what other scores contribute beyond
    this one.
    """

    name = "Length"
    family = "reference"
    banked = False

    def values(self, example: Example) -> float:
        """Return the number of claims."""
        return float(len(example.claims))
