from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from symbouq.ontology.library import OntologyLibrary
from symbouq.reading.model.schema import reply_schema
from symbouq.records import Reply

llguidance = pytest.importorskip("llguidance", reason="the extra `models` is not installed")


def accepts(schema: dict[str, object], text: str) -> bool:
    """Whether llguidance, on bytes as tokens, lets a text through to its end."""
    from llguidance import LLMatcher, LLTokenizer

    tokenizer = LLTokenizer("byte")
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_json_schema(json.dumps(schema)))
    assert not matcher.is_error(), matcher.get_error()
    tokens = tokenizer.tokenize_str(text)
    return bool(matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting())


def reply(more: Any = (), without: Sequence[str] = (), **relation: object) -> str:
    said = {"words": "left of", "stance": "asserted", "polarity": "affirmed", "subject": "t1"}
    said |= {"relation": "left", "object": "t2", "amount": "", **relation}
    things = [{"id": "t1", "words": "The cup"}, {"id": "t2", "words": "the jug"}]
    if isinstance(said["object"], list) or "amount" in without:
        del said["amount"]
    sentence = {"sentence": "S1", "things": things, "relations": [said], "places": []}
    sentence |= {"headings": [], "count": [], "unexpressed": [], **dict(more)}
    sentence = {name: value for name, value in sentence.items() if name not in without}
    return json.dumps({"sentences": [sentence], "asks": [], "answer": ""})


@pytest.fixture(scope="module")
def schema() -> dict[str, object]:
    return reply_schema(OntologyLibrary().ontology("everyday"))


def test_replies_of_the_schema_are_readings(schema: dict[str, object]) -> None:
    assert accepts(schema, reply())
    assert Reply.model_validate_json(reply()).sentences[0].relations[0].relation == "left"


@pytest.mark.parametrize(
    "relation",
    [
        {"relation": "leftish"},
        {"subject": "cup"},
        {"stance": "shouted"},
        {"polarity": "maybe"},
        {"object": ["t2", "t3"]},
        {"relation": "between"},
        {"words": ""},
        {"words": "far" * 60},
        {"subject": "t0"},
        {"relation": "up_from"},
        {"amount": "3\nm"},
        {"words": "left\nof"},
    ],
)
def test_nothing_else_is_of_the_schema(schema: dict[str, object], relation: object) -> None:
    assert not accepts(schema, reply(**relation))  # type: ignore[arg-type]


def test_relations_of_several_landmarks_list_them(schema: dict[str, object]) -> None:
    assert accepts(schema, reply(relation="between", object=["t2", "t3"]))
    assert accepts(schema, reply(relation="one_of", object=["t2", "t3", "t4", "t5"]))
    assert not accepts(schema, reply(relation="one_of", object=["t2"]))


def test_a_relation_of_an_author_is_in_the_schema(tmp_path: Path) -> None:
    (tmp_path / "nook.lp").write_text(
        'extends(nine_way). uses(nine_way, cosiness). family(nestled, cosiness). wording(nestled, 1, "nestled in").'
    )
    ontology = OntologyLibrary(tmp_path).ontology()
    own = reply_schema(ontology)
    assert accepts(own, reply(relation="nestled", without=["amount"]))
    builtin = reply_schema(OntologyLibrary().ontology())
    assert not accepts(builtin, reply(relation="nestled", without=["amount"]))


@pytest.mark.parametrize(
    "part",
    [
        {"places": [{"words": "row 3", "thing": "t1", "scale": "row", "number": 3, "of": "t2"}]},
        {"places": [{"words": "row 3", "thing": "t1", "scale": "row", "number": -3, "of": ""}]},
        {"headings": [{"words": "south", "thing": "t1-before", "direction": "below"}]},
        {"count": [1, 2]},
    ],
)
def test_places_headings_and_counts_are_of_the_schema(schema: dict[str, object], part: Any) -> None:
    assert accepts(schema, reply(part, object="t2-before", amount="at least 3 m"))
    assert Reply.model_validate_json(reply(part)).sentences[0].sentence == "S1"


def test_only_what_a_profile_can_use_is_offered() -> None:
    text = json.dumps(reply_schema(OntologyLibrary().ontology("cdc")))
    assert '"amount"' not in text
