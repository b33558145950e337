"""`symbouq rules`: commands for rule authors.

Exit codes: 0 clean, 1 findings, failures or flips, 2 cannot run.
"""

from __future__ import annotations

import csv
import json
import shlex
import sys
from collections.abc import Callable, Iterable
from typing import Any

import click

from symbouq_cli.options import (
    EXAMPLES,
    JOBS,
    ONTOLOGY,
    PROFILE,
    REPORT,
    UNUSABLE,
    finish,
    option,
    output_option,
    printing_option,
)
from symbouq_cli.terminal import printable, say, tell, tell_faults

FOLDER = click.argument("folder", metavar="[DIR]", required=False, type=click.Path())
WATCH = option("--watch", is_flag=True, help="Rerun after each edit, until Ctrl-C.")


@click.group()
def rules() -> None:
    """Check, test, compare and inspect the rules and the ontology.

    Example: symbouq rules new my-rules
    """


def _after_edits(folder: str | None, run: Callable[[], bool], watch: bool) -> None:
    """Run a command once or, with `watch`, after each edit. With `watch`, errors that prevent a run
    are printed.
    """
    if not watch:
        finish(run())
        return
    from symbouq.authoring.watch import edits
    from symbouq.errors import SymboUQError

    for _ in edits(folder):
        try:
            run()
        except SymboUQError as error:
            tell(f"Error: {error}")
        tell("waiting for an edit; Ctrl-C ends")


@rules.command()
@FOLDER
@printing_option("findings", "text", "json", "sarif")
@WATCH
def check(folder: str | None, form: str, watch: bool) -> None:
    """Check the ontology in DIR (default: the built-in one) for mistakes.

    Example: symbouq rules check my-rules --format sarif
    """
    _after_edits(folder, lambda: _checked(folder, form), watch)


def _checked(folder: str | None, form: str) -> bool:
    """Print the findings. Return whether there are any."""
    from symbouq.authoring.check import as_json, as_sarif
    from symbouq.authoring.check import check as find

    findings = find(folder)
    if form == "text":
        for f in findings:
            say(f"{f.file}:{f.line}: {f.severity}: {f.message} [{f.code}]")
            say(f"    {f.mend}")
        tell(f"{len(findings)} finding{'' if len(findings) == 1 else 's'}")
    else:
        listed = as_json(findings) if form == "json" else as_sarif(findings)
        click.echo(json.dumps(listed, indent=2, ensure_ascii=False))
    return bool(findings)


@rules.command()
@FOLDER
@option("-k", "pattern", metavar="TEXT", help="Run only tests whose name or file contains TEXT.")
@output_option("--junit", help="Write JUnit XML.")
@option("--coverage", is_flag=True, help="List rules and facts that no test fired.")
@option(
    "--fail-under",
    metavar="PERCENT",
    type=click.FloatRange(0, 100),
    help="Fail if coverage is lower; implies --coverage.",
)
@option("-q", "--quiet", is_flag=True, help="Print only failures and the summary.")
@WATCH
def test(folder: str | None, watch: bool, **options: Any) -> None:
    """Run the tests (*.test) in DIR (default: the built-in ones).

    Example: symbouq rules test my-rules -k adjoins --coverage
    """
    _after_edits(folder, lambda: _tested(folder, **options), watch)


def _tested(
    folder: str | None,
    pattern: str | None,
    junit: str | None,
    coverage: bool,
    fail_under: float | None,
    quiet: bool,
) -> bool:
    """Run tests and print their results. Return whether one failed, or coverage is too low."""
    from symbouq.auditing.auditor import TraceAuditor
    from symbouq.authoring import specs
    from symbouq.authoring.coverage import covered
    from symbouq.ontology.specs import SpecError, discovered

    tests = discovered(folder)
    wanted = (pattern or "").lower()
    chosen = [s for s in tests if wanted in s.name.lower() or wanted in s.file.lower()]
    if not chosen:
        if pattern is not None:
            raise SpecError(f"no test has {pattern!r} in its name or file")
        raise SpecError(f"{folder} holds no .test file; see `symbouq rules new`")
    if any(spec.in_words for spec in chosen):
        _load_spacy()
    report = None
    running: Iterable[specs.Outcome]
    if coverage or fail_under is not None:
        running, report = covered(chosen, folder)
    else:
        running = specs.run(chosen, TraceAuditor(ontology=folder))
    outcomes = []
    for outcome in running:
        _show(outcome, quiet)
        outcomes.append(outcome)
    if junit is not None:
        from symbouq.io.output import replacing

        with replacing(junit) as stream:
            stream.write(specs.as_junit(outcomes).encode())
    short = False
    if report is not None:
        for item in report.missed:
            say(f"not fired: {item.place.file}:{item.place.line}: {item.text}")
        percent = 100 * report.share
        short = fail_under is not None and percent < fail_under
        say(
            f"coverage {percent:.1f} %, {len(report.missed)} of {len(report.items)} rules and "
            "facts not fired" + (f"; {fail_under:g} % wanted" if short else "")
        )
    failed = sum(not outcome.passed for outcome in outcomes)
    todo = sum(len(outcome.todo) for outcome in outcomes)
    counts = [f"{len(outcomes) - failed} passed"]
    others = {"failed": failed, "todo": todo, "deselected": len(tests) - len(chosen)}
    counts += [f"{count} {name}" for name, count in others.items() if count]
    say(f"{', '.join(counts)} in {sum(outcome.seconds for outcome in outcomes):.1f} s")
    return bool(failed) or short


def _load_spacy() -> None:
    """Load spaCy without torch. No test needs torch, and importing it takes longer than they do."""
    if "torch" in sys.modules:
        return
    sys.modules["torch"] = None  # type: ignore[assignment]
    try:
        import symbouq.reading.lexicon  # noqa: F401
    finally:
        del sys.modules["torch"]


def _show(outcome: Any, quiet: bool) -> None:
    """Print the result of one test: its name, and its failed expectations."""
    spec = outcome.spec
    if not outcome.passed:
        click.secho(printable(f"FAIL  {spec.name}  ({spec.file}:{spec.line})"), fg="red")
        for miss in outcome.misses:
            say(f"      line {miss.line}: {miss.message}")
    elif not quiet:
        say(f"{'todo' if outcome.todo else 'ok':<4}  {spec.name}")
    for note in outcome.notes:
        say(f"note  {spec.file}:{note.line}: {note.message}")


@rules.command()
@click.argument("old")
@click.argument("new")
@option(
    "--corpus",
    multiple=True,
    required=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Trace file; may be repeated, and several files may follow the last one.",
)
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False))
@PROFILE
@EXAMPLES
@JOBS
@printing_option("flips", "text", "json")
@REPORT
def diff(
    old: str,
    new: str,
    corpus: tuple[str, ...],
    files: tuple[str, ...],
    form: str,
    report: str | None,
    **options: Any,
) -> None:
    """Show which verdicts in a corpus flip between the rules in OLD and in NEW.

    OLD and NEW are folders of .lp files, or `builtin`. Each example names the facts and rules that
    cause the flip.

    Example: symbouq rules diff builtin my-rules --corpus traces.jsonl
    """
    from symbouq.authoring.diff import difference
    from symbouq.report.compared import ComparedSides
    from symbouq_cli.report import show_flips
    from symbouq_cli.run import progress, refuse_overwriting

    traces = (*corpus, *files)
    if report is not None:
        refuse_overwriting(traces, report, "--report")
    sides = ComparedSides()
    with progress() as advance:
        flips = difference(old, new, traces, **options, advance=advance, each=sides.add)
    tell_faults(flips.failed)
    changes = flips.changes
    if report is not None:
        sides.write(report, (old, new), flips, list(map(str, changes)), title="SymboUQ rules diff")
    if form == "json":
        click.echo(json.dumps(flips.as_json(), indent=2, ensure_ascii=False))
    else:
        added = sum(not change.before for change in changes)
        removed = sum(not change.after for change in changes)
        edited = len(changes) - added - removed
        listed = {
            kind: [(example.flip, list(map(str, example.because))) for example in some]
            for kind, some in flips.examples.items()
        }
        note = f"facts and rules: {added} added, {removed} removed, {edited} edited"
        show_flips((old, new), flips, listed, [note])
    if flips.failed and not flips.traces:
        finish(UNUSABLE)
    finish(bool(flips.counts or flips.failed))


@rules.command()
@click.argument("relation")
@PROFILE
@ONTOLOGY
def show(relation: str, profile: str | None, ontology: str | None) -> None:
    """Show what a profile knows about RELATION: readings, inverse, compositions, clashes.

    Example: symbouq rules show tpp --profile rcc8
    """
    from symbouq.authoring.show import sheet
    from symbouq.ontology.library import OntologyLibrary

    facts = sheet(OntologyLibrary(ontology), relation, profile)
    say(f"{facts.name} ({facts.family}), profile {facts.profile}")
    lines = {role: "; ".join(bounds) for role, bounds in facts.readings.items()}
    lines |= {
        "is": ", ".join(facts.properties),
        "converse": facts.converse or "",
        "implies": ", ".join(facts.follows),
        "excludes": ", ".join(facts.clashes),
        "phrases": ", ".join(f'"{text}"' for text in facts.phrases),
        "wordings": ", ".join(f'"{text}"' for text in facts.wordings),
        "stated in": ", ".join(facts.stated_in),
    }
    for name, text in lines.items():
        if text:
            say(f"  {name + ':':<12}{text}")
    for second, left in facts.composes.items():
        say(f"  {'then ' + second + ':':<22}{' '.join(left) or 'nothing'}")


@rules.command()
@PROFILE
@ONTOLOGY
@option("--family", metavar="NAME", help="Show only relations of this family.")
@printing_option("table", "markdown", "csv", "json")
def table(profile: str | None, ontology: str | None, family: str | None, form: str) -> None:
    """Compute the composition table of a profile.

    A cell lists the possible relations of x to z, given x R y (row) and y S z (column).

    Example: symbouq rules table --profile rcc8 --family rcc8
    """
    from symbouq.authoring.show import as_markdown, tables
    from symbouq.ontology.library import OntologyLibrary

    listed = tables(OntologyLibrary(ontology).ontology(profile), family)
    if form == "json":
        cells = {t.family: {"|".join(pair): cell for pair, cell in t.cells.items()} for t in listed}
        click.echo(json.dumps(cells, indent=2))
        return
    for t in listed:
        if form == "csv":
            csv.writer(sys.stdout).writerows(t.rows())
        else:
            for line in (f"**{t.family}**", "", *as_markdown(t.rows()).splitlines(), ""):
                say(line)


@rules.command()
@click.argument("folder", metavar="DIR", type=click.Path())
def new(folder: str) -> None:
    """Create an ontology in DIR that extends the built-in one, with a test.

    Example: symbouq rules new my-rules
    """
    from symbouq.authoring.scaffold import start

    for file in start(folder):
        say(f"wrote {file}")
    place = shlex.quote(folder)
    say(f"next: symbouq rules check {place} && symbouq rules test {place}")


@rules.command()
def reference() -> None:
    """Print the reference of all predicates, from the rules' own comments.

    Example: symbouq rules reference > reference.md
    """
    from symbouq.authoring.reference import reference as written

    click.echo(written())
