"""What a word may be a form of, where no parser says it: forms as most words have them."""

from __future__ import annotations

import re

_ENDINGS = ("", "s", "es", "d", "ed")
_DOUBLED = re.compile(r"(\w)\1ed$")
"""The end of "dragged"."""
_PLURALS = (("ves", "f"), ("ies", "y"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", ""))


def stems(word: str) -> set[str]:
    """The verbs and nouns that a word may be a form of, itself among them."""
    found = {word.removesuffix(ending) for ending in _ENDINGS}
    return found | {_DOUBLED.sub(r"\1", word)}


def singular_of(noun: str) -> str:
    """A noun's singular."""
    plural = next((plural for plural in _PLURALS if noun.endswith(plural[0])), ("", ""))
    return noun.removesuffix(plural[0]) + plural[1]
