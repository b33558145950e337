"""References: chance, and what the length of a trace tells by itself."""

from __future__ import annotations

import hashlib
from typing import Self

import numpy as np

from symbouq.evidence.scorers.base import Scorer
from symbouq.evidence.scorers.settings import Resources, Settings
from symbouq.evidence.signals.example import Example


class Random(Scorer):
    """Independent uniform values in [0, 1), a reference for chance.

    A trace has one value, the same for each claim: the least of several would be the smaller the
    more claims there are, and their number tells more than chance. It depends on seed and id alone,
    not on what else is scored.

    Args:
        seed: Varies the values.
    """

    name = "Random"
    family = "reference"
    seeded = True
    banked = False

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    @classmethod
    def make(cls, seed: int, settings: Settings | None, resources: Resources) -> Self:
        """A scorer with a seed."""
        return cls(seed)

    def values(self, example: Example) -> float:
        """A uniform value."""
        digest = hashlib.sha256(f"{self.seed}\n{example.id}".encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:16])).random()


class Length(Scorer):
    """The number of a trace's claims; a longer trace has more places to go wrong.

    It is no score of the paper. What another score adds to it, Table beyond-length tells. A trace
    has one value, which all of its claims get.
    """

    name = "Length"
    family = "reference"
    banked = False

    def values(self, example: Example) -> float:
        """How many claims there are."""
        return float(len(example.claims))
