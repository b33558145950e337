"""Tables as text."""

from __future__ import annotations

import pytest

from symbouq.experiments.rendering import UNDEFINED, Table, Value, highlighted, rendered

TABLE = Table(
    "t",
    ("Method", "A_1 & B"),
    (("P(True)", Value("0.5", "best")), ("MLP", Value("0.4", "gray")), ("x", "not run")),
)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (
            "markdown",
            "**t**\n\n| Method  | A_1 & B |\n|---------|---------|\n| P(True) | **0.5** |\n"
            "| MLP     | *0.4*   |\n| x       | not run |\n\n<sub>foot</sub>",
        ),
        ("csv", "Method,A_1 & B\nP(True),0.5\nMLP,0.4\nx,not run\n# foot"),
        (
            "latex",
            "\\begin{table}\n\\centering\n\\begin{tabular}{lc}\n\\toprule\n"
            "Method & A\\_1 \\& B \\\\\n\\midrule\nP(True) & \\textbf{0.5} \\\\\n"
            "MLP & \\textcolor{gray}{0.4} \\\\\nx & not run \\\\\n\\bottomrule\n\\end{tabular}\n"
            "\\caption{t.}\n\\end{table}\n\n% foot",
        ),
    ],
)
def test_forms(form: str, text: str) -> None:
    assert rendered([TABLE], form, "foot") == text


def test_best_and_second_share_their_mark_where_they_look_alike() -> None:
    found = highlighted([0.9001, 0.9004, 0.8, None, 0.1], higher=True)
    assert [(one.text, one.mark) for one in found] == [
        ("0.900", "best"),
        ("0.900", "best"),
        ("0.800", "second"),
        (UNDEFINED, ""),
        ("0.100", ""),
    ]
    lower = highlighted([0.1, 0.2, 0.0], higher=False, ranked=[True, True, False])
    assert [one.mark for one in lower] == ["best", "second", ""]
