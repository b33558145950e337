"""The paper's figures, and reliability diagrams."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symbouq.experiments.composition import METHOD
from symbouq.experiments.results import CellResults, Results
from symbouq.metrics import SEPARATION_BINS, calibration_bins, risk_coverage, separation_by_bin
from symbouq.report.notebook import new_figure, plot_reliability, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 4
"""Maximum number of panels side by side."""

CONSTRAINT = "Constraint-Rule"
"""The constraint score in the separation figure. It involves no training on the source."""

COMPARED = (METHOD, "scores only", "Constraint", "Constraint-Rule", "Neural-Seq", "Perplexity")
"""Methods shown in risk-coverage curves and reliability diagrams, if they were run."""


@styled
def separation(results: Results) -> Figure:
    """Plot how well Constraint-Rule separates right from wrong answers (Somers' D) within bins of
    determinacy and of parse coverage (figure analysis, left). Bins are formed within each dataset,
    and values are averaged over datasets. Only traces with a parsed claim are used.
    """
    figure, panels = _panels(1, len(results.backbones))
    for axes, backbone in zip(panels, results.backbones, strict=True):
        by_dataset = {name: _applicable(results.cell(backbone, name)) for name in results.datasets}
        names = [name for name, rows in by_dataset.items() for _ in rows]
        rows = np.concatenate([np.empty((0, 4)), *by_dataset.values()])
        for column, label, style in ((2, "determinacy", "o-"), (3, "parse coverage", "s--")):
            if not len(rows):
                continue
            heights = _heights(rows, names, column)
            low, high = _interval(rows, names, column)
            axes.plot(range(1, SEPARATION_BINS + 1), heights, style, label=label, clip_on=False)
            axes.fill_between(range(1, SEPARATION_BINS + 1), low, high, alpha=0.2)
        axes.set(
            xlabel=f"bin of determinacy or parse coverage (1 low, {SEPARATION_BINS} high)",
            ylabel=f"Somers' D of {CONSTRAINT}",
            title=f"{backbone}, {len(rows)} traces",
            xticks=range(1, SEPARATION_BINS + 1),
            ylim=(-1.05, 1.05),
        )
        axes.axhline(0, color="gray", linewidth=0.8)
        axes.legend()
    return figure


RESAMPLES = 500
"""Number of bootstrap resamples for the 95 % intervals of the separation."""


def _heights(rows: Any, names: Sequence[str], column: int) -> Any:
    bins = separation_by_bin(rows[:, column], rows[:, 0], rows[:, 1], names)
    return np.array([np.nan if x.separation is None else x.separation for x in bins])


def _interval(rows: Any, names: Sequence[str], column: int) -> tuple[Any, Any]:
    chance, of = np.random.default_rng(0), np.array(names)
    drawn = []
    for _ in range(RESAMPLES):
        chosen = chance.integers(len(rows), size=len(rows))
        drawn.append(_heights(rows[chosen], list(of[chosen]), column))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the separation of a bin may be undefined
        low, high = np.nanpercentile(drawn, (2.5, 97.5), axis=0)
    return low, high


def _applicable(cell: CellResults) -> Any:
    """Return the constraint score, label, determinacy and parse coverage of each trace with a
    parsed claim, `[n, 4]`.
    """
    profiles = {audit["id"]: audit["profile"] for audit in cell.audits}
    rows = [
        (score, label, profiles[name]["determinacy"], profiles[name]["symbolizability"])
        for scores, _ in cell.runs(CONSTRAINT)[:1]
        for score, (name, label) in zip(scores, cell.truth.items(), strict=True)
        if not profiles[name]["unparsed"]
    ]
    return np.array(rows, np.float64).reshape(-1, 4)


@styled
def risk(results: Results) -> Figure:
    """Plot risk against coverage on the targets (figure analysis, right) or, without targets, on
    the source.

    Curves are means over seeds. Bands extend from the smallest to the largest value over seeds. All
    curves in a panel use the same traces.
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
        axes.set(xlabel=_coverage_of(cell), ylabel="risk (share wrong)", title=_titled(cell))
        axes.set_ylim(0, 1)
    legend = panels[0].get_legend_handles_labels()
    figure.legend(*legend, loc="outside upper center", ncols=min(6, 2 * len(targets)))
    return figure


def _titled(cell: CellResults) -> str:
    return f"{cell.cell.backbone}, {cell.cell.dataset}"


def _coverage_of(cell: CellResults) -> str:
    imputed = f", {cell.imputed} imputed" if cell.imputed else ""
    return f"coverage of {len(cell.truth)} traces{imputed}"


@styled
def reliability(results: Results) -> Figure:
    """Plot the share of right answers against the full method's probability, in 10 bins of equal
    width, for the first seed.
    """
    figure, panels = _panels(len(results.backbones), len(results.datasets))
    for axes, cell in zip(panels, results.cells(), strict=True):
        for scores, labels in cell.runs(METHOD)[:1]:
            bins = [vars(each) for each in calibration_bins(scores, labels)]
            plot_reliability(axes, bins, f"predicted by {METHOD}")
        axes.set_title(_titled(cell))
    return figure


FIGURES: dict[str, Callable[[Results], Figure]] = {
    "separation": separation,
    "risk-coverage": risk,
    "reliability": reliability,
}
"""Figures by name."""


def _panels(rows: int, columns: int) -> tuple[Figure, Sequence[Any]]:
    if columns > COLUMNS:  # no more panels fit in a row
        rows, columns, panels = -(-rows * columns // COLUMNS), COLUMNS, rows * columns
    else:
        panels = rows * columns
    figure = new_figure(3.4 * columns, 3.0 * rows)
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for empty in axes[panels:]:
        empty.remove()
    return figure, axes[:panels]
