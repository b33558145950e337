"""Defaults of the world: shown with the verdicts that rest on them, and waived by a profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from symbouq.auditing.auditor import TraceAuditor
from symbouq.records import Trace
from symbouq.records.audit import ClaimAudit

ON = "on_top_of implies borne_by"
EVERYDAY = TraceAuditor(profile="everyday")
SCENE = "The lamp is on the table. The table is to the left of the sofa."


def audited(response: str, scene: str = SCENE, ontology: Path | None = None) -> list[ClaimAudit]:
    auditor = EVERYDAY if ontology is None else TraceAuditor(ontology=ontology)
    trace = Trace(id="a", scene=scene, question="", response=response)
    return [ClaimAudit.model_validate(c) for c in auditor.audited(trace)["claims"]][
        : response.count(".")
    ]


@pytest.mark.parametrize(
    ("claim", "verdict", "presumed"),
    [
        ("The lamp is to the left of the sofa.", "entailed", [ON]),
        ("The lamp is to the right of the sofa.", "contradicted", [ON]),
        ("The lamp cannot be to the right of the sofa.", "entailed", [ON]),
        ("The lamp is on the table.", "entailed", []),
        ("The lamp is above the table.", "entailed", []),
        ("The sofa is to the right of the table.", "entailed", []),
        ("The sofa is above the table.", "unknown", []),
    ],
)
def test_a_verdict_names_the_default_that_it_rests_on(
    claim: str, verdict: str, presumed: list[str]
) -> None:
    (found,) = audited(claim)
    assert (found.verdict, found.presumed) == (verdict, presumed)
    assert found.message.endswith("taken to be within the sides of it.") == bool(presumed)


def test_the_default_may_come_from_an_earlier_claim() -> None:
    _, found = audited(
        "The cup is on the table. So the cup is to the left of the sofa.",
        "The table is to the left of the sofa. There is a cup.",
    )
    assert found.premises == ["scene:1", "claim:1"]
    assert (found.verdict, found.presumed) == ("entailed", [ON])
    assert found.grounded_verdict == "unknown"


def test_a_relation_said_the_other_way_round_has_it_too() -> None:
    (found,) = audited(
        "The lamp is to the left of the sofa.",
        "The table supports the lamp. The table is to the left of the sofa.",
    )
    assert (found.verdict, found.presumed) == ("entailed", [ON])


def test_a_profile_may_waive_a_default(tmp_path: Path) -> None:
    (tmp_path / "profile.lp").write_text(
        "extends(everyday). profile(strict). extends(strict, everyday). default_profile(strict)."
        "waives(strict, on_top_of, borne_by)."
    )
    side, height = audited(
        "The lamp is to the left of the sofa. The lamp is above the table.", ontology=tmp_path
    )
    assert (side.verdict, side.presumed) == ("unknown", [])
    assert height.verdict == "entailed"


def test_an_answer_names_no_default() -> None:
    trace = Trace(
        id="a",
        scene=SCENE,
        question="Is the lamp to the left of the sofa?",
        response="The lamp is to the left of the sofa. Answer: yes",
    )
    claim, answer = [ClaimAudit.model_validate(c) for c in EVERYDAY.audited(trace)["claims"]]
    assert (claim.verdict, claim.presumed) == ("entailed", [ON])
    assert (answer.verdict, answer.presumed) == ("entailed", [])
