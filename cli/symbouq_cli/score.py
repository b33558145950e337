"""`symbouq score`: measure audits and predictions on labelled traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import click

from symbouq_cli.labels import FILE, STREAM
from symbouq_cli.options import finish, option, out_option
from symbouq_cli.terminal import tell

if TYPE_CHECKING:
    from symbouq.reliability.first_errors import Row


@click.group()
def score() -> None:
    """Measure audits, scores and predictions on labelled traces.

    Example: symbouq score first-error audits.jsonl labels.jsonl
    """


@score.command("first-error")
@click.argument("audits", type=STREAM)
@click.argument("labels", type=FILE)
@option(
    "--scores",
    metavar="FILE",
    type=FILE,
    help="Scores of the same traces (`symbouq scores apply`) for comparison.",
)
@option(
    "--guarantee",
    metavar="LEVEL",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Also fit, for each method, where to cut traces so that at most this share of new "
    "traces keeps a wrong claim.",
)
@out_option("-")
def first_error(
    audits: str, labels: str, scores: str | None, guarantee: float | None, out: str
) -> None:
    """Measure how well the first wrong claim of each trace is found, as in ProcessBench.

    LABELS mark each claim of the audited traces as right or wrong (`symbouq labels`). For each
    method, the table has two shares and their harmonic mean, F1, with a 95 % interval: among traces
    with a wrong claim, the share in which exactly the first wrong claim is reported; among the
    other traces, the share in which no claim is reported. The auditor reports the first claim that
    cannot hold; a score reports the first claim above a threshold. Thresholds are fitted on one
    half of the traces, and all results are measured on the other half.

    Example: symbouq score first-error audits.jsonl labels.jsonl --scores scores.parquet
    """
    from dataclasses import asdict

    from symbouq.evidence.labels.records import read_labels
    from symbouq.evidence.signals.traces import readable_records
    from symbouq.io.output import write_records
    from symbouq.reliability.first_errors import compared, halves, known_errors
    from symbouq_cli.run import refuse_overwriting

    refuse_overwriting([audits, labels, *([scores] if scores else [])], out, "--out")
    records = list(readable_records(audits))
    if not all(
        isinstance(record.get("claims"), list) and "profile" in record for record in records
    ):
        raise click.UsageError(f"{audits} holds no audits; `symbouq audit --out` writes them")
    claims = {name: record.labels for name, record in read_labels(labels).items()}
    known = known_errors(records, claims)
    if not known:
        raise click.UsageError(
            f"{labels} tells of no trace of {audits} which claim is the first wrong one"
        )
    fitting, measuring = ({name: known[name] for name in half} for half in halves(known))
    rated = []
    if scores is not None:
        from symbouq.evidence.scorers.bank.scores import read_scores

        rated = read_scores(scores)
    rows = compared(fitting, measuring, rated, rated, guarantee)
    write_records(
        out,
        (
            {"method": r.method, "seeds": r.seeds, **asdict(r.result)}
            | ({"kept": [k._asdict() for k in r.kept]} if r.kept else {})
            for r in rows
        ),
    )
    tell(f"{len(known)} of {len(records)} traces have a known first error, or none")
    _show(rows)


@score.command()
@click.argument("predictions", type=STREAM)
@click.argument("labels", type=FILE)
@out_option("-")
def reliability(predictions: str, labels: str, out: str) -> None:
    """Measure how well predicted reliabilities separate right from wrong answers.

    PREDICTIONS come from `symbouq predict`. LABELS are traces with `correct` or the right
    `answer`, as for `symbouq fit`; `id` and `correct` are enough. Prints AUROC with a 95 %
    bootstrap interval (ranking), Brier score and ECE (calibration), and AURC (error among the most
    reliable traces).

    Example: symbouq score reliability reliability.jsonl test.jsonl
    """
    from symbouq.errors import RecordError
    from symbouq.io.output import write_records
    from symbouq.metrics import evaluate, paired_bootstrap
    from symbouq.reliability.labels import gold_in, labelled
    from symbouq_cli.run import refuse_overwriting

    refuse_overwriting([predictions, labels], out, "--out")
    predicted = {}
    for name, record in _by_id(predictions).items():
        value = record.get("reliability")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise click.UsageError(
                f"{predictions}: {name} has no `reliability` from 0 to 1 (`symbouq predict`)"
            )
        predicted[name] = value
    golds, faults = {}, Counter[str]()
    for name, record in _by_id(labels).items():
        try:
            golds[name] = gold_in(record)
        except RecordError as error:
            faults[error.message] += 1
    found = labelled([*golds.values()])
    faults.update(found.faults)
    for fault, count in faults.items():
        tell(f"{labels}: {fault} ({count} record{'s' * (count > 1)})")
    for warning in found.warnings:
        tell(f"warning: {warning}")
    labelled_names = zip(golds, found.of, strict=True)
    pairs = [(predicted[n], y) for n, y in labelled_names if n in predicted and y is not None]
    if not pairs:
        raise click.UsageError(f"{labels} has no label of a trace of {predictions}")
    values, right = map(list, zip(*pairs, strict=True))
    # A constant score has an AUROC of 1/2 in every resample.
    against = paired_bootstrap(values, [0.0] * len(pairs), right)
    row: dict[str, Any] = {"traces": len(pairs), "right": sum(right)}
    row |= {metric: evaluate(metric, values, right) for metric in ("auroc", "brier", "ece", "aurc")}
    row["auroc_interval"] = against and [against.low + 0.5, against.high + 0.5]
    write_records(out, [row])
    tell(f"{len(pairs)} of {len(predicted)} predictions have a label")
    title = f"Reliability: {row['right']} right of {row['traces']} traces"
    interval = " to ".join(map(_rounded, row["auroc_interval"] or ())) or "-"
    shown = _rounded(row["auroc"]), interval, *(_rounded(row[x]) for x in ("brier", "ece", "aurc"))
    _print(title, ("AUROC", "95 % interval", "Brier", "ECE", "AURC"), [shown])
    finish(bool(faults))


def _by_id(path: str) -> dict[str, dict[str, Any]]:
    from symbouq.evidence.signals.traces import readable_records

    records: dict[str, dict[str, Any]] = {}
    for record in readable_records(path):
        if records.setdefault(record["id"], record) is not record:
            raise click.UsageError(f"{path}: the id {record['id']} occurs twice")
    return records


def _show(rows: Sequence[Row]) -> None:
    wrong, right = rows[0].result.wrong, rows[0].result.right
    title = f"First errors: {wrong} traces with a wrong claim, {right} without"
    kept = ("keeps wrong %", "claims kept %") if any(row.kept for row in rows) else ()
    lines = []
    for row in rows:
        result = row.result
        shares = (result.found, result.cleared, result.f1)
        interval = "-" if result.interval is None else " to ".join(map(_percent, result.interval))
        means = [fmean(each) for each in zip(*((k.wrong, k.claims) for k in row.kept), strict=True)]
        lines.append((row.method, *map(_percent, shares), interval, *map(_percent, means)))
    _print(title, ("method", "found %", "cleared %", "F1 %", "95 % interval", *kept), lines)


def _print(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, box=None, padding=(0, 1, 0, 0))
    for name in names:
        table.add_column(name, justify="left" if name == "method" else "right")
    for row in rows:
        table.add_row(*row)
    Console(stderr=True, highlight=False, emoji=False, width=100).print(table)


def _rounded(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"
