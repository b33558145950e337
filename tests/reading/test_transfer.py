"""Texts that are read with one profile's tables and judged by another's."""

from __future__ import annotations

from pathlib import Path

from symbouq.auditing.auditor import TraceAuditor
from symbouq.ontology.library import builtin
from symbouq.reading.text import ASSERTED, Claim, ParsedTrace, Statement
from symbouq.reading.transfer import together, transferred
from symbouq.records import Trace

NINE_WAY, HALF_PLANE = builtin().ontology("nine-way"), builtin().ontology("half-plane")


def test_directions_that_exclude_each_other_are_one_together() -> None:
    said = [("a", "above", "b"), ("a", "near", "b"), ("a", "right", "b"), ("c", "left", "b")]
    assert together(said, NINE_WAY) == [
        (("a", "near", "b"), [1]),
        (("a", "upper_right", "b"), [0, 2]),
        (("c", "left", "b"), [3]),
    ]
    # Half-planes overlap: both hold as they are said.
    assert [triple for triple, _ in together(said, HALF_PLANE)] == said


def test_what_is_opposed_stays_so() -> None:
    said = [("a", "left", "b"), ("a", "right", "b")]
    assert [triple for triple, _ in together(said, NINE_WAY)] == said


def test_relations_are_those_that_their_words_say_in_the_profile() -> None:
    said = [("a", "tpp", "b"), ("b", "ntppi", "a"), ("a", "ec", "c"), ("a", "behind", "c")]
    assert together(said, NINE_WAY) == [
        (("a", "inside", "b"), [0]),
        (("b", "contains", "a"), [1]),
        (("a", "touching", "c"), [2]),
    ]


def _mention(relation: str, first: int, confidence: float = 1.0) -> Statement:
    return Statement("a", relation, "b", (first, first + 5), confidence, True)


def test_a_claim_that_is_not_all_of_the_profile_states_nothing() -> None:
    above, behind, right = _mention("above", 0), _mention("behind", 10), _mention("right", 20, 0.5)
    claims = (
        Claim("intermediate", "", (above, behind)),
        Claim("conclusion", "", (above, right), ASSERTED),
    )
    text = transferred(ParsedTrace(((1, above), (1, behind)), claims), NINE_WAY)
    assert text.scene == ((1, above),)
    assert text.claims[0].relations == ()
    assert text.claims[0].reason == "not-in-profile"
    assert text.claims[1].relations == (Statement("a", "upper_right", "b", (0, 25), 0.5, True),)


def test_phrases_of_a_data_set_count_in_every_profile(tmp_path: Path) -> None:
    (tmp_path / "words.lp").write_text(
        'extends(nine_way). texts("Yard", described). dataset("yard", spartun).\n'
        'phrase_of("Yard", below, "glimmers beneath").\n'
    )
    auditor = TraceAuditor(ontology=tmp_path)
    fields = {
        "dataset": "yard",
        "profile": "nine-way",
        "scene": ["A red star glimmers beneath a blue star."],
        "question": "",
        "reasoning": [],
        "conclusion": "The blue star is above the red star.",
    }
    audited = auditor.audited(Trace.model_validate({"id": "1", **fields}))
    assert [claim["verdict"] for claim in audited["claims"]] == ["entailed"]


def test_described_things_are_kept_apart_in_every_profile() -> None:
    fields = {
        "id": "1",
        "dataset": "spartqa",
        "profile": "nine-way",
        "scene": [
            "There are two blocks, A and B.",
            "Block A has a medium blue square which is below another medium blue square.",
            "Block B is to the right of block A.",
        ],
        "question": "Where is block A?",
        "reasoning": ["Block A is left of block B.", "Block A has two medium blue squares."],
        "conclusion": "Block B is above block A.",
    }
    audited = TraceAuditor().audited(Trace.model_validate(fields))
    assert audited["scene"]["feasible"]
    assert [claim["verdict"] for claim in audited["claims"]] == [
        "entailed",
        "entailed",
        "contradicted",
    ]
