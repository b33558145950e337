"""`symbouq rules`: the rule author's commands.

Exit codes: 0 clean, 1 findings, failures or flips, 2 cannot run.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from typing import Any

import click

from symbouq_cli.options import JOBS, ONTOLOGY, PROFILE, REPORT, UNUSABLE
from symbouq_cli.terminal import printable, say, tell

FOUND = 1

FOLDER = click.argument("folder", metavar="[DIR]", required=False, type=click.Path())
WATCH = click.option("--watch", is_flag=True, help="Run again after each edit, until Ctrl-C.")


@click.group()
def rules() -> None:
    """Check, test, compare and look up the rules and the ontology.

    Example: symbouq rules new my-rules
    """


def _exit(found: bool) -> None:
    click.get_current_context().exit(FOUND if found else 0)


def _after_edits(folder: str | None, run: Callable[[], bool], watch: bool) -> None:
    """Runs a command, once or after each edit; what it cannot run is then told, too."""
    if not watch:
        _exit(run())
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
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="How to print the findings.",
)
@WATCH
def check(folder: str | None, form: str, watch: bool) -> None:
    """Read the ontology in DIR (the built-in one unless named) for mistakes.

    Example: symbouq rules check my-rules --format sarif
    """
    _after_edits(folder, lambda: _checked(folder, form), watch)


def _checked(folder: str | None, form: str) -> bool:
    """Prints the findings; whether there are any."""
    from symbouq.authoring.check import as_json, as_sarif
    from symbouq.authoring.check import check as find

    findings = find(folder)
    if form == "text":
        for f in findings:
            say(f"{f.file}:{f.line}: {f.severity}: {f.message} [{f.code}]")
            say(f"    {f.mend}")
        tell(f"{len(findings)} finding{'' if len(findings) == 1 else 's'}")
    else:
        found = as_json(findings) if form == "json" else as_sarif(findings)
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    return bool(findings)


@rules.command()
@FOLDER
@click.option("-k", "pattern", metavar="TEXT", help="Only tests whose name or file has TEXT.")
@click.option("--junit", metavar="FILE", type=click.Path(dir_okay=False), help="Write JUnit XML.")
@click.option("--coverage", is_flag=True, help="Say which rules and facts no test fired.")
@click.option(
    "--fail-under",
    metavar="PERCENT",
    type=click.FloatRange(0, 100),
    help="Fail where coverage is lower; implies --coverage.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print only what failed, and the summary.")
@WATCH
def test(
    folder: str | None,
    pattern: str | None,
    junit: str | None,
    coverage: bool,
    fail_under: float | None,
    quiet: bool,
    watch: bool,
) -> None:
    """Run the tests (*.test) beside the rules in DIR, the built-in ones unless named.

    Example: symbouq rules test my-rules -k adjoins --coverage
    """
    share = fail_under if fail_under is not None else 0.0 if coverage else None
    _after_edits(folder, lambda: _tested(folder, pattern, junit, share, quiet), watch)


def _tested(
    folder: str | None, pattern: str | None, junit: str | None, share: float | None, quiet: bool
) -> bool:
    """Runs tests and prints how they came out; whether one failed, or less than a share of the
    rules and facts fired (where one is given, in percent).
    """
    from symbouq.auditing.auditor import TraceAuditor
    from symbouq.authoring import specs
    from symbouq.authoring.coverage import covered

    found = specs.discovered(folder)
    wanted = (pattern or "").lower()
    chosen = [s for s in found if wanted in s.name.lower() or wanted in s.file.lower()]
    if not chosen:
        raise _nothing(folder, pattern)
    if any(spec.in_words for spec in chosen):
        _load_spacy()
    report = None
    if share is not None:
        outcomes, report = covered(chosen, folder)
        for outcome in outcomes:
            _show(outcome, quiet)
    else:
        outcomes = []
        for outcome in specs.run(chosen, TraceAuditor(ontology=folder)):
            _show(outcome, quiet)
            outcomes.append(outcome)
    if junit is not None:
        from symbouq.io.output import replacing

        with replacing(junit) as stream:
            stream.write(specs.as_junit(outcomes).encode())
    failed = sum(not outcome.passed for outcome in outcomes)
    short = False
    if report is not None and share is not None:
        for item in report.missed:
            say(f"not fired: {item.place.file}:{item.place.line}: {item.text}")
        short = 100 * report.share < share
        say(
            f"coverage {100 * report.share:.1f} %, {len(report.missed)} of {len(report.items)} "
            "rules and facts not fired" + (f"; {share:g} % wanted" if short else "")
        )
    counts = [
        f"{len(outcomes) - failed} passed",
        f"{failed} failed" if failed else "",
        f"{sum(len(o.todo) for o in outcomes)} todo" if any(o.todo for o in outcomes) else "",
        f"{len(found) - len(chosen)} deselected" if len(chosen) < len(found) else "",
    ]
    seconds = sum(outcome.seconds for outcome in outcomes)
    say(", ".join(filter(None, counts)) + f" in {seconds:.1f} s")
    return bool(failed) or short


def _load_spacy() -> None:
    """Loads spaCy without torch, which it loads where there is one: no test needs it, and it
    takes longer than they do.
    """
    if "torch" in sys.modules:
        return
    sys.modules["torch"] = None  # type: ignore[assignment]
    try:
        import symbouq.reading.lexicon  # noqa: F401
    finally:
        del sys.modules["torch"]


def _show(outcome: Any, quiet: bool) -> None:
    """One test: its name, and what did not come out."""
    spec = outcome.spec
    if not outcome.passed:
        click.secho(printable(f"FAIL  {spec.name}  ({spec.file}:{spec.line})"), fg="red")
        for miss in outcome.misses:
            say(f"      line {miss.line}: {miss.message}")
    elif not quiet:
        say(f"{'todo' if outcome.todo else 'ok':<4}  {spec.name}")
    for miss in outcome.mended:
        say(f"      line {miss.line}: {miss.message}")


def _nothing(folder: str | None, pattern: str | None) -> Exception:
    from symbouq.authoring.specs import SpecError

    if pattern is not None:
        return SpecError(f"no test has {pattern!r} in its name or file")
    return SpecError(f"{folder} holds no .test file; see `symbouq rules new`")


@rules.command()
@click.argument("old")
@click.argument("new")
@click.option(
    "--corpus",
    multiple=True,
    required=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Trace file; may be given several times, and several may follow the last option.",
)
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False))
@PROFILE
@click.option(
    "--examples",
    default=3,
    show_default=True,
    type=click.IntRange(min=0),
    help="How many flips of each kind to print.",
)
@JOBS
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print the flips.",
)
@REPORT
def diff(
    old: str,
    new: str,
    corpus: tuple[str, ...],
    files: tuple[str, ...],
    profile: str | None,
    examples: int,
    jobs: int | None,
    form: str,
    report: str | None,
) -> None:
    """Show which verdicts flip over a corpus from the rules in OLD to those in NEW.

    OLD and NEW are folders of .lp files, or `builtin`. Each example names the facts and
    rules that bring its flip about.

    Example: symbouq rules diff builtin my-rules --corpus traces.jsonl
    """
    from symbouq.authoring.diff import difference
    from symbouq.report.compared import ComparedSides
    from symbouq_cli.report import show_flips
    from symbouq_cli.run import progress, refuse_overwriting

    if report is not None:
        refuse_overwriting((*corpus, *files), report, "--report")
    sides = ComparedSides()
    with progress() as advance:
        found = difference(old, new, (*corpus, *files), profile, examples, jobs, advance, sides.add)
    for failure in found.failed:
        tell(failure)
    if report is not None:
        sides.write(
            report, (old, new), found, list(map(str, found.changes)), title="SymboUQ rules diff"
        )
    if form == "json":
        click.echo(json.dumps(found.as_json(), indent=2, ensure_ascii=False))
    else:
        added = sum(not change.before for change in found.changes)
        removed = sum(not change.after for change in found.changes)
        edited = len(found.changes) - added - removed
        show_flips(
            (old, new),
            found,
            {
                kind: [(example.flip, list(map(str, example.because))) for example in some]
                for kind, some in found.examples.items()
            },
            [f"facts and rules: {added} added, {removed} removed, {edited} edited"],
        )
    if found.failed and not found.traces:
        click.get_current_context().exit(UNUSABLE)
    _exit(bool(found.counts or found.failed))


@rules.command()
@click.argument("relation")
@PROFILE
@ONTOLOGY
def show(relation: str, profile: str | None, ontology: str | None) -> None:
    """Print what a profile knows of RELATION: readings, inverse, compositions, clashes.

    Example: symbouq rules show tpp --profile rcc8
    """
    from symbouq.authoring.show import sheet
    from symbouq.ontology.library import OntologyLibrary

    found = sheet(OntologyLibrary(ontology), relation, profile)
    say(f"{found.name} ({found.family}), profile {found.profile}")
    for role, bounds in found.readings.items():
        say(f"  {role + ':':<12}{'; '.join(bounds)}")
    lines = {
        "is": found.properties,
        "converse": (found.converse,) if found.converse else (),
        "implies": found.follows,
        "excludes": found.clashes,
        "phrases": tuple(f'"{text}"' for text in found.phrases),
        "wordings": tuple(f'"{text}"' for text in found.wordings),
        "stated in": found.stated_in,
    }
    for name, values in lines.items():
        if values:
            say(f"  {name + ':':<12}{', '.join(values)}")
    for second, left in found.composes.items():
        say(f"  {'then ' + second + ':':<22}{' '.join(left) or 'nothing'}")


@rules.command()
@PROFILE
@ONTOLOGY
@click.option("--family", metavar="NAME", help="Only the relations of this family.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "csv", "json"]),
    default="markdown",
    show_default=True,
    help="How to print the table.",
)
def table(profile: str | None, ontology: str | None, family: str | None, form: str) -> None:
    """Print the composition table of a profile, computed by its rules.

    A cell holds what x and z can be to each other where x R y (row) and y S z (column).

    Example: symbouq rules table --profile rcc8 --family rcc8
    """
    import csv
    import sys

    from symbouq.authoring.show import as_markdown, tables
    from symbouq.ontology.library import OntologyLibrary

    found = tables(OntologyLibrary(ontology).ontology(profile), family)
    if form == "json":
        cells = {
            t.family: {f"{a}|{b}": list(cell) for (a, b), cell in t.cells.items()} for t in found
        }
        click.echo(json.dumps(cells, indent=2))
        return
    for t in found:
        if form == "csv":
            csv.writer(sys.stdout).writerows(t.rows())
        else:
            for line in (f"**{t.family}**", "", *as_markdown(t.rows()).splitlines(), ""):
                say(line)


@rules.command()
@click.argument("folder", metavar="DIR", type=click.Path())
def new(folder: str) -> None:
    """Start an ontology in DIR that extends the built-in one, with a test of its own.

    Example: symbouq rules new my-rules
    """
    from symbouq.authoring.scaffold import start

    for file in start(folder):
        say(f"wrote {file}")
    place = shlex.quote(folder)
    say(f"next: symbouq rules check {place} && symbouq rules test {place}")


@rules.command()
def reference() -> None:
    """Print the predicates that an ontology may state, from the rules' own comments.

    Example: symbouq rules reference > reference.md
    """
    from symbouq.authoring.reference import reference as written

    click.echo(written())
