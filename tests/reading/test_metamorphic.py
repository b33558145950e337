"""What must not change, and what must change along, when a text is changed."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symbouq
from symbouq.api import TraceAuditor
from symbouq.auditing.answers import answer
from symbouq.reading.described.reader import DescribedReader
from symbouq.reading.described.syntax import BARE, DEFINITE, Grammar, Naming
from symbouq.reading.events.reader import EventReader
from symbouq.records import Audit, Instance, Trace

AUDITORS = {name: TraceAuditor(name) for name in ("nine-way", "unit-grid")}

PATTERNS = [
    "{a} is above {b}.",
    "{a} is to the left of {b}.",
    "{a} is diagonally below {b} to the right at a 45 degree angle.",
    "{a} is over there and {b} is on the right.",
    "{a} and {b} are side by side with {a} to the left and {b} to the right.",
    "If {a} is the center of a clock face, {b} is located between 10 and 11.",
    "{a} is at {b}'s 3 o'clock.",
    "{a} overlaps {b}.",
]
NAMES = ["Q", "K", "the red cube", "Alice", "box 3", "the old clock tower", "P", "unit_7"]

MIRROR = {
    "left": "right",
    "right": "left",
    "lefthand": "righthand",
    "west": "east",
    "upper-left": "upper-right",
    "upper-right": "upper-left",
}


Row = tuple[str, int, int]
"""A pattern, and which names it is of."""


@st.composite
def traces(draw: st.DrawFn) -> tuple[list[str], list[Row]]:
    """Names, and scene and claims over them as (pattern, first, second)."""
    size = draw(st.integers(3, 5))
    names = draw(st.permutations(NAMES))[:size]
    pair = st.tuples(
        st.sampled_from(PATTERNS), st.integers(0, size - 1), st.integers(0, size - 1)
    ).filter(lambda row: row[1] != row[2])
    rows = draw(st.lists(pair, min_size=4, max_size=8))
    return list(names), rows


def audit(rows: list[Row], names: list[str], profile: str) -> Audit:
    texts = [_capital(p.format(a=names[a], b=names[b])) for p, a, b in rows]
    scene, claims = texts[:4], texts[4:] or texts[:1]
    question = f"What is the relation of {names[0]} to {names[1]}?"
    return AUDITORS[profile].audit(
        Trace(
            id="t",
            dataset="stepgame",
            scene=scene,
            question=question,
            reasoning=claims[:-1],
            conclusion=claims[-1],
        )
    )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def findings(audit: Audit) -> list[tuple[object, ...]]:
    return [
        (c.verdict, c.grounded_verdict, c.repair_cost_exact, c.first_conflict, tuple(c.premises))
        for c in audit.claims
    ]


def stated(audit: Audit, mapping: dict[str, str] | None = None) -> list[list[tuple[str, str, str]]]:
    rename = mapping or {}

    def name(thing: str) -> str:
        # A name is spelled as where it occurs first, which may begin a sentence.
        return rename.get(thing.lower(), thing).lower()

    return [
        [(name(r.subject), r.relation, name(r.object)) for r in group]
        for group in [audit.scene.relations, *(claim.relations for claim in audit.claims)]
    ]


def mirrored(pattern: str) -> str:
    swapped = re.sub(r"[a-z]+(?:-[a-z]+)?", lambda m: MIRROR.get(m[0], m[0]), pattern)
    hours = {"10 and 11": "1 and 2", "3 o'clock": "9 o'clock"}
    for old, new in hours.items():
        if old in swapped:
            return swapped.replace(old, new)
    return swapped


MIRRORED_RELATION = {
    "left": "right",
    "right": "left",
    "upper_left": "upper_right",
    "upper_right": "upper_left",
    "lower_left": "lower_right",
    "lower_right": "lower_left",
}


@pytest.mark.parametrize("profile", AUDITORS)
@given(traces(), st.randoms(use_true_random=False))
@settings(max_examples=80)
def test_names_sides_and_the_order_of_the_scene(
    profile: str, trace: tuple[list[str], list[Row]], rng: random.Random
) -> None:
    names, rows = trace
    plain = audit(rows, names, profile)
    renaming_changes_nothing_but_names(plain, rows, names, profile, rng)
    mirroring_left_and_right_mirrors_the_relations(plain, rows, names, profile)
    if rows[4:]:
        order_of_scene_sentences_does_not_matter(plain, rows, names, profile, rng)


def renaming_changes_nothing_but_names(
    plain: Audit, rows: list[Row], names: list[str], profile: str, rng: random.Random
) -> None:
    others = [f"Z{n}" for n in range(len(names))]
    rng.shuffle(others)
    renamed = audit(rows, others, profile)
    mapping = {
        name.removeprefix("the ").lower(): other for name, other in zip(names, others, strict=True)
    }
    assert stated(plain, mapping) == stated(renamed)
    assert findings(plain) == findings(renamed)
    assert plain.profile == renamed.profile
    assert plain.features.trace == renamed.features.trace


def mirroring_left_and_right_mirrors_the_relations(
    plain: Audit, rows: list[Row], names: list[str], profile: str
) -> None:
    other = audit([(mirrored(p), a, b) for p, a, b in rows], names, profile)
    expected = [
        [(u, MIRRORED_RELATION.get(r, r), v) for u, r, v in group] for group in stated(plain)
    ]
    assert stated(other) == expected
    assert findings(other) == findings(plain)


def order_of_scene_sentences_does_not_matter(
    plain: Audit, rows: list[Row], names: list[str], profile: str, rng: random.Random
) -> None:
    other = audit([*rng.sample(rows[:4], 4), *rows[4:]], names, profile)
    assert [f[:4] for f in findings(plain)] == [f[:4] for f in findings(other)]
    assert [len(f[4]) for f in findings(plain)] == [len(f[4]) for f in findings(other)]


@given(st.text(max_size=200))
@settings(max_examples=200)
def test_any_text_is_audited(text: str) -> None:
    result = symbouq.audit([text, "A is above B."], text, text)
    assert result.claims[-1].type == "conclusion"


_WORDS = [
    *[
        "A",
        "B",
        "above",
        "left",
        "of",
        "the",
        "and",
        "with",
        "is",
        "it",
        "over",
        "there",
        "between",
        "3",
        "o'clock",
        "not",
        "which",
        "has",
    ],
    *[
        "(",
        ")",
        ",",
        ".",
        "?",
        "=",
        "+",
        "'",
        '"',
        "-",
        ":",
        ";",
        "\n",
        "Answer",
        "so",
        "if",
        "far",
        "at",
        "in",
        "its",
        "each",
        "other",
        "45",
        "degree",
    ],
]


@given(st.lists(st.sampled_from(_WORDS), max_size=40))
@settings(max_examples=100)
def test_any_jumble_of_known_words_is_audited(words: list[str]) -> None:
    text = " ".join(words)
    result = symbouq.audit([text], text, "What is the relation of A to B?")
    for claim in result.claims:
        for relation in claim.relations:
            assert relation.span is not None
            start, end = relation.span
            assert 0 <= start < end <= len(claim.text)


# Described scenes -------------------------------------------------------------------------

DESCRIBED = [
    "spartun/spartun_validation",
    "spartqa/spartqa_auto_validation",
    "sparp/sparp_ps1_style_validation",
]
SAMPLE = 30

Row = dict[str, Any]


@cache
def rows(data: Path, name: str) -> list[Row]:
    with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def sampled(found: list[Row]) -> list[Row]:
    return random.Random(7).sample(found, min(SAMPLE, len(found)))


def changed(row: Row, change: Callable[[str], str]) -> Row:
    """A row with its scene, its question and its labels changed."""
    return {
        **row,
        "scene": [change(text) for text in row["scene"]],
        "question": change(row["question"]),
        "answer_space": [change(label) for label in row["answer_space"]],
    }


@cache
def _auditor() -> TraceAuditor:
    return TraceAuditor()


def outcome(row: Row) -> tuple[str, set[str], set[str], int]:
    found = answer(_auditor(), Instance.model_validate(row))
    return found.status, set(found.answer), set(found.possible), len(found.premises)


@cache
def _unchanged(data: Path, name: str) -> list[tuple[Row, tuple[str, set[str], set[str], int]]]:
    """Rows that several tests change, each with its outcome."""
    return [(row, outcome(row)) for row in sampled(rows(data, name))]


def relabelled(
    found: tuple[str, set[str], set[str], int], change: Callable[[str], str]
) -> tuple[str, set[str], set[str], int]:
    status, given, possible, premises = found
    return status, set(map(change, given)), set(map(change, possible)), premises


def substituted(words: dict[str, str]) -> Callable[[str], str]:
    """Whole words for words, singular and plural, small and capital."""
    table = words | {f"{a}s": f"{b}s" for a, b in words.items()}
    table |= {a.capitalize(): b.capitalize() for a, b in table.items()}
    pattern = re.compile(
        rf"(?<![\w-])(?:{'|'.join(sorted(table, key=len, reverse=True))})(?![\w-])"
    )
    return lambda text: pattern.sub(lambda found: table[found[0]], text)


def cycle(*words: str) -> dict[str, str]:
    return dict(zip(words, [*words[1:], words[0]], strict=True))


# An article fits what it stood before.
KINDS = cycle("square", "circle", "triangle", "rectangle", "hexagon", "pentagon", "star")
COLOURS = cycle("black", "white", "blue", "yellow", "red", "green", "purple", "grey")
FRUITS = cycle("melon", "watermelon")
_recoloured = substituted({**KINDS, **COLOURS, **FRUITS})
_LETTERS = cycle("AAA", "BBB", "CCC", "DDD", "EEE", "HHH", "JJJ", "KKK", "LLL")
_NAMES = {"A": "K", "B": "L", "C": "M"}


def renamed(text: str) -> str:
    """Kinds, colours and names of blocks, each for another."""
    text = re.sub(r"\b([A-Z])\1\1\b", lambda found: _LETTERS[found[0]], _recoloured(text))
    # At the start, "A" is the article; alone, it is a label.
    return re.sub(r"(?<=.)\b[ABC]\b(?!')|^[ABC]$|^[BC]\b", lambda found: _NAMES[found[0]], text)


SIDES = {"left": "right", "left-hand": "right-hand", "west": "east", "3:00": "9:00"}
SIDES |= {"3 o'clock": "9 o'clock"}
flipped = substituted(SIDES | {b: a for a, b in SIDES.items()})


@pytest.mark.slow
@pytest.mark.parametrize("name", DESCRIBED)
def test_other_kinds_colours_and_names_change_no_answer(name: str, data: Path) -> None:
    for row, found in _unchanged(data, name):
        other = changed(row, renamed)
        assert other["scene"] != row["scene"]
        assert outcome(other) == relabelled(found, renamed), row["id"]


@pytest.mark.slow
@pytest.mark.parametrize("name", DESCRIBED)
def test_described_scenes_are_mirrored_with_their_answers(name: str, data: Path) -> None:
    for row, found in _unchanged(data, name):
        assert outcome(changed(row, flipped)) == relabelled(found, flipped), row["id"]


def bound_by_nothing(row: Row, texts: list[str], before: list[str]) -> bool:
    """Whether sentences speak only of what they name or describe for good: a block by a
    name that was given before, or a thing as which just one was described.
    """
    instance = Instance.model_validate(row)
    reader = _auditor().parser_for(instance).reader_for(instance)
    assert isinstance(reader, DescribedReader)
    discourse = reader.question(before, "").things
    for text in texts:
        parse = Grammar(reader.ontology).parse(reader.lexicon.tokens(text), discourse.names)
        for clause in parse.clauses:
            if isinstance(clause, Naming) or not clause.predicates:
                return False
            for phrase in (*clause.subjects, *(o for p in clause.predicates for o in p.objects)):
                meant = [n for n in range(len(discourse)) if discourse.fits(phrase, n)]
                plain = phrase.determiner in (BARE, DEFINITE) and not phrase.clauses
                if not plain or len(meant) != max(1, len(phrase.names)):
                    return False
        if not parse.clauses or parse.skipped:
            return False
    return True


def swapped(row: Row) -> Row | None:
    """A row with two neighbouring sentences exchanged that are bound to no other, nor the
    next to them.
    """
    scene = row["scene"]
    for n in range(1, len(scene) - 1):
        after = " ".join(scene[n + 2 : n + 3])
        bound = re.search(r"\b(it|this|they|them|these)\b", after, re.IGNORECASE)
        if not bound and bound_by_nothing(row, scene[n : n + 2], scene[:n]):
            return {**row, "scene": [*scene[:n], scene[n + 1], scene[n], *scene[n + 2 :]]}
    return None


@pytest.mark.slow
@pytest.mark.parametrize("name", DESCRIBED)
def test_order_of_sentences_that_nothing_binds_does_not_matter(name: str, data: Path) -> None:
    found = rows(data, name)
    shuffled = random.Random(7).sample(found, len(found))
    pairs = ((row, other) for row in shuffled if (other := swapped(row)) is not None)
    compared = [*islice(pairs, SAMPLE)]
    assert len(compared) >= 20
    for row, other in compared:
        assert outcome(other)[:3] == outcome(row)[:3], row["id"]


# Events ------------------------------------------------------------------------------------

SPACENLI = "spacenli/spacenli_validation"

NONCE = ("wug", "blick", "dax", "toma", "fep", "gorp", "zib", "modi", "plon", "sarn")


def renaming(things: list[str]) -> Callable[[str], str]:
    """Gives each thing a word that is none; names stay names."""
    names = dict(zip([thing.removeprefix("the ") for thing in things], NONCE, strict=False))
    assert len(names) == len(things)
    table = {a: b.capitalize() if a[:1].isupper() else b for a, b in names.items()}
    pattern = re.compile(
        rf"\b(?:{'|'.join(sorted(map(re.escape, table), key=len, reverse=True))})\b"
    )
    return lambda text: pattern.sub(lambda found: table[found[0]], text)


_BESIDE = {"left of": "right of", "in front of": "behind"}
_BESIDE |= {b: a for a, b in _BESIDE.items()}


def turned(text: str) -> str:
    """Left for right and front for back, seen from anywhere; "has left" stays."""
    return re.sub(rf"\b(?:{'|'.join(_BESIDE)})\b", lambda found: _BESIDE[found[0]], text)


def unordered(row: Row) -> bool:
    """Whether no premise goes back to another, and no two are of what happened."""
    instance = Instance.model_validate(row)
    reader = _auditor().parser_for(instance).reader_for(instance)
    assert isinstance(reader, EventReader)
    clauses = [clause for text in row["scene"] for clause in reader.clauses(text)]
    bound = any(re.search(r"\b(it|he|she|they|back|then|later)\b", text) for text in row["scene"])
    return not bound and sum(bool(clause.verb) for clause in clauses) <= 1


def eventful(scene: list[str], question: str, **fields: Any) -> Row:
    space = ["entailment", "neutral", "contradiction"]
    return {
        "id": "q",
        "profile": "event",
        "scene": scene,
        "question": question,
        "answer_space": space,
        **fields,
    }


EVENTFUL = [
    eventful(
        ["Oslo is in Norway.", "Ann is driving from Norway to Bergen."],
        "Ann is driving from Oslo to Bergen.",
    ),
    eventful(["The jug is in the tin.", "The tin is in the barn."], "The jug is in the barn."),
    eventful(
        ["The jug is in the tin.", "The oak is far from the tin."], "The oak is near the jug."
    ),
    eventful(["Ann saw Bob from behind the oak."], "Ann was behind the oak."),
    eventful(["The oak is to the left of the barn."], "The oak is to the right of the barn."),
    eventful(["Ann is in front of the barn.", "Bob left the barn."], "Bob is behind the barn."),
    eventful(["Ann moseyed through the barn.", "The barn is in Oslo."], "Ann was in the barn."),
]
NAMED = ["Ann", "Bob", "Oslo", "Norway", "Bergen", "jug", "tin", "barn", "oak"]


@pytest.mark.parametrize("row", EVENTFUL)
def test_who_and_where_it_is_does_not_matter(row: Row) -> None:
    assert outcome(changed(row, renaming(NAMED))) == outcome(row)


@pytest.mark.parametrize("row", EVENTFUL)
def test_left_for_right_and_front_for_back(row: Row) -> None:
    assert outcome(changed(row, turned)) == outcome(row)


@pytest.mark.parametrize("row", EVENTFUL)
def test_premises_in_reverse(row: Row) -> None:
    assert unordered(row)
    assert outcome({**row, "scene": row["scene"][::-1]}) == outcome(row)


def test_in_another_order_it_is_another_story() -> None:
    went = ["Ann walked into the barn.", "Ann walked into the mill."]
    row = eventful(went, "Ann is in the mill.")
    assert not unordered(row)
    assert (outcome(row)[1], outcome({**row, "scene": went[::-1]})[1]) == (
        {"entailment"},
        {"neutral"},
    )


@pytest.mark.slow
def test_events_with_other_people_and_places(data: Path) -> None:
    for row in sampled(rows(data, SPACENLI)):
        filled = row["meta"]["substitutions"]
        things = [filled[slot] for slot in filled if slot.startswith("NP")]
        other = changed(row, renaming(things))
        assert other["scene"] != row["scene"]
        assert outcome(other) == outcome(row), row["id"]


@pytest.mark.slow
def test_events_turned_left_for_right_and_front_for_back(data: Path) -> None:
    pairs = [(row, changed(row, turned)) for row in rows(data, SPACENLI)]
    pairs = [(row, other) for row, other in pairs if other != row]
    assert len(pairs) >= 20
    for row, other in random.Random(7).sample(pairs, min(SAMPLE, len(pairs))):
        assert outcome(other) == outcome(row), row["id"]


@pytest.mark.slow
def test_events_with_premises_in_reverse(data: Path) -> None:
    found = [row for row in rows(data, SPACENLI) if len(row["scene"]) > 1 and unordered(row)]
    assert len(found) >= 20
    for row in sampled(found):
        assert outcome({**row, "scene": row["scene"][::-1]})[:3] == outcome(row)[:3], row["id"]
