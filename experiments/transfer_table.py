"""Reliability of real traces from large models, judged from text alone.

    python experiments/transfer_table.py --data FOLDER [--cache FILE] [--size N]

Every trace is audited once. Its reliability is predicted by a model fitted on other questions *and*
other answering models (only on other questions if a set has only one answering model). Questions
are divided into FOLDS folds, keeping scenes together. An answering model with fewer than LEAST
traces is used only for fitting. Labels are determined with `second_extractor.py`, not with the
matcher that several scores use.

The scores, with their inputs in parentheses:

- `length` (trace): fewer words are better;
- `consistency` (other answers): how many of the same model's other answers to the question agree
  with this answer; only for traces with other answers;
- `solve` (scene, answer): 1 if this answer follows from the scene, 0 if another answer follows,
  otherwise 0.5;
- `verdict` (scene, answer): the same values, according to the grounded verdict on the conclusion;
- `rule` (scene, trace): Constraint-Rule by the strict auditor;
- `paper` (scene, trace, labels of other traces): the paper's composition of the scores available
  from text, by the strict auditor (`--answers relation`);
- `dual`, `worlds` (scene, trace, answer, labels of other traces): the compositions of `symbouq
  fit`.

The first table covers the questions that the scene does not settle according to the auditor's own
solver. For these questions, `solve` is uninformative. Intervals and p-values are computed by
resampling scenes, with all their traces. For fitted scores, the data used for fitting are also
resampled, REFITS times. p-values are adjusted by Holm's method over the rows of a table.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from common import cluster_weights, data_option, gold, rows, table
from numpy.typing import NDArray
from second_extractor import GRID, extracted

from symbouq.auditing.answers import answer, delivered, space_of
from symbouq.auditing.answers.delivery import asks_what_is_possible
from symbouq.errors import RecordError
from symbouq.metrics import auroc, two_sided
from symbouq.records import Instance, Trace
from symbouq.reliability.model import fit
from symbouq.reliability.reading import COMPOSITIONS, RULE, Reader, Reading

Row = dict[str, Any]
FOLDS = 3
LEAST = 30
REFITS = 3
UNFITTED = ("length", "consistency", "solve", "verdict", "rule")
METHODS = (*UNFITTED, *COMPOSITIONS)
_BY_HAND = Path(__file__).with_name("answers_by_hand.jsonl")
"""The labels delivered in 200 responses, as read one by one by a language model that did not see
the right answers."""
_VERDICTS = {"entailed": 1.0, "contradicted": 0.0}


class Known(NamedTuple):
    """A trace that has been audited and labelled.

    Attributes:
        id: File and id of the trace.
        dataset: Name of the set.
        model: The answering model.
        scene: Key of the scene.
        question: Key of the scene and the question.
        readings: The reading of the trace for each composition.
        right: Whether the answer is right according to the second extractor.
        matched: Whether the answer is right according to the package's matcher.
        said: The delivered labels according to the second extractor.
        settled: Whether the scene settles the question.
        unfitted: The scores that need no fitting; None for a missing score.
    """

    id: str
    dataset: str
    model: str
    scene: str
    question: str
    readings: Mapping[str, Reading]
    right: int
    matched: int
    said: frozenset[str]
    settled: bool
    unfitted: Mapping[str, float | None]


def _of(*names: str) -> Callable[[Path], Iterator[Row]]:
    def source(data: Path) -> Iterator[Row]:
        for name in names:
            yield from rows(data / f"{name}.jsonl.gz")

    return source


def stepgame(data: Path) -> Iterator[Row]:
    """Yield the StepGame traces with reasoning. They have no answer space."""
    for path in sorted((data / "stepgame").glob("llm_traces_*cot*.jsonl.gz")):
        style = path.name.removeprefix("llm_traces_").removesuffix(".jsonl.gz")
        for row in rows(path):
            yield row | {"id": f"{row['id']}/{style}", "answer_space": GRID}


SETS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "StepGame": stepgame,
    "SpartQA-human": _of("spartqa/llm_traces_spartqa_human"),
    "RCC-8": _of("qsr_composition/llm_traces_rcc8", "qsr_composition/llm_traces_rcc8_thinking"),
    "directions": _of("qsr_composition/llm_traces_cdc", "qsr_composition/llm_traces_cdc_thinking"),
    "2D consistency": _of("consistency2d/llm_traces_consistency2d"),
}
"""The sources of traces, by name of the set."""


@cache
def readers() -> tuple[Reader, Reader]:
    """Return the readers used in this process: one for the paper's composition, one for the
    others.
    """
    return Reader("paper"), Reader("worlds")


class Scored(NamedTuple):
    """A trace in the form used by the scores.

    Attributes:
        readings: The reading of the trace for each composition.
        unfitted: The scores that need no fitting, except `consistency`.
        settled: Whether the scene settles the question.
    """

    readings: Mapping[str, Reading]
    unfitted: Mapping[str, float | None]
    settled: bool


def scored(trace: Trace, said: frozenset[str], words: int) -> Scored | None:
    """Audit a trace for the scores; None if it cannot be audited.

    Args:
        trace: The trace, without labels.
        said: The labels that the trace delivers.
        words: Number of words in the response.
    """
    paper, worlds = readers()
    try:
        strict, usual = paper.read(trace), worlds.read(trace)
        audit = worlds.auditor.audited(trace)
        truth = answer(worlds.auditor, Instance.model_validate(trace.model_dump()))
    except RecordError:
        return None
    if asks_what_is_possible(trace):
        own, settled = truth.possible, truth.status in ("answered", "open")
    else:
        own, settled = truth.answer, truth.status == "answered" and not truth.default
    verdict = audit["claims"][-1]["grounded_verdict"] if audit["claims"] else ""
    return Scored(
        {"paper": strict, "dual": usual.seen_as("dual"), "worlds": usual},
        {
            "length": -float(words),
            "solve": float(said == frozenset(own)) if settled else 0.5,
            "verdict": _VERDICTS.get(verdict, 0.5),
            "rule": strict.scores[RULE],
        },
        settled,
    )


def unlabelled(row: Row) -> Trace:
    """Return a trace without the fields that show whether it is right, so that readers have no
    access to labels.
    """
    return Trace.model_validate(row).model_copy(update={"answer": None, "correct": None})


def by_matcher(row: Row) -> frozenset[str]:
    """Return the labels that a response delivers according to the package's matcher."""
    space = space_of(row["answer_space"], None, row["dataset"])
    return frozenset(delivered(row["response"], space, row["question"]) or ())


def known(row: Row, name: str) -> Known | None:
    """Audit and label a trace; None if it cannot be audited."""
    said = extracted(row["response"], row["answer_space"])
    matched = by_matcher(row)
    found = scored(unlabelled(row), matched, len(row["response"].split()))
    scene = " ".join(row["scene"])
    return found and Known(
        row["id"],
        name,
        row["model"].split("/")[-1],
        scene,
        f"{scene} {row['question']}",
        found.readings,
        int(said == gold(row)),
        int(matched == gold(row)),
        said,
        found.settled,
        found.unfitted,
    )


def read(name: str, data: Path, jobs: int, size: int) -> list[Known]:
    """Read at most `size` traces of a set, drawn at random, and compute how well each answer agrees
    with the same model's other answers.
    """
    given = [*SETS[name](data)]
    if len(given) > size:
        given = random.Random(2026).sample(given, size)
    with ProcessPoolExecutor(jobs) as pool:
        found = [k for k in pool.map(known, given, [name] * len(given), chunksize=8) if k]
    asked: defaultdict[tuple[str, str], list[frozenset[str]]] = defaultdict(list)
    for each in found:
        asked[each.model, each.question].append(each.said)
    agreed = []
    for each in found:
        said = asked[each.model, each.question]
        share = (said.count(each.said) - 1) / (len(said) - 1) if len(said) > 1 else None
        agreed.append(each._replace(unfitted={**each.unfitted, "consistency": share}))
    return agreed


def remembered(cache: Path | None) -> Callable[[tuple[str, ...], Callable[[], Any]], Any]:
    """Make a function that returns the value for a key. It is taken from a file of earlier values
    if possible, otherwise computed.
    """
    kept = pickle.loads(cache.read_bytes()) if cache and cache.exists() else {}

    def once(key: tuple[str, ...], make: Callable[[], Any]) -> Any:
        if key not in kept:
            kept[key] = make()
            if cache:
                cache.write_bytes(pickle.dumps(kept))
        return kept[key]

    return once


def sets_of(
    data: Path, cache: Path | None, jobs: int, size: int, only: Sequence[str]
) -> dict[str, list[Known]]:
    """Read the traces of the sets in `only` (empty: all). Sets in the cache are not read again."""
    once = remembered(cache)
    return {
        name: once((name, readers()[1].ontology_hash), partial(read, name, data, jobs, size))
        for name in only or SETS
    }


def against_hand(name: str, data: Path) -> tuple[int, int, int]:
    """Count the answers in a set that were read one by one. For each extractor, also count how
    often it disagrees with this reading on whether the answer is right.
    """
    lines = _BY_HAND.read_text(encoding="utf-8").splitlines()
    hand = {row["id"]: row["delivered"] for row in map(json.loads, lines) if row["set"] == name}
    given = [row for row in SETS[name](data) if row["id"] in hand]
    errs = [0, 0]
    for row in given:
        right = frozenset(hand[row["id"]] or ()) == gold(row)
        for n, said in enumerate(
            (extracted(row["response"], row["answer_space"]), by_matcher(row))
        ):
            errs[n] += (said == gold(row)) != right
    return len(given), errs[0], errs[1]


def fold_of(scene: str, folds: int = FOLDS) -> int:
    """Return the fold to which a scene belongs."""
    return hashlib.sha256(f"transfer\n{scene}".encode()).digest()[0] % folds


def held_out(traces: Sequence[Known]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """For each fold of scenes and each model, yield the positions of the traces for fitting and of
    the traces to be predicted.
    """
    models = np.array([trace.model for trace in traces])
    folds = np.array([fold_of(trace.scene) for trace in traces])
    several = [m for m in sorted({*models}) if LEAST <= (models == m).sum() < len(models)]
    for fold in range(FOLDS):
        for model in several or [None]:
            mine = np.full(len(models), True) if model is None else models == model
            others = np.full(len(models), True) if model is None else models != model
            yield (
                np.flatnonzero(others & (folds != fold)),
                np.flatnonzero(mine & (folds == fold)),
            )


def predicted(traces: Sequence[Known], seed: int | None) -> dict[str, NDArray[np.float64]]:
    """Return the held-out reliability of each trace, by composition; NaN if the trace's model has
    too few traces.

    Args:
        traces: Traces of one set.
        seed: Seed for resampling the scenes used for fitting; None uses them as they are.
    """
    found = {name: np.full(len(traces), np.nan) for name in COMPOSITIONS}
    chance = np.random.default_rng(seed)
    for fitted, rest in held_out(traces):
        if seed is not None:
            fitted = fitted[_resampled([traces[n].scene for n in fitted], chance)]
        labels = [traces[n].right for n in fitted]
        if not len(rest) or len({*labels}) < 2:
            continue
        for name in COMPOSITIONS:
            known, new = ([traces[n].readings[name] for n in side] for side in (fitted, rest))
            model = fit(known, labels, name, readers()[1].ontology_hash)
            found[name][rest] = model.composer.predict(model.evidence(new)[0])
    return found


def _resampled(keys: Sequence[str], chance: np.random.Generator) -> NDArray[np.intp]:
    members: defaultdict[str, list[int]] = defaultdict(list)
    for number, key in enumerate(keys):
        members[key].append(number)
    names = [*members]
    drawn = chance.integers(0, len(names), len(names))
    return np.array([n for k in drawn for n in members[names[k]]], np.intp)


Runs = Mapping[str, NDArray[np.float64]]
"""Scores by method, `[runs, traces]`. The first run uses the original data for fitting, the other
runs resampled data."""


def runs(traces: Sequence[Known]) -> Runs:
    """Compute all scores for the traces of a set."""
    seeds = [None, *range(REFITS)]
    fitted = [predicted(traces, seed) for seed in seeds]
    found = {name: np.stack([one[name] for one in fitted]) for name in COMPOSITIONS}
    for name in UNFITTED:
        values = [trace.unfitted[name] for trace in traces]
        row = np.array([np.nan if v is None else v for v in values], np.float64)
        found[name] = np.tile(row, (len(seeds), 1))
    return found


class Areas(NamedTuple):
    """AUROC of a score, and its values on resamples; a value is NaN if the resample has only one
    class.
    """

    area: float
    drawn: NDArray[np.float64]
    count: int

    def __str__(self) -> str:
        if np.isnan(self.area):
            return "-"
        low, high = np.nanpercentile(self.drawn, [2.5, 97.5])
        return f"{self.area:.3f} [{low:.2f}, {high:.2f}]"


def areas(scores: NDArray[np.float64], labels: NDArray[np.float64], scenes: Sequence[str]) -> Areas:
    """Compute the AUROC of a score, also with resampled scenes.

    Args:
        scores: One row per run; the first gives the AUROC, the others serve the resamples.
        labels: 1 right, 0 wrong.
        scenes: Scene of each trace.
    """
    there = ~np.isnan(scores[0])
    weights = cluster_weights(scenes) * there
    y, filled = labels, np.where(np.isnan(scores), 0.0, scores)
    shares = np.array_split(weights, max(1, len(scores) - 1))
    drawn = np.concatenate(
        [
            auroc.weighted(filled[min(n, len(scores) - 1)], y, part)
            for n, part in enumerate(shares, start=1)
        ]
    )
    area = auroc(scores[0][there], labels[there].astype(int)) if there.any() else None
    return Areas(np.nan if area is None else area, drawn, int(there.sum()))


def holm(values: Sequence[float]) -> list[float]:
    """Adjust p-values by Holm's step-down method. NaN stays NaN and does not count as a test."""
    order = [n for n in np.argsort(values) if not np.isnan(values[n])]
    adjusted, least = [float("nan")] * len(values), 0.0
    for rank, n in enumerate(order):
        least = max(least, min(1.0, values[n] * (len(order) - rank)))
        adjusted[n] = least
    return adjusted


def p_value(first: Areas, second: Areas) -> float:
    """Return the p-value for no difference between two scores; NaN if there is no resample on which
    both are defined.
    """
    differences = first.drawn - second.drawn
    differences = differences[~np.isnan(differences)]
    return two_sided(differences) if len(differences) else float("nan")


def lines(
    found: Mapping[str, tuple[Sequence[Known], Runs]], chosen: Callable[[Known], bool]
) -> Iterator[list[object]]:
    """Yield the rows of a table: for each set, the results for the chosen traces."""
    made: list[tuple[list[object], dict[str, Areas]]] = []
    for name, (traces, scores) in found.items():
        some = np.array([chosen(trace) for trace in traces])
        y = np.array([trace.right for trace in traces], np.float64)[some]
        scenes = [trace.scene for trace, there in zip(traces, some, strict=True) if there]
        if len({*y}) < 2:
            continue
        cells = {m: areas(scores[m][:, some], y, scenes) for m in METHODS}
        made.append(([name, f"{len(y)} / {len({*scenes})}", f"{y.mean():.0%}"], cells))
    contrasts = [("dual", "paper"), ("worlds", "dual")]
    adjusted = holm([p_value(c[a], c[b]) for _, c in made for a, b in contrasts])
    for n, (head, cells) in enumerate(made):
        told = []
        for k, (a, b) in enumerate(contrasts):
            gain = cells[a].area - cells[b].area
            told.append(f"{gain:+.3f}, p {adjusted[len(contrasts) * n + k]:.3f}")
        shown = [
            f"{cells[m]}, of {cells[m].count}" if m == "consistency" else str(cells[m])
            for m in METHODS
        ]
        yield [*head, *shown, *told]


MOST = 2500
"""Default maximum number of traces read from a set."""


def sets_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for the arguments of `sets_of` to a command."""
    for option in (
        click.option(
            "--only", type=click.Choice(list(SETS)), multiple=True, help="Sets of traces."
        ),
        click.option("--size", default=MOST, help="Most traces of a set."),
        click.option("--jobs", default=2, help="Processes that read."),
        click.option(
            "--cache", type=click.Path(path_type=Path), help="File that keeps what was read."
        ),
        data_option,
    ):
        command = option(command)
    return command


@click.command()
@sets_options
def main(data: Path, cache: Path | None, jobs: int, size: int, only: tuple[str, ...]) -> None:
    """Print the tables as Markdown."""
    sets = sets_of(data, cache, jobs, size, only)
    once = remembered(cache)
    found: dict[str, tuple[Sequence[Known], Runs]] = {}
    for name, traces in sets.items():
        found[name] = (
            traces,
            once((name, readers()[1].ontology_hash, "runs"), partial(runs, traces)),
        )
    table(
        "set | traces | right by the second extractor | by the matcher | labels that differ | "
        "read one by one | extractor errs | matcher errs",
        (
            [
                name,
                len(traces),
                sum(trace.right for trace in traces),
                sum(trace.matched for trace in traces),
                sum(trace.right != trace.matched for trace in traces),
                *against_hand(name, data),
            ]
            for name, (traces, _) in found.items()
        ),
    )
    header = f"set | traces / scenes | right | {' | '.join(METHODS)} | dual - paper | worlds - dual"
    for heading, settled in (("does not settle", False), ("settles", True)):
        print(f"\n### The scene {heading} the question\n")
        table(header, lines(found, lambda trace, settled=settled: trace.settled is settled))


if __name__ == "__main__":
    main()
