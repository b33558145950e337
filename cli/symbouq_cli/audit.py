"""`symbouq audit`: audit traces, and use audits as a check."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from symbouq_cli.options import (
    ANSWERS,
    CONTEXT,
    FAILED_CHECKS,
    REPORT,
    UNUSABLE,
    finish,
    option,
    together,
    traced,
)
from symbouq_cli.reading import readings, records_command
from symbouq_cli.terminal import tell

if TYPE_CHECKING:
    from symbouq.auditing.summary import Summary
    from symbouq.integrations.scores import Scores
    from symbouq.integrations.telemetry import AuditEvents

_FILE = click.Path(dir_okay=False, allow_dash=True)
_VERDICTS = ("entailed", "contradicted", "unknown", "not-evaluable")
_REPEATED = (
    "profile",
    "ontology",
    "pipeline",
    "form",
    "maps",
    "prompt_split",
    "batch_input",
    "items",
)
"""Options that `symbouq explain` also needs to get the same result."""
_CHECKS = together(
    option(
        "--fail-on",
        multiple=True,
        metavar="VERDICT",
        type=click.Choice(_VERDICTS),
        help="Exit with 3 if a claim has this verdict; may be repeated.",
    ),
    option(
        "--fail-over",
        metavar="SHARE",
        type=click.FloatRange(0, 1),
        default=0.0,
        help="With --fail-on, the tolerated share of such claims.",
    ),
    option(
        "--min-decided",
        metavar="SHARE",
        type=click.FloatRange(0, 1),
        help="Exit with 3 if a smaller share of claims is entailed or contradicted, or if no "
        "trace was audited.",
    ),
    option(
        "--junit",
        metavar="FILE",
        type=_FILE,
        help="Also write JUnit XML. A case fails if a claim has a verdict of --fail-on "
        "(default: contradicted) and is skipped if no claim was decided; - is standard "
        "output.",
    ),
    option("--sarif", metavar="FILE", type=_FILE, help="Also write the same findings as SARIF."),
    option(
        "--github",
        is_flag=True,
        help="Also print each of these claims as a GitHub workflow annotation, on standard error.",
    ),
    option(
        "--otel",
        is_flag=True,
        help="Also send each audit to an OpenTelemetry collector, configured by "
        "OTEL_EXPORTER_OTLP_ENDPOINT and related variables.",
    ),
    option(
        "--langfuse",
        is_flag=True,
        help="Also write each audit to Langfuse, as scores of the trace that has its id.",
    ),
    option(
        "--phoenix",
        is_flag=True,
        help="Also write each audit to Phoenix, as an annotation of the trace that has its id.",
    ),
)


class _Audit(click.Command):
    """The command `symbouq audit`, whose help lists the profiles."""

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        from symbouq.ontology.library import builtin

        with formatter.section("Profiles"):
            formatter.write_dl([*builtin().about.items()])


@click.command(cls=_Audit)
@records_command
@CONTEXT
@ANSWERS
@REPORT
@option(
    "--follow",
    is_flag=True,
    help="Audit a trace while it is being written. The first line holds `scene` and `question` "
    "(JSON), each further line a sentence; its claims are printed at once.",
)
@_CHECKS
def audit(
    files: tuple[str, ...],
    out: str,
    report: str | None,
    fail_on: tuple[str, ...],
    fail_over: float,
    min_decided: float | None,
    junit: str | None,
    sarif: str | None,
    github: bool,
    otel: bool,
    langfuse: bool,
    phoenix: bool,
    follow: bool,
    **options: Any,
) -> None:
    """Audit every trace in FILES: write one JSON line each, and print a summary.

    Each claim is entailed, contradicted, unknown or not evaluable, with its premises. FILES hold
    one trace per line (JSON Lines, also gzipped); - is standard input. SymboUQ also reads samples
    of lm-evaluation-harness, inspect_ai logs, OpenAI chat completions, vLLM outputs,
    conversations, prompts with completions, langfuse and promptfoo exports, CSV, Parquet, saved
    Hugging Face data sets and folders of logs.

    Example: symbouq audit traces.jsonl.gz --out audits.jsonl --report report.html
    """
    from symbouq.auditing.advice import advice, senses
    from symbouq.auditing.jobs import auditing
    from symbouq.auditing.summary import Summary
    from symbouq.auditing.verdicts import Verdict
    from symbouq.io.output import replacing
    from symbouq.io.stream import Job, Outcome
    from symbouq.records import Trace
    from symbouq.report import checks as shown
    from symbouq_cli.report import SummaryTable
    from symbouq_cli.run import refuse_overwriting, run, same_file

    names = ("profile", "ontology", "context", "pipeline", "answers")
    arguments = tuple(options[name] for name in names)
    gated = bool(fail_on) or min_decided is not None
    if follow:
        _follow(files, out, arguments, options["timeout"])
        return
    explaining = _explaining(options)
    sources = traced(files, options)
    beside = {"--report": report, "--junit": junit, "--sarif": sarif}
    written = {flag: path for flag, path in beside.items() if path is not None}
    for flag, path in written.items():
        refuse_overwriting(sources, path, flag)
        others = {"--out": out} | {o: p for o, p in written.items() if o != flag}
        for other, name in others.items():
            if name == path or ("-" not in (name, path) and same_file(name, path)):
                raise click.UsageError(f"{flag} and {other} name the same file")
    if fail_over and not fail_on:
        raise click.UsageError("--fail-over needs --fail-on")
    hosts = {"otel": otel, "langfuse": langfuse, "phoenix": phoenix}
    flags = {"--fail-on": fail_on, "--min-decided": gated, "--github": github}
    flags |= {f"--{host}": wanted for host, wanted in hosts.items()}
    unsharded = [*written, *(flag for flag, given in flags.items() if given)]
    if options["shards"] and unsharded:
        flag = unsharded[0]
        raise click.UsageError(f"{flag} shows one --out; audit some shards again for it")
    table = SummaryTable()
    checks = shown.Checks([*map(Verdict, fail_on)] or [Verdict.CONTRADICTED])
    checked = gated or bool(junit or sarif or github)
    with ExitStack() as stack:
        if report is None:
            job, page = Job(auditing, arguments, Trace, Summary.total), None
        else:
            from symbouq.report.entries import reporting
            from symbouq.report.html import Report

            job, page = Job(reporting, arguments, Trace), stack.enter_context(Report(report))
        sent = {host: _sending(host) for host, wanted in hosts.items() if wanted}
        for each in sent.values():
            stack.enter_context(each)
        prepare = stack.enter_context(readings(options, Trace, sources, out, *written.values()))

        def keep(outcome: Outcome) -> None:
            if page is not None:
                summary, entry = outcome.summary
                page.add(entry)
                outcome = outcome._replace(summary=summary)
            table.add(outcome)
            if checked or sent:
                record = json.loads(outcome.output or b"")
                if checked:
                    checks.add(record, outcome.file, outcome.number)
                for each in sent.values():
                    each.add(record)

        def lose(outcome: Outcome) -> None:
            checks.add_error(outcome.file, outcome.number, outcome.id, outcome.error or "")

        failed = run(sources, out, job, options, keep, table.take, prepare, lose)
    table.show()
    _tell_wrong(table.total(), explaining)
    _tell_void(table.total(), failed)
    for place, form in ((junit, shown.junit), (sarif, shown.sarif)):
        if place == "-":
            click.echo(form(checks), nl=False)
        elif place is not None:
            with replacing(place) as stream:
                stream.write(form(checks))
    for annotation in shown.github(checks) if github else ():
        tell(annotation)
    lost = {host: each for host, each in sent.items() if each.lost}
    for host, each in lost.items():
        tell(f"{each.lost} of {each.added} {_LOST[host]}")
    short = gated and checks.fall_short(min_decided)
    if fail_on:
        void = "; nothing is decided, which is no pass" if short and min_decided is None else ""
        tell(checks.message + void)
    if min_decided is not None:
        fault = f"; --min-decided {min_decided:g} does not hold" if short else ""
        tell(checks.decided_message + fault)
    advised = advice(table.total(), options["ontology"], options["pipeline"])
    for line in (advised, senses(table.total(), options["ontology"])):
        if line is not None:
            tell(line)
    if short or (fail_on and checks.exceed(fail_over)):
        finish(FAILED_CHECKS)
    finish(UNUSABLE if lost else failed > 0)


def _tell_void(total: Summary, failed: int) -> None:
    if total.decided:
        return
    if not total.traces and failed:
        tell("No trace was audited.")
    elif not total.traces:
        return  # already reported
    elif total.truncated == total.traces:
        tell("No claim is decided: the output of every trace was cut off or is empty.")
    else:
        tell(
            f"No claim of {total.traces:,} traces is decided. See how one is read: symbouq explain "
            "FILE:LINE"
        )


def _explaining(options: Mapping[str, Any]) -> list[str] | None:
    """Return the options that make `symbouq explain` give the same results as this audit, or None
    if that is impossible.
    """
    if options["reader"] != "parser" or options["answers"] != "answer":
        return None
    flags = {param.name: param.opts[0] for param in click.get_current_context().command.params}
    values = {name: [options[name]] for name in _REPEATED} | {"maps": options["maps"]}
    return [word for name in values for v in values[name] if v for word in (flags[name], v)]


def _tell_wrong(total: Summary, explaining: Sequence[str] | None) -> None:
    """Name the first traces that have a contradicted claim, and the command that explains one of
    them.
    """
    if not total.wrong:
        return
    one = total.contradicted == 1
    what = "contradicts its scene or itself" if one else "contradict their scene or themselves"
    beginning = f", first {len(total.wrong)}" if len(total.wrong) < total.contradicted else ""
    tell(f"{total.contradicted} of {total.traces} traces {what}{beginning}:")
    for file, line, claim, text, premises in total.wrong:
        tell(f'  {file}:{line} "{text}" (claim {claim}{premises and f", against {premises}"})')
    file, line, *_ = total.wrong[0]
    if explaining is not None and file != "<stdin>" and "://" not in file:
        command = ["symbouq", "explain", f"{file}:{line}", *explaining]
        tell(f"Why the first is wrong: {shlex.join(command)}")


_FOLLOWING = (
    "files",
    "follow",
    "out",
    "timeout",
    "profile",
    "ontology",
    "context",
    "pipeline",
    "answers",
)
"""Parameters that may be given with `--follow`."""


def _follow(files: Sequence[str], out: str, arguments: Sequence[Any], timeout: float) -> None:
    """Print the claims of traces that are still being written.

    Raises:
        click.UsageError: If an option is given that has no effect here.
    """
    current = click.get_current_context()
    for param in current.command.params:
        source = current.get_parameter_source(str(param.name))
        if param.name not in _FOLLOWING and source is not ParameterSource.DEFAULT:
            raise click.UsageError(f"--follow prints claims, and does not go with {param.opts[0]}")
    from symbouq.auditing.auditor import TraceAuditor
    from symbouq.auditing.following import followed

    profile, ontology, context, pipeline, answers = arguments
    auditor = TraceAuditor(
        profile, ontology, context, partial=True, pipeline=pipeline, answers=answers
    )
    with click.open_file(out, "w", encoding="utf-8") as stream:
        for file in files:
            with click.open_file(file, encoding="utf-8") as lines:
                claim = None
                for claim in followed(auditor, lines, file, timeout or None):
                    stream.write(json.dumps(claim) + "\n")
                    stream.flush()
                if claim is None:
                    tell(f"{file}: it has no claims: nothing was judged.")


_LOST = {
    "otel": "events were rejected by the collector: check OTEL_EXPORTER_OTLP_ENDPOINT",
    "langfuse": "audits were rejected by Langfuse: check LANGFUSE_BASE_URL and its keys",
    "phoenix": "audits were rejected by Phoenix: check PHOENIX_COLLECTOR_ENDPOINT",
}
"""Maps each host that receives audits to the message that is printed if audits are lost."""


def _sending(host: str) -> AuditEvents | Scores:
    """Return the object that sends audits to the given host. A missing package is an error."""
    from symbouq.errors import extra

    with extra(host):
        from symbouq.integrations import scores, telemetry

        if host == "otel":
            return telemetry.AuditEvents()
        return scores.langfuse() if host == "langfuse" else scores.phoenix()
