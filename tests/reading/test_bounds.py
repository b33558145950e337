"""What is beyond any sense is not read, and told; what is long but sensible is."""

from __future__ import annotations

import itertools

import pytest

from symbouq import limits
from symbouq.ontology.library import OntologyLibrary
from symbouq.reading.bounds import LONGEST_SENTENCE, LONGEST_WORD, MOST_THINGS
from symbouq.reading.described.reader import DescribedReader
from symbouq.reading.events.reader import EventReader
from symbouq.reading.lexicon import Lexicon
from symbouq.reading.named.reader import NamedReader
from symbouq.reading.traces import Mention, ReadingError, TraceReader

LIBRARY = OntologyLibrary()
NAMED = NamedReader(LIBRARY.ontology())
DESCRIBED = DescribedReader(LIBRARY.ontology("spartun"))
EVENTS = EventReader(LIBRARY.ontology("event"))
BLOCK = "There is a block called K. A red square is in block K."


def triples(mentions: tuple[Mention, ...]) -> list[tuple[str, str, str]]:
    return [(m.subject, m.relation, m.object) for m in mentions]


@pytest.mark.parametrize("reader", [NAMED, DESCRIBED, EVENTS])
def test_a_sentence_without_end_is_not_read_and_told(reader: TraceReader) -> None:
    endless = "K is above L " + "and on and " * LONGEST_SENTENCE
    for read in (
        reader.read(["K is above L."], "", [endless, "L is below K."], ""),
        reader.read(["K is above L."], "", response=f"{endless}. L is below K. Answer: yes"),
    ):
        assert read.claims[0].relations == ()
        assert len(read.claims[1].relations) == 1
        assert len(read.faults) == 1
        assert read.faults[0].startswith("claim 1 is not read, for it has a sentence of more than")
    with pytest.raises(ReadingError, match="scene sentence 2 is not read"):
        reader.read(["K is above L.", endless], "", [], "")
    assert reader.read(["K is above L."], endless, [], "").asked is None


def test_many_sentences_in_one_claim_are_read() -> None:
    claim = "K is above L. " * LONGEST_SENTENCE
    read = NAMED.read(["K is above L."], "", [claim], "")
    assert read.faults == ()
    assert triples(read.claims[0].relations) == [("K", "above", "L")]


def test_a_list_of_many_by_many_is_not_read() -> None:
    few = ", ".join(f"T{n}" for n in range(19))
    others = few.replace("T", "U")
    read = NAMED.read([f"{few} and T19 are left of {others} and U19."], "", [], "")
    assert len(read.scene[0]) == 400
    read = NAMED.read([f"{few}, T19 and T20 are left of {others} and U19."], "", [], "")
    assert read.scene == ((),)


def test_names_that_begin_alike_are_told_apart() -> None:
    scene = [f"The box {n} is above the box {n + 1}." for n in range(1, 60)]
    read = NAMED.read(scene, "", ["The box 1 is below the box 12.", "BOX 5 is above box 50."], "")
    assert [triples(claim.relations) for claim in read.claims[:2]] == [
        [("box 1", "below", "box 12")],
        [("box 5", "above", "box 50")],
    ]


def test_a_word_without_end_keeps_its_place() -> None:
    text = f"A is {'(' * 3 * LONGEST_WORD}above B, x"
    tokens = Lexicon(LIBRARY.ontology()).tokens(text)
    assert [(t.text, t.start) for t in tokens if t.kind != "mark"][2:] == [
        ("above", text.index("above")),
        ("B", text.index("B")),
        ("x", text.index(", x") + 2),
    ]


def test_more_described_things_than_can_be_told_apart_are_an_error() -> None:
    scene = [f"A box called T{n} is left of a box called T{n + 1}." for n in range(MOST_THINGS + 1)]
    assert len(DESCRIBED.read(scene[: MOST_THINGS - 1], "", [], "").scene) == MOST_THINGS - 1
    with pytest.raises(ReadingError, match=f"more than {MOST_THINGS} things"):
        DESCRIBED.read(scene, "", [], "")


def test_a_text_cut_by_stops_goes_on_after_some() -> None:
    scene = [f"{BLOCK} {'the the; ' * 40} A blue circle is in block K."]
    read = DESCRIBED.read(scene, "", [], "")
    assert ("blue circle", "ntpp", "block K") in triples(read.scene[0])


def test_an_event_with_too_many_ways_of_parsing_is_not_read() -> None:
    put = "Ann put the cup on the table"
    again = " and put the cup on the table"
    assert len(EVENTS.clauses(f"{put}{again * 3}.")) == 4
    assert EVENTS.clauses(f"{put}{again * 40} the the.") == ()


def test_reading_ends_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = NamedReader(OntologyLibrary().ontology())
    claims = ["A is above B."] * 20
    arguments = (["A is above B."], "", claims, "above")
    whole = reader.read(*arguments)
    ticks = itertools.count()
    monkeypatch.setattr(limits, "monotonic", lambda: next(ticks))
    reader = NamedReader(OntologyLibrary().ontology())
    with limits.time_limit(10):
        text = reader.read(*arguments)
    (fault,) = text.faults
    number = int(fault.split()[1])
    assert fault == f"claim {number} and what follows it: not read, the time limit was reached"
    assert 1 < number < 20
    assert [claim.text for claim in text.claims] == [claim.text for claim in whole.claims]
    assert text.claims[: number - 1] == whole.claims[: number - 1]
    assert not any(claim.relations for claim in text.claims[number - 1 :])
    # Without the whole scene, nothing is read.
    with limits.time_limit(0), pytest.raises(limits.LimitError):
        NamedReader(OntologyLibrary().ontology()).read(*arguments)
