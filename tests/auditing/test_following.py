"""Traces that are audited while they are written."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.commands import run

import symbouq
from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.following import FollowedTrace, followed
from symbouq.errors import RecordError
from symbouq.records import Trace

SCENE = "The lamp is above the desk. The desk is left of the rug."
QUESTION = "Where is the lamp relative to the rug?"
STEPS = [
    "The lamp is to the upper left of the rug.",
    "The rug is above the lamp.",
    "The desk is below the lamp.",
]


def test_each_sentence_brings_its_claims() -> None:
    trace = symbouq.follow(SCENE, QUESTION)
    found = [[(c["index"], c["verdict"]) for c in trace.add(step)] for step in STEPS]
    assert found == [[(1, "entailed")], [(2, "contradicted")], [(3, "not-evaluable")]]


def test_the_audit_so_far_is_that_of_the_sentences() -> None:
    trace = symbouq.follow(SCENE, QUESTION)
    for n, step in enumerate(STEPS, start=1):
        trace.add(step)
        whole = symbouq.audit(SCENE, [*STEPS[:n], ""], QUESTION).model_dump()
        assert [c["verdict"] for c in trace.audit["claims"]] == [
            c["verdict"] for c in whole["claims"]
        ]
        assert trace.audit["constraint_rule"] == whole["constraint_rule"]


def test_a_claim_that_is_taken_back_comes_again() -> None:
    trace = symbouq.follow(SCENE, QUESTION)
    trace.add(STEPS[1])
    again = trace.add("Actually, no, that is wrong.")
    assert [(c["index"], c["stance"], c["verdict"]) for c in again] == [
        (1, "retracted", "unknown"),
        (2, "asserted", "unknown"),
    ]


def test_several_traces_in_one_stream() -> None:
    lines = [
        '{"scene": "A is above B.", "question": ""}',
        "B is above A.",
        "",
        '{"id": "second", "scene": "A is left of B.", "question": ""}',
        "B is right of A.",
    ]
    found = followed(TraceAuditor(), lines, "-")
    assert [(c["id"], c["index"], c["verdict"]) for c in found] == [
        ("line-1", 1, "contradicted"),
        ("second", 1, "entailed"),
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["A is above B."], "steps:1: the first line is a trace: an object with `scene`"),
        (['{"scene": "A is above B."}', "{"], "steps:2: EOF while parsing"),
        (['{"question": "Where is A?"}'], "steps:1: "),
        (['{"scene_relations": []}'], "steps:1: "),
    ],
)
def test_a_line_that_cannot_be_used(lines: list[str], message: str) -> None:
    with pytest.raises(RecordError) as caught:
        list(followed(TraceAuditor(), lines, "steps"))
    assert str(caught.value).startswith(message)


def test_a_trace_with_a_response_is_whole() -> None:
    whole = Trace(id="t", scene="A is above B.", response="B is above A.")
    with pytest.raises(RecordError, match="a trace that is followed has `scene`"):
        FollowedTrace(TraceAuditor(), whole)


def test_the_command_prints_claims_and_takes_no_check(tmp_path: Path) -> None:
    file = tmp_path / "steps.txt"
    file.write_text(f'{{"id": "lamp", "scene": "{SCENE}"}}\n{STEPS[0]}\n', encoding="utf-8")
    told = run("audit", file, "--follow")
    assert told.exit_code == 0
    assert '"id": "lamp"' in told.stdout and '"verdict": "entailed"' in told.stdout
    for option in (["--fail-on", "contradicted"], ["--reader", "model"], ["--jobs", "2"]):
        refused = run("audit", file, "--follow", *option)
        assert refused.exit_code == 2
        assert f"--follow prints claims, and does not go with {option[0]}" in refused.stderr


def test_a_sentence_that_fails_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    auditor = TraceAuditor()
    trace = FollowedTrace(auditor, Trace(id="t", scene=SCENE, reasoning=[], conclusion=""))
    with monkeypatch.context() as changed:
        changed.setattr(auditor, "audited", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            trace.add(STEPS[1])
    assert [claim["verdict"] for claim in trace.add(STEPS[0])] == ["entailed"]
