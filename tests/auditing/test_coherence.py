"""Scenes in words without what conflicts in them."""

from __future__ import annotations

from typing import Any

from symbouq.auditing.auditor import TraceAuditor
from symbouq.records import Trace, make_record


def audited(scene: list[str], claim: str, profile: str = "everyday") -> dict[str, Any]:
    told = {"id": "t", "scene": scene, "question": "", "reasoning": [], "conclusion": claim}
    return TraceAuditor(profile=profile).audited(make_record(Trace, told))


CONFLICT = ["The cup is left of the jar.", "The jar is left of the cup.", "The pen is in the cup."]


def test_of_sentences_in_conflict_none_is_relied_on() -> None:
    audit = audited(CONFLICT, "The pen is in the cup.")
    (claim,) = audit["claims"]
    assert (claim["grounded_verdict"], claim["premises"]) == ("entailed", ["scene:3"])
    (fault,) = audit["faults"]
    assert fault.startswith("scene 1, 2: contradictory as read")
    assert audited(CONFLICT, "The cup is left of the jar.")["claims"][0]["verdict"] == "unknown"


def test_what_such_a_scene_leaves_open_makes_nothing_possible() -> None:
    (claim,) = audited(CONFLICT, "The cup could be left of the jar.")["claims"]
    assert claim["verdict"] == "unknown"


def test_a_profile_that_takes_scenes_as_they_are_reports_the_conflict() -> None:
    audit = audited(CONFLICT, "The pen is in the cup.", "half-plane")
    assert audit["claims"][0]["verdict"] == "not-evaluable"
    assert not audit["faults"]


def test_given_relations_are_taken_as_they_are() -> None:
    relations = [
        {"subject": "cup", "relation": "left", "object": "jar"},
        {"subject": "jar", "relation": "left", "object": "cup"},
    ]
    told = {
        "id": "t",
        "profile": "everyday",
        "scene_relations": relations,
        "claims": [{"type": "conclusion", "text": "", "relations": relations[:1]}],
    }
    (claim,) = TraceAuditor().audited(make_record(Trace, told))["claims"]
    assert claim["verdict"] == "not-evaluable"


def test_nothing_is_based_on_what_was_not_surely_read() -> None:
    scene = ["The region, with the cup left of the jar, is split into three halves."]
    verdicts = {
        profile: audited(scene, "The cup is left of the jar.", profile)["claims"][0]["verdict"]
        for profile in ("half-plane", "everyday")
    }
    assert verdicts == {"half-plane": "entailed", "everyday": "unknown"}


def test_given_relations_below_the_threshold_support_nothing() -> None:
    relation = {"subject": "cup", "relation": "left", "object": "jar"}
    told = {
        "id": "t",
        "profile": "everyday",
        "scene_relations": [{**relation, "confidence": 0.74}],
        "claims": [{"type": "conclusion", "text": "", "relations": [relation]}],
    }
    (claim,) = TraceAuditor().audited(make_record(Trace, told))["claims"]
    assert claim["verdict"] == "unknown"
