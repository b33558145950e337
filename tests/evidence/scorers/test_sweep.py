"""The tuning grid: what is tried, that shorter runs are read off longer ones, and resuming."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.synthetic import split

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.learned import Learned
from symbouq.evidence.scorers.methods.neural import MLP
from symbouq.evidence.scorers.settings import Settings
from symbouq.evidence.scorers.sweep import Grid, Tried, best_of, read_sweep, sweep

TRAIN, VALIDATION = split(40, 1, hidden_tells=0.7), split(30, 2, hidden_tells=0.7)
SMALL = Grid(width=(8, 16), loss=("balanced",), learning_rate=(2e-3,), epochs=(2, 5))


def test_the_papers_grid() -> None:
    grid = Grid()
    assert len(grid) == 4 * 2 * 3 * 3
    for key in ("width", "loss", "learning_rate", "epochs"):
        assert getattr(Settings(), key) in getattr(grid, key)


def test_shorter_runs_are_read_off_longer_ones(tmp_path: Path) -> None:
    rows = list(sweep("MLP", TRAIN, VALIDATION, tmp_path / "s.jsonl", SMALL))
    assert [(r.settings.width, r.settings.epochs) for r in rows] == [
        (8, 2),
        (8, 5),
        (16, 2),
        (16, 5),
    ]
    for row in rows:
        alone = MLP(row.settings)
        alone.fit(TRAIN, VALIDATION)
        reached = [epoch.auroc for epoch in alone.history]
        assert (max(reached), reached.index(max(reached)) + 1) == (row.auroc, row.epoch)


def test_a_stopped_sweep_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "s.jsonl"
    trained = []

    fit = Learned.fit

    def counted(self, *args) -> None:
        trained.append(self.settings.width)
        fit(self, *args)

    monkeypatch.setattr(Learned, "fit", counted)
    whole = list(sweep("MLP", TRAIN, VALIDATION, file, SMALL))
    assert trained == [8, 16]
    lines = file.read_text().splitlines(keepends=True)
    # It was killed while it wrote its last line: that width is trained again.
    file.write_text("".join(lines[:3]) + lines[3][:20])
    assert list(sweep("MLP", TRAIN, VALIDATION, file, SMALL)) == whole
    assert trained == [8, 16, 16]
    assert set(read_sweep(file)) == set(whole)
    # Another split, scorer or seed is another sweep.
    list(sweep("MLP", TRAIN[1:], VALIDATION, file, SMALL))
    list(sweep("MLP", TRAIN, VALIDATION, file, SMALL, Settings(seed=1)))
    assert trained == [8, 16, 16, 8, 16, 8, 16]


def test_the_best_point() -> None:
    def row(auroc: float, **settings) -> Tried:
        return Tried("MLP", Settings(**settings), auroc, 1, 0.0, "")

    rows = [row(0.7, width=64), row(0.8, width=64), row(0.8), row(0.8, width=512)]
    assert best_of(rows, "mlp").settings == Settings()
    assert best_of(rows[:2], "MLP").settings.width == 64
    with pytest.raises(SymboUQError, match="the sweep has no UHead"):
        best_of(rows, "UHead")


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SymboUQError, match="Perplexity is not learned"):
        list(sweep("Perplexity", TRAIN, VALIDATION, tmp_path / "s"))
    file = tmp_path / "s.jsonl"
    file.write_text('{"name": "MLP"}\n')
    with pytest.raises(SymboUQError, match=r"s\.jsonl:1: not a row of a sweep"):
        read_sweep(file)
    right = [item for item in VALIDATION if item.correct]
    with pytest.raises(SymboUQError, match="validation needs both"):
        list(sweep("MLP", TRAIN, right, tmp_path / "other", replace(SMALL, width=(8,))))
