from __future__ import annotations

import json
from pathlib import Path

import pytest

from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.specs import parsed
from symbouq.reading.model.examples import as_claims, example
from symbouq.reading.model.meanings import axes, relation_meanings
from symbouq.reading.model.prompt import Prompt, encoded, prompt_of
from symbouq.reading.model.schema import offered, reply_schema

LIBRARY = OntologyLibrary()


def meaning(profile: str, relation: str) -> str:
    lines = relation_meanings(LIBRARY.ontology(profile))
    return next(line for line in lines if line.startswith((f"- {relation} ", f"- {relation};")))


@pytest.mark.parametrize(
    ("profile", "relation", "places"),
    [
        ("nine-way", "above", "x= y>"),
        ("half-plane", "above", "y>"),
        ("everyday", "lower_left", "x< y<"),
        ("everyday", "n", "x within y>"),
        ("everyday", "same_position", "x= y="),
        ("everyday", "level_with", "y="),
        ("everyday", "behind", "z<"),
        ("everyday", "on_top_of", "y>"),
    ],
)
def test_directions_mean_what_the_profile_reads(profile: str, relation: str, places: str) -> None:
    assert places in meaning(profile, relation).split("; ")


def test_a_relation_is_told_with_its_converse_by_words_of_its_own() -> None:
    assert meaning("half-plane", "next_to") == '- next_to "beside"'
    assert meaning("nine-way", "contains").startswith('- contains "the container of" / inside ')
    assert "`object` lists them" in meaning("half-plane", "between")
    assert '"externally connected to"' in meaning("spartun", "ec")
    assert '"touching"' not in meaning("spartun", "ec")


def test_what_a_profile_withholds_is_in_neither_prompt_nor_schema() -> None:
    ontology = LIBRARY.ontology("everyday")
    assert "up_from" not in prompt_of(ontology, None).instructions
    assert "up_from" not in json.dumps(reply_schema(ontology))
    assert "left" in offered(ontology) and "tpp" in offered(LIBRARY.ontology("rcc8"))


def test_the_instructions_of_everyday_texts_have_a_length() -> None:
    assert len(prompt_of(LIBRARY.ontology("everyday"), None).instructions) <= 11_000


def test_amounts_and_places_are_told_where_a_profile_has_them() -> None:
    assert "`amount`" in prompt_of(LIBRARY.ontology("everyday"), None).instructions
    assert "`amount`" not in prompt_of(LIBRARY.ontology("rcc8"), None).instructions


def test_axes_are_those_of_the_profile() -> None:
    assert [line[0] for line in axes(LIBRARY.ontology("half-plane"))] == ["x", "y", "z"]
    assert [line[0] for line in axes(LIBRARY.ontology("everyday"))] == ["x", "y", "z"]
    assert axes(LIBRARY.ontology("rcc8")) == []


def test_examples_are_of_relations_of_the_profile() -> None:
    assert '"relation":"behind"' in prompt_of(LIBRARY.ontology("half-plane"), None).instructions
    assert '"relation":"behind"' not in prompt_of(LIBRARY.ontology("rcc8"), None).instructions


def test_guidance_is_of_the_profile() -> None:
    assert "North is above" in prompt_of(LIBRARY.ontology("everyday"), None).instructions
    assert "North is above" not in prompt_of(LIBRARY.ontology("half-plane"), None).instructions


def test_what_an_author_adds_is_told_without_python(tmp_path: Path) -> None:
    (tmp_path / "nook.lp").write_text(
        "extends(nine_way). uses(nine_way, cosiness). family(nestled, cosiness). symmetric(nestled).\n"
        'wording(nestled, 1, "snug against"). phrase(nestled, "nestled by"). guidance(nine_way, "Nooks are cosy.").'
    )
    (tmp_path / "nook.test").write_text(
        'test: nooks\nreads:\n  The cat is nestled by the dog.\n    cat nestled dog "nestled by"\n'
    )
    ontology = OntologyLibrary(tmp_path).ontology()
    text = prompt_of(ontology, str(tmp_path)).instructions
    assert '- nestled "snug against"' in text
    assert "- Nooks are cosy." in text
    assert "The cat is nestled by the dog." in text
    versions = {prompt_of(o, None).version for o in (ontology, LIBRARY.ontology())}
    assert len(versions) == 2 and all(len(version) == 16 for version in versions)


def test_an_example_is_the_reply_that_a_test_describes(tmp_path: Path) -> None:
    file = tmp_path / "x.test"
    file.write_text(
        'test: all\nreads:\n  The cup is in the box, two steps from it.\n    denied: cup inside box "in"\n'
        '    possible: cup=it near \'tall lamp=lamp\' "from"\n    unexpressed number: "two steps"\n'
    )
    (spec,) = parsed(file)
    texts, reply = example(spec)
    assert texts == {"S1": "The cup is in the box, two steps from it."}
    (sentence,) = reply.sentences
    assert [(m.id, m.words) for m in sentence.things] == [
        ("t1", "The cup"),
        ("t2", "the box"),
        ("t1", "it"),
    ]
    said = [
        (r.stance, r.polarity, r.subject, r.relation, r.object, r.words) for r in sentence.relations
    ]
    assert said == [
        ("asserted", "denied", "t1", "inside", "t2", "in"),
        ("possible", "affirmed", "t1", "near", "t3", "from"),
    ]
    assert [(u.words, u.reason) for u in sentence.unexpressed] == [("two steps", "number")]
    claims, replies = as_claims(spec)
    assert [*claims.claims] == [texts["S1"], ""]
    assert [s.sentence for s in replies[0][0].sentences] == ["C1", "C2"]
    prompt = Prompt(LIBRARY.ontology("half-plane"), (spec,))
    assert encoded(reply) in prompt.instructions
