"""Tables as text."""

from __future__ import annotations

import pytest

from symbouq.experiments.tables import Table, rendered

TABLE = Table("t", ("Method", "A_1 & B"), (("P(True)", "0.5"), ("MLP", "not run")))


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (
            "markdown",
            "| Method  | A_1 & B |\n|---------|---------|\n| P(True) | 0.5     |\n| MLP     | not run |",
        ),
        ("csv", "Method,A_1 & B\nP(True),0.5\nMLP,not run"),
        (
            "latex",
            "\\begin{tabular}{lc}\n\\toprule\nMethod & A\\_1 \\& B \\\\\n\\midrule\n"
            "P(True) & 0.5 \\\\\nMLP & not run \\\\\n\\bottomrule\n\\end{tabular}",
        ),
    ],
)
def test_forms(form: str, text: str) -> None:
    assert rendered(TABLE, form) == text
