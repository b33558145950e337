"""The base class of all scorers, and the labels that they learn from.

A scorer gives one value to each claim of a trace; the last claim is the conclusion. The values
are `uncertainty` (larger is worse) or `correctness` (larger is better), as its `orientation`
says, and have no common scale: `symbouq.evidence.scorers.calibration` makes probabilities of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.needs import Needs, require
from symbouq.evidence.scorers.settings import Resources, Settings
from symbouq.evidence.signals.example import Example
from symbouq.metrics import Values

Orientation = Literal["uncertainty", "correctness"]
"""Whether larger values speak against a claim or for it."""

Family = Literal["reference", "decoding", "sampling", "neural", "symbolic"]
"""The paper's groups of methods (appendix Baselines), and Random apart."""

Label = int | None
"""1 right, 0 wrong, None not labelled."""


@dataclass(frozen=True)
class Labelled:
    """An example with its labels.

    Attributes:
        example: The example.
        labels: One label per claim. The last is the conclusion's: whether the delivered answer
            is right, which is the label of the trace.
    """

    example: Example
    labels: tuple[Label, ...]

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.example.claims):
            raise SymboUQError(
                f"trace {self.example.id}: {len(self.labels)} labels for "
                f"{len(self.example.claims)} claims"
            )
        if any(label not in (0, 1, None) for label in self.labels):
            raise SymboUQError(f"trace {self.example.id}: labels are 0, 1 or null")

    @property
    def correct(self) -> Label:
        """Whether the delivered answer is right."""
        return self.labels[-1] if self.labels else None


class Scorer:
    """A score of the paper. A module of `symbouq.evidence.scorers.methods` declares one or more.

    Attributes:
        name: Its name in the paper.
        family: Its group.
        needs: What it reads of an example.
        orientation: What larger values mean.
        trained: Whether it learns from source data.
        seeded: Whether it draws random numbers, so that it is fitted once a seed.
        banked: Whether it belongs to the reliability evidence bank (appendix Transfer); the
            others are baselines only.
        options: The resources by which an experiment configures it, under keys of their names.
    """

    name: ClassVar[str]
    family: ClassVar[Family]
    needs: Needs = frozenset()
    orientation: ClassVar[Orientation] = "uncertainty"
    trained: ClassVar[bool] = False
    seeded: ClassVar[bool] = False
    banked: ClassVar[bool] = True
    options: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def make(cls, seed: int, settings: Settings | None, resources: Resources) -> Self:
        """A scorer that is not fitted yet.

        Args:
            seed: Of what it draws.
            settings: How networks are trained; the defaults where None.
            resources: What it uses.

        Raises:
            SymboUQError: If a package is missing that it needs.
        """
        return cls()

    def fit(self, train: Sequence[Labelled], validation: Sequence[Labelled]) -> None:
        """Learns from source data; training-free scores do nothing.

        Raises:
            SymboUQError: If a split is empty or lacks one of the classes, or an example lacks
                what the scorer needs.
        """

    @classmethod
    def lacks(cls, example: Example) -> str:
        """What an example that has what the scorer needs has too little of for a value, in words;
        empty where it has enough. It stays without a score, and the others are scored.
        """
        return ""

    def check(self, examples: Sequence[Example]) -> None:
        """Makes sure that examples have values.

        Raises:
            SymboUQError: Names the first one that has none, and what it lacks.
        """
        require(examples, self.needs, self.name)
        for example in examples:
            if example.claims and (fault := self.lacks(example)):
                raise SymboUQError(f"trace {example.id}: {self.name} needs {fault}")

    def score(self, examples: Sequence[Example]) -> list[Values]:
        """One array a trace with one value a claim.

        Raises:
            SymboUQError: If an example lacks what the scorer needs, or enough of it for a value,
                or nothing was fitted.
        """
        self.check(examples)
        return [
            np.full(len(e.claims), self.values(e), np.float64) if e.claims else np.empty(0)
            for e in examples
        ]

    def values(self, example: Example) -> Values | float:
        """The values of a trace with claims: one a claim, or one that all claims share.

        Raises:
            SymboUQError: If what is read has values that cannot be used.
        """
        raise NotImplementedError

    def token_values(self, example: Example) -> Values | None:
        """One value a token, in the scorer's orientation; None where it has none.

        Raises:
            SymboUQError: If what is read has values that cannot be used.
        """
        return None

    def save(self, folder: Path) -> None:
        """Writes what was learned into a folder; training-free scores write nothing."""

    @classmethod
    def load(cls, folder: Path, seed: int, resources: Resources) -> Self:
        """The scorer that was saved in a folder.

        Raises:
            SymboUQError: If it cannot be read, or a package is missing.
        """
        return cls.make(seed, None, resources)
