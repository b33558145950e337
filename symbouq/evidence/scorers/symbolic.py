"""Constraint-Rule: the fixed confidence of the audit (appendix Symbolic Baselines)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from symbouq.evidence.scorers.base import Needs, Orientation, TrainingFree, require
from symbouq.evidence.signals.example import Example

if TYPE_CHECKING:
    from symbouq.evidence.scorers.base import Values


class ConstraintRule(TrainingFree):
    """The audit's `constraint_rule` (`symbouq.auditing.score`), in [0, 1].

    It is a score of the whole trace, so every claim has the same value and all reductions agree.
    """

    name = "Constraint-Rule"
    needs: Needs = frozenset({"audit"})
    orientation: Orientation = "correctness"

    def score(self, examples: Sequence[Example]) -> list[Values]:
        """The audit's confidence, once for each claim."""
        require(examples, self.needs, self.name)
        return [
            np.full(len(e.claims), e.audit["constraint_rule"] if e.audit else 0.0, np.float64)
            for e in examples
        ]
