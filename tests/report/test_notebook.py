"""Audits in a notebook."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import symbouq
from symbouq.errors import SymboUQError
from symbouq.report.notebook import new_figure, plot_reliability

HOSTILE = "<script>alert('1')</script>\"&"


@pytest.fixture
def audit() -> symbouq.Audit:
    return symbouq.audit(
        "A is above B. B is right of C.", ["A is left of C.", "Hm.", "A is upper right of C."]
    )


def test_html(audit: symbouq.Audit) -> None:
    text = audit._repr_html_()
    assert "determinacy 0.50" in text
    assert text.count("<tr") == 4
    assert "contradicted</span> · first conflict" in text
    assert "scene 1, scene 2" in text
    assert "<script" not in text


def test_html_escapes_everything() -> None:
    found = symbouq.audit([[HOSTILE, "left", "B"]], [[[HOSTILE, "right", "B"]]])
    found.id = found.ontology.profile = HOSTILE
    text = found._repr_html_()
    assert "<script" not in text and "alert('" not in text
    assert text.count("&lt;script&gt;") == 4  # id, profile, claim, message
    contradictory = symbouq.audit([["A", "left", "B"], ["B", "left", "A"]], [[["A", "left", "B"]]])
    assert "The scene contradicts itself" in contradictory._repr_html_()


def test_frames(audit: symbouq.Audit) -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    claims = audit.to_frame()
    assert isinstance(claims, pd.DataFrame)
    assert list(claims["verdict"]) == ["contradicted", "unknown", "not-evaluable"]
    assert claims["relations"][2] == [("A", "upper_right", "C")]
    traces = symbouq.traces_frame([audit, audit.model_dump()])
    assert list(traces["first_conflict"]) == [1, 1]
    assert list(traces["determinacy"]) == [0.5, 0.5]
    assert list(traces["grounded_verdict"]) == ["entailed", "entailed"]
    assert len(symbouq.claims_frame([audit, audit])) == 6


def test_plots(audit: symbouq.Audit) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    (axes,) = audit.plot().axes
    # Two contexts by three claims; the unread one has no letter.
    assert [text.get_text() for text in axes.texts] == ["C", "", "N", "C", "", "E"]
    titles = [ax.get_title() for ax in symbouq.plot([audit, audit]).axes]
    assert "determinacy" in titles and "reliability" not in titles
    labelled = symbouq.plot([audit, audit, audit], [True, False, None])
    assert "reliability" in [ax.get_title() for ax in labelled.axes]
    with pytest.raises(ValueError, match="shorter"):
        symbouq.plot([audit, audit], [True])


@pytest.mark.parametrize(("package", "method"), [("pandas", "to_frame"), ("matplotlib", "plot")])
def test_missing_extra_is_named(
    audit: symbouq.Audit, monkeypatch: pytest.MonkeyPatch, package: str, method: str
) -> None:
    hidden: dict[str, Any] = {name: None for name in sys.modules if name.split(".")[0] == package}
    for name in {package, f"{package}.figure", *hidden}:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SymboUQError, match=r"\[notebook\]"):
        getattr(audit, method)()


def test_a_reliability_diagram_has_counts_intervals_and_whole_markers() -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    axes = new_figure(3, 3).add_subplot()
    bins = [
        {"confidence": 1.0, "accuracy": 0.8, "count": 10},
        {"confidence": 0.0, "accuracy": 0.0, "count": 2},
        {"confidence": None, "accuracy": None, "count": 0},
    ]
    plot_reliability(axes, bins, "a score")
    assert [text.get_text() for text in axes.texts] == ["10", "2"]
    (ends,) = [c.get_segments() for c in axes.collections]
    # Wilson, 8 of 10 and 0 of 2: from textbook tables.
    assert [segment[:, 1].tolist() for segment in ends] == [
        pytest.approx([0.4902, 0.9433], abs=1e-4),
        pytest.approx([0.0, 0.6576], abs=1e-4),
    ]
    (_, line, *_) = axes.lines
    assert not line.get_clip_on()
    assert axes.get_xlabel().startswith("a score")
    assert axes.get_ylabel() == "share of right answers"


def test_all_axes_of_an_overview_name_their_quantity(audit: symbouq.Audit) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    for axes in symbouq.plot([audit, audit, audit], [True, False, None]).axes:
        assert axes.get_xlabel()
        assert axes.get_ylabel() or axes.get_title() == "verdicts"  # whose rows are named
