from __future__ import annotations

import json
from pathlib import Path

import pytest

from symbouq.ontology.library import OntologyLibrary
from symbouq.reading.model.schema import reply_schema
from symbouq.records import Reply

llguidance = pytest.importorskip("llguidance", reason="the extra `models` is not installed")


TEXT = "The cup is left of the jug."


def accepts(schema: dict[str, object], text: str) -> bool:
    """Whether llguidance, on bytes as tokens, lets a text through to its end."""
    from llguidance import LLMatcher, LLTokenizer

    tokenizer = LLTokenizer("byte")
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_json_schema(json.dumps(schema)))
    assert not matcher.is_error(), matcher.get_error()
    tokens = tokenizer.tokenize_str(text)
    return bool(matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting())


def reply(**relation: object) -> str:
    said = {"words": "left of", "stance": "asserted", "polarity": "affirmed", "subject": "t1"}
    said |= {"relation": "left", "object": "t2", **relation}
    things = [{"id": "t1", "words": "The cup"}, {"id": "t2", "words": "the jug"}]
    sentence = {"sentence": "S1", "things": things, "relations": [said], "unexpressed": []}
    return json.dumps({"sentences": [sentence], "asks": [], "answer": ""})


@pytest.fixture(scope="module")
def schema() -> dict[str, object]:
    return reply_schema(OntologyLibrary().ontology("everyday"), {"S1": TEXT}, ["t1"], ["t2", "t3"])


def test_replies_of_the_schema_are_readings(schema: dict[str, object]) -> None:
    assert accepts(schema, reply())
    assert Reply.model_validate_json(reply()).sentences[0].relations[0].relation == "left"


@pytest.mark.parametrize(
    "relation",
    [
        {"relation": "leftish"},
        {"subject": "t9"},
        {"stance": "shouted"},
        {"polarity": "maybe"},
        {"object": ["t2", "t3"]},
        {"relation": "between"},
        {"words": ""},
        {"words": "far" * 20},
        {"words": "left\nof"},
    ],
)
def test_nothing_else_is_of_the_schema(schema: dict[str, object], relation: object) -> None:
    assert not accepts(schema, reply(**relation))  # type: ignore[arg-type]


def test_relations_of_several_landmarks_list_them(schema: dict[str, object]) -> None:
    assert accepts(schema, reply(relation="between", object=["t2", "t3"]))


def test_a_relation_of_an_author_is_in_the_schema(tmp_path: Path) -> None:
    (tmp_path / "nook.lp").write_text(
        'extends(nine_way). uses(nine_way, cosiness). family(nestled, cosiness). wording(nestled, 1, "nestled in").'
    )
    ontology = OntologyLibrary(tmp_path).ontology()
    own = reply_schema(ontology, {"S1": TEXT}, ["t1", "t2"], ["t3"])
    assert own["$defs"]["cosiness"] == {"enum": ["nestled"]}
    assert accepts(own, reply(relation="nestled"))
    builtin = OntologyLibrary().ontology()
    assert not accepts(
        reply_schema(builtin, {"S1": TEXT}, ["t1", "t2"], ["t3"]), reply(relation="nestled")
    )
