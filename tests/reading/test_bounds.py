"""What is beyond any sense is not read, and told; what is long but sensible is."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import spacy
from helpers.readers import READERS, auditor, described, events, parsed

from symbouq import limits
from symbouq.auditing.answers import delivered
from symbouq.auditing.answers.matching import _Matcher
from symbouq.auditing.auditor import TraceAuditor
from symbouq.limits import LimitError, time_limit
from symbouq.ontology.library import OntologyLibrary
from symbouq.reading import bounds
from symbouq.reading.bounds import (
    LONGEST_SENTENCE,
    LONGEST_WORD,
    MOST_THINGS,
    left_out,
    shortened,
    stretches,
)
from symbouq.reading.described.reader import DescribedReader
from symbouq.reading.faults import ReadingError
from symbouq.reading.lexicon import Lexicon
from symbouq.reading.syntax.cutting import pieces
from symbouq.reading.syntax.names import Names
from symbouq.reading.syntax.preparation import Preparation
from symbouq.reading.text import Statement
from symbouq.records import Trace

BLOCK = "There is a block called K. A red square is in block K."


def triples(mentions: tuple[Statement, ...]) -> list[tuple[str, str, str]]:
    return [(m.figure, m.relation, m.ground) for m in mentions]


@pytest.mark.parametrize("name", READERS)
def test_a_sentence_without_end_is_not_read_and_told(name: str) -> None:
    reader = READERS[name]()
    endless = "K is above L " + "and on and " * LONGEST_SENTENCE
    for read in (
        reader.read(["K is above L."], "", [endless, "L is below K."], ""),
        reader.read(["K is above L."], "", response=f"{endless}. L is below K. Answer: yes"),
    ):
        assert read.claims[0].relations == ()
        assert len(read.claims[1].relations) == 1
        assert len(read.faults) == 1
        assert read.faults[0].startswith("claim 1 is not read, for it ")
    with pytest.raises(ReadingError, match="scene sentence 2 is not read"):
        reader.read(["K is above L.", endless], "", [], "")
    assert reader.read(["K is above L."], endless, [], "").question().pair is None


def test_many_sentences_in_one_claim_are_read() -> None:
    claim = "K is above L. " * LONGEST_SENTENCE
    read = parsed().read(["K is above L."], "", [claim], "")
    assert read.faults == ()
    assert set(triples(read.claims[0].relations)) == {("K", "above", "L")}


def test_a_list_of_many_by_many_is_read() -> None:
    few = ", ".join(f"T{n}" for n in range(19))
    others = few.replace("T", "U")
    read = parsed().read([f"{few} and T19 are left of {others} and U19."], "", [], "")
    assert len(read.of_sentence(1)) == 400


def test_names_that_begin_alike_are_told_apart() -> None:
    scene = [f"The box {n} is above the box {n + 1}." for n in range(1, 60)]
    read = parsed().read(
        scene, "", ["The box 1 is below the box 12.", "BOX 5 is above box 50."], ""
    )
    assert [triples(claim.relations) for claim in read.claims[:2]] == [
        [("box 1", "below", "box 12")],
        [("box 5", "above", "box 50")],
    ]


def test_a_word_without_end_keeps_its_place() -> None:
    text = f"A is {'(' * 3 * LONGEST_WORD}above B, x"
    tokens = Lexicon(parsed().ontology).tokens(text)
    assert [(t.text, t.start) for t in tokens if t.kind != "mark"][2:] == [
        ("above", text.index("above")),
        ("B", text.index("B")),
        ("x", text.index(", x") + 2),
    ]


def test_more_described_things_than_can_be_told_apart_are_an_error() -> None:
    scene = [f"A box called T{n} is left of a box called T{n + 1}." for n in range(MOST_THINGS + 1)]
    read = described().read(scene[: MOST_THINGS - 1], "", [], "")
    assert read.scene[-1][0] == MOST_THINGS - 1
    with pytest.raises(ReadingError, match=f"more than {MOST_THINGS} things"):
        described().read(scene, "", [], "")


def test_a_text_cut_by_stops_goes_on_after_some() -> None:
    scene = [f"{BLOCK} {'the the; ' * 40} A blue circle is in block K."]
    read = described().read(scene, "", [], "")
    assert ("blue circle", "ntpp", "block K") in triples(read.of_sentence(1))


def test_an_event_with_too_many_ways_of_parsing_is_not_read() -> None:
    put = "Ann put the cup on the table"
    again = " and put the cup on the table"
    assert len(events().clauses(f"{put}{again * 3}.")) == 4
    assert events().clauses(f"{put}{again * 40} the the.") == ()


@pytest.mark.parametrize("as_response", [False, True])
def test_reading_ends_at_the_time_limit(monkeypatch: pytest.MonkeyPatch, as_response: bool) -> None:
    reader = DescribedReader(OntologyLibrary().ontology("spartun"))
    claims = ["A is above B."] * 20
    given = (None, None, " ".join(claims)) if as_response else (claims, "above")
    arguments = (["A is above B."], "", *given)
    whole = reader.read(*arguments)
    ticks = itertools.count()
    monkeypatch.setattr(limits, "monotonic", lambda: next(ticks))
    reader = DescribedReader(OntologyLibrary().ontology("spartun"))
    with limits.time_limit(15):
        text = reader.read(*arguments)
    (fault,) = text.faults
    number = int(fault.split()[1])
    assert fault == f"claim {number} and what follows it: not read, the time limit was reached"
    assert 1 < number < 20
    texts = [claim.text for claim in whole.claims]
    assert [claim.text for claim in text.claims][:19] == texts[:19]
    assert text.claims[: number - 1] == whole.claims[: number - 1]
    assert not any(claim.relations for claim in text.claims[number - 1 :])
    # Without the whole scene, nothing is read.
    with limits.time_limit(0), pytest.raises(limits.LimitError):
        DescribedReader(OntologyLibrary().ontology("spartun")).read(*arguments)


# Long responses ----------------------------------------------------------------------


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a response, 100 characters are read: 60 and 40."""
    monkeypatch.setattr(bounds, "LONGEST_RESPONSE", 100)
    monkeypatch.setattr(bounds, "_END_OF_RESPONSE", 40)


def test_a_long_response_has_beginning_and_end(short: None) -> None:
    digits = "0123456789" * 11
    assert shortened(digits[:100]) == digits[:100]
    assert left_out("the response", digits[:100]) == left_out("the response", None) == ""
    assert shortened(digits) == f"{digits[:60]}\n\n{digits[-40:]}"
    assert left_out("the response", digits) == (
        "the response is not read from character 61 to 70, for it is too long"
    )


@pytest.mark.parametrize(
    "trace",
    [
        {"profile": "everyday", "scene": ["K is above L."]},
        {"dataset": "stepgame", "scene": ["K is above L."]},
        {"dataset": "spartqa", "scene": ["A box named K is above a box named L."]},
    ],
)
def test_what_is_left_out_of_a_response_is_told(short: None, trace: dict[str, object]) -> None:
    middle = f"{'Hm. ' * 20}L is above K. {'Hm. ' * 20}"
    response = f"K is above L. {middle}So L is below K. Answer: K is above L."
    record = {"id": "t", "question": "How does K lie to L?", "response": response, **trace}
    audit = TraceAuditor().audited(Trace.model_validate(record))
    verdicts = [claim["verdict"] for claim in audit["claims"]]
    assert (verdicts[0], verdicts[-1]) == ("entailed", "entailed")
    assert "contradicted" not in verdicts  # what the middle says is not read
    (fault,) = audit["faults"]
    assert fault == (
        f"the response is not read from character 61 to {len(response) - 40}, for it is too long"
    )


def test_what_is_left_out_of_a_conclusion_is_told(short: None) -> None:
    given = {"scene": ["K is above L."], "reasoning": [], "conclusion": f"{'Hm. ' * 40}left"}
    audit = TraceAuditor("everyday").audited(Trace.model_validate({"id": "t", **given}))
    assert audit["faults"] == [
        "the conclusion is not read from character 61 to 124, for it is too long"
    ]


# Work in proportion to a text ----------------------------------------------------------


TOKENIZER = spacy.blank("en").tokenizer
LOOKING: list[tuple[Callable[[str], object], str]] = [
    (lambda text: list(stretches(text)), "a lamp "),
    (lambda text: list(pieces(TOKENIZER, text, {})), "\n"),
    (lambda text: list(pieces(TOKENIZER, text, {})), "lamp, "),
    (lambda text: list(pieces(TOKENIZER, text, {})), "A is above B. "),
    (lambda text: Lexicon(parsed().ontology).tokens(text), "( "),
    (lambda text: Names(set(), set(), set()).of([text]), "the lamp "),
    (lambda text: delivered(text, ["left", "right"]), "lamp, "),
    (lambda text: delivered(text, ["A", "B", "C"]), "\nA"),
    (lambda text: delivered(text, ["yes", "no"]), "answer: "),
]


@pytest.mark.parametrize(("read", "piece"), LOOKING)
def test_the_clock_is_looked_at_all_along_a_text(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[str], object], piece: str
) -> None:
    looks = itertools.count()
    monkeypatch.setattr(limits, "monotonic", lambda: next(looks))
    read(piece * 10)  # what is made once
    counts = []
    for times in (10_000, 20_000):
        with time_limit(1e9):
            before = next(looks)
            read(piece * times)
            counts.append(next(looks) - before)
    assert counts[0] > 4
    assert counts[1] > 1.5 * counts[0]
    with time_limit(3), pytest.raises(LimitError):
        read(piece * 10_000)


def test_words_of_an_answer_are_looked_up_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    sound = _Matcher._is_label
    monkeypatch.setattr(
        _Matcher, "_is_label", lambda self, word: looked.append(word) or sound(self, word)
    )
    counts = []
    for times in (100, 200):
        looked.clear()
        assert delivered("not " * times, ["left", "right"]) is None
        counts.append(len(looked))
    assert 0 < counts[1] <= 2.2 * counts[0]


def test_a_sentence_that_a_text_repeats_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    sound = Preparation.words

    def words(self: Preparation, *given: object, **named: object) -> object:
        read.append(given)
        return sound(self, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Preparation, "words", words)
    counts = []
    for times in (2, 300):
        auditor = TraceAuditor("everyday")  # which remembers no scene
        read.clear()
        response = "K is above L. M is left of L. " * times
        record = {"id": "t", "scene": ["K is above L.", "L is above M."], "response": response}
        claims = auditor.audited(Trace.model_validate(record))["claims"]
        verdicts = [claim["verdict"] for claim in claims[:-1]]
        assert verdicts == ["entailed", "unknown", *["entailed"] * (2 * times - 2)]
        counts.append(len(read))
    assert counts[0] == counts[1]


HOSTILE = [
    *("\n" * 40_000, "lamp, " * 8_000, "." * 40_000, ". " * 20_000, "[" * 40_000, "(" * 40_000),
    *("a" + "_" * 40_000 + "b", "answer " + "1" * 40_000 + "x", "The answer" + " " * 40_000 + "x"),
    *("The answer is " * 3_000, "\\boxed{" * 6_000, '{"answer": ' + "[" * 3_000, '"' * 40_000),
    *("Therefore, " * 4_000, "not " * 10_000, "<a" * 20_000, "\\" * 40_000, "$" * 40_000),
    *("possible:\n- " + "\n" * 40_000 + "x\n- y\n", ("(" * 900 + " ") * 10, ("a" * 999 + " ") * 40),
    *(
        "the lamp " * 5_000,
        "because " * 5_000,
        "} {" * 10_000,
        "e.g." + ")" * 40_000,
        "\u0301" * 40_000,
    ),
]


@pytest.mark.parametrize("text", HOSTILE, ids=[ascii(text[:9] + text[-3:]) for text in HOSTILE])
@pytest.mark.parametrize("dataset", ["", pytest.param("stepgame", marks=pytest.mark.slow)])
def test_runs_of_one_token_are_read_and_state_nothing(text: str, dataset: str) -> None:
    record = {"id": "t", "scene": ["K is above L."], "question": "Where is K?", "response": text}
    record |= {"answer_space": ["left", "right", "above"], "dataset": dataset or None}
    audit = auditor().audited(Trace.model_validate(record))
    assert {claim["verdict"] for claim in audit["claims"]} <= {"unknown"}
    assert not any("internal error" in fault for fault in audit["faults"])


@pytest.mark.parametrize("depth", [10, 700, 1_000, 3_000])
@pytest.mark.parametrize("nest", ["[", '{"a": ', '{"answer": [', "[{"])
def test_answers_that_nest_deep_are_texts_like_others(depth: int, nest: str) -> None:
    close = {"[": "]", "{": "}"}
    ends = "".join(close[sign] for sign in reversed(nest) if sign in close)
    for text in (nest * depth, f"{nest * depth}0{ends * depth}"):
        record = {"id": "t", "scene": ["K is above L."], "response": text}
        record |= {"answer_space": ["left", "right"]}
        audit = auditor("everyday").audited(Trace.model_validate(record))
        assert {claim["verdict"] for claim in audit["claims"]} == {"unknown"}
        assert not any("internal error" in fault for fault in audit["faults"])
