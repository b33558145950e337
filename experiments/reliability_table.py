"""Calibrated reliability of real text-only traces: the README's table.

    python experiments/reliability_table.py --data FOLDER [--profile NAME] [--all] [--only NAME]

Models are fitted on one part of the traces and predict the rest, as `symbouq fit` and
`symbouq predict` do; parts are by a hash of the id (StepGame: a quarter is fitted on) or of the
scene (SpartQA: a half), so that what several models answered about one scene is on one side. Rows
are per answering model; `all` pools them. Compared are

- `rule`: Constraint-Rule alone, calibrated by a positive-slope Platt map on the fitted part;
- `paper`: the paper's composition, restricted to the scores that text allows, which are
  Constraint-Rule and Constraint-Only under the assumed context;
- `dual`: the default, both contexts side by side;
- `worlds`: that and how the delivered answer stands in the scene's possible worlds.

The last column is the AUROC gain of `dual` over `paper` with its 95 % interval and two-sided p
(paired bootstrap, 2,000 resamples). SpartQA's models answered briefly first and then explained
themselves, in `response`: `spartqa` judges the answer of the explanation, `spartqa-first` the first
answer, which is then put after the explanation. `nan` is a metric that one class leaves undefined.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from common import data_option, gold, rows, table
from described_table import first_answer
from numpy.typing import NDArray

from symbouq.auditing.answers import agrees, delivered, space_of
from symbouq.metrics import auroc, brier, ece, paired_bootstrap
from symbouq.records import Trace
from symbouq.reliability.labels import answer_spaces, gold_of, label_of
from symbouq.reliability.model import Model, fit
from symbouq.reliability.reading import COMPOSITIONS, RULE, Reader, Reading

Row = dict[str, Any]
METHODS = ("rule", *COMPOSITIONS)


def stepgame(data: Path, every: bool) -> Iterator[Row]:
    """The StepGame traces with reasoning, or all."""
    pattern = "llm_traces_*.jsonl.gz" if every else "llm_traces_*cot*.jsonl.gz"
    for path in sorted((data / "stepgame").glob(pattern)):
        style = path.name.removeprefix("llm_traces_").removesuffix(".jsonl.gz")
        for row in rows(path):
            yield row | {"id": f"{row['id']}/{style}", "instance": row["id"]}


def spartqa(data: Path, _every: bool) -> Iterator[Row]:
    """The explanations of SpartQA-human."""
    yield from rows(data / "spartqa" / "llm_traces_spartqa_human.jsonl.gz")


def spartqa_first(data: Path, every: bool) -> Iterator[Row]:
    """The same with the first answer as the delivered one."""
    for row in spartqa(data, every):
        first = first_answer(row)
        space = space_of(row["answer_space"])
        right = agrees(delivered(first, space, row["question"]), sorted(gold(row)), space.kind)
        yield row | {"response": f"{row['response']}\n\nAnswer: {first}", "correct": right}


SETS: dict[str, tuple[Callable[[Path, bool], Iterator[Row]], Callable[[Row], str], float]] = {
    "stepgame": (stepgame, lambda row: row["instance"], 1 / 4),
    "spartqa": (spartqa, lambda row: " ".join(row["scene"]), 1 / 2),
    "spartqa-first": (spartqa_first, lambda row: " ".join(row["scene"]), 1 / 2),
}
"""Traces, what decides their part, and the share that is fitted on."""


def first_part(key: str, share: float) -> bool:
    """Whether a trace is in the part that is fitted on. The files hold the traces whose id has a
    certain hash, so the key is not hashed alone.
    """
    return hashlib.sha256(f"reliability\n{key}".encode()).digest()[0] < 256 * share


def predicted(
    known: Sequence[Reading],
    labels: Sequence[int],
    rest: Sequence[Reading],
    ontology: str,
    tell: Callable[[str], object] = print,
) -> dict[str, NDArray[np.float64]]:
    """The reliability of traces that were not fitted on, by method; how each model came out is
    told.
    """
    found: dict[str, NDArray[np.float64]] = {}
    for composition in COMPOSITIONS:
        seen, new = ([each.seen_as(composition) for each in side] for side in (known, rest))
        model = fit(seen, labels, composition, ontology)
        evidence, _ = model.evidence(new)
        if composition == "paper":
            found["rule"] = evidence.of([RULE])[:, 0]
        found[composition] = model.composer.predict(evidence)
        tell(f"<!-- {composition}: {told(model)} -->")
    return found


def told(model: Model) -> str:
    """How a model came out."""
    composer = model.composer
    areas = ", ".join(f"{name} {area:.3f}" for name, area in composer.aurocs.items())
    held = "" if composer.held_out is None else f", held-out AUROC {composer.held_out:.3f}"
    return (
        f"{composer.kind} of {len(composer.names)}, design {composer.design}, l2 {composer.l2:g}"
        f"{held}, {composer.calibrator.family}; validation AUROCs: {areas}"
    )


def cell(scores: np.ndarray, y: np.ndarray) -> str:
    """AUROC, Brier and ECE."""
    found = (metric(scores, y) for metric in (auroc, brier, ece))
    return " / ".join("nan" if value is None else f"{value:.3f}" for value in found)


def table_of(name: str, data: Path, profile: str | None, every: bool) -> Iterator[list[str]]:
    """The rows of one set of traces."""
    source, key, share = SETS[name]
    given = list(source(data, every))
    reader = Reader("worlds", profile)
    traces = [Trace.model_validate(row) for row in given]
    golds = [gold_of(trace) for trace in traces]
    spaces = answer_spaces(golds)
    y = np.array([label_of(gold, spaces) for gold in golds])
    # Reading never looks at labels; they are taken out all the same.
    read = [
        reader.read(trace.model_copy(update={"answer": None, "correct": None})) for trace in traces
    ]
    fitted = np.array([first_part(key(row), share) for row in given])
    known, new = ([r for r, f in zip(read, fitted, strict=True) if f == side] for side in (1, 0))
    found = predicted(known, y[fitted].tolist(), new, reader.ontology_hash)
    rest = y[~fitted]
    models = np.array([row["model"].split("/")[-1] for row in given])[~fitted]
    for model in [*dict.fromkeys(sorted(models)), "all"]:
        chosen = models == model if model != "all" else np.ones(len(models), bool)
        cells = [cell(found[method][chosen], rest[chosen]) for method in METHODS]
        gain = paired_bootstrap(found["dual"][chosen], found["paper"][chosen], rest[chosen])
        said = "nan"
        if gain is not None:
            said = f"{gain.difference:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}], p {gain.p:.3f}"
        counts = [f"{int(fitted.sum())} / {chosen.sum()}", f"{rest[chosen].mean():.1%}"]
        yield [name, model, *counts, *cells, said]


@click.command()
@data_option
@click.option("--profile", help="For every trace, in place of its dataset's.")
@click.option("--all", "every", is_flag=True, help="Also the files without reasoning.")
@click.option("--only", type=click.Choice(list(SETS)), help="One set of traces.")
def main(data: Path, profile: str | None, every: bool, only: str | None) -> None:
    """Prints the table as Markdown."""
    print("AUROC / Brier / ECE\n")
    methods = " | ".join(METHODS)
    table(
        f"traces | model | fitted / predicted | right | {methods} | dual - paper, AUROC",
        (
            row
            for name in SETS
            if only in (None, name)
            for row in table_of(name, data, profile, every)
        ),
    )


if __name__ == "__main__":
    main()
