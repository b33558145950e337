"""What `explain` says of words that are not read, of reasons, and of layouts."""

from __future__ import annotations

from typing import Any

import pytest

from symbouq.auditing.auditor import TraceAuditor
from symbouq.auditing.explain import explanation_of, sketch
from symbouq.records import Trace


def trace(scene: list[str], *claims: str, profile: str = "nine-way") -> Trace:
    return Trace(id="t", profile=profile, scene=scene, reasoning=claims, conclusion="")


@pytest.mark.parametrize(
    ("profile", "sentence", "why"),
    [
        ("nine-way", "The lamp is neither left nor right of the sofa.",
         "denied: 'left nor right of'"),
        ("nine-way", "The chair might be near the window.",
         "uncertain, possible: 'chair might be near the window'"),
        ("nine-way", "The chair is probably left of the window.",
         "quoted: 'The chair is probably left of the window.'"),
        ("nine-way", "The box is on the table.", "not in profile nine-way: 'on'"),
        ("nine-way", "The TV is between the lamp and the sofa.",
         "not in profile nine-way: 'between'"),
        ("nine-way", "The vase stands opposite the box.", "not in profile nine-way: 'opposite'"),
        ("nine-way", "The fern is behind the box.", "not in profile nine-way: 'behind'"),
        ("nine-way", "The lamp flurbs the sofa.", "not parsed: 'flurbs'"),
        ("nine-way", "The keys lie somewhere.", "not parsed: 'The keys lie somewhere.'"),
        ("nine-way", "Suppose the dog is left of the cat.",
         "supposed: 'Suppose the dog is left of the cat.'"),
        ("nine-way", "Is the dog left of the cat?", "asked: 'Is the dog left of the cat?'"),
    ],
)  # fmt: skip
def test_each_unread_sentence_has_its_kind_and_words(profile: str, sentence: str, why: str) -> None:
    of = trace([sentence], sentence, profile=profile)
    told = explanation_of(TraceAuditor(), of)
    assert told.scene[0] == f"  1. {sentence}  [{why}]"
    if not why.startswith("uncertain"):  # of a claim, that is read
        assert told.claims[0].message.casefold().endswith(f"{why}.".casefold())


def test_what_is_read_has_no_such_note() -> None:
    told = explanation_of(TraceAuditor(), trace(["A is left of B."], "B is right of A."))
    assert told.scene == ["  1. A is left of B.  [A left B]"]
    assert told.claims[0].message.endswith("stated by scene 1.")


def test_each_verdict_has_its_own_reason() -> None:
    """Claim 1 says how A and C lie, claim 2 the opposite: the scene alone leaves it open."""
    auditor = TraceAuditor()
    of = trace(
        ["A is near B."], "A is left of C.", "A is right of C.", "It is nice.", "B is left of C."
    )
    claims = auditor.audited(of)["claims"]

    def reasons(claim: dict[str, Any]) -> tuple[str, ...]:
        names = ("verdict", "reason", "grounded_verdict", "grounded_reason")
        return tuple(claim[name] for name in names)

    assert [reasons(claim) for claim in claims[:4]] == [
        ("unknown", "open", "unknown", "open"),
        ("contradicted", "", "unknown", "open"),
        ("unknown", "no-relation", "unknown", "no-relation"),
        ("not-evaluable", "", "unknown", "open"),
    ]


def test_no_unknown_verdict_is_without_its_reason() -> None:
    texts = ["A is left of C.", "A is right of C.", "A may be above B.", "A is left of C, sort of."]
    for claim in TraceAuditor().audited(trace(["A is left of B."], *texts))["claims"]:
        for verdict, reason in (("verdict", "reason"), ("grounded_verdict", "grounded_reason")):
            assert (claim[verdict] == "unknown") == bool(claim[reason]), claim


def test_a_layout_of_things_with_an_extent_is_in_words() -> None:
    scene = [
        "The lamp is left of the sofa.",
        "The TV is between the lamp and the sofa.",
        "The cup is in the box.",
        "The box is on the table.",
    ]
    told = sketch(TraceAuditor(), trace(scene, profile="everyday"))
    assert told[0].startswith("  each to the left of the next: ")
    assert "  TV is between lamp and sofa" in told
    assert "  cup is inside box" in told
    assert not any("low=" in line for line in told)


def test_a_set_aside_sentence_says_so() -> None:
    scene = ["The lamp is left of the sofa.", "The lamp is right of the sofa."]
    told = explanation_of(TraceAuditor(), trace(scene, profile="everyday")).scene
    assert told[2].startswith("scene 1, 2: contradictory as read")
