"""The registry, labels, and what is said of examples that lack something."""

from __future__ import annotations

import pytest
from helpers.synthetic import audit, example, signals

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.base import Labelled
from symbouq.evidence.scorers.needs import require
from symbouq.evidence.scorers.registry import SCORERS, entry

PAPER = [
    "Random", "Perplexity", "Token Entropy", "MCP", "CCP", "Semantic Entropy", "SelfCheckGPT",
    "P(True)", "Factoscope", "UHead", "Neural-Seq", "MLP", "Constraint-Rule", "Constraint-Only",
    "Constraint",
]  # fmt: skip


def test_every_method_of_the_paper() -> None:
    assert [name for name in SCORERS if name in PAPER] == PAPER
    outside = {name for name in PAPER if not SCORERS[name].banked}
    assert outside == {"Random", "Semantic Entropy", "SelfCheckGPT", "P(True)"}


@pytest.mark.parametrize("name", PAPER)
def test_a_scorer_is_what_it_declares(name: str) -> None:
    known = entry(name)
    scorer = known()
    assert scorer.name == name
    assert scorer.needs == known.needs
    assert scorer.orientation == (
        "correctness" if known.family in ("neural", "symbolic") else "uncertainty"
    )


def test_names() -> None:
    assert entry(" mlp ").name == "MLP"
    with pytest.raises(SymboUQError, match="unknown scorer 'BERT'; there are: Random, "):
        entry("BERT")


def test_labels() -> None:
    given = example(claims=2)
    assert Labelled(given, (None, 1)).correct == 1
    assert Labelled(example(claims=0), ()).correct is None
    with pytest.raises(SymboUQError, match="trace t: 1 labels for 2 claims"):
        Labelled(given, (1,))
    with pytest.raises(SymboUQError, match="labels are 0, 1 or null"):
        Labelled(given, (1, 2))


def test_what_is_missing_is_named() -> None:
    given = example(signals([0.0], [(0, 1)]), audit=audit([[], []], []))
    for need, fault in {
        "hidden": "the hidden states of its tokens",
        "lookback": "the lookback ratios",
        "audit": "an audit of its 1 claims, not of 2",
        "samples": "further answers",
    }.items():
        with pytest.raises(SymboUQError, match=f"trace t: MLP needs {fault}"):
            require([given], frozenset({need}), "MLP")
    with pytest.raises(SymboUQError, match="needs an audit of it"):
        require([example()], frozenset({"audit"}), "MLP")
    require([given], frozenset({"tokens", "backbone", "nli"}), "MLP")
