"""The audit of texts about events, by the same logic that answers questions about them."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symbouq.answering import answer
from symbouq.auditor import Premise, Verdict
from symbouq.errors import RecordError
from symbouq.events.entailment import audit_events
from symbouq.limits import LimitError, time_limit
from symbouq.pipeline import TraceAuditor
from symbouq.records import Instance, Trace, make_record

AUDITOR = TraceAuditor(profile="event", partial=True)
SPACE = ["entailment", "neutral", "contradiction"]
VERDICTS = {"entailed": ["entailment"], "contradicted": ["contradiction"], "unknown": ["neutral"]}


def audited(scene: list[str], claims: list[str], **fields: Any) -> dict[str, Any]:
    record = {"id": "t", "scene": scene, "reasoning": claims[:-1], "conclusion": claims[-1]}
    return AUDITOR.audited(make_record(Trace, {**record, **fields}))


def judged(scene: list[str], statement: str) -> tuple[str, list[str]]:
    record = {"id": "q", "scene": scene, "question": statement, "answer_space": SPACE}
    found = answer(AUDITOR, Instance.model_validate(record))
    return found.status, found.answer


def test_what_happened_decides() -> None:
    audit = audited(
        ["Mary walked out of the kitchen."],
        ["Mary was in the kitchen.", "So Mary is not in the kitchen.", "Mary was in the garden."],
    )
    first, second, third = audit["claims"]
    assert (first["verdict"], first["premises"]) == ("entailed", ["scene:1"])
    # Before she went, and after.
    assert (second["verdict"], second["relations"][0]["relation"]) == ("entailed", "not_inside")
    assert (third["verdict"], third["grounded_verdict"]) == ("unknown", "unknown")


def test_claims_join_the_context() -> None:
    audit = audited(
        ["The jug is in the tin."],
        [
            "The tin is in the barn.",
            "Therefore the jug is in the barn.",
            "The tin is not in the barn.",
            "The jug is in the tin.",
        ],
    )
    told, follows, denied, rest = audit["claims"]
    assert (told["verdict"], told["repair_cost_exact"]) == ("unknown", 0)
    assert (follows["verdict"], follows["grounded_verdict"]) == ("entailed", "unknown")
    assert (follows["premises"], follows["conditional"]) == (["scene:1", "claim:1"], True)
    assert (denied["verdict"], denied["premises"]) == ("contradicted", ["claim:1"])
    assert (denied["repair_cost_exact"], denied["first_conflict"]) == (1, True)
    assert (rest["verdict"], rest["grounded_verdict"]) == ("not-evaluable", "entailed")


def test_a_scene_that_cannot_be() -> None:
    audit = audited(
        ["The jug is in the tin.", "The tin is in the jug."], ["The jug is in the tin."]
    )
    assert (audit["scene"]["feasible"], audit["scene"]["clash"]) == (False, ["scene:1", "scene:2"])
    assert audit["claims"][0]["verdict"] == "not-evaluable"


def test_a_scene_read_in_part_decides_nothing() -> None:
    audit = audited(["Ann is in Oslo.", "Well, well!"], ["Ann is in Oslo."])
    (claim,) = audit["claims"]
    assert (claim["verdict"], claim["grounded_verdict"]) == ("unknown", "unknown")
    assert claim["message"] == "Ann is inside Oslo: open, because scene 2 could not be read."


def test_a_claim_without_a_relation_is_unknown() -> None:
    audit = audited(["Ann walked out of the barn."], ["Ann walked.", "Nothing of the kind."])
    assert [claim["verdict"] for claim in audit["claims"]] == ["unknown", "unknown"]
    assert [claim["relations"] for claim in audit["claims"]] == [[], []]


def test_repair_takes_away_as_few_relations_as_it_can() -> None:
    auditor = AUDITOR.reader_for(AUDITOR.library.ontology("event"))
    said = auditor.clauses  # type: ignore[attr-defined]
    claims = [
        said(text)
        for text in (
            "The jug is in the tin.", "The tin is in the barn.", "The jug is in the box.",
            "The box is in the barn.", "The jug is not in the barn.",
        )
    ]  # fmt: skip
    result = audit_events(auditor.ontology, [], claims)
    last = result.claims[-1]
    assert (last.verdict, last.repair) == (Verdict.CONTRADICTED, 2)
    assert last.premises == (Premise("claim", 1), Premise("claim", 2))


def test_what_is_not_decided_in_time_is_said() -> None:
    reader = AUDITOR.reader_for(AUDITOR.library.ontology("event"))
    clauses = reader.clauses("The mug is in the bin.")  # type: ignore[attr-defined]
    with time_limit(0):
        result = audit_events(reader.ontology, [(1, clauses)], [clauses, ()])
    assert result.timed_out
    assert [claim.reason for claim in result.claims] == ["timed_out", "unparsed"]
    with pytest.raises(LimitError):
        result.whole()


# One interface for claims and questions ---------------------------------------------------

_NAMES = st.sampled_from(["Ann", "Bob", "the jug"])
_PLACES = st.sampled_from(["the barn", "the tin", "Oslo"])
_SENTENCES = st.one_of(
    st.builds("{} is in {}.".format, _NAMES, _PLACES),
    st.builds("{} was not in {}.".format, _NAMES, _PLACES),
    st.builds("{} walked out of {}.".format, _NAMES, _PLACES),
    st.builds("{} walked into {}.".format, _NAMES, _PLACES),
    st.builds("{} saw {} from {}.".format, _NAMES, _NAMES, _PLACES),
).map(lambda text: text[0].upper() + text[1:])
_STATES = st.builds("{} {} in {}.".format, _NAMES, st.sampled_from(["is", "was"]), _PLACES).map(
    lambda text: text[0].upper() + text[1:]
)


@given(st.lists(_SENTENCES, min_size=1, max_size=3), _STATES)
@settings(max_examples=60, deadline=None)
def test_claims_are_judged_as_questions_are(scene: list[str], statement: str) -> None:
    _compare(scene, statement)


def _compare(scene: list[str], statement: str) -> None:
    status, given_answer = judged(scene, statement)
    verdict = audited(scene, [statement])["claims"][0]["grounded_verdict"]
    if status == "answered":
        assert VERDICTS[verdict] == given_answer
    elif status == "inconsistent":
        assert verdict == "not-evaluable"
    else:
        assert verdict == "unknown"


@pytest.mark.slow
def test_claims_are_judged_as_questions_are_on_real_rows(data: Path) -> None:
    path = data / "spacenli" / "spacenli_validation.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows[::5]:
        claim = audited(row["scene"], [row["question"]])["claims"][0]
        if claim["relations"]:
            _compare(row["scene"], row["question"])


# What parse writes ------------------------------------------------------------------------


def test_what_parse_writes_is_audited_alike() -> None:
    scene = ["Ann drove from the mill to the inn.", "The jug is not in the tin."]
    claims = ["Ann was at the mill.", "So the jug is in the tin.", "Ann is at the inn."]
    record = {"id": "t", "scene": scene, "reasoning": claims[:-1], "conclusion": claims[-1]}
    trace = make_record(Trace, record)
    parsed = AUDITOR.parse(trace)
    assert parsed["scene_events"][0][0]["verb"] == "drive"
    assert AUDITOR.audited(make_record(Trace, parsed)) == AUDITOR.audited(trace)


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ({"verb": "drive). bad("}, "unknown verb 'drive). bad('"),
        ({"states": [["rel", "a). b(", "x", "y"]]}, "unknown relation 'a). b('"),
        ({"states": [["rel", "inside", "x"]]}, "rel has 3 terms, not 2"),
        ({"states": [["holds", "x"]]}, "unknown proposition 'holds'"),
        ({"verb": "drive", "goes": [["over_", "x"]]}, "unknown way 'over_'"),
    ],
)
def test_clauses_that_are_given_are_checked(clause: dict[str, Any], message: str) -> None:
    record = {"id": "t", "scene_relations": [], "claims": [], "scene_events": [[clause]]}
    with pytest.raises(RecordError, match=re.escape(message)):
        AUDITOR.audited(make_record(Trace, record))
