"""What text alone tells of the traces of large models, on traces, models and datasets held back.

    python experiments/transfer_table.py --data FOLDER [--cache FILE] [--jobs N] [--only NAME]

Every trace is read once, as `symbouq fit` reads it. Then models are fitted and predict

- `traces`: the rest of a dataset, of which 400 traces are fitted on, whole scenes by their hash;
- `model`: each answering model of a dataset with 30 traces at least, fitted on the other models';
- `dataset`: each dataset, fitted on all others.

Compared are, in AUROC with its 95 % interval (2,000 resamples of the predicted traces),

- `length`: the number of words of the response, the fewer the better, fitted on nothing;
- `consistency`: the share of the same model's other traces of the same question that deliver the
  same answer, where there are any, fitted on nothing; over the traces that have it;
- `rule`, `paper`, `dual`, `worlds`: as in `reliability_table.py`.

A last column has the AUROC gain of `worlds` over `dual` (paired bootstrap). `-` is what one class
leaves undefined, or what cannot be had.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from common import data_option, rows, table
from numpy.typing import NDArray
from reliability_table import predicted, spartqa, stepgame

from symbouq.auditing.answers import delivered, space_of
from symbouq.errors import RecordError
from symbouq.metrics import auroc, paired_bootstrap
from symbouq.records import Trace
from symbouq.reliability.labels import answer_spaces, gold_of, label_of
from symbouq.reliability.reading import COMPOSITIONS, Reader, Reading

Row = dict[str, Any]
FITTED = 400
LEAST = 30
RESAMPLES = 2000
METHODS = ("length", "consistency", "rule", *COMPOSITIONS)


class Known(NamedTuple):
    """A trace that is read and labelled.

    Attributes:
        dataset: Its set.
        model: The answering model.
        scene: A key of its scene.
        reading: As the composer sees it, with possible worlds.
        right: Whether its answer is right.
        length: Words of the response.
        consistency: Agreement of the model's other answers to the question; None without any.
    """

    dataset: str
    model: str
    scene: str
    reading: Reading
    right: int
    length: int
    consistency: float | None


def _of(*names: str) -> Callable[[Path], Iterator[Row]]:
    def source(data: Path) -> Iterator[Row]:
        for name in names:
            yield from rows(data / f"{name}.jsonl.gz")

    return source


SETS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "StepGame": lambda data: stepgame(data, False),
    "SpartQA-human": lambda data: spartqa(data, False),
    "RCC-8": _of("qsr_composition/llm_traces_rcc8", "qsr_composition/llm_traces_rcc8_thinking"),
    "directions": _of("qsr_composition/llm_traces_cdc", "qsr_composition/llm_traces_cdc_thinking"),
    "2D consistency": _of("consistency2d/llm_traces_consistency2d"),
}
"""Traces by the name of their set."""


@cache
def reader() -> Reader:
    """The reader of this process."""
    return Reader("worlds")


def reading(row: Row) -> Reading | None:
    """A trace without its labels as the composer sees it; None where it cannot be audited."""
    trace = Trace.model_validate(row).model_copy(update={"answer": None, "correct": None})
    try:
        return reader().read(trace)
    except RecordError:
        return None


def known(name: str, data: Path, jobs: int) -> list[Known]:
    """The traces of a set."""
    given = [*SETS[name](data)]
    golds = [gold_of(Trace.model_validate(row)) for row in given]
    spaces = answer_spaces(golds)
    agreements = consistencies(given)
    with ProcessPoolExecutor(jobs) as pool:
        read = [*pool.map(reading, given, chunksize=8)]
    return [
        Known(
            name,
            row["model"].split("/")[-1],
            " ".join(row["scene"]),
            each,
            int(label_of(gold, spaces) or 0),
            len(row["response"].split()),
            agreement,
        )
        for row, gold, each, agreement in zip(given, golds, read, agreements, strict=True)
        if each is not None
    ]


def consistencies(given: Sequence[Row]) -> list[float | None]:
    """Of each trace the share of the others, of one model about one question, that answer alike."""
    answers = []
    for row in given:
        space = space_of(map(str, row.get("answer_space") or ()), None, row["dataset"])
        said = delivered(row["response"], space, row["question"])
        answers.append((row["model"], " ".join(row["scene"]) + row["question"], str(said)))
    asked: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for model, question, said in answers:
        asked[model, question].append(said)
    shares: list[float | None] = []
    for model, question, said in answers:
        others = len(asked[model, question]) - 1
        alike = asked[model, question].count(said) - 1
        shares.append(alike / others if others else None)
    return shares


def interval(scores: NDArray[np.float64], labels: NDArray[np.int_]) -> str:
    """The AUROC with its 95 % interval."""
    area = auroc(scores, labels)
    if area is None:
        return "-"
    generator = np.random.default_rng(2026)
    counts = generator.multinomial(
        len(labels), np.full(len(labels), 1 / len(labels)), RESAMPLES
    ).astype(np.float64)
    areas = auroc.weighted(scores, labels.astype(np.float64), counts)
    low, high = np.nanpercentile(areas, [2.5, 97.5])
    return f"{area:.3f} [{low:.2f}, {high:.2f}]"


def line(held: str, fitted: Sequence[Known], rest: Sequence[Known]) -> list[str]:
    """A row of a table."""
    y = np.array([trace.right for trace in rest])
    known, new = ([trace.reading for trace in side] for side in (fitted, rest))
    right = [trace.right for trace in fitted]
    found = predicted(known, right, new, reader().ontology_hash, tell=lambda _: None)
    found["length"] = -np.array([trace.length for trace in rest], np.float64)
    agreed = [n for n, trace in enumerate(rest) if trace.consistency is not None]
    shares = np.array([rest[n].consistency for n in agreed], np.float64)
    cells = {name: interval(scores, y) for name, scores in found.items()}
    cells["consistency"] = f"{interval(shares, y[agreed])}, of {len(agreed)}" if agreed else "-"
    gain = paired_bootstrap(found["worlds"], found["dual"], y)
    told = f"{gain.difference:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]" if gain else "-"
    counts = [f"{len(fitted)} / {len(rest)}", f"{y.mean():.0%}"]
    return [held, *counts, *(cells[name] for name in METHODS), told]


def part(trace: Known) -> str:
    """What orders the scenes of a set."""
    return hashlib.sha256(f"transfer\n{trace.scene}".encode()).hexdigest()


Sides = tuple[str, Sequence[Known], Sequence[Known]]
"""What is held back, the traces that are fitted on, and those that are predicted."""


def held_traces(sets: dict[str, list[Known]]) -> Iterator[Sides]:
    for name, traces in sets.items():
        ordered = sorted(traces, key=part)
        border = part(ordered[min(FITTED, len(ordered) * 3 // 5)])
        yield (
            name,
            [t for t in ordered if part(t) < border],
            [t for t in ordered if part(t) >= border],
        )


def held_models(sets: dict[str, list[Known]]) -> Iterator[Sides]:
    for name, traces in sets.items():
        for model in sorted({trace.model for trace in traces}):
            rest = [trace for trace in traces if trace.model == model]
            if LEAST <= len(rest) < len(traces):
                yield f"{name}, {model}", [t for t in traces if t.model != model], rest


def held_datasets(sets: dict[str, list[Known]]) -> Iterator[Sides]:
    for name, traces in sets.items() if len(sets) > 1 else ():
        yield name, [t for other, each in sets.items() if other != name for t in each], traces


def sets_of(
    data: Path, cache: Path | None, jobs: int, only: Sequence[str] = ()
) -> dict[str, list[Known]]:
    """The sets of traces, from the cache where it has them."""
    kept: dict[tuple[str, str], list[Known]] = {}
    if cache and cache.exists():
        kept = pickle.loads(cache.read_bytes())
    for name in only or SETS:
        key = name, reader().ontology_hash
        if key not in kept:
            kept[key] = known(name, data, jobs)
            if cache:
                cache.write_bytes(pickle.dumps(kept))
    return {name: kept[name, reader().ontology_hash] for name in only or SETS}


@click.command()
@data_option
@click.option("--cache", type=click.Path(path_type=Path), help="File that keeps what was read.")
@click.option("--jobs", default=2, help="Processes that read.")
@click.option("--only", type=click.Choice(list(SETS)), multiple=True, help="Sets of traces.")
def main(data: Path, cache: Path | None, jobs: int, only: tuple[str, ...]) -> None:
    """Prints the tables as Markdown."""
    sets = sets_of(data, cache, jobs, only)
    for held, sides in (
        ("traces", held_traces),
        ("model", held_models),
        ("dataset", held_datasets),
    ):
        print(f"\n### {held}\n")
        table(
            f"held back | fitted / predicted | right | {' | '.join(METHODS)} | worlds - dual",
            (line(*each) for each in sides(sets)),
        )


if __name__ == "__main__":
    main()
