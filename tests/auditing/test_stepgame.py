"""StepGame: every phrasing, every answer, the real chain-of-thought traces.

Reads the benchmark and the traces from the folder that SYMBOUQ_DATA names.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from common import auroc, rows
from helpers.audits import audits, read_ahead
from helpers.readers import reader_of
from second_extractor import GRID, extracted
from stepgame_table import VERDICT_VALUES, states_relation

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.counterfactual import counterfactuals
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.tables import Ontology
from symbouq.reading.syntax.reader import SyntaxReader
from symbouq.reading.text import Statement
from symbouq.reading.traces import Told
from symbouq.records import Instance, Trace

LIBRARY = OntologyLibrary()
UNIT = LIBRARY.ontology("unit-grid")
LABELS = {
    "left": "left",
    "right": "right",
    "above": "above",
    "below": "below",
    "upper-left": "upper_left",
    "upper-right": "upper_right",
    "lower-left": "lower_left",
    "lower-right": "lower_right",
    "overlap": "same_position",
}
ANNOTATIONS = Path(__file__).parent / "annotations" / "stepgame_claims.jsonl"


def phrasings(data: Path) -> list[tuple[str, str]]:
    """The sound phrasings with their meaning, <A> and <B> for the things."""
    table = json.loads((data / "stepgame" / "relation_phrasings.json").read_text(encoding="utf-8"))
    return [
        (row["phrasing"], LABELS[row["A_is_REL_of_B"]])
        for row in table
        if not (row["wrong_in_2021"] or row["wrong_in_2024"])
    ]


def unsound(data: Path) -> list[re.Pattern[str]]:
    table = json.loads((data / "stepgame" / "relation_phrasings.json").read_text(encoding="utf-8"))
    return [
        pattern(row["phrasing"]) for row in table if row["wrong_in_2021"] or row["wrong_in_2024"]
    ]


def pattern(phrasing: str) -> re.Pattern[str]:
    seen: set[str] = set()
    parts = []
    for part in re.split("(<A>|<B>)", phrasing):
        if part in ("<A>", "<B>"):
            name = part[1]
            parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>[A-Z])")
            seen.add(name)
        else:
            parts.append(re.escape(part))
    return re.compile("".join(parts))


DISTANCES = ("near", "disconnected")
"""What "next to each other" and "with a small gap" say beside a direction."""


def directions(mentions: Iterable[Statement]) -> set[tuple[str, str, str]]:
    """What is stated of where things are to each other, each pair in its order."""
    return {
        (m.figure, m.relation, m.ground)
        if m.figure < m.ground
        else (m.ground, UNIT.relations.converse[m.relation], m.figure)
        for m in mentions
        if m.relation not in DISTANCES
    }


def told(phrasing: str) -> Told:
    sentence = phrasing.replace("<A>", "D").replace("<B>", "K")
    return Told([sentence], "What is the relation of the agent D to the agent K?", [], "")


def reads(reader: SyntaxReader, phrasing: str, meaning: str) -> bool:
    """Whether a phrasing is read with exactly its literal meaning."""
    stated = reader.read(*told(phrasing)).of_sentence(1)
    return directions(stated) == {("D", meaning, "K")}


@pytest.mark.parametrize("profile", ["nine-way", "unit-grid"])
def test_every_sound_phrasing_is_read(data: Path, profile: str) -> None:
    reader = reader_of(LIBRARY.ontology(profile))
    reader.ahead([told(phrasing) for phrasing, _ in phrasings(data)])
    unread = [p for p, meaning in phrasings(data) if not reads(reader, p, meaning)]
    assert not unread


TIMES = 4
"""How often a phrasing is read, each time with other things and sentences around it."""


@pytest.mark.slow
def test_every_sound_sentence_is_read(data: Path) -> None:
    """Of the instances of each split, those with a phrasing that fewer than so many others have."""
    reader = reader_of(UNIT)
    sound = [(pattern(p), meaning) for p, meaning in phrasings(data)]
    wrong = unsound(data)
    times = Counter[tuple[str, re.Pattern[str]]]()
    splits = ("train", "validation", "test")
    for split, instance in (
        (s, i) for s in splits for i in rows(data / "stepgame" / f"{s}.jsonl.gz")
    ):
        used = {(split, p) for said in instance["scene"] for p, _ in sound if p.fullmatch(said)}
        if all(times[each] >= TIMES for each in used):
            continue
        times.update(used)
        text = reader.read(instance["scene"], instance["question"], [], "")
        assert text.question().pair == tuple(re.findall(r"agent ([A-Z])", instance["question"]))
        for number, sentence in enumerate(instance["scene"], start=1):
            mentions = text.of_sentence(number)
            if any(p.fullmatch(sentence) for p in wrong):
                continue
            match, meaning = next((m, r) for p, r in sound if (m := p.fullmatch(sentence)))
            a, b = match["A"], match["B"]
            meant = (a, meaning, b) if a < b else (b, UNIT.relations.converse[meaning], a)
            assert directions(mentions) == {meant}, sentence
    # Of the 197 sound phrasings, as many as occur in each split.
    assert Counter(split for split, _ in times) == {"train": 197, "validation": 194, "test": 196}


def fired(reader: SyntaxReader, phrasing: str) -> set[str]:
    """The phrases of the ontology that a phrasing uses."""
    sentence = phrasing.replace("<A>", "D").replace("<B>", "K")
    return {t.text.lower() for t in reader.lexicon.tokens(sentence) if t.entry is not None}


def without(ontology: Ontology, texts: set[str]) -> Ontology:
    """The ontology with these phrases and words deleted."""
    return replace(
        ontology,
        lexicon=replace(
            ontology.lexicon,
            phrase={text: r for text, r in ontology.lexicon.phrase.items() if text not in texts},
        ),
        wording=replace(
            ontology.wording,
            lexeme={name: words - texts for name, words in ontology.wording.lexeme.items()},
        ),
    )


def test_leave_one_out(data: Path) -> None:
    """Without the facts that only one phrasing uses, that phrasing is still read."""
    reader = reader_of(UNIT)
    table = phrasings(data)
    reader.ahead([told(phrasing) for phrasing, _ in table])
    used = [fired(reader, phrasing) for phrasing, _ in table]
    counts = Counter(text for texts in used for text in texts)
    kept = 0
    for (phrasing, meaning), texts in zip(table, used, strict=True):
        own = {text for text in texts if counts[text] == 1}
        kept += reads(reader_of(without(UNIT, own)) if own else reader, phrasing, meaning)
    assert kept / len(table) >= 0.9


EVERY = 12
"""Every twelfth instance; the answers to all of them are in `answers/test_answering.py`."""


@pytest.mark.slow
def test_gold_is_entailed_and_the_others_contradicted(data: Path) -> None:
    """Under unit-grid, of each instance; under nine-way 142 of 250 are entailed."""
    unit, nine = TraceAuditor("unit-grid"), TraceAuditor("nine-way")
    traces = []
    for instance in islice(rows(data / "stepgame" / "test.jsonl.gz"), None, None, EVERY):
        first, second = re.findall(r"agent ([A-Z])", instance["question"])
        trace = Trace(
            dataset="stepgame",
            id=instance["id"],
            scene=instance["scene"],
            question=instance["question"],
            reasoning=[
                f"{first} is {UNIT.lexicon.wording[r][0]} {second}." for r in LABELS.values()
            ],
            conclusion=instance["answer"],
        )
        traces.append(trace)
    for trace, audit in zip(traces, audits(unit, traces), strict=True):
        # The grounded verdict is that of the scene alone, whatever the other claims say.
        *stated, answer = (claim["grounded_verdict"] for claim in audit["claims"])
        assert answer == "entailed"
        assert dict(zip(LABELS, stated, strict=True)) == {
            label: "entailed" if label == trace.conclusion else "contradicted" for label in LABELS
        }
    alone = [trace.model_copy(update={"reasoning": []}) for trace in traces]
    verdicts = [audit["claims"][0]["verdict"] for audit in audits(nine, alone)]
    assert verdicts.count("entailed") == 142


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["nine-way", "unit-grid"])
def test_counterfactual_audit(data: Path, profile: str) -> None:
    auditor = TraceAuditor(profile)
    pairs = 0
    some = islice(rows(data / "stepgame" / "test.jsonl.gz"), None, None, EVERY)
    for row in read_ahead(auditor, map(Instance.model_validate, some)):
        sentences = dict(enumerate(row.scene, start=1))
        for pair in counterfactuals(auditor, row):
            assert pair["supported"]["verdict"] == "entailed"
            assert pair["incompatible"]["verdict"] == "contradicted"
            assert pair["supported"]["text"] != sentences[pair["sentence"]]
            pairs += 1
    assert pairs > 19_234 / EVERY  # the paper's number of pairs


COT = [
    f"llm_traces_spatiallm_{model}_{style}.jsonl.gz"
    for model in ("gpt-35-turbo", "gpt-4", "text-davinci-003")
    for style in ("our_cot_5shot", "tot_cot_4shot")
]


@pytest.mark.slow
@pytest.mark.parametrize("name", COT)
def test_real_chain_of_thought(data: Path, name: str) -> None:
    auditor = TraceAuditor()
    scores, labels = [], []
    feasible = stating = read = 0
    given = list(rows(data / "stepgame" / name))
    audited = audits(auditor, map(Trace.model_validate, given))
    for row, audit in zip(given, audited, strict=True):
        feasible += audit["scene"]["feasible"]
        scores.append(VERDICT_VALUES[audit["claims"][-1]["grounded_verdict"]])
        labels.append(extracted(row["response"], GRID) == {row["answer"]})
        for claim in audit["claims"][:-1]:
            if states_relation(claim["text"], row["scene"]):
                stating += 1
                read += bool(claim["relations"])
    assert feasible / len(scores) >= 0.99
    assert auroc(scores, labels) >= 0.97
    assert read / stating >= 0.9


def relation_f1(data: Path, ontology: Ontology) -> float:
    """Micro F1 of relations on the annotated claims; converses are equal."""
    annotated = [*map(json.loads, ANNOTATIONS.read_text(encoding="utf-8").splitlines())]
    wanted = {(row["file"], row["id"]) for row in annotated}
    given = {
        key: Trace.model_validate(trace)
        for name in COT
        for trace in rows(data / "stepgame" / name)
        if (key := (name, trace["id"])) in wanted
    }
    audit_of = dict(zip(given, audits(TraceAuditor(), given.values()), strict=True))

    def oriented(u: str, r: str, v: str) -> tuple[str, str, str]:
        return (v, ontology.relations.mirror[r], u) if u > v else (u, r, v)

    hits = extra = missed = 0
    for row in annotated:
        claim = audit_of[row["file"], row["id"]]["claims"][row["claim"] - 1]
        found = {oriented(r["subject"], r["relation"], r["object"]) for r in claim["relations"]}
        gold = {oriented(*relation) for relation in row["relations"]}
        hits += len(found & gold)
        extra += len(found - gold)
        missed += len(gold - found)
    return 2 * hits / (2 * hits + extra + missed)


@pytest.mark.slow  # of traces that the slow tests read anyway
def test_relation_f1_on_annotated_claims(data: Path) -> None:
    assert len(ANNOTATIONS.read_text(encoding="utf-8").splitlines()) == 200
    assert relation_f1(data, UNIT) >= 0.97
