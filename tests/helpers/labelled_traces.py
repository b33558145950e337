"""Labelled traces in plain text: each is a chain of two facts. Half of the answers are wrong."""

from __future__ import annotations

from itertools import product
from typing import Any

SPACE = [
    "left",
    "right",
    "above",
    "below",
    "upper-left",
    "upper-right",
    "lower-left",
    "lower-right",
    "overlap",
]
_VERTICAL = {"above": "upper", "below": "lower"}
_OPPOSITE = {"above": "below", "below": "above", "left": "right", "right": "left"}


def trace(number: int, right: bool, **more: Any) -> dict[str, Any]:
    """Return the trace with the given number, which determines the things, the directions, and
    whether it fails at the step or at the answer.
    """
    first, side = list(product(("above", "below"), ("left", "right")))[number % 4]
    a, b, c = ("ABC", "KLM", "PQR", "XYZ", "DEF")[number % 5]
    answer = f"{_VERTICAL[first]}-{side}"
    said = answer
    step = first
    if not right:
        said = f"{_VERTICAL[_OPPOSITE[first]]}-{side}"
        step = _OPPOSITE[first] if number % 3 else first
    words = said.replace("-", " ")
    of = "to the {} of" if side else "{}"
    return {
        "id": f"t{number:03d}",
        "scene": [f"{a} is {first} {b}.", f"{b} is {of.format(side)} {c}."],
        "question": f"What is the relation of {a} to {c}?",
        "response": f"{a} is {step} {b}. Therefore {a} is {words} of {c}.\nAnswer: {words}",
        "answer": answer,
        "answer_space": SPACE,
        **more,
    }


def traces(count: int, **more: Any) -> list[dict[str, Any]]:
    """Return `count` traces with twenty different scenes. Four of every seven are right."""
    return [trace(number, number % 7 < 4, **more) for number in range(count)]
