"""Measures how much one bad record slows down the other records.

    python experiments/benchmarks/bad_record.py [--records N] [--timeout SECONDS]

N records (default: 500) with generated scenes and reasoning are audited first on their own and then
together with one bad record. The bad record is a chain of regions with forty claims about pairs of
regions, many nested regions, 600 regions with relations between many of them, a sentence of 32,000
words, or a response of 20,000 sentences. The script prints a Markdown table of CPU seconds: for the
bad record, for all other records together, and for the slowest of the other records.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from symbouq.auditing.jobs import auditing
from symbouq.experiments.scenes.families import problems
from symbouq.io.stream import Job, Worker, read_lines
from symbouq.records import Trace

RCC8 = ("dc", "ec", "po", "eq", "tpp", "ntpp", "tppi", "ntppi")


def regions(things: int, scene: tuple[str, ...], claims: int, links: int = 1) -> dict[str, Any]:
    """Make a chain of regions, each linked to the next few, and claims about any two of them."""
    chance = random.Random(7)
    return {
        "profile": "rcc8",
        "scene_relations": [
            [f"x{n}", chance.choice(scene), f"x{n + k}"]
            for n in range(things - 1)
            for k in range(1, min(links, things - 1 - n) + 1)
        ],
        "claims": [
            {"relations": [[f"x{u}", chance.choice(RCC8), f"x{v}"]]}
            for u, v in (chance.sample(range(things), 2) for _ in range(claims))
        ],
    }


def bad_records() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the bad records with descriptions."""
    yield "chain of 41 regions, 40 claims", regions(41, RCC8, 40)
    yield "31 regions within one another, 40 claims", regions(31, ("ntpp", "tpp"), 40)
    yield "600 regions, 40 claims", regions(600, ("po", "tpp"), 40, 3)
    sentence = "The box is left of the jar " + "and the jar is near the lamp " * 4_500 + "."
    yield "a sentence of 32,000 words", {"scene": [sentence], "response": sentence}
    response = "The box is left of the jar. So the jar is right of the box. " * 10_000
    yield "20,000 sentences", {"scene": ["The box is left of the jar."], "response": response}


def timed(records: list[dict[str, Any]], timeout: float) -> list[float]:
    """Measure the seconds for each record, in sequence and in one process."""
    job = Job(auditing, (None, None, "assumed"), Trace)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
        worker = Worker(replace(job, timeout=timeout))
        seconds = []
        for line in read_lines(str(path)):
            start = time.process_time()
            list(worker([line]))
            seconds.append(time.process_time() - start)
    return seconds


@click.command()
@click.option("--records", default=500)
@click.option("--timeout", default=10.0, metavar="SECONDS")
def main(records: int, timeout: float) -> None:
    """Measure how much one bad record slows down the others."""
    good = [
        {
            "id": f"good-{n}",
            "scene": list(problem.scene),
            "question": problem.question,
            "response": " ".join([*problem.scene, f"Answer: {problem.answer}"]),
        }
        for n, problem in enumerate(problems("chains", records, seed=7))
    ]
    timed(good[:5], timeout)  # load everything before measuring
    alone = timed(good, timeout)
    print("| the bad record | it takes, s | the others, s | slowest of them, s |")
    print("|---|---|---|---|")
    print(f"| none | | {sum(alone):.2f} | {max(alone):.2f} |")
    middle = len(good) // 2
    for name, bad in bad_records():
        seconds = timed([*good[:middle], {"id": "bad", **bad}, *good[middle:]], timeout)
        its = seconds.pop(middle)
        print(f"| {name} | {its:.2f} | {sum(seconds):.2f} | {max(seconds):.2f} |")


if __name__ == "__main__":
    main()
