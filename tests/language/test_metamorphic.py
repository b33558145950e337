"""What must not change, and what must change along, when a text is changed."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symbouq
from symbouq.pipeline import TraceAuditor
from symbouq.records import Audit, Trace

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


@st.composite
def traces(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, int, int]]]:
    """Names, and scene and claims over them as (pattern, first, second)."""
    size = draw(st.integers(3, 5))
    names = draw(st.permutations(NAMES))[:size]
    pair = st.tuples(
        st.sampled_from(PATTERNS), st.integers(0, size - 1), st.integers(0, size - 1)
    ).filter(lambda row: row[1] != row[2])
    rows = draw(st.lists(pair, min_size=4, max_size=8))
    return list(names), rows


def audit(rows: list[tuple[str, int, int]], names: list[str], profile: str) -> Audit:
    texts = [_capital(p.format(a=names[a], b=names[b])) for p, a, b in rows]
    scene, claims = texts[:4], texts[4:] or texts[:1]
    question = f"What is the relation of {names[0]} to {names[1]}?"
    return AUDITORS[profile].audit(
        Trace(id="t", scene=scene, question=question, reasoning=claims[:-1], conclusion=claims[-1])
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


@pytest.mark.parametrize("profile", AUDITORS)
@given(traces(), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_renaming_changes_nothing_but_names(
    profile: str, trace: tuple[list[str], list[tuple[str, int, int]]], rng: random.Random
) -> None:
    names, rows = trace
    others = [f"Z{n}" for n in range(len(names))]
    rng.shuffle(others)
    first, second = audit(rows, names, profile), audit(rows, others, profile)
    mapping = {
        name.removeprefix("the ").lower(): other for name, other in zip(names, others, strict=True)
    }
    assert stated(first, mapping) == stated(second)
    assert findings(first) == findings(second)
    assert first.profile == second.profile
    assert first.features.trace == second.features.trace


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
@given(traces())
@settings(max_examples=80, deadline=None)
def test_mirroring_left_and_right_mirrors_the_relations(
    profile: str, trace: tuple[list[str], list[tuple[str, int, int]]]
) -> None:
    names, rows = trace
    plain = audit(rows, names, profile)
    other = audit([(mirrored(p), a, b) for p, a, b in rows], names, profile)
    expected = [
        [(u, MIRRORED_RELATION.get(r, r), v) for u, r, v in group] for group in stated(plain)
    ]
    assert stated(other) == expected
    assert findings(other) == findings(plain)


@pytest.mark.parametrize("profile", AUDITORS)
@given(traces(), st.permutations(range(4)))
@settings(max_examples=80, deadline=None)
def test_order_of_scene_sentences_does_not_matter(
    profile: str, trace: tuple[list[str], list[tuple[str, int, int]]], order: list[int]
) -> None:
    names, rows = trace
    plain = audit(rows, names, profile)
    other = audit(
        [rows[n] for n in order] + rows[4:] + ([] if rows[4:] else rows[:1]), names, profile
    )
    if not rows[4:]:
        return
    assert [f[:4] for f in findings(plain)] == [f[:4] for f in findings(other)]
    assert [len(f[4]) for f in findings(plain)] == [len(f[4]) for f in findings(other)]


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
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
@settings(max_examples=400, deadline=None)
def test_any_jumble_of_known_words_is_audited(words: list[str]) -> None:
    text = " ".join(words)
    result = symbouq.audit([text], text, "What is the relation of A to B?")
    for claim in result.claims:
        for relation in claim.relations:
            assert relation.span is not None
            start, end = relation.span
            assert 0 <= start < end <= len(claim.text)
