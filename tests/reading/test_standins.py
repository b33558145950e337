"""Names of a given scene, in texts about it."""

from __future__ import annotations

from symbouq.api import TraceAuditor
from symbouq.reading.standins import StandIns
from symbouq.records import Trace

NAMES = ["Inner Glade", "Far Field", "the mill", "Above", "Of"]


def test_a_text_keeps_its_length_and_what_is_no_name() -> None:
    put = StandIns(NAMES).put
    text = "The mill is above Above, and the Far Field is to the left of Of."
    assert len(put(text)) == len(text)
    assert " ".join(put(text).split()) == "Z02 is above Z03 , and Z01 is to the left of Z4."
    assert StandIns([]).put(text) == text


def test_claims_about_a_scene_in_relations() -> None:
    trace = Trace(
        id="1",
        profile="everyday",
        scene=["Far Field is inside Inner Glade.", "Inner Glade is to the east of the mill."],
        scene_relations=[
            ["Far Field", "inside", "Inner Glade"],
            ["Inner Glade", "right", "the mill"],
        ],
        question="Where is Far Field relative to the mill?",
        response="Far Field is inside Inner Glade. The mill is to the east of Inner Glade.\n"
        "Answer: east",
    )
    audit = TraceAuditor().audited(trace)
    claims = audit["claims"]
    assert [claim["text"] for claim in claims] == [
        "Far Field is inside Inner Glade.",
        "The mill is to the east of Inner Glade.",
        "Answer: east",
    ]
    assert [claim["grounded_verdict"] for claim in claims] == [
        "entailed",
        "contradicted",
        "entailed",
    ]
    assert claims[2]["relations"][0]["subject"] == "Far Field"
    assert [r["object"] for r in audit["scene"]["relations"]] == ["Inner Glade", "the mill"]
    assert audit["reader"]["pipeline"]
