"""The `symbouq` command: parse options, call the library, and write output.

Exit codes: 0 everything was read; 1 some records failed; 2 rules, options or output are wrong, or
SymboUQ itself failed; 3 a gate does not hold; 130 interrupted; 129 and 143 hung up and terminated.
"""

from __future__ import annotations

import atexit
import errno
import gc
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import click

import symbouq.version
from symbouq_cli.answer import answer
from symbouq_cli.audit import audit
from symbouq_cli.backbone import backbone
from symbouq_cli.data import data
from symbouq_cli.doctor import doctor
from symbouq_cli.experiment import experiment
from symbouq_cli.fit import fit, predict
from symbouq_cli.generate import generate
from symbouq_cli.labels import labels
from symbouq_cli.options import (
    EXAMPLES,
    JOBS,
    REPORT,
    TIMEOUT,
    TRACE,
    UNUSABLE,
    finish,
    option,
    out_option,
    parsing_options,
    printing_option,
    reading_options,
    traced,
)
from symbouq_cli.process import Ended, ending_signals, open_streams
from symbouq_cli.reading import readings, records_command
from symbouq_cli.refine import refine, select
from symbouq_cli.rules import rules
from symbouq_cli.scenes import scenes
from symbouq_cli.schema import schema
from symbouq_cli.score import score
from symbouq_cli.scores import scores
from symbouq_cli.serve import mcp, serve
from symbouq_cli.signals import signals
from symbouq_cli.terminal import Faults, printable, say, tell, tell_faults

INTERRUPTED = 130
_OF_STREAMS = (errno.EBADF, errno.EFBIG, errno.EIO, errno.ENOSPC, errno.EPIPE)
"""Error numbers for failed writes. An error for a file includes the file name; an error for
standard output does not.
"""
_OBJECTS = 50_000
"""Number of new objects after which garbage is collected."""


class _Group(click.Group):
    """Group that turns the library's errors into one message and an exit code."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        open_streams()
        # Most objects live as long as the process: look for garbage rarely, and not at the end.
        gc.set_threshold(_OBJECTS)
        atexit.register(gc.freeze)
        try:
            return super().main(*arguments, **options)
        except OSError as error:  # the help was being printed, before any command ran
            _Unusable(_message(error)).show()
            _abandon_stdout()
            sys.exit(UNUSABLE)

    def invoke(self, context: click.Context) -> Any:
        try:
            with ending_signals():
                try:
                    return super().invoke(context)
                finally:
                    _flush()
        except KeyboardInterrupt as end:
            cause = end.event if isinstance(end, Ended) else "interrupted"
            tell(_with_notes(f"{cause}; finished records are written", end))
            context.exit(end.code if isinstance(end, Ended) else INTERRUPTED)
        except click.ClickException as error:
            error.message = printable(error.message)  # type: ignore[misc]
            raise
        except (click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if context.find_root().params.get("debug"):
                for line in traceback.format_exc().splitlines():
                    tell(line)
            raise _Unusable(printable(_with_notes(_message(error), error))) from error


def _flush() -> None:
    """Make sure that all printed text has been written.

    Raises:
        OSError: If it cannot be written.
    """
    try:
        sys.stdout.flush()
    except OSError:
        _abandon_stdout()
        raise


def _abandon_stdout() -> None:
    from symbouq.io.output import abandon_stdout

    abandon_stdout()


def _with_notes(message: str, error: BaseException) -> str:
    return "; ".join([message, *getattr(error, "__notes__", [])])


def _message(error: Exception) -> str:
    """Return a one-line message with the error and its remedy."""
    from symbouq.errors import SymboUQError, one_line

    if isinstance(error, SymboUQError):
        return str(error)
    if isinstance(error, OSError):
        if error.filename is None and error.errno in _OF_STREAMS:
            from symbouq.io.output import stdout_fault

            return f"{stdout_fault(error)}; not everything was printed"
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}"
    reason = one_line(error)
    if isinstance(error, ImportError):
        return f"{reason}: `symbouq doctor` says what is missing and how to get it"
    return (
        f"internal error: {type(error).__name__}: {reason}; please report it with what "
        "`symbouq doctor` prints and what the same command prints as `symbouq --debug ...`"
    )


class _Unusable(click.ClickException):
    """Error: rules, options or output cannot be used."""

    exit_code = UNUSABLE


@click.group(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: symbouq audit traces.jsonl --out audits.jsonl",
)
@click.version_option(symbouq.version.__version__, prog_name="symbouq")
@option(
    "--debug",
    is_flag=True,
    envvar="SYMBOUQ_DEBUG",
    help="Print the traceback of an error; also with SYMBOUQ_DEBUG=1.",
)
@click.pass_context
def main(context: click.Context, debug: bool) -> None:
    """Can you trust this spatial reasoning trace? SymboUQ audits it with logic."""
    if os.environ.get("NO_COLOR"):
        context.color = False  # rich detects this itself, click does not


@main.command()
@records_command
def parse(files: tuple[str, ...], out: str, **options: Any) -> None:
    """Convert every trace of FILES to relations, in a form that `audit` accepts.

    Example: symbouq parse traces.jsonl | symbouq audit -
    """
    from symbouq.auditing.jobs import parsing
    from symbouq.io.stream import Job
    from symbouq.records import Trace
    from symbouq_cli.run import run

    arguments = (options["profile"], options["ontology"], options["pipeline"])
    job = Job(parsing, arguments, Trace)
    sources = traced(files, options)
    with readings(options, Trace, sources, out) as prepare:
        failed = run(sources, out, job, options, prepare=prepare)
    finish(failed > 0)


_AUDITS = click.Path(exists=True, dir_okay=False, allow_dash=True)


@main.command()
@click.argument("first", type=_AUDITS)
@click.argument("second", type=_AUDITS)
@EXAMPLES
@printing_option("flips", "text", "json")
@REPORT
def compare(first: str, second: str, examples: int, form: str, report: str | None) -> None:
    """Compare the audits in FIRST and SECOND: two models, contexts or versions.

    Traces are matched by id. If the responses are the same, all claims are compared, otherwise only
    the scene and the conclusion. The verdicts of each file are those in the context of its own
    audit. One file may be - for standard input. Files of readings (`symbouq audit --reader model`)
    are compared sentence by sentence.

    Exit codes: 0 no difference, 1 a verdict flips, a trace is missing from one file or a line
    cannot be read, 2 nothing to compare.

    Example: symbouq compare before.jsonl after.jsonl --report changes.html
    """
    from symbouq.auditing.compare import comparison
    from symbouq.auditing.compare_readings import compared_readings, readings_of
    from symbouq.report.compared import ComparedSides
    from symbouq_cli.report import show_flips, show_readings
    from symbouq_cli.run import refuse_overwriting, standing

    if first == second == "-":
        raise click.UsageError("standard input can be only one of the files")
    if report is not None:
        refuse_overwriting((first, second), report, "--report")
    sides = ComparedSides()
    with standing(first) as one, standing(second) as other:
        if readings_of(one, other):
            if report is not None:
                raise click.UsageError("--report shows audits, not readings")
            read = compared_readings(one, other)
            if form == "json":
                click.echo(json.dumps(read.as_json(), indent=2, ensure_ascii=False))
            else:
                show_readings((first, second), read, examples)
            finish(read.differ)
        flips = comparison(one, other, examples, sides.add)
    tell_faults(flips.failed)
    notes = [f"one response in both: {flips.same} of {flips.traces} traces"]
    notes += [
        f"only in {name}: {count} trace{'' if count == 1 else 's'}"
        for name, count in zip((first, second), flips.only, strict=True)
        if count
    ]
    if report is not None:
        sides.write(report, (first, second), flips, notes=notes)
    if form == "json":
        click.echo(json.dumps(flips.as_json(), indent=2, ensure_ascii=False))
    else:
        listed = {kind: [(flip, ()) for flip in some] for kind, some in flips.examples.items()}
        show_flips((first, second), flips, listed, notes)
    if not flips.traces and flips.differ:
        tell(f"nothing to compare: {first} and {second} have no id in common")
        finish(UNUSABLE)
    finish(flips.differ)


class _Place(click.Path):
    """A file, or `FILE:LINE`; either is converted to a pair."""

    def convert(self, value: Any, param: Any, context: Any) -> Any:
        file, colon, line = value.rpartition(":")
        if colon and line.isdecimal() and not Path(value).exists():
            return super().convert(file, param, context), int(line)
        return super().convert(value, param, context), None


@main.command()
@click.argument("place", metavar="FILE[:LINE]", type=_Place(exists=True, allow_dash=True))
@option("--id", "identity", metavar="ID", help="Select the trace with this id.")
@option(
    "--first-contradicted", is_flag=True, help="Select the first trace with a contradicted claim."
)
@option("--list", "listed", is_flag=True, help="List all traces: line, id, verdicts.")
@option(
    "--reading",
    is_flag=True,
    help="Also show how each sentence was read: parse, candidates with costs, and the rules and "
    "facts behind them.",
)
@parsing_options
@reading_options
def explain(
    place: tuple[str, int | None],
    identity: str | None,
    first_contradicted: bool,
    listed: bool,
    reading: bool,
    profile: str | None,
    ontology: str | None,
    pipeline: str | None,
    **options: Any,
) -> None:
    """Explain one trace of FILE, claim by claim, with verdicts, reasons and a sketch.

    LINE is the trace's line in FILE, from 1. You may omit it if FILE has a single trace.

    Example: symbouq explain traces.jsonl:7
    """
    from symbouq.auditing.auditor import TraceAuditor
    from symbouq.auditing.explain import chosen, explanation_of, verdicts_told
    from symbouq.auditing.jobs import keeping
    from symbouq.auditing.verdicts import Verdict
    from symbouq.io.stream import Job, process
    from symbouq.records import Trace
    from symbouq_cli.report import show_explanation
    from symbouq_cli.run import tell_failure

    file, line = place
    if (line is not None) + (identity is not None) + first_contradicted + listed > 1:
        raise click.UsageError("give one of FILE:LINE, --id, --first-contradicted and --list")
    if listed and reading:
        raise click.UsageError("--list and --reading cannot be combined")
    (source,) = traced((file,), options)
    auditor = TraceAuditor(profile, ontology, pipeline=pipeline)
    if not (first_contradicted or listed):
        show_explanation(explanation_of(auditor, chosen(source, identity, line), reading))
        return
    job = Job(keeping, (profile, ontology, pipeline), Trace, timeout=10)
    failed = 0
    with Faults() as faults:
        for outcome in process((source,), job, 1):
            if outcome.error is not None:
                failed += 1
                tell_failure(outcome, faults)
                continue
            trace, record = outcome.summary
            if listed:
                say(f"{outcome.number:>5}  {outcome.id:<24}  {verdicts_told(record)}")
            elif any(claim["verdict"] == Verdict.CONTRADICTED for claim in record["claims"]):
                show_explanation(explanation_of(auditor, trace, reading))
                return
    if first_contradicted:
        say("no trace has a contradicted claim")
    finish(failed > 0)


@main.command()
@TRACE
@out_option("-")
@parsing_options
@reading_options
@JOBS
@TIMEOUT
def counterfactual(file: str, out: str, **options: Any) -> None:
    """Test the auditor on FILE with a supported and an incompatible claim per relation.

    For every consistent relation in a scene, the command makes one claim that the relation supports
    and one that it excludes, both in words other than the scene's. The first must be entailed, the
    second contradicted. Writes one JSON line per trace and prints a table.

    Example: symbouq counterfactual instances.jsonl.gz --out pairs.jsonl
    """
    from symbouq.auditing.counterfactual import countering
    from symbouq.io.stream import Job
    from symbouq.records import Instance
    from symbouq_cli.report import CounterfactualTable
    from symbouq_cli.run import run

    job = Job(countering, (options["profile"], options["ontology"], options["pipeline"]), Instance)
    table = CounterfactualTable()
    failed = run(traced((file,), options), out, job, options, table.add)
    table.show()
    finish(failed > 0)


for _command in (
    answer,
    audit,
    backbone,
    data,
    doctor,
    experiment,
    fit,
    predict,
    generate,
    labels,
    mcp,
    refine,
    rules,
    scenes,
    schema,
    score,
    scores,
    select,
    serve,
    signals,
):
    main.add_command(_command)
