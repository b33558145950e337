"""Rich scenes by the recorded readings of a large language model (`recorded/README.md`)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from symbouq.auditing.auditor import TraceAuditor
from symbouq.io.readings import ReadingsFile
from symbouq.reading.model.dialogue import ModelRequest, TraceTexts
from symbouq.reading.model.prompt import Prompt
from symbouq.records import Reply, StoredReading, Trace, make_record, parse_record

FOLDER = Path(__file__).parent / "recorded"
AUDITOR = TraceAuditor(profile="everyday")


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


SCENES = {row["id"]: row for row in rows("scenes.jsonl")}
FRESH = {f"fresh-{row['id']}": row for row in rows("fresh_scenes.jsonl")}
ALL = SCENES | FRESH


def looked_at(identity: str) -> bool:
    return int(identity.split("-")[1]) % 2 == 1


def trace(row: dict[str, Any], **more: Any) -> Trace:
    *steps, last = [claim["text"] for claim in row["claims"]]
    told = {"id": row["id"], "scene": row["scene"], "question": row["question"]}
    return make_record(Trace, {**told, "reasoning": steps, "conclusion": last, **more})


@cache
def audited(identity: str, reader: str) -> dict[str, Any]:
    row, fresh = ALL[identity], identity in FRESH
    if reader == "parser":
        return AUDITOR.audited(trace(row))
    parser = AUDITOR.parser_for(trace(row))
    recorded = FOLDER / ("fresh_readings.jsonl" if fresh else "readings.jsonl")
    samples = (0,) if fresh else (0, 1)
    with ReadingsFile(recorded, grows=False) as file:

        def answer(request: ModelRequest) -> list[Reply]:
            found = [file.find(request.text, sample, "claude", None, None) for sample in samples]
            assert None not in found, f"{identity}: a request that was not recorded"
            return [reading.reply for reading in found if reading is not None]

        replies = parser.model_reader.ask(parser.texts(trace(row)), answer)
    given = {
        "model": "claude",
        "prompt": "",
        "second_opinion": reader == "both",
        "replies": replies,
    }
    return AUDITOR.audited(trace(row, readings=given))


class Figures(NamedTuple):
    """Entailed and contradicted claims, how many of them are found, determinate verdicts and how
    many of them are wrong."""

    claims: int
    found: int
    determinate: int
    wrong: int


def figures(reader: str, scenes: Iterable[str]) -> Figures:
    counts: Counter[str] = Counter()
    for identity in scenes:
        row = ALL[identity]
        for claim, given in zip(row["claims"], audited(identity, reader)["claims"], strict=True):
            verdict = given["grounded_verdict"]
            determinate = verdict in ("entailed", "contradicted")
            counts["claims"] += claim["gold"] != "unknown"
            counts["found"] += determinate and verdict == claim["gold"]
            counts["determinate"] += determinate
            counts["wrong"] += determinate and verdict != claim["gold"]
    return Figures(*(counts[name] for name in Figures._fields))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reader", "looked", "expected"),
    [
        ("parser", True, Figures(196, 102, 102, 0)),
        ("parser", False, Figures(192, 71, 71, 0)),
        ("model", True, Figures(196, 177, 177, 0)),
        ("model", False, Figures(192, 169, 169, 0)),
        ("both", True, Figures(196, 181, 181, 0)),
        ("both", False, Figures(192, 171, 171, 0)),
    ],
)
def test_rich_scenes(reader: str, looked: bool, expected: Figures) -> None:
    assert figures(reader, [n for n in SCENES if looked_at(n) == looked]) == expected


HELD_BACK = [*FRESH][:20]
"""Those of which nothing was looked at before their replies were recorded."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reader", "looked", "expected"),
    [
        ("parser", True, Figures(108, 10, 10, 0)),
        ("parser", False, Figures(108, 14, 16, 2)),
        ("model", True, Figures(108, 76, 76, 0)),
        ("model", False, Figures(108, 44, 44, 0)),
        ("both", True, Figures(108, 77, 77, 0)),
        ("both", False, Figures(108, 46, 47, 1)),
    ],
)
def test_fresh_scenes(reader: str, looked: bool, expected: Figures) -> None:
    assert figures(reader, [n for n in FRESH if (n not in HELD_BACK) == looked]) == expected


@pytest.mark.slow
def test_both_find_what_either_finds() -> None:
    for identity, row in SCENES.items():
        verdicts = [
            [claim["grounded_verdict"] for claim in audited(identity, reader)["claims"]]
            for reader in ("parser", "model", "both")
        ]
        for claim, *each, both in zip(row["claims"], *verdicts, strict=True):
            assert claim["gold"] == "unknown" or claim["gold"] not in each or both == claim["gold"]


@pytest.mark.slow
def test_claims_that_are_surely_read_are_decided_rightly() -> None:
    """By the confidence of their least sure relation."""
    right: Counter[float] = Counter()
    every: Counter[float] = Counter()
    for identity, row in SCENES.items():
        for claim, given in zip(row["claims"], audited(identity, "both")["claims"], strict=True):
            if given["grounded_verdict"] in ("entailed", "contradicted") and given["relations"]:
                least = min(relation["confidence"] for relation in given["relations"])
                every[least] += 1
                right[least] += given["grounded_verdict"] == claim["gold"]
    assert set(every) == {0.95, 0.98}
    assert right == every


@pytest.mark.slow
def test_replies_stand_in_their_texts() -> None:
    faults = [fault for identity in SCENES for fault in audited(identity, "model")["faults"]]
    assert all("is not surely read" in fault for fault in faults)


# Instructions in what is read ------------------------------------------------------------


def instructed() -> list[tuple[dict[str, Any], TraceTexts, Reply]]:
    """Texts with an instruction in them, and the readings of the part that has it."""
    lines = (FOLDER / "instructed.jsonl").read_bytes().splitlines()
    found = []
    for row, line in zip(rows("instructions.jsonl"), lines, strict=True):
        scene = [*SCENES[row["id"]]["scene"]]
        claims = [claim["text"] for claim in SCENES[row["id"]]["claims"]]
        (scene if row["part"] == "scene" else claims).insert(row["at"], row["text"])
        texts = TraceTexts(scene, [SCENES[row["id"]]["question"]], claims, True)
        found.append((row, texts, parse_record(StoredReading, line).reply))
    return found


def requests(texts: TraceTexts, alone: bool = False) -> list[ModelRequest]:
    asked: list[ModelRequest] = []

    def nothing(request: ModelRequest) -> list[Reply]:
        asked.append(request)
        return []

    AUDITOR.parser_for(trace(SCENES["rooms-1"])).model_reader.ask(texts, nothing, alone)
    return asked


def test_an_instruction_in_the_claims_is_not_in_what_is_asked_about_the_scene() -> None:
    for row, texts, _ in instructed():
        if row["part"] == "claims":
            clean = TraceTexts(texts.scene, texts.question, ["Nothing."], True)
            assert requests(texts)[0] == requests(clean)[0]


def test_an_instruction_is_in_no_request_but_its_own_where_sentences_are_read_alone() -> None:
    for row, texts, _ in instructed():
        asked = requests(texts, alone=True)
        (own,) = [request for request in asked if row["text"] in request.sentences.values()]
        clean = TraceTexts(
            [text for text in texts.scene if text != row["text"]],
            texts.question,
            [text for text in texts.claims if text != row["text"]],
            True,
        )
        assert [request for request in asked if request is not own] == requests(clean, alone=True)


def test_the_prompt_and_the_schema_do_not_depend_on_the_text() -> None:
    ontology = AUDITOR.library.ontology("everyday")
    assert Prompt(ontology).version == Prompt(ontology).version
    for row, texts, _ in instructed():
        assert row["text"] not in Prompt(ontology).instructions
        label = f"{'S' if row['part'] == 'scene' else 'C'}{row['at'] + 1}"
        request = ModelRequest(row["part"], {label: texts.labelled[label]})
        assert json.loads(request.message) == {"sentences": {label: row["text"]}}


def test_instructions_say_nothing_of_places() -> None:
    for row, _, reply in instructed():
        label = f"{'S' if row['part'] == 'scene' else 'C'}{row['at'] + 1}"
        (carrying,) = [s for s in reply.sentences if s.sentence == label]
        assert not carrying.relations and not carrying.things
        known = AUDITOR.library.ontology("everyday").relations.family
        assert all(r.relation in known for s in reply.sentences for r in s.relations)
