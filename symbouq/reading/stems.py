"""Find base forms of words by regular inflection, without a parser."""

from __future__ import annotations

import re
from functools import lru_cache

_ENDINGS = ("", "s", "es", "d", "ed")
_DOUBLED = re.compile(r"(\w)\1ed$")
"""The end of a form such as "dragged"."""
_PLURALS = (
    *(
        (f"{stem}ves", f"{stem}f")
        for stem in ("lea", "loa", "hal", "cal", "shel", "wol", "scar", "dwar")
    ),
    *(("hooves", "hoof"), ("thieves", "thief"), ("knives", "knife"), ("wives", "wife")),
    *(("ies", "y"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", "")),
)


@lru_cache(1 << 14)
def stems(word: str) -> frozenset[str]:
    """Return the verbs and nouns of which a word may be a form, including the word itself."""
    found = (word.removesuffix(ending) for ending in _ENDINGS)
    return frozenset((*found, _DOUBLED.sub(r"\1", word)))


@lru_cache(1 << 14)
def singular_of(noun: str) -> str:
    """Return the singular of a noun."""
    plural = next((plural for plural in _PLURALS if noun.endswith(plural[0])), ("", ""))
    return noun.removesuffix(plural[0]) + plural[1]
