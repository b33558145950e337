"""Audits in a notebook: HTML, pandas frames and matplotlib figures.

HTML needs no extra. Frames and figures need the extra `notebook` (pandas, matplotlib), which is
imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from html import escape
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

from symbouq.auditing.overview import BINS, PROFILE, Overview, Point
from symbouq.errors import extra
from symbouq.records import Audit
from symbouq.report.entries import UNREAD, shown_verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

COLOURS = {
    "entailed": ("#3aa392", "#0a6457", "#dcf1ec"),
    "contradicted": ("#d4525a", "#a81f26", "#fce5e3"),
    "unknown": ("#e2b542", "#735400", "#faefcf"),
    "not-evaluable": ("#9384cb", "#584792", "#ece7f8"),
    "unread": ("#c4cad1", "#565f6b", "#eceff2"),
}
"""Fill, text and background colours for each verdict, and for unread claims."""


def audit_html(audit: Mapping[str, Any]) -> str:
    """Render an audit as static HTML, with all text escaped.

    Args:
        audit: The audit, in the shape of `symbouq.records.Audit`.
    """
    shares = ", ".join(
        f"{escape(name.replace('_', ' '))} {audit['profile'][name]:.2f}" for name in PROFILE
    )
    rows = "".join(_claim_html(claim) for claim in audit["claims"])
    score = audit["constraint_rule"]
    scored = "truncated, no score" if score is None else f"Constraint-Rule {score:.2f}"
    message = audit["scene"]["message"]
    note = f"<p style='margin:.2em 0'>{escape(message)}</p>" if message else ""
    return (
        "<div style='font-size:13px;line-height:1.45'>"
        f"<p style='margin:.2em 0'><b>{escape(audit['id'])}</b>, "
        f"profile {escape(audit['ontology']['profile'])}, {escape(audit['context'])} context: "
        f"{shares}, {scored}</p>{note}"
        "<table><thead><tr>"
        + "".join(f"<th style='text-align:left'>{head}</th>" for head in _HEADS)
        + f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )


_HEADS = ("", "claim", "verdict", "by the scene alone", "premises")


def _claim_html(claim: Mapping[str, Any]) -> str:
    text = claim["text"] or "; ".join(
        f"{r['subject']} {r['relation']} {r['object']}" for r in claim["relations"]
    )
    premises = ", ".join(premise.replace(":", " ") for premise in claim["premises"])
    first = " · first conflict" if claim["first_conflict"] else ""
    cells = (
        str(claim["index"]),
        escape(text),
        _tag(shown_verdict(claim)) + first,
        _tag(shown_verdict(claim, "grounded_verdict")),
        escape(premises),
    )
    title = escape(claim["message"], quote=True)
    return (
        f'<tr title="{title}">'
        + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in cells)
        + "</tr>"
    )


def _tag(verdict: str) -> str:
    _, ink, ground = COLOURS[verdict]
    return (
        f"<span style='color:{ink};background:{ground};padding:0 6px;border-radius:4px'>"
        f"{escape(verdict)}</span>"
    )


# Frames ----------------------------------------------------------------------------------


def traces_frame(audits: Iterable[Any]) -> DataFrame:
    """Make a frame with one row per trace.

    Columns: id, file and line, profile, scene, first conflict, the shares of the Determinacy
    Profile, Constraint-Rule and the verdicts on the conclusion.

    Args:
        audits: Audits, as records or as dictionaries from audit files.

    Raises:
        SymboUQError: If pandas is not installed.
    """
    nothing = {"verdict": None, "grounded_verdict": None}
    return _frame(
        {
            "id": audit["id"],
            **(audit.get("source") or {"file": None, "line": None}),
            "profile": audit["ontology"]["profile"],
            "context": audit["context"],
            "feasible": audit["scene"]["feasible"],
            "claims": len(audit["claims"]),
            "first_conflict": Point.of(audit).first or None,
            **audit["profile"],
            "constraint_rule": audit["constraint_rule"],
            **{name: (audit["claims"] or [nothing])[-1][name] for name in nothing},
        }
        for audit in map(_plain, audits)
    )


def claims_frame(audits: Iterable[Any]) -> DataFrame:
    """Make a frame with one row per claim: the trace's id and the claim's fields, with relations as
    triples.

    Args:
        audits: As in `traces_frame`.

    Raises:
        SymboUQError: If pandas is not installed.
    """
    return _frame(
        {
            "id": audit["id"],
            **claim,
            "relations": [(r["subject"], r["relation"], r["object"]) for r in claim["relations"]],
        }
        for audit in map(_plain, audits)
        for claim in audit["claims"]
    )


def _plain(audit: Any) -> Mapping[str, Any]:
    return audit.model_dump() if isinstance(audit, Audit) else audit


def _frame(rows: Iterable[Mapping[str, Any]]) -> DataFrame:
    with extra("notebook"):
        import pandas as pd
    return pd.DataFrame(list(rows))


# Figures ---------------------------------------------------------------------------------

P = ParamSpec("P")
_STYLE = Path(__file__).parent / "assets" / "figure.mplstyle"


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw a figure in the style of all figures (`assets/figure.mplstyle`)."""

    @wraps(draw)
    def drawn(*arguments: P.args, **options: P.kwargs) -> Figure:
        with extra("notebook"):
            import matplotlib
        with matplotlib.rc_context(fname=str(_STYLE)):
            return draw(*arguments, **options)

    return drawn


def new_figure(width: float, height: float) -> Figure:
    """Make an empty figure with the given size in inches. It is made without pyplot, because a
    notebook would otherwise show it twice.
    """
    with extra("notebook"):
        from matplotlib.figure import Figure
    return Figure(figsize=(width, height))


@styled
def plot_claims(audit: Mapping[str, Any]) -> Figure:
    """Draw the verdicts on one trace, claim by claim, in both contexts.

    Raises:
        SymboUQError: If matplotlib is not installed.
    """
    claims = audit["claims"]
    figure = new_figure(max(3.0, 0.42 * len(claims) + 1.6), 1.7)
    axes = figure.add_subplot()
    for row, name in enumerate(("verdict", "grounded_verdict")):
        for claim in claims:
            verdict = shown_verdict(claim, name)
            fill, ink, ground = COLOURS[verdict]
            axes.barh(
                row, 0.9, left=claim["index"] - 0.45, height=0.8, color=ground, edgecolor=fill
            )
            letter = verdict[0].upper() if verdict != UNREAD else ""
            axes.text(claim["index"], row, letter, color=ink, ha="center", va="center")
    _name_contexts(axes)
    axes.set_xlim(0.4, max(1, len(claims)) + 0.6)
    axes.set_xticks([claim["index"] for claim in claims])
    axes.set_xlabel("claim")
    axes.set_title(str(audit["id"]).replace("$", r"\$"), loc="left", fontsize="medium")
    axes.spines[:].set_visible(False)
    axes.grid(visible=False)
    return figure


@styled
def plot(audits: Iterable[Any], labels: Iterable[bool | None] | None = None) -> Figure:
    """Draw the overview of a report as a matplotlib figure.

    Shows verdict shares, the Determinacy Profile and first conflicts; with labels, also reliability
    and risk-coverage of Constraint-Rule.

    Args:
        audits: As in `traces_frame`.
        labels: Whether each answer is right, in order; None if unknown.

    Raises:
        SymboUQError: If matplotlib is not installed.
        ValueError: If the numbers of labels and audits differ.
    """
    overview = Overview()
    plain = [_plain(audit) for audit in audits]
    truths = [None] * len(plain) if labels is None else labels
    for audit, label in zip(plain, truths, strict=True):
        overview.add(Point.of(audit, label))
    shown = overview.as_json()
    reliability = shown["reliability"]
    figure = new_figure(11, 5.6 if reliability else 3.6)
    grid = figure.add_gridspec(2, 4 if reliability else 3)
    _plot_verdicts(figure.add_subplot(grid[0, 0]), overview)
    conflicts = figure.add_subplot(grid[1, 0])
    some = {claim: count for claim, count in overview.conflicts.items() if claim}
    conflicts.bar(list(some), list(some.values()), color=COLOURS["contradicted"][0])
    conflicts.set(title="first conflict", xlabel="number of the claim", ylabel="traces")
    for number, (name, bins) in enumerate(shown["histograms"].items()):
        axes = figure.add_subplot(grid[number // 2, 1 + number % 2])
        axes.bar([(n + 0.5) / BINS for n in range(BINS)], bins, width=0.9 / BINS, color="#23518f")
        axes.set(title=name.replace("_", " "), xlabel="share of claims", ylabel="traces")
    if reliability:
        plot_reliability(figure.add_subplot(grid[0, 3]), reliability["bins"], "Constraint-Rule")
        risk = figure.add_subplot(grid[1, 3])
        risk.plot(*zip(*reliability["curve"], strict=True), color="#23518f")
        risk.set(xlabel="coverage", ylabel="risk (share wrong)", xlim=(0, 1), ylim=(0, 1))
    return figure


def _plot_verdicts(axes: Any, overview: Overview) -> None:
    for row, counts in enumerate((overview.summary.assumed, overview.summary.grounded)):
        start = 0.0
        for verdict, share in overview.summary.shares(counts).items():
            label = str(verdict) if row == 0 else None
            axes.barh(row, share, left=start, color=COLOURS[str(verdict)][0], label=label)
            start += share
    _name_contexts(axes)
    axes.set_xlim(0, 1)
    axes.set(title="verdicts", xlabel="share of the claims with relations")
    axes.legend(ncols=2, fontsize="x-small", loc="upper center", bbox_to_anchor=(0.5, -0.15))


def _name_contexts(axes: Any) -> None:
    axes.set_yticks([0, 1], ["assumed", "grounded"])
    axes.invert_yaxis()


def plot_reliability(axes: Any, bins: Iterable[Mapping[str, Any]], score: str) -> None:
    """Draw a reliability diagram: the share of right answers in each bin of a score, with its 95 %
    Wilson interval and the number of traces.

    Args:
        axes: Where to draw it.
        bins: `confidence`, `accuracy` and `count` of each bin.
        score: Name of the score.
    """
    axes.plot([0, 1], [0, 1], linestyle=":", color="#868f9b")
    drawn = []
    for bin_ in bins:
        x, right, n = bin_["confidence"], bin_["accuracy"], bin_["count"]
        if n:
            low, high = _wilson(right, n)
            drawn.append((x, right, max(0.0, right - low), max(0.0, high - right)))
            place = {"xytext": (0, 3), "textcoords": "offset points", "ha": "center"}
            axes.annotate(str(n), (x, max(high, right)), fontsize="x-small", **place)
    if drawn:
        at, shares, below, above = zip(*drawn, strict=True)
        axes.errorbar(at, shares, yerr=(below, above), marker="o", clip_on=False)
    axes.set(xlabel=f"{score} (number: traces in the bin)", ylabel="share of right answers")
    axes.set(title="reliability", xlim=(-0.03, 1.03), ylim=(-0.03, 1.12))


def _wilson(share: float, count: int, z: float = 1.96) -> tuple[float, float]:
    centre, square = share + z**2 / (2 * count), share * (1 - share) / count
    half = z * sqrt(square + (z / (2 * count)) ** 2)
    return (centre - half) / (1 + z**2 / count), (centre + half) / (1 + z**2 / count)
