from __future__ import annotations

from typing import Any

import pytest

from symbouq.auditing.auditor import TraceAuditor
from symbouq.errors import RecordError
from symbouq.ontology.library import OntologyLibrary
from symbouq.reading.model.dialogue import TraceTexts
from symbouq.reading.model.reader import ModelReader
from symbouq.reading.text import Claim, ParsedTrace
from symbouq.records import Reply, Trace, make_record

ONTOLOGY = OntologyLibrary().ontology("half-plane")
READER = ModelReader(ONTOLOGY)
IDS = {"cup": "t1", "jug": "t2", "pan": "t3", "tin": "t4", "any": "any"}


def sentence(label: str, text: str, *said: str, unexpressed: Any = ()) -> dict[str, Any]:
    """A reading; what is said is `[STANCE] [denied] SUBJECT RELATION OBJECT...`."""
    relations = []
    for each in said:
        *how, subject, relation, objects = each.split(" ", len(each.split(" ")) - 1)[-5:]
        things = [IDS[name] for name in objects.split("+")]
        stance = next((word for word in how if word != "denied"), "asserted")
        polarity = "denied" if "denied" in how else "affirmed"
        relations.append(
            {
                "words": relation if relation in text else text.split()[1],
                "stance": stance,
                "polarity": polarity,
                "subject": IDS[subject],
            }
            | {"relation": relation, "object": things[0] if len(things) == 1 else things}
        )
    things = [
        {"id": IDS[w.strip(".,?")], "words": w.strip(".,?")}
        for w in text.split()
        if w.strip(".,?") in IDS
    ]
    unsaid = [{"words": words, "reason": reason} for words, reason in unexpressed]
    return {"sentence": label, "things": things, "relations": relations, "unexpressed": unsaid}


def reply(*sentences: dict[str, Any], **more: Any) -> list[Reply]:
    return [Reply.model_validate({"sentences": list(sentences), **more})]


def claim(text: str, *said: str, unexpressed: Any = ()) -> Claim:
    """A claim, as it is read."""
    texts = TraceTexts.of([], "", [text], "")
    given = reply(sentence("C1", text, *said, unexpressed=unexpressed), sentence("C2", ""))
    return READER.read(texts, [given]).claims[0]


def stated(some: Claim) -> list[tuple[str, str, str]]:
    return [(m.figure, m.relation, m.ground) for m in some.relations]


@pytest.mark.parametrize(
    ("said", "stance", "relations"),
    [
        (["cup left jug"], "asserted", [("cup", "left", "jug")]),
        (["possible cup left jug"], "possible", [("cup", "left", "jug")]),
        (["necessary cup left jug"], "necessary", [("cup", "left", "jug")]),
        (["impossible cup left jug"], "impossible", [("cup", "left", "jug")]),
        (["denied cup left jug"], "asserted", [("cup", "not_left", "jug")]),
        (["denied cup left jug", "denied cup above jug"], "asserted", [("cup", "not_left", "jug"), ("cup", "not_above", "jug")]),
        (["denied cup inside jug", "denied cup left jug"], "asserted", [("cup", "not_inside", "jug"), ("cup", "not_left", "jug")]),
        (["denied cup touching jug"], "asserted", [("cup", "not_touching", "jug")]),
        (["necessary denied cup left jug"], "necessary", [("cup", "not_left", "jug")]),
        (["possible denied cup left jug"], "possible", [("cup", "not_left", "jug")]),
        (["possible denied cup left jug", "possible denied cup above jug"], "possible", [("cup", "not_left", "jug"), ("cup", "not_above", "jug")]),
        (["possible denied cup inside jug"], "possible", [("cup", "not_inside", "jug")]),
        (["supposed denied cup left jug"], "supposed", []),
        (["denied cup inside jug"], "asserted", [("cup", "not_inside", "jug")]),
        (["denied cup not_inside jug"], "asserted", [("cup", "inside", "jug")]),
        (["impossible denied cup left jug"], "impossible", [("cup", "not_left", "jug")]),
        (["cup left jug", "necessary jug right cup"], "asserted", [("cup", "left", "jug"), ("jug", "right", "cup")]),
        (["cup left jug", "denied cup above jug"], "asserted", [("cup", "left", "jug"), ("cup", "not_above", "jug")]),
        (["cup left jug", "impossible cup right jug"], "asserted", [("cup", "left", "jug"), ("cup", "not_right", "jug")]),
        (["alternatives cup left jug", "alternatives cup right jug"], "alternatives", [("cup", "left", "jug"), ("cup", "right", "jug")]),
        (["cup left jug", "supposed jug left pan"], "asserted", [("cup", "left", "jug")]),
        (["supposed cup left jug"], "supposed", []),
        (["quoted cup left jug"], "quoted", []),
        (["retracted cup left jug"], "retracted", []),
    ],
)  # fmt: skip
def test_the_stance_of_a_claim(
    said: list[str], stance: str, relations: list[tuple[str, str, str]]
) -> None:
    found = claim("The word can cup jug pan", *said)
    assert (found.stance, stated(found), found.reason) == (stance, relations, "")


@pytest.mark.parametrize(
    ("said", "stance", "relations"),
    [
        (["alternatives denied cup left jug"], "asserted", []),
        (["denied cup left jug", "possible cup above jug"], "asserted", []),
        (["cup left jug", "possible cup above jug"], "asserted", ["left"]),
        (["necessary cup left jug", "possible cup above jug"], "necessary", ["left"]),
    ],
)
def test_claims_of_several_stances_are_read_in_part(
    said: list[str], stance: str, relations: list[str]
) -> None:
    found = claim("The word cup jug pan", *said)
    assert (found.stance, [m.relation for m in found.relations]) == (stance, relations)
    assert found.reason == "in-part"


def test_a_denial_is_a_denial_whatever_the_model_calls_it() -> None:
    for text in ("The cup isn\u2019t left of jug", "The can cup is nowhere left of jug"):
        text = text.replace("can cup", "cup")
        assert stated(claim(text, "impossible cup left jug")) == [("cup", "not_left", "jug")]
    assert (
        claim("The cup couldn't be left of jug", "impossible cup left jug").stance == "impossible"
    )


def test_a_word_of_a_name_is_no_modal() -> None:
    texts = TraceTexts.of([], "", ["The can is not left of the jug."], "")
    read = sentence("C1", texts.claims[0], "impossible cup left jug")
    read["things"][0:0] = [{"id": "t1", "words": "The can"}]
    (first, _) = READER.read(texts, [reply(read, sentence("C2", ""))]).claims
    assert (first.stance, stated(first)) == (
        "asserted",
        [("can", "not_left", "jug")],
    )


def test_what_is_not_between_two_things_is_denied_of_what_spans_both() -> None:
    found = claim("The word cup jug pan", "denied cup between jug+pan")
    assert (found.stance, stated(found)[-1]) == ("asserted", ("cup", "not_between", "jug and pan"))


@pytest.mark.parametrize(
    "said", ["asserted", "possible", "necessary", "impossible", "alternatives"]
)
@pytest.mark.parametrize(
    ("text", "stance"),
    [
        ("Could cup be above jug?", "asked"),
        ("Hold cup above jug.", "asked"),
        ("Take pan, and hold cup above jug.", "asked"),
        ("You should put cup above jug.", "asked"),
        ("Make sure cup stays above jug.", "asked"),
        ("2. Now move cup above jug.", "asked"),
        ("I will place cup above jug.", "asked"),
        ("Suppose cup is above jug.", "supposed"),
        ("If pan is free, cup is above jug.", "supposed"),
        ("Case 2: cup is above jug.", "supposed"),
    ],
)
def test_what_is_asked_told_to_somebody_or_supposed_is_no_claim(
    text: str, stance: str, said: str
) -> None:
    found = claim(text, f"{said} cup above jug")
    assert (found.stance, stated(found), found.reason) == (stance, [], "")


@pytest.mark.parametrize(
    "text",
    [
        "They take pan and hold cup above jug.",
        "Mount cup is above jug.",
        "First, put pan away, so cup is above jug.",
        "If you face the door, cup is above jug.",
        "So cup is above jug.",
    ],
)
def test_what_is_stated_beside_such_words_is_a_claim(text: str) -> None:
    assert stated(claim(text, "cup above jug")) == [("cup", "above", "jug")]


@pytest.mark.parametrize(
    ("said", "reason", "relations"),
    [
        ("cup left jug", "number", ["left"]),
        ("cup left jug", "no-relation", ["left"]),
        ("possible cup left jug", "number", ["left"]),
        ("denied cup left jug", "number", []),
        ("impossible cup left jug", "number", []),
        ("cup left jug", "frame", []),
        ("cup left jug", "change", []),
        ("cup left jug", "quantifier", []),
        ("cup left jug", "reference", []),
    ],
)
def test_a_claim_read_in_part_keeps_what_holds_if_it_does(
    said: str, reason: str, relations: list[str]
) -> None:
    found = claim("The word can cup jug", said, unexpressed=[("word", reason)])
    assert ([m.relation for m in found.relations], found.reason) == (relations, "in-part")
    assert found.rest == ("word",)


def test_what_no_relation_says_leaves_a_claim_unread() -> None:
    assert claim("The word cup jug", unexpressed=[("word", "no-relation")]).reason == "in-part"
    assert claim("The word cup jug").reason == ""


def test_between_places_a_thing_by_one_that_spans_both() -> None:
    found = claim("The word cup jug pan", "cup between jug+pan")
    assert stated(found) == [
        ("jug and pan", "spans", "jug"),
        ("jug and pan", "spans", "pan"),
        ("cup", "between", "jug and pan"),
    ]


def scene(*said: str, samples: int = 1) -> ParsedTrace:
    texts = TraceTexts.of(["The word cup jug pan"], "")
    return READER.read(texts, [reply(sentence("S1", texts.scene[0], *said)) * samples])


@pytest.mark.parametrize(
    ("said", "relation"),
    [
        ("cup left jug", "left"),
        ("necessary cup left jug", "left"),
        ("denied cup inside jug", "not_inside"),
        ("impossible cup inside jug", "not_inside"),
        ("denied cup left jug", "not_left"),
        ("possible cup left jug", None),
        ("retracted cup left jug", None),
    ],
)
def test_a_scene_states_what_surely_holds(said: str, relation: str | None) -> None:
    read = scene(said).scene
    assert [statement.relation for _, statement in read] == ([relation] if relation else [])


def test_what_a_scene_does_not_surely_state_is_left_out_and_named() -> None:
    found = scene("cup left jug", "cup right jug", "cup above pan")
    assert [m.relation for m in found.of_sentence(1)] == ["above"]
    assert len(found.faults) == 2 and found.faults[0].startswith("scene sentence 1: ")


def test_the_question_is_read() -> None:
    texts = TraceTexts.of(["The word cup jug"], "Could cup be left of jug?")
    asked = reply(sentence("Q1", texts.question[0], "possible cup left jug"), asks=["t1", "t2"])
    question = READER.read(texts, [reply(sentence("S1", texts.scene[0])), asked]).question()
    assert (question.pair, question.stance) == (("cup", "jug"), "possible")
    assert question.states == (("cup", "left", "jug"),)


def response(answer: str, asks: list[str], second: str = "jug left pan") -> list[Claim]:
    texts = TraceTexts.of(
        [],
        "Where is cup by jug?",
        None,
        None,
        "The word cup jug. The word jug pan cup. The word tin.",
    )
    given = reply(
        sentence("Q1", texts.question[0]),
        sentence("C1", texts.claims[0], "cup left jug"),
        sentence("C2", texts.claims[1], second),
        sentence("C3", texts.claims[2]),
        asks=asks,
        answer=answer,
    )
    return list(READER.read(texts, [given]).claims)


def test_the_sentence_that_delivers_the_answer_is_the_conclusion() -> None:
    claims = response("C1", ["t1", "t2"])
    assert [c.type for c in claims] == ["reasoning", "reasoning", "conclusion"]
    assert stated(claims[-1]) == [("cup", "left", "jug")]
    assert claims[0].text == "The word jug pan cup."


def test_without_one_it_is_the_last_claim_if_about_the_pair_or_empty() -> None:
    claims = response("", ["t1", "t2"], second="jug above cup")
    assert len(claims) == 3 and stated(claims[-1]) == [("jug", "above", "cup")]
    assert response("", ["t1", "t2"])[-1] == Claim("conclusion", "", ())
    assert response("", [])[-1] == Claim("conclusion", "", ())


def test_the_thing_any_is_every_thing() -> None:
    said = sentence("S1", "nothing is left of the cup", "denied any left cup")
    said["things"].append({"id": "any", "words": "nothing"})
    texts = TraceTexts.of(["nothing is left of the cup"], "", [], "")
    parsed = READER.read(texts, [reply(said), reply(sentence("C1", ""))])
    assert [(s.figure, s.relation, s.ground) for _, s in parsed.scene] == [
        ("anything", "not_left", "cup")
    ]


def test_a_denial_in_a_scene_that_no_relation_says_is_named() -> None:
    found = scene("denied cup spans jug", "cup above pan")
    assert [m.relation for m in found.of_sentence(1)] == ["above"]
    assert found.complete is False
    assert [fault.split(":")[0] for fault in found.faults] == ["scene sentence 1"]
    assert "denied" in found.faults[0]


@pytest.mark.parametrize("count", [0, 2])
def test_readings_of_another_text_are_refused(count: int) -> None:
    texts = TraceTexts.of(["The word cup jug"], "")
    given = [reply(sentence("S1", texts.scene[0]))] * count
    with pytest.raises(RecordError, match="of another text"):
        READER.read(texts, given)


def test_sentences_that_were_read_alone_are_one_trace() -> None:
    texts = TraceTexts.of(["The cup is left of the jug."], "", ["The jug is right of the cup."], "")
    given = [
        reply(sentence("S1", texts.scene[0], "cup left jug")),
        reply(sentence("C1", texts.claims[0], "jug right cup")),
        reply(sentence("C1", texts.claims[1])),
    ]
    read = READER.read(texts, given, alone=True)
    assert [(m.figure, m.relation, m.ground) for m in read.of_sentence(1)] == [
        ("cup", "left", "jug")
    ]
    assert stated(read.claims[0]) == [("jug", "right", "cup")]
    assert read.claims[0].relations[0].grounded
    with pytest.raises(RecordError, match="of another text"):
        READER.read(texts, given)


def test_what_has_an_extent_may_be_at_two_places() -> None:
    parser = TraceAuditor(profile="everyday")
    told = sentence("S1", "cup at jug and at pan.", "cup at jug", "cup at pan")
    moved = sentence("S2", "cup left tin.", "cup left tin")
    read = [reply(told, moved), reply(sentence("C1", "tin right cup.", "tin right cup"))]
    given = {"model": "m", "prompt": "", "replies": read}
    record = {"id": "x", "scene": ["cup at jug and at pan.", "cup left tin."], "question": ""}
    record |= {"reasoning": [], "conclusion": "tin right cup.", "readings": given}
    audit = parser.audited(make_record(Trace, record))
    assert not audit["faults"]
    assert [claim["grounded_verdict"] for claim in audit["claims"]] == ["entailed"]
