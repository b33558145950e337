"""Sentences that go on in the next line."""

from __future__ import annotations

from textwrap import fill

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbouq import audit
from symbouq.reading.wrapping import unwrapped


@pytest.mark.parametrize(
    "text",
    [
        "The lamp is above\nthe desk.",
        "The lamp is above\nthe desk",
        "The lamp is to the left of\nBox B. The box is red.",
        "The lamp is above the\nDesk, and the desk is\nbelow it.",
        "1. The lamp is above\n   the desk.\n2. The desk is left of\n   the chair.",
        "- The lamp is above\n  the desk.",
        "The answer is\nleft.",
        "I see. the lamp is above the tin,\nand the tin is left of the pan.",
    ],
)
def test_a_sentence_goes_on(text: str) -> None:
    found = unwrapped(text)
    assert len(found) == len(text)
    assert found.count("\n") == text.count("\n2.")


@pytest.mark.parametrize(
    "text",
    [
        "A is above B\nB is left of C",
        "a is above b\nb is left of c",
        "the lamp is above the desk\nthe desk is left of the chair.",
        "The lamp is above the desk.\nthe desk is left of it.",
        "The lamp is above the desk\n\nthe desk is left of it.",
        "Where is the lamp?\nleft",
        "So the lamp is left of the chair\nleft",
        "The options are these things\na) left.\nb) right.",
        "The things here are these:\n- the lamp\n- the desk.",
        "# The lamp of the house\nthe desk is below it.",
        "The lamp is above the desk\nanswer: above.",
        "Final answer\nupper left.",
        "lamp\ndesk\nchair.",
        "| The lamp is above |\n| the desk. |",
        "I think that it is so\n</think>\nleft.",
    ],
)
def test_a_line_of_its_own_stays_one(text: str) -> None:
    assert unwrapped(text) == text


WORDS = st.sampled_from(["the", "lamp", "desk", "is", "above", "of", "and", "Mary's", "left", "to"])


@given(
    st.lists(st.lists(WORDS, min_size=3, max_size=30), min_size=1, max_size=4), st.integers(25, 70)
)
def test_a_paragraph_is_what_it_was_before_it_was_wrapped(
    sentences: list[list[str]], width: int
) -> None:
    text = " ".join("The " + " ".join(s).lower() + " here." for s in sentences)
    wrapped = fill(text, width)
    if all(len(line.split()) >= 3 for line in wrapped.splitlines()):
        assert unwrapped(wrapped).replace(". The", ".\nThe").replace("\n", " ") == text


@given(st.text(alphabet="aB .:\n-#,1"))
def test_the_length_stays(text: str) -> None:
    found = unwrapped(text)
    assert len(found) == len(text)
    assert found.replace("\n", " ") == text.replace("\n", " ")


def test_a_wrapped_trace_has_the_audit_of_the_text() -> None:
    scene = "The lamp is above the desk. The desk is to the left of the old chair."
    response = (
        "The lamp is above the desk, and the desk is to the left of the chair. So the lamp is to the "
        "upper left of the chair.\nAnswer: upper left"
    )
    question = "Where is the lamp relative to the chair?"
    plain = audit(scene, response, question)
    head, _, tail = response.rpartition("\n")
    wrapped = audit(fill(scene, 24), f"{fill(head, 30)}\n{tail}", question)
    assert [c.verdict for c in wrapped.claims] == [c.verdict for c in plain.claims]
    assert [c.verdict for c in wrapped.claims] == ["entailed"] * 3
