"""`symbouq labels`: label claims as right or wrong, and compare label sources.

Exit codes: 0 everything was read, 1 some traces failed, 2 a file or an option is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from symbouq_cli.generate import engine_options, loading
from symbouq_cli.options import CONTINUED, finish, option, out_option
from symbouq_cli.terminal import printable, tell, tell_faults

if TYPE_CHECKING:
    from symbouq.errors import RecordError
    from symbouq.evidence.labels.agreement import Agreement
    from symbouq.evidence.labels.records import Labels, Source

FILE = click.Path(exists=True, dir_okay=False)
STREAM = click.Path(exists=True, dir_okay=False, allow_dash=True)

TRACES = click.argument("traces", type=STREAM)
AUDITS = option(
    "--audits",
    metavar="FILE",
    type=FILE,
    help="Audits of the traces. They give the claims of free-form and invalid outputs; verdicts "
    "are not read.",
)


@click.group()
def labels() -> None:
    """Label claims of traces as right or wrong, without the auditor.

    A label record has `id`, `source` and `labels`: 1 (right), 0 (wrong) or null for each claim. The
    last one is the conclusion's.

    Example: symbouq labels answer traces.jsonl --out labels.jsonl
    """


@labels.command()
@TRACES
@out_option("-")
@AUDITS
def answer(traces: str, out: str, audits: str | None) -> None:
    """Label the conclusions of TRACES by matching their `answer`, without a model.

    Example: symbouq labels answer traces.jsonl --out answers.jsonl
    """
    from symbouq.auditing.correctness import SOURCE, answer_labels, committed, misfit
    from symbouq.errors import RecordError

    silent: list[bool] = []

    def source(record: dict[str, Any]) -> list[int | None]:
        if fault := misfit(record):
            raise RecordError(f"trace {record['id']}: {fault}")
        silent.append(committed(record) is None)
        return answer_labels(record)

    def unmatched() -> tuple[()]:
        if 2 * sum(silent) > len(silent):
            tell(
                f"warning: {sum(silent)} of {len(silent)} delivered answers are no label of their "
                "answer space, and count as wrong"
            )
        return ()

    write_labels(traces, out, audits, SOURCE, source, unmatched)


@labels.command()
@TRACES
@out_option("-")
@AUDITS
def truth(traces: str, out: str, audits: str | None) -> None:
    """Label the steps of TRACES about scenes from `symbouq scenes`, by their layouts.

    Example: symbouq labels truth traces.jsonl --out truth.jsonl
    """
    from symbouq.experiments.scenes.truth import labels as source

    write_labels(traces, out, audits, "truth", source)


@labels.command()
@click.argument("traces", type=FILE)
@CONTINUED
@AUDITS
@engine_options
def judge(traces: str, out: str, audits: str | None, **options: Any) -> None:
    """Label the reasoning steps of TRACES with a language model that does not see the answer.

    Example: symbouq labels judge traces.jsonl --model judge --out judged.jsonl
    """
    from symbouq.errors import RecordError
    from symbouq.evidence.labels.judge import Judge, judging
    from symbouq_cli.run import progress

    statuses: Counter[str] = Counter()
    failed = 0
    with progress() as advance:
        for item in judging(traces, Judge(loading(options)()), out, audits):
            if isinstance(item, RecordError):
                failed += 1
                tell(item)
            else:
                statuses[item.extra["judge"]["status"]] += 1
            advance()
    counts = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    tell(counts or "nothing new to judge")
    finish(bool(failed))


@labels.command()
@TRACES
@option(
    "--out",
    metavar="FILE",
    required=True,
    type=click.Path(dir_okay=False),
    help="Output page; a name ending in .csv makes a table.",
)
@AUDITS
@option("--traces", "number", default=100, type=click.IntRange(1), help="Traces per dataset.")
@option("--seed", default=2026, help="Seed of the selection of traces.")
def annotate(traces: str, out: str, audits: str | None, number: int, seed: int) -> None:
    """Write steps of TRACES for people to judge, as a page that saves a table or as a table.

    People see the same instruction as the judge, but no answers. `symbouq labels human` reads the
    table, `symbouq labels agree` compares it with the judge.

    Example: symbouq labels annotate traces.jsonl --out page.html
    """
    from symbouq.errors import RecordError
    from symbouq.evidence.labels import annotation
    from symbouq.evidence.labels.records import read_claims
    from symbouq.io.output import replacing
    from symbouq_cli.run import refuse_overwriting

    refuse_overwriting([traces, audits or "-"], out, "--out")
    read: list[dict[str, Any]] = []
    shown: list[dict[str, Any]] = []
    failed: list[RecordError] = []
    for item in read_claims(traces, audits):
        if isinstance(item, RecordError):
            failed.append(item)
        else:
            read.append(item)
    for record in annotation.drawn(read, number, seed):
        try:
            shown.append(annotation.shown(record))
        except RecordError as error:
            failed.append(error)
    written = annotation.table if out.endswith(".csv") else annotation.annotation_page
    with replacing(out) as stream:
        stream.write(written(shown))
    tell_faults(failed)
    tell(f"{len(shown)} traces, {sum(len(trace['steps']) for trace in shown)} steps to judge")
    finish(bool(failed))


@labels.command()
@TRACES
@click.argument("table", type=FILE)
@out_option("-")
@AUDITS
def human(traces: str, table: str, out: str, audits: str | None) -> None:
    """Import labels by people for claims of TRACES from TABLE, a CSV or JSON Lines file.

    A row has `id` (of the trace), `claim` (its number from 1, or `conclusion`) and `label` (1, 0 or
    empty).

    Example: symbouq labels human traces.jsonl labels.csv --out human.jsonl
    """
    from symbouq.evidence.labels.human import SOURCE, HumanLabels
    from symbouq_cli.run import refuse_overwriting

    refuse_overwriting([table], out, "--out")
    source = HumanLabels(table)
    write_labels(traces, out, audits, SOURCE, source, source.unused)


@labels.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@out_option("-")
def merge(files: tuple[str, ...], out: str) -> None:
    """Merge FILES of labels; for each claim, the first file with a label wins.

    Example: symbouq labels merge human.jsonl judged.jsonl answers.jsonl --out labels.jsonl
    """
    from symbouq.evidence.labels.records import merge as merged
    from symbouq.evidence.labels.records import read_labels
    from symbouq.io.output import write_records
    from symbouq_cli.run import refuse_overwriting

    refuse_overwriting(files, out, "--out")
    joined = merged([read_labels(file) for file in files])
    write_records(out, (labels.record() for labels in joined))


@labels.command()
@click.argument("first", type=FILE, metavar="A")
@click.argument("second", type=FILE, metavar="B")
@out_option("-")
def agree(first: str, second: str, out: str) -> None:
    """Compute agreement and Cohen's kappa of label files A and B.

    Example: symbouq labels agree human.jsonl judged.jsonl
    """
    from dataclasses import asdict

    from symbouq.evidence.labels.agreement import agreement
    from symbouq.evidence.labels.records import read_labels
    from symbouq.io.output import write_records
    from symbouq_cli.run import refuse_overwriting

    refuse_overwriting([first, second], out, "--out")
    rows = agreement(read_labels(first), read_labels(second))
    write_records(out, map(asdict, rows))
    _show(rows)


def write_labels(
    traces: str,
    out: str,
    audits: str | None,
    name: str,
    source: Source,
    also: Callable[[], Iterable[RecordError]] = tuple,
) -> None:
    """Write the labels that the given source assigns to the traces in a file, and end the command.

    Args:
        traces: The traces file.
        out: Output path; `-` for standard output.
        audits: Audits of the traces.
        name: Name of the source.
        source: The source.
        also: Returns further errors at the end.
    """
    from symbouq.evidence.labels.records import Labels, label_traces
    from symbouq.io.output import write_records
    from symbouq_cli.run import refuse_overwriting

    refuse_overwriting([traces, audits or "-"], out, "--out")
    made: list[Labels] = []
    failed: list[RecordError] = []
    for item in label_traces(traces, audits, name, source):
        if isinstance(item, Labels):
            made.append(item)
        else:
            failed.append(item)
    write_records(out, (one.record() for one in made))
    failed += also()
    tell_faults(failed)
    values = [label for one in made for label in one.labels if label is not None]
    tell(f"{len(made)} traces, {len(values)} claims labelled, {sum(values)} right")
    finish(bool(failed))


def _show(rows: Iterable[Agreement]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="Agreement", box=None, padding=(0, 1, 0, 0))
    for name in ("dataset", "traces", "claims", "agree %", "kappa", ""):
        table.add_column(name, justify="left" if name in ("dataset", "") else "right")
    for row in rows:
        rate = "-" if row.rate is None else f"{100 * row.rate:.1f}"
        kappa = "-" if row.kappa is None else f"{row.kappa:.3f}"
        dataset = escape(printable(row.dataset))
        table.add_row(dataset, str(row.traces), str(row.claims), rate, kappa, row.undefined)
    Console(stderr=True, highlight=False, emoji=False, width=120).print(table)
