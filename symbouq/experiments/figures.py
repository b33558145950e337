"""The figures of the paper, and reliability diagrams, from the files of an experiment's stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symbouq.errors import extra
from symbouq.experiments.composition import METHOD
from symbouq.experiments.results import CellResults, Results
from symbouq.metrics import SEPARATION_BINS, calibration_bins, risk_coverage, separation_by_bin

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 4
"""Most panels beside each other."""

CONSTRAINT = "Constraint-Rule"
"""The constraint score whose separation is shown: nothing of it was learned on the source."""

COMPARED = (METHOD, "scores only", "Constraint", "Constraint-Rule", "Neural-Seq", "Perplexity")
"""Methods of the risk-coverage curves and the reliability diagrams, those of them that ran."""


def separation(results: Results) -> Figure:
    """Constraint-score separation over within-dataset bins of determinacy and of parse coverage
    (figure analysis, left), over traces with a parsed claim: Somers' D of Constraint-Rule in
    each of the bins, mean over datasets.
    """
    figure, panels = _panels(1, len(results.backbones))
    for axes, backbone in zip(panels, results.backbones, strict=True):
        by_dataset = {name: _applicable(results.cell(backbone, name)) for name in results.datasets}
        names = [name for name, rows in by_dataset.items() for _ in rows]
        rows = np.concatenate([np.empty((0, 4)), *by_dataset.values()])
        for column, label, style in ((2, "determinacy", "o-"), (3, "parse coverage", "s--")):
            if not len(rows):
                continue
            bins = separation_by_bin(rows[:, column], rows[:, 0], rows[:, 1], names)
            heights = [np.nan if x.separation is None else x.separation for x in bins]
            axes.plot(range(1, len(bins) + 1), heights, style, label=label)
        axes.set(
            xlabel=f"bin of {SEPARATION_BINS}, low to high",
            ylabel="separation",
            title=f"{backbone}, {len(rows)} traces",
        )
        axes.axhline(0, color="gray", linewidth=0.8)
        axes.legend()
    return figure


def _applicable(cell: CellResults) -> Any:
    """Constraint score, label, determinacy and parse coverage of the traces with a parsed claim,
    `[n, 4]`.
    """
    profiles = {audit["id"]: audit["profile"] for audit in cell.audits}
    rows = [
        (score, label, profiles[name]["determinacy"], profiles[name]["symbolizability"])
        for scores, _ in cell.runs(CONSTRAINT)[:1]
        for score, (name, label) in zip(scores, cell.truth.items(), strict=True)
        if not profiles[name]["unparsed"]
    ]
    return np.array(rows, np.float64).reshape(-1, 4)


def risk(results: Results) -> Figure:
    """Risk over coverage on the targets (figure analysis, right), mean over seeds in a band from
    the least to the largest; on the source where there is no target. All curves of a panel are of
    the same traces.
    """
    targets = [d for d in results.datasets if d != results.config.source]
    targets = targets or results.datasets
    figure, panels = _panels(len(results.backbones), len(targets))
    cells = [results.cell(b, d) for b in results.backbones for d in targets]
    for axes, cell in zip(panels, cells, strict=True):
        for method in COMPARED:
            curves = [risk_coverage(scores, labels) for scores, labels in cell.runs(method)]
            if curves:
                coverage, risks = curves[0].coverage, np.stack([curve.risk for curve in curves])
                (line,) = axes.plot(coverage, risks.mean(0), label=method)
                axes.fill_between(
                    coverage, risks.min(0), risks.max(0), color=line.get_color(), alpha=0.2
                )
        axes.set(xlabel=_coverage_of(cell), ylabel="risk", title=_titled(cell))
        axes.set_ylim(0, 1)
    legend = panels[0].get_legend_handles_labels()
    figure.legend(*legend, loc="outside upper center", ncols=min(6, 2 * len(targets)))
    return figure


def _titled(cell: CellResults) -> str:
    return f"{cell.cell.backbone}, {cell.cell.dataset}"


def _coverage_of(cell: CellResults) -> str:
    """Label of the axis: how many traces, and how many of them lack a score."""
    imputed = f", {cell.imputed} imputed" if cell.imputed else ""
    return f"coverage of {len(cell.truth)} traces{imputed}"


def reliability(results: Results) -> Figure:
    """Share of right answers over predicted probability of the full method, 10 bins of equal width,
    first seed.
    """
    figure, panels = _panels(len(results.backbones), len(results.datasets))
    for axes, cell in zip(panels, results.cells(), strict=True):
        axes.plot([0, 1], [0, 1], color="gray", linewidth=0.8)
        for scores, labels in cell.runs(METHOD)[:1]:
            bins = [x for x in calibration_bins(scores, labels) if x.count]
            axes.plot([x.confidence for x in bins], [x.accuracy for x in bins], "o-")
        axes.set(xlabel="predicted", ylabel="right", title=_titled(cell))
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
    return figure


FIGURES: dict[str, Callable[[Results], Figure]] = {
    "separation": separation,
    "risk-coverage": risk,
    "reliability": reliability,
}
"""Figures by name."""


def _panels(rows: int, columns: int) -> tuple[Figure, Sequence[Any]]:
    with extra("notebook"):
        from matplotlib.figure import Figure
    if columns > COLUMNS:  # a row of the page holds no more
        rows, columns, panels = -(-rows * columns // COLUMNS), COLUMNS, rows * columns
    else:
        panels = rows * columns
    figure = Figure(figsize=(3.4 * columns, 3.0 * rows), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for empty in axes[panels:]:
        empty.remove()
    return figure, axes[:panels]
