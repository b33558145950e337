"""The efficiency table: what a row says. How fast it is, is not tested."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.synthetic import example, split

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.bank import Fitted, fit
from symbouq.evidence.scorers.efficiency import cost
from symbouq.evidence.scorers.learned import score_together
from symbouq.evidence.scorers.settings import Settings

QUICK = Settings(width=16, epochs=1)
TRAIN = split(20, 1)
EXAMPLES = [item.example for item in TRAIN]


def fitted(name: str) -> Fitted:
    return replace(fit(name, TRAIN, TRAIN, 0, QUICK), seconds=90.0)


def test_rows() -> None:
    row = cost([fitted("MLP")], EXAMPLES, seconds=0)
    assert (row.method, row.parameters, row.training_minutes) == ("MLP", 497, 1.5)
    assert row.traces_per_second > 0
    assert row.memory_gb > 0.01
    free = cost([fit("MCP", [], TRAIN)], EXAMPLES, seconds=0)
    assert (free.parameters, free.training_minutes) == (None, None)


def test_the_path_is_the_sum() -> None:
    parts = [fitted("Constraint"), fitted("MLP")]
    row = cost(parts, EXAMPLES, seconds=0)
    assert row.method == "Constraint + MLP"
    assert row.parameters == sum(p.scorer.network.parameter_count for p in parts)
    assert row.training_minutes == 3.0
    with pytest.raises(SymboUQError, match="learned scorers only"):
        cost([fit("MCP", [], TRAIN), parts[1]], EXAMPLES)
    with pytest.raises(SymboUQError, match="found none"):
        cost(parts[:1], [example(claims=0)])


def test_scores_of_the_path_are_those_of_its_parts() -> None:
    parts = [fitted(name).scorer for name in ("Constraint", "MLP", "Constraint-Only")]
    given = [*EXAMPLES, example(claims=0)]
    for alone, together in zip(
        [part.score(given) for part in parts], score_together(parts, given), strict=True
    ):
        assert len(together) == len(given)
        for one, other in zip(alone, together, strict=True):
            assert np.allclose(one, other, atol=1e-5)
