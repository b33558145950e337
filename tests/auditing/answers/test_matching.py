"""The text of an answer to its labels, for each answer space."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from symbouq.auditing.answers import AnswerSpace, agrees, delivered, space_of
from symbouq.auditing.answers.text import answering_sentences
from symbouq.auditing.answers.words import cues, meanings
from symbouq.experiments.benchmarks import BENCHMARKS

NINE = BENCHMARKS["stepgame"].spaces["direction"]

SPACES = {
    "nine": space_of(NINE),
    "four": AnswerSpace("relations", ("left", "right", "above", "below"), "single"),
    "spartqa": space_of(BENCHMARKS["spartqa"].spaces["FR"]),
    "spartun": space_of(BENCHMARKS["spartun"].spaces["FR"]),
    "sparp": space_of(BENCHMARKS["sparp"].spaces["PS1"]),
    "yes/no": space_of(["yes", "no"]),
    "yes/no/dk": space_of(["Yes", "No", "DK"]),
    "nli": space_of(["entailment", "neutral", "contradiction"]),
    "sat": space_of(["satisfiable", "unsatisfiable"]),
    "blocks": space_of(["A", "B", "C"]),
    "objects": space_of(["the red box", "the tiny green cone", "both of them", "none of them"]),
    "moves": space_of(["n", "s", "e", "w"]),
    "rcc8": space_of(["DC", "EC", "PO", "TPP", "NTPP", "TPPi", "NTPPi", "EQ"]),
    "cdc": space_of(["N", "NE", "E", "SE", "S", "SW", "W", "NW", "B"]),
}

CASES = [
    # case, punctuation, spelling, synonyms
    ("nine", "Upper-Left.", "upper-left"),
    ("nine", "upper_left", "upper-left"),
    ("nine", "**north-west**", "upper-left"),
    ("nine", "above and slightly to the right", "upper-right"),
    ("nine", "They overlap.", "overlap"),
    ("nine", "\\boxed{\\text{lower-right}}", "lower-right"),
    ("nine", '{"reason": "left", "answer": "below"}', "below"),
    ("nine", "above or over", "above"),
    # where the answer stands
    ("nine", "left. This follows since P is right of C.", "left"),
    ("nine", "Therefore, K is to the left of M because M is right of K.", "left"),
    ("nine", "Q is above M, M is left of P. So Q is upper-left of P.", "upper-left"),
    ("nine", "First right, then up.\nAnswer: below\nConfidence: 9", "below"),
    ("nine", "Answer: left\nNo, wait.\nAnswer: right", "right"),
    # denied, hedged, open, several, refused
    ("nine", "not left but right", "right"),
    ("nine", "The answer is left, not right.", "left"),
    ("nine", "It is not above Q.", None),
    ("nine", "probably left", "left"),
    ("nine", "It might be left.", None),
    ("nine", "either left or right", None),
    ("nine", "left or above", None),
    ("nine", "left and right", None),
    ("nine", "overlap and above", None),
    ("nine", "I cannot determine the relation.", None),
    ("nine", "unknown", None),
    ("nine", "I'm sorry, I can't help with that.", None),
    ("nine", "", None),
    ("nine", "   \n", None),
    ("four", "left", "left"),
    ("four", "left and above", None),
    ("four", "left, near", "left"),
    ("yes/no", "Yes, it is.", "yes"),
    ("yes/no", "NO", "no"),
    ("yes/no", "It is not true.", "no"),
    ("yes/no", "yes or no", None),
    ("yes/no", "Yes/No", None),
    ("yes/no", "unclear", None),
    ("yes/no", "maybe yes", None),
    ("yes/no", "There is no box.", None),
    ("yes/no/dk", "It cannot be determined.", "DK"),
    ("yes/no/dk", "There is not enough information.", "DK"),
    ("yes/no/dk", "dk", "DK"),
    ("yes/no/dk", "As an AI I cannot answer.", None),
    ("yes/no/dk", "The answer is no", "No"),
    ("yes/no/dk", "No\n\n9", "No"),
    ("nli", "Entailed", "entailment"),
    ("nli", "This is a contradiction.", "contradiction"),
    ("nli", "not entailment", None),
    ("nli", "neither entailed nor contradicted", "neutral"),
    ("nli", "cannot be determined", "neutral"),
    ("nli", "entailment or neutral", None),
    ("nli", "It does not contradict the premises, it is neutral.", "neutral"),
    ("sat", "Yes", "satisfiable"),
    ("sat", "No, they clash.", "unsatisfiable"),
    ("sat", "not satisfiable", "unsatisfiable"),
    ("sat", "They cannot all be true.", "unsatisfiable"),
    ("sat", "Possibly consistent", None),
    ("sat", "unknown", None),
    (
        "sat",
        "Answering the question:\n1. P is left of Q.\nSo they cannot hold.\n**No**",
        "unsatisfiable",
    ),
    ("spartqa", "touching, left and ABOVE", ["left", "above", "touching"]),
    ("spartqa", "above; left", ["left", "above"]),
    ("spartqa", "I don't know", ["DK"]),
    ("spartqa", "near to but not touching", ["near to"]),
    ("spartqa", "left or right", None),
    ("spartqa", "far away and to the west", ["left", "far from"]),
    ("spartun", "dc, Left", ["left", "dc"]),
    ("spartun", "in front of and disconnected", ["front", "dc"]),
    ("spartun", "The cone is behind the box.", ["behind"]),
    ("sparp", '["above", "outside and touching"]', ["above", "outside and touching"]),
    ("sparp", "Final answer:\n[\n'inside',\n'below'\n]", ["below", "inside"]),
    ("sparp", "partially overlapping", ["partially overlapping"]),
    ("sparp", "unknown", None),
    ("blocks", "Block B and block A", ["A", "B"]),
    ("blocks", "a, c", ["A", "C"]),
    ("blocks", "A block that fits is C.", ["C"]),
    ("blocks", "B, not C", ["B"]),
    ("blocks", "none", []),
    ("blocks", "There is no block.", []),
    ("blocks", "All blocks", ["A", "B", "C"]),
    ("blocks", "A or B", None),
    ("blocks", "I don't know", None),
    ("objects", "The tiny green cone", "the tiny green cone"),
    ("objects", "both", "both of them"),
    ("objects", "Neither", "none of them"),
    ("objects", "red box and tiny green cone", "both of them"),
    ("objects", "red box or tiny green cone", None),
    ("objects", "not the red box but the tiny green cone", "the tiny green cone"),
    ("objects", "the blue ball", None),
    ("moves", "n, e", ["n", "e"]),
    ("moves", "Go south, then west.", ["s", "w"]),
    ("moves", "['s','s']", ["s", "s"]),
    ("moves", "n or s", None),
    ("rcc8", "DC or EC", ["DC", "EC"]),
    ("rcc8", "tppi, NTPP^-1, EQ", ["TPPi", "NTPPi", "EQ"]),
    ("rcc8", "not DC, but EC", ["EC"]),
    ("rcc8", "All 8 relations are possible", list(SPACES["rcc8"].labels)),
    ("cdc", "NE, N", ["N", "NE"]),
    ("cdc", "b is north of c", ["N"]),
]


@pytest.mark.parametrize(("space", "text", "expected"), CASES)
def test_delivered(space: str, text: str, expected: str | list[str] | None) -> None:
    wanted = (expected,) if isinstance(expected, str) else expected
    assert delivered(text, SPACES[space]) == (None if wanted is None else tuple(wanted))


HULL = ("surrounded by", "surrounds", "above")
CONTAINMENT = ("inside", "contains", "not inside")
OFFERED = ("the box", "the cup", "cannot be determined")

WORDED_BY_THE_ONTOLOGY = [
    # directions: clock faces, configurations, phrases of a profile
    (NINE, "At 3 o'clock.", ["right"]),
    (NINE, "It is superimposed on Q.", ["overlap"]),
    (NINE, "back left", ["lower-left"]),
    (NINE, "K is right above M.", ["above"]),
    # relations of any family
    (HULL, "It is encircled by the trees.", ["surrounded by"]),
    (HULL, "ringed by trees", ["surrounded by"]),
    (HULL, "It encircles the pond.", ["surrounds"]),
    (CONTAINMENT, "enclosed by the fence", ["inside"]),
    (CONTAINMENT, "It encloses the yard.", ["contains"]),
    (CONTAINMENT, "outside of the box", ["not inside"]),
    # RCC-8, and what follows from a relation that is no label
    (SPACES["spartun"].labels, "at the corner of the box", ["tpp"]),
    (SPACES["spartun"].labels, "the container of the cup", ["ntppi"]),
    (SPACES["spartun"].labels, "It overlaps with the jug.", ["po"]),
    (SPACES["spartun"].labels, "alongside, and ahead of it", ["front", "near"]),
    (SPACES["spartqa"].labels, "beside it", ["near to"]),
    (SPACES["sparp"].labels, "at the edge of the box", ["inside and touching"]),
    (SPACES["rcc8"].labels, "TPP inverse, or the container of z", ["TPPi"]),
    (SPACES["rcc8"].labels, "touching or overlapping", ["EC", "PO"]),
    (SPACES["cdc"].labels, "All nine of the cardinal relations", SPACES["cdc"].labels),
    (SPACES["moves"].labels, "north, then the eastern way", ["n", "e"]),
    # judgements, options, numbers, blocks
    (("true", "false"), "Yes, it is.", ["true"]),
    (("consistent", "inconsistent"), "This is impossible.", ["inconsistent"]),
    (OFFERED, "There is not enough information.", ["cannot be determined"]),
    (("one", "two", "three"), "2", ["two"]),
    (SPACES["objects"].labels, "neither of these", ["none of them"]),
    (SPACES["blocks"].labels, "nothing", []),
]


@pytest.mark.parametrize(("labels", "text", "expected"), WORDED_BY_THE_ONTOLOGY)
def test_answers_are_worded_as_the_ontology_knows_it(
    labels: tuple[str, ...], text: str, expected: list[str]
) -> None:
    assert delivered(text, labels) == tuple(expected)


def test_a_word_has_the_sense_of_the_data_set() -> None:
    labels = ("inside", "ntpp", "left")
    assert delivered("within the box", space_of(labels)) == ("inside",)
    assert delivered("within the box", space_of(("ntpp", "left"), dataset="spartun")) == ("ntpp",)


ROLES = {
    *("denial", "determiner", "hedge", "choice", "pause", "stop", "filler", "other", "article"),
    *("open", "declined", "all", "noun", "link", "choosing", "conclusion", "clause", "reason"),
    *("confidence", "settled", "possible", "listing", "unsure"),
    *(
        "adverb",
        "announcing",
        "announced",
        "supposing",
        "opening",
        "closing",
        "pointing",
        "contrary",
    ),
    *("doubt", "assent", "refusal", "replacing", "blunder", "meant", "twofold", "reversing"),
    "lettering",
}


def test_every_role_of_a_cue_is_known() -> None:
    assert set(cues()) == ROLES


@pytest.mark.parametrize("text", cues()["unsure"])
def test_who_does_not_know_answers_where_that_is_one_of_the_labels(text: str) -> None:
    assert delivered(f"I am {text} here.", SPACES["yes/no/dk"]) == ("DK",)
    usual = replace(space_of(("yes", "no", "cannot be determined")), given=False)
    assert delivered(f"I am {text} here.", usual) is None
    assert delivered("It cannot be determined.", usual) == ("cannot be determined",)


@pytest.mark.parametrize("text", cues()["open"])
def test_what_leaves_a_question_open(text: str) -> None:
    assert delivered(f"It is {text} here.", SPACES["yes/no/dk"]) == ("DK",)
    assert delivered(f"It is {text} here.", NINE) is None


@pytest.mark.parametrize("text", cues()["declined"])
def test_what_declines_to_answer(text: str) -> None:
    assert delivered(f"It is {text}, left.", NINE) is None


@pytest.mark.parametrize(("text", "meaning"), meanings().items())
def test_all_that_a_meaning_is_called(text: str, meaning: str) -> None:
    labels = {
        "open": ("yes", "no", "DK"),
        **dict.fromkeys(("both", "none"), SPACES["objects"].labels),
        **dict.fromkeys(("entailment", "contradiction"), SPACES["nli"].labels),
        **dict.fromkeys(("satisfiable", "unsatisfiable"), SPACES["sat"].labels),
    }.get(meaning, ("yes", "no"))
    named = {"open": "DK", "both": "both of them", "none": "none of them"}.get(meaning, meaning)
    assert delivered(text, labels) == (named,)


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("It is in neither A nor B.", ("A", "B", "C"), None),
        ("neither", ("A", "B", "C"), ()),
        (
            "There is no satisfiable assignment.",
            ("satisfiable", "unsatisfiable"),
            ("unsatisfiable",),
        ),
        ("There is no entailment.", ("entailment", "contradiction", "neutral"), None),
        ("It cannot be determined whether left.", ("left", "right", "above", "DK"), ("DK",)),
        ("PO\nTPP\nNTPP", ("DC", "EC", "PO", "EQ", "TPP", "NTPP"), ("PO", "TPP", "NTPP")),
    ],
)
def test_what_is_denied_open_or_listed(
    text: str, labels: tuple[str, ...], expected: tuple[str, ...] | None
) -> None:
    assert delivered(text, labels) == expected


@pytest.mark.parametrize("name", SPACES)
def test_every_label_is_itself(name: str) -> None:
    space = SPACES[name]
    for label in space.labels:
        for text in (label, label.upper(), f"{label}.", f"Answer: {label}", f'"{label}"'):
            if name == "cdc" and text != text.upper():
                continue
            assert delivered(text, space) == (label,), text


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("text", ["", "?", "\n\n", "{}", "[", "answer:", "42", "☃", "x" * 5000])
def test_nothing_is_none_and_breaks_nothing(name: str, text: str) -> None:
    assert delivered(text, SPACES[name]) is None


def test_spaces_are_told_by_their_labels() -> None:
    assert {name: space.name for name, space in SPACES.items()} == {
        "nine": "directions",
        "four": "relations",
        "spartqa": "relations",
        "spartun": "relations",
        "sparp": "relations",
        "yes/no": "yes-no",
        "yes/no/dk": "yes-no",
        "nli": "entailment",
        "sat": "consistency",
        "blocks": "blocks",
        "objects": "choice",
        "moves": "moves",
        "rcc8": "composition",
        "cdc": "composition",
    }


def test_a_direction_stated_the_other_way_round_is_turned() -> None:
    question = "What is the relation of the agent K to the agent M?"
    assert delivered("M is left of K", NINE, question) == ("right",)
    assert delivered("K is left of M", NINE, question) == ("left",)
    assert delivered("left", NINE, question) == ("left",)


def test_sets_agree_in_any_order_and_moves_in_theirs() -> None:
    assert agrees(("a", "b"), ["b", "a"], "set")
    assert not agrees(("a",), ["b", "a"], "set")
    assert not agrees(("n", "e"), ["e", "n"], "sequence")
    assert agrees(("left",), "left", "single")
    assert agrees((), [], "set")
    assert not agrees(None, [], "set")


# Correct answers and answers without a label, as the data's own account of them counts.
STEPGAME = {
    "llmasp_text-davinci-003_base_5shot": (166, 2),
    "llmasp_text-davinci-003_base_cot_5shot": (177, 2),
    "spatiallm_gpt-35-turbo_base_5shot_plain": (200, 1),
    "spatiallm_gpt-35-turbo_our_cot_5shot": (170, 18),
    "spatiallm_gpt-35-turbo_tot_cot_4shot": (36, 7),
    "spatiallm_gpt-4_our_cot_5shot": (96, 8),
    "spatiallm_gpt-4_tot_cot_4shot": (97, 5),
    "spatiallm_text-davinci-003_our_cot_5shot": (258, 0),
    "spatiallm_text-davinci-003_tot_cot_4shot": (61, 0),
}


@pytest.mark.parametrize("name", STEPGAME)
def test_stepgame_accuracies(data: Path, name: str) -> None:
    with gzip.open(data / "stepgame" / f"llm_traces_{name}.jsonl.gz", "rt", encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    found = [delivered(row["response"], NINE, row["question"]) for row in rows]
    right = sum(agrees(x, row["answer"], "single") for x, row in zip(found, rows, strict=True))
    correct, without = STEPGAME[name]
    assert right == correct
    assert abs(sum(x is None for x in found) - without) <= 1


@pytest.mark.parametrize(
    "run", ["(", "a" + " " * 9, "\\boxed{", "\\text{", ":\n", "because ", "- "]
)
def test_the_answer_after_a_long_run(run: str) -> None:
    """Time that grows with the square of a text's length would not end here."""
    text = run * (100_000 // len(run))
    assert answering_sentences(f"{text}\nAnswer: left", several=True) == ("left",)


def test_consistency_answers_of_models(data: Path) -> None:
    """Against the last word of each answer, which the data reads them by."""
    file = data / "consistency2d" / "llm_traces_consistency2d.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    last = {"yes": ("satisfiable",), "no": ("unsatisfiable",)}
    for row in rows:
        found = delivered(row["response"], row["answer_space"])
        assert found == last[row["meta"]["final_token"]], row["id"]


def test_short_answers_of_models(data: Path) -> None:
    """Against the option that the harness of those traces took each answer for."""
    file = data / "spartqa" / "llm_traces_spartqa_human.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    rows = [row for row in rows if row["meta"]["first_selected"]]
    same = sum(
        set(delivered(row["meta"]["first_answer"], row["answer_space"]) or ())
        == set(row["meta"]["first_selected"])
        for row in rows
    )
    assert len(rows) > 200
    assert same >= len(rows) - 1


@pytest.mark.parametrize(
    ("labels", "text", "expected"),
    [
        (("A", "B", "C"), "Since A and B are full, and C is empty, Block C is the one.", ("C",)),
        (("A", "B", "C"), "Because all of them hold a cup, it is A, B and C.", ("A", "B", "C")),
        (
            ("yes", "no"),
            "It is above the row, so it is up there. No, it is not left of it.",
            ("no",),
        ),
        (("yes", "no"), "It is above the row, so it is up there. Nothing else is known.", None),
    ],
)
def test_grounds_before_an_answer_and_judgements_after_a_conclusion(
    labels: tuple[str, ...], text: str, expected: tuple[str, ...] | None
) -> None:
    assert delivered(text, labels) == expected
