"""Texts cut into sentences, and the same shape read once."""

from __future__ import annotations

import pytest

from symbouq.ontology.library import builtin
from symbouq.reading.syntax.pipeline import pipeline
from symbouq.reading.syntax.sentences import Sentences

SENTENCES = Sentences(builtin().ontology("nine-way"), pipeline())

CUTS = {
    "A is above B. C is left of D.": ["A is above B.", "C is left of D."],
    "A is above B.\n- C is left of D": ["A is above B.", "- C is left of D"],
    "Is A above B? Yes!": ["Is A above B?", "Yes!"],
    "**Step 1.** A is above B.": ["**Step 1.**", "A is above B."],
    "A is 3.5 m above B.": ["A is 3.5 m above B."],
    "\\boxed{\\text{left}}": ["left"],
    "...": [],
}


@pytest.mark.parametrize("text", CUTS)
def test_cuts(text: str) -> None:
    assert [text[start:end] for start, end in SENTENCES.cut(text)] == CUTS[text]


def test_sentences_of_one_shape_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    SENTENCES.read(["P sits right above Q."])
    monkeypatch.setattr(SENTENCES.pipeline, "parsed", lambda sentences: iter(list(sentences)))
    (read,) = SENTENCES.read(["K sits right above L."])
    (triplet,) = read[0].says.triplets
    assert read[0].named[triplet.figure] == (["K"], "K", False)


@pytest.mark.parametrize(
    "texts",
    [("K3 is in spring 70.", "K3 is in box 70."), ("K3 is in box 70.", "K3 is in spring 70.")],
)
def test_a_name_is_not_read_as_another_name_was(texts: tuple[str, str]) -> None:
    """Spring is a time and a box is a place, whichever is read first."""
    sentences = Sentences(builtin().ontology("everyday"), pipeline())
    says = {text: bool(sentences.read([text])[0][0].says.triplets) for text in texts}
    assert says == {"K3 is in box 70.": True, "K3 is in spring 70.": False}


def test_offsets_are_those_of_the_text() -> None:
    text = "Hm. A is above B."
    *_, last = SENTENCES.read([text])[0]
    assert text[last.start :] == last.text == "A is above B."


def test_what_is_longer_than_any_that_is_read_says_nothing() -> None:
    (sentence,) = SENTENCES.read(["A is above B " * 200])[0]
    assert sentence.too_long
    assert not sentence.says.triplets


def test_a_verb_that_the_parser_takes_for_a_noun() -> None:
    (sentence,) = SENTENCES.read(["The tooltip renders below the cursor."])[0]
    assert [sentence.named[s.figure][0] for s in sentence.says.triplets] == [["tooltip"]]


def test_such_a_verb_beside_one_that_is_not_finite() -> None:
    (sentence,) = SENTENCES.read(["After resizing, the filter bar wraps below the field."])[0]
    (triplet,) = sentence.says.triplets
    assert sentence.named[triplet.figure][0] == ["filter", "bar"]


def test_a_bidding_that_the_parser_takes_for_a_noun() -> None:
    assert stated("Mount the sensor above the tank valve.") == [("sensor", "above", "tank valve")]


def test_words_before_labels_belong_to_them_where_both_have_them() -> None:
    assert stated("Shell casing 2 was logged as lying south of shell casing 1.") == [
        ("Shell casing 2", "below", "shell casing 1")
    ]
    assert stated("Put box 2 below box 1.") == [("box 2", "below", "box 1")]


def stated(text: str, *names: tuple[str, ...]) -> list[tuple[str, str, str]]:
    (sentences,) = SENTENCES.read([text], frozenset(names))
    return [
        (" ".join(s.named[x.figure][0]), *x.relations, " ".join(s.named[x.ground][0]))
        for s in sentences
        for x in s.says.triplets
        if s.sure(x)
    ]


def test_names_that_a_text_repeats_help_the_parser() -> None:
    text = "In this level the portal spawns two tiles left of the chest."
    read = ("portal", "left", "chest")
    assert read not in stated(text)
    assert read in stated(text, ("portal",), ("chest",))


def test_what_is_read_plainly_of_known_things_stays() -> None:
    text = "The lamp hangs here, and in the evening the rug is below it."
    names = ("lamp",), ("rug",)
    assert stated(text, *names) == stated(text)
