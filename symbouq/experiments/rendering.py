"""Renders tables as Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Mark = Literal["", "best", "second", "gray"]
"""Emphasis of a value: the best in its column, the second best, or grey for a score that does not
discriminate."""

NOT_RUN = "not run"
"""Text for a cell without a result in this configuration."""
UNDEFINED = "undefined"
"""Text for a metric that is undefined, for example on traces of one class."""
BESIDE = "paper"
"""Heading of a column with the paper's numbers for the preceding column."""
WIDTH = 110
"""Maximum number of characters per line in a Markdown table that can be divided into parts."""


@dataclass(frozen=True)
class Value:
    """A cell's text with its emphasis."""

    text: str
    mark: Mark = ""


@dataclass(frozen=True)
class Table:
    """A table with headings, cells and a note on how to read it. Cells given as plain strings have
    no emphasis.

    Attributes:
        labels: Number of label columns, which are repeated in each part of a divided table; 0:
            never divide it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | Value, ...], ...]
    note: str = ""
    labels: int = 0


def rendered(tables: Sequence[Table], form: str, footer: str = "") -> str:
    """Render tables in one of FORMS, optionally with a footer about their origin."""
    return FORMS[form](tables, footer)


def _markdown(tables: Sequence[Table], footer: str) -> str:
    parts = []
    for table in tables:
        rows = [table.columns, *([_marked(cell, _MARKDOWN) for cell in row] for row in table.rows)]
        blocks = []
        for places in _parts(table, [max(map(len, column)) for column in zip(*rows, strict=True)]):
            chosen = [[row[place] for place in places] for row in rows]
            widths = [max(map(len, column)) for column in zip(*chosen, strict=True)]
            lines = [
                "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
                for row in chosen
            ]
            rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
            blocks.append("\n".join([lines[0], rule, *lines[1:]]))
        notes = [table.note] if table.note else []
        parts.append("\n\n".join([f"**{table.title}**", *blocks, *notes]))
    return "\n\n".join([*parts, *([f"<sub>{footer}</sub>"] if footer else [])])


def _parts(table: Table, widths: Sequence[int]) -> list[list[int]]:
    """Divide a table into parts, each a list of columns, so that lines do not exceed `WIDTH`."""
    if not table.labels:
        return [[*range(len(widths))]]
    labels = [*range(table.labels)]
    taken = sum(widths[place] + 3 for place in labels) + 1
    parts: list[list[int]] = []
    room = 0
    for place in range(table.labels, len(widths)):
        together = [place]
        if table.columns[place + 1 : place + 2] == (BESIDE,):
            together.append(place + 1)
        elif table.columns[place] == BESIDE:
            continue
        needed = sum(widths[n] + 3 for n in together)
        if not parts or needed > room:
            parts.append([*labels])
            room = WIDTH - taken
        parts[-1] += together
        room -= needed
    return parts or [labels]


def _csv(tables: Sequence[Table], footer: str) -> str:
    parts = []
    for table in tables:
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows([_plain(cell) for cell in row] for row in table.rows)
        title = f"# {table.title}\n" if len(tables) > 1 else ""
        parts.append(title + stream.getvalue().rstrip("\n"))
    return "\n\n".join(parts) + (f"\n# {footer}" if footer else "")


def _latex(tables: Sequence[Table], footer: str) -> str:
    parts = []
    for table in tables:
        rows = [[_marked(cell, _LATEX, _escaped) for cell in row] for row in table.rows]
        caption = _escaped(" ".join(text for text in (f"{table.title}.", table.note) if text))
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{l{'c' * (len(table.columns) - 1)}}}",
            r"\toprule",
            " & ".join(map(_escaped, table.columns)) + r" \\",
            r"\midrule",
            *(" & ".join(row) + r" \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{caption}}}",
            r"\end{table}",
        ]
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, *([f"% {footer}"] if footer else [])])


FORMS: dict[str, Callable[[Sequence[Table], str], str]] = {
    "markdown": _markdown,
    "csv": _csv,
    "latex": _latex,
}
"""Renderers by name. LaTeX needs the packages booktabs and xcolor."""

_MARKDOWN: dict[Mark, str] = {"": "{}", "best": "**{}**", "second": "<u>{}</u>", "gray": "*{}*"}
_LATEX: dict[Mark, str] = {
    "": "{}",
    "best": r"\textbf{{{}}}",
    "second": r"\underline{{{}}}",
    "gray": r"\textcolor{{gray}}{{{}}}",
}
_ESCAPED = {ord(sign): f"\\{sign}" for sign in "&%$#_{}"} | {
    ord("\\"): r"\textbackslash{}",
    ord("<"): r"\textless{}",
    ord(">"): r"\textgreater{}",
}


def _escaped(text: str) -> str:
    return text.translate(_ESCAPED)


def _plain(cell: str | Value) -> str:
    return cell.text if isinstance(cell, Value) else cell


def _marked(cell: str | Value, marks: dict[Mark, str], escaped: Callable[[str], str] = str) -> str:
    mark: Mark = cell.mark if isinstance(cell, Value) else ""
    return marks[mark].format(escaped(_plain(cell)))


def highlighted(
    values: Sequence[float | None], higher: bool, ranked: Sequence[bool] = ()
) -> list[Value]:
    """Make the cells of a column, and mark the best and second-best value. Values that are
    displayed identically get the same mark.

    `ranked` specifies which values are ranked; empty: all.
    """
    takes_part = ranked or [True] * len(values)
    shown = [None if value is None else round(value, 3) for value in values]
    among = {x for x, part in zip(shown, takes_part, strict=True) if part and x is not None}
    order = sorted(among, reverse=higher)
    marks: dict[float, Mark] = dict(zip(order, ("best", "second"), strict=False))
    return [
        Value(UNDEFINED) if x is None else Value(f"{x:.3f}", marks.get(x, "") if part else "")
        for x, part in zip(shown, takes_part, strict=True)
    ]
