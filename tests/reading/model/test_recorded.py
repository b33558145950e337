"""Rich scenes by the recorded readings of a large language model (`recorded/README.md`)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from symbouq.auditing.auditor import TraceAuditor
from symbouq.io.readings import ReadingsFile
from symbouq.reading.model.dialogue import (
    ModelRequest,
    TraceTexts,
    left_to_parser,
    shared,
)
from symbouq.reading.model.prompt import Prompt
from symbouq.records import Reply, StoredReading, Trace, make_record, parse_record

FOLDER = Path(__file__).parent / "recorded"
AUDITOR = TraceAuditor(profile="everyday")


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


SCENES = {row["id"]: row for row in rows("scenes.jsonl")}
FRESH = {f"fresh-{row['id']}": row for row in rows("fresh_scenes.jsonl")}
NEW = {row["id"]: row for row in rows("new_scenes.jsonl")}
ALL = SCENES | FRESH | NEW


def looked_at(identity: str) -> bool:
    return int(identity.split("-")[1]) % 2 == 1


def trace(row: dict[str, Any], **more: Any) -> Trace:
    *steps, last = [claim["text"] for claim in row["claims"]]
    told = {"id": row["id"], "scene": row["scene"], "question": row["question"]}
    return make_record(Trace, {**told, "reasoning": steps, "conclusion": last, **more})


@cache
def answers(name: str, samples: int = 1) -> Callable[[ModelRequest], list[Reply]]:
    """A function that finds the replies to each request in a file of readings."""
    with ReadingsFile(FOLDER / name, grows=False) as file:
        pass

    def answer(request: ModelRequest) -> list[Reply]:
        found = [file.find(request.text, n, "claude", None, None) for n in range(samples)]
        assert None not in found, f"a request that was not recorded: {request.message}"
        return [reading.reply for reading in found if reading is not None]

    return answer


def by_replies(row: dict[str, Any], replies: list[list[Reply]], **how: Any) -> dict[str, Any]:
    """The audit of a scene that is read from replies."""
    given = {"model": "claude", "prompt": "", "replies": replies, **how}
    return AUDITOR.audited(trace(row, readings=given))


@cache
def audited(identity: str, reader: str) -> dict[str, Any]:
    row = ALL[identity]
    if reader == "parser":
        return AUDITOR.audited(trace(row))
    parser = AUDITOR.parser_for(trace(row))
    once = "fresh_readings.jsonl" if identity in FRESH else "new_readings.jsonl"
    of = answers("readings.jsonl", 2) if identity in SCENES else answers(once)
    replies = parser.model_reader.ask(parser.texts(trace(row)), of)
    return by_replies(row, replies, second_opinion=reader == "both")


class Figures(NamedTuple):
    """Entailed and contradicted claims, how many of them are found, determinate verdicts and how
    many of them are wrong."""

    claims: int
    found: int
    determinate: int
    wrong: int


def figures(reader: str, scenes: Iterable[str]) -> Figures:
    return counted((ALL[name]["claims"], audited(name, reader)["claims"]) for name in scenes)


def counted(audits: Iterable[tuple[list[dict[str, Any]], list[dict[str, Any]]]]) -> Figures:
    """Count claims with the right verdicts, and with those of audits."""
    counts: Counter[str] = Counter()
    for claims, results in audits:
        for claim, given in zip(claims, results, strict=True):
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
        ("parser", True, Figures(196, 105, 105, 0)),
        ("parser", False, Figures(192, 71, 71, 0)),
        ("model", True, Figures(196, 177, 177, 0)),
        ("model", False, Figures(192, 169, 169, 0)),
        ("both", True, Figures(196, 182, 182, 0)),
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
        ("parser", True, Figures(108, 11, 11, 0)),
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
@pytest.mark.parametrize(
    ("reader", "kind", "looked", "expected"),
    [
        ("parser", "plain", True, Figures(60, 18, 18, 0)),
        ("parser", "plain", False, Figures(59, 21, 21, 0)),
        ("model", "plain", True, Figures(60, 49, 49, 0)),
        ("model", "plain", False, Figures(59, 49, 49, 0)),
        ("both", "plain", True, Figures(60, 50, 50, 0)),
        ("both", "plain", False, Figures(59, 49, 49, 0)),
        ("both", "harder", True, Figures(60, 22, 22, 0)),
        ("both", "harder", False, Figures(60, 21, 21, 0)),
    ],
)
def test_new_scenes(reader: str, kind: str, looked: bool, expected: Figures) -> None:
    scenes = [n for n in NEW if n.startswith(kind) and looked_at(n) == looked]
    assert figures(reader, scenes) == expected


def scenes_of(name: str) -> list[str]:
    """The scenes for which a file has readings."""
    return list(dict.fromkeys(row["id"] for row in rows(name)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("both", "expected"), [(False, Figures(66, 30, 30, 0)), (True, Figures(66, 40, 40, 0))]
)
def test_sentences_that_are_read_alone(both: bool, expected: Figures) -> None:
    scenes = scenes_of("alone_readings.jsonl")
    answer = answers("alone_readings.jsonl")
    assert len(scenes) == 10
    audits = []
    for row in map(SCENES.__getitem__, scenes):
        parser = AUDITOR.parser_for(trace(row))
        replies = parser.model_reader.ask(parser.texts(trace(row)), answer, alone=True)
        audit = by_replies(row, replies, alone=True, second_opinion=both)
        audits.append((row["claims"], audit["claims"]))
    assert counted(audits) == expected


@pytest.mark.slow
def test_claims_of_several_traces_are_read_together_as_well_as_apart() -> None:
    """The claims of each scene are divided among three traces."""
    scenes = scenes_of("shared_readings.jsonl")
    of_claims, of_scene = answers("shared_readings.jsonl"), answers("readings.jsonl")
    assert len(scenes) == 10
    audits = []
    for row in map(SCENES.__getitem__, scenes):
        parts = [{**row, "claims": row["claims"][n : n + 3]} for n in (0, 3, 6)]
        asked = [asked_about(part, of_scene) for part in parts]
        (together,) = shared(claims for _, claims in asked)
        (reply,) = of_claims(together.request)
        for part, (scene, _), own in zip(parts, asked, together.replies(reply), strict=True):
            audit = by_replies(part, [of_scene(scene), [own]])
            audits.append((part["claims"], audit["claims"]))
    assert counted(audits) == figures("model", scenes) == Figures(64, 56, 56, 0)


def asked_about(
    row: dict[str, Any], of_scene: Callable[[ModelRequest], list[Reply]]
) -> list[ModelRequest]:
    """The requests about a scene and about claims."""
    asked: list[ModelRequest] = []

    def answer(request: ModelRequest) -> list[Reply]:
        asked.append(request)
        return of_scene(request) if request.part == "scene" else []

    parser = AUDITOR.parser_for(trace(row))
    parser.model_reader.ask(parser.texts(trace(row)), answer)
    return asked


@pytest.mark.slow
def test_the_model_need_not_read_what_the_parser_decides() -> None:
    audits, left_out = [], 0
    for row in SCENES.values():
        parser = AUDITOR.parser_for(trace(row))
        texts = parser.texts(trace(row))
        pronouns = parser.ontology.wording.lexeme["pronoun"]
        left = left_to_parser(texts.claims, AUDITOR.decided_by_parser(trace(row)), pronouns)
        replies = [
            [
                reply.model_copy(
                    update={"sentences": [s for s in reply.sentences if s.sentence not in left]}
                )
                for reply in samples
            ]
            for samples in parser.model_reader.ask(texts, answers("readings.jsonl", 2))
        ]
        audit = by_replies(row, replies, left=left, second_opinion=True)
        audits.append((row["claims"], audit["claims"]))
        left_out += len(left)
    assert left_out == 175
    assert counted(audits) == Figures(388, 353, 353, 0)


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
