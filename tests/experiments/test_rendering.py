"""Tables as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symbouq.experiments.rendering import UNDEFINED, WIDTH, Table, Value, highlighted, rendered

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


def test_a_wide_markdown_table_is_divided() -> None:
    heads = ("Method", *(head for n in range(5) for head in (f"{n:030}", "paper")))
    table = Table("wide", heads, (("x", *map(str, range(10))),), "note", labels=1)
    lines = rendered([table], "markdown").split("\n")
    first, second, third = (line for line in lines if "Method" in line)
    # 9 characters for the method and 41 for each column with the paper's beside it: two fit.
    assert first == f"| Method | {0:030} | paper | {1:030} | paper |"
    assert second == f"| Method | {2:030} | paper | {3:030} | paper |"
    assert third == f"| Method | {4:030} | paper |"
    assert max(map(len, lines)) <= WIDTH
    assert (lines.count("**wide**"), lines.count("note")) == (1, 1)
    whole = rendered([replace(table, labels=0)], "markdown")
    assert whole.count("Method") == 1


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
