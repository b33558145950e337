"""Equivalence of answers on scenes whose logic was worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from symbouq.errors import SymboUQError
from symbouq.evidence.scorers.equivalence import (
    AuditorEquivalence,
    NLIEquivalence,
    answer_of,
    claims_of,
)

SCENE = "A is left of B. B is left of C. D is above A."
QUESTION = "What is the relation of A to C?"
SPACE = ["left", "right", "above", "below", "upper-left", "upper-right", "lower-left",
         "lower-right", "overlap"]  # fmt: skip


def said(conclusion: str, *reasoning: str, **fields: Any) -> dict[str, Any]:
    record = {"scene": SCENE, "question": QUESTION, "reasoning": list(reasoning)}
    return {**record, "conclusion": conclusion, **fields}


IN_SCENE, ALONE = AuditorEquivalence(), AuditorEquivalence(scene=False)


def test_names() -> None:
    assert IN_SCENE.name == "auditor, in the scene"
    assert ALONE.name == "auditor, answers alone"


@pytest.mark.parametrize(
    ("first", "second", "in_scene", "alone"),
    [
        # One relation in several words: a bare label, a sentence, its converse.
        ("left", "A is to the left of C.", True, True),
        ("A is left of C", "C is right of A", True, True),
        # True and false, and two false ones.
        ("left", "right", False, False),
        ("right", "above", False, False),
        ("right", "C is left of A", True, True),
        # Different meanings that the scene makes both true.
        ("A is left of C", "A is left of B", True, False),
        # Answers that state no relation.
        ("I cannot tell.", "i cannot tell", True, True),
        ("I cannot tell.", "nothing follows", False, False),
        ("I cannot tell.", "left", False, False),
    ],
)
def test_the_same_answer(first: str, second: str, in_scene: bool, alone: bool) -> None:
    for one, other in ((first, second), (second, first)):
        assert IN_SCENE.same(said(one), said(other)) is in_scene
        assert ALONE.same(said(one), said(other)) is alone


def test_labels_decide_where_no_relation_is_stated() -> None:
    space = ["yes", "no"]
    question = {"question": "Is A left of C?", "answer_space": space}
    yes, affirmed, no = (
        said(text, **question) for text in ("Yes.", "The answer is yes", "No, it is not.")
    )
    assert IN_SCENE.same(yes, affirmed)
    assert not IN_SCENE.same(yes, no)
    assert not IN_SCENE.same(said("Yes."), said("The answer is yes"))


def test_a_generation_that_is_not_valid_has_no_answer() -> None:
    broken = said("left", status="invalid")
    assert answer_of(broken) == ""
    assert claims_of(broken) == [""]
    assert not IN_SCENE.same(broken, said("left"))
    assert IN_SCENE.same(broken, {"scene": SCENE, "generation": {"status": "failed"}})


def test_free_responses() -> None:
    free = {"scene": SCENE, "question": QUESTION, "response": "A is left of B.\nAnswer: left"}
    assert IN_SCENE.same(free, said("C is right of A"))
    assert IN_SCENE.supports(free, said("left", "A is left of B"), 0)


def test_what_a_sample_supports() -> None:
    sample = said("left", "A is left of B", "B is left of C", "B has a red door")
    trace = said("A is left of C", "B is right of A", "D is above A", "B has a red door.", "hm")
    found = [IN_SCENE.supports(sample, trace, n) for n in range(5)]
    # Stated in converse; true in the scene but not said; the same words; other words; stated.
    assert found == [True, False, True, False, True]
    # It follows from the sample's steps, though its answer is another one: then all would follow.
    assert IN_SCENE.supports(said("I do not know", "A is left of B", "B is left of C"), trace, 4)
    torn = said("right", "A is left of B", "B is left of C")
    assert not IN_SCENE.supports(torn, trace, 4)
    assert IN_SCENE.supports(torn, said("A is right of C", "A is left of B"), 0)


def test_an_answer_without_relations_is_supported_by_one_that_means_the_same() -> None:
    question = {"question": "Is A left of C?", "answer_space": ["yes", "no"]}
    trace = said("Yes.", **question)
    assert IN_SCENE.supports(said("the answer is yes", **question), trace, 0)
    assert not IN_SCENE.supports(said("no", **question), trace, 0)


# An entailment model -------------------------------------------------------------------


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny one with random weights."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "is", "left", "right", "of", "c"]
    tokenizer = Tokenizer(models.WordLevel({w: n for n, w in enumerate(words)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    folder = tmp_path_factory.mktemp("tiny-nli")
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", model_max_length=32
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words), hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=8, id2label={0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"},
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def test_an_entailment_model(classifier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nli = NLIEquivalence(classifier)
    assert nli.name == f"nli, {classifier.name}"
    assert nli.needs == {"nli"}
    assert nli.entails("a is left of c", "c is right of a") in (True, False)

    asked = []

    def entails(premise: str, hypothesis: str) -> bool:
        asked.append((premise, hypothesis))
        return hypothesis == "where? left"

    monkeypatch.setattr(nli, "entails", entails)
    west, left = said("west", question="where?"), said("left", question="where?")
    # West entails left, but not the other way round.
    assert not nli.same(west, left)
    assert asked == [("where? west", "where? left"), ("where? left", "where? west")]
    assert nli.same(left, left)
    assert not nli.same(left, said("", question="where?"))
    monkeypatch.setattr(nli, "entails", lambda premise, _: premise == "A is left of B west")
    assert nli.supports(said("west", "A is left of B"), left, 0)
    assert not nli.supports(said("west", status="truncated"), left, 0)

    # Of contradiction (the first class) and entailment (the last) alone: 1 / (1 + e^(1 - 3)).
    monkeypatch.setattr(nli, "logits", lambda premise, claim: [3.0, 9.0, 1.0])
    assert nli.contradicts(said("west"), left, 0) == pytest.approx(0.880797)
    assert nli.contradicts(said("west", status="truncated"), left, 0) == 0


@pytest.mark.parametrize(
    ("answer", "claim", "expected"),
    [
        ("left", "left", 0),
        ("right", "left", 1),
        ("yes", "no", 1),
        ("Yes.", "yes", 0),
        ("", "no", 0),
    ],
)
def test_what_the_auditor_finds_contradicted(answer: str, claim: str, expected: int) -> None:
    space = {"answer_space": [*SPACE, "yes", "no"]}
    assert ALONE.contradicts(said(answer, **space), said(claim, **space), 0) == expected


def test_what_is_no_entailment_model(classifier: Path, tmp_path: Path) -> None:
    import json
    import shutil

    with pytest.raises(SymboUQError, match="holds no entailment model"):
        NLIEquivalence(tmp_path)
    other = tmp_path / "other"
    shutil.copytree(classifier, other)
    config = json.loads((other / "config.json").read_text())
    config |= {"id2label": {"0": "good", "1": "bad", "2": "so so"}, "label2id": {}}
    (other / "config.json").write_text(json.dumps(config))
    with pytest.raises(SymboUQError, match="one class is to be called entailment"):
        NLIEquivalence(other)
    config["id2label"] = {"0": "not_entailment", "1": "entailment", "2": "none"}
    (other / "config.json").write_text(json.dumps(config))
    with pytest.raises(SymboUQError, match="no class is called contradiction"):
        NLIEquivalence(other).contradicts(said("west"), said("left"), 0)
