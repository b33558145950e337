"""Print tables and explanations on a terminal. They go to standard error, separate from the
records.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.table import Table

from symbouq.auditing.compare import Flip, Flips, Kind
from symbouq.auditing.compare_readings import ReadingComparison
from symbouq.auditing.explain import Explanation
from symbouq.auditing.summary import Summary
from symbouq.auditing.verdicts import Verdict
from symbouq.io.stream import Outcome
from symbouq_cli.terminal import printable, say

_COLOURS = dict(zip(Verdict, ("green", "red", "yellow", "magenta"), strict=True))


class SummaryTable:
    """Shares of verdicts for each input file."""

    def __init__(self) -> None:
        self._files: dict[str, Summary] = {}

    def add(self, outcome: Outcome) -> None:
        """Add one audit."""
        self._files.setdefault(outcome.file, Summary()).add(outcome.summary)

    def take(self, total: Mapping[str, Any]) -> None:
        """Add the audits of one shard. All shards together form one row."""
        self._files.setdefault("all shards", Summary()).add(Summary.from_total(total))

    def total(self) -> Summary:
        """Return the sum over all files."""
        total = Summary()
        for summary in self._files.values():
            total.add(summary)
        return total

    def show(self) -> None:
        """Print the table to standard error."""
        cut = any(summary.truncated for summary in self._files.values())
        extra = ["truncated"] if cut else []
        counted = _columns("Audit", "traces", "feasible %", "claims", "parsed %", *extra)
        judged = _columns("Verdicts, % of the parsed claims", "context", *Verdict)
        for name, summary in self._files.items():
            file = _text(Path(name).name)
            counted.add_row(
                file,
                str(summary.traces),
                _percent(summary.feasible, summary.traces),
                str(summary.claims),
                _percent(summary.parsed, summary.claims),
                *([str(summary.truncated)] if cut else []),
            )
            for context, counts in (("assumed", summary.assumed), ("grounded", summary.grounded)):
                shares = (f"{100 * share:.1f}" for share in summary.shares(counts).values())
                judged.add_row(file, context, *shares)
                file = ""
        for table in (counted, judged):
            _console().print(table)


class CounterfactualTable:
    """Shares of supported and incompatible claims with the expected verdict."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, outcome: Outcome) -> None:
        """Add the pairs of one trace: the number of pairs, and the number of claims of each kind
        that have the expected verdict.
        """
        pairs, entailed, contradicted = outcome.summary
        self._counts.update(
            traces=1, eligible=pairs > 0, pairs=pairs, entailed=entailed, contradicted=contradicted
        )

    def show(self) -> None:
        """Print the table to standard error."""
        pairs = self._counts["pairs"]
        row = {name: str(self._counts[name]) for name in ("traces", "eligible", "pairs")}
        row["supported entailed"] = _percent(self._counts["entailed"], pairs)
        row["incompatible contradicted"] = _percent(self._counts["contradicted"], pairs)
        table = Table(title="Counterfactual audit")
        for name in row:
            table.add_column(name, justify="right")
        table.add_row(*row.values())
        _console().print(table)


def _columns(title: str, *names: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0))
    table.add_column("file", overflow="fold", min_width=12)
    for name in names:
        side: JustifyMethod = "left" if name == "context" else "right"
        table.add_column(name, justify=side, min_width=len(name))
    return table


def _console() -> Console:
    """Return a console on standard error, wide enough for a table if it is not a terminal."""
    plain: dict[str, Any] = {"stderr": True, "highlight": False, "emoji": False}
    console = Console(**plain)
    return console if console.is_terminal else Console(**plain, width=120)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


def _text(text: str) -> str:
    """Escape the given text so that neither the terminal nor rich finds a command in it."""
    return escape(printable(text))


def show_explanation(explanation: Explanation) -> None:
    """Print the explanation of one trace to standard output."""
    console = Console(highlight=False, soft_wrap=True, emoji=False)
    verdict = re.compile(rf"^   ({'|'.join(Verdict)})\b")
    for line in explanation.lines:
        coloured = verdict.sub(lambda v: f"   [{_COLOURS[Verdict(v[1])]}]{v[1]}[/]", _text(line))
        console.print(f"[bold]{coloured}[/bold]" if line == explanation.title else coloured)


def show_readings(names: tuple[str, str], read: ReadingComparison, examples: int) -> None:
    """Print how two files of readings differ.

    Args:
        names: The files.
        read: The differences.
        examples: Number of sentences from each part to print.
    """
    both, first, second = read.alike
    say(
        f"{names[0]} -> {names[1]}: {len(read.differences)} of {read.sentences} sentences of "
        f"{read.replies} replies differ"
    )
    say(f"relations in both: {both}; only in the first: {first}; only in the second: {second}")
    for name, count in zip(names, read.only, strict=True):
        if count:
            say(f"only in {name}: {count} repl{'y' if count == 1 else 'ies'}")
    for part in ("scene", "claims"):
        differing = [each for each in read.differences if each.part == part]
        for each in differing[:examples]:
            click.echo()
            sample = f", sample {each.sample}" if each.sample else ""
            say(f"{each.id}, {part} {each.sentence}{sample}")
            for sign, said in (("was", each.was), ("now", each.now)):
                say(f"  {sign}: {'; '.join(said) or 'nothing else'}")


def show_flips(
    names: tuple[str, str],
    flips: Flips,
    examples: Mapping[Kind, Sequence[tuple[Flip, Sequence[str]]]],
    notes: Sequence[str],
) -> None:
    """Print the verdicts that flip from one side to the other, kind by kind.

    Args:
        names: Names of the two sides.
        flips: The counts.
        examples: Flips of each kind, with their causes if known.
        notes: Lines to print below the first one.
    """
    total = flips.counts.total()
    say(
        f"{names[0]} -> {names[1]}: {total} verdict{'' if total == 1 else 's'} flip in "
        f"{flips.flipped} of {flips.traces} traces ({flips.claims} claims)"
    )
    for note in notes:
        say(note)
    for kind, count in flips.counts.most_common():
        before, after, grounded = kind
        click.echo()
        say(f"{before} -> {after}{', by the scene alone' if grounded else ''}: {count}")
        for flip, because in examples.get(kind, ()):
            where = f"{flip.file}:{flip.line} " if flip.file else ""
            what = f"claim {flip.claim}: {flip.text}" if flip.claim else flip.text
            say(f"  {where}{flip.id}, {what}")
            say(f"    was: {flip.was or before}")
            say(f"    now: {flip.now or after}")
            if because:
                say("    because of")
            for change in because:
                say(f"      {change}")
