"""Reliability as a function of what is left of a scene: the table and figure of docs/degraded.md.

    python experiments/degraded_table.py --data FOLDER [--figure FILE] [--questions N] [--jobs N]

Sentences are removed from the scenes of real traces as with `symbouq scenes degrade --hide 0..4`.
The StepGame traces are chains of thought by three large models on N questions drawn by hash
(default: 300). All StepGame rows use the same traces. In these, the question is still decided when
one sentence is hidden, and open when two to four sentences are hidden. Rows with `not used` contain
only traces in which no reasoning claim depends on a hidden sentence. There are only 18 SpaRTUN
traces, about 6 questions, which is too few for fitting.

The label of a trace is whether the delivered answer is the gold answer for the whole scene. The
following scores are compared by AUROC, with its 95 % interval (2,000 resamples of questions):

- `compare`: 1 if the delivered answer holds in all worlds of the remaining scene, 0 if it holds in
  none, 0.5 if the question is open or no answer is found;
- `length`: the number of words in the response; fewer are better;
- `rule`: Constraint-Rule; `grounded`: the same over the grounded verdicts;
- `dual`, `worlds`: the compositions of `symbouq fit`, fitted at the same step on one half of the
  questions to predict the other half, and vice versa; `assumed`: the composition for the assumed
  context alone, as in the paper, but with delivered answers compared as in `dual` and `worlds`;
- `dual, whole`: `dual`, fitted in the same way but on whole scenes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from common import cluster_weights, data_option, gold, rows, table
from numpy.typing import NDArray
from transfer_table import stepgame

from symbouq.errors import RecordError
from symbouq.experiments.scenes.degraded import degraded
from symbouq.metrics import auroc
from symbouq.records import Trace
from symbouq.reliability.labels import gold_of, label_of
from symbouq.reliability.model import fit
from symbouq.reliability.reading import GROUNDED_RULE, RULE, Composition, Reader, Reading

Row = dict[str, Any]
Scores = NDArray[np.float64]
LAST = 4
UNFITTED = ("compare", "length", "rule", "grounded")
FITTED: dict[str, tuple[Composition, int | None]] = {
    "assumed": ("paper", None),
    "dual": ("dual", None),
    "worlds": ("worlds", None),
    "dual, whole": ("dual", 0),
}
"""For each fitted score: its composition, and the step used for fitting. None means the current
step."""
SHOWN = ("compare", "grounded", "rule", "dual", "length")
"""The scores shown in the figure."""


class Step(NamedTuple):
    """A trace at one step, with only part of its scene."""

    decided: bool
    used: bool
    compare: float
    reading: Reading


class Known(NamedTuple):
    """A trace with its label and all its steps."""

    question: str
    right: int
    length: int
    steps: list[Step]


@cache
def reader() -> Reader:
    """Return the reader used by this process."""
    return Reader("worlds")


def known(row: Row) -> Known | None:
    """Read a trace; None if its scene cannot be degraded."""
    trace = Trace.model_validate(row)
    try:
        records = [*degraded(reader().auditor, trace, 0, LAST)]
        steps = [_step(record) for record in records]
    except RecordError:
        return None
    label = label_of(gold_of(trace), {})
    return Known(
        trace.question + " ".join(row["scene"]), label, len(row["response"].split()), steps
    )


def _step(record: Row) -> Step:
    standing = record["gold"]["delivered"] if record["decided"] else "open"
    compare = {"entailed": 1.0, "contradicted": 0.0}.get(standing, 0.5)
    read = reader().read(Trace.model_validate(record | {"answer": None, "correct": None}))
    return Step(record["decided"], record["used"], compare, read)


def stepgame_rows(data: Path, questions: int) -> list[Row]:
    """Return traces about the given number of StepGame questions, with the possible answers."""
    given = [*stepgame(data)]
    space = sorted({label for row in given for label in gold(row)})
    kept = {*sorted({_question(row) for row in given}, key=_drawn)[:questions]}
    return [row | {"answer_space": space} for row in given if _question(row) in kept]


def _question(row: Row) -> str:
    return str(row["id"]).split("/")[0]


def _drawn(name: str) -> str:
    return hashlib.sha256(f"degraded\n{name}".encode()).hexdigest()


def graded(trace: Known) -> bool:
    """Whether a trace has all steps, with the question decided at the first two steps and open at
    the later ones.
    """
    decided = [step.decided for step in trace.steps]
    return decided == [True, True] + [False] * (LAST - 1)


def unfitted(traces: Sequence[Known], step: int) -> dict[str, Scores]:
    """Compute the scores that need no labels."""
    at = [trace.steps[step] for trace in traces]
    found = {
        "compare": [each.compare for each in at],
        "length": [-trace.length for trace in traces],
        "rule": [each.reading.scores[RULE] for each in at],
        "grounded": [each.reading.scores[GROUNDED_RULE] for each in at],
    }
    return {name: np.array(values, np.float64) for name, values in found.items()}


def fitted(traces: Sequence[Known], step: int) -> dict[str, Scores]:
    """Compute the scores that are fitted on one half of the questions to predict the other half."""
    halves = np.array([_first_half(trace.question) for trace in traces])
    found = {name: np.zeros(len(traces)) for name in FITTED}
    for half in (False, True):
        seen = [trace for trace, side in zip(traces, halves, strict=True) if side != half]
        new = [
            t.steps[step].reading for t, side in zip(traces, halves, strict=True) if side == half
        ]
        right = [trace.right for trace in seen]
        for name, (composition, at) in FITTED.items():
            read = [trace.steps[step if at is None else at].reading for trace in seen]
            known, rest = ([one.seen_as(composition) for one in side] for side in (read, new))
            model = fit(known, right, composition, reader().ontology_hash)
            scores = model.composer.predict(model.evidence(rest)[0])
            found[name][halves == half] = scores
    return found


def _first_half(question: str) -> bool:
    return hashlib.sha256(f"reliability\n{question}".encode()).digest()[0] < 128


class Area(NamedTuple):
    """An AUROC with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.2f}, {self.high:.2f}]"


def area(scores: Scores, traces: Sequence[Known]) -> Area | None:
    """Compute the AUROC on the given traces, with an interval from resampled questions. Return None
    if there is only one class.
    """
    labels = np.array([trace.right for trace in traces], np.float64)
    value = auroc(scores, labels)
    if value is None:
        return None
    areas = auroc.weighted(scores, labels, cluster_weights([t.question for t in traces]))
    return Area(value, *np.nanpercentile(areas, [2.5, 97.5]))


Line = tuple[list[str], dict[str, Area | None]]
"""The first cells of a row, and its AUROCs by score."""


def lines(name: str, traces: Sequence[Known], fits: bool) -> Iterator[Line]:
    """Yield the rows for a set of traces: for each step, one row for all traces, and one for the
    traces that do not use hidden sentences.
    """
    for step in range(LAST + 1):
        at = [trace for trace in traces if len(trace.steps) > step]
        scores = unfitted(at, step) | (fitted(at, step) if fits else {})
        unused = np.array([not trace.steps[step].used for trace in at])
        for what, chosen in (("", np.ones(len(at), bool)), (", not used", unused)):
            if what and (step < 2 or not fits):
                continue
            some = [trace for trace, taken in zip(at, chosen, strict=True) if taken]
            decided = np.mean([trace.steps[step].decided for trace in some])
            counts = [f"{len(some)} / {len({trace.question for trace in some})}"]
            right = f"{np.mean([trace.right for trace in some]):.0%}"
            cells = [name, f"{step}{what}", *counts, f"{decided:.0%}", right]
            yield cells, {m: area(values[chosen], some) for m, values in scores.items()}


def drawing(found: Iterable[Line], path: Path) -> None:
    """Plot the AUROC of the scores at each step. Rows for only a part of the traces are omitted."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    steps = [areas for cells, areas in found if cells[1].isdigit()]
    figure = Figure(figsize=(5.6, 3.6), layout="constrained")
    axes = figure.subplots()
    for number, name in enumerate(SHOWN):
        shown = [areas[name] for areas in steps]
        assert all(shown)
        values, low, high = np.array(shown).T
        places = np.arange(len(values)) + 0.06 * (number - len(SHOWN) / 2)
        spread = [values - low, high - values]
        axes.errorbar(places, values, yerr=spread, marker="o", capsize=2, label=name)
    axes.axhline(0.5, color="gray", linewidth=0.8)
    axes.set(xlabel="sentences hidden (decided up to 1, open from 2 on)", ylabel="AUROC")
    axes.set_xticks(range(len(steps)))
    figure.legend(loc="outside right upper", fontsize="small")
    with rc_context({"svg.hashsalt": "symbouq"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


@click.command()
@data_option
@click.option("--figure", type=click.Path(path_type=Path), help="Where to draw StepGame's rows.")
@click.option("--questions", default=300, help="How many questions of StepGame to take.")
@click.option("--jobs", default=1, help="Processes that read.")
def main(data: Path, figure: Path | None, questions: int, jobs: int) -> None:
    """Print the table as Markdown."""

    def read(given: list[Row], wanted: Callable[[Known], bool]) -> list[Known]:
        with ProcessPoolExecutor(jobs) as pool:
            return [t for t in pool.map(known, given, chunksize=8) if t is not None and wanted(t)]

    graded_traces = read(stepgame_rows(data, questions), graded)
    spartun = read([*rows(data / "spartun" / "llm_traces_spartun.jsonl.gz")], lambda _: True)
    found = [*lines("StepGame", graded_traces, True)]
    if figure:
        drawing(found, figure)
    methods = (*UNFITTED, *FITTED)
    table(
        f"set | hidden | traces / questions | decided | right | {' | '.join(methods)}",
        (
            [*cells, *(areas.get(name) or "-" for name in methods)]
            for cells, areas in (*found, *lines("SpaRTUN", spartun, False))
        ),
    )


if __name__ == "__main__":
    main()
