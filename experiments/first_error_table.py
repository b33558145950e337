"""Measures how well the first wrong step of a trace is found: F1 as in ProcessBench.

    python experiments/first_error_table.py --data FOLDER [--traces N] [--samples N]

- `StepGame`: real traces from large models that place one thing after another on a grid
  ("Therefore, B is at (-1,0)"). The steps are the lines with coordinates, and the answer. A step is
  right if its coordinates agree with the scene, according to the published meaning of the sentence
  templates, without the auditor. Scenes with a faulty template are omitted.
- `chains`: sound reasoning about generated scenes. In half of the traces, one step is changed to
  another direction. The labels are determined from the generator's layout (`symbouq labels truth`)
  and the right answer.

The auditor is compared with the most frequent first error and, for chains, with the perplexity of
each step and the share of samples that do not support it. Perplexity and samples are computed with
`experiments/backbones/small`, which can answer such questions. Thresholds are fitted on one half of
the traces, and all results are measured on the other half.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import click
import torch
from common import data_option, rows, table

from symbouq.auditing.answers import labels_named
from symbouq.auditing.auditor import TraceAuditor
from symbouq.evidence.contract import Structured
from symbouq.evidence.generation.engine import Options
from symbouq.evidence.generation.prompts import user_message
from symbouq.evidence.generation.run import Generator, Settings
from symbouq.evidence.generation.transformers_engine import TransformersEngine
from symbouq.evidence.scorers.bank import Score
from symbouq.evidence.scorers.equivalence import AuditorEquivalence
from symbouq.evidence.signals.alignment import claim_extents, token_spans
from symbouq.evidence.signals.traces import samples_of
from symbouq.experiments.scenes.families import problems
from symbouq.experiments.scenes.geometry import STEPS
from symbouq.experiments.scenes.truth import labels as truth
from symbouq.experiments.scenes.wording import atom, facts_of
from symbouq.records import Instance, Trace, make_record
from symbouq.reliability.first_errors import Row, compared, halves, known_errors

Labelled = tuple[dict[str, Any], list[int | None]]
"""A trace with labels for its steps and its answer."""

SEED = 2026
BACKBONE = Path(__file__).parent / "backbones" / "small"
STYLES = ("our_cot_5shot", "tot_cot_4shot")
"""The prompts in StepGame's traces that ask for coordinates."""
_PLACED = re.compile(r"\b([A-Z]) is at \((-?\d+), ?(-?\d+)\)")
_START = re.compile(r"suppose ([A-Z]) is at \(0, ?0\)")

Place = tuple[int, int]


# StepGame ----------------------------------------------------------------------------------


def sentence_patterns(phrasings: Sequence[Mapping[str, Any]]) -> list[tuple[re.Pattern[str], str]]:
    """Return the templates of StepGame's sentences about two things, each with the relation of the
    first thing to the second.
    """
    found = []
    for phrasing in phrasings:
        relation = phrasing["A_is_REL_of_B"]
        if relation is not None:
            text = re.escape(phrasing["phrasing"].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
            pattern = text.replace("<A>", "(?P<a>[A-Z])", 1).replace("<B>", "(?P<b>[A-Z])", 1)
            pattern = pattern.replace("<A>", "(?P=a)").replace("<B>", "(?P=b)")
            found.append((re.compile(pattern), relation))
    return found


def places_in(
    scene: Sequence[str], start: str, patterns: Sequence[tuple[re.Pattern[str], str]]
) -> dict[str, Place]:
    """Return the coordinates of the things in a StepGame scene, relative to one of these things."""
    links: list[tuple[str, Place, str]] = []
    for sentence in scene:
        plain = sentence.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
        for pattern, relation in patterns:
            if named := pattern.fullmatch(plain):
                dx, dy = STEPS[relation]
                links.append((named["a"], (dx, dy), named["b"]))
                break
    places: dict[str, Place] = {start: (0, 0)}
    for _ in links:
        for u, (dx, dy), v in links:
            if v in places and u not in places:
                places[u] = places[v][0] + dx, places[v][1] + dy
            elif u in places and v not in places:
                places[v] = places[u][0] - dx, places[u][1] - dy
    return places


def grid_trace(
    row: Mapping[str, Any], patterns: Sequence[tuple[re.Pattern[str], str]]
) -> Labelled | None:
    """Turn a response that places things on a grid into a trace with labelled steps. Return None if
    the response places nothing, or if it places a thing that the scene does not locate.
    """
    lines = [line.strip() for line in row["response"].splitlines() if line.strip()]
    starts = _START.search(row["response"])
    if starts is None or not lines[-1].startswith("Answer:"):
        return None
    places = places_in(row["scene"], starts[1], patterns)
    steps: list[str] = []
    labels: list[int | None] = []
    for line in lines[:-1]:
        told = _PLACED.findall(line)
        if told and not _START.search(line):
            name, x, y = told[-1]
            if name not in places:
                return None
            steps.append(line)
            labels.append(int(places[name] == (int(x), int(y))))
    given = labels_named(lines[-1].removeprefix("Answer:"), [*STEPS])
    labels.append(int(given == (row["answer"],)))
    fields = ("id", "dataset", "scene", "question")
    trace = {name: row[name] for name in fields} | {"reasoning": steps, "conclusion": lines[-1]}
    trace["id"] = f"{row['model']}/{row['prompt_style']}/{row['id']}"
    return (trace, labels) if steps else None


def stepgame(data: Path) -> Iterator[Labelled]:
    """Yield labelled traces of StepGame."""
    folder = data / "stepgame"
    faulty = {row["id"] for row in rows(folder / "label_audit.jsonl.gz")}
    phrasings = json.loads((folder / "relation_phrasings.json").read_text(encoding="utf-8"))
    patterns = sentence_patterns(phrasings)
    for file in sorted(folder.glob("llm_traces_*.jsonl.gz")):
        if file.name.removesuffix(".jsonl.gz").endswith(STYLES):
            for row in rows(file):
                trace = grid_trace(row, patterns) if row["id"] not in faulty else None
                if trace is not None:
                    yield trace


# Chains ------------------------------------------------------------------------------------


def chains(count: int) -> Iterator[Labelled]:
    """Yield labelled traces about chains. In every second trace, one step is changed."""
    draw = random.Random(SEED)
    for number, problem in enumerate(problems("chains", count, SEED, (2, 3))):
        record = problem.record(f"chains-{SEED}-{number:05d}")
        steps = list(problem.reasoning)
        if number % 2:
            place = draw.randrange(len(steps))
            facts = facts_of(steps[place])
            assert facts is not None  # sound steps can be read
            u, relation, v = facts[-1]
            other = draw.choice([each for each in STEPS if each != relation])
            steps[place] = steps[place].replace(atom(facts[-1]), atom((u, other, v)))
        record |= {"reasoning": steps, "conclusion": problem.conclusion}
        yield record, [*truth(record)[:-1], 1]


def scored(traces: Sequence[dict[str, Any]], samples: int) -> list[Score]:
    """Score each claim by its perplexity under the backbone, and by the share of the backbone's
    samples that do not support it.
    """
    engine = TransformersEngine(str(BACKBONE), Options(device="cpu"))
    instances = [make_record(Instance, trace) for trace in traces]
    generator = Generator(engine, Settings(samples=samples, seed=SEED))
    size = generator.plan.size
    drawn = [
        record
        for n in range(0, len(instances), size)
        for record in generator(instances[n : n + size]).records
    ]
    equivalence = AuditorEquivalence()
    scores = []
    for trace, instance, record in zip(traces, instances, drawn, strict=True):
        claims = [*trace["reasoning"], trace["conclusion"]]
        scores.append(Score(trace["id"], "Perplexity", 0, perplexities(engine, instance, claims)))
        others = samples_of(record)
        unsupported = [
            fmean(not equivalence.supports(other, trace, n) for other in others)
            for n in range(len(claims))
        ]
        scores.append(Score(trace["id"], "SelfCheckGPT", 0, unsupported))
    return scores


def perplexities(
    engine: TransformersEngine, instance: Instance, claims: Sequence[str]
) -> list[float]:
    """Return the perplexity of each claim under the model: exp of the mean negative log-probability
    of the claim's tokens.
    """
    text = Structured(tuple(claims[:-1]), claims[-1]).encoded()
    prompt = engine.chat.ids(user_message(instance))
    read = engine.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    with torch.inference_mode():
        logits = engine.network(torch.tensor([prompt + read["input_ids"]])).logits[0]
    logprobs = logits[len(prompt) - 1 : -1].float().log_softmax(-1)
    own = logprobs[torch.arange(len(read["input_ids"])), torch.tensor(read["input_ids"])]
    spans = token_spans(read["offset_mapping"], claim_extents(text, claims, structured=True))
    return [float((-own[start:stop].mean()).exp()) for start, stop in spans]


# The table ---------------------------------------------------------------------------------


def show(name: str, labelled: Sequence[Labelled], samples: int = 0) -> None:
    """Print a table."""
    auditor = TraceAuditor(partial=True)
    traces = [trace for trace, _ in labelled]
    audits = [auditor.audited(make_record(Trace, trace)) for trace in traces]
    known = known_errors(audits, {trace["id"]: labels for trace, labels in labelled})
    fitting, measuring = ({name: known[name] for name in half} for half in halves(known))
    scores = scored(traces, samples) if samples else []
    found = compared(fitting, measuring, scores, scores)
    first = found[0].result
    print(f"\n{name}: {first.wrong} traces with a wrong step, {first.right} without\n")
    table("method | found | cleared | F1", map(cells, found))


def cells(row: Row) -> list[str]:
    result = row.result
    found, cleared, f1 = (
        "-" if x is None else f"{x:.3f}" for x in (result.found, result.cleared, result.f1)
    )
    interval = "" if result.interval is None else " [{:.3f}, {:.3f}]".format(*result.interval)
    return [row.method, found, cleared, f1 + interval]


@click.command()
@data_option
@click.option("--traces", default=400)
@click.option("--samples", default=5)
def main(data: Path, traces: int, samples: int) -> None:
    """Print the tables."""
    show("StepGame", list(stepgame(data)))
    show("chains", list(chains(traces)), samples)


if __name__ == "__main__":
    main()
