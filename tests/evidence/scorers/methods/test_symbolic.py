"""Constraint-Rule is what the audit says."""

from __future__ import annotations

import pytest
from helpers.synthetic import audit, example

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.methods.symbolic import ConstraintRule


def test_every_claim_has_the_traces_confidence() -> None:
    given = example(claims=3, audit=audit([[]] * 3, [], rule=0.85))
    (values,) = ConstraintRule().score([given])
    assert values.tolist() == [0.85] * 3


def test_an_audit_is_needed() -> None:
    with pytest.raises(SymboUQError, match="Constraint-Rule needs an audit"):
        ConstraintRule().score([example()])
