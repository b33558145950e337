"""The folds and the probes of `own_probes_table.py`."""

from __future__ import annotations

from dataclasses import replace

from helpers.extras import need_models
from helpers.synthetic import split

need_models()

from own_probes_table import divided, fitted_there  # noqa: E402

from symbouq.evidence.scorers.base import Labelled  # noqa: E402
from symbouq.evidence.scorers.settings import Settings  # noqa: E402
from symbouq.metrics import auroc  # noqa: E402


def about_scenes(count: int, each: int, hidden_tells: float) -> list[Labelled]:
    """Labelled traces, some of them of one scene."""
    return [
        replace(item, example=replace(item.example, record={"scene": f"scene {n // each}"}))
        for n, item in enumerate(split(count, 1, hidden_tells=hidden_tells))
    ]


def test_no_scene_is_in_two_parts_and_classes_are_shared_out() -> None:
    items = about_scenes(60, 2, 0.0)
    parts = divided(items, 5, 1)
    assert sorted(place for part in parts for place in part) == [*range(60)]
    scenes = [{items[place].example.record["scene"] for place in part} for part in parts]
    assert sum(map(len, scenes)) == 30
    right = [sum(items[place].labels[-1] or 0 for place in part) for part in parts]
    assert max(right) - min(right) <= 3


def test_a_probe_is_applied_to_traces_that_it_was_not_fitted_on() -> None:
    items = about_scenes(120, 1, 1.5)
    folds = divided(items, 4, 1)
    settings = Settings(width=16, learning_rate=0.01, epochs=10, batch=16)
    scores = fitted_there("MLP", items, folds, settings)
    labels = [item.labels[-1] or 0 for item in items]
    assert auroc(scores, labels) > 0.75
    # What a trace's own label is does not tell.
    fold = folds[0]
    turned = [
        replace(item, labels=(*item.labels[:-1], 1 - labels[n])) if n in fold else item
        for n, item in enumerate(items)
    ]
    again = fitted_there("MLP", turned, folds, settings)
    assert [again[n] for n in fold] == [scores[n] for n in fold]
