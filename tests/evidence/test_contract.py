"""The structured trace, which a model writes and the contract bounds."""

from __future__ import annotations

import json

import pytest

from symbouq.evidence.contract import LONGEST, STRUCTURED, Structured


def test_longest_trace_fits() -> None:
    longest = Structured(("x" * 96,) * 6, "y" * 64).encoded()
    assert Structured.of(longest)
    assert len(longest) == LONGEST == 16 + 6 * 96 + 5 * 4 + 19 + 64 + 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"reasoning": ["a"]}',
        '{"reasoning": ["a"], "conclusion": "b", "more": 1}',
        '{"reasoning": [], "conclusion": "b"}',
        '{"reasoning": ["a", "b", "c", "d", "e", "f", "g"], "conclusion": "b"}',
        '{"reasoning": "a", "conclusion": "b"}',
        '{"reasoning": [1], "conclusion": "b"}',
        '{"reasoning": [" a"], "conclusion": "b"}',
        '{"reasoning": ["a"], "conclusion": ""}',
        '{"reasoning": ["a\\n"], "conclusion": "b"}',
        '{"reasoning": ["a\\u007f"], "conclusion": "b"}',
        '{"reasoning": ["a"], "conclusion": "\\u00a0b"}',
        '{"reasoning": ["a"], "conclusion": "\\"b\\""}',
        json.dumps({"reasoning": ["a" * 97], "conclusion": "b"}),
        json.dumps({"reasoning": ["a"], "conclusion": "b" * 65}),
    ],
)
def test_what_does_not_keep_to_the_schema_is_no_trace(text: str) -> None:
    assert Structured.of(text) is None


@pytest.mark.parametrize("step", ["A → B = up/left?", "Café is 3² m from “Ω”", "\U0001f600" * 96])
def test_characters_that_models_write_are_of_the_schema(step: str) -> None:
    written = Structured((step,), step[:64])
    assert Structured.of(written.encoded()) == written


@pytest.mark.parametrize(
    ("reasoning", "conclusion", "copied"),
    [
        (("atomic spatial step", "..."), "final answer", True),
        (("A is left of B.",), "Final answer.", True),
        (("...",), "left", True),
        (("A is left of B.", "An atomic spatial step is next."), "left", False),
    ],
)
def test_placeholders_of_the_instruction_are_told(
    reasoning: tuple[str, ...], conclusion: str, copied: bool
) -> None:
    assert Structured(reasoning, conclusion).copied is copied
    assert '{"reasoning":["atomic spatial step", "..."], "conclusion":"final answer"}' in STRUCTURED
