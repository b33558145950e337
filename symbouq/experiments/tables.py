"""Tables of an experiment, from the files of its stages. Test labels are read here only."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from symbouq.experiments.bank import AUDITS, LABELS, SCORES, TRACES, Bank, Cell

NOT_RUN = "not run"
"""What a cell says that the configuration cannot fill."""
UNDEFINED = "undefined"
"""What a metric says on traces of one class."""


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        title: What it shows.
        columns: Heads; the first is of the rows' names.
        rows: Cells as text.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def scorers(bank: Bank) -> Table:
    """AUROC of every scorer on the test split of every dataset, by backbone: mean over seeds, and
    the standard deviation where there are several.
    """
    from symbouq.labels.records import read_labels
    from symbouq.metrics import auroc
    from symbouq.scorers.bank import read_scores

    cells = [cell for cell in bank.scores if cell.split == "test"]
    found: dict[str, dict[Cell, str]] = defaultdict(dict)
    for cell in cells:
        labels = read_labels(bank.run.output(bank.cells[cell].labels, LABELS))
        by_method: dict[str, dict[int, list[tuple[float, int]]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for row in read_scores(bank.run.output(bank.scores[cell], SCORES)):
            known = labels.get(row.id)
            if row.score is not None and known is not None and known.labels[-1] is not None:
                by_method[row.method][row.seed].append((row.score, known.labels[-1]))
        for method, seeds in by_method.items():
            values = [auroc(*zip(*pairs, strict=True)) for pairs in seeds.values()]
            found[method][cell] = _spread([value for value in values if value is not None])
    return Table(
        "AUROC on the test split",
        ("Method", *(f"{cell.backbone}, {cell.dataset}" for cell in cells)),
        tuple((method, *(at.get(cell, NOT_RUN) for cell in cells)) for method, at in found.items()),
    )


def traces(bank: Bank) -> Table:
    """What the backbones wrote: traces, valid ones, right answers, right steps, and what the
    audit could do with them.
    """
    import json

    from symbouq.labels.records import read_labels

    rows = []
    for cell, parts in bank.cells.items():
        written = [
            json.loads(line)
            for line in bank.run.output(parts.traces, TRACES).read_text("utf-8").splitlines()
        ]
        audits = [
            json.loads(line)
            for line in bank.run.output(parts.audits, AUDITS).read_text("utf-8").splitlines()
        ]
        labels = read_labels(bank.run.output(parts.labels, LABELS)).values()
        valid = [trace["generation"]["status"] == "valid" for trace in written]
        answers = [label.labels[-1] for label in labels if label.labels[-1] is not None]
        steps = [each for label in labels for each in label.labels[:-1] if each is not None]
        rows.append(
            (
                *cell,
                str(len(written)),
                _share(valid),
                _share(answers),
                _share(steps),
                f"{fmean(audit['profile']['symbolizability'] for audit in audits):.3f}",
                f"{fmean(audit['profile']['determinacy'] for audit in audits):.3f}",
            )
        )
    columns = ("Backbone", "Dataset", "Split", "Traces", "Valid", "Answers right", "Steps right")
    return Table("Traces", (*columns, "Symbolizability", "Determinacy"), tuple(rows))


TABLES: dict[str, Callable[[Bank], Table]] = {"scorers": scorers, "traces": traces}
"""Tables by name."""


def rendered(table: Table, form: str) -> str:
    """A table as text.

    Args:
        table: The table.
        form: `markdown`, `csv` or `latex` (booktabs).
    """
    if form == "csv":
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows(table.rows)
        return stream.getvalue().rstrip("\n")
    if form == "latex":
        return _latex(table)
    widths = [
        max(len(row[n]) for row in (table.columns, *table.rows)) for n in range(len(table.columns))
    ]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in (table.columns, *table.rows)
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _latex(table: Table) -> str:
    def line(row: Sequence[str]) -> str:
        return " & ".join(cell.translate(_ESCAPED) for cell in row) + r" \\"

    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'c' * (len(table.columns) - 1)}}}",
            r"\toprule",
            line(table.columns),
            r"\midrule",
            *map(line, table.rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


_ESCAPED = {ord(sign): f"\\{sign}" for sign in "&%$#_{}"} | {ord("\\"): r"\textbackslash{}"}


def _spread(values: Sequence[float]) -> str:
    if not values:
        return UNDEFINED
    mean = f"{fmean(values):.3f}"
    return f"{mean} ({stdev(values):.3f})" if len(values) > 1 else mean


def _share(values: Sequence[int]) -> str:
    return f"{sum(values) / len(values):.3f}" if values else UNDEFINED
