"""The base class of all scorers, and labelled examples for training them.

A scorer gives each claim of a trace a value; the last claim is the conclusion. The scorer's
`orientation` specifies whether larger values mean `uncertainty` or `correctness`. The values of
different scorers have no common scale; `symbouq.evidence.scorers.calibration` turns them into
probabilities.
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
"""Whether larger values mean that a claim is uncertain or that it is correct."""

Family = Literal["reference", "decoding", "sampling", "neural", "symbolic"]
"""The paper's groups of methods (appendix Baselines), plus one for Random."""

Label = int | None
"""1: right; 0: wrong; None: not labelled."""


@dataclass(frozen=True)
class Labelled:
    """An example with its labels.

    Attributes:
        example: The example.
        labels: One label per claim. The last label, for the conclusion, states whether the
            delivered answer is right. It is also used as the label of the trace.
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
    """A scorer, declared in a module of `symbouq.evidence.scorers.methods`.

    Attributes:
        name: Name in the paper.
        family: Group of methods.
        needs: Inputs that an example must have.
        orientation: Meaning of larger values.
        trained: Whether it learns from source data.
        seeded: Whether it is random and therefore fitted once per seed.
        banked: Whether it belongs to the reliability evidence bank (appendix Transfer); if not, it
            is a baseline.
        options: Names of resources that can be set in an experiment's configuration, under the same
            names.
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
        """Create a scorer before fitting. If `settings` is None, the defaults apply.

        Raises:
            SymboUQError: If a package is missing.
        """
        return cls()

    def fit(self, train: Sequence[Labelled], validation: Sequence[Labelled]) -> None:
        """Learn from source data. Training-free scorers do nothing.

        Raises:
            SymboUQError: If a split is empty or lacks a class, or an example lacks an input.
        """

    @classmethod
    def lacks(cls, example: Example) -> str:
        """Describe what an example with all required inputs still lacks to be scored; empty if it
        lacks nothing. A trace that lacks something gets no score.
        """
        return ""

    def check(self, examples: Sequence[Example]) -> None:
        """Check that all examples can be scored.

        Raises:
            SymboUQError: If one cannot be scored. The message identifies the first such example and
                what it lacks.
        """
        require(examples, self.needs, self.name)
        for example in examples:
            if example.claims and (fault := self.lacks(example)):
                raise SymboUQError(f"trace {example.id}: {self.name} needs {fault}")

    def score(self, examples: Sequence[Example]) -> list[Values]:
        """Return one array per trace, with one value per claim.

        Raises:
            SymboUQError: If an example lacks an input, or the scorer was not fitted.
        """
        self.check(examples)
        return [
            np.full(len(e.claims), self.values(e), np.float64) if e.claims else np.empty(0)
            for e in examples
        ]

    def values(self, example: Example) -> Values | float:
        """Return one value per claim of a trace, or a single value for all claims.

        Raises:
            SymboUQError: If an input contains unusable values.
        """
        raise NotImplementedError

    def token_values(self, example: Example) -> Values | None:
        """Return one value per token, in the scorer's orientation; None if the scorer has no such
        values.

        Raises:
            SymboUQError: If an input contains unusable values.
        """
        return None

    def save(self, folder: Path) -> None:
        """Save the result of training in a folder. Training-free scorers save nothing."""

    @classmethod
    def load(cls, folder: Path, seed: int, resources: Resources) -> Self:
        """Load the scorer saved in a folder.

        Raises:
            SymboUQError: If it cannot be read, or a package is missing.
        """
        return cls.make(seed, None, resources)
