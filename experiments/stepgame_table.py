"""Results of the audit on real StepGame traces: the table in the README.

    python experiments/stepgame_table.py --data FOLDER [--halves]

There is one row per trace file and profile. It shows the number of parsed claims, the verdicts on
these claims in both contexts, and how well right answers are ranked before wrong ones (AUROC) by
Constraint-Rule and by the verdict on the conclusion in each context. The label of an answer is
found only from its words, without the parser, and compared with the gold label.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from common import auroc, data_option, gold, rows, table
from second_extractor import GRID, extracted

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.summary import Summary
from symbouq.auditing.verdicts import Verdict
from symbouq.records import Trace

VERDICT_VALUES = {"entailed": 1.0, "contradicted": 0.0, "unknown": 0.5, "not-evaluable": 0.5}
"""The score for each verdict on a conclusion."""


def row(path: Path, profile: str) -> list[str]:
    """Make one row of the table."""
    auditor = TraceAuditor(profile)
    summary = Summary()
    labels: list[bool] = []
    scores: dict[str, list[float]] = {"rule": [], "verdict": [], "grounded_verdict": []}
    for record in rows(path):
        audit = auditor.audited(Trace.model_validate(record))
        summary.add(Summary.of(audit))
        labels.append(extracted(record["response"], GRID) == gold(record))
        scores["rule"].append(audit["constraint_rule"])
        for verdict in ("verdict", "grounded_verdict"):
            scores[verdict].append(VERDICT_VALUES[audit["claims"][-1][verdict]])
    name = path.name.removeprefix("llm_traces_").removesuffix(".jsonl.gz")
    return [
        name.replace("spatiallm_", "").replace("text-davinci-003", "davinci-003"),
        profile,
        str(summary.traces),
        f"{sum(labels) / len(labels):.1%}",
        f"{summary.feasible / summary.traces:.1%}",
        f"{summary.parsed / summary.claims:.1%}",
        *(
            " / ".join(f"{100 * share:.1f}" for share in summary.shares(counts).values())
            for counts in (summary.assumed, summary.grounded)
        ),
        *(f"{auroc(values, labels):.3f}" for values in scores.values()),
    ]


_RELATION_WORD = re.compile(
    r"left|right|above|below|upper|lower|overlap|north|south|east|west|top|bottom"
)


def states_relation(text: str, scene: Sequence[str]) -> bool:
    """Whether a sentence mentions two things of the scene and has a direction word."""
    names = set(re.findall(r"\b[A-Z]\b", " ".join(scene)))
    return len(names.intersection(re.findall(r"\b[A-Z]\b", text))) > 1 and bool(
        _RELATION_WORD.search(text)
    )


def first_half(identity: str) -> bool:
    """Whether a trace is in the half on which the wording rules were developed."""
    return hashlib.sha256(identity.encode()).digest()[0] % 2 == 0


def halves(path: Path) -> Iterator[list[object]]:
    """Yield results for each half of a file's traces: the number of feasible scenes, the AUROC of
    the grounded verdict on the conclusion, and the share of sentences stating a relation that are
    read.
    """
    auditor = TraceAuditor()
    for name, wanted in (("first", True), ("second", False)):
        scores: list[float] = []
        labels: list[bool] = []
        feasible = stating = read = 0
        for record in rows(path):
            if first_half(record["id"]) is not wanted:
                continue
            audit = auditor.audited(Trace.model_validate(record))
            *reasoning, conclusion = audit["claims"]
            feasible += audit["scene"]["feasible"]
            scores.append(VERDICT_VALUES[conclusion["grounded_verdict"]])
            labels.append(extracted(record["response"], GRID) == gold(record))
            for claim in reasoning:
                if states_relation(claim["text"], record["scene"]):
                    stating += 1
                    read += bool(claim["relations"])
        cells = [path.name, name, len(labels), f"{feasible / len(labels):.1%}"]
        cells += [f"{auroc(scores, labels):.3f}", f"{read} of {stating}", f"{read / stating:.1%}"]
        yield cells


@click.command()
@data_option
@click.option("--all", "every", is_flag=True, help="Also the files without reasoning.")
@click.option("--halves", "apart", is_flag=True, help="Both halves of the ids apart.")
def main(data: Path, every: bool, apart: bool) -> None:
    """Print the table as Markdown."""
    cot = sorted((data / "stepgame").glob("llm_traces_*cot*.jsonl.gz"))
    if apart:
        body = (cells for path in cot for cells in halves(path))
        table("file | half | n | feasible | AUROC | sentences read | share", body)
        return
    shares = " / ".join({"not-evaluable": "no"}.get(v.value, v.value[:2]) for v in Verdict)
    files = sorted((data / "stepgame").glob("llm_traces_*.jsonl.gz")) if every else cot
    table(
        f"traces of | profile | n | right | feasible | parsed | assumed: {shares} |"
        f" grounded: {shares} | Constraint-Rule | assumed conclusion | grounded conclusion",
        (row(path, profile) for path in files for profile in ("nine-way", "unit-grid")),
    )


if __name__ == "__main__":
    main()
