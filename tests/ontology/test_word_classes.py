"""Word classes: every reader takes a word of any, and a class that none knows is a mistake;
an internal error in one claim costs that claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers.readers import READERS, described, events, parsed

from symbouq.errors import OntologyError
from symbouq.ontology.library import OntologyLibrary
from symbouq.ontology.words import CLASSES
from symbouq.reading.clauses import Clauses
from symbouq.reading.described.reader import DescribedReader
from symbouq.reading.lexicon import Token
from symbouq.reading.traces import Told, TraceReader

SCENE = {
    "parsed": ["K is above L.", "L is above M."],
    "described": ["A red square is above a blue circle."],
    "events": ["Ann is above the garden."],
}
FRAMES = (
    "{word} K is above L.",
    "K {word} is above L.",
    "K is {word} above L.",
    "K is above {word} L.",
    "K is above L {word}.",
    "{word}",
    "The {word} red square is above the blue circle.",
    "The red square {word} above the {word} circle, {word}.",
)


@pytest.mark.parametrize("name", READERS)
def test_a_word_of_any_class_may_stand_anywhere(name: str) -> None:
    reader: TraceReader = READERS[name]()
    texts: dict[str, list[Told]] = {}
    for word_class in sorted(CLASSES):
        words = sorted(reader.ontology.words(word_class))
        if not words:
            continue
        first, last = ([frame.format(word=words[n]) for frame in FRAMES] for n in (0, -1))
        texts[word_class] = [
            Told(SCENE[name], f"Where is K {words[0]} L?", first, words[0]),
            Told(SCENE[name], "", response=" ".join(last)),
            Told([*SCENE[name], *last], f"Is K {words[-1]} L?", [], ""),
        ]
    reader.ahead([told for each in texts.values() for told in each])
    for word_class, each in texts.items():
        steps, response, scene = (reader.read(*told).faults for told in each)
        assert (steps, response) == ((), ()), word_class
        assert not any("internal error" in fault for fault in scene)


@pytest.mark.parametrize("word", ["original", "initial", "previous", "earlier", "response"])
def test_words_of_what_was_before_are_read_past(word: str) -> None:
    read = parsed().read(["K is above L."], "", [f"From the {word} facts, K is above L."], "")
    assert [(m.figure, m.relation, m.ground) for m in read.claims[0].relations] == [
        ("K", "above", "L")
    ]


def test_a_number_of_thousands_of_digits_is_no_hour() -> None:
    long = "1" * 5000
    for reader in (parsed(), described()):
        read = reader.read(["K is above L."], "", [f"K is at {long} o'clock of L."], "")
        assert read.faults == () and read.claims[0].relations == ()


def test_words_by_their_older_name_are_lexemes(tmp_path: Path) -> None:
    words = 'word(retraction, "oh dear"). word(copula, "perches").'
    (tmp_path / "mine.lp").write_text(f"extends(nine_way). {words}", encoding="utf-8")
    ontology = OntologyLibrary(tmp_path).ontology()
    assert "oh dear" in ontology.wording.lexeme["retraction"]
    assert "perches" in ontology.words("copula")
    assert "perches" not in ontology.wording.lexeme["copula"]


def test_a_class_that_no_reader_knows_is_a_mistake(tmp_path: Path) -> None:
    file = tmp_path / "mine.lp"
    file.write_text('extends(nine_way).\n\nword(retractoin, "oh dear").\n', encoding="utf-8")
    with pytest.raises(OntologyError) as caught:
        OntologyLibrary(tmp_path)
    assert (caught.value.file, caught.value.line) == (str(file), 3)
    assert "unknown word class retractoin" in caught.value.message
    assert "did you mean retraction?" in caught.value.message


# Internal errors ---------------------------------------------------------------------------


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the reader of described things fail at any text with the word "zork"."""
    sound = DescribedReader.stated

    def stated(
        reader: DescribedReader, tokens: Sequence[Token], *rest: Any, **named: Any
    ) -> Iterator[Any]:
        yield from sound(reader, tokens, *rest, **named)
        if any(token.text == "zork" for token in tokens):
            raise KeyError("zork")

    monkeypatch.setattr(DescribedReader, "stated", stated)


def triples(read: object) -> list[list[tuple[str, str, str]]]:
    claims = read.claims  # type: ignore[attr-defined]  # a Text
    return [[(m.figure, m.relation, m.ground) for m in claim.relations] for claim in claims]


@pytest.mark.usefixtures("failing")
def test_an_internal_error_costs_one_claim() -> None:
    first, failed = "The red square is above the blue circle.", "The blue circle zork is above it."
    stated = [("red square", "above", "blue circle")]
    read = described().read(SCENE["described"], "", [first, failed, first], "zork above")
    assert triples(read) == [stated, [], stated, []]
    assert read.faults == (
        f"claim 2 is not read, because of an internal error (KeyError: 'zork'): {failed}",
        "the conclusion is not read, because of an internal error (KeyError: 'zork'): zork above",
    )
    text = described().read(SCENE["described"], "", response=f"{first} {failed} {first} Good.")
    assert triples(text)[:3] == [stated, [], stated]


@pytest.mark.usefixtures("failing")
def test_what_a_failed_claim_did_to_the_things_is_undone() -> None:
    spoken = ["There is a green star.", "It is above the blue circle."]
    failed = ["There is another green star zork above the red square.", *spoken]
    expected = triples(described().read(SCENE["described"], "", spoken, ""))
    assert triples(described().read(SCENE["described"], "", failed, "")) == [[], *expected]


@pytest.mark.usefixtures("failing")
def test_an_internal_error_in_the_scene_is_one_of_its_sentence() -> None:
    reader = described()
    scene = ["A red square zork is above B.", *SCENE["described"]]
    read = reader.read(scene, "", SCENE["described"], "")
    (fault,) = read.faults
    assert fault.startswith("scene sentence 1 is not read, because of an internal error (KeyError")
    sound = reader.read(SCENE["described"], "", [], "").scene
    assert read.scene == tuple((number + 1, statement) for number, statement in sound)
    assert [claim.relations for claim in read.claims[:-1]] == [
        read.of_sentence(number) for number in range(2, len(scene) + 1)
    ]


def test_an_internal_error_in_events_costs_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = events().read_clauses

    def clauses(sentence: str, meaning: str = "") -> Clauses:
        return 1 // 0 if "zork" in sentence else sound(sentence, meaning)  # type: ignore[return-value]

    monkeypatch.setattr(events(), "read_clauses", clauses)
    read = events().read([*SCENE["events"], "A zork fell."], "A zork?", ["A zork fell."], "")
    assert [fault.split(" is not read")[0] for fault in read.faults] == [
        *("scene sentence 2", "the question", "claim 1")
    ]
    assert read.events is not None
    assert [bool(found) for _, found in read.events] == [True, False]
