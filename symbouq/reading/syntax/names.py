"""Find names that occur repeatedly in a text: "the filter bar". Each such name is replaced by a
first name for the parser. Otherwise the parser might mistake the last word of the name for a verb,
or a following verb for a part of the name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set

from symbouq.limits import check_time

Name = tuple[str, ...]
"""The words of a name, in lower case and without an article."""

_RUN = re.compile(r"\b(?=(the|my|our|your)\s+((?:[^\W\d_]+\s+){0,4}[^\W\d_]+))", re.IGNORECASE)
_FURTHER = re.compile(r"[\s-]*(?:\d|\w\b)|['\u2019-]")
"""Digit or letter that continues the preceding name: "the box 14"."""
_LONGEST = 4
"""Maximum number of words in a name."""


class Names:
    """Finder of repeated names.

    Args:
        bounding: Words that end a name: function words, and words that begin expressions.
        common: Words that cannot form a name: members of word classes, and words in expressions.
        counting: Words that cannot begin a name: "the THREE cups" are several things.
        ranked: Nouns for things that are distinguished by a side: "the left DRAWER".
    """

    def __init__(
        self,
        bounding: Set[str],
        common: Set[str],
        counting: Set[str],
        ranked: Set[str] = frozenset(),
    ) -> None:
        self._bounding = bounding
        self._common = common
        self._counting = counting
        self._ranked = ranked

    def of(self, texts: Iterable[str]) -> frozenset[Name]:
        """Find the names that occur at least twice in the given texts, at least once of these
        outside longer names.
        """
        whole: Counter[Name] = Counter()
        begun: Counter[Name] = Counter()
        for text in texts:
            for run in self._runs(text):
                whole[run] += 1
                for n in range(1, len(run) + 1):
                    begun[run[:n]] += 1
        found = {run for run in whole if begun[run] > 1 and self._is_name(run)}
        # If the words before the last word are a name themselves, the last word may be a verb.
        return frozenset(n for n in found if n[:-1] not in whole or not looks_like_verb(n[-1]))

    def _runs(self, text: str) -> Iterator[Name]:
        """Yield the words that follow each article, up to a word that ends a name."""
        for found in _RUN.finditer(text):
            check_time()
            article, words = found.group(1).lower(), found.group(2).lower().split()
            bounds = (n for n, w in enumerate(words) if n and w in self._bounding)
            end = next(bounds, len(words))
            if words[0] in self._bounding and end == 1:
                continue  # "the LEFT of", unlike "the LEFT speaker"
            cut = found.end(2) if end == len(words) else -1
            open_ended = cut >= 0 and _FURTHER.match(text, cut) is not None
            if 0 < end <= _LONGEST and not open_ended and words[end : end + 1] != ["of"]:
                yield (*(() if article == "the" else (article,)), *words[:end])

    def _is_name(self, run: Name) -> bool:
        plural = run[-1].removesuffix("s")
        if run[0] in self._counting or (run[0] in self._bounding and run[-1] in self._ranked):
            return False
        return all(len(word) > 1 for word in run) and self._common.isdisjoint((run[-1], plural))


def looks_like_verb(word: str) -> bool:
    """Whether a lower-case word may be a verb in the third person or in the past tense."""
    return word.endswith("ed") or (word.endswith("s") and not word.endswith("ss"))


def by_first(names: Iterable[Name]) -> dict[str, Sequence[Name]]:
    """Group names by their first word, the longest name first."""
    table: dict[str, list[Name]] = {}
    for name in sorted(names, key=lambda name: (-len(name), name)):
        table.setdefault(name[0], []).append(name)
    return {first: tuple(found) for first, found in table.items()}
