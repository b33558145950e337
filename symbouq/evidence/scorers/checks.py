"""Checks for authors of scorers. They test on labelled traces whether a scorer meets all
requirements.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.base import Family, Labelled, Orientation, Scorer
from symbouq.evidence.scorers.needs import Need
from symbouq.evidence.scorers.settings import Resources, Settings
from symbouq.evidence.signals.example import Example
from symbouq.metrics import Values

_TOLERANCE = 1e-6
"""Allowed difference between values, because floating-point sums depend on the batch."""

_LACKING = {"tokens": "signals", "hidden": "signals", "lookback": "signals", "audit": "audit"}
"""For each need, the name of the field of an example that provides it."""


def check_scorer(
    kind: type[Scorer],
    traces: Sequence[Labelled],
    settings: Settings | None = None,
    resources: Resources | None = None,
) -> None:
    """Check that the bank, the experiments and the composer can use a scorer.

    It must declare its name, family and orientation. It must return one finite number per claim of
    each trace. These numbers must not depend on the other traces or their order, and must be
    reproducible with the same seed. The scorer must report what a trace lacks, give the same values
    after saving and loading, and refuse to score before it is fitted. The check needs at least four
    traces that have the required inputs, some labelled right and some wrong.

    Raises:
        AssertionError: If a requirement is not met. The message states which one.
        SymboUQError: If the given traces are not sufficient for the check.
    """
    if len(traces) < 4 or {trace.correct for trace in traces} < {0, 1}:
        raise SymboUQError("checks need four labelled traces, some right and some wrong")
    resources = resources or Resources()
    _check_declarations(kind)
    if kind.trained:
        _check_refusals(kind, traces, settings, resources)
    scorer = _fitted(kind, traces, settings, resources)
    examples = [trace.example for trace in traces]
    values = _check_values(scorer, examples)
    again = _fitted(kind, traces, settings, resources).score(examples)
    _check_same(kind, values, again, "an equal seed gives other values")
    backwards = scorer.score(examples[::-1])[::-1]
    _check_same(kind, values, backwards, "the order of traces changes values")
    alone = [scorer.score([example])[0] for example in examples]
    _check_same(kind, values, alone, "a trace has other values alone")
    nothing = scorer.score([replace(examples[0], claims=())])
    assert [len(each) for each in nothing] == [0], f"{kind.name}: a trace without claims has values"
    _check_needs(scorer, examples[0])
    with tempfile.TemporaryDirectory() as folder:
        scorer.save(Path(folder))
        stored = kind.load(Path(folder), 1, resources).score(examples)
    _check_same(kind, values, stored, "values change by saving and loading")


def _fitted(
    kind: type[Scorer],
    traces: Sequence[Labelled],
    settings: Settings | None,
    resources: Resources,
) -> Scorer:
    scorer = kind.make(1, settings, resources)
    scorer.fit(traces, traces)
    return scorer


def _check_declarations(kind: type[Scorer]) -> None:
    name = getattr(kind, "name", None)
    assert isinstance(name, str) and name.strip() == name and name, f"{kind.__name__} has no name"
    families = ", ".join(get_args(Family))
    assert getattr(kind, "family", None) in get_args(Family), f"{name}: family is one of {families}"
    orientations = " or ".join(get_args(Orientation))
    assert kind.orientation in get_args(Orientation), f"{name}: orientation is {orientations}"
    unknown = set(kind.needs) - set(get_args(Need))
    assert not unknown, f"{name}: unknown needs {sorted(unknown)}"


def _check_refusals(
    kind: type[Scorer],
    traces: Sequence[Labelled],
    settings: Settings | None,
    resources: Resources,
) -> None:
    scorer = kind.make(1, settings, resources)
    _check_raises(
        lambda: scorer.score([traces[0].example]), f"{kind.name}: scores before it was fitted"
    )
    right = [Labelled(each.example, (1,) * len(each.example.claims)) for each in traces]
    _check_raises(lambda: scorer.fit(right, right), f"{kind.name}: learns from one class")


def _check_values(scorer: Scorer, examples: Sequence[Example]) -> list[Values]:
    values = scorer.score(examples)
    name = scorer.name
    assert len(values) == len(examples), f"{name}: {len(values)} arrays for {len(examples)} traces"
    for each, example in zip(values, examples, strict=True):
        count = len(example.claims)
        assert np.shape(each) == (count,), f"{name}: trace {example.id} has {count} claims"
        assert np.isfinite(each).all(), f"{name}: trace {example.id} has a value that is no number"
    return values


def _check_same(
    kind: type[Scorer], first: Sequence[Values], second: Sequence[Values], fault: str
) -> None:
    for one, other in zip(first, second, strict=True):
        same = np.allclose(one, other, rtol=_TOLERANCE, atol=_TOLERANCE)
        assert same, f"{kind.name}: {fault}"


def _check_needs(scorer: Scorer, example: Example) -> None:
    for need in sorted(scorer.needs):
        empty: dict[str, object] = {"samples": ()} if need == "samples" else {}
        if need in _LACKING:
            empty = {_LACKING[need]: None}
        if empty:
            lacking = replace(example, **empty)  # type: ignore[arg-type]
            fault = f"{scorer.name}: does not say that a trace lacks {need}"
            _check_raises(partial(scorer.score, [lacking]), fault)


def _check_raises(work: Callable[[], object], fault: str) -> None:
    try:
        work()
    except SymboUQError:
        return
    raise AssertionError(fault)
