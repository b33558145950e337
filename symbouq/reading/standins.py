"""Stand-ins for given names. A stand-in is a word that a parser reads as a name, and is no longer
than the original name.

If a scene is given as relations, its names are known. "Inner Glade" is then a single thing,
whatever these words mean in other texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from symbouq.reading.text import Claim, ParsedTrace, Question, Statement

_SHORTEST = 2
"""Minimum length of a name that is replaced. A shorter name such as "A" is read as a name anyway.
"""


_WORD = re.compile(r"(?<!\w)([A-Z]\d\d?) *")


class StandIns:
    """Replace names in a text by stand-ins, and replace the stand-ins by the names in the result of
    reading.

    Args:
        names: The names.
    """

    def __init__(self, names: Iterable[str]) -> None:
        known = sorted({n for n in names if len(n) >= _SHORTEST}, key=lambda n: (-len(n), n))
        self._labels = {_bare(name): _label(n, len(_bare(name))) for n, name in enumerate(known)}
        self._names = {self._labels[_bare(name)].casefold(): name for name in known}
        # Match names as spelled: "Above is above Left Field" contains a name and a relation.
        wanted = "|".join(re.escape(name) for name in self._labels)
        self._found = re.compile(rf"(?<!\w)(?:[Tt]he\s+)?(?:{wanted})(?!\w)")

    def put(self, text: str) -> str:
        """Replace each name in a text by its stand-in, padded with spaces."""
        if not self._labels:
            return text

        def word(found: re.Match[str]) -> str:
            return self._labels[_bare(found.group())].ljust(len(found.group()))

        return self._found.sub(word, text)

    def parsed(self, read: ParsedTrace, scene: Sequence[tuple[int, Statement]]) -> ParsedTrace:
        """Put the names back into the reading of a trace, and add the given scene."""
        claims = tuple(self._claim(claim) for claim in read.claims)
        question: Callable[[], Question] = lambda: self._question(read.question())  # noqa: E731
        faults = tuple(map(self._restored, read.faults))
        given = replace(read, scene=tuple(scene), claims=claims, question=question)
        return replace(given, faults=faults, lost=())

    def _restored(self, text: str) -> str:
        """Put the names back into a text without changing its length."""

        def name(found: re.Match[str]) -> str:
            word, space = found[1], len(found.group())
            called = self._names.get(word.casefold(), word)
            articled = f"the {called}"
            called = articled if len(articled) <= len(found.group().rstrip()) else called
            if len(articled) < space and not called.startswith("the "):
                called = articled
            called = called if found.start() else called[:1].upper() + called[1:]
            return called.ljust(space)

        return _WORD.sub(name, text)

    def _name(self, word: str) -> str:
        return self._names.get(word.casefold(), word)

    def _statement(self, stated: Statement) -> Statement:
        figure, ground = self._name(stated.figure), self._name(stated.ground)
        return replace(stated, figure=figure, ground=ground)

    def _claim(self, claim: Claim) -> Claim:
        relations = tuple(map(self._statement, claim.relations))
        return replace(claim, text=self._restored(claim.text), relations=relations)

    def _question(self, asked: Question) -> Question:
        pair = (self._name(asked.pair[0]), self._name(asked.pair[1])) if asked.pair else None
        states = tuple((self._name(u), r, self._name(v)) for u, r, v in asked.states)
        return replace(asked, pair=pair, states=states)


def _label(number: int, length: int) -> str:
    """The stand-in for the name with the given number, "Z07". It is no longer than the given
    length.
    """
    digits = 1 if length < 3 else 2
    letter, rest = divmod(number, 10**digits)
    return f"{chr(ord('Z') - letter % 26)}{rest:0{digits}}"


def _bare(name: str) -> str:
    return re.sub(r"^[Tt]he\s+", "", name)
