"""Claims of real traces against what readers who had not seen the audit say of them.

A row of `annotations.jsonl` is a sentence of a response, by file, id and character span: whether it
is a claim about the scene, a possibility, a supposition, a denial, a question, a definition or none
of these (`kind`), and what the scene makes of it (`verdict`). Of 50, a second reader says it again.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from helpers.audits import audits

from symbouq.api import TraceAuditor
from symbouq.reading.model.dialogue import sentences_of
from symbouq.records import Audit, Reply, StoredReading, Trace, parse_record

ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("annotations.jsonl").read_text("utf-8").splitlines()
]


def test_readers_agree() -> None:
    """45 of 50 kinds and 47 of 50 verdicts."""
    both = [row for row in ROWS if "second" in row]
    assert (len(ROWS), len(both)) == (150, 50)
    assert sum(row["kind"] == row["second"]["kind"] for row in both) == 45
    assert sum(row["verdict"] == row["second"]["verdict"] for row in both) == 47


def letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


@cache
def traces(file: Path) -> dict[str, dict[str, Any]]:
    """The annotated traces of a file by their ids."""
    ids = {row["id"] for row in ROWS if row["file"] == f"{file.parent.name}/{file.name}"}
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        found = {row["id"]: row for row in map(json.loads, lines) if row["id"] in ids}
    assert found.keys() == ids
    return found


def add(count: Counter[str], row: dict[str, Any], trace: dict[str, Any], audit: Audit) -> None:
    """Counts what an audit says of an annotated sentence."""
    sentence = letters(trace["response"][slice(*row["span"])])
    claims = [
        claim
        for claim in audit.claims
        if claim.relations and claim.stance == "asserted"
        if len(text := letters(claim.text)) > 3
        if text in sentence or sentence in text
    ]
    for verdict in {claim.grounded_verdict for claim in claims}:
        count[verdict] += 1
        count[f"{verdict} rightly"] += verdict == row["verdict"]
    if row["kind"] == "claim":
        count["claims"] += 1
        count["claims read"] += any(c.grounded_verdict == row["verdict"] for c in claims)
    else:
        count["others"] += 1
        count["others silent"] += not claims


def counted(data: Path, part: str) -> Counter[str]:
    """Counts over the annotated sentences of the files that have a part in their names; what is
    said to be possible or necessary is no claim that something holds. A response is read up to its
    annotated sentence.
    """
    pairs = [(row, traces(data / row["file"])[row["id"]]) for row in ROWS if part in row["file"]]
    cut = ({**trace, "response": trace["response"][: row["span"][1]]} for row, trace in pairs)
    audited = audits(TraceAuditor(), map(Trace.model_validate, cut))
    count = Counter[str]()
    for pair, audit in zip(pairs, audited, strict=True):
        add(count, *pair, Audit.model_validate(audit))
    return count


@pytest.mark.slow
def test_claims_about_compositions(data: Path) -> None:
    """RCC-8 and cardinal directions: a possibility that is named is not said to hold, and what
    besides says "they occupy the same region", or "it does not touch its boundary", is not decided.
    """
    count = counted(data, "qsr_composition")
    assert count["contradicted"] == count["contradicted rightly"], count
    assert count["entailed"] - count["entailed rightly"] <= 1, count
    assert count["others silent"] >= 0.95 * count["others"], count
    assert count["claims read"] >= 0.16 * count["claims"], count


@pytest.mark.slow
def test_claims_about_described_scenes(data: Path) -> None:
    """SpartQA and SpaRTUN, by the readers of described scenes."""
    count = counted(data, "spart")
    assert count["contradicted"] - count["contradicted rightly"] <= 1, count
    assert count["claims read"] >= 0.65 * count["claims"], count


PASSAGE = 8
"""Sentences that a language model read: the annotated one and those before it."""


def read_by_model(data: Path, part: str, second_opinion: bool) -> Counter[str]:
    """Counts over every second annotated sentence of some files, as a large language model read its
    passage (`annotations/readings.jsonl`, words by their offsets)."""
    told: list[tuple[dict[str, Any], dict[str, Any], Trace]] = []
    lines = (Path(__file__).with_name("annotations") / "readings.jsonl").read_bytes().splitlines()
    readings: dict[str, list[Reply]] = {}
    for line in lines:
        stored = parse_record(StoredReading, line)
        readings.setdefault(stored.id, []).append(stored.reply)
    for number, row in enumerate(ROWS):
        if part not in row["file"] or str(number) not in readings:
            continue
        found = traces(data / row["file"])[row["id"]]
        steps = sentences_of(found["response"][: row["span"][1]])[-PASSAGE:]
        asked = {
            key: found[key]
            for key in ("scene", "question", "dataset", "answer_space")
            if key in found
        }
        replies = [[reply] for reply in readings[str(number)]]
        given = {
            "model": "claude",
            "prompt": "",
            "second_opinion": second_opinion,
            "replies": replies,
        }
        trace = {**asked, "id": row["id"], "reasoning": steps, "conclusion": "", "readings": given}
        told.append((row, found, Trace.model_validate(trace)))
    count = Counter[str]()
    audited = audits(TraceAuditor(), (trace for *_, trace in told))
    for (row, found, _), audit in zip(told, audited, strict=True):
        add(count, row, found, Audit.model_validate(audit))
    return count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "expected", "alone", "both"),
    [
        ("rcc8", {"claims": 6, "others": 19, "others silent": 19}, 5, 5),
        ("cdc", {"claims": 6, "others": 14, "others silent": 12}, 5, 5),
        ("spartqa", {"claims": 11, "others": 9, "others silent": 7}, 7, 10),
        ("spartun", {"claims": 6, "others": 4, "others silent": 4}, 4, 6),
    ],
)
@pytest.mark.parametrize("second_opinion", [False, True])
def test_claims_as_a_language_model_reads_them(
    data: Path, part: str, expected: dict[str, int], alone: int, both: int, second_opinion: bool
) -> None:
    count = read_by_model(data, part, second_opinion)
    assert {key: count[key] for key in expected} == expected
    assert count["claims read"] == (both if second_opinion else alone)
    assert count["contradicted"] == count["contradicted rightly"]
